/** Numbers and times as people read them. Amounts are dollars. */
const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const fine = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 });
const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
const percents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const minus = (text: string): string => text.replace('-', '−');

/** With the sign of a minus, which nothing has. */
const signed = (text: string): string => (/[1-9]/.test(text) ? minus(text) : text.replace('-', ''));

export const money = (value: number | undefined): string =>
  value === undefined ? '–' : signed(cents.format(value));
/** With its sign, whichever it is. */
export const change = (value: number): string => (value > 0 ? '+' : '') + money(value);
export const price = (value: number | undefined): string =>
  value === undefined ? '–' : minus(fine.format(value));
export const quantity = (value: number | undefined): string =>
  value === undefined ? '–' : minus(plain.format(value));
/** Of a fraction. */
export const percent = (fraction: number): string => `${signed(percents.format(fraction * 100))} %`;
/** Of a fraction, with its sign and two digits: what a day makes is small. */
export const percentChange = (fraction: number): string =>
  `${fraction > 0 ? '+' : ''}${signed(cents.format(fraction * 100))} %`;
export const greek = (value: number | undefined): string =>
  value === undefined ? '–' : signed(value.toFixed(Math.abs(value) < 0.9995 ? 3 : 2));

const ZONE = 'America/New_York';
const timeOf = new Intl.DateTimeFormat('en-GB', { timeZone: ZONE, timeStyle: 'medium' });
const dateOf = new Intl.DateTimeFormat('en-CA', { timeZone: ZONE, dateStyle: 'short' });
const weekdayOf = new Intl.DateTimeFormat('en-US', { timeZone: ZONE, weekday: 'short' });

/** Time of day in New York. */
export const time = (at: string | number): string => timeOf.format(new Date(at));
/** `2026-01-05` in New York. */
export const day = (at: string | number): string => dateOf.format(new Date(at));
export const moment = (at: string | number): string => `${day(at)} ${time(at)}`;
/** The instant whose time of day in UTC is that in New York, ms. */
export function asIfInNewYork(atMs: number): number {
  const hour = Math.floor(atMs / HOUR_MS) * HOUR_MS;
  let offset = offsets.get(hour);
  if (offset === undefined) {
    offset = Date.parse(`${day(hour)}T${time(hour)}Z`) - hour;
    offsets.set(hour, offset);
  }
  return atMs + offset;
}
const HOUR_MS = 3_600_000;
/** By the hour: clocks are put forward and back on the hour. */
const offsets = new Map<number, number>();

export const weekday = (at: string | number): string => weekdayOf.format(new Date(at));

/** `BUY_TO_OPEN` as `Buy to open`. */
export function words(code: string): string {
  const text = code.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What colour a figure has. */
export const tone = (value: number): string => (value > 0 ? 'up' : value < 0 ? 'down' : '');
