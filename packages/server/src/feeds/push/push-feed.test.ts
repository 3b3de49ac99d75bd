import { Instant, Price, Quantity, TradingDate, calendarById } from '@sandpit/core';
import type { Quote } from '@sandpit/core';
import { describe, expect, test } from 'vitest';
import { CATALOG } from '../catalog.js';
import { feedContract } from '../feed.contract.js';
import { PushFeed } from './push-feed.js';

const calendar = calendarById('XNYS');
const OPEN = calendar.instantOf(TradingDate.of('2026-01-05'), 9, 30);
const CLOSE = calendar.instantOf(TradingDate.of('2026-01-05'), 16, 0);

const quote = (atMs: number, last: string, more: Partial<Quote> = {}): Quote => ({
  symbol: 'AAPL',
  bid: Price.of(last),
  ask: Price.of(last),
  last: Price.of(last),
  at: Instant.plusMs(OPEN, atMs),
  ...more,
});

feedContract({
  name: 'push',
  open: () => Promise.resolve(new PushFeed({ calendar })),
  after: Instant.plusMs(OPEN, -1),
  until: Instant.plusMs(OPEN, 1_800_000),
  symbols: ['AAPL'],
  bars: { size: '5Min', eventsLie: 'before its end' },
  pushed: Array.from({ length: 180 }, (_, i) => quote(i * 10_000, `${200 + ((i * 7) % 13)}.${i % 10}`)),
});

describe('PushFeed', () => {
  const query = { symbol: 'AAPL', size: '1Min', from: OPEN, until: CLOSE, limit: 100 } as const;

  test('lists the catalog', () => {
    expect(new PushFeed({ calendar }).listing().instruments).toHaveLength(CATALOG.length);
  });

  test('counts the volume of trades; a quote without a trade counts at its mark, without volume', async () => {
    const feed = new PushFeed({ calendar });
    const untraded: Quote = {
      symbol: 'AAPL',
      bid: Price.of('10.5'),
      ask: Price.of('11.5'),
      at: Instant.plusMs(OPEN, 20_000),
    };
    feed.record([
      quote(0, '10', { lastSize: Quantity.of(100) }),
      untraded,
      quote(59_999, '10.2', { lastSize: Quantity.of(50) }),
      quote(60_000, '10.3'),
    ]);
    expect(await feed.bars(query)).toEqual([
      {
        symbol: 'AAPL',
        at: OPEN,
        open: Price.of('10'),
        high: Price.of('11'),
        low: Price.of('10'),
        close: Price.of('10.2'),
        volume: 150,
      },
      expect.objectContaining({ at: OPEN + 60_000, volume: 0 }),
    ]);
  });

  test('returns a daily bar of the regular session, after its close', async () => {
    const feed = new PushFeed({ calendar });
    feed.record([quote(-60_000, '9'), quote(0, '10'), quote(3_600_000, '12'), quote(7_200_000, '11')]);
    expect(await feed.bars({ ...query, size: '1Day', until: Instant.plusMs(CLOSE, -1) })).toEqual([]);
    expect(await feed.bars({ ...query, size: '1Day' })).toEqual([
      {
        symbol: 'AAPL',
        at: OPEN,
        open: Price.of('10'),
        high: Price.of('12'),
        low: Price.of('10'),
        close: Price.of('11'),
        volume: 0,
      },
    ]);
  });

  test('retains a bounded number of bars, and a late quote changes the bar of its minute', async () => {
    const feed = new PushFeed({ calendar: calendarById('always-open') });
    for (let minute = 0; minute < 10_000; minute++) feed.record([quote(minute * 60_000, '10')]);
    const all = { ...query, until: Instant.plusMs(OPEN, 10_000 * 60_000), limit: 100_000 };
    const kept = await feed.bars(all);
    expect(kept.length).toBeGreaterThanOrEqual(2880);
    expect(kept.length).toBeLessThan(2 * 2880);
    feed.record([quote(9_000 * 60_000, '12'), quote(0, '13')]);
    const after = await feed.bars(all);
    expect(after).toHaveLength(kept.length);
    expect(after.filter((bar) => bar.high > Price.of('10'))).toEqual([
      expect.objectContaining({ at: OPEN + 9_000 * 60_000, high: Price.of('12') }),
    ]);
  });

  test('returns no bar for a quote without a price', async () => {
    const feed = new PushFeed({ calendar });
    feed.record([{ symbol: 'AAPL', at: OPEN }]);
    expect(await feed.bars(query)).toEqual([]);
    await feed.close();
  });
});
