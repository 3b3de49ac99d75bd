/** Intents of orders from a side alone: an order closes an opposite position first. */
import { Position, Quantity } from '@sandpit/core';
import type { Book } from './port.js';

export type Side = 'BUY' | 'SELL';
export type Intent = `${Side}_TO_${'OPEN' | 'CLOSE'}`;

/** Signed quantity of a position; 0 without one. */
export function heldIn(book: Book, symbol: string): Quantity {
  const position = book.portfolio()?.positions.get(symbol);
  return position === undefined ? Quantity.zero : Position.held(position);
}

/** Buying closes a short position, selling a long one; otherwise a position is opened. */
export function intentOf(book: Book, symbol: string, side: Side): Intent {
  const held = heldIn(book, symbol);
  const closes = side === 'BUY' ? held < 0 : held > 0;
  return `${side}_TO_${closes ? 'CLOSE' : 'OPEN'}`;
}
