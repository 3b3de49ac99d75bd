/**
 * Ids of orders. Alpaca gives a replaced order a new id, where the brokerage keeps one: so the order as its n-th replacement left it has
 * an id of its own, made of the number of the order and n. The first is the id that `/v1` knows it by.
 */
import type { Ids } from '@sandpit/core';

/** More replacements than anybody makes of one order. */
export const MOST_REPLACEMENTS = 4096;

/** An order, and how often it had been replaced. */
export interface OrderName {
  readonly number: number;
  readonly replacement: number;
}

export const nameOf = (ids: Ids, { number, replacement }: OrderName): string =>
  replacement === 0
    ? ids.idOf('ORDER', number)
    : ids.idOf('REPLACEMENT', number * MOST_REPLACEMENTS + Math.min(replacement, MOST_REPLACEMENTS - 1));

/** What an id names; undefined where no order ever had it. */
export function named(ids: Ids, id: string): OrderName | undefined {
  const number = ids.numberOf('ORDER', id);
  if (number !== undefined) return { number, replacement: 0 };
  const both = ids.numberOf('REPLACEMENT', id);
  if (both === undefined) return undefined;
  return { number: Math.floor(both / MOST_REPLACEMENTS), replacement: both % MOST_REPLACEMENTS };
}
