/** Checks of single values: choices, text, numbers. */
import type { TSchema } from 'typebox';
import { type Check, named } from './check.js';
import {
  isDate,
  isDateOrInstant,
  isDateTime,
  isInstant,
  isNameable,
  isSimulatedTime,
  isSpan,
  isUnreadable,
  isUuid,
  onDecimals,
} from './formats.js';

/** A schema as the compiler reads it: JSON Schema keywords and the extensions of `fields.ts`. */
export interface Keywords {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly TSchema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly default?: unknown;
  readonly 'x-expected'?: string;
  readonly 'x-decimals'?: number;
  readonly 'x-text'?: boolean | 'lines' | 'name';
  readonly 'x-format'?: string;
  readonly 'x-simulated'?: boolean;
  readonly 'x-discriminator'?: string;
  readonly 'x-range-in-expected'?: boolean;
}

/** A value that is right or not, with one message. */
export function leaf(keywords: Keywords, fallback: string, isRight: (value: unknown) => boolean): Check {
  const expected = keywords['x-expected'] ?? fallback;
  return (value, prefix, name, out) => {
    if (!isRight(value)) out.push(`${named(prefix, name)} ${expected}`);
    return value;
  };
}

export function choiceCheck(values: readonly unknown[], keywords: Keywords): Check {
  const allowed = new Set(values);
  return leaf(keywords, `must be one of ${values.join(', ')}`, (value) => allowed.has(value));
}

const formats: Readonly<Record<string, (value: string) => boolean>> = {
  date: isDate,
  'date-time': isInstant,
  'date-or-instant': isDateOrInstant,
  'iso-8601': isDateTime,
  span: isSpan,
};

export function stringCheck(keywords: Keywords): Check {
  if (keywords.format === 'uuid') return uuidCheck(keywords);
  const { pattern, minLength = 0, maxLength = Infinity } = keywords;
  const format = formats[keywords['x-format'] ?? keywords.format ?? ''];
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  if (format !== undefined || expression !== undefined) {
    // One message for the whole syntax: its length is part of it.
    const syntax = leaf(
      keywords,
      'must be a string',
      (value) =>
        typeof value === 'string' &&
        value.length >= minLength &&
        value.length <= maxLength &&
        (format === undefined || format(value)) &&
        (expression === undefined || expression.test(value)),
    );
    return keywords['x-simulated'] === true ? simulatedCheck(syntax) : syntax;
  }
  const readable = keywords['x-text'] ?? false;
  const expected = keywords['x-expected'] ?? 'must be a string';
  return (value, prefix, name, out) => {
    if (typeof value !== 'string') {
      out.push(`${named(prefix, name)} ${expected}`);
      return value;
    }
    const unreadable = readable === false ? undefined : isUnreadable(value, readable === 'lines');
    if (value.length < minLength || unreadable === 'blank')
      out.push(`${named(prefix, name)} should not be empty`);
    else if (readable === 'name' && unreadable === undefined && !isNameable(value))
      out.push(`${named(prefix, name)} must contain a letter or a digit`);
    // JSON Schema counts Unicode code points; a text has at most as many as UTF-16 units.
    if (value.length > maxLength && Array.from(value).length > maxLength)
      out.push(`${named(prefix, name)} must be at most ${maxLength} characters`);
    if (unreadable === 'control characters')
      out.push(`${named(prefix, name)} must not contain control characters`);
    return value;
  };
}

/** A date or time of the right syntax that the clock of a simulation can show (D219). */
function simulatedCheck(syntax: Check): Check {
  return (value, prefix, name, out) => {
    const before = out.length;
    syntax(value, prefix, name, out);
    if (out.length === before && !isSimulatedTime(value as string))
      out.push(`${named(prefix, name)} must lie between 1970-01-01 and 2199-12-31`);
    return value;
  };
}

function uuidCheck(keywords: Keywords): Check {
  const expected = keywords['x-expected'] ?? 'must be a UUID';
  return (value, prefix, name, out) => {
    if (typeof value === 'string' && isUuid(value)) return value.toLowerCase();
    out.push(`${named(prefix, name)} ${expected}`);
    return value;
  };
}

export function numberCheck(keywords: Keywords): Check {
  const {
    minimum = -Infinity,
    exclusiveMinimum = -Infinity,
    maximum = Infinity,
    exclusiveMaximum = Infinity,
  } = keywords;
  const integer = keywords.type === 'integer';
  const decimals = keywords['x-decimals'];
  const expected = keywords['x-expected'] ?? (integer ? 'must be an integer' : 'must be a number');
  // A sign is part of the expectation ("a positive number"), a lower bound of another size is a rule of its own.
  const lowerInExpected = keywords['x-range-in-expected'] === true || minimum >= 0;
  const upperInExpected = keywords['x-range-in-expected'] === true;
  const isKind = (value: unknown): value is number =>
    typeof value === 'number' &&
    (integer ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
    value > exclusiveMinimum &&
    (!lowerInExpected || value >= minimum) &&
    (!upperInExpected || value <= maximum);
  return (given, prefix, name, out) => {
    if (!isKind(given)) {
      out.push(`${named(prefix, name)} ${expected}`);
      return given;
    }
    const exact = decimals === undefined ? given : onDecimals(given, decimals);
    const value = exact ?? given;
    if (value < minimum) out.push(`${named(prefix, name)} must not be less than ${minimum}`);
    if (value > maximum) out.push(`${named(prefix, name)} must not be greater than ${maximum}`);
    if (value >= exclusiveMaximum) out.push(`${named(prefix, name)} must be less than ${exclusiveMaximum}`);
    if (exact === undefined) out.push(`${named(prefix, name)} must have at most ${decimals} decimal places`);
    return value;
  };
}
