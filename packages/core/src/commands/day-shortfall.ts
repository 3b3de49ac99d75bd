import type { Decision } from '../decision.js';
import { PATTERN_EQUITY } from '../margin/buying-power.js';
import { dayTradeRegimeOf } from '../margin/day-trade-regime.js';
import type { MarginExcess } from '../orders/margin-excess.js';
import { tradedBy } from '../orders/execution.js';
import { isOpening } from '../orders/order.js';
import type { Order } from '../orders/order.js';
import { dayTradingExcess } from '../portfolios/portfolio.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { initialOf, minimumAvailableMargin, openedOn, valuationOf } from '../portfolios/valuation.js';
import type { OrderExecuted } from '../trading/trade.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { keepsSma } from './sma.js';

/**
 * What an execution is missing of what a day may use, to be asked before it is booked: under LEGACY_PDT, of a day trade that it completes, by how
 * much what was opened on the day took more initially than was in excess at the previous close (D110); nothing where the broker lends for the day.
 */
export function dayTradeShortfall(
  d: Decision,
  { terms }: Order,
  portfolio: Portfolio,
  { executions }: OrderExecuted,
): Money {
  if (terms.assetClass === 'FUTURE' || !isUnder(d, portfolio, 'LEGACY_PDT')) return Money.zero;
  const broker = d.broker(portfolio);
  // What it lends for the day an order was held to when it was taken.
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
 * Notes what a day was short of, where it is more than anything before on that day: `beyond` of day-trade buying power, or under
 * INTRADAY_MARGIN how far a trade or withdrawal that lowers the excess leaves it below nothing (D112). What an order's own decision has just
 * tried on the book lacks nothing.
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
    // Where there is cash and nothing is owed nothing can be missing.
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
