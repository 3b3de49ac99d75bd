/** Numbers in Alpaca's wire format: text, without exponents and without extra digits. */
import { Instant } from '@sandpit/core';

const DECIMALS = 8;

/** A number of `/v1` as decimal text. */
export function decimal(value: number): string {
  const text = value.toFixed(DECIMALS);
  const trimmed = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return trimmed === '-0' ? '0' : trimmed;
}

export const isoOrNull = (instant: Instant | undefined): string | null =>
  instant === undefined ? null : iso(instant);

/** RFC 3339 in UTC. */
export const iso = (instant: Instant): string => new Date(instant).toISOString();

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$/;

/** A number sent as text or as a number; undefined for other values. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > 40 || !NUMBER.test(value.trim())) return undefined;
  const parsed = Number(value);
  return Number.isFinite(parsed) ? parsed : undefined;
}

/** An RFC 3339 timestamp or a date (its midnight in UTC); undefined when it is neither. */
export function instantOfText(text: string): Instant | undefined {
  if (!/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([zZ]|[+-]\d\d:?\d\d)?)?$/.test(text))
    return undefined;
  const zoned = /^\d{4}-\d\d-\d\d$|[zZ]$|[+-]\d\d:?\d\d$/.test(text.slice(10)) || text.length === 10;
  const ms = Date.parse(zoned ? text.replace(' ', 'T') : `${text.replace(' ', 'T')}Z`);
  return Number.isNaN(ms) ? undefined : Instant.ofMs(ms);
}

const QUANTITY_UNITS = 1e6;
/** Farther from a whole number of units than the error of a multiplication. */
const BETWEEN_UNITS = 1e-3;

/** A quantity in the six decimals of the books; further ones are cut off. */
export function sixDecimals(quantity: number): number {
  const units = quantity * QUANTITY_UNITS;
  const nearest = Math.round(units);
  return (Math.abs(units - nearest) < BETWEEN_UNITS ? nearest : Math.floor(units)) / QUANTITY_UNITS;
}
