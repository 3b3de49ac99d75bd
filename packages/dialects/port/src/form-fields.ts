/** Fields of forms and queries, read strictly: an unknown name is refused, never dropped. */
import { TradingDate } from '@sandpit/core';

/** Makes the refusal of a field. */
export type Invalid = (name: string, reason: string) => Error;

/** A field, or a value of one list: `side[1]`. */
const INDEXED = /^([a-z_]+)\[(\d)\]$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)$/;
const LONGEST = 4000;

/** Text fields of a request, of which a later source comes before an earlier one. Empty ones are absent. */
export class FormFields {
  readonly #fields = new Map<string, string>();
  readonly #invalid: Invalid;

  /** Refuses every field that is not among the known ones; `name[]` is a list of them. */
  constructor(
    sources: readonly Readonly<Record<string, unknown>>[],
    known: readonly string[],
    invalid: Invalid,
  ) {
    this.#invalid = invalid;
    for (const given of sources)
      for (const [name, value] of Object.entries(given)) {
        const plain = INDEXED.exec(name)?.[1];
        const isKnown = plain === undefined ? known.includes(name) : known.includes(`${plain}[]`);
        const shown = /^[\w[\].-]{1,40}$/.test(name) ? name : 'unknown';
        if (value === '' && !isKnown) continue;
        if (!isKnown) throw invalid(shown, 'is not supported');
        if (typeof value !== 'string') throw invalid(shown, 'must be given once');
        if (value.length > LONGEST) throw invalid(shown, 'is too long');
        if (value.trim() !== '') this.#fields.set(name, value.trim());
      }
  }

  text(name: string): string | undefined {
    return this.#fields.get(name);
  }

  required(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw this.#invalid(name, 'is required');
    return text;
  }

  choice<const Values extends readonly string[]>(name: string, values: Values): Values[number] | undefined {
    const text = this.text(name)?.toLowerCase();
    if (text === undefined || values.includes(text)) return text;
    throw this.#invalid(name, `must be one of ${values.join(', ')}`);
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (text.length > 30 || !NUMBER.test(text)) throw this.#invalid(name, 'must be a number');
    return Number(text);
  }

  integer(name: string, least: number, most: number): number | undefined {
    const number = this.number(name);
    if (number === undefined) return undefined;
    if (!Number.isInteger(number) || number < least || number > most)
      throw this.#invalid(name, `must be a whole number from ${least} to ${most}`);
    return number;
  }

  /** `true`, `True` and `1`. */
  flag(name: string): boolean {
    const text = this.text(name)?.toLowerCase();
    if (text === undefined || text === 'false' || text === '0') return false;
    if (text === 'true' || text === '1') return true;
    throw this.#invalid(name, 'must be true or false');
  }

  date(name: string): TradingDate | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const date = TradingDate.parse(text);
    if (date === undefined) throw this.#invalid(name, 'must be a date such as 2026-11-30');
    return date;
  }

  list(name: string): readonly string[] {
    const parts = (this.text(name) ?? '').split(',').map((part) => part.trim());
    return [...new Set(parts.filter((part) => part !== ''))];
  }

  /** Number of values of a list, which are counted from 0. */
  count(name: string): number {
    let count = 0;
    while (this.#fields.has(`${name}[${count}]`)) count += 1;
    return count;
  }
}
