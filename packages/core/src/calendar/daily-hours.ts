import { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';
import type { BusinessDays, TradingDay } from './calendar.js';
import type { MarketHours, SessionKind, TradingSession } from './market-hours.js';

/** A time without a pause, as a half-open interval. */
export interface Stretch {
  readonly from: Instant;
  readonly until: Instant;
}

/** The sessions of a trade day: each at least one stretch, in order. Regular hours are extended hours too. */
export type Sessions = Readonly<Record<TradingSession, readonly [Stretch, ...Stretch[]]>>;

interface KnownDay {
  readonly date: TradingDate;
  readonly sessions: Sessions;
  /** Instants for which this is the relevant day: from the end of the day before to its own. */
  readonly from: Instant;
  readonly until: Instant;
}

/** Trading days to search for the next open or close: the first has one, unless it is over. */
const DAYS_LOOKED_THROUGH = 5;

/** Size limit, the same as that of `DailyCalendar`. */
const MOST_DAYS_KNOWN = 16_384;

/**
 * Hours from a rule that gives the sessions of a trading day, which may begin on an earlier date and end at the latest at
 * the midnight that ends it. The most recent day is cached, as in `DailyCalendar`.
 */
export class DailyHours implements MarketHours {
  private readonly calendar: BusinessDays;
  private readonly sessionsOn: (day: TradingDay) => Sessions;
  private readonly isEndless: boolean;
  private readonly known = new Map<TradingDate, KnownDay>();
  private latest: KnownDay | undefined;

  /** `isEndless`: the days are one session that never ends. */
  constructor(calendar: BusinessDays, sessionsOn: (day: TradingDay) => Sessions, isEndless = false) {
    this.calendar = calendar;
    this.sessionsOn = sessionsOn;
    this.isEndless = isEndless;
  }

  sessionAt(at: Instant): SessionKind {
    const { REGULAR, EXTENDED } = this.dayAt(at).sessions;
    if (isWithin(REGULAR, at)) return 'REGULAR';
    if (!isWithin(EXTENDED, at)) return 'CLOSED';
    return at < REGULAR[0].from ? 'PRE' : 'POST';
  }

  isOpen(session: TradingSession, at: Instant): boolean {
    return isWithin(this.dayAt(at).sessions[session], at);
  }

  openedAt(session: TradingSession, at: Instant): Instant | undefined {
    if (this.isEndless) return Instant.earliest;
    const stretches = this.dayAt(at).sessions[session];
    return isWithin(stretches, at) ? stretches[0].from : undefined;
  }

  tradeDateOf(at: Instant): TradingDate {
    return this.dayAt(at).date;
  }

  nextOpen(session: TradingSession, at: Instant): Instant {
    let day = this.dayAt(at);
    for (let looked = 0; looked < DAYS_LOOKED_THROUGH; looked++, day = this.dayAfter(day)) {
      for (const { from } of day.sessions[session]) if (from > at) return from;
    }
    throw new RangeError(`no open after ${at}`);
  }

  nextClose(session: TradingSession, at: Instant): Instant {
    let day = this.dayAt(at);
    for (let looked = 0; looked < DAYS_LOOKED_THROUGH; looked++, day = this.dayAfter(day)) {
      const end = endOf(day.sessions[session]);
      if (end > at) return end;
    }
    throw new RangeError(`no close after ${at}`);
  }

  lastStop(session: TradingSession, at: Instant): Instant {
    const { calendar } = this;
    const { date, sessions } = this.dayAt(at);
    const stopped = sessions[session].findLast(({ until }) => until <= at);
    return stopped?.until ?? endOf(this.dayOf(calendar.previousTradingDay(date)).sessions[session]);
  }

  closeOn(session: TradingSession, date: TradingDate): Instant {
    const { calendar } = this;
    const day = calendar.isTradingDay(date) ? date : calendar.previousTradingDay(date);
    return endOf(this.dayOf(day).sessions[session]);
  }

  private dayAt(at: Instant): KnownDay {
    const latest = this.latest;
    if (latest !== undefined && at >= latest.from && at < latest.until) return latest;
    const today = this.dayOf(this.calendar.plusBusinessDays(this.calendar.dateOf(at), 0));
    return (this.latest = at < today.until ? today : this.dayAfter(today));
  }

  private dayAfter({ date }: KnownDay): KnownDay {
    return this.dayOf(this.calendar.plusBusinessDays(date, 1));
  }

  /** The trade day of a date that is a trading day. */
  private dayOf(date: TradingDate): KnownDay {
    const found = this.known.get(date);
    if (found !== undefined) return found;
    if (this.known.size >= MOST_DAYS_KNOWN) this.known.clear();
    const sessions = this.sessionsOf(date);
    const before = this.sessionsOf(this.calendar.previousTradingDay(date));
    const day = { date, sessions, from: endOf(before.EXTENDED), until: endOf(sessions.EXTENDED) };
    this.known.set(date, day);
    return day;
  }

  private sessionsOf(date: TradingDate): Sessions {
    const day = this.calendar.tradingDay(date);
    if (day === undefined) throw new RangeError(`not a trading day: ${date}`);
    return this.sessionsOn(day);
  }
}

function isWithin(stretches: readonly Stretch[], at: Instant): boolean {
  for (const { from, until } of stretches) if (at >= from && at < until) return true;
  return false;
}

const endOf = (stretches: Sessions[TradingSession]): Instant => (stretches.at(-1) ?? stretches[0]).until;
