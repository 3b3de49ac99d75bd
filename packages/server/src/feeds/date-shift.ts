import { calendarById, Instant, SessionMap, TradingDate } from '@sandpit/core';

const WEEK_DAYS = 7;
const NEW_YORK = calendarById('XNYS');

/** Move of recorded dates into the future. */
export interface DateMove {
  readonly weeks: number;
  /** The first recorded session, if sessions move to consecutive weekdays; absent = all dates move by the weeks. */
  readonly sessions?: TradingDate;
}

/**
 * Recorded dates, moved into the future. New York clocks show the same time before and after, be it daylight time in one year and standard
 * time in the other. The order of instants stays.
 */
export interface DateShift {
  /** The moved instant of a recorded one. Never earlier than that of an earlier instant. */
  moved(at: Instant): Instant;
  /** The recorded instant of a moved one. */
  recorded(at: Instant): Instant;
  movedDate(date: TradingDate): TradingDate;
}

export const dateShiftOf = ({ weeks, sessions }: DateMove): DateShift =>
  sessions === undefined ? new WeekShift(weeks) : new SessionShift(sessions, weeks);

/** Moves by whole weeks: the day of the week stays. */
class WeekShift implements DateShift {
  readonly #days: number;

  constructor(weeks: number) {
    this.#days = weeks * WEEK_DAYS;
  }

  moved(at: Instant): Instant {
    return shifted(at, (day) => day + this.#days);
  }

  recorded(at: Instant): Instant {
    return shifted(at, (day) => day - this.#days);
  }

  movedDate(date: TradingDate): TradingDate {
    return TradingDate.plusDays(date, this.#days);
  }
}

/**
 * Moves sessions to consecutive weekdays. A day without a session is the midnight before the next session; a weekend is the midnight after
 * the session before it.
 */
class SessionShift implements DateShift {
  readonly #map: SessionMap;

  constructor(first: TradingDate, weeks: number) {
    this.#map = new SessionMap(first, weeks);
  }

  moved(at: Instant): Instant {
    const day = dayAt(at);
    if (SessionMap.isSession(day)) return shifted(at, (one) => this.#map.movedDay(one));
    return isBounded(at) ? midnightOf(this.#map.movedDay(day)) : at;
  }

  recorded(at: Instant): Instant {
    const day = dayAt(at);
    if (SessionMap.isWeekday(day)) return shifted(at, (one) => this.#map.recordedDay(one));
    return isBounded(at) ? midnightOf(this.#map.recordedDay(SessionMap.weekdayBefore(day)) + 1) : at;
  }

  movedDate(date: TradingDate): TradingDate {
    return TradingDate.ofDay(this.#map.movedDay(TradingDate.dayOf(date)));
  }
}

const isBounded = (at: Instant): boolean => at > Instant.first && at < Instant.last;
const dayAt = (at: Instant): number => (isBounded(at) ? TradingDate.dayOf(NEW_YORK.dateOf(at)) : 0);
const midnightOf = (day: number): Instant => NEW_YORK.instantOf(TradingDate.ofDay(day), 0, 0);

function shifted(at: Instant, move: (day: number) => number): Instant {
  if (!isBounded(at)) return at;
  const day = dayAt(at);
  const target = move(day);
  if (target === day) return at;
  // A Sunday on which the clocks change has an hour more or less.
  return Instant.ofMs(Math.min(midnightOf(target) + (at - midnightOf(day)), midnightOf(target + 1) - 1));
}
