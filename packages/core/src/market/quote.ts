import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';

/** The best bid and offer of an instrument, with the last trade if the source has it. */
export interface Quote {
  readonly symbol: string;
  /** Absent = no bid. */
  readonly bid?: Price;
  /** Absent = no offer. */
  readonly ask?: Price;
  /** Displayed size at the bid; absent = unlimited. */
  readonly bidSize?: Quantity;
  /** Displayed size at the ask; absent = unlimited. */
  readonly askSize?: Quantity;
  readonly last?: Price;
  readonly lastSize?: Quantity;
  /** The close of the session that ends at this very instant, or ended up to a minute ago: the official one if the source has it. */
  readonly close?: Price;
  /** The source will still report the close of the session (D180): within a minute of the bell. */
  readonly closeToCome?: true;
  /** The official open of the session, on the first quote for which the source has it. */
  readonly open?: Price;
  /** The source will still report the official open of the session. */
  readonly openToCome?: true;
  /** Time until which the source would have reported a change (D183): the age of the quote counts from here. Absent = from `at`. */
  readonly freshUntil?: Instant;
  /** The source reports it with a delay (D183). */
  readonly delayed?: true;
  /** Derived by the source, and not firm (D184). */
  readonly indicative?: true;
  /** True for a recorded minute without trades (D251): `last` is the mark; no order fills or triggers. */
  readonly untraded?: true;
  /** Figures of the symbol from recorded days before this one (D209). Absent = those of its instrument. */
  readonly usualDay?: UsualDay;
  readonly at: Instant;
}

/** An ordinary day of a symbol, averaged over several. */
export interface UsualDay {
  /** Shares traded. */
  readonly volume: number;
  /** Standard deviation of the return, as a fraction. */
  readonly volatility: number;
}

/** One bar of trades. `at` is its start; it is known only at its end. */
export interface Bar {
  readonly symbol: string;
  readonly at: Instant;
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
  /** Shares or contracts. */
  readonly volume: number;
}

/** The age of a quote counts from here (D47, D183). */
export const agesFrom = ({ at, freshUntil }: Pick<Quote, 'at' | 'freshUntil'>): Instant => freshUntil ?? at;

/** True when two quotes of a symbol are one statement of its source, repeated with another age. */
export const isSameStatement = (a: Quote, b: Quote): boolean =>
  a.at === b.at && a.bid === b.bid && a.ask === b.ask && a.bidSize === b.bidSize && a.askSize === b.askSize;

/** True when a quote can be used at all: positive prices, not crossed. A locked quote (bid = ask) is legal. */
export function isUsable(quote: Quote): boolean {
  if (quote.bid === undefined && quote.ask === undefined && quote.last === undefined) return false;
  if (quote.bid !== undefined && quote.bid <= 0) return false;
  if (quote.ask !== undefined && quote.ask <= 0) return false;
  if (quote.last !== undefined && quote.last <= 0) return false;
  return quote.bid === undefined || quote.ask === undefined || quote.bid <= quote.ask;
}

/** True when a live source reports neither bid nor offer and no trade is known: the previous quote no longer applies. */
export const isWithoutMarket = ({ bid, ask, last, freshUntil }: Quote): boolean =>
  freshUntil !== undefined && bid === undefined && ask === undefined && last === undefined;

/**
 * The mark of a position (D56): `last` if it lies within bid and ask, else the nearer of the two.
 * With one side only, `last` if known, else that side. `undefined` without any price.
 */
export function markOf(quote: Quote): Price | undefined {
  const { bid, ask, last } = quote;
  if (last !== undefined) {
    if (bid !== undefined && last < bid) return bid;
    if (ask !== undefined && last > ask) return ask;
    return last;
  }
  if (bid !== undefined && ask !== undefined) {
    // Without a last trade the mark is the midpoint, rounded down to the price unit.
    return Math.floor((bid + ask) / 2) as Price;
  }
  return bid ?? ask;
}

/** The mark of a position at the end of a session: the official close if there is one. */
export const closingMarkOf = (quote: Quote): Price | undefined => quote.close ?? markOf(quote);
