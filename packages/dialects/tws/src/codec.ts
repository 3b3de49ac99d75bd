/** Frames and fields: a length of four bytes, then texts that each end with a zero byte. */

/** Longest frame of a client. */
const MOST_BYTES = 65_536;
const HEAD = 4;
/** An unset number of each type, as clients and servers write it. */
export const UNSET_DOUBLE = '1.7976931348623157E308';
export const UNSET_INTEGER = '2147483647';
const UNSET: ReadonlySet<string> = new Set(['', UNSET_DOUBLE, '1.7976931348623157e+308', UNSET_INTEGER]);
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;

/** Bytes that are no frames: the connection cannot be read on. */
export class BrokenStream extends Error {}

/** A field of a message that is missing or of another type. */
export class BadField extends Error {}

/** Cuts received bytes into frames. */
export class FrameReader {
  #held: Buffer = Buffer.alloc(0);

  /** Adds bytes. */
  add(bytes: Uint8Array): void {
    this.#held = this.#held.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#held, bytes]);
  }

  /** Removes a prefix. Returns undefined while too few bytes are there, false for other bytes. */
  takePrefix(prefix: string): boolean | undefined {
    const expected = Buffer.from(prefix, 'latin1');
    const there = this.#held.subarray(0, expected.length);
    if (!there.equals(expected.subarray(0, there.length))) return false;
    if (there.length < expected.length) return undefined;
    this.#held = this.#held.subarray(expected.length);
    return true;
  }

  /** Content of the next frame; undefined while it is incomplete. Throws `BrokenStream` for one that is too long. */
  next(): Buffer | undefined {
    if (this.#held.length < HEAD) return undefined;
    const length = this.#held.readUInt32BE(0);
    if (length > MOST_BYTES) throw new BrokenStream(`a frame of ${length} bytes`);
    if (this.#held.length < HEAD + length) return undefined;
    const content = this.#held.subarray(HEAD, HEAD + length);
    this.#held = this.#held.subarray(HEAD + length);
    return content;
  }
}

/** The texts in a frame. A last one may lack its zero byte. */
export function fieldsIn(content: Buffer): readonly string[] {
  const texts = content.toString('utf8').split('\0');
  return texts.at(-1) === '' ? texts.slice(0, -1) : texts;
}

/** Reads the fields of a message in order. */
export class Fields {
  readonly #texts: readonly string[];
  #at = 0;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#texts.length;
  }

  text(): string {
    const text = this.#texts[this.#at];
    if (text === undefined) throw new BadField(`field ${this.#at} is missing`);
    this.#at += 1;
    return text;
  }

  /** Undefined for a number that is not set. */
  number(): number | undefined {
    const text = this.text();
    if (UNSET.has(text)) return undefined;
    if (text.length > 40 || !NUMBER.test(text)) throw this.#bad(text, 'a number');
    const value = Number(text);
    if (!Number.isFinite(value)) throw this.#bad(text, 'a number');
    return value;
  }

  /** A whole number of 32 bits; 0 if it is not set. */
  integer(): number {
    const value = this.number() ?? 0;
    if (!Number.isInteger(value) || Math.abs(value) > 2_147_483_647)
      throw this.#bad(String(value), 'an integer');
    return value;
  }

  flag(): boolean {
    const text = this.text().toLowerCase();
    return text === '1' || text === 'true';
  }

  /** A number of repeated fields. */
  count(most: number): number {
    const count = this.integer();
    if (count < 0 || count > most) throw this.#bad(String(count), `a count of at most ${most}`);
    return count;
  }

  skip(count = 1): void {
    for (let i = 0; i < count; i++) this.text();
  }

  #bad(text: string, what: string): BadField {
    return new BadField(`field ${this.#at - 1} is not ${what}: ${text.slice(0, 40)}`);
  }
}

/** A field of an answer: false is 0, and undefined is empty. */
export type Field = string | number | boolean | undefined;

export function frameOf(fields: readonly Field[]): Buffer {
  const text = fields.map((field) => `${shown(field)}\0`).join('');
  const content = Buffer.from(text, 'utf8');
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(content.length);
  return Buffer.concat([head, content]);
}

function shown(field: Field): string {
  if (field === undefined) return '';
  if (typeof field === 'boolean') return field ? '1' : '0';
  return String(field).replaceAll('\0', '');
}

/** A price or an amount that may be unset. */
export const double = (value: number | undefined): number | string => value ?? UNSET_DOUBLE;
