import { withOthersInCash } from '../instruments/exercise-value.js';
import { isShares } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import type { MarginExcess } from '../orders/margin-excess.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { BookMarket, Holding, MarginTerms } from './book.js';
import { flagLacking } from './lacking.js';
import { amountsOfOffsetGroup } from './requirement.js';

/** A trade, executed or hypothetical, as margin sees it. */
export interface MarginTrade {
  readonly instrument: Tradable;
  /** Negative = sold. */
  readonly quantity: Quantity;
  readonly price: Price;
  /** Change of cash, charges included; negative = paid. */
  readonly cash: Money;
}

/**
 * Margin impact of a trade on its offset group, with its instrument marked at the trade's price before and after (D107, D108): a
 * purchase requires half of its value and its charges, however the market has moved since. Other offset groups do not change, so an
 * order does not value the whole portfolio. Futures have no Reg T requirement.
 */
export const effectOf = (
  terms: MarginTerms,
  market: BookMarket,
  chain: readonly Holding[],
  trade: MarginTrade,
): MarginExcess => effectOfAll(terms, market, chain, [trade], trade.cash).headroom;

/** Combined impact of trades in one offset group, cash included: margin impact, house requirement, and maintenance excess. */
export function effectOfAll(
  terms: MarginTerms,
  market: BookMarket,
  chain: readonly Holding[],
  trades: readonly Omit<MarginTrade, 'cash'>[],
  cash: Money,
): { readonly headroom: MarginExcess; readonly house: Money; readonly excess: Money } {
  const traded = new Map(trades.map((trade) => [trade.instrument.symbol, trade]));
  const others = chain.filter(({ instrument }) => !traded.has(instrument.symbol));
  const { components, heldOf } = terms;
  const having = (isDone: boolean): Holding[] => {
    const holdings = holdingsWith(isDone);
    // A contract may lack shares after the trade that it does not lack before, or the other way round.
    if (components === true && heldOf !== undefined) flagLacking(holdings, heldOf);
    return holdings;
  };
  const unflagged = ({ instrument, quantity, mark }: Holding): Holding => ({ instrument, quantity, mark });
  const holdingsWith = (isDone: boolean): Holding[] => [
    ...(components === true ? others.map(unflagged) : others),
    ...trades.flatMap(({ instrument, quantity, price: mark }) => {
      let held = isDone ? quantity : Quantity.zero;
      let lacksOthers =
        components !== true && instrument.assetClass === 'OPTION' && instrument.others !== undefined;
      for (const holding of chain) {
        if (holding.instrument.symbol !== instrument.symbol) continue;
        held = Quantity.add(held, holding.quantity);
        lacksOthers = components !== true && holding.lacksOthers === true;
      }
      if (held === 0) return [];
      const valued =
        instrument.assetClass === 'OPTION'
          ? withOthersInCash(instrument, (symbol) => market.underlying(symbol).price)
          : instrument;
      return { instrument: valued, quantity: held, mark, ...(lacksOthers && { lacksOthers }) };
    }),
  ];
  let seen = market;
  for (const { instrument, price } of trades)
    if (isShares(instrument)) seen = markedAt(seen, instrument.symbol, price);
  const before = amountsOfOffsetGroup(having(false), terms, seen);
  const after = amountsOfOffsetGroup(having(true), terms, seen);
  const equity = cash + after.counted - before.counted;
  const isFuture = trades.some(({ instrument }) => instrument.assetClass === 'FUTURE');
  return {
    headroom: {
      initial: isFuture ? Money.zero : Money.ofUnits(equity - after.fed + before.fed),
      maintenance: Money.ofUnits(equity - after.opening + before.opening),
    },
    house: Money.subtract(after.house, before.house),
    excess: Money.ofUnits(equity - after.house + before.house),
  };
}

/** Market data with the stock at a given price. */
const markedAt = (market: BookMarket, stock: string, price: Price): BookMarket => ({
  ...market,
  underlying: (symbol) => {
    const underlying = market.underlying(symbol);
    return symbol === stock ? { ...underlying, price } : underlying;
  },
});

/** Requirement of an open order with this margin impact: never negative. */
export const marginRequiredBy = (effect: MarginExcess): MarginExcess => ({
  initial: Money.max(Money.negate(effect.initial), Money.zero),
  maintenance: Money.max(Money.negate(effect.maintenance), Money.zero),
});

/** True when an opening order fits (D108): it worsens neither measure, or the available margin covers it. */
export const fitsExcess = (effect: MarginExcess, left: MarginExcess): boolean =>
  (effect.initial >= 0 && effect.maintenance >= 0) ||
  (left.initial + effect.initial >= 0 && left.maintenance + effect.maintenance >= 0);
