import { isLongAsOsi } from '@sandpit/core';
import { officialOf, updatesLast } from '../conditions.js';
import { arrayOf, type Json, numberOf, textOf } from '../json.js';
import type { SourceQuote, SourceTrade } from '../source.js';

/* Messages of Massive's streams: https://massive.com/docs/websocket/stocks/quotes.md, …/trades.md, …/luld.md */

/** Options have a prefix; the rest is their OSI symbol. */
export const vendorSymbol = (symbol: string): string => (isLongAsOsi(symbol) ? `O:${symbol}` : symbol);
export const plainSymbol = (symbol: string): string => (symbol.startsWith('O:') ? symbol.slice(2) : symbol);

/**
 * Numbers of trade conditions in the letters of the tapes: https://polygon.io/glossary/us/stocks/conditions-indicators. Conditions not
 * listed here update the last sale.
 */
const LETTERS: Readonly<Record<number, string>> = {
  2: 'W',
  4: 'B',
  5: 'G',
  7: 'C',
  8: '6',
  10: '4',
  12: 'T',
  13: 'U',
  15: 'M',
  16: 'Q',
  20: 'N',
  21: 'H',
  22: 'P',
  25: 'O',
  29: 'R',
  30: 'L',
  33: 'Z',
  37: 'I',
  52: 'V',
  53: '7',
};

/** The exchanges that list the stocks of a tape: https://massive.com/docs/rest/stocks/market-operations/exchanges */
const LISTING: Readonly<Record<number, readonly number[]>> = { 1: [10], 2: [1, 11], 3: [12] };

export function tradeEffectOf(
  conditions: unknown,
  exchange: unknown,
  tape: unknown,
): Pick<SourceTrade, 'updatesLast' | 'official'> {
  const letters = arrayOf(conditions).flatMap((one) => LETTERS[numberOf(one) ?? -1] ?? []);
  const isListedThere = LISTING[numberOf(tape) ?? -1]?.includes(numberOf(exchange) ?? -1) === true;
  const official = isListedThere ? officialOf(letters) : undefined;
  return { updatesLast: updatesLast(letters), ...(official !== undefined && { official }) };
}

/** From here on sizes of stock quotes are shares: https://polygon.io/blog/change-stocks-quotes-round-lots-to-shares */
const SHARES_SINCE_MS = Date.UTC(2025, 10, 3, 5);
const ROUND_LOT = 100;

export function quoteFrom(told: Json): SourceQuote | undefined {
  const symbol = textOf(told.sym);
  const stampMs = numberOf(told.t);
  if (symbol === undefined || stampMs === undefined) return undefined;
  const lot = stampMs < SHARES_SINCE_MS && !symbol.startsWith('O:') ? ROUND_LOT : 1;
  const [bid, ask, bidSize, askSize] = [told.bp, told.ap, told.bs, told.as].map(numberOf);
  return {
    symbol: plainSymbol(symbol),
    ...(bid !== undefined && { bid }),
    ...(ask !== undefined && { ask }),
    ...(bidSize !== undefined && { bidSize: bidSize * lot }),
    ...(askSize !== undefined && { askSize: askSize * lot }),
    stampMs,
  };
}

export function tradeFrom(told: Json): SourceTrade | undefined {
  const symbol = textOf(told.sym);
  const price = numberOf(told.p);
  const stampMs = numberOf(told.t);
  if (symbol === undefined || price === undefined || stampMs === undefined) return undefined;
  const isOption = symbol.startsWith('O:');
  return {
    symbol: plainSymbol(symbol),
    price,
    size: numberOf(told.s) ?? 0,
    stampMs,
    ...((typeof told.i === 'string' || typeof told.i === 'number') && { id: String(told.i) }),
    ...(isOption ? { updatesLast: true } : tradeEffectOf(told.c, told.x, told.z)),
  };
}
