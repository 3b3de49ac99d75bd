import type { Instrument } from '../instruments/instrument.js';
import type { Headroom } from '../orders/headroom.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { MarginTerms } from './book.js';
import { amountsOfOne } from './requirement.js';

/** A trade, done or imagined, as margin sees it. */
export interface MarginTrade {
  readonly instrument: Instrument;
  /** Negative = sold. */
  readonly quantity: Quantity;
  readonly price: Price;
  /** What it does to cash, charges included; negative = paid. */
  readonly cash: Money;
}

/**
 * What a trade changes of the headroom, where so much of its instrument is held, marked at its price before and after (D107,
 * D108): a purchase takes half of its value and its charges, however the market has moved since. Stock is margined by
 * itself, so an order does not value everything else that is held.
 */
export function effectOf(terms: MarginTerms, held: Quantity, trade: MarginTrade): Headroom {
  const { instrument, quantity, price: mark, cash } = trade;
  const before = amountsOfOne({ instrument, quantity: held, mark }, terms);
  const after = amountsOfOne({ instrument, quantity: Quantity.add(held, quantity), mark }, terms);
  const equity = cash + after.counted - before.counted;
  return {
    initial: Money.ofUnits(equity - after.fed + before.fed),
    maintenance: Money.ofUnits(equity - after.house + before.house),
  };
}

/** What an order with this effect takes of the headroom while it is open: never less than nothing. */
export const takenBy = (effect: Headroom): Headroom => ({
  initial: Money.max(Money.negate(effect.initial), Money.zero),
  maintenance: Money.max(Money.negate(effect.maintenance), Money.zero),
});

/** Whether an opening order may be taken (D108): it makes nothing worse, or what is left has room for it. */
export const fits = (effect: Headroom, left: Headroom): boolean =>
  (effect.initial >= 0 && effect.maintenance >= 0) ||
  (left.initial + effect.initial >= 0 && left.maintenance + effect.maintenance >= 0);
