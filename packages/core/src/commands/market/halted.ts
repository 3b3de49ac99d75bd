import type { Decision } from '../../decision.js';
import { haltOf, isSinceResumption } from '../../market/halts.js';
import type { Halt } from '../../market/halts.js';
import type { Book } from '../../matching/book.js';
import { haltText } from '../../matching/halt-text.js';
import { symbolsTraded } from '../../orders/order.js';
import type { OrderTerms } from '../../orders/order.js';
import type { Rejection } from '../../rejection.js';

/** The halt that stops trading in a symbol now. */
export const haltIn = (d: Decision, symbol: string): Halt | undefined =>
  d.state.halts.inForce.size === 0 ? undefined : haltOf(d.state.halts, d.tradable(symbol), d.at);

/** True when the quote of a book may be matched: trading in its symbol is not halted, and it came after the latest halt. */
export function isTrading(d: Decision, book: Book): boolean {
  const { halts } = d.state;
  const { quote, symbol, pushed } = book;
  if (quote === undefined || (halts.inForce.size === 0 && halts.resumed.size === 0)) return true;
  const instrument = d.tradable(symbol);
  return haltOf(halts, instrument, d.at) === undefined && isSinceResumption(halts, instrument, quote, pushed);
}

/** The refusal of an order that cannot wait for the end of a halt; undefined if none of its symbols is halted. */
export function haltedProblem(
  d: Decision,
  order: Pick<OrderTerms, 'symbol'> & { readonly legs?: OrderTerms['legs'] },
): Rejection | undefined {
  for (const symbol of symbolsTraded({ symbol: order.symbol, legs: order.legs })) {
    const halt = haltIn(d, symbol);
    if (halt === undefined) continue;
    const text = haltText(d.tradable(symbol), halt);
    const { reason, until } = halt;
    return {
      code: 'TRADING_HALTED',
      message: text.charAt(0).toUpperCase() + text.slice(1),
      reason,
      ...(until !== undefined && { until }),
    };
  }
  return undefined;
}
