/** Clocks and calendars, of version 2 and 3. */
import { TradingDate } from '@sandpit/core';
import type { TradingDay } from '@sandpit/dialect-port';
import { Refused } from '@sandpit/dialect-port';
import { invalid, notFound, translated } from './refusals.js';
import type { AlpacaCall, AlpacaHandler } from './request.js';

export const getClock: AlpacaHandler = async (call) => {
  const hours = await call.book.run('getMarketHours');
  return {
    timestamp: hours.now,
    is_open: hours.isOpen,
    next_open: hours.nextOpen,
    next_close: hours.nextClose,
  };
};

/** `09:30` of a time in exchange time. */
const timeOf = (text: string): string => text.slice(11, 16);
const digitsOf = (text: string): string => timeOf(text).replace(':', '');

const LONGEST_DAYS = 3650;

/** The last date that a clock can show. */
const LAST_DATE = TradingDate.of('2199-12-31');

const earliestOf = (a: string, b: string): string => (a < b ? a : b);

/** A date this many days later, or the last representable one. */
const plusDays = (date: string, days: number): string =>
  date >= LAST_DATE ? LAST_DATE : earliestOf(TradingDate.plusDays(TradingDate.of(date), days), LAST_DATE);

/** The trading days of a range, and the one after it. */
async function daysOf(call: AlpacaCall, from: string, to: string): Promise<readonly TradingDay[]> {
  if (from > to) throw invalid('start must not be after end');
  // A few days more, for the settlement of the last one.
  const query = { from, to: earliestOf(plusDays(from, LONGEST_DAYS + 10), plusDays(to, 10)) };
  try {
    const { days } = await call.book.run('getTradingCalendar', { query });
    return days;
  } catch (error) {
    throw error instanceof Refused ? translated(error) : error;
  }
}

function rangeOf({ query, book }: AlpacaCall): { readonly from: string; readonly to: string } {
  const { calendar } = book;
  const today = calendar.dateOf(book.now());
  const from = query.date('start') ?? TradingDate.plusDays(today, -365);
  const to = query.date('end') ?? plusDays(from > today ? from : today, 365);
  return { from, to };
}

export const getCalendar: AlpacaHandler = async (call) => {
  const { from, to } = rangeOf(call);
  const isBySettlement = call.query.choice('date_type', ['trading', 'settlement']) === 'settlement';
  // The day that settles on the first one comes before it.
  const days = await daysOf(call, isBySettlement ? plusDays(from, -10) : from, to);
  return days
    .map((day, i) => ({
      date: day.date,
      open: timeOf(day.open),
      close: timeOf(day.close),
      session_open: digitsOf(day.extendedOpen),
      session_close: digitsOf(day.extendedClose),
      settlement_date: days[i + 1]?.date ?? day.date,
    }))
    .filter(({ date, settlement_date }) => {
      const on = isBySettlement ? settlement_date : date;
      return on >= from && on <= to;
    });
};

/** Names of the markets in this dialect; all keep the same hours. */
const MARKETS: Readonly<Record<string, { readonly mic: string; readonly name: string }>> = {
  NYSE: { mic: 'XNYS', name: 'New York Stock Exchange' },
  NASDAQ: { mic: 'XNAS', name: 'Nasdaq Stock Market' },
  XNYS: { mic: 'XNYS', name: 'New York Stock Exchange' },
  XNAS: { mic: 'XNAS', name: 'Nasdaq Stock Market' },
  OPRA: { mic: 'OPRA', name: 'Options Price Reporting Authority' },
};

function marketNamed(name: string) {
  const key = name.toUpperCase();
  const market = Object.hasOwn(MARKETS, key) ? MARKETS[key] : undefined;
  if (market === undefined) throw notFound(`market ${name} not found`);
  const { mic, name: words } = market;
  return { acronym: key, mic, name: words, timezone: 'America/New_York' };
}

const PHASES = { PRE: 'pre', REGULAR: 'core', POST: 'post', CLOSED: 'closed' } as const;

export const getClocks: AlpacaHandler = async (call) => {
  const names = call.query.list('markets') ?? ['NYSE', 'NASDAQ'];
  const markets = names.map(marketNamed);
  const time = call.query.instant('time');
  const hours = time === undefined ? await call.book.run('getMarketHours') : call.book.market.hoursAt(time);
  const { today, session } = hours;
  const until = {
    PRE: today?.open,
    REGULAR: today?.close,
    POST: today?.extendedClose,
    CLOSED: undefined,
  }[session];
  const clocks = markets.map((market) => ({
    market,
    timestamp: hours.now,
    is_market_day: today !== undefined,
    phase: PHASES[session],
    phase_until: until ?? hours.nextOpen,
    next_market_open: hours.nextOpen,
    next_market_close: hours.nextClose,
  }));
  return { clocks };
};

/** Writes times in a zone; without one as they are, in New York. */
function timesIn(zone: string | undefined): (time: string) => string {
  if (zone === undefined || zone === 'America/New_York') return (time) => time;
  if (zone === 'UTC') return (time) => new Date(time).toISOString();
  throw invalid('timezone must be UTC or America/New_York');
}

export const getMarketCalendar: AlpacaHandler = async (call) => {
  const market = marketNamed(call.params['market'] ?? '');
  const { from, to } = rangeOf(call);
  const days = await daysOf(call, from, to);
  const at = timesIn(call.query.text('timezone'));
  const calendar = days
    .map((day, i) => ({
      date: day.date,
      pre_start: at(day.extendedOpen),
      pre_end: at(day.open),
      core_start: at(day.open),
      core_end: at(day.close),
      post_start: at(day.close),
      post_end: at(day.extendedClose),
      settlement_date: days[i + 1]?.date ?? day.date,
    }))
    .filter(({ date }) => date <= to);
  return { market, calendar };
};
