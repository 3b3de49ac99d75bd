import type { HaltNews } from '../../feed.js';
import { officialOf, updatesLast } from '../conditions.js';
import { arrayOf, type Json, numberOf, textOf } from '../json.js';
import type { SourceQuote, SourceTrade } from '../source.js';

/*
 * Messages of Alpaca's streams; its REST service uses the same names. https://docs.alpaca.markets/docs/real-time-stock-pricing-data and
 * https://docs.alpaca.markets/docs/real-time-option-data
 */

/** From here on the SIPs send sizes of quotes in shares, before in round lots: https://docs.alpaca.markets/us/changelog?page=3 */
const SHARES_SINCE_MS = Date.UTC(2025, 10, 3, 5);
const ROUND_LOT = 100;

/** RFC 3339 with nanoseconds; a msgpack timestamp is a date already. */
const stampOf = (t: unknown): number =>
  t instanceof Date ? t.getTime() : typeof t === 'string' ? Date.parse(t) : Number.NaN;

export function quoteFrom(told: Json): SourceQuote | undefined {
  const symbol = textOf(told.S);
  const stampMs = stampOf(told.t);
  if (symbol === undefined || Number.isNaN(stampMs)) return undefined;
  const lot = stampMs < SHARES_SINCE_MS && symbol.length < 15 ? ROUND_LOT : 1;
  const [bid, ask, bidSize, askSize] = [told.bp, told.ap, told.bs, told.as].map(numberOf);
  return {
    symbol,
    ...(bid !== undefined && { bid }),
    ...(ask !== undefined && { ask }),
    ...(bidSize !== undefined && { bidSize: bidSize * lot }),
    ...(askSize !== undefined && { askSize: askSize * lot }),
    stampMs,
  };
}

export function tradeFrom(told: Json): SourceTrade | undefined {
  const symbol = textOf(told.S);
  const price = numberOf(told.p);
  const stampMs = stampOf(told.t);
  if (symbol === undefined || price === undefined || Number.isNaN(stampMs)) return undefined;
  return {
    symbol,
    price,
    size: numberOf(told.s) ?? 0,
    stampMs,
    ...((typeof told.i === 'number' || typeof told.i === 'string') && { id: String(told.i) }),
    ...effectOf(told),
  };
}

/**
 * Effect of a trade on the last sale and official prices. Conditions of option trades are a single text, and every option trade is a last
 * sale.
 */
function effectOf(told: Json): Pick<SourceTrade, 'updatesLast' | 'official'> {
  if (!Array.isArray(told.c)) return { updatesLast: true };
  const conditions = arrayOf(told.c).filter(
    (condition): condition is string => typeof condition === 'string',
  );
  const official = isListedThere(told) ? officialOf(conditions) : undefined;
  return { updatesLast: updatesLast(conditions), ...(official !== undefined && { official }) };
}

/** True when the exchange of a trade is one that lists stocks of its tape: NYSE A, Nasdaq C, the others B. */
function isListedThere({ x, z }: Json): boolean {
  if (z === 'A') return x === 'N';
  return z === 'C' ? x === 'Q' : z === 'B' && (x === 'P' || x === 'A' || x === 'Z');
}

/** The correction of a trade: the number of the corrected trade, and its new content. */
export function correctionFrom(
  told: Json,
): { readonly id: string; readonly corrected: SourceTrade } | undefined {
  const corrected = tradeFrom({ ...told, i: told.ci, p: told.cp, s: told.cs, c: told.cc });
  return corrected && { id: String(told.oi), corrected };
}

/** Reasons of the CTA in the codes of D178; those of the UTP are these already. */
const CTA_REASONS: Readonly<Record<string, string>> = {
  M: 'LUDP',
  P: 'T1',
  D: 'T2',
  X: 'O1',
  I: 'IMBAL',
  Y: 'SUBPENNY',
  '1': 'MWC1',
  '2': 'MWC2',
  '3': 'MWC3',
};
const BREAKER_MS = 15 * 60_000;

/** A trading status that halts or resumes trading; the others (indications, imbalances, quotation only) do neither. */
export function haltFrom(told: Json): HaltNews | undefined {
  const symbol = textOf(told.S);
  const status = textOf(told.sc);
  if (symbol === undefined || status === undefined) return undefined;
  const isCta = told.z === 'A' || told.z === 'B';
  if (isCta ? status === '3' : status === 'T') return { symbol, resumes: true };
  if (isCta ? status !== '2' : status !== 'H' && status !== 'P') return undefined;
  const code = textOf(told.rc)?.trim() ?? '';
  const given = isCta ? (CTA_REASONS[code] ?? code) : code === '01' ? 'O1' : code;
  const reason = /^[A-Z0-9]{1,8}$/.test(given) ? given : status === 'P' ? 'LUDP' : 'HALT';
  // A circuit breaker is reported for every symbol; it is one halt of the whole market (D178).
  if (/^MWC[123]$/.test(reason))
    return { symbol: '*', reason, ...(reason !== 'MWC3' && { lastsMs: BREAKER_MS }) };
  return { symbol, reason };
}
