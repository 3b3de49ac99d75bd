import { isShares } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import type { Headroom } from '../orders/headroom.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { BookMarket, Holding, MarginTerms } from './book.js';
import { amountsOfChain } from './requirement.js';

/** A trade, done or imagined, as margin sees it. */
export interface MarginTrade {
  readonly instrument: Tradable;
  /** Negative = sold. */
  readonly quantity: Quantity;
  readonly price: Price;
  /** What it does to cash, charges included; negative = paid. */
  readonly cash: Money;
}

/**
 * What a trade changes of the headroom of the chain that it belongs to, its instrument marked at its price before and after
 * (D107, D108): a purchase takes half of its value and its charges, however the market has moved since. Other chains do not
 * change, so an order does not value everything that is held. Futures take nothing by Regulation T.
 */
export function effectOf(
  terms: MarginTerms,
  market: BookMarket,
  chain: readonly Holding[],
  trade: MarginTrade,
): Headroom {
  const { instrument, quantity, price: mark, cash } = trade;
  const others = chain.filter((holding) => holding.instrument.symbol !== instrument.symbol);
  const held = chain.reduce(
    (sum, holding) =>
      holding.instrument.symbol === instrument.symbol ? Quantity.add(sum, holding.quantity) : sum,
    Quantity.zero,
  );
  const having = (count: Quantity): Holding[] =>
    count === 0 ? others : [...others, { instrument, quantity: count, mark }];
  const seen: BookMarket = isShares(instrument) ? markedAt(market, instrument.symbol, mark) : market;
  const before = amountsOfChain(having(held), terms, seen);
  const after = amountsOfChain(having(Quantity.add(held, quantity)), terms, seen);
  const equity = cash + after.counted - before.counted;
  return {
    initial: instrument.assetClass === 'FUTURE' ? Money.zero : Money.ofUnits(equity - after.fed + before.fed),
    maintenance: Money.ofUnits(equity - after.opening + before.opening),
  };
}

/** What the options on a stock see of it, where it trades at a price. */
const markedAt = (market: BookMarket, stock: string, price: Price): BookMarket => ({
  ...market,
  underlying: (symbol) => {
    const underlying = market.underlying(symbol);
    return symbol === stock ? { ...underlying, price } : underlying;
  },
});

/** What an order with this effect takes of the headroom while it is open: never less than nothing. */
export const takenBy = (effect: Headroom): Headroom => ({
  initial: Money.max(Money.negate(effect.initial), Money.zero),
  maintenance: Money.max(Money.negate(effect.maintenance), Money.zero),
});

/** Whether an opening order may be taken (D108): it makes nothing worse, or what is left has room for it. */
export const fits = (effect: Headroom, left: Headroom): boolean =>
  (effect.initial >= 0 && effect.maintenance >= 0) ||
  (left.initial + effect.initial >= 0 && left.maintenance + effect.maintenance >= 0);
