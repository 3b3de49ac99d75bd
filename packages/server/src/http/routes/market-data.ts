import {
  type Brokerage,
  type HoursId,
  Instant,
  type Instrument,
  plainCalendar,
  TradingDate,
} from '@sandpit/core';
import type { Quote } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { type Answer, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { instrumentsAt, keptOf, optionsOn, quoteIn, symbolIn } from '../listed.js';
import { endOf, instantOf } from '../translate/instants.js';
import { shownInstrument } from '../translate/instruments.js';
import {
  barOf,
  haltedOf,
  marketHoursOf,
  openingOfOne,
  quoteOf,
  tradeOf,
  tradingDayOf,
} from '../translate/market-data.js';
import { pageOfAll } from '../translate/pages.js';

type MarketDataHandlers = Pick<
  Handlers,
  | 'getQuote'
  | 'getQuotes'
  | 'getTrade'
  | 'getBars'
  | 'getMarketHours'
  | 'getExchangeHours'
  | 'isMarketOpen'
  | 'listInstruments'
  | 'getTradingCalendar'
>;

const SYMBOL_NOT_FOUND = refuse(404, 'Symbol not found');
const NO_QUOTE = refuse(404, 'No quote yet');
const NO_TRADE = refuse(404, 'No trade yet');
const EXCHANGE_NOT_FOUND = refuse(404, 'Exchange not found');

/** The hours of the exchanges that can be requested (D69). */
const EXCHANGES: ReadonlyMap<string, HoursId> = new Map([
  ['XNYS', 'EQUITIES'],
  ['XNAS', 'EQUITIES'],
  ['ARCX', 'EQUITIES'],
  ['NYSE', 'EQUITIES'],
  ['NASDAQ', 'EQUITIES'],
  ['OPRA', 'OPTIONS'],
  ['XCME', 'FUTURES'],
  ['XCBT', 'RATES'],
  ['XNYM', 'ENERGY'],
  ['XCEC', 'ENERGY'],
]);

const LONGEST_CALENDAR_DAYS = 3660;

export const marketDataHandlers: MarketDataHandlers = {
  getQuote: ({ simulation, params }) =>
    lookAt(
      simulation,
      params.symbol,
      (brokerage, symbol) => shownQuote(simulation, brokerage, symbol) ?? NO_QUOTE,
    ),

  getQuotes({ simulation, body }) {
    const symbols = body.symbols.map((symbol) => symbolIn(simulation, symbol));
    return simulation.read(
      [],
      (brokerage) => {
        const found = symbols.map((symbol) => shownQuote(simulation, brokerage, symbol));
        return {
          quotes: found.filter((quote) => quote !== undefined),
          notFound: symbols.filter((_, i) => found[i] === undefined),
        };
      },
      keptOf(simulation, symbols),
    );
  },

  getTrade: ({ simulation, params }) =>
    lookAt(simulation, params.symbol, (brokerage, symbol) => {
      const quote = quoteIn(simulation, brokerage, symbol, simulation.now());
      return (quote === undefined ? undefined : tradeOf(quote)) ?? NO_TRADE;
    }),

  async getBars({ simulation, params, query }) {
    const symbol = symbolIn(simulation, params.symbol);
    const { calendar } = simulation.brokerage.rules;
    const isListed = await simulation.read([], (brokerage) => brokerage.instrument(symbol) !== undefined);
    if (!isListed) return SYMBOL_NOT_FOUND;
    const now = simulation.now();
    const until = query.to === undefined ? now : endOf(query.to, calendar);
    const bars = await simulation.feed.bars({
      symbol,
      size: query.timeframe,
      from: query.from === undefined ? Instant.ofMs(0) : instantOf(query.from, calendar),
      // Bars never extend beyond the current time.
      until: until < now ? until : now,
      limit: query.limit,
    });
    return { symbol, timeframe: query.timeframe, bars: bars.map(barOf) };
  },

  getMarketHours({ simulation }) {
    const { calendar } = simulation.brokerage.rules;
    return marketHoursOf(plainCalendar(calendar.id), 'EQUITIES', calendar, simulation.now());
  },

  getExchangeHours({ simulation, params: { exchange } }) {
    const { calendar } = simulation.brokerage.rules;
    const hours = exchange === plainCalendar(calendar.id) ? 'EQUITIES' : EXCHANGES.get(exchange);
    return hours === undefined
      ? EXCHANGE_NOT_FOUND
      : marketHoursOf(exchange, hours, calendar, simulation.now());
  },

  isMarketOpen({ simulation, params }) {
    const { calendar } = simulation.brokerage.rules;
    return lookAt(simulation, params.symbol, (brokerage, symbol, instrument) => {
      const halt = brokerage.haltOf(instrument, simulation.now());
      return {
        symbol,
        ...openingOfOne(instrument, calendar, simulation.now()),
        ...(halt !== undefined && { isOpen: false, ...haltedOf(halt) }),
      };
    });
  },

  async listInstruments({ simulation, query }) {
    const { assetClass } = query;
    const symbol = query.symbol === undefined ? undefined : symbolIn(simulation, query.symbol);
    const underlying = query.underlying === undefined ? undefined : symbolIn(simulation, query.underlying);
    const now = simulation.now();
    const asked = await simulation.read(
      [],
      (brokerage) => {
        if (symbol !== undefined)
          return [brokerage.instrument(symbol, now)].filter((instrument) => instrument !== undefined);
        if (underlying !== undefined) return optionsOn(brokerage, underlying, now);
        return instrumentsAt(brokerage, now).sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
      },
      underlying === undefined ? [] : [underlying],
    );
    const found = asked.filter(
      (instrument) =>
        (assetClass === undefined || instrument.assetClass === assetClass) &&
        (underlying === undefined ||
          (instrument.assetClass === 'OPTION' && instrument.underlying === underlying)),
    );
    const { brokerage } = simulation;
    const { calendar } = brokerage.rules;
    return pageOfAll(
      found,
      query,
      ({ symbol: listed }) => listed,
      (instrument) =>
        shownInstrument(
          instrument,
          calendar,
          calendar.dateOf(now),
          // Margin can be a part of the notional.
          instrument.assetClass === 'FUTURE' ? brokerage.mark(instrument.symbol) : undefined,
        ),
    );
  },

  getTradingCalendar({ simulation, query }) {
    const { calendar } = simulation.brokerage.rules;
    const from = query.from === undefined ? calendar.dateOf(simulation.now()) : TradingDate.of(query.from);
    const to = query.to === undefined ? TradingDate.plusDays(from, 30) : TradingDate.of(query.to);
    const length = TradingDate.dayOf(to) - TradingDate.dayOf(from);
    if (length < 0) return refuse(400, ['to must not be before from']);
    if (length > LONGEST_CALENDAR_DAYS)
      return refuse(400, [`to must be within ${LONGEST_CALENDAR_DAYS} days of from`]);
    const days = Array.from({ length: length + 1 }, (_, i) =>
      calendar.tradingDay(TradingDate.plusDays(from, i)),
    );
    return {
      calendar: plainCalendar(calendar.id),
      days: days.filter((day) => day !== undefined).map((day) => tradingDayOf(day, calendar)),
    };
  },
};

/** The quote of a symbol as it travels; undefined when it has no price at all. */
export function shownQuote(simulation: Simulation, brokerage: Brokerage, symbol: string): Quote | undefined {
  const quote = quoteIn(simulation, brokerage, symbol, simulation.now());
  const instrument = brokerage.instrument(symbol);
  const halt = instrument && brokerage.haltOf(instrument, simulation.now());
  const isRestricted = brokerage.isShortSaleRestricted(symbol, simulation.now());
  return quote && quoteOf(quote, instrument, halt, isRestricted);
}

/** Reads a listed symbol with its quote brought up to now. */
function lookAt<T>(
  simulation: Simulation,
  given: string,
  look: (brokerage: Brokerage, symbol: string, instrument: Instrument) => T,
): Promise<T | Answer> {
  const symbol = symbolIn(simulation, given);
  return simulation.read(
    [],
    (brokerage) => {
      const instrument = brokerage.instrument(symbol);
      return instrument === undefined ? SYMBOL_NOT_FOUND : look(brokerage, symbol, instrument);
    },
    keptOf(simulation, [symbol]),
  );
}
