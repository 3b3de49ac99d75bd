import { alwaysOpen } from './always-open.js';
import type { Calendar } from './calendar.js';
import { xnys, xnysMovedBy } from './xnys.js';

const MOVED = /^XNYS\+([1-9]\d{0,3})$/;

/** Cache of moved calendars. Weeks have at most four digits. */
const moved = new Map<string, Calendar>();

/**
 * The calendar of that name. There is one of each, shared by all simulations: it contains only computed values. Throws `RangeError`
 * for an unknown name.
 */
export function calendarById(id: Calendar['id']): Calendar {
  if (id === 'XNYS') return xnys;
  if (id === 'always-open') return alwaysOpen;
  const known = moved.get(id);
  if (known !== undefined) return known;
  const weeks = weeksMoved(id);
  if (weeks === 0) throw new RangeError(`no such calendar: ${id}`);
  const calendar = xnysMovedBy(weeks);
  moved.set(id, calendar);
  return calendar;
}

/** Weeks by which a calendar is moved into the future; 0 for one that is not moved, and for an unknown name. */
export const weeksMoved = (id: string): number => Number(MOVED.exec(id)?.[1] ?? 0);

/** The name that users see: that of the calendar without the move. */
export const plainCalendar = (id: Calendar['id']): 'XNYS' | 'always-open' =>
  id === 'always-open' ? id : 'XNYS';
