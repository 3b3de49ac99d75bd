import type { Decision } from '../../decision.js';
import { effectOfAll } from '../../margin/effect.js';
import type { MarginTrade } from '../../margin/effect.js';
import { intrinsicValue, withOthersInCash } from '../../instruments/exercise-value.js';
import { pricePer } from '../../instruments/instrument.js';
import type { PlannedOptionEvent } from '../../lifecycle/plan-expiry.js';
import { cashOfExecution, chargesOf, tradedBy } from '../../orders/execution.js';
import { MarginExcess } from '../../orders/margin-excess.js';
import { sideOf } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import type { Portfolio, PortfolioSettings } from '../../portfolios/portfolio.js';
import { bookMarketOf, marginTermsOf } from '../../portfolios/book-sums.js';
import { offsetGroupHeld, valuationOf } from '../../portfolios/valuation.js';
import { Position } from '../../positions/position.js';
import type { OrderExecuted } from '../../trading/trade.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';

/** True when a portfolio has an SMA (D107). */
export const keepsSma = ({ portfolioType, marginType }: PortfolioSettings): boolean =>
  portfolioType === 'MARGIN' && marginType !== 'PORTFOLIO';

/** Changes the SMA of a portfolio that has one. */
export function changeSma(d: Decision, portfolio: Portfolio, event: string, amount: Money): void {
  if (amount === 0 || !keepsSma(portfolio.settings)) return;
  setSma(d, portfolio, event, Money.add(portfolio.margin.sma, amount));
}

function setSma(d: Decision, portfolio: Portfolio, event: string, balance: Money): void {
  const amount = Money.subtract(balance, portfolio.margin.sma);
  if (amount === 0) return;
  d.emit({ type: 'SmaChanged', portfolioId: portfolio.terms.portfolioId, event, amount, balance });
}

/** Resets the SMA after a change of the margin type: to 0, or to the excess over the requirement (D107). */
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
 * Margin impact of executions on a MARGIN portfolio: on the SMA, margin equity less the Reg T requirement, after
 * less before, with traded instruments marked at their prices (D107); and on the excess. To be computed before they are booked.
 */
export function marginEffectOfTrade(
  d: Decision,
  { terms }: Order,
  portfolio: Portfolio,
  { executions }: OrderExecuted,
): MarginExcess {
  if (!keepsSma(portfolio.settings)) return MarginExcess.none;
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
  return marginEffectOfTrades(d, portfolio, trades, cash);
}

/** SMA effect of executed or hypothetical trades of one offset group; `cash` is their total with charges. */
export function marginEffectOfTrades(
  d: Decision,
  portfolio: Portfolio,
  trades: readonly Omit<MarginTrade, 'cash'>[],
  cash: Money,
): MarginExcess {
  const [first] = trades;
  if (first === undefined || !keepsSma(portfolio.settings)) return MarginExcess.none;
  const margin = marginTermsOf(portfolio, d.broker(portfolio), d);
  const chain = offsetGroupHeld(portfolio, first.instrument, margin, d);
  return effectOfAll(margin, bookMarketOf(d), chain, trades, cash).headroom;
}

/**
 * Combined change of the SMA by exercises, assignments, settlements and expirations on one underlying (D107): the
 * underlying is valued at its mark and each contract at its exercise value, before and after. To be computed before they are booked.
 */
export function smaOfOptionEvents(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  acts: readonly PlannedOptionEvent[],
  fees: Money,
): Money {
  if (!keepsSma(portfolio.settings)) return Money.zero;
  const mark = d.mark(underlying);
  const trades = new Map<string, Omit<MarginTrade, 'cash'>>();
  const add = (trade: Omit<MarginTrade, 'cash'>): void => {
    const { symbol } = trade.instrument;
    const before = trades.get(symbol)?.quantity ?? Quantity.zero;
    trades.set(symbol, { ...trade, quantity: Quantity.add(before, trade.quantity) });
  };
  let cash = Money.negate(fees);
  for (const { contract, count, closes, shares, cash: moved, act } of acts) {
    cash = Money.add(cash, moved);
    const held = portfolio.positions.get(contract.symbol);
    if (closes && held !== undefined) {
      const quantity = Quantity.of(Position.held(held) < 0 ? count : -count);
      // Cash settlement gives the contract's value; an expired contract is worth 0.
      const value =
        act === 'EXPIRED'
          ? Money.zero
          : shares === 0
            ? Money.abs(moved)
            : intrinsicValue(
                withOthersInCash(contract, (other) => d.mark(other)),
                count,
                mark ?? contract.strike,
              );
      add({ instrument: contract, quantity, price: pricePer(contract, value, Quantity.abs(quantity)) });
    }
    if (shares !== 0)
      add({
        instrument: d.tradable(contract.underlying),
        quantity: shares,
        price: d.mark(contract.underlying) ?? contract.strike,
      });
  }
  return marginEffectOfTrades(d, portfolio, [...trades.values()], cash).initial;
}

/** Name of simultaneous option events in the SMA's history. */
export function smaEventOf(acts: readonly PlannedOptionEvent[]): string {
  const [first] = acts;
  return first !== undefined && acts.every(({ act }) => act === first.act) ? SMA_EVENTS[first.act] : 'EXPIRY';
}

const SMA_EVENTS: Readonly<Record<PlannedOptionEvent['act'], string>> = {
  EXERCISED: 'EXERCISE',
  ASSIGNED: 'ASSIGNMENT',
  CASH_SETTLED: 'CASH_SETTLEMENT',
  EXPIRED: 'EXPIRY',
  SOLD_AT_EXPIRY: 'EXPIRY',
  BUY_IN: 'EXPIRY',
};
