/**
 * Ids of orders. Alpaca gives a replaced order a new id, whereas the brokerage keeps the id: so the n-th replacement of an order has an id
 * made of the order's number and n. The first id is that of `/v1`. The legs of a multi-leg order have ids of the same kind, with the index
 * of the leg.
 */
import { type Ids, NAMES_PER_ORDER } from '@sandpit/core';

/** Places of legs: 0 is the order itself. */
const LEG_PLACES = 8;
/** More replacements than any order has. */
const MOST_REPLACEMENTS = NAMES_PER_ORDER / LEG_PLACES;

/** An order, and how often it had been replaced. */
export interface OrderName {
  readonly number: number;
  readonly replacement: number;
  /** Number of the leg, from 1; 0 = the order itself. */
  readonly leg?: number;
}

export function nameOf(ids: Ids, { number, replacement, leg = 0 }: OrderName): string {
  if (replacement === 0 && leg === 0) return ids.idOf('ORDER', number);
  const generation = number * MOST_REPLACEMENTS + Math.min(replacement, MOST_REPLACEMENTS - 1);
  return ids.idOf('REPLACEMENT', generation * LEG_PLACES + leg);
}

/** The order that an id names; undefined when no order ever had it. */
export function named(ids: Ids, id: string): OrderName | undefined {
  const number = ids.numberOf('ORDER', id);
  if (number !== undefined) return { number, replacement: 0 };
  const all = ids.numberOf('REPLACEMENT', id);
  if (all === undefined) return undefined;
  const generation = Math.floor(all / LEG_PLACES);
  return {
    number: Math.floor(generation / MOST_REPLACEMENTS),
    replacement: generation % MOST_REPLACEMENTS,
    leg: all % LEG_PLACES,
  };
}
