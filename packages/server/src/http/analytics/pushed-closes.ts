/** Daily closes of a symbol whose quotes are pushed. */
import { type Bar, type Calendar, Instant, type TradingDate } from '@sandpit/core';
import type { MinuteMark } from '../../store/history.js';
import { MINUTE_MS } from '../../feeds/bar-window.js';

/** Marks in force from one minute until before another, oldest first, as `History.marks` has them. */
type MarksIn = (minutes: { readonly from: number; readonly to: number }) => Promise<readonly MinuteMark[]>;

/**
 * Last marks of the regular sessions that lie in a period, oldest first; `at` is the opening. Asks for the mark at one close after the
 * other, newest first, and skips the days without one: a year of minutes is never read at once.
 */
export async function pushedCloses(
  marksIn: MarksIn,
  calendar: Calendar,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly Pick<Bar, 'at' | 'close'>[]> {
  const closes: Pick<Bar, 'at' | 'close'>[] = [];
  const sessionUntil = (date: TradingDate) =>
    calendar.tradingDay(date) ?? calendar.tradingDay(calendar.previousTradingDay(date));
  let session = sessionUntil(calendar.dateOf(Instant.ofMs(to)));
  while (session !== undefined && session.regularOpen >= from) {
    const previous = calendar.previousTradingDay(session.date);
    let earlier = previous;
    if (session.regularClose <= to) {
      const close = Math.floor(session.regularClose / MINUTE_MS);
      const mark = (await marksIn({ from: close - 1, to: close })).at(-1);
      if (mark === undefined) break;
      const at = Instant.ofMs(mark.minute * MINUTE_MS);
      if (at >= session.regularOpen) closes.push({ at: session.regularOpen, close: mark.price });
      else if (calendar.dateOf(at) < previous) earlier = calendar.dateOf(at);
    }
    session = sessionUntil(earlier);
  }
  return closes.reverse();
}
