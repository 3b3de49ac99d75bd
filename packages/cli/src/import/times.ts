/** Texts of times in vendors' files, and the zones they are in. */
import { BadValue } from './values.js';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** Units of counts since 1970. */
export type EpochUnit = 's' | 'ms' | 'us' | 'ns';

/** A time as a file has it: a date alone, an instant, or the time on a clock of some zone. In milliseconds. */
export type FileTime =
  | { readonly kind: 'date'; readonly ms: number }
  | { readonly kind: 'instant'; readonly ms: number }
  | { readonly kind: 'wall'; readonly ms: number };

/** Order of the parts of dates such as 01/05/2026. */
export type DateOrder = 'MDY' | 'DMY';

const NS_PER: Readonly<Record<EpochUnit, bigint>> = { s: 1_000_000_000n, ms: 1_000_000n, us: 1000n, ns: 1n };
const NS_PER_MS = 1_000_000n;
const EARLIEST = Date.UTC(1900);
/** A count that is read in too small a unit gives a time before. */
const END_OF_WRONG_UNITS = Date.UTC(1970, 2);

/** Converts a count since 1970 to ms, rounded up: an instant after a full minute stays after it. The resulting date verifies the unit. */
export function epochOf(text: string, unit: EpochUnit): number {
  if (!/^-?\d{1,19}$/.test(text)) throw new BadValue(`"${text}" is not a count of ${unit} since 1970`);
  const ns = BigInt(text) * NS_PER[unit];
  const rest = ((ns % NS_PER_MS) + NS_PER_MS) % NS_PER_MS;
  const ms = Number((ns - rest) / NS_PER_MS) + (rest > 0n ? 1 : 0);
  if (ms < EARLIEST || (ms >= 0 && ms < END_OF_WRONG_UNITS) || ms > Date.now() + DAY_MS)
    throw new BadValue(`"${text}" in ${unit} since 1970 is not a time of a market`);
  return ms;
}

const UNIT_BY_DIGITS: Readonly<Record<number, EpochUnit>> = { 10: 's', 13: 'ms', 16: 'us', 19: 'ns' };

const DATE_FIRST = /^(\d{4})([-/.]?)(\d{2})\2(\d{2})(?:(?:[T ]|; ?|, ?)?(.+))?$/;
const YEAR_LAST = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:[ T](.+))?$/;
const TIME = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?( ?Z| ?UTC| ?[+-]\d{2}:?\d{2})?$/;
/** 93000, 0930: without colons. */
const BARE_TIME = /^(\d{1,2})(\d{2})(\d{2})?$/;

/** Reads a date or a time; throws `BadValue`. */
export function timeOf(text: string, order: DateOrder | undefined): FileTime {
  const unit = /^\d+$/.test(text) ? UNIT_BY_DIGITS[text.length] : undefined;
  if (unit !== undefined) return { kind: 'instant', ms: epochOf(text, unit) };
  const first = DATE_FIRST.exec(text);
  if (first !== null) return timeOn(text, dayOf(text, first[1], first[3], first[4]), first[5]);
  const last = YEAR_LAST.exec(text);
  if (last === null) throw new BadValue(`"${text}" is not a time`);
  if (order === undefined)
    throw new BadValue(
      `"${text}" may begin with the day or with the month: declare a layout (--layout) with time.dates MDY or DMY`,
    );
  const [month, day] = order === 'MDY' ? [last[1], last[3]] : [last[3], last[1]];
  return timeOn(text, dayOf(text, last[4], month, day), last[5]);
}

/** A date; a time after it is ignored. Throws `BadValue`. */
export function dateOf(text: string): string {
  const { ms } = timeOf(text.slice(0, 10).trim(), 'MDY');
  return dateText(ms);
}

export const dateText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function dayOf(text: string, year = '', month = '', day = ''): number {
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const made = new Date(ms);
  if (made.getUTCDate() !== Number(day) || made.getUTCMonth() !== Number(month) - 1)
    throw new BadValue(`"${text}" is not a date`);
  if (ms < EARLIEST) throw new BadValue(`"${text}" is before 1900`);
  return ms;
}

function timeOn(text: string, day: number, rest: string | undefined): FileTime {
  if (rest === undefined) return { kind: 'date', ms: day };
  const bare = /^0+$/.test(rest) ? ['', '0', '0'] : BARE_TIME.exec(rest);
  const [, hour, minute, second = '0', fraction = '', offset] = TIME.exec(rest) ?? bare ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)
    throw new BadValue(`"${text}" is not a time`);
  const more = /[1-9]/.test(fraction) ? Math.ceil(Number(`0.${fraction}`) * 1000) : 0;
  const ms = day + Number(hour) * 3_600_000 + Number(minute) * MINUTE_MS + Number(second) * 1000 + more;
  if (offset === undefined) return { kind: 'wall', ms };
  return { kind: 'instant', ms: ms - offsetOf(offset.trim()) };
}

/** `Z`, `UTC`, `-05:00`, `+0530` in milliseconds. */
function offsetOf(text: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  const ms = Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * MINUTE_MS;
  return sign === '-' ? -ms : ms;
}

/** A time zone: the clocks of a place, or a fixed offset. */
export interface Zone {
  readonly name: string;
  /** Local time of the zone at an instant. */
  wallOf(ms: number): number;
  /** Instants at which its clocks show a time: one; two when clocks were put back, none when they were put forward. */
  instantsOf(wall: number): readonly number[];
}

/** A zone by its name; undefined for an abbreviation and for anything unknown. */
export function zoneNamed(name: string): Zone | undefined {
  if (name === 'UTC' || name === 'Z') return fixedZone('UTC', 0);
  if (/^[+-](?:0\d|1[0-4]):?[0-5]\d$/.test(name)) return fixedZone(name, offsetOf(name));
  if (!/^[A-Za-z_]+(?:\/[A-Za-z0-9_+-]+)+$/.test(name)) return undefined;
  try {
    return new PlaceZone(name);
  } catch {
    return undefined;
  }
}

const fixedZone = (name: string, offset: number): Zone => ({
  name,
  wallOf: (ms) => ms + offset,
  instantsOf: (wall) => [wall - offset],
});

class PlaceZone implements Zone {
  readonly name: string;
  readonly #clock: Intl.DateTimeFormat;
  /** The offset all through a UTC day and the half days around it; NaN = it changes. */
  readonly #ofDays = new Map<number, number>();

  constructor(name: string) {
    this.name = name;
    this.#clock = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  wallOf(ms: number): number {
    const steady = this.#steadyOn(ms);
    return ms + (Number.isNaN(steady) ? this.#offsetAt(ms) : steady);
  }

  instantsOf(wall: number): readonly number[] {
    const steady = this.#steadyOn(wall);
    if (!Number.isNaN(steady)) return [wall - steady];
    const offsets = new Set([this.#offsetAt(wall - DAY_MS), this.#offsetAt(wall + DAY_MS)]);
    return [...offsets]
      .map((offset) => wall - offset)
      .filter((ms) => ms + this.#offsetAt(ms) === wall)
      .sort((a, b) => a - b);
  }

  #steadyOn(ms: number): number {
    const day = Math.floor(ms / DAY_MS);
    let offset = this.#ofDays.get(day);
    if (offset === undefined) {
      const [before, after] = [this.#offsetAt((day - 1) * DAY_MS), this.#offsetAt((day + 2) * DAY_MS)];
      offset = before === after ? before : Number.NaN;
      this.#ofDays.set(day, offset);
    }
    return offset;
  }

  #offsetAt(ms: number): number {
    const name = this.#clock.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return offsetOf(name.replace('GMT', '').slice(0, 6));
  }
}

/** New York, in which US markets count their days. */
export const NEW_YORK: Zone = new PlaceZone('America/New_York');
