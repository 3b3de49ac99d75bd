import type { Decision } from '../../decision.js';
import { MINIMUM_MARGIN_EQUITY } from '../../margin/buying-power.js';
import { isRestricting } from '../../margin/margin-account.js';
import type { MarginCall } from '../../margin/margin-account.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { valuationOf } from '../../portfolios/valuation.js';
import type { Valuation } from '../../portfolios/valuation.js';
import { Money } from '../../values/money.js';
import { endOrder } from '../orders/end-order.js';

/** Closes the calls that a command has met: with its own events, not at the next margin check (D119). */
export function meetCallsNow(d: Decision, portfolio: Portfolio): void {
  if (portfolio.margin.calls.length > 0)
    meetCalls(d, portfolio, valuationOf(portfolio, d, d.broker(portfolio)));
}

/** Meets calls after a deposit and cancels their liquidation orders. */
export function meetCallsByCash(d: Decision, portfolio: Portfolio): void {
  if (portfolio.margin.calls.length === 0) return;
  const wasCalled = portfolio.margin.calls.some(isRestricting);
  const value = valuationOf(portfolio, d, d.broker(portfolio));
  meetCalls(d, portfolio, value, 'MET');
  if (!wasCalled || value.maintenanceExcess < 0 || portfolio.margin.calls.some(isRestricting)) return;
  for (const order of portfolio.openOrders.oldestFirst())
    if (order.terms.origin === 'LIQUIDATION')
      endOrder(d, order, { transition: 'CANCELED', cancelReason: 'BROKER' });
}

/** Closes met calls, at a current valuation; `by`: absent = LIQUIDATED if a liquidation was begun. */
export function meetCalls(d: Decision, portfolio: Portfolio, value: Valuation, by?: 'MET'): void {
  for (const call of portfolio.margin.calls) {
    if (!isMet(call, portfolio, value)) continue;
    const status = by ?? (call.isLiquidating === true ? 'LIQUIDATED' : 'MET');
    d.emit({ type: 'CallClosed', portfolioId: portfolio.terms.portfolioId, call: { ...call, status } });
  }
}

/** True when a call is met, with `extra` cash (D119). */
export const isMet = (
  call: MarginCall,
  portfolio: Portfolio,
  value: Valuation,
  extra: Money = Money.zero,
): boolean => missingFor(call, portfolio, value) <= extra;

/**
 * Deposit that would meet a call at current marks (D217), at least 0. For calls on a day's trades at most their
 * amount: the deficit as if the day were marked now.
 */
export function amountDue(call: MarginCall, portfolio: Portfolio, value: Valuation): Money {
  const missing = isRestricting(call)
    ? missingFor(call, portfolio, value)
    : Money.min(call.amount, missingAt(call, value.maintenanceExcess));
  return Money.max(missing, Money.zero);
}

/** Deficit of a call; 0 or less if it is met. */
export function missingFor(call: MarginCall, { margin, previousClose }: Portfolio, value: Valuation): Money {
  switch (call.type) {
    case 'MAINTENANCE':
    case 'PORTFOLIO':
    case 'FUTURES':
    case 'MINIMUM_EQUITY':
      return missingOf(call.type, value);
    case 'REG_T':
      return Money.negate(margin.sma);
    case 'DAY_TRADE':
    case 'INTRADAY':
      return missingAt(call, previousClose?.maintenanceExcess);
  }
}

/** Deficit of calls on market value: the excess, for futures to their initial margin, or the minimum equity (D119). */
export function missingOf(
  type: 'MAINTENANCE' | 'PORTFOLIO' | 'FUTURES' | 'MINIMUM_EQUITY',
  { maintenanceExcess, openingExcess, totalEquity, marginLoan, shortMarketValue }: Valuation,
): Money {
  switch (type) {
    case 'MAINTENANCE':
    case 'PORTFOLIO':
      return Money.negate(maintenanceExcess);
    case 'FUTURES':
      return Money.negate(openingExcess);
    case 'MINIMUM_EQUITY':
      if (marginLoan === 0 && shortMarketValue === 0) return Money.zero;
      return Money.subtract(MINIMUM_MARGIN_EQUITY, totalEquity);
  }
}

/** Difference between the amount of a call on a day's trades and the rise of the excess since (D112). */
const missingAt = ({ amount, closingExcess = Money.zero }: MarginCall, excess = closingExcess): Money =>
  Money.subtract(amount, Money.subtract(excess, closingExcess));
