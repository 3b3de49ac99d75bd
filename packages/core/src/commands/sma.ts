import type { Decision } from '../decision.js';
import { effectOfAll } from '../margin/effect.js';
import type { MarginTrade } from '../margin/effect.js';
import { cashOfExecution, chargesOf, tradedBy } from '../orders/execution.js';
import { sideOf } from '../orders/order.js';
import type { Order } from '../orders/order.js';
import type { Portfolio, PortfolioSettings } from '../portfolios/portfolio.js';
import { bookMarketOf, chainHeld, marginTermsOf, valuationOf } from '../portfolios/valuation.js';
import type { OrderExecuted } from '../trading/trade.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';

/** Whether a portfolio has a memorandum account (D107). */
export const keepsSma = ({ portfolioType, marginType }: PortfolioSettings): boolean =>
  portfolioType === 'MARGIN' && marginType !== 'PORTFOLIO';

/** Enters a change in the memorandum account of a portfolio that has one. */
export function changeSma(d: Decision, portfolio: Portfolio, event: string, amount: Money): void {
  if (amount === 0 || !keepsSma(portfolio.settings)) return;
  setSma(d, portfolio, event, Money.add(portfolio.margin.sma, amount));
}

function setSma(d: Decision, portfolio: Portfolio, event: string, balance: Money): void {
  const amount = Money.subtract(balance, portfolio.margin.sma);
  if (amount === 0) return;
  d.emit({ type: 'SmaChanged', portfolioId: portfolio.terms.portfolioId, event, amount, balance });
}

/** After the kind of margin has changed: there is none, or it starts with what lies above the requirement (D107). */
export function restartSma(d: Decision, portfolio: Portfolio): void {
  const { settings } = portfolio;
  if (!keepsSma(settings)) {
    setSma(d, portfolio, 'MARGIN_TYPE_CHANGED', Money.zero);
    return;
  }
  const { marginEquity, fedRequirement } = valuationOf(portfolio, d, d.broker(portfolio));
  setSma(d, portfolio, 'MARGIN_TYPE_CHANGED', Money.subtract(marginEquity, fedRequirement));
}

/**
 * What executions change of the memorandum account (D107): margin equity less the Reg T requirement, after less before, what was
 * traded marked at its prices. To be asked before they are booked.
 */
export function smaOfTrade(
  d: Decision,
  { terms }: Order,
  portfolio: Portfolio,
  { executions }: OrderExecuted,
): Money {
  if (!keepsSma(portfolio.settings)) return Money.zero;
  let cash = Money.zero;
  const trades = executions.map((execution) => {
    const { quantity, price } = execution;
    const { symbol, positionIntent } = tradedBy(terms, execution);
    const isBuy = sideOf(positionIntent) === 'BUY';
    const moved = cashOfExecution(execution);
    cash = Money.subtract(isBuy ? Money.subtract(cash, moved) : Money.add(cash, moved), chargesOf(execution));
    return {
      instrument: d.tradable(symbol),
      quantity: isBuy ? quantity : Quantity.negate(quantity),
      price,
    };
  });
  return smaOfTrades(d, portfolio, trades, cash);
}

/** The same of trades done or imagined, all of one chain; `cash` is what they move, charges included. */
export function smaOfTrades(
  d: Decision,
  portfolio: Portfolio,
  trades: readonly Omit<MarginTrade, 'cash'>[],
  cash: Money,
): Money {
  const [first] = trades;
  if (first === undefined || !keepsSma(portfolio.settings)) return Money.zero;
  const margin = marginTermsOf(portfolio, d.broker(portfolio), d);
  const chain = chainHeld(portfolio, first.instrument, margin, d);
  return effectOfAll(margin, bookMarketOf(d), chain, trades, cash).headroom.initial;
}
