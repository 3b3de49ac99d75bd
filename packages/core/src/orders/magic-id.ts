import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { SCRIPTED_CODES } from './refusal.js';
import type { ScriptedCode } from './refusal.js';
import type { Delay, Script, ScriptPiece } from './script.js';

/* Client order ids that script their own order (D176): `~fill:30%@1s,70%@5s#any text`. The part after `#` only makes them unique. */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const ALL_OF_IT = 1_000_000;
/** Longest delay that a client order id may request: ten years. */
const LONGEST_MS = 10 * 366 * 86_400_000;

/** True when a client order id is meant to script its order. */
export const isMagicId = (clientOrderId: string | undefined): clientOrderId is string =>
  clientOrderId?.startsWith('~') === true;

/** The script of a magic client order id; undefined if it is not one. */
export function scriptOfId(clientOrderId: string): Script | undefined {
  const [spell = ''] = clientOrderId.slice(1).split('#', 1);
  const colon = spell.indexOf(':');
  if (colon !== -1) return withArgument(spell.slice(0, colon), spell.slice(colon + 1));
  const [word = '', ...times] = spell.split('@');
  if (word === 'hold') {
    if (times.length === 0) return { type: 'HOLD' };
    const lasts = times.length === 1 ? delayOf(times[0] ?? '') : undefined;
    return lasts && { type: 'HOLD', lasts };
  }
  if (times.length > 0) return undefined;
  if (word === 'no-cancel') return { type: 'ON_CANCEL', effect: 'IGNORE' };
  if (word === 'fill-on-cancel') return { type: 'ON_CANCEL', effect: 'FILL' };
  return word === 'error' ? { type: 'ERROR' } : undefined;
}

function withArgument(word: string, argument: string): Script | undefined {
  if (word === 'fill') return fillOf(argument);
  if (word === 'reject') {
    const code = codeOf(argument);
    return code && { type: 'REJECT', refusal: { code: 'SCRIPTED', shownAs: code } };
  }
  if (word !== 'reject-later') return undefined;
  const [name = '', ...times] = argument.split('@');
  const code = codeOf(name);
  const after = times.length === 1 ? delayOf(times[0] ?? '') : undefined;
  if (code === undefined || times.length > 1 || (times.length === 1 && after === undefined)) return undefined;
  return {
    type: 'REJECT_LATER',
    refusal: { code: 'SCRIPTED', shownAs: code },
    ...(after !== undefined && { after }),
  };
}

const codeOf = (text: string): ScriptedCode | undefined => SCRIPTED_CODES.find((code) => code === text);

function fillOf(argument: string): Script | undefined {
  const pieces = argument.split(',').map(pieceOf);
  if (pieces.some((piece) => piece === undefined)) return undefined;
  const known = pieces.flatMap((piece) => piece ?? []);
  const percent = known.reduce((sum, piece) => sum + (piece.percent ?? 0), 0);
  return percent > ALL_OF_IT ? undefined : { type: 'FILL', pieces: known };
}

/** `30%`, `100`, each with a price and a time after `@`: a plain number is a price, one with a unit a time. */
function pieceOf(text: string): ScriptPiece | undefined {
  const [size = '', ...more] = text.split('@');
  const times = more.filter((part) => /[a-z]$/.test(part));
  const prices = more.filter((part) => !/[a-z]$/.test(part));
  if (times.length > 1 || prices.length > 1) return undefined;
  const amount = sizeOf(size);
  const after = times[0] === undefined ? undefined : delayOf(times[0]);
  const price = prices[0] === undefined ? undefined : priceOf(prices[0]);
  if (amount === undefined || (times.length > 0 && after === undefined)) return undefined;
  if (prices.length > 0 && price === undefined) return undefined;
  return { ...amount, ...(price !== undefined && { price }), ...(after !== undefined && { after }) };
}

function sizeOf(text: string): Pick<ScriptPiece, 'quantity' | 'percent'> | undefined {
  const percent = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text)?.[1];
  if (percent !== undefined) {
    const units = Math.round(Number(percent) * 10_000);
    return units > 0 && units <= ALL_OF_IT ? { percent: units } : undefined;
  }
  if (!/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) return undefined;
  const quantity = Quantity.parse(text);
  return quantity !== undefined && quantity > 0 ? { quantity } : undefined;
}

function priceOf(text: string): Price | undefined {
  const plain = text.replace(/^\$/, '');
  if (!/^\d{1,8}(?:\.\d{1,8})?$/.test(plain)) return undefined;
  const price = Price.parse(plain);
  return price !== undefined && price > 0 ? price : undefined;
}

function delayOf(text: string): Delay | undefined {
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const ms = Math.round(Number(number) * (UNIT_MS[unit] ?? 0));
  return ms <= LONGEST_MS ? { ms, text } : undefined;
}
