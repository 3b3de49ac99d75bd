/** Options, indices and futures of the synthetic market (D126). */
import {
  calendarById,
  Instant,
  KnownInstruments,
  type OptionContract,
  Price,
  type Quote,
  settlesAt,
  tickFor,
  TradingDate,
} from '@sandpit/core';
import { describe, expect, test } from 'vitest';
import { feedContract } from '../feed.contract.js';
import { SyntheticFeed } from './synthetic-feed.js';

const xnys = calendarById('XNYS');
const alwaysOpen = calendarById('always-open');
const at = (date: string, hour: number, minute = 0): Instant =>
  xnys.instantOf(TradingDate.of(date), hour, minute);
const MONDAY = '2026-01-05';
const RATE = 0.04;
const feedOf = (calendar = xnys, seed = 42): SyntheticFeed =>
  new SyntheticFeed({ seed, calendar, riskFreeRate: RATE });
const feed = feedOf();
const instruments = new KnownInstruments(feed.listing());
const dollars = (price: Price | undefined): number => (price ?? 0) / 1e8;

for (const calendar of [xnys, alwaysOpen]) {
  feedContract({
    name: `synthetic indices, ${calendar.id}`,
    open: () => Promise.resolve(feedOf(calendar)),
    after: at(MONDAY, 9, 30),
    until: at(MONDAY, 10, 10),
    symbols: ['SPX', 'VIX'],
    bars: { size: '5Min', eventsLie: 'before its end' },
  });
}

/** Prices that a trader can obtain: buys at the ask, sells at the bid. */
interface Offer {
  readonly contract: OptionContract;
  readonly strike: number;
  readonly bid: number;
  readonly ask: number;
}

function chainOf(underlying: string, expiration: string, now: Instant): Offer[] {
  const spot = feed.quoteAt(underlying, now)!.last!;
  const today = xnys.dateOf(now);
  return instruments.contracts(underlying, TradingDate.of(expiration), spot, today).map((contract) => {
    const quote = feed.quoteAt(contract.symbol, now)!;
    return { contract, strike: dollars(contract.strike), bid: dollars(quote.bid), ask: dollars(quote.ask) };
  });
}

const CHAINS = [
  ['AAPL', '2026-01-09'],
  ['AAPL', '2026-06-18'],
  ['KO', '2027-01-15'],
  ['MULN', '2026-01-16'],
  ['SQQQ', '2026-02-06'],
  ['SPY', '2026-01-09'],
  ['SPX', '2026-01-16'],
  ['SPX', '2026-02-13'],
  ['NDX', '2026-12-18'],
  ['VIX', '2026-02-18'],
] as const;

describe.each(CHAINS)('the options on %s of %s', (underlying, expiration) => {
  const instants = [at(MONDAY, 9, 30), at(MONDAY, 12, 1), at('2026-01-08', 15, 59)];
  const chains = instants.map((now) => ({ now, chain: chainOf(underlying, expiration, now) }));

  test('are quoted on the tick, bid below ask', () => {
    for (const { chain, now } of chains) {
      expect(chain.length).toBeGreaterThanOrEqual(30);
      for (const { contract } of chain) {
        const { bid, ask, last, bidSize, askSize, at: quoted } = feed.quoteAt(contract.symbol, now) as Quote;
        expect(quoted).toBe(now);
        for (const price of [bid, ask, last]) {
          if (price === undefined) continue;
          expect(price).toBeGreaterThan(0);
          expect(Price.isMultipleOf(price, tickFor(contract, price))).toBe(true);
        }
        expect(ask).toBeGreaterThan(bid ?? 0);
        if (last !== undefined) expect(last <= ask! && last >= (bid ?? 0)).toBe(true);
        expect(askSize! >= 1e6 && askSize! % 1e6 === 0).toBe(true);
        expect((bidSize === undefined) === (bid === undefined)).toBe(true);
      }
    }
  });

  test('price no vertical spread or butterfly below zero', () => {
    for (const { chain } of chains) {
      for (const optionType of ['CALL', 'PUT'] as const) {
        const side = chain.filter(({ contract }) => contract.optionType === optionType);
        const rising = optionType === 'CALL' ? side : side.toReversed();
        for (let i = 0; i + 1 < rising.length; i++) {
          // The first is in the money, the next one is not yet.
          const [dear, cheap] = [rising[i]!, rising[i + 1]!];
          expect(dear.ask).toBeGreaterThanOrEqual(cheap.bid);
          expect(dear.bid - cheap.ask).toBeLessThanOrEqual(Math.abs(cheap.strike - dear.strike) + 1e-9);
        }
        for (let i = 1; i + 1 < side.length; i++) {
          const [low, middle, high] = [side[i - 1]!, side[i]!, side[i + 1]!];
          const weight = (high.strike - middle.strike) / (high.strike - low.strike);
          expect(weight * low.ask + (1 - weight) * high.ask - middle.bid).toBeGreaterThanOrEqual(-1e-9);
        }
      }
    }
  });

  test('satisfy put–call parity within the spread', () => {
    for (const { chain, now } of chains) {
      const spot = underlyingMiddle(underlying, now);
      for (let i = 0; i < chain.length; i += 2) {
        const [call, put] = [chain[i]!, chain[i + 1]!];
        const years = Math.max(settlesAt(call.contract, xnys) - now, 60_000) / (365 * 86_400_000);
        const owed = call.strike * Math.exp(-RATE * years);
        // Tolerance for a cent of the underlying or of the model.
        const near = 0.01 + 0.0002 * call.strike;
        expect(call.bid - put.ask).toBeLessThanOrEqual(spot - owed + near);
        const least = call.contract.style === 'EUROPEAN' ? spot - owed : spot - call.strike;
        expect(call.ask - put.bid).toBeGreaterThanOrEqual(least - near);
      }
    }
  });
});

function underlyingMiddle(underlying: string, now: Instant): number {
  const { bid, ask, last } = feed.quoteAt(underlying, now)!;
  return bid !== undefined && ask !== undefined ? (dollars(bid) + dollars(ask)) / 2 : dollars(last);
}

describe('Synthetic contracts', () => {
  test('are quoted in their trading hours, with a final quote at expiration', () => {
    const late = feed.quoteAt('SPXW260109P05500000', at('2026-01-08', 16, 10));
    expect(late?.at).toBe(at('2026-01-08', 16, 10));
    // In cash at the close: the last day ends at 16:00.
    const lastSecond = Instant.plusMs(at('2026-01-09', 16), -1000);
    expect(feed.quoteAt('SPXW260109P05500000', at('2026-01-09', 16, 10))?.at).toBe(lastSecond);
    expect(feed.quoteAt('SPXW260109P05500000', at('2026-01-20', 12))?.at).toBe(lastSecond);
    expect(feed.quoteAt('AAPL260116C00220000', at(MONDAY, 17))?.at).toBe(
      Instant.plusMs(at(MONDAY, 16), -1000),
    );
    expect(feed.quoteAt('AAPL260116C00220000', at(MONDAY, 8))?.at).toBe(
      Instant.plusMs(at('2026-01-02', 16), -1000),
    );
  });

  test('have no quote if they are not listed', () => {
    for (const symbol of ['AAPL260116C00220010', 'AAPL290116C00220000', 'ESZ27', 'ESF26', 'SIH26', 'NOPE'])
      expect(feed.quoteAt(symbol, at(MONDAY, 12))).toBeUndefined();
  });

  test('are quoted together with their underlying, each in its trading hours', async () => {
    const symbols = new Set(['AAPL', 'AAPL260116C00220000', 'SPX260116P05500000', 'ESH26']);
    const told: string[] = [];
    const after = Instant.plusMs(at(MONDAY, 15, 59), 58_000);
    for await (const event of feed.events(after, Instant.plusMs(after, 4000), symbols)) {
      expect(event.quotes).toEqual(event.quotes.map(({ symbol }) => feed.quoteAt(symbol, event.at)));
      told.push(
        `${(event.at - after) / 1000}: ${event.quotes.map(({ symbol }) => symbol.slice(0, 3)).join(' ')}`,
      );
    }
    expect(told).toEqual(['1: AAP AAP ESH SPX', '2: AAP ESH SPX', '3: AAP ESH SPX', '4: AAP ESH SPX']);
    const day: number[] = [];
    for await (const event of feed.events(at(MONDAY, 9), at(MONDAY, 20), new Set(['AAPL260116C00220000'])))
      day.push(event.at);
    expect(day[0]).toBe(at(MONDAY, 9, 30));
    expect(day.slice(-2)).toEqual([at(MONDAY, 15, 59), Instant.plusMs(at(MONDAY, 16), -1000)]);
    expect(day).toHaveLength(391);
  });
});

describe('Synthetic indices and futures', () => {
  test('follow the prices of their funds', () => {
    const now = at(MONDAY, 11);
    const spy = underlyingMiddle('SPY', now);
    expect(dollars(feed.quoteAt('SPX', now)?.last) / spy).toBeCloseTo(10, 2);
    expect(feed.quoteAt('SPX', now)).not.toHaveProperty('bid');
    const years = (at('2026-03-20', 9, 30) - now) / (365 * 86_400_000);
    const future = feed.quoteAt('ESH26', now)!;
    const fair = dollars(feed.quoteAt('SPX', now)?.last) * Math.exp(RATE * years);
    expect(dollars(future.bid)).toBeLessThanOrEqual(fair + 0.1);
    expect(dollars(future.ask)).toBeGreaterThanOrEqual(fair - 0.1);
    for (const month of instruments.futures(TradingDate.of(MONDAY))) {
      const { bid, ask, last } = feed.quoteAt(month.symbol, now)!;
      for (const price of [bid!, ask!, last!]) expect(price % month.tickSize).toBe(0);
      expect(ask! - bid!).toBeLessThanOrEqual(2 * month.tickSize);
      expect(ask!).toBeGreaterThan(bid!);
    }
  });

  test('trade through the evening, and have bars by trading day', async () => {
    const evening = at(MONDAY, 19);
    expect(feed.quoteAt('ESH26', evening)?.at).toBe(evening);
    expect(feed.quoteAt('ESH26', at(MONDAY, 17, 30))?.at).toBe(Instant.plusMs(at(MONDAY, 17), -1000));
    const query = { symbol: 'ESH26', from: at('2025-12-29', 0), until: at('2026-01-06', 12), limit: 100 };
    const days = await feed.bars({ ...query, size: '1Day' });
    expect(days.map((bar) => bar.at)).toEqual(
      [
        at('2025-12-28', 18),
        at('2025-12-29', 18),
        at('2025-12-30', 18),
        at('2026-01-01', 18),
        at('2026-01-04', 18),
      ].filter((start) => start >= query.from),
    );
    const minutes = await feed.bars({
      ...query,
      size: '1Min',
      from: at(MONDAY, 16, 50),
      until: at(MONDAY, 18, 10),
    });
    expect(minutes).toHaveLength(20);
    for (const bar of minutes) {
      const lasts: number[] = [];
      for await (const { quotes } of feed.events(
        Instant.plusMs(bar.at, -1),
        Instant.plusMs(bar.at, 59_999),
        new Set(['ESH26']),
      ))
        lasts.push(...quotes.map(({ last }) => last!));
      expect([lasts[0], Math.max(...lasts), Math.min(...lasts), lasts.at(-1)]).toEqual([
        bar.open,
        bar.high,
        bar.low,
        bar.close,
      ]);
    }
    expect(await feed.bars({ ...query, symbol: 'AAPL260116C00220000', size: '1Day' })).toEqual([]);
  });
});
