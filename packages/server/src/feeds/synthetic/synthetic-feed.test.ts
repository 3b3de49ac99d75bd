import { Instant, Price, TradingDate, calendarById, hash32, marketHours } from '@sandpit/core';
import type { Bar, Quote } from '@sandpit/core';
import { describe, expect, test } from 'vitest';
import { CATALOG } from '../catalog.js';
import { feedContract } from '../feed.contract.js';
import { SyntheticFeed } from './synthetic-feed.js';

const xnys = calendarById('XNYS');
const alwaysOpen = calendarById('always-open');
const at = (date: string, hour: number, minute = 0): Instant =>
  xnys.instantOf(TradingDate.of(date), hour, minute);
const feed = new SyntheticFeed({ seed: 42, calendar: xnys, riskFreeRate: 0.04 });
const MONDAY = '2026-01-05';

for (const calendar of [xnys, alwaysOpen]) {
  feedContract({
    name: `synthetic, ${calendar.id}`,
    open: () => Promise.resolve(new SyntheticFeed({ seed: 42, calendar, riskFreeRate: 0.04 })),
    after: at(MONDAY, 9, 30),
    until: at(MONDAY, 10, 10),
    symbols: ['AAPL', 'BRK.B', 'MULN'],
    bars: { size: '5Min', eventsLie: 'before its end' },
  });
}

async function instantsOf(after: Instant, until: Instant, symbol = 'AAPL'): Promise<Instant[]> {
  const instants: Instant[] = [];
  const symbols = new Set<string>();
  for await (const event of feed.events(after, until, new Set([symbol, 'NOT.LISTED']))) {
    symbols.add(event.quotes.map((quote) => quote.symbol).join());
    instants.push(event.at);
  }
  expect([...symbols]).toEqual(instants.length === 0 ? [] : [symbol]);
  return instants;
}

describe('Synthetic quotes', () => {
  test('are a function of seed, symbol and second, independent of earlier questions', () => {
    const walked = Array.from({ length: 600 }, (_, i) =>
      feed.quoteAt('KO', Instant.plusMs(at(MONDAY, 11), i * 1000)),
    );
    for (let i = 0; i < 50; i++) {
      const index = hash32(3, 4, i) % 600;
      const fresh = new SyntheticFeed({ seed: 42, calendar: xnys, riskFreeRate: 0.04 });
      expect(fresh.quoteAt('KO', Instant.plusMs(at(MONDAY, 11), index * 1000 + 999))).toEqual(walked[index]);
    }
    const other = new SyntheticFeed({ seed: 43, calendar: xnys, riskFreeRate: 0.04 });
    expect(other.quoteAt('KO', at(MONDAY, 11))).not.toEqual(walked[0]);
    // Written down once: another machine and another version must find the same.
    expect(feed.quoteAt('AAPL', at(MONDAY, 10))).toEqual({
      symbol: 'AAPL',
      bid: Price.of('220.9'),
      ask: Price.of('220.92'),
      bidSize: 200_000_000,
      askSize: 700_000_000,
      last: Price.of('220.9'),
      lastSize: 100_000_000,
      at: at(MONDAY, 10),
    });
  });

  test('have, at the close of a session, the close of the daily bar', async () => {
    for (const calendar of [xnys, alwaysOpen]) {
      const market = new SyntheticFeed({ seed: 42, calendar, riskFreeRate: 0.04 });
      const close = marketHours(calendar, 'EQUITIES').nextClose('REGULAR', at(MONDAY, 11));
      const [bar] = await market.bars({
        symbol: 'KO',
        size: '1Day',
        from: at('2021-01-01', 0),
        until: close,
        limit: 1,
      });
      expect(market.quoteAt('KO', close)?.close).toBe(bar?.close);
      expect(market.quoteAt('KO', Instant.plusMs(close, -1000))?.close).toBeUndefined();
      expect(market.quoteAt('KO', Instant.plusMs(close, 1000))?.close).toBeUndefined();
      for await (const { quotes } of market.events(Instant.plusMs(close, -1), close, new Set(['KO'])))
        expect(quotes).toEqual([market.quoteAt('KO', close)]);
    }
  });

  test.each(CATALOG.map(({ equity }) => equity.symbol))(
    'of %s have whole ticks and a plausible spread and size',
    (symbol) => {
      const entry = CATALOG.find(({ equity }) => equity.symbol === symbol)!;
      let spreads = 0;
      let lots = 0;
      const odd: Quote[] = [];
      for (let day = 0; day < 400; day++) {
        const quote = feed.quoteAt(
          symbol,
          Instant.plusMs(at('2021-03-01', 12), day * 86_400_000 + day * 7000),
        )!;
        const { bid, ask, last, bidSize, askSize, lastSize } = quote;
        if (bid === undefined || ask === undefined || last === undefined)
          throw new Error('a side is missing');
        const areTicks = [bid, ask, last].every((price) =>
          Price.isMultipleOf(price, price >= Price.of('1') ? Price.of('0.01') : Price.of('0.0001')),
        );
        const areLots = [bidSize!, askSize!, lastSize!].every((size) => size > 0 && size % 100_000_000 === 0);
        const isNearBase = bid / 1e8 > entry.basePrice * 0.3 && ask / 1e8 < entry.basePrice * 3.05;
        // One expectation for all quotes: 400 days of 15 expectations took longer than the quotes.
        if (!areTicks || !areLots || !isNearBase || bid >= ask || (last !== bid && last !== ask))
          odd.push(quote);
        spreads += (ask - bid) / 1e8;
        lots += bidSize! / 1e8;
      }
      expect(odd).toEqual([]);
      const usualSpread = Math.max(entry.typicalSpread, entry.basePrice > 3 ? 0.01 : 0);
      expect(spreads / 400).toBeGreaterThan(usualSpread * 0.8);
      expect(spreads / 400).toBeLessThan(usualSpread * 1.5 + (entry.basePrice < 5 ? 0.02 : 0));
      expect(lots / 400 / entry.typicalLots).toBeGreaterThan(0.8);
      expect(lots / 400 / entry.typicalLots).toBeLessThan(1.2);
    },
  );

  test('outside the sessions are the last quotes before the close', () => {
    const friday = Instant.plusMs(at('2026-01-02', 20), -1000);
    expect(feed.quoteAt('SPY', at('2026-01-04', 12))).toEqual(feed.quoteAt('SPY', friday));
    expect(feed.quoteAt('SPY', at('2026-01-02', 20))?.at).toBe(friday);
    expect(feed.quoteAt('SPY', at(MONDAY, 3, 59))?.at).toBe(friday);
    expect(feed.quoteAt('SPY', at(MONDAY, 4))?.at).toBe(at(MONDAY, 4));
    const sunday = new SyntheticFeed({ seed: 42, calendar: alwaysOpen, riskFreeRate: 0.04 }).quoteAt(
      'SPY',
      at('2026-01-04', 12),
    );
    expect(sunday?.at).toBe(at('2026-01-04', 12));
  });
});

describe('Synthetic events', () => {
  test('occur every second in spans up to an hour, every minute in longer ones', async () => {
    expect(await instantsOf(at(MONDAY, 10), at(MONDAY, 11))).toHaveLength(3600);
    const long = await instantsOf(at(MONDAY, 10), at(MONDAY, 11, 1));
    expect(long).toHaveLength(61);
    expect(long[0]).toBe(at(MONDAY, 10, 1));
    expect(long.at(-1)).toBe(at(MONDAY, 11, 1));
  });

  test('occur within sessions only, and in a long span also at the last second of each session', async () => {
    const weekend = await instantsOf(at('2026-01-02', 15), at(MONDAY, 5));
    expect(weekend.every((instant) => marketHours(xnys, 'EQUITIES').isOpen('EXTENDED', instant))).toBe(true);
    expect(weekend).toContain(Instant.plusMs(at('2026-01-02', 16), -1000));
    expect(weekend).toContain(Instant.plusMs(at('2026-01-02', 20), -1000));
    expect(weekend).toHaveLength(300 + 61 - 1 + 2);
    expect([...weekend].sort((a, b) => a - b)).toEqual(weekend);
    const edge = await instantsOf(Instant.plusMs(at('2026-01-02', 19, 59), 30_000), at(MONDAY, 4));
    expect(edge).toEqual([Instant.plusMs(at('2026-01-02', 20), -1000), at(MONDAY, 4)]);
    expect(await instantsOf(at('2026-01-03', 9), at('2026-01-04', 20))).toEqual([]);
  });
});

describe('Synthetic bars', () => {
  const day = (symbol: string, limit: number): Promise<readonly Bar[]> =>
    feed.bars({ symbol, size: '1Day', from: Instant.ofMs(0), until: at(MONDAY, 17), limit });

  test('of a day equal the minutes of its regular session, to the tick and the share', async () => {
    for (const symbol of ['AAPL', 'T', 'PLUG', 'MULN']) {
      const [daily] = await day(symbol, 1);
      const minutes = await feed.bars({
        symbol,
        size: '1Min',
        from: at(MONDAY, 9, 30),
        until: at(MONDAY, 16),
        limit: 1000,
      });
      expect(minutes).toHaveLength(390);
      expect(daily).toEqual({
        symbol,
        at: at(MONDAY, 9, 30),
        open: minutes[0]!.open,
        high: Math.max(...minutes.map((bar) => bar.high)),
        low: Math.min(...minutes.map((bar) => bar.low)),
        close: minutes.at(-1)!.close,
        volume: minutes.reduce((sum, bar) => sum + bar.volume, 0),
      });
    }
  });

  test('have the extremes of all seconds', async () => {
    const [bar] = await feed.bars({
      symbol: 'TSLA',
      size: '1Hour',
      from: at(MONDAY, 11),
      until: at(MONDAY, 12),
      limit: 1,
    });
    const lasts = Array.from(
      { length: 3600 },
      (_, i) => feed.quoteAt('TSLA', Instant.plusMs(at(MONDAY, 11), i * 1000))!.last!,
    );
    expect(bar).toMatchObject({
      open: lasts[0],
      close: lasts.at(-1),
      high: Math.max(...lasts),
      low: Math.min(...lasts),
    });
  });

  test('have the most volume at the open and the close, and about the average volume per day', async () => {
    const bars = await feed.bars({
      symbol: 'KO',
      size: '1Min',
      from: at(MONDAY, 4),
      until: at(MONDAY, 20),
      limit: 2000,
    });
    expect(bars).toHaveLength(960);
    const volume = (from: Instant, until: Instant): number =>
      bars.filter((bar) => bar.at >= from && bar.at < until).reduce((sum, bar) => sum + bar.volume, 0);
    const noon = volume(at(MONDAY, 12, 30), at(MONDAY, 13));
    expect(volume(at(MONDAY, 9, 30), at(MONDAY, 10))).toBeGreaterThan(2 * noon);
    expect(volume(at(MONDAY, 15, 30), at(MONDAY, 16))).toBeGreaterThan(2 * noon);
    expect(volume(at(MONDAY, 4), at(MONDAY, 9, 30))).toBeLessThan(noon);
    const days = await day('KO', 100);
    const average = days.reduce((sum, bar) => sum + bar.volume, 0) / 100 / 13e6;
    expect(average).toBeGreaterThan(0.9);
    expect(average).toBeLessThan(1.1);
  });

  test('have the volatilities and correlations of the catalog', async () => {
    const returns = async (symbol: string): Promise<number[]> => {
      const bars = await day(symbol, 500);
      return bars.slice(1).map((bar, i) => Math.log(bar.close / bars[i]!.close));
    };
    const series = Object.fromEntries(
      await Promise.all(
        ['AAPL', 'MSFT', 'XOM', 'CVX', 'QQQ', 'TQQQ', 'SQQQ', 'KO', 'TSLA'].map(
          async (s) => [s, await returns(s)] as const,
        ),
      ),
    );
    expect(deviation(series['AAPL']!)).toBeGreaterThan(0.016 * 0.85);
    expect(deviation(series['AAPL']!)).toBeLessThan(0.016 * 1.15);
    expect(deviation(series['KO']!)).toBeLessThan(0.011);
    expect(correlation(series['AAPL']!, series['MSFT']!)).toBeGreaterThan(0.3);
    expect(correlation(series['XOM']!, series['CVX']!)).toBeGreaterThan(0.2);
    expect(correlation(series['QQQ']!, series['TQQQ']!)).toBeGreaterThan(0.98);
    expect(correlation(series['QQQ']!, series['SQQQ']!)).toBeLessThan(-0.98);
    expect(deviation(series['TQQQ']!) / deviation(series['QQQ']!)).toBeGreaterThan(2.6);
    // No memory: yesterday's return says nothing about today's.
    expect(Math.abs(correlation(series['TSLA']!.slice(1), series['TSLA']!.slice(0, -1)))).toBeLessThan(0.15);
  });

  test('end at 13:00 on a day with an early close', async () => {
    const [bar] = await feed.bars({
      symbol: 'SPY',
      size: '1Day',
      from: at('2025-11-28', 0),
      until: at('2025-11-28', 13),
      limit: 5,
    });
    expect(bar?.close).toBe(feed.quoteAt('SPY', Instant.plusMs(at('2025-11-28', 13), -1))?.last);
  });

  test('do not exist before the start of the data', async () => {
    const query = { symbol: 'SPY', size: '1Day', from: Instant.ofMs(0), limit: 5 } as const;
    expect(await feed.bars({ ...query, until: at('1997-06-02', 12) })).toEqual([]);
  });
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) * (value - middle))));
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const [middleA, middleB] = [mean(a), mean(b)];
  return mean(a.map((value, i) => (value - middleA) * (b[i]! - middleB))) / deviation(a) / deviation(b);
}
