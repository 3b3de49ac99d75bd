/**
 * The kinds of fields of bodies. Each is plain JSON Schema for OpenAPI plus, under `x-expected`, the validator's message for a wrong value;
 * the OpenAPI document drops the latter.
 *
 * Two extension keywords express what JSON Schema cannot: `x-decimals`, the number of decimal places (`multipleOf` on binary floats refuses
 * 0.07), and `x-expected`.
 */
import { Type } from 'typebox';
import type {
  Static,
  TArray,
  TBoolean,
  TEnum,
  TInteger,
  TNumber,
  TObject,
  TProperties,
  TSchema,
  TSchemaOptions,
  TString,
} from 'typebox';

export type Options = TSchemaOptions;

/** A closed object with its own name in the OpenAPI document. */
export function closed<Properties extends TProperties>(
  name: string,
  properties: Properties,
  options: Options = {},
): TObject<Properties> {
  return Type.Object(properties, { $id: name, title: name, additionalProperties: false, ...options });
}

/** An object without a name: path parameters and queries, which OpenAPI spells out one by one. */
export function parameters<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false });
}

export const optional = Type.Optional;

/** An optional field of a request whose `null` means that it is absent. */
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  optional(Type.Union([schema, Type.Null()]));

/** Schema of a value from a closed list. */
export function choice<Values extends string[]>(
  values: readonly [...Values],
  options: Options = {},
): TEnum<Values> {
  return Type.Enum(values, { type: 'string', ...options, 'x-expected': expectedChoice(values) });
}

/** A choice that OpenAPI shows under its own name. */
export function namedChoice<Values extends string[]>(
  name: string,
  values: readonly [...Values],
  options: Options = {},
): TEnum<Values> {
  return choice(values, { $id: name, title: name, ...options });
}

/** `must be A`, `must be A or B`, `must be one of A, B, C`. */
export function expectedChoice(values: readonly string[]): string {
  return values.length > 2 ? `must be one of ${values.join(', ')}` : `must be ${values.join(' or ')}`;
}

const maxTextLength = 256;

/** Text a person or program chose: not blank, no control characters. */
export function text(options: Options & { maxLength?: number } = {}): TString {
  return Type.String({ minLength: 1, maxLength: maxTextLength, 'x-text': true, ...options });
}

/** A name that people see: with a letter or a digit (D237). */
export function nameText(options: Options & { maxLength?: number } = {}): TString {
  return text({ 'x-text': 'name', ...options });
}

/** Text in an answer: no rules. */
export function anyText(options: Options = {}): TString {
  return Type.String(options);
}

export function uuid(options: Options = {}): TString {
  return Type.String({ format: 'uuid', 'x-expected': 'must be a UUID', ...options });
}

/** An instant with its zone. */
export function instant(options: Options = {}): TString {
  return Type.String({
    format: 'date-time',
    examples: ['2026-01-05T14:30:00.000Z'],
    'x-expected': 'must be an ISO 8601 timestamp with a zone',
    ...options,
  });
}

export function date(options: Options = {}): TString {
  return Type.String({
    format: 'date',
    examples: ['2026-01-05'],
    'x-expected': 'must be a date, YYYY-MM-DD',
    ...options,
  });
}

export function dateOrInstant(options: Options = {}): TString {
  return Type.String({
    'x-format': 'date-or-instant',
    examples: ['2026-01-05', '2026-01-05T14:30:00Z'],
    'x-expected': 'must be an ISO 8601 date or a timestamp with a zone',
    ...options,
  });
}

/** A date or an instant that the clock of a simulation can show (D219). */
export function simulatedTime(options: Options & { readonly description: string }): TString {
  return dateOrInstant({ ...options, ...SIMULATED, description: inRange(options.description) });
}

/** A date that the clock of a simulation can show (D219). */
export function simulatedDate(options: Options & { readonly description?: string } = {}): TString {
  return date({ ...options, ...SIMULATED, description: inRange(options.description ?? '') });
}

const SIMULATED = { 'x-simulated': true } as const;
const inRange = (description: string): string =>
  `${description} Between 1970-01-01 and 2199-12-31.`.trimStart();

/** Any ISO 8601 date or date-time, with or without a zone. */
export function dateTime(options: Options = {}): TString {
  return Type.String({
    'x-format': 'iso-8601',
    examples: ['2026-02-01', '20260201', '2026-02-01T15:30'],
    'x-expected': 'must be an ISO 8601 date or date-time',
    ...options,
  });
}

/**
 * A length of time. Years to days of simulated time are dates in New York (D246); a day of real time, and of open market time, is 24 hours. Only
 * seconds may have a fraction.
 */
export function duration(options: Options = {}): TString {
  return Type.String({
    format: 'duration',
    maxLength: 64,
    pattern:
      '^P(?!$)(?:\\d{1,3}Y)?(?:\\d{1,4}M)?(?:\\d{1,6}W)?(?:\\d{1,7}D)?(?:T(?=\\d)(?:\\d{1,8}H)?(?:\\d{1,9}M)?(?:\\d{1,10}(?:\\.\\d{1,3})?S)?)?$',
    examples: ['PT1H30M', 'P1D', 'P1M'],
    'x-expected': 'must be an ISO 8601 duration such as PT1H30M, P1D or P1M',
    ...options,
  });
}

/** A length of time above zero, at most P10Y. */
export function span(options: Options = {}): TString {
  return duration({
    'x-format': 'span',
    'x-expected': 'must be a positive ISO 8601 duration of at most P10Y, such as PT1H30M',
    ...options,
  });
}

export function flag(options: Options = {}): TBoolean {
  return Type.Boolean({ 'x-expected': 'must be a boolean', ...options });
}

/** A number in an answer: finite, no other rules. */
export function number(options: Options = {}): TNumber {
  return Type.Number({ 'x-expected': 'must be a number', ...options });
}

/** A count in an answer. */
export function count(options: Options = {}): TInteger {
  return Type.Integer({ minimum: 0, 'x-expected': 'must be a non-negative integer', ...options });
}

/** A number of a request: at most `maximum` in size, with at most `decimals` decimal places. */
interface Bounds {
  readonly maximum: number;
  readonly decimals: number;
}

export function positive({ maximum, decimals }: Bounds, options: Options = {}): TNumber {
  return Type.Number({
    exclusiveMinimum: 0,
    maximum,
    'x-decimals': decimals,
    'x-expected': 'must be a positive number',
    ...options,
  });
}

export function nonNegative({ maximum, decimals }: Bounds, options: Options = {}): TNumber {
  return Type.Number({
    minimum: 0,
    maximum,
    'x-decimals': decimals,
    'x-expected': 'must be a non-negative number',
    ...options,
  });
}

/** A number that may have either sign. */
export function signed({ maximum, decimals }: Bounds, options: Options = {}): TNumber {
  return Type.Number({
    minimum: -maximum,
    maximum,
    'x-decimals': decimals,
    'x-expected': 'must be a number',
    ...options,
  });
}

export function integer(minimum: number, maximum: number, options: Options = {}): TInteger {
  return Type.Integer({
    minimum,
    maximum,
    'x-expected': `must be an integer from ${minimum} to ${maximum}`,
    'x-range-in-expected': true,
    ...options,
  });
}

export const quantityBounds: Bounds = { maximum: 1e9, decimals: 6 };
export const priceBounds: Bounds = { maximum: 1e7, decimals: 8 };
export const moneyBounds: Bounds = { maximum: 1e9, decimals: 2 };

/** Shares or contracts of a request. */
export function quantity(options: Options = {}): TNumber {
  return positive(quantityBounds, options);
}

/** A price of a request. The tick rule of the instrument comes later: it is business. */
export function price(options: Options = {}): TNumber {
  return positive(priceBounds, options);
}

/** A list of a request. */
export function list<Item extends TSchema>(
  items: Item,
  { min, max, unique = false }: { min: number; max: number; unique?: boolean },
  options: Options = {},
): TArray<Item> {
  return Type.Array(items, {
    minItems: min,
    maxItems: max,
    ...(unique ? { uniqueItems: true } : {}),
    'x-expected': 'must be an array',
    ...options,
  });
}

/** A list of an answer. */
export function listOf<Item extends TSchema>(items: Item, options: Options = {}): TArray<Item> {
  return Type.Array(items, { 'x-expected': 'must be an array', ...options });
}

/** Values by name, such as prices by symbol. */
export function byName<Value extends TSchema>(value: Value, options: Options = {}) {
  return Type.Record(Type.String(), value, { 'x-expected': 'must be an object', ...options });
}

/** Schema of several closed objects, distinguished by a required field with a constant value. */
export function oneOf<Members extends TSchema[]>(
  name: string,
  discriminator: string,
  members: [...Members],
  options: Options = {},
) {
  return Type.Union(members, {
    $id: name,
    title: name,
    'x-discriminator': discriminator,
    'x-expected': 'must be an object',
    ...options,
  });
}

/** The only value of a field; distinguishes the members of a `oneOf`. */
export function exactly<Value extends string>(value: Value, options: Options = {}) {
  return Type.Literal(value, { type: 'string', 'x-expected': `must be ${value}`, ...options });
}

export type { Static };
