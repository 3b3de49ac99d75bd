import { marketHours } from '@sandpit/core';
import type { Calendar, Instant, MarketHours, Quote } from '@sandpit/core';
import { MINUTE_MS } from '../bar-window.js';
import { SECOND_MS } from '../open-hours.js';
import type { PriceModel } from './price-model.js';
import type { Quoted } from './quoted.js';

/** A share of the catalog. */
export class EquityModel implements Quoted {
  readonly symbol: string;
  readonly hours: MarketHours;
  readonly session = 'EXTENDED';
  private readonly model: PriceModel;
  private readonly calendar: Calendar;

  constructor(model: PriceModel, calendar: Calendar) {
    this.symbol = model.symbol;
    this.hours = marketHours(calendar, 'EQUITIES');
    this.model = model;
    this.calendar = calendar;
  }

  /** At the close of a regular session the quote has the official close, that of the day's bar: the last price of its last second. */
  quoteAt(second: number): Quote {
    const quote = this.model.quoteAt(second);
    if (!this.isRegularClose(second)) return quote;
    const { last } = this.model.quoteAt(second - 1);
    return last === undefined ? quote : { ...quote, close: last };
  }

  private isRegularClose(second: number): boolean {
    const at = second * SECOND_MS;
    // Sessions end at full minutes: most seconds need no calendar.
    if (at % MINUTE_MS !== 0) return false;
    const date = this.calendar.dateOf((at - 1) as Instant);
    return this.calendar.tradingDay(date)?.regularClose === at;
  }
}
