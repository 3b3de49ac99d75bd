import { dayNumber } from '../values/trading-date.js';
import { FRIDAY, THURSDAY, TUESDAY, weekdayOf } from './weekday.js';
import { thanksgiving } from './xnys-holidays.js';

/**
 * The day numbers of a year on which the exchange closes at 13:00 by custom, in order. The exchange announces
 * them yearly; this is what its announcements and the history since 1998 have in common. Early closes outside it are in `XNYS_EXTRA_EARLY_CLOSES`.
 */
export function xnysEarlyCloses(year: number): readonly number[] {
  const days: number[] = [];

  // No early close if the holiday is observed on another day, or follows a weekend.
  const independenceDay = dayNumber(year, 7, 4);
  if (hasWorkingEve(independenceDay)) days.push(besideIndependenceDay(year, independenceDay));
  days.push(thanksgiving(year) + 1);
  const christmasDay = dayNumber(year, 12, 25);
  if (hasWorkingEve(christmasDay)) days.push(christmasDay - 1);
  return days;
}

/** From Tuesday to Friday: both the day and the one before are weekdays. */
function hasWorkingEve(day: number): boolean {
  const weekday = weekdayOf(day);
  return weekday >= TUESDAY && weekday <= FRIDAY;
}

/** The eve. Until 2012 a Thursday's holiday shortened the Friday after it instead (2002-07-05). */
function besideIndependenceDay(year: number, day: number): number {
  return year < 2013 && weekdayOf(day) === THURSDAY ? day + 1 : day - 1;
}
