import { alwaysOpen } from './always-open.js';
import type { Calendar } from './calendar.js';
import { xnys } from './xnys.js';

const CALENDARS: Readonly<Record<Calendar['id'], Calendar>> = { XNYS: xnys, 'always-open': alwaysOpen };

/** The calendar of that name. There is one of each, shared by all simulations: it holds nothing but what it worked out. */
export function calendarById(id: Calendar['id']): Calendar {
  return CALENDARS[id];
}
