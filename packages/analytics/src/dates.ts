/** Arithmetic on civil dates, `YYYY-MM-DD`; years 0001–9999. */

const DAY_MS = 86_400_000;

const msOf = (date: string): number => Date.parse(`${date}T00:00:00Z`);
const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const addDays = (date: string, days: number): string => dateOf(msOf(date) + days * DAY_MS);

/** Days from one date to another, negative if it is earlier. */
export const daysBetween = (from: string, to: string): number => (msOf(to) - msOf(from)) / DAY_MS;

/** Returns the date a year later; March 1 for February 29. */
export function nextYear(date: string): string {
  const year = String(Number(date.slice(0, 4)) + 1).padStart(4, '0');
  const same = `${year}${date.slice(4)}`;
  return dateOf(msOf(same)) === same ? same : `${year}-03-01`;
}
