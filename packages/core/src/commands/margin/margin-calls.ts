import type { Decision } from '../../decision.js';
import { MINIMUM_MARGIN_EQUITY } from '../../margin/buying-power.js';
import { dayTradeRegimeOf } from '../../margin/day-trade-regime.js';
import { DUE_DAYS, isRestricting } from '../../margin/margin-account.js';
import type { CallType, MarginCall } from '../../margin/margin-account.js';
import { amountsOf } from '../../margin/requirement.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { bookMarketOf, holdingsIn, marginTermsOf } from '../../portfolios/book-sums.js';
import { valuationOf } from '../../portfolios/valuation.js';
import type { Valuation } from '../../portfolios/valuation.js';
import { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import type { TradingDate } from '../../values/trading-date.js';
import { liquidate } from './liquidate.js';
import { meetCalls, meetCallsNow, missingFor, missingOf } from './meet-calls.js';
import { keepsSma } from './sma.js';

/** Excess, as a part of equity, below which a warning is sent (D119). */
const WARNING_BPS = 1000;

/** Largest intraday deficit, as a part of equity and in dollars, that opens no call (D112). */
const SMALL_BPS = 500;
const MOST_SMALL = Money.ofDollars(1000);

/** Positions to be closed whose market is closed or empty: retried with every quote, and at the next open. */
export type Unfinished = 'UNFINISHED';

const MET_BY_PRICES: ReadonlySet<CallType> = new Set([
  'MAINTENANCE',
  'PORTFOLIO',
  'FUTURES',
  'MINIMUM_EQUITY',
]);

/**
 * Checks a MARGIN portfolio at current marks: calls a deficit, closes calls that are met, and warns once a day near a
 * call (D119). Returns the distance of its excess to the next event.
 */
export function watchMargin(d: Decision, portfolio: Portfolio): number | Unfinished {
  const value = valuationOf(portfolio, d, d.broker(portfolio));
  meetCalls(d, portfolio, value);
  const { maintenanceExcess: excess } = value;
  const distances = [Math.abs(excess)];
  if (excess < 0) {
    const withoutFutures = excessWithoutFutures(d, portfolio, value);
    if (withoutFutures !== undefined) distances.push(Math.abs(withoutFutures));
    const type = deficitType(portfolio, withoutFutures);
    if (!hasCall(portfolio, type)) issue(d, portfolio, type, missingOf(type, value));
  }
  if ((excess < 0 || owesSma(portfolio)) && isToBeLiquidated(d, portfolio)) {
    liquidate(d, portfolio);
    meetCallsNow(d, portfolio);
    return 'UNFINISHED';
  }
  for (const call of portfolio.margin.calls)
    if (MET_BY_PRICES.has(call.type)) distances.push(Math.abs(missingFor(call, portfolio, value)));
  if (excess >= 0 && value.houseRequirement > 0) {
    const near = Money.scale(value.totalEquity, WARNING_BPS, 10_000);
    if (excess < near) warn(d, portfolio, value);
    else if (!isWarned(d, portfolio)) distances.push(excess - near);
  }
  return Math.min(...distances);
}

/**
 * Checks at the close of the day: the minimum equity, a negative SMA, and the shortfall of the day's
 * trades (D109, D110, D112, D119).
 */
export function watchAtClose(d: Decision, portfolio: Portfolio, date: TradingDate): void {
  watchMargin(d, portfolio);
  const value = valuationOf(portfolio, d, d.broker(portfolio));
  const { totalEquity, marginLoan, shortMarketValue } = value;
  const { sma } = portfolio.margin;
  callForShortfall(d, portfolio, date, totalEquity);
  if (sma < 0 && !hasCall(portfolio, 'REG_T')) issue(d, portfolio, 'REG_T', Money.negate(sma));
  const isBorrowing = marginLoan > 0 || shortMarketValue > 0;
  if (totalEquity < MINIMUM_MARGIN_EQUITY && isBorrowing && !hasCall(portfolio, 'MINIMUM_EQUITY'))
    issue(d, portfolio, 'MINIMUM_EQUITY', missingOf('MINIMUM_EQUITY', value));
}

/** Issues the call for a day's shortfall, unless it is small enough to be exempt (D112). */
function callForShortfall(d: Decision, portfolio: Portfolio, date: TradingDate, totalEquity: Money): void {
  const { shortfall } = portfolio.margin;
  if (shortfall?.date !== date || !keepsSma(portfolio.settings)) return;
  const { amount } = shortfall;
  if (dayTradeRegimeOf(d.broker(portfolio), date) === 'LEGACY_PDT')
    return issue(d, portfolio, 'DAY_TRADE', amount);
  const small = Money.min(Money.scale(totalEquity, SMALL_BPS, 10_000), MOST_SMALL);
  if (amount > small) issue(d, portfolio, 'INTRADAY', amount);
}

/** True when the broker closes positions now: for a call that is due or, without a grace period, for any; unless it already is (D120). */
function isToBeLiquidated(d: Decision, portfolio: Portfolio): boolean {
  const { liquidation = 'WHEN_DUE' } = d.broker(portfolio);
  if (liquidation === 'NEVER') return false;
  const isMeant = (call: MarginCall): boolean =>
    isRestricting(call) && (liquidation === 'AT_ONCE' || call.isDue === true);
  if (!portfolio.margin.calls.some(isMeant)) return false;
  return ![...portfolio.openOrders].some(({ terms }) => terms.origin === 'LIQUIDATION');
}

/** True while positions are to be closed for the SMA: that continues, order after order, until the call is met. */
const owesSma = ({ margin }: Portfolio): boolean =>
  margin.sma < 0 && margin.calls.some(({ type, isDue }) => type === 'REG_T' && isDue === true);

const hasCall = ({ margin }: Portfolio, type: CallType): boolean =>
  margin.calls.some((call) => call.type === type);

/** Opens a call, due some business days later at noon. */
function issue(d: Decision, portfolio: Portfolio, type: CallType, amount: Money): void {
  const { calendar } = d.rules;
  const dueOn = calendar.plusBusinessDays(calendar.dateOf(d.at), DUE_DAYS[type]);
  const call: MarginCall = {
    number: d.state.counters.call + 1,
    type,
    amount,
    issuedAt: d.at,
    dueAt: calendar.instantOf(dueOn, 12, 0),
    status: 'OPEN',
    ...(!isRestricting({ type }) && {
      closingExcess: portfolio.previousClose?.maintenanceExcess ?? Money.zero,
    }),
  };
  d.emit({ type: 'CallIssued', portfolioId: portfolio.terms.portfolioId, call });
}

/** The excess without the requirement of futures; `undefined` if none are held. */
function excessWithoutFutures(
  d: Decision,
  portfolio: Portfolio,
  { maintenanceExcess }: Valuation,
): Money | undefined {
  const holdings = holdingsIn(portfolio, d);
  const futures = holdings.filter(({ instrument }) => instrument.assetClass === 'FUTURE');
  if (futures.length === 0) return undefined;
  const terms = marginTermsOf(portfolio, d.broker(portfolio), d);
  const { house } = amountsOf({ ...terms, holdings: futures, market: bookMarketOf(d) });
  return Money.add(maintenanceExcess, house);
}

/** The type of a deficit: FUTURES if there would be none without them. */
function deficitType(
  { settings }: Portfolio,
  withoutFutures: Money | undefined,
): 'FUTURES' | 'PORTFOLIO' | 'MAINTENANCE' {
  if (withoutFutures !== undefined && withoutFutures >= 0) return 'FUTURES';
  return settings.marginType === 'PORTFOLIO' ? 'PORTFOLIO' : 'MAINTENANCE';
}

/** True when the day's warning has been sent: the next one is due with the first quote of another day (D119). */
export const isWarned = (d: Decision, { margin }: Portfolio): boolean =>
  margin.warnedOn === d.rules.calendar.dateOf(d.at);

function warn(d: Decision, portfolio: Portfolio, { maintenanceExcess, totalEquity }: Valuation): void {
  if (isWarned(d, portfolio)) return;
  d.emit({
    type: 'MarginWarned',
    portfolioId: portfolio.terms.portfolioId,
    date: d.rules.calendar.dateOf(d.at),
    excess: maintenanceExcess,
    totalEquity,
  });
}

/** Reports a call at its due time and, if the broker's policy says so, closes positions (D120). */
export function callDue(d: Decision, portfolio: Portfolio, number: number): void {
  const isUndue = portfolio.margin.calls.some(
    (call) => call.number === number && call.isDue !== true && call.dueAt <= d.at,
  );
  // A closed call keeps its timer, unless there was a recovery. After one, the due time of an open call is processed a second time.
  if (!isUndue) return;
  watchMargin(d, portfolio);
  const call = portfolio.margin.calls.find((one) => one.number === number);
  if (call === undefined) return;
  const value = valuationOf(portfolio, d, d.broker(portfolio));
  const deficit = Money.max(missingFor(call, portfolio, value), Money.zero);
  d.emit({ type: 'CallDue', portfolioId: portfolio.terms.portfolioId, call, deficit });
  if (isToBeLiquidated(d, portfolio)) liquidate(d, portfolio);
  watchMargin(d, portfolio);
}

/** The due time of a call: noon of a day, or of the next one if an announcement has closed the exchange on it (D209). */
export function rescheduledCall(d: Decision, { dueAt }: MarginCall): Instant {
  const { calendar } = d.rules;
  const date = calendar.dateOf(dueAt);
  const wasOpen = calendar.asOf(Instant.plusMs(d.at, -1)).isTradingDay(date);
  if (dueAt <= d.at || !wasOpen || calendar.isTradingDay(date)) return dueAt;
  return calendar.instantOf(calendar.plusBusinessDays(date, 1), 12, 0);
}

/** Closes all calls of a portfolio that is reset. */
export function closeCalls(d: Decision, portfolio: Portfolio): void {
  const { portfolioId } = portfolio.terms;
  for (const call of portfolio.margin.calls)
    d.emit({ type: 'CallClosed', portfolioId, call: { ...call, status: 'MET' } });
}
