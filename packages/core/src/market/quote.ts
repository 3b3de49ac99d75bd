import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';

/** The best bid and offer of an instrument, with the last trade where the source knows it. */
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
  /** The close of the session that ends at this very instant, or ended up to a minute ago: the official one where the source has it. */
  readonly close?: Price;
  /** The source will still tell the close of the session (D180): it is known up to a minute after the bell. */
  readonly closeToCome?: true;
  /** The official open of the session, with the first quote of it that the source has it for. */
  readonly open?: Price;
  /** The source will still tell the official open of the session. */
  readonly openToCome?: true;
  /** Until here the source would have told of a change (D183): the age of the quote counts from here. Absent = from `at`. */
  readonly freshUntil?: Instant;
  /** The source tells it late (D183). */
  readonly delayed?: true;
  /** Derived by the source, and not firm (D184). */
  readonly indicative?: true;
  readonly at: Instant;
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

/** True when two quotes of a symbol are one statement of its source, told again with another age. */
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
 * The price a position is marked at (D56): `last` where it lies within bid and ask, else the nearer of the two.
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
    // Without a last trade nothing says which side is nearer: the middle, rounded down to the price unit.
    return Math.floor((bid + ask) / 2) as Price;
  }
  return bid ?? ask;
}

/** The price a position is marked at when a session ends: the official close where there is one. */
export const closingMarkOf = (quote: Quote): Price | undefined => quote.close ?? markOf(quote);
