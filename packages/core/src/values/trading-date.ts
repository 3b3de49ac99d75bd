declare const brand: unique symbol;

/** A calendar date in exchange time, `YYYY-MM-DD`. Sorts as text. */
export type TradingDate = string & { readonly [brand]: 'TradingDate' };

/** Days from 1970-01-01 of a proleptic Gregorian date. */
export function dayNumber(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Year, month (1–12) and day of a day number. */
export function civilOfDay(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthIndex = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthIndex + 2) / 5) + 1;
  const month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** 0000-01-01 and 9999-12-31: a date of a longer year would not sort, and would parse as another one. */
const FIRST_DAY = dayNumber(0, 1, 1);
const LAST_DAY = dayNumber(9999, 12, 31);

export const TradingDate = {
  ofDay(days: number): TradingDate {
    if (!(days >= FIRST_DAY && days <= LAST_DAY))
      throw new RangeError(`not a day of a four-digit year: ${days}`);
    const { year, month, day } = civilOfDay(days);
    const text = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
    return text as TradingDate;
  },
  dayOf(date: TradingDate): number {
    return dayNumber(Number(date.slice(0, 4)), Number(date.slice(5, 7)), Number(date.slice(8, 10)));
  },
  /** `undefined` if the text is not an existing date. */
  parse(text: string): TradingDate | undefined {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
    return TradingDate.ofDay(TradingDate.dayOf(text as TradingDate)) === text
      ? (text as TradingDate)
      : undefined;
  },
  /** For literals in code and tests: throws on anything that is not a date. */
  of(text: string): TradingDate {
    const date = TradingDate.parse(text);
    if (date === undefined) throw new RangeError(`not a date: ${text}`);
    return date;
  },
  plusDays: (date: TradingDate, days: number): TradingDate =>
    TradingDate.ofDay(TradingDate.dayOf(date) + days),
  /** 0 = Sunday … 6 = Saturday. */
  dayOfWeek: (date: TradingDate): number => (((TradingDate.dayOf(date) + 4) % 7) + 7) % 7,
} as const;
