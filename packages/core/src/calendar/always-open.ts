import type { Calendar } from './calendar.js';
import { NamedCalendar } from './daily-calendar.js';
import type { DayHours } from './daily-calendar.js';

const WHOLE_DAY: DayHours = {
  regularOpen: 0,
  regularClose: 24 * 60,
  extendedOpen: 0,
  extendedClose: 24 * 60,
  earlyClose: false,
};

/**
 * A market that never closes, for demos and for tests that do not depend on hours: every calendar day is a trading day, one regular session
 * from midnight to midnight New York. Banks never close either. Each midnight is the close of one day and the open of the next, so that
 * daily processing still happens.
 */
export const alwaysOpen: Calendar = new NamedCalendar(
  'always-open',
  () => WHOLE_DAY,
  () => false,
);
