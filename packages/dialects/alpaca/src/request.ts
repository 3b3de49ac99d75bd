/** The fields of an Alpaca request, read as leniently as Alpaca reads them. */
import { Instant, TradingDate } from '@sandpit/core';
import { type Book, type DialectCall, type Reply, STREAMED } from '@sandpit/dialect-port';
import { AlpacaStore } from './alpaca-store.js';
import { instantOfText, numberOf } from './decimals.js';
import { invalid, unauthorized } from './refusals.js';

/** An admitted request: its portfolio and its fields. */
export interface AlpacaCall {
  readonly book: Book;
  readonly dialectCall: DialectCall;
  readonly kept: AlpacaStore;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Fields;
  readonly body: Fields;
}

/** Returns the body, sent as JSON with 200, or an `AlpacaAnswer`. */
export type AlpacaHandler = (call: AlpacaCall) => Promise<object>;

/** An answer with another status than 200. */
export class AlpacaAnswer {
  readonly status: number;
  /** Absent = nothing. */
  readonly body: unknown;

  constructor(status: number, body?: unknown) {
    this.status = status;
    this.body = body;
  }
}

/** The answer of a handler that has turned its connection into a stream. */
export const OPENED = new AlpacaAnswer(200);

/** A handler as the dialectCall calls it. */
export const handled =
  (handler: AlpacaHandler) =>
  async (dialectCall: DialectCall): Promise<Reply | typeof STREAMED> => {
    const { book, params, query, body } = dialectCall;
    if (book === undefined) throw unauthorized();
    const call = {
      book,
      dialectCall,
      kept: new AlpacaStore(book),
      params,
      query: new Fields(query),
      body: new Fields(body),
    };
    const result = await handler(call);
    if (result === OPENED) return STREAMED;
    if (!(result instanceof AlpacaAnswer)) return { status: 200, text: JSON.stringify(result) };
    return { status: result.status, text: result.body === undefined ? '' : JSON.stringify(result.body) };
  };

/** A record without a prototype. */
const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};

/** Fields of a query or a body. Null and empty text are absent; unknown names are ignored. */
export class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(fields: unknown) {
    this.#fields = recordOf(fields);
  }

  /** Returns a copy with one field replaced or removed. */
  with(name: string, value: string | undefined): Fields {
    return new Fields({ ...this.#fields, [name]: value });
  }

  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  text(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw invalid(`${name} must be a string`);
  }

  /** Lower case, one of these. */
  choice<const Values extends readonly string[]>(name: string, values: Values): Values[number] | undefined {
    const text = this.text(name)?.toLowerCase();
    if (text === undefined || values.includes(text)) return text;
    throw invalid(`${name} must be one of ${values.join(', ')}`);
  }

  number(name: string): number | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const number = numberOf(value);
    if (number === undefined) throw invalid(`${name} must be a number`);
    return number;
  }

  /** A whole number; what lies outside becomes the nearest that does not. */
  integer(name: string, least: number, most: number): number | undefined {
    const number = this.number(name);
    if (number === undefined) return undefined;
    if (!Number.isInteger(number) || number < 0) throw invalid(`${name} must be a whole number`);
    return Math.min(Math.max(number, least), most);
  }

  /** `True` of Python as well as `true`. */
  flag(name: string): boolean {
    const value = this.#value(name);
    return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
  }

  instant(name: string): Instant | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const instant = instantOfText(text);
    if (instant === undefined) throw invalid(`${name} must be an RFC 3339 timestamp or a date`);
    // Instants are clamped to the range of a clock.
    return Instant.max(Instant.first, Instant.min(instant, Instant.last));
  }

  date(name: string): TradingDate | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const date = TradingDate.parse(text.slice(0, 10));
    if (date === undefined || instantOfText(text) === undefined) throw invalid(`${name} must be a date`);
    return date;
  }

  /** `A,B`, or the name given several times, or an array. */
  list(name: string): readonly string[] | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!parts.every((part): part is string => typeof part === 'string'))
      throw invalid(`${name} must be a list of strings`);
    return parts
      .flatMap((part) => part.split(','))
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  /** A nested object; undefined if there is none. */
  object(name: string): Fields | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) throw invalid(`${name} must be an object`);
    return new Fields(value);
  }

  objects(name: string): readonly Fields[] | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw invalid(`${name} must be an array`);
    return value.map((part) => new Fields(part));
  }

  /** The value of a name unless it is null or empty: some clients send all fields. */
  #value(name: string): unknown {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    return value === null || value === '' ? undefined : value;
  }
}
