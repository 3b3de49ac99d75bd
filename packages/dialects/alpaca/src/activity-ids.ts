/**
 * Ids of activities, which are also the tokens of their pages: the time in New York, then the record and the place in it, all in fixed width.
 * The order of the ids as text is the order of the activities.
 */
import { type Calendar, Instant, TradingDate } from '@sandpit/core';

/** Position of an activity in its record: its event, the part of the event, and the place among the activities of that part. */
export interface ActivityPlace {
  readonly event: number;
  readonly item: number;
  readonly part: number;
}

/** Begins a page behind an activity. */
export interface ActivityToken {
  /** No activity between this instant and that of the activity. */
  readonly from: Instant;
  readonly to: Instant;
  readonly seq: number;
  /** Position of the activity in its record. */
  readonly at: { readonly position: number } | ActivityPlace;
}

const SEQ_DIGITS = 16;
const POSITION_DIGITS = 6;
const HOUR_MS = 3_600_000;
/** Where the hour that comes twice in November begins and ends. */
const REPEATED_HOUR = '01';
const END_OF_REPEATED_HOUR = '015959999';

export const activityId = (calendar: Calendar, at: Instant, seq: number, position: number): string =>
  `${timeText(calendar, at)}::${digits(seq, SEQ_DIGITS)}-${digits(position, POSITION_DIGITS)}`;

const digits = (n: number, width: number): string => String(n).padStart(width, '0');

/** `YYYYMMDDHHMMSSmmm` in New York. The second time that an hour comes all of it has the text of its end, so that no text goes back. */
function timeText(calendar: Calendar, at: Instant): string {
  const text = wallTime(calendar, at);
  const isRepeated = at >= HOUR_MS && wallTime(calendar, Instant.plusMs(at, -HOUR_MS)) >= text;
  return isRepeated ? text.slice(0, 8) + END_OF_REPEATED_HOUR : text;
}

function wallTime(calendar: Calendar, at: Instant): string {
  const [, date = '', time = '', ms = ''] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{3}))?/.exec(calendar.format(at)) ?? [];
  return `${date}${time}`.replace(/\D/g, '') + ms.padEnd(3, '0');
}

const TOKEN =
  /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})::(?:(\d{16})-(\d{6})|(\d{1,15})-(\d{1,9})-(\d{1,9}))$/;

/** Undefined for a text that no activity has as its id. Ids of earlier releases have their time in UTC and the place of their event. */
export function activityTokenOf(calendar: Calendar, text: string): ActivityToken | undefined {
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', ms = '', ...rest] =
    TOKEN.exec(text) ?? [];
  const date = `${year}-${month}-${day}`;
  if (TradingDate.parse(date) === undefined || hour > '23' || minute > '59' || second > '59')
    return undefined;
  const [seq, position, oldSeq, event, item] = rest;
  if (seq === undefined) {
    const at = Instant.ofMs(Date.parse(`${date}T${hour}:${minute}:${second}.${ms}Z`));
    return {
      from: at,
      to: at,
      seq: Number(oldSeq),
      at: { event: Number(event), item: Number(item), part: 0 },
    };
  }
  const start = calendar.instantOf(TradingDate.of(date), Number(hour), Number(minute));
  const at = Instant.plusMs(start, Number(second) * 1000 + Number(ms));
  const slack = hour === REPEATED_HOUR ? HOUR_MS : 0;
  return {
    from: Instant.plusMs(at, -slack),
    to: Instant.plusMs(at, slack),
    seq: Number(seq),
    at: { position: Number(position) },
  };
}
