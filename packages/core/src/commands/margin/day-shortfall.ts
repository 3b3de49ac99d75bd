import type { Decision } from '../../decision.js';
import { PATTERN_EQUITY } from '../../margin/buying-power.js';
import { dayTradeRegimeOf } from '../../margin/day-trade-regime.js';
import type { MarginExcess } from '../../orders/margin-excess.js';
import { tradedBy } from '../../orders/execution.js';
import { isOpening } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import { dayTradingExcess } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { initialOf, minimumAvailableMargin, openedOn, valuationOf } from '../../portfolios/valuation.js';
import type { OrderExecuted } from '../../trading/trade.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';
import { keepsSma } from './sma.js';

/**
 * Shortfall of day-trade funds by an execution, to be computed before it is booked. Under LEGACY_PDT, for day trades that it completes: the
 * initial requirement of the day's openings beyond the excess at the previous close (D110); 0 if the broker offers intraday leverage.
 */
export function dayTradeShortfall(
  d: Decision,
  { terms }: Order,
  portfolio: Portfolio,
  { executions }: OrderExecuted,
): Money {
  if (terms.assetClass === 'FUTURE' || !isUnder(d, portfolio, 'LEGACY_PDT')) return Money.zero;
  const broker = d.broker(portfolio);
  // Intraday leverage was already checked at the order's acceptance.
  if (broker.dayTradingLeverage === true) return Money.zero;
  const { previousClose } = portfolio;
  if (previousClose === undefined || previousClose.totalEquity < PATTERN_EQUITY) return Money.zero;
  const today = d.rules.calendar.dateOf(d.at);
  const closing = new Map<string, Quantity>();
  for (const execution of executions) {
    const { symbol, positionIntent } = tradedBy(terms, execution);
    const tracker = portfolio.dayTrades.get(symbol);
    if (isOpening(positionIntent) || tracker?.date !== today || tracker.openQuantity === 0) continue;
    closing.set(symbol, Quantity.add(closing.get(symbol) ?? Quantity.zero, execution.quantity));
  }
  if (closing.size === 0) return Money.zero;
  const used = initialOf(openedOn(portfolio, today, d), portfolio, d, broker);
  const left = initialOf(openedOn(portfolio, today, d, closing), portfolio, d, broker);
  const excess = Money.max(dayTradingExcess(previousClose), Money.zero);
  const beyond = Money.min(Money.subtract(used, excess), Money.subtract(used, left));
  return Money.max(beyond, Money.zero);
}

/**
 * Notes a day's shortfall if it exceeds the earlier ones of that day: `beyond` of day-trade buying power, or under
 * INTRADAY_MARGIN the deficit after a trade or withdrawal that lowers the excess (D112). An order that this decision has just
 * checked against the book causes none.
 */
export function noteShortfall(
  d: Decision,
  portfolio: Portfolio,
  moved: MarginExcess,
  beyond: Money,
  order?: Order,
): void {
  let amount = beyond;
  if (moved.maintenance < 0 && !isJudgedNow(d, order) && isUnder(d, portfolio, 'INTRADAY_MARGIN')) {
    const broker = d.broker(portfolio);
    // A portfolio with cash and without debts has no shortfall.
    if (minimumAvailableMargin(portfolio, broker) === undefined) {
      const { maintenanceExcess } = valuationOf(portfolio, d, broker);
      amount = Money.max(amount, Money.negate(maintenanceExcess));
    }
  }
  if (amount <= 0) return;
  const { shortfall } = portfolio.margin;
  const date = d.rules.calendar.dateOf(d.at);
  if (shortfall?.date === date && shortfall.amount >= amount) return;
  d.emit({ type: 'DayShortfallNoted', portfolioId: portfolio.terms.portfolioId, date, amount });
}

/** True when a portfolio is under Reg T and a regime of day trades now. */
function isUnder(d: Decision, portfolio: Portfolio, regime: 'LEGACY_PDT' | 'INTRADAY_MARGIN'): boolean {
  if (!keepsSma(portfolio.settings)) return false;
  return dayTradeRegimeOf(d.broker(portfolio), d.rules.calendar.dateOf(d.at)) === regime;
}

const isJudgedNow = (d: Decision, order: Order | undefined): boolean =>
  order !== undefined &&
  d.events.some((event) => event.type === 'OrderAccepted' && event.number === order.terms.number);
