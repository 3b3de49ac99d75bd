import type { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import type { BusinessDays, Calendar, TradingDay } from './calendar.js';
import { formatNewYork, newYorkDayOf, newYorkInstant } from './new-york-time.js';

/** The hours of a day, in minutes after midnight New York; 1440 is the next midnight. */
export interface DayHours {
  readonly regularOpen: number;
  readonly regularClose: number;
  readonly extendedOpen: number;
  readonly extendedClose: number;
  readonly earlyClose: boolean;
}

/** The hours of a day number (days since 1970-01-01), `undefined` if the market is closed all day. */
export type HoursOn = (day: number) => DayHours | undefined;

/** True when nothing settles on a trading day (a day number). */
export type IsBankHoliday = (day: number) => boolean;

/** The computed properties of one day. */
interface KnownDay {
  readonly day: number;
  readonly date: TradingDate;
  /** The calendar day as a half-open interval: 23 or 25 hours long on days with a clock change. */
  readonly from: Instant;
  readonly until: Instant;
  readonly hours: TradingDay | undefined;
  readonly tradeDate: TradingDate;
  readonly nextTradingDay: number;
  readonly nextSettlementDay: number;
}

/** More days than any market was ever closed for. */
const LONGEST_CLOSURE_DAYS = 400;

/** Some forty years: arbitrary dates from callers cannot fill the memory. */
const MOST_DAYS_KNOWN = 16_384;

/**
 * A calendar in New York time, from a rule that gives the hours of a day.
 *
 * Every order needs its date, and nearly all lookups are for the same day: the day of the latest lookup
 * is cached, so that such a lookup is two comparisons and allocates nothing. The cache
 * never changes a result.
 */
export class DailyCalendar implements BusinessDays {
  private readonly hoursOn: HoursOn;
  private readonly isBankHoliday: IsBankHoliday;
  private readonly known = new Map<number, KnownDay>();
  private readonly knownByDate = new Map<TradingDate, KnownDay>();
  private latest: KnownDay | undefined;

  constructor(hoursOn: HoursOn, isBankHoliday: IsBankHoliday) {
    this.hoursOn = hoursOn;
    this.isBankHoliday = isBankHoliday;
  }

  dateOf(at: Instant): TradingDate {
    return this.dayAt(at).date;
  }

  isTradingDay(date: TradingDate): boolean {
    return this.dayOf(date).hours !== undefined;
  }

  tradingDay(date: TradingDate): TradingDay | undefined {
    return this.dayOf(date).hours;
  }

  plusBusinessDays(date: TradingDate, n: number): TradingDate {
    let known = this.dayOf(date);
    if (n === 0) return known.tradeDate;
    for (let left = n; left > 0; left--) known = this.dayOn(known.nextTradingDay);
    return known.date;
  }

  plusSettlementDays(date: TradingDate, n: number): TradingDate {
    let known = this.dayOf(date);
    for (let left = n; left > 0; left--) known = this.dayOn(known.nextSettlementDay);
    return known.date;
  }

  previousTradingDay(date: TradingDate): TradingDate {
    const first = this.dayOf(date).day - 1;
    for (let day = first; day > first - LONGEST_CLOSURE_DAYS; day--) {
      const known = this.dayOn(day);
      if (known.hours !== undefined) return known.date;
    }
    throw new RangeError(`no trading day before ${date}`);
  }

  instantOf(date: TradingDate, hour: number, minute: number): Instant {
    return newYorkInstant(this.dayOf(date).day, hour * 60 + minute);
  }

  format(at: Instant): string {
    return formatNewYork(at);
  }

  private dayAt(at: Instant): KnownDay {
    const latest = this.latest;
    if (latest !== undefined && at >= latest.from && at < latest.until) return latest;
    return (this.latest = this.dayOn(newYorkDayOf(at)));
  }

  private dayOf(date: TradingDate): KnownDay {
    // Lookups of other dates (a settlement date, an expiration) do not change `latest`: the next order needs the current one.
    return this.knownByDate.get(date) ?? this.dayOn(TradingDate.dayOf(date));
  }

  private dayOn(day: number): KnownDay {
    const found = this.known.get(day);
    if (found !== undefined) return found;
    if (this.known.size >= MOST_DAYS_KNOWN) {
      this.known.clear();
      this.knownByDate.clear();
    }
    const known = this.workOut(day);
    this.known.set(day, known);
    this.knownByDate.set(known.date, known);
    return known;
  }

  private workOut(day: number): KnownDay {
    const date = TradingDate.ofDay(day);
    const hours = this.hoursOn(day);
    const isTradingDay = (on: number): boolean => this.hoursOn(on) !== undefined;
    const nextTradingDay = firstFrom(day + 1, isTradingDay);
    const nextSettlementDay = firstFrom(nextTradingDay, (on) => isTradingDay(on) && !this.isBankHoliday(on));
    return {
      day,
      date,
      from: newYorkInstant(day, 0),
      until: newYorkInstant(day + 1, 0),
      hours: hours && tradingDayOf(day, date, hours),
      tradeDate: hours ? date : TradingDate.ofDay(nextTradingDay),
      nextTradingDay,
      nextSettlementDay,
    };
  }
}

function firstFrom(start: number, isRight: (day: number) => boolean): number {
  for (let day = start; day < start + LONGEST_CLOSURE_DAYS; day++) if (isRight(day)) return day;
  throw new RangeError(`no such day within ${LONGEST_CLOSURE_DAYS} days of day ${start}`);
}

/** A calendar without announcements that a simulation can use. */
export class NamedCalendar extends DailyCalendar implements Calendar {
  readonly id: Calendar['id'];

  constructor(id: Calendar['id'], hoursOn: HoursOn, isBankHoliday: IsBankHoliday) {
    super(hoursOn, isBankHoliday);
    this.id = id;
  }

  asOf(_at: Instant): Calendar {
    return this;
  }

  changesAfter(_at: Instant): Instant | undefined {
    return undefined;
  }
}

/** Days that differ from their schedule, as day numbers. */
export interface Announcements {
  /** The day on which the hours of a day were announced; undefined = they are as scheduled. */
  announcedOn(day: number): number | undefined;
  /** The hours that a day had before its announcement. */
  scheduledOn: HoursOn;
  /** The latest day of an announcement on or before a day; undefined = there is none. */
  latestBy(day: number): number | undefined;
  /** The first day of an announcement after a day; undefined = there is none. */
  firstAfter(day: number): number | undefined;
}

/** Views of a calendar that are kept: those of the simulations that run now. */
const MOST_VIEWS = 64;

/** A calendar with all announcements ever made, and with views as of earlier days. */
export class AnnouncedCalendar extends NamedCalendar {
  private readonly announcements: Announcements;
  private readonly actual: HoursOn;
  private readonly closedBanks: IsBankHoliday;
  /** By the latest known announcement. */
  private readonly views = new Map<number, Calendar>();

  constructor(
    id: Calendar['id'],
    hoursOn: HoursOn,
    isBankHoliday: IsBankHoliday,
    announcements: Announcements,
  ) {
    super(id, hoursOn, isBankHoliday);
    this.actual = hoursOn;
    this.closedBanks = isBankHoliday;
    this.announcements = announcements;
  }

  override asOf(at: Instant): Calendar {
    const today = newYorkDayOf(at);
    const { announcements } = this;
    if (announcements.firstAfter(today) === undefined) return this;
    const latest = announcements.latestBy(today) ?? Number.NEGATIVE_INFINITY;
    const found = this.views.get(latest);
    if (found !== undefined) return found;
    if (this.views.size >= MOST_VIEWS) this.views.clear();
    const view = new CalendarView(this, this.hoursKnown(latest), this.closedBanks);
    this.views.set(latest, view);
    return view;
  }

  override changesAfter(at: Instant): Instant | undefined {
    const day = this.announcements.firstAfter(newYorkDayOf(at));
    return day === undefined ? undefined : newYorkInstant(day, 0);
  }

  private hoursKnown(latest: number): HoursOn {
    const { announcements, actual } = this;
    return (day) => {
      const announced = announcements.announcedOn(day);
      return announced === undefined || announced <= latest ? actual(day) : announcements.scheduledOn(day);
    };
  }
}

/** A calendar as of an earlier day. */
class CalendarView extends NamedCalendar {
  private readonly whole: AnnouncedCalendar;

  constructor(whole: AnnouncedCalendar, hoursOn: HoursOn, isBankHoliday: IsBankHoliday) {
    super(whole.id, hoursOn, isBankHoliday);
    this.whole = whole;
  }

  override asOf(at: Instant): Calendar {
    return this.whole.asOf(at);
  }

  override changesAfter(at: Instant): Instant | undefined {
    return this.whole.changesAfter(at);
  }
}

function tradingDayOf(day: number, date: TradingDate, hours: DayHours): TradingDay {
  return {
    date,
    regularOpen: newYorkInstant(day, hours.regularOpen),
    regularClose: newYorkInstant(day, hours.regularClose),
    extendedOpen: newYorkInstant(day, hours.extendedOpen),
    extendedClose: newYorkInstant(day, hours.extendedClose),
    earlyClose: hours.earlyClose,
  };
}
