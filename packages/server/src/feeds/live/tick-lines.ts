import type { Price, Quantity } from '@sandpit/core';
import { quoteFlags, tickLine } from '../tick-file.js';
import type { Tick } from './tick-tape.js';

const INITIAL_BYTES = 256 * 1024;
/** Longest line of a quote without its symbol: three instants or running numbers, two prices, two sizes, separators, flags. */
const QUOTE_BYTES = 240;
const UTF8_BYTES = 3;
const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;
const Q = 0x51;
const NEWLINE = 0x0a;
const LAST_ASCII = 0x7f;

/**
 * Lines of ticks as bytes, in the format of `tickLine`. Quotes, which are nearly all ticks, are encoded without a string: at 10,000 a
 * second, strings that live until the next write cost more than all other work of a recording.
 */
export class TickLines {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;

  /** Bytes that wait to be written. */
  get length(): number {
    return this.#length;
  }

  /** The lines, each with its end; valid until the next `add`. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  add(tick: Tick): void {
    const from = this.#length;
    if (this.#addQuote(tick)) return;
    this.#length = from;
    this.addLine(tickLine(tick));
  }

  /** Adds a line that is text already, without its end. */
  addLine(line: string): void {
    this.#reserve(line.length * UTF8_BYTES + 1);
    this.#length += this.#bytes.write(line, this.#length, 'utf8');
    this.#bytes[this.#length++] = NEWLINE;
  }

  /** False when the tick is no quote, or its symbol is not ASCII; the caller discards the text written so far. */
  #addQuote({ seq, received, stamp, symbol, kind, quote }: Tick): boolean {
    if (kind !== 'Q' || quote === undefined) return false;
    this.#reserve(QUOTE_BYTES + symbol.length);
    this.#integer(seq);
    this.#put(COMMA);
    this.#integer(received);
    this.#put(COMMA);
    this.#integer(stamp ?? quote.at);
    this.#put(COMMA);
    if (!this.#ascii(symbol)) return false;
    this.#put(COMMA);
    this.#put(Q);
    this.#put(COMMA);
    this.#price(quote.bid);
    this.#put(COMMA);
    this.#size(quote.bidSize);
    this.#put(COMMA);
    this.#price(quote.ask);
    this.#put(COMMA);
    this.#size(quote.askSize);
    this.#put(COMMA);
    this.#put(COMMA);
    this.#put(COMMA);
    this.#ascii(quoteFlags(quote));
    this.#put(NEWLINE);
    return true;
  }

  /** False when the text has other characters. */
  #ascii(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > LAST_ASCII) return false;
      this.#put(code);
    }
    return true;
  }

  #price(price: Price | undefined): void {
    if (price !== undefined) this.#decimal(price, 1e8, 8);
  }

  #size(size: Quantity | undefined): void {
    if (size !== undefined) this.#decimal(size, 1e6, 6);
  }

  /** A scaled integer of zero or more, without trailing zeros. `unit` is 10 to the power of `decimals`. */
  #decimal(value: number, unit: number, decimals: number): void {
    const whole = Math.floor(value / unit);
    let fraction = value - whole * unit;
    this.#integer(whole);
    if (fraction === 0) return;
    while (fraction % 10 === 0) {
      fraction /= 10;
      decimals -= 1;
    }
    this.#put(POINT);
    this.#digits(fraction, decimals);
  }

  /** An integer of zero or more. */
  #integer(value: number): void {
    // Above 10^7 in two parts, so that digits are divided as 32-bit integers.
    if (value >= 1e7) {
      const high = Math.floor(value / 1e7);
      this.#integer(high);
      this.#digits(value - high * 1e7, 7);
      return;
    }
    let count = 1;
    for (let limit = 10; value >= limit; limit *= 10) count += 1;
    this.#digits(value, count);
  }

  /** The last `count` digits, with leading zeros. */
  #digits(value: number, count: number): void {
    const end = this.#length + count;
    let left = value | 0;
    for (let i = end - 1; i >= this.#length; i--) {
      const rest = (left / 10) | 0;
      this.#bytes[i] = ZERO + left - rest * 10;
      left = rest;
    }
    this.#length = end;
  }

  #put(byte: number): void {
    this.#bytes[this.#length++] = byte;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
