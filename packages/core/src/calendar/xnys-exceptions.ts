import { TradingDate } from '../values/trading-date.js';

/** A day that no rule predicted, with the occasion. Sources: docs/rules/trading-calendar.md. */
interface Exception {
  readonly date: TradingDate;
  readonly occasion: string;
}

/** An exception that no schedule had. */
interface Unscheduled extends Exception {
  /** New York day of the announcement: its own day where no earlier announcement was found. */
  readonly announced: TradingDate;
}

const exception = (date: string, occasion: string): Exception => ({ date: TradingDate.of(date), occasion });
const unscheduled = (date: string, announced: string, occasion: string): Unscheduled => ({
  ...exception(date, occasion),
  announced: TradingDate.of(announced),
});

/** Days since 1998 on which the exchange was closed without a holiday. */
export const XNYS_SPECIAL_CLOSURES: readonly Unscheduled[] = [
  unscheduled('2001-09-11', '2001-09-11', 'attacks of September 11'),
  unscheduled('2001-09-12', '2001-09-11', 'attacks of September 11'),
  unscheduled('2001-09-13', '2001-09-12', 'attacks of September 11'),
  unscheduled('2001-09-14', '2001-09-13', 'attacks of September 11'),
  unscheduled('2004-06-11', '2004-06-07', 'day of mourning for President Reagan'),
  unscheduled('2007-01-02', '2006-12-29', 'day of mourning for President Ford'),
  unscheduled('2012-10-29', '2012-10-28', 'Hurricane Sandy'),
  unscheduled('2012-10-30', '2012-10-29', 'Hurricane Sandy'),
  unscheduled('2018-12-05', '2018-12-01', 'day of mourning for President George H. W. Bush'),
  unscheduled('2025-01-09', '2024-12-30', 'day of mourning for President Carter'),
];

/** Days since 1998 whose regular session began late, with the time of its opening. */
export const XNYS_LATE_OPENS: readonly (Unscheduled & { readonly opens: readonly [number, number] })[] = [
  { ...unscheduled('2001-09-17', '2001-09-17', 'silence after the attacks of September 11'), opens: [9, 33] },
  { ...unscheduled('2001-10-08', '2001-10-08', 'silence for the troops in Afghanistan'), opens: [9, 31] },
  { ...unscheduled('2002-09-11', '2002-09-11', 'first anniversary of the attacks'), opens: [12, 0] },
  { ...unscheduled('2003-03-20', '2003-03-20', 'beginning of the war in Iraq'), opens: [9, 32] },
  { ...unscheduled('2004-06-07', '2004-06-07', 'death of President Reagan'), opens: [9, 32] },
  { ...unscheduled('2006-12-27', '2006-12-27', 'death of President Ford'), opens: [9, 32] },
];

/**
 * Days since 1998 that closed at 13:00 in addition to those of `xnysEarlyCloses`.
 *
 * Not included: 1999-12-31, for which the exchange's board had approved an early close in June 1999. The known historical lists do not have
 * it.
 */
export const XNYS_EXTRA_EARLY_CLOSES: readonly Exception[] = [
  exception('2003-12-26', 'Friday after Christmas'),
];
