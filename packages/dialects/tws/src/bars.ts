/** Historical bars. */
import { Instant } from '@sandpit/core';
import {
  barsIn,
  type Book,
  dayFrame,
  type Timeframe,
  timeframeOf,
  type VolumeBar,
} from '@sandpit/dialect-port';
import type { Field } from './codec.js';
import { timeText } from './order-out.js';
import { TwsRefusal } from './refusals.js';
import { CODE } from './tables.js';

const SIZES: Readonly<Record<string, string>> = {
  '1 min': '1Min',
  '2 mins': '2Min',
  '3 mins': '3Min',
  '5 mins': '5Min',
  '10 mins': '10Min',
  '15 mins': '15Min',
  '20 mins': '20Min',
  '30 mins': '30Min',
  '1 hour': '1Hour',
  '2 hours': '2Hour',
  '3 hours': '3Hour',
  '4 hours': '4Hour',
  '8 hours': '8Hour',
  '1 day': '1Day',
  '1 week': '1Week',
  '1W': '1Week',
  '1 month': '1Month',
  '1M': '1Month',
};
const DAY_MS = 86_400_000;
const LENGTHS: Readonly<Record<string, number>> = {
  S: 1000,
  D: DAY_MS,
  W: 7 * DAY_MS,
  M: 30 * DAY_MS,
  Y: 365 * DAY_MS,
};
/** The prices that bars have. */
const KINDS: ReadonlySet<string> = new Set(['TRADES', 'ADJUSTED_LAST', 'MIDPOINT']);

const refuse = (text: string): TwsRefusal =>
  new TwsRefusal(CODE.HISTORICAL_DATA, `Historical Market Data Service error message:${text}`);

/** A request for bars, as a client has sent it. */
export interface BarRequest {
  readonly symbol: string;
  readonly end: string;
  readonly size: string;
  readonly duration: string;
  readonly isRegularOnly: boolean;
  readonly kind: string;
  readonly isEpoch: boolean;
}

/** The bars of a request, with its range and how they are shown. */
interface FoundBars {
  readonly start: string;
  readonly end: string;
  readonly bars: readonly (readonly Field[])[];
}

function frameOf(book: Book, size: string): Timeframe {
  const name = SIZES[size.trim()] ?? SIZES[size.trim().toLowerCase()];
  if (name === '1Day') return dayFrame(book.calendar);
  const frame = name === undefined ? undefined : timeframeOf(name, book.calendar);
  if (frame === undefined) throw refuse(`Bar size ${size.slice(0, 20)} is not supported`);
  return frame;
}

/** `20261130 16:00:00 US/Eastern`, `20261130-21:00:00` in UTC, or a date; empty = now. */
function endOf(book: Book, text: string): number {
  const { calendar } = book;
  if (text.trim() === '') return book.now();
  const [, year = '', month = '', day = '', mark, clock, zone = ''] =
    /^(\d{4})(\d\d)(\d\d)(?:([ -]) ?(\d\d:\d\d(?::\d\d)?)(?: (\S+))?)?$/.exec(text.trim()) ?? [];
  const date = `${year}-${month}-${day}`;
  const isUtc = mark === '-' || zone === 'UTC' || zone === 'GMT';
  const isKnown = isUtc || ['', 'US/Eastern', 'America/New_York', 'EST', 'EST5EDT', 'EDT'].includes(zone);
  if (Number.isNaN(Date.parse(date)) || !isKnown) throw refuse(`Invalid date/time: ${text.slice(0, 40)}`);
  if (isUtc) return Date.parse(`${date}T${clock ?? '00:00:00'}Z`);
  const [hour = 24, minute = 0, second = 0] = clock?.split(':').map(Number) ?? [];
  if (hour > 24 || minute > 59 || second > 59) throw refuse(`Invalid date/time: ${text.slice(0, 40)}`);
  return calendar.instantOf(date as Parameters<typeof calendar.instantOf>[0], hour, minute) + second * 1000;
}

const MOST_DAYS = 40 * 365;

function startOf(book: Book, end: number, duration: string, frame: Timeframe): number {
  const [, digits = '', unit = 'S'] = /^(\d{1,6}) ?([SDWMY])?$/i.exec(duration.trim()) ?? [];
  const ms = Number(digits) * (LENGTHS[unit.toUpperCase()] ?? 0);
  if (!(ms > 0) || ms > MOST_DAYS * DAY_MS) throw refuse(`Invalid duration: ${duration.slice(0, 20)}`);
  if (unit.toUpperCase() !== 'D') return frame.beginOf(end - ms);
  // Days are trading days, the last of which may be under way.
  const { calendar } = book;
  const last = calendar.dateOf(Instant.ofMs(end - 1));
  let date = calendar.isTradingDay(last) ? last : calendar.previousTradingDay(last);
  for (let days = Number(digits); days > 1; days--) date = calendar.previousTradingDay(date);
  return calendar.instantOf(date, 0, 0);
}

/** Fields of a bar behind those before its prices: `20261130`, an instant, or seconds. */
function barTime(book: Book, timestamp: number, isDay: boolean, isEpoch: boolean): Field {
  const at = Instant.ofMs(timestamp);
  if (isDay) return book.calendar.dateOf(at).replaceAll('-', '');
  return isEpoch ? Math.floor(timestamp / 1000) : timeText(book, at);
}

const shown = (value: number): number => Math.round(value * 1e6) / 1e6;
const DAY_FRAME_MS = 20 * 3_600_000;

/** Bars of a request, oldest first. */
export async function findBars(book: Book, request: BarRequest): Promise<FoundBars> {
  const { symbol, kind, isRegularOnly, isEpoch } = request;
  if (!KINDS.has(kind)) throw refuse(`${kind.slice(0, 30)} is not available: bars have trades`);
  const frame = frameOf(book, request.size);
  const isDay = frame.sizeMs > DAY_FRAME_MS;
  const end = Math.min(endOf(book, request.end), book.now());
  const start = startOf(book, end, request.duration, frame);
  const { calendar } = book;
  const isRegular = ({ timestamp }: VolumeBar): boolean => {
    const at = Instant.ofMs(timestamp);
    const day = calendar.tradingDay(calendar.dateOf(at));
    return day !== undefined && timestamp + frame.sizeMs > day.regularOpen && at < day.regularClose;
  };
  const found = await barsIn(book, symbol, frame, start, end - 1);
  const bars = found.filter((bar) => isDay || !isRegularOnly || isRegular(bar));
  if (bars.length === 0) throw refuse('HMDS query returned no data');
  const isMiddle = kind === 'MIDPOINT';
  return {
    start: timeText(book, Instant.ofMs(start)),
    end: timeText(book, Instant.ofMs(end)),
    bars: bars.map((bar) => [
      barTime(book, bar.timestamp, isDay, isEpoch),
      ...[bar.open, bar.high, bar.low, bar.close].map(shown),
      ...(isMiddle ? [-1, -1, -1] : [shown(bar.volume), shown(bar.average), bar.trades]),
    ]),
  };
}
