import { TradingDate } from '@sandpit/core';
import type { Calendar, Instant } from '@sandpit/core';

/** The regular session of a trading day. */
export interface Session {
  readonly open: Instant;
  readonly close: Instant;
}

/** True when an instant lies in a regular session. */
export const isWithin = (session: Session | undefined, at: number): session is Session =>
  session !== undefined && at >= session.open && at < session.close;

/** Regular sessions by instant. The day of the latest question is remembered: messages come thousands a second. */
export class Sessions {
  readonly #calendar: Calendar;
  #from = Infinity;
  #until = -Infinity;
  #session: Session | undefined;

  constructor(calendar: Calendar) {
    this.#calendar = calendar;
  }

  /** The session of the day that an instant lies in; undefined on other days than trading days. */
  of(at: Instant): Session | undefined {
    if (at < this.#from || at >= this.#until) {
      const date = this.#calendar.dateOf(at);
      const day = this.#calendar.tradingDay(date);
      this.#session = day && { open: day.regularOpen, close: day.regularClose };
      this.#from = this.#calendar.instantOf(date, 0, 0);
      this.#until = this.#calendar.instantOf(TradingDate.plusDays(date, 1), 0, 0);
    }
    return this.#session;
  }
}
