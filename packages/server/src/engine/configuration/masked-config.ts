import { Instant, movedCalendar } from '@sandpit/core';
import type { Calendar, TradingDate } from '@sandpit/core';
import { dateShiftOf } from '../../feeds/date-shift.js';
import { maskTerms } from '../../feeds/mask.js';
import type { MaskTerms } from '../../feeds/mask.js';
import type { WantedMask, WantedSimulation } from './simulation-config.js';

/** The configuration of a simulation with a masked recording; start and calendar are moved. */
export function maskedConfig(
  { hides: _, ...config }: WantedSimulation,
  { parts, key }: WantedMask,
  firstSession: TradingDate,
): WantedSimulation {
  const start = Instant.ofMs(config.start);
  const mask = maskTerms(parts, key, start, firstSession);
  const calendar = calendarBehind(mask);
  return {
    ...config,
    mask,
    start: dateShiftOf(mask).moved(start),
    ...(calendar !== undefined && config.calendar === 'XNYS' && { calendar }),
  };
}

/** The calendar of the exchange behind a mask; undefined = it is not moved. */
export const calendarBehind = ({ weeks, sessions }: MaskTerms): Calendar['id'] | undefined =>
  weeks === 0 ? undefined : movedCalendar({ weeks, ...(sessions !== undefined && { first: sessions }) });

/** The instant that a mask shows instead of a recorded one. */
export const movedBy = (mask: MaskTerms, at: Instant): Instant => dateShiftOf(mask).moved(at);
