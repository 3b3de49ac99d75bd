import { civilOfDay, dayNumber } from '../values/trading-date.js';

const WEEK_DAYS = 7;
const WEEKDAYS = 5;
/** Day 0, 1970-01-01, is a Thursday. */
const THURSDAY = 3;
const FIRST_YEAR = 1970;

/** Number of weekdays from a fixed Monday to a day, without the day itself: that of a Saturday or Sunday is that of the next Monday. */
export function weekdayNumber(day: number): number {
  const since = day + THURSDAY;
  const week = Math.floor(since / WEEK_DAYS);
  return week * WEEKDAYS + Math.min(WEEKDAYS, since - week * WEEK_DAYS);
}

/** The weekday of a number. */
export function weekdayAt(number: number): number {
  const week = Math.floor(number / WEEKDAYS);
  return week * WEEK_DAYS + (number - week * WEEKDAYS) - THURSDAY;
}

interface Year {
  /** Number of its first session. */
  readonly from: number;
  /** Weekdays of it without a session, in order. */
  readonly closed: readonly number[];
}

/** Numbers of the sessions of an exchange, in both directions. Days are day numbers. */
export class SessionNumbers {
  readonly #closuresOf: (year: number) => readonly number[];
  readonly #years = new Map<number, Year>();

  /** `closuresOf`: days without a session, at least those of the year, on any day of the week. */
  constructor(closuresOf: (year: number) => readonly number[]) {
    this.#closuresOf = closuresOf;
  }

  /** Number of a session; of a day without one that of the next session. */
  numberOf(day: number): number {
    const { year } = civilOfDay(day);
    const { from, closed } = this.#year(year);
    let before = 0;
    while (before < closed.length && (closed[before] ?? day) < day) before++;
    return from + weekdayNumber(day) - weekdayNumber(dayNumber(year, 1, 1)) - before;
  }

  /** The day of a session. */
  dayOf(number: number): number {
    let { year } = civilOfDay(weekdayAt(number));
    while (this.#year(year).from > number) year--;
    while (this.#year(year + 1).from <= number) year++;
    const { from, closed } = this.#year(year);
    let weekday = weekdayNumber(dayNumber(year, 1, 1)) + number - from;
    for (const day of closed) if (weekdayNumber(day) <= weekday) weekday++;
    return weekdayAt(weekday);
  }

  #year(year: number): Year {
    const found = this.#years.get(year);
    if (found !== undefined) return found;
    const known: Year = { from: this.#firstOf(year), closed: this.#closedIn(year) };
    this.#years.set(year, known);
    return known;
  }

  /** Counts from the nearest year that is known, without recursion: years may be far away. */
  #firstOf(year: number): number {
    if (year === FIRST_YEAR) return 0;
    const step = year > FIRST_YEAR ? 1 : -1;
    let at = year - step;
    while (at !== FIRST_YEAR && !this.#years.has(at)) at -= step;
    let from = this.#years.get(at)?.from ?? 0;
    for (; at !== year; at += step) {
      if (!this.#years.has(at)) this.#years.set(at, { from, closed: this.#closedIn(at) });
      from += step > 0 ? this.#sessionsIn(at) : -this.#sessionsIn(at - 1);
    }
    return from;
  }

  #sessionsIn(year: number): number {
    const weekdays = weekdayNumber(dayNumber(year + 1, 1, 1)) - weekdayNumber(dayNumber(year, 1, 1));
    return weekdays - this.#closedIn(year).length;
  }

  #closedIn(year: number): readonly number[] {
    const [from, until] = [dayNumber(year, 1, 1), dayNumber(year + 1, 1, 1)];
    const closed = this.#closuresOf(year).filter(
      (day) => day >= from && day < until && weekdayNumber(day) !== weekdayNumber(day + 1),
    );
    return [...new Set(closed)].sort((a, b) => a - b);
  }
}
