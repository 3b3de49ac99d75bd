import type { Decision } from '../decision.js';
import { MINIMUM_MARGIN_EQUITY } from '../margin/buying-power.js';
import { isRestricting } from '../margin/margin-account.js';
import type { MarginCall } from '../margin/margin-account.js';
import type { CloseMark, Portfolio } from '../portfolios/portfolio.js';
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

/** Whether the cause of a call is gone, with `extra` cash; of futures once their initial margin is there again (D119). */
export function isMet(
  call: MarginCall,
  { margin, previousClose }: Portfolio,
  value: Valuation,
  extra: Money = Money.zero,
): boolean {
  const { type } = call;
  const { maintenanceExcess, openingExcess, totalEquity, marginLoan, shortMarketValue } = value;
  switch (type) {
    case 'MAINTENANCE':
    case 'PORTFOLIO':
      return maintenanceExcess + extra >= 0;
    case 'FUTURES':
      return openingExcess + extra >= 0;
    case 'REG_T':
      return margin.sma + extra >= 0;
    case 'MINIMUM_EQUITY':
      return totalEquity + extra >= MINIMUM_MARGIN_EQUITY || (marginLoan === 0 && shortMarketValue === 0);
    case 'DAY_TRADE':
    case 'INTRADAY':
      return missingAtClose(call, previousClose) <= 0;
  }
}

/** By how much less the excess at the close has risen than a call about a day's trades takes (D112). */
export const missingAtClose = (
  { amount, closingExcess = Money.zero }: MarginCall,
  previousClose: CloseMark | undefined,
): Money =>
  Money.subtract(amount, Money.subtract(previousClose?.maintenanceExcess ?? closingExcess, closingExcess));
