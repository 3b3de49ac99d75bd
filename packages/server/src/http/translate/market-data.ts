import {
  type Bar as CoreBar,
  type Calendar,
  type Halt,
  type HoursId,
  hoursOf,
  Instant,
  type Instrument,
  type MarketHours as CoreHours,
  marketHours,
  markOf,
  optionMarkOf,
  type Quote as CoreQuote,
  tradingEndsAt,
  type TradingDay as CoreDay,
} from '@sandpit/core';
import type { Bar, MarketHours, PushedQuote, Quote, Trade, TradingDay } from '@sandpit/protocol';
import { plainSymbol } from './instruments.js';
import { instantOf, isoOf } from './instants.js';
import { priceNumber, priceOf, quantityNumber, quantityOf } from './numbers.js';

/** A quote as it travels; undefined when it has no price at all. */
export function quoteOf(
  quote: CoreQuote,
  instrument: Instrument | undefined,
  halt?: Halt,
  isShortSaleRestricted = false,
): Quote | undefined {
  const mark = instrument?.assetClass === 'OPTION' ? optionMarkOf(quote) : markOf(quote);
  if (mark === undefined) return undefined;
  const { bid, ask, bidSize, askSize, last, lastSize } = quote;
  return {
    symbol: quote.symbol,
    price: priceNumber(mark),
    ...(bid !== undefined && { bid: priceNumber(bid) }),
    ...(ask !== undefined && { ask: priceNumber(ask) }),
    ...(bidSize !== undefined && { bidSize: quantityNumber(bidSize) }),
    ...(askSize !== undefined && { askSize: quantityNumber(askSize) }),
    ...(last !== undefined && { last: priceNumber(last) }),
    ...(lastSize !== undefined && { lastSize: quantityNumber(lastSize) }),
    timestamp: quote.at,
    ...(quote.delayed === true && { delayed: true }),
    ...(quote.indicative === true && { indicative: true }),
    ...haltedOf(halt),
    ...(isShortSaleRestricted && { shortSaleRestricted: true }),
  };
}

/** Fields that a halt adds to an answer about a halted symbol. */
export const haltedOf = (halt: Halt | undefined) =>
  halt === undefined
    ? {}
    : {
        halted: true,
        haltReason: halt.reason,
        ...(halt.until !== undefined && { haltedUntil: isoOf(halt.until) }),
      };

/** The last print; undefined when none is known. */
export function tradeOf({ symbol, last, lastSize, at }: CoreQuote): Trade | undefined {
  if (last === undefined) return undefined;
  return {
    symbol,
    price: priceNumber(last),
    ...(lastSize !== undefined && { size: quantityNumber(lastSize) }),
    timestamp: at,
  };
}

/** A quote pushed through the API. */
export function pushedQuoteOf(quote: PushedQuote, now: Instant, calendar: Calendar): CoreQuote {
  const { bid, ask, bidSize, askSize, last, lastSize, timestamp } = quote;
  return {
    symbol: plainSymbol(quote.symbol, calendar.dateOf(now)),
    ...(bid > 0 && { bid: priceOf(bid) }),
    ask: priceOf(ask),
    ...(bidSize !== undefined && { bidSize: quantityOf(bidSize) }),
    ...(askSize !== undefined && { askSize: quantityOf(askSize) }),
    ...(last !== undefined && { last: priceOf(last) }),
    ...(lastSize !== undefined && { lastSize: quantityOf(lastSize) }),
    at:
      timestamp === undefined
        ? now
        : typeof timestamp === 'number'
          ? Instant.ofMs(timestamp)
          : instantOf(timestamp, calendar),
  };
}

export const barOf = ({ at, open, high, low, close, volume }: CoreBar): Bar => ({
  timestamp: at,
  open: priceNumber(open),
  high: priceNumber(high),
  low: priceNumber(low),
  close: priceNumber(close),
  volume,
});

export const tradingDayOf = (day: CoreDay, calendar: Calendar): TradingDay => ({
  date: day.date,
  open: calendar.format(day.regularOpen),
  close: calendar.format(day.regularClose),
  extendedOpen: calendar.format(day.extendedOpen),
  extendedClose: calendar.format(day.extendedClose),
  earlyClose: day.earlyClose,
});

/** State of a market with these hours: whether it is open now, and its next open and close. */
function openingOf(hours: CoreHours, calendar: Calendar, now: Instant) {
  const session = hours.sessionAt(now);
  return {
    isOpen: session === 'REGULAR',
    session,
    nextOpen: calendar.format(hours.nextOpen('REGULAR', now)),
    nextClose: calendar.format(hours.nextClose('REGULAR', now)),
  };
}

/** Market hours of one instrument; a contract closes permanently after its last session. */
export function openingOfOne(instrument: Instrument, calendar: Calendar, now: Instant) {
  const hours = marketHours(calendar, hoursOf(instrument));
  const opening = openingOf(hours, calendar, now);
  if (instrument.assetClass !== 'OPTION' && instrument.assetClass !== 'FUTURE') return opening;
  const end = tradingEndsAt(instrument, calendar);
  if (end <= now) return { isOpen: false, session: 'CLOSED' as const };
  const { isOpen, session, nextOpen } = opening;
  return {
    isOpen,
    session,
    ...(hours.nextOpen('REGULAR', now) < end && { nextOpen }),
    nextClose: calendar.format(Instant.min(hours.nextClose('REGULAR', now), end)),
  };
}

export function marketHoursOf(
  exchange: string,
  hours: HoursId,
  calendar: Calendar,
  now: Instant,
): MarketHours {
  const today = hours === 'EQUITIES' ? calendar.tradingDay(calendar.dateOf(now)) : undefined;
  return {
    exchange,
    now: isoOf(now),
    ...openingOf(marketHours(calendar, hours), calendar, now),
    ...(today !== undefined && { today: tradingDayOf(today, calendar) }),
  };
}
