/** Checks of the fields in files that others wrote (D233): each field of an object by its own check, and no field besides. */
import { ImportRefused } from './import-refused.js';

/** The path of the first part of a value that is wrong, '' for the value itself; undefined = it is right. */
export type FieldCheck = (value: unknown) => string | undefined;

/** A check for each field of `Type`. */
export type FieldChecks<Type> = { readonly [Name in keyof Required<Type>]: FieldCheck };

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Longest name of an unknown field in a message. */
const LONGEST_NAME = 64;

/** An object with these fields only. */
export function closedObject<Type>(fields: FieldChecks<Type>): FieldCheck {
  const checks = new Map(Object.entries<FieldCheck>(fields));
  return (value) => {
    if (!isRecord(value)) return '';
    const unknown = Object.keys(value).find((name) => !checks.has(name));
    if (unknown !== undefined) return unknown.slice(0, LONGEST_NAME);
    for (const [name, check] of checks) {
      const wrong = check(value[name]);
      if (wrong !== undefined) return wrong === '' ? name : `${name}.${wrong}`;
    }
    return undefined;
  };
}

export const when =
  (isRight: (value: unknown) => boolean): FieldCheck =>
  (value) =>
    isRight(value) ? undefined : '';

export const optionally =
  (check: FieldCheck): FieldCheck =>
  (value) =>
    value === undefined ? undefined : check(value);

export const oneOf = (...values: readonly unknown[]): FieldCheck => when((value) => values.includes(value));

export const matching = (pattern: RegExp): FieldCheck =>
  when((value) => typeof value === 'string' && pattern.test(value));

export const textUpTo = (most: number): FieldCheck =>
  when((value) => typeof value === 'string' && value.length <= most);

export const wholeNumber = (least: number, most: number): FieldCheck =>
  when((value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most);

export const numberFrom = (least: number, most: number): FieldCheck =>
  when((value) => typeof value === 'number' && value >= least && value <= most);

export const listOf = (most: number, check: FieldCheck): FieldCheck =>
  when(
    (value) =>
      Array.isArray(value) && value.length <= most && value.every((item) => check(item) === undefined),
  );

/** Throws `ImportRefused` naming the first part of a value that is wrong. `what`: the object that a message names. */
export function requireFields(value: unknown, check: FieldCheck, what: string): void {
  const wrong = check(value);
  if (wrong === undefined) return;
  throw new ImportRefused(
    wrong === '' ? `${what} is not usable here` : `${wrong} of ${what} is not usable here`,
  );
}

/** The object in a line. */
export function objectIn(line: string): Readonly<Record<string, unknown>> {
  requirePlain(line, 'a line');
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new ImportRefused('a line is not JSON');
  }
  if (!isRecord(value)) throw new ImportRefused('a line is not a JSON object');
  return value;
}

export function textIn(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new ImportRefused(`${name} of a line is not a text`);
  return value;
}

/** Levels of JSON text: more than any record has. Code that visits a value may recurse for each. */
const MOST_LEVELS = 64;
/** Objects and lists in JSON text, each of which occupies memory. */
const MOST_PARTS = 250_000;

/** Throws `ImportRefused` for JSON text whose value would be too deep or have too many parts. `what`: its subject in the message. */
export function requirePlain(text: string, what: string): void {
  let levels = 0;
  let parts = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (isInString) {
      if (code === BACKSLASH) i += 1;
      else if (code === QUOTE) isInString = false;
      continue;
    }
    if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      levels += 1;
      parts += 1;
      if (levels > MOST_LEVELS)
        throw new ImportRefused(`${what} is nested more than ${MOST_LEVELS} levels deep`);
      if (parts > MOST_PARTS)
        throw new ImportRefused(
          `${what} has more than ${MOST_PARTS.toLocaleString('en-US')} objects and lists`,
        );
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) levels -= 1;
  }
}

const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [34, 92, 91, 93, 123, 125];
