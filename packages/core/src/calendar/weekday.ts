/** Days of the week as `TradingDate.dayOfWeek` counts them. */
export const SUNDAY = 0;
export const MONDAY = 1;
export const TUESDAY = 2;
export const THURSDAY = 4;
export const FRIDAY = 5;
export const SATURDAY = 6;

/** 0 = Sunday … 6 = Saturday, of a day number (days since 1970-01-01, a Thursday). */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** The first day at or after `day` (a day number) that falls on `weekday`. */
export function onOrAfter(day: number, weekday: number): number {
  return day + ((weekday - weekdayOf(day) + 7) % 7);
}

/** The last day at or before `day` (a day number) that falls on `weekday`. */
export function onOrBefore(day: number, weekday: number): number {
  return day - ((weekdayOf(day) - weekday + 7) % 7);
}
