/** Finds out which bars a file has: minutes, days, or others that a recording cannot keep. */
import { DAY_MS, MINUTE_MS } from './times.js';
import { common } from './values.js';

export type BarSize = '1m' | '1d';
/** The reason why a file's size is unknown, or one that a recording cannot keep. */
export interface UnknownSize {
  readonly why: string;
}

/** A size that a file states, in words for messages. */
export interface StatedSize {
  readonly ms: number;
  /** Source of the size: `rtype 34`, `the name of the file`. */
  readonly by: string;
}

const NAME = 'the name of the file';
const LAYOUT = 'the layout';
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * DAY_MS;
const MONTH_MS = 30 * DAY_MS;

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:s|sec|secs|seconds?)$/i, 1000],
  [/^(?:m|min|mins|minutes?)$/, MINUTE_MS],
  [/^(?:h|hr|hours?|hourly)$/i, HOUR_MS],
  [/^(?:d|days?|daily)$/i, DAY_MS],
  [/^(?:w|wk|weeks?|weekly)$/i, WEEK_MS],
  [/^(?:M|mo|mon|months?|monthly)$/i, MONTH_MS],
];
/** The size of a unit of time as vendors name it; undefined for other words. */
export const unitMs = (word: string): number | undefined => UNITS.find(([form]) => form.test(word))?.[1];

/** The resolution in the name of a file: `AAPL_1min`, `NASDAQ_AAPL, 1D_x`, `ohlcv-1d`, `minute_aggs`. Undefined if it has none or several. */
export function sizeInName(stem: string): StatedSize | undefined {
  const ofTradingView = /, (\d+)(?=_|$| )/.exec(stem);
  const sizes = new Set<number>();
  if (ofTradingView !== null) sizes.add(Number(ofTradingView[1]) * MINUTE_MS);
  for (const [, count = '', word = ''] of stem.matchAll(
    /(?<![A-Za-z0-9])(\d{1,3}) ?([A-Za-z]{1,7})(?![A-Za-z0-9])/g,
  )) {
    const unit = unitMs(word);
    if (unit !== undefined) sizes.add(Number(count) * unit);
  }
  for (const [word] of stem.matchAll(
    /(?<![A-Za-z0-9])(?:minute(?=_aggs)|day(?=_aggs)|hourly|daily|weekly|monthly)(?![A-Za-z0-9])/gi,
  ))
    sizes.add(unitMs(word) ?? 0);
  const weekly = /_us_([wm])$/i.exec(stem)?.[1];
  if (weekly !== undefined) sizes.add(weekly.toLowerCase() === 'w' ? WEEK_MS : MONTH_MS);
  const [ms, ...others] = sizes;
  return ms === undefined || others.length > 0 ? undefined : { ms, by: NAME };
}

/** A size in words: `5 minutes`. */
function sizeText(ms: number): string {
  for (const [unit, name] of [
    [MONTH_MS, 'month'],
    [WEEK_MS, 'week'],
    [DAY_MS, 'day'],
    [HOUR_MS, 'hour'],
    [MINUTE_MS, 'minute'],
    [1000, 'second'],
  ] as const)
    if (ms >= unit && ms % unit === 0) return `${ms / unit} ${name}${ms === unit ? '' : 's'}`;
  return `${ms} milliseconds`;
}

/** Times of the rows of one file, as they are read. */
export class Spacing {
  rows = 0;
  /** Rows without a time of day, and rows that are not on a full minute. */
  dates = 0;
  offMinute = 0;
  firstLine = 0;
  firstDateLine = 0;
  firstTimeLine = 0;
  firstOffMinuteLine = 0;
  #atUtcMidnight = 0;
  #atLocalMidnight = 0;
  #firstMs = 0;
  /** The latest time of each symbol. */
  readonly #latest = new Map<string, number>();
  #divisor = 0;
  #spacings = 0;
  #shortest = Number.POSITIVE_INFINITY;
  #longest = 0;

  add(symbol: string, ms: number, isDate: boolean, isMidnight: boolean, line: number): void {
    this.rows += 1;
    if (this.rows === 1) this.#firstMs = ms;
    this.firstLine ||= line;
    if (isDate) {
      this.dates += 1;
      this.firstDateLine ||= line;
    } else this.firstTimeLine ||= line;
    if (ms % DAY_MS === 0) this.#atUtcMidnight += 1;
    if (isMidnight) this.#atLocalMidnight += 1;
    if (ms % MINUTE_MS !== 0) {
      this.offMinute += 1;
      this.firstOffMinuteLine ||= line;
      return;
    }
    const before = this.#latest.get(symbol);
    this.#latest.set(symbol, ms);
    if (before === undefined || before === ms) return;
    const apart = Math.abs(ms - before);
    this.#divisor = common(this.#divisor, apart);
    this.#spacings += 1;
    if (apart < this.#shortest) this.#shortest = apart;
    if (apart > this.#longest) this.#longest = apart;
  }

  /** True if every row has a date alone or is at midnight, one a date. */
  get isDates(): boolean {
    const { rows } = this;
    return (
      rows > 0 && (this.dates === rows || this.#atUtcMidnight === rows || this.#atLocalMidnight === rows)
    );
  }

  /** True if dates are those of UTC midnights. */
  get isUtcDates(): boolean {
    return this.#atUtcMidnight === this.rows;
  }

  /**
   * The size of the bars. `declared`: the kind of a layout of the user's; `wanted`: `--bar`, which also corrects the name of a file.
   */
  size(
    found: StatedSize | undefined,
    declared: BarSize | undefined,
    wanted: BarSize | undefined,
  ): BarSize | UnknownSize {
    const { rows, dates } = this;
    const stated = wanted !== undefined && found?.by === NAME ? undefined : found;
    if (dates > 0 && dates < rows)
      return {
        why: `line ${Math.max(this.firstDateLine, this.firstTimeLine)}: some rows have a time of day and others a date alone; import them from files of their own`,
      };
    if (stated !== undefined && stated.ms !== MINUTE_MS && stated.ms !== DAY_MS)
      return {
        why: `line ${this.firstLine}: bars of ${sizeText(stated.ms)} (${stated.by}); a recording keeps minutes and days only${this.#remedy(stated)}`,
      };
    const said = stated === undefined ? undefined : stated.ms === DAY_MS ? '1d' : '1m';
    if (said !== undefined && wanted !== undefined && said !== wanted)
      return {
        why: `line ${this.firstLine}: ${stated?.by ?? ''} says ${sizeText(stated?.ms ?? 0)}, --bar says ${wanted}`,
      };
    if (wanted !== undefined) return this.#held(wanted, '--bar');
    if (said !== undefined) return this.#held(said, stated?.by ?? '');
    if (declared !== undefined) return this.#held(declared, LAYOUT);
    return this.#found();
  }

  #remedy({ by }: StatedSize): string {
    return by === NAME ? '. If the name means something else, state the size (--bar 1m or 1d)' : '';
  }

  /** A size that is stated, unless the rows contradict it. */
  #held(size: BarSize, by: string): BarSize | UnknownSize {
    if (size === '1d') {
      if (this.#isWeekly && by !== '--bar') return this.#unkept(this.#divisor);
      return size;
    }
    if (this.dates > 0)
      return { why: `line ${this.firstLine}: ${by} says minutes, but rows have a date without a time` };
    if (by === '--bar' || by.startsWith('rtype') || by.startsWith('<PER>') || by.startsWith('timespan'))
      return size;
    if (this.isDates && this.#spacings > 0)
      return {
        why: `line ${this.firstLine}: ${by} says minutes, but every row is at midnight, one a date, as days are; state the size (--bar 1m or 1d)`,
      };
    // The distance of two rows alone does not contradict a layout, which is written for many files.
    const isOther = by === LAYOUT && this.#divisor > MINUTE_MS && this.#spacings > 1;
    return isOther ? this.#unkept(this.#divisor) : size;
  }

  #found(): BarSize | UnknownSize {
    const { rows, dates } = this;
    if (this.offMinute > rows / 20) {
      const at = new Date(this.#firstMs).toISOString();
      return {
        why: `line ${this.firstOffMinuteLine}: bars that do not begin at a full minute (the first is at ${at}); a recording keeps minutes and days only`,
      };
    }
    if (rows === 1 && dates === 0)
      return {
        why: `line ${this.firstLine}: one row alone does not show the size of its bar; state it (--bar 1m or --bar 1d)`,
      };
    if (this.isDates) return this.#isWeekly ? this.#unkept(this.#divisor) : '1d';
    if (this.#divisor === 0)
      return {
        why: `line ${this.firstLine}: one row a symbol does not show the size of the bars; state it (--bar 1m or --bar 1d)`,
      };
    return this.#divisor === MINUTE_MS ? '1m' : this.#unkept(this.#divisor);
  }

  /** Weeks and months, to the day. */
  get #isWeekly(): boolean {
    if (!this.isDates || this.#spacings < 2) return false;
    const [shortest, longest] = [this.#shortest / DAY_MS, this.#longest / DAY_MS].map(Math.round) as [
      number,
      number,
    ];
    return (shortest === 7 && longest === 7) || (shortest >= 28 && longest <= 31);
  }

  #unkept(ms: number): UnknownSize {
    const size = this.#isWeekly
      ? Math.round(this.#shortest / DAY_MS) === 7
        ? '1 week'
        : '1 month'
      : sizeText(ms);
    const remedy = this.isDates ? 'days with gaps: --bar 1d' : 'minutes with gaps: --bar 1m';
    return {
      why: `line ${this.firstLine}: bars of ${size} by the times of the rows; a recording keeps minutes and days only (${remedy})`,
    };
  }
}
