import { alwaysOpen } from './always-open.js';
import type { Calendar } from './calendar.js';
import { TradingDate } from '../values/trading-date.js';
import { SessionMap, xnys, xnysMovedBy, xnysSessions } from './xnys.js';

const MOVED = /^XNYS(?:@(\d{4}-\d{2}-\d{2}))?\+([1-9]\d{0,3})$/;

/** Moved calendars that are kept: those of the simulations that run now. */
const MOST_MOVED = 1000;

/** Cache of moved calendars, oldest first. */
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
  const move = moveOf(id);
  if (move === undefined) throw new RangeError(`no such calendar: ${id}`);
  const { weeks, first } = move;
  const calendar = first === undefined ? xnysMovedBy(weeks) : xnysSessions(first, weeks);
  const [oldest] = moved.keys();
  if (oldest !== undefined && moved.size >= MOST_MOVED) moved.delete(oldest);
  moved.set(id, calendar);
  return calendar;
}

/** Weeks by which a calendar is moved into the future, and its first session if sessions are on consecutive weekdays. */
interface Move {
  readonly weeks: number;
  readonly first?: TradingDate;
}

/** Name of the calendar of the exchange after a move. */
export const movedCalendar = ({ weeks, first }: Move): Calendar['id'] =>
  first === undefined ? `XNYS+${weeks}` : `XNYS@${first}+${weeks}`;

/** The move that the name of a calendar describes; undefined for one that is not moved, and for an unknown name. */
function moveOf(id: string): Move | undefined {
  const [, date, weeks] = MOVED.exec(id) ?? [];
  if (weeks === undefined) return undefined;
  if (date === undefined) return { weeks: Number(weeks) };
  const first = TradingDate.parse(date);
  return first === undefined || !SessionMap.isSession(TradingDate.dayOf(first))
    ? undefined
    : { weeks: Number(weeks), first };
}

/** True for the name of a calendar. */
export const isCalendar = (id: string): id is Calendar['id'] =>
  id === 'XNYS' || id === 'always-open' || moveOf(id) !== undefined;

/** The name that users see: that of the calendar without the move. */
export const plainCalendar = (id: Calendar['id']): 'XNYS' | 'always-open' =>
  id === 'always-open' ? id : 'XNYS';
