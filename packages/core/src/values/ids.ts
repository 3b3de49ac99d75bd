import { hash32, seedOf } from './seeded.js';

/** Kinds of numbered objects. Ids of different kinds never collide. */
export type IdKind =
  | 'PORTFOLIO'
  | 'ORDER'
  | 'EXECUTION'
  | 'TRADE_ENTRY'
  | 'ENTRY'
  | 'REPLACEMENT'
  | 'CALL'
  | 'OUTCOME'
  | 'ALERT';

const KIND: Readonly<Record<IdKind, number>> = {
  PORTFOLIO: 1,
  ORDER: 2,
  EXECUTION: 3,
  TRADE_ENTRY: 4,
  ENTRY: 5,
  REPLACEMENT: 6,
  CALL: 7,
  OUTCOME: 8,
  ALERT: 9,
};

/** Numbers reserved per execution; its ledger entries never exceed it. */
export const ENTRIES_PER_EXECUTION = 16;
/** Most names of one order at a door that names replacements and legs. */
export const NAMES_PER_ORDER = 32_768;

/** Running numbers from which those of ids follow. */
export interface IdCounters {
  readonly portfolio: number;
  readonly order: number;
  readonly execution: number;
  readonly ledgerEntry: number;
  readonly call: number;
  readonly outcome: number;
  readonly alert: number;
}

/** The last number of a kind that was drawn when the counters were these. */
function lastDrawn(kind: IdKind, counters: IdCounters): number {
  switch (kind) {
    case 'PORTFOLIO':
      return counters.portfolio;
    case 'ORDER':
      return counters.order;
    case 'EXECUTION':
      return counters.execution;
    case 'TRADE_ENTRY':
      return (counters.execution + 1) * ENTRIES_PER_EXECUTION - 1;
    case 'ENTRY':
      return counters.ledgerEntry;
    case 'REPLACEMENT':
      return (counters.order + 1) * NAMES_PER_ORDER - 1;
    case 'CALL':
      return counters.call;
    case 'OUTCOME':
      return counters.outcome;
    case 'ALERT':
      return counters.alert;
  }
}

/** Ids that are drawn after a loss: with a secret of their own, so that a lost id names nothing (D226). */
interface LaterIds {
  readonly after: IdCounters;
  readonly ids: Ids;
}

const ROUNDS = 27;
const WORD = 0x100000000;
/** A number has 53 bits: its upper 21 share a word with the kind. */
const KIND_SHIFT = 21;
/** Sets the second block of an id apart from the first. */
const SECOND = 0x5a4d0001;

/**
 * Public ids of running numbers. The number goes through a keyed permutation, so that an id reveals nothing, not even together with
 * others, while the secret recovers the number from it. The same secret and number give the same id anywhere.
 *
 * The permutation is the block cipher Speck64/128 (Beaulieu et al., "The SIMON and SPECK Families of Lightweight Block Ciphers",
 * 2013), chosen because it needs 32-bit additions, rotations and exclusive ors only. An id has the form of a version 4 UUID
 * (RFC 9562): 64 bits are the enciphered number, 58 more are a second encipherment that an invented id does not have.
 */
export class Ids {
  private readonly keys = new Uint32Array(ROUNDS);
  /** Oldest first; undefined = none. */
  private readonly later: readonly LaterIds[] | undefined;
  /** The last processed block. */
  private x = 0;
  private y = 0;

  /** `secret`: 32 hexadecimal digits, and the tags that `tagged` has added. */
  constructor(secret: string) {
    const [first = '', ...tags] = secret.split(';');
    if (!/^[0-9a-f]{32}$/.test(first)) throw new RangeError('an id secret has 32 hexadecimal digits');
    this.later = tags.length === 0 ? undefined : tags.map((text) => laterIds(first, text));
    const word = (at: number): number => Number.parseInt(first.slice(at * 8, at * 8 + 8), 16);
    let key = word(3);
    const more = [word(2), word(1), word(0)];
    for (let round = 0; round < ROUNDS; round++) {
      this.keys[round] = key;
      const l = more.shift() ?? 0;
      const next = ((key + rotateRight(l, 8)) ^ round) >>> 0;
      more.push(next);
      key = (rotateLeft(key, 3) ^ next) >>> 0;
    }
  }

  /** The secret of a simulation that has only a seed: as good as the seed is secret. */
  static secretOf(seed: number): string {
    return [0, 1, 2, 3].map((part) => hash32(seed, 11, part).toString(16).padStart(8, '0')).join('');
  }

  /** A secret whose ids after these counters differ from those before, by a tag. */
  static tagged(secret: string, tag: string, after: IdCounters): string {
    const { portfolio, order, execution, ledgerEntry, call, outcome, alert } = after;
    // Without alerts as in journals of earlier versions.
    const counters = [portfolio, order, execution, ledgerEntry, call, outcome, ...(alert > 0 ? [alert] : [])];
    return `${secret};${tag}:${counters.join(',')}`;
  }

  /** True for a secret that has a tag. */
  static hasTag(secret: string, tag: string): boolean {
    return secret.includes(`;${tag}:`);
  }

  idOf(kind: IdKind, number: number): string {
    const later = this.later?.findLast(({ after }) => number > lastDrawn(kind, after));
    return later === undefined ? this.idBefore(kind, number) : later.ids.idBefore(kind, number);
  }

  private idBefore(kind: IdKind, number: number): string {
    this.encipher((KIND[kind] << KIND_SHIFT) | Math.floor(number / WORD), number >>> 0);
    const { x, y } = this;
    this.encipher(x ^ SECOND, y);
    const b = this.x;
    const c = this.y;
    // One call: a string concatenated from parts costs three times as much once it is the key of a map.
    // prettier-ignore
    return String.fromCharCode(
      hex(x, 28), hex(x, 24), hex(x, 20), hex(x, 16), hex(x, 12), hex(x, 8), hex(x, 4), hex(x, 0), DASH,
      hex(y, 28), hex(y, 24), hex(y, 20), hex(y, 16), DASH,
      52, hex(y, 12), hex(y, 8), hex(y, 4), DASH,
      hex(8 | ((b >>> 24) & 3), 0), hex(y, 0), hex(b, 20), hex(b, 16), DASH,
      hex(b, 12), hex(b, 8), hex(b, 4), hex(b, 0), hex(c, 28), hex(c, 24), hex(c, 20), hex(c, 16), hex(c, 12), hex(c, 8), hex(c, 4), hex(c, 0),
    );
  }

  /** The number behind an id; `undefined` for one that was not made with this secret for this kind. */
  numberOf(kind: IdKind, id: string): number | undefined {
    const { later } = this;
    const number = this.numberBefore(kind, id);
    if (later === undefined) return number;
    for (const found of [number, ...later.map(({ ids }) => ids.numberBefore(kind, id))])
      // A lost id is that of a number which has another id now.
      if (found !== undefined && this.idOf(kind, found) === id.toLowerCase()) return found;
    return undefined;
  }

  private numberBefore(kind: IdKind, id: string): number | undefined {
    if (id.length !== 36) return undefined;
    const plain = id.toLowerCase();
    const x = Number.parseInt(plain.slice(0, 8), 16);
    const y = Number.parseInt(plain.slice(9, 13) + plain.slice(15, 18) + plain.slice(20, 21), 16);
    if (Number.isNaN(x) || Number.isNaN(y)) return undefined;
    this.decipher(x, y);
    if (this.x >>> KIND_SHIFT !== KIND[kind]) return undefined;
    const number = (this.x & ((1 << KIND_SHIFT) - 1)) * WORD + this.y;
    return this.idBefore(kind, number) === plain ? number : undefined;
  }

  private encipher(high: number, low: number): void {
    let x = high | 0;
    let y = low | 0;
    for (let round = 0; round < ROUNDS; round++) {
      x = (((x >>> 8) | (x << 24)) + y) ^ (this.keys[round] ?? 0);
      y = ((y << 3) | (y >>> 29)) ^ x;
    }
    this.x = x >>> 0;
    this.y = y >>> 0;
  }

  private decipher(high: number, low: number): void {
    let x = high | 0;
    let y = low | 0;
    for (let round = ROUNDS - 1; round >= 0; round--) {
      y ^= x;
      y = (y >>> 3) | (y << 29);
      x = ((x ^ (this.keys[round] ?? 0)) - y) | 0;
      x = (x << 8) | (x >>> 24);
    }
    this.x = x >>> 0;
    this.y = y >>> 0;
  }
}

/** The ids of a tag, as `Ids.tagged` writes it. */
function laterIds(secret: string, text: string): LaterIds {
  const [tag = '', counters = ''] = text.split(':');
  const [portfolio = 0, order = 0, execution = 0, ledgerEntry = 0, call = 0, outcome = 0, alert = 0] =
    counters.split(',').map(Number);
  const words = [0, 1, 2, 3].map((place) => {
    const word = Number.parseInt(secret.slice(place * 8, place * 8 + 8), 16);
    return hash32(word ^ seedOf(tag), 12, place)
      .toString(16)
      .padStart(8, '0');
  });
  return {
    after: { portfolio, order, execution, ledgerEntry, call, outcome, alert },
    ids: new Ids(words.join('')),
  };
}

const rotateRight = (value: number, by: number): number => ((value >>> by) | (value << (32 - by))) >>> 0;
const rotateLeft = (value: number, by: number): number => ((value << by) | (value >>> (32 - by))) >>> 0;

const DASH = 45;

/** The character code of one hexadecimal digit: the four bits of `n` above `shift`. */
function hex(n: number, shift: number): number {
  const digit = (n >>> shift) & 15;
  return digit < 10 ? 48 + digit : 87 + digit;
}
