import { calendarById, Instant, TradingDate } from '@sandpit/core';

const WEEK_DAYS = 7;
const NEW_YORK = calendarById('XNYS');

/**
 * Dates moved into the future by whole weeks. New York clocks show the same time on the same day of the week before and after, be it
 * daylight time in one year and standard time in the other.
 */
export class DateShift {
  readonly #days: number;

  constructor(weeks: number) {
    this.#days = weeks * WEEK_DAYS;
  }

  /** The moved instant of a recorded one. Never earlier than that of an earlier instant. */
  moved(at: Instant): Instant {
    return shifted(at, this.#days);
  }

  /** The recorded instant of a moved one. */
  recorded(at: Instant): Instant {
    return shifted(at, -this.#days);
  }

  movedDate(date: TradingDate): TradingDate {
    return TradingDate.plusDays(date, this.#days);
  }
}

function shifted(at: Instant, days: number): Instant {
  if (days === 0 || at <= Instant.first || at >= Instant.last) return at;
  const date = NEW_YORK.dateOf(at);
  const before = NEW_YORK.instantOf(date, 0, 0);
  const target = TradingDate.plusDays(date, days);
  const midnight = NEW_YORK.instantOf(target, 0, 0);
  const end = NEW_YORK.instantOf(TradingDate.plusDays(target, 1), 0, 0);
  // A Sunday on which the clocks change has an hour more or less.
  return Instant.ofMs(Math.min(midnight + (at - before), end - 1));
}
