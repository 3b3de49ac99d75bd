/** Syntax of formatted text: identifiers, dates, instants. Each must also name a real date and time. */
import { parseDateTime } from './iso8601.js';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Any layout of RFC 9562, in either case. */
export function isUuid(value: string): boolean {
  return value.length === 36 && uuidPattern.test(value);
}

/** `YYYY-MM-DD`. */
export function isDate(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(value) && parseDateTime(value) !== undefined;
}

/** A date and time with its zone. Without one it would mean another instant on every machine. */
export function isInstant(value: string): boolean {
  return parseDateTime(value)?.offsetMinutes !== undefined;
}

/** A date, or a date and time with its zone. */
export function isDateOrInstant(value: string): boolean {
  const parsed = parseDateTime(value);
  return parsed !== undefined && (parsed.timeMs === undefined || parsed.offsetMinutes !== undefined);
}

/** A date, or a date and time with or without a zone. */
export function isDateTime(value: string): boolean {
  return parseDateTime(value) !== undefined;
}

const UNPRINTABLE = /[\u0000-\u001f\u007f]/;
/** Tabs and ends of lines are no harm in a text of several lines. */
const UNPRINTABLE_IN_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
/** Instants that the clock of a simulation can show (D219), in milliseconds: from 1970-01-01 to the end of 2199-12-31, UTC. */
const FIRST_SIMULATED_MS = 0;
const END_OF_SIMULATED_MS = Date.UTC(2200, 0, 1);

/** True when a date, or a date and time, lies within the range of a simulation's clock. One without a zone is read as UTC. */
export function isSimulatedTime(value: string): boolean {
  const parsed = parseDateTime(value);
  if (parsed === undefined) return false;
  const { day, timeMs = 0, offsetMinutes = 0 } = parsed;
  const ms = day * 86_400_000 + timeMs - offsetMinutes * 60_000;
  return ms >= FIRST_SIMULATED_MS && ms < END_OF_SIMULATED_MS;
}

const YEAR_DAYS = 365.25;
const DAY_MS = 86_400_000;
/** Length in milliseconds of the units of an ISO 8601 duration, in its order; a month is a twelfth of a year. */
const UNITS_MS = [
  YEAR_DAYS * DAY_MS,
  (YEAR_DAYS / 12) * DAY_MS,
  7 * DAY_MS,
  DAY_MS,
  3_600_000,
  60_000,
  1_000,
] as const;
const LONGEST_SPAN_YEARS = 10;
const durationParts =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;

/** True when a duration is above zero and at most P10Y. */
export function isSpan(value: string): boolean {
  const parts = durationParts.exec(value)?.slice(1) ?? [];
  const ms = UNITS_MS.reduce((sum, unit, index) => sum + unit * Number(parts[index] ?? 0), 0);
  return ms > 0 && ms <= LONGEST_SPAN_YEARS * YEAR_DAYS * DAY_MS;
}

/** Blank, or with characters that no terminal, log or database should have to show. */
export function isUnreadable(value: string, hasLines = false): 'blank' | 'control characters' | undefined {
  if ((hasLines ? UNPRINTABLE_IN_LINES : UNPRINTABLE).test(value)) return 'control characters';
  return value.trim() === '' ? 'blank' : undefined;
}

const VISIBLE = /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]/u;

/** True when people can see and say a name: it has a letter or a digit (D237). */
export const isNameable = (value: string): boolean => VISIBLE.test(value);

/**
 * The number with at most this many decimal places that `value` is; undefined when it has more. A number that differs
 * from it by less than a billionth of itself is the dust of floating-point arithmetic (D151): 0.1 + 0.2 is 0.3.
 *
 * Exact while the value in units of its last place stays below 2^51, which the bounds of all fields ensure.
 */
export function onDecimals(value: number, decimals: number): number | undefined {
  if (Number.isInteger(value)) return value;
  const scale = powersOfTen[decimals] ?? 1e8;
  const nearest = Math.round(value * scale) / scale;
  return nearest === value || Math.abs(value - nearest) < DUST * Math.abs(value) ? nearest : undefined;
}

const DUST = 1e-9;
const powersOfTen = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8] as const;
