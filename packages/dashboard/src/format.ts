/** Numbers and times as an American trader reads them: dollars, and Eastern Time with the zone named. */
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const fine = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 });
const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const percents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const minus = (text: string): string => text.replace('-', '−');

/** With a minus sign, except for zero. */
const signed = (text: string): string => (/[1-9]/.test(text) ? minus(text) : text.replace('-', ''));

/** `$1,234.50`, `−$5.00`. */
export const money = (value: number | undefined): string =>
  value === undefined ? '–' : signed(dollars.format(value));
/** `+$5.00`: with its sign, whichever it is. */
export const change = (value: number): string => (value > 0 ? '+' : '') + money(value);
/** `187.59`: a price per share, without a dollar sign, two to four decimals. */
export const price = (value: number | undefined): string =>
  value === undefined ? '–' : minus(fine.format(value));
export const quantity = (value: number | undefined): string =>
  value === undefined ? '–' : minus(plain.format(value));
/** `1.2M`: a volume. */
export const compact = (value: number): string => minus(short.format(value));
/** `12.5%` of a fraction. */
export const percent = (fraction: number): string => `${signed(percents.format(fraction * 100))}%`;
/** `+0.25%` of a fraction, with its sign and two decimals. */
export const percentChange = (fraction: number): string =>
  `${fraction > 0 ? '+' : ''}${signed(cents.format(fraction * 100))}%`;
export const greek = (value: number | undefined): string =>
  value === undefined ? '–' : signed(value.toFixed(Math.abs(value) < 0.9995 ? 3 : 2));
/** `0.0030`, `−1.2500`: the score of a competition, with four decimals. */
export const scoreText = (value: number): string => signed(value.toFixed(4));
/** `0.369`, `1.000`: a delta of one contract, with three decimals. */
export const delta = (value: number | undefined): string =>
  value === undefined ? '–' : signed(value.toFixed(3));

/** A typed number: `1,000`, `$1,000.50`, ` 25 `; NaN if it is not a number, undefined if empty. */
export function numberTyped(text: string): number | undefined {
  const bare = text.replace(/[\s$,]/g, '').replace('−', '-');
  if (bare === '') return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(bare) ? Number(bare) : Number.NaN;
}

const ZONE = 'America/New_York';
const timeOf = new Intl.DateTimeFormat('en-US', { timeZone: ZONE, timeStyle: 'medium' });
const dateOf = new Intl.DateTimeFormat('en-US', { timeZone: ZONE, dateStyle: 'medium' });
const shortOf = new Intl.DateTimeFormat('en-US', {
  timeZone: ZONE,
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const isoDateOf = new Intl.DateTimeFormat('en-CA', { timeZone: ZONE, dateStyle: 'short' });
const isoTimeOf = new Intl.DateTimeFormat('en-GB', { timeZone: ZONE, timeStyle: 'medium' });
const weekdayOf = new Intl.DateTimeFormat('en-US', { timeZone: ZONE, weekday: 'short' });
const monthDay = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short', day: 'numeric' });
const dateOnly = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', dateStyle: 'medium' });

/** `10:00:00 AM ET`. */
export const time = (at: string | number): string => `${clockTime(at)} ET`;
/** `10:00:00 AM`, for columns whose title names the zone. */
const clockTime = (at: string | number): string => timeOf.format(new Date(at)).replace('\u202f', ' ');
/** `Jan 5, 2026`: the day in New York. */
export const day = (at: string | number): string => dateOf.format(new Date(at));
/** `2026-01-05`: the day in New York, for comparisons and addresses. */
export const isoDay = (at: string | number): string => isoDateOf.format(new Date(at));
/** `Jan 9, 2026` of the date `2026-01-09`. */
/** Days from one date without time to another: 1 from a day to the next. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000);

/** `today`, `1 day`, `11 days`. */
export const daysText = (days: number): string =>
  days === 0 ? 'today' : `${days} ${Math.abs(days) === 1 ? 'day' : 'days'}`;

/** `Dec 4` of a date without time, optionally with the year. */
export const shortDateText = (date: string, withYear = false): string =>
  (withYear ? dateOnly : monthDay).format(new Date(`${date}T00:00:00Z`));
export const dateText = (date: string): string => dateOnly.format(new Date(`${date}T00:00:00Z`));
/** `Jan 5, 2026, 10:00:00 AM ET`. */
export const moment = (at: string | number): string => `${day(at)}, ${time(at)}`;

/** `Jan 5, 10:00 AM`, for narrow columns. */
export const shortMoment = (at: string | number): string =>
  shortOf.format(new Date(at)).replace('\u202f', ' ');

/** The instant, as ISO 8601 in UTC, of a date and time in New York such as `2026-01-05T09:30`; undefined of other texts. */
export function instantInNewYork(local: string): string | undefined {
  const asUtc = Date.parse(`${local}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  const offsetAt = (ms: number): number => asIfInNewYork(ms) - ms;
  // Twice, because the clocks may change between the two readings.
  const found = asUtc - offsetAt(asUtc - offsetAt(asUtc));
  return new Date(found).toISOString();
}

/** The instant whose time of day in UTC is that in New York, ms. */
export function asIfInNewYork(atMs: number): number {
  const hour = Math.floor(atMs / HOUR_MS) * HOUR_MS;
  let offset = offsets.get(hour);
  if (offset === undefined) {
    offset = Date.parse(`${isoDay(hour)}T${isoTimeOf.format(hour)}Z`) - hour;
    offsets.set(hour, offset);
  }
  return atMs + offset;
}
const HOUR_MS = 3_600_000;
/** By the hour: daylight saving time changes on the hour. */
const offsets = new Map<number, number>();

const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/g;
const DOLLARS = /\$(\d{4,}(?:\.\d+)?)\b/g;

/** A sentence of the API, with its instants in Eastern Time, its dollars with commas, and its fields and codes as the forms have them. */
export const readable = (sentence: string): string =>
  sentence
    .replace(INSTANT, (at) => moment(at))
    .replace(DOLLARS, (_, amount: string) => money(Number(amount)))
    .replace(FIELD, labelOf)
    .replace(CODE, (code) => words(code))
    .replace(/^[a-z]+(?: [a-z0-9]+)* must\b/, (start) => start.charAt(0).toUpperCase() + start.slice(1));

/** A field of a body, with those that contain it: `limitPrice`, `legs.0.quantity`, `bracketConfig.profitTarget.limitPrice`. */
const FIELD = /(?<![\w/.@~-])[a-z]{2,}[A-Za-z]*(?:\.(?:\d+|[a-z][A-Za-z]*))*(?![\w/@-])/g;
const CODE = /\b[A-Z]{2,}(?:_[A-Z]+)+\b/g;

/** Labels of fields whose names in the API are others. Empty = the part is not shown. */
const LABELS: Readonly<Record<string, string>> = {
  accountId: 'account',
  bracketConfig: '',
  brokerId: 'broker',
  goodTillDate: 'good till',
  ocoConfig: '',
  optionSymbol: 'contract',
  orderType: 'type',
  portfolioId: 'portfolio',
  positionIntent: 'effect',
  profitTarget: 'take profit',
  trailingAmount: 'trail in dollars',
  trailingPercent: 'trail in percent',
};

function labelOf(path: string): string {
  if (!/[A-Z]|\.\d/.test(path)) return path;
  return path
    .split('.')
    .map((part, index, all) =>
      /^\d/.test(part)
        ? String(Number(part) + 1)
        : // `legs.0` is `leg 1`.
          /^\d/.test(all[index + 1] ?? '')
          ? part.replace(/s$/, '')
          : (LABELS[part] ?? part.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)),
    )
    .filter((part) => part !== '')
    .join(' ');
}

export const weekday = (at: string | number): string => weekdayOf.format(new Date(at));

/** Codes that are names or abbreviations, unchanged. */
const NAMES: Readonly<Record<string, string>> = {
  IRA: 'IRA',
  ROTH_IRA: 'Roth IRA',
  REG_T: 'Reg T',
  GTC: 'GTC',
  GTD: 'GTD',
  IOC: 'IOC',
  FOK: 'FOK',
  REALIZED_PNL: 'Realized P&L',
  LEGACY_PDT: 'Legacy PDT',
};

/** `BUY_TO_OPEN` as `Buy to open`, `ROTH_IRA` as `Roth IRA`. */
export function words(code: string): string {
  const name = NAMES[code];
  if (name !== undefined) return name;
  const text = code.toLowerCase().replaceAll('_', ' ');
  return capitalized(text);
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The tone of a figure. */
export const tone = (value: number): string => (value > 0 ? 'up' : value < 0 ? 'down' : '');
