import type { Decision } from '../../decision.js';
import { PATTERN_EQUITY } from '../../margin/buying-power.js';
import { dayTradeRegimeOf } from '../../margin/day-trade-regime.js';
import { dayTradesWithin, restrictedUntil } from '../../margin/day-trades.js';
import { isBlocked, isRestricting } from '../../margin/margin-account.js';
import type { MarginCall } from '../../margin/margin-account.js';
import type { MarginExcess } from '../../orders/margin-excess.js';
import { isOpening } from '../../orders/order.js';
import type { OrderRequest } from '../../orders/order-request.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import type { Rejection } from '../../rejection.js';
import { availableMarginOf, valuationOf } from '../../portfolios/valuation.js';
import { Money } from '../../values/money.js';
import { amountDue } from './meet-calls.js';
import type { OrderRequirement } from '../orders/order-requirement.js';
import { keepsSma } from './sma.js';

const MOST_DAY_TRADES = 3;

/**
 * During a call an order must not open positions unless it lowers the maintenance requirement, and must not close positions if that raises
 * it, such as the cover of a short option (D119). `effect`: margin impact of the order, if known; for a closing order only if it raises a
 * requirement.
 */
export function marginCallProblem(
  d: Decision,
  portfolio: Portfolio,
  { positionIntent }: Pick<OrderRequest, 'positionIntent'>,
  effect: MarginExcess | undefined,
): Rejection | undefined {
  const change = effect?.maintenance ?? Money.zero;
  if (isOpening(positionIntent) ? change > 0 : change >= 0) return undefined;
  if (!portfolio.margin.calls.some(isRestricting)) return undefined;
  return {
    code: 'MARGIN_CALL_ACTIVE',
    message: 'The portfolio has an open margin call',
    callAmount: sumDue(d, portfolio, isRestricting),
  };
}

/**
 * For 90 days after a second unmet INTRADAY call a portfolio may not sell short, nor buy beyond its cash
 * (D112).
 */
export function blockedProblem(
  d: Decision,
  portfolio: Portfolio,
  { positionIntent }: Pick<OrderRequest, 'positionIntent'>,
  needs: OrderRequirement | undefined,
): Rejection | undefined {
  if (needs === undefined || !isOpening(positionIntent)) return undefined;
  const { margin } = portfolio;
  if (!isBlocked(margin, d.rules.calendar.dateOf(d.at)) || !keepsSma(portfolio.settings)) return undefined;
  if (!needs.isShortSale && needs.cost <= availableMarginOf(portfolio, d, d.broker(portfolio)).freeCash)
    return undefined;
  return {
    code: 'MARGIN_CALL_ACTIVE',
    message:
      'Two intraday margin calls were not met within twelve months: no new shorts or debits for 90 days',
    callAmount: sumDue(d, portfolio, ({ type }) => type === 'INTRADAY'),
  };
}

/** Current deficit of the selected calls (D217). */
function sumDue(d: Decision, portfolio: Portfolio, isAsked: (call: MarginCall) => boolean): Money {
  const value = valuationOf(portfolio, d, d.broker(portfolio));
  return portfolio.margin.calls
    .filter(isAsked)
    .reduce((sum, call) => Money.add(sum, amountDue(call, portfolio, value)), Money.zero);
}

/** Refusal of opening orders under the pattern-day-trader rule, for a small portfolio that has used its three day trades (D111). */
export function dayTradeProblem(
  d: Decision,
  portfolio: Portfolio,
  { positionIntent, assetClass }: Pick<OrderRequest, 'positionIntent' | 'assetClass'>,
): Rejection | undefined {
  if (!isOpening(positionIntent) || assetClass === 'FUTURE' || !isDayTradeRestricted(d, portfolio))
    return undefined;
  const { calendar } = d.rules;
  const today = calendar.dateOf(d.at);
  return {
    code: 'DAY_TRADE_RESTRICTED',
    message: 'The portfolio has made three day trades in five business days with less than 25,000 of equity',
    dayTradeCount: dayTradesWithin(portfolio.margin.dayTrades, today, calendar),
    restrictedUntil: restrictedUntil(
      portfolio.margin.dayTrades,
      today,
      MOST_DAY_TRADES,
      d.broker(portfolio),
      calendar,
    ),
  };
}

/** True when the rule applies to a portfolio and its day trades are used up. */
export function isDayTradeRestricted(d: Decision, { settings, margin, previousClose }: Portfolio): boolean {
  if (margin.dayTrades.length === 0 || settings.portfolioType !== 'MARGIN') return false;
  if (settings.marginType === 'PORTFOLIO') return false;
  const { calendar } = d.rules;
  const today = calendar.dateOf(d.at);
  const broker = d.rules.brokers.get(settings.brokerId);
  if (broker === undefined || dayTradeRegimeOf(broker, today) !== 'LEGACY_PDT') return false;
  if ((previousClose?.totalEquity ?? Money.zero) >= PATTERN_EQUITY) return false;
  return dayTradesWithin(margin.dayTrades, today, calendar) >= MOST_DAY_TRADES;
}
