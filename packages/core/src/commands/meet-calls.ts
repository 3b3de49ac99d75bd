import type { Decision } from '../decision.js';
import { MINIMUM_MARGIN_EQUITY } from '../margin/buying-power.js';
import { isRestricting } from '../margin/margin-account.js';
import type { MarginCall } from '../margin/margin-account.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { valuationOf } from '../portfolios/valuation.js';
import type { Valuation } from '../portfolios/valuation.js';
import { Money } from '../values/money.js';
import { endOrder } from './end-order.js';

/** Closes the calls whose cause a command has just taken away: with its own events, not when margin is looked at next (D119). */
export function meetCallsNow(d: Decision, portfolio: Portfolio): void {
  if (portfolio.margin.calls.length > 0)
    meetCalls(d, portfolio, valuationOf(portfolio, d, d.broker(portfolio)));
}

/** The same after cash has come in: calls are met by that, and what the broker has at work to close positions for them is taken back. */
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

/** Closes the calls whose cause is gone, at a valuation of now; `by`: absent = by closing positions where that was begun. */
export function meetCalls(d: Decision, portfolio: Portfolio, value: Valuation, by?: 'MET'): void {
  for (const call of portfolio.margin.calls) {
    if (!isMet(call, portfolio, value)) continue;
    const status = by ?? (call.isLiquidating === true ? 'LIQUIDATED' : 'MET');
    d.emit({ type: 'CallClosed', portfolioId: portfolio.terms.portfolioId, call: { ...call, status } });
  }
}

/** True when the cause of a call is gone, with `extra` cash (D119). */
export const isMet = (
  call: MarginCall,
  portfolio: Portfolio,
  value: Valuation,
  extra: Money = Money.zero,
): boolean => missingFor(call, portfolio, value) <= extra;

/**
 * The deposit that would meet a call at the marks of now (D217), at least 0. Of calls about a day's trades no more than they were issued
 * for: what is missing of it, were the day marked now.
 */
export function amountDue(call: MarginCall, portfolio: Portfolio, value: Valuation): Money {
  const missing = isRestricting(call)
    ? missingFor(call, portfolio, value)
    : Money.min(call.amount, missingAt(call, value.maintenanceExcess));
  return Money.max(missing, Money.zero);
}

/** What is missing until a call is met; 0 or less where nothing is. */
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

/** Calls about the value of what is held: the excess, of futures to the margin they were opened at, or the minimum equity (D119). */
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

/** By how much less an excess has risen than a call about a day's trades takes (D112). */
const missingAt = ({ amount, closingExcess = Money.zero }: MarginCall, excess = closingExcess): Money =>
  Money.subtract(amount, Money.subtract(excess, closingExcess));
