import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { hasSameTerms, Instant, Price, Quantity, TradingDate, calendarById } from '@sandpit/core';
import type { CorporateAction } from '@sandpit/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catalogEntry } from '../catalog.js';
import { feedContract } from '../feed.contract.js';
import type { MarketEvent } from '../feed.js';
import { actionLine } from '../live/recorder.js';
import { ReplayArchive } from './archive.js';
import { BadReplayFile } from './bad-replay-file.js';
import { checkRecording } from './check-recording.js';
import { ReplayFeed } from './replay-feed.js';

const SAMPLES = fileURLToPath(new URL('../../../../../samples/equities', import.meta.url));
const calendar = calendarById('XNYS');
const at = (date: string, hour: number, minute = 0): Instant =>
  calendar.instantOf(TradingDate.of(date), hour, minute);
const utc = (text: string): Instant => Instant.ofMs(Date.parse(text));

const directories: string[] = [];
/** A directory with these files; a name that ends in .gz is packed. */
async function recording(files: Readonly<Record<string, string>>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'sandpit-replay-'));
  directories.push(path);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(path, name), name.endsWith('.gz') ? gzipSync(text) : text);
  }
  return path;
}
afterAll(async () => {
  await Promise.all(directories.map((path) => rm(path, { recursive: true, force: true })));
});

async function feedOf(
  files: Readonly<Record<string, string>>,
  symbols?: readonly string[],
): Promise<ReplayFeed> {
  const archive = await ReplayArchive.open({ path: await recording(files), calendar });
  return new ReplayFeed({ archive, ...(symbols && { symbols }) });
}

async function told(feed: ReplayFeed, after: Instant, until: Instant): Promise<MarketEvent[]> {
  const events: MarketEvent[] = [];
  for await (const event of feed.events(after, until)) events.push(event);
  return events;
}

const TRADES = 'ts,symbol,open,high,low,close,volume\n';
const QUOTES =
  'ts,symbol,bid_open,bid_high,bid_low,bid_close,bid_size,ask_open,ask_high,ask_low,ask_close,ask_size,carried\n';
const DAILY = 'date,symbol,open,high,low,close,volume\n';

/** Two symbols for forty minutes; B has no quotes. */
function minutes(): Record<string, string> {
  let trades = TRADES;
  let quotes = QUOTES;
  for (let i = 0; i < 40; i++) {
    const ts = new Date(utc('2024-03-04T14:30:00Z') + i * 60_000).toISOString().replace('.000', '');
    const price = 50 + ((i * 7) % 11) / 10;
    const near = (shift: number): string => (price + shift).toFixed(2);
    trades += `${ts},A,${near(0)},${near(0.1)},${near(-0.1)},${near(0.05)},${100 + i}\n`;
    trades += `${ts},B,9,9,9,9.0000,${i}\n`;
    quotes += `${ts},A,${near(-0.02)},${near(0.05)},${near(-0.12)},${near(-0.01)},${i + 1},`;
    quotes += `${near(0.02)},${near(0.12)},${near(-0.08)},${near(0.06)},300,\n`;
  }
  return { 'A_2024_trades.csv': trades, 'A_2024_quotes.csv.gz': quotes };
}

let samples: ReplayArchive;
let recorded: ReplayArchive;
beforeAll(async () => {
  samples = await ReplayArchive.open({ path: SAMPLES, calendar });
  recorded = await ReplayArchive.open({ path: await recording(minutes()), calendar });
});

feedContract({
  name: 'replay of minutes',
  open: () => Promise.resolve(new ReplayFeed({ archive: recorded })),
  after: utc('2024-03-04T14:25:00Z'),
  until: utc('2024-03-04T15:10:00Z'),
  symbols: ['A', 'B'],
  bars: { size: '5Min', eventsLie: 'up to its end' },
});

describe('The shipped recording', () => {
  test('lists its symbols with figures of the catalog, or none', () => {
    const feed = new ReplayFeed({ archive: samples });
    expect(feed.listing().instruments).toHaveLength(16);
    expect(feed.listing().instruments.map(({ symbol }) => symbol)).toContain('BRK_A');
    const apple = feed.listing().instruments.find(({ symbol }) => symbol === 'AAPL')!;
    expect(apple).toMatchObject({ assetClass: 'EQUITY', name: 'AAPL', leverageFactor: 1, shortable: true });
    if (apple.assetClass !== 'EQUITY') throw new Error('a share');
    expect(apple.averageDailyVolume).toBe(catalogEntry('AAPL')?.equity.averageDailyVolume);
    expect(apple.dailyVolatility).toBe(catalogEntry('AAPL')?.equity.dailyVolatility);
    expect(feed.listing().instruments.find(({ symbol }) => symbol === 'BRK_A')).toMatchObject({
      averageDailyVolume: 0,
      dailyVolatility: 0,
    });
  });

  test('tells average volume and volatility of the days before each quote, of 20 at a time', async () => {
    // Fifty days: 1,000 shares and moves of 1 % on the first 20, 5,000 shares and moves of 3 % on the next 20.
    const days: string[] = [];
    for (let day = utc('2024-01-02T00:00:00Z'); days.length < 50; day = Instant.plusMs(day, 86_400_000)) {
      const date = new Date(day).toISOString().slice(0, 10);
      if (calendar.isTradingDay(TradingDate.of(date))) days.push(date);
    }
    let price = 100;
    let rows = DAILY;
    for (const [index, date] of days.entries()) {
      price *= 1 + (index % 2 === 0 ? 1 : -1) * (index < 20 ? 0.01 : 0.03);
      const text = price.toFixed(4);
      rows += `${date},A,${text},${text},${text},${text},${index < 20 ? 1000 : 5000}\n`;
    }
    const feed = await feedOf({ 'daily_bars.csv': rows });
    const events = await told(feed, at('2024-01-01', 12), at('2024-04-01', 12));
    const figures = events.map(({ at: instant, quotes }) => [
      TradingDate.ofDay(Math.floor(instant / 86_400_000)),
      quotes[0]?.usualDay,
    ]);
    const on = (index: number): unknown[] =>
      figures.flatMap(([date, usualDay]) => (date === days[index] ? [usualDay] : []));
    expect(on(19)).toEqual([undefined, undefined, undefined, undefined]);
    for (const index of [20, 39])
      for (const usualDay of on(index))
        expect(usualDay).toEqual({ volume: 1000, volatility: expect.closeTo(0.01, 4) as number });
    for (const index of [40, 49])
      for (const usualDay of on(index))
        expect(usualDay).toEqual({ volume: 5000, volatility: expect.closeTo(0.03, 3) as number });
    // Reading that begins in the middle tells the same.
    const later = await told(feed, at('2024-03-04', 12), at('2024-03-05', 12));
    expect(later).toEqual(
      events.filter((event) => event.at > at('2024-03-04', 12) && event.at <= at('2024-03-05', 12)),
    );
    await feed.close();
  });

  test('reports the days around the split of AAPL as four trades each', async () => {
    const feed = new ReplayFeed({ archive: samples, symbols: ['AAPL'] });
    const events = await told(feed, at('2014-06-06', 0), at('2014-06-09', 12));
    expect(events.map((event) => [event.at, event.quotes[0]?.last])).toEqual([
      [at('2014-06-06', 9, 30), Price.of('649.9')],
      [at('2014-06-06', 11, 40), Price.of('644.47')],
      [at('2014-06-06', 13, 50), Price.of('651.26')],
      [Instant.plusMs(at('2014-06-06', 16), -1000), Price.of('645.57')],
      [at('2014-06-09', 9, 30), Price.of('92.7')],
      [at('2014-06-09', 11, 40), Price.of('91.75')],
    ]);
    const price = Price.of('92.7');
    expect(events[4]?.quotes).toEqual([
      {
        symbol: 'AAPL',
        bid: price,
        ask: price,
        last: price,
        usualDay: { volume: expect.any(Number) as number, volatility: expect.any(Number) as number },
        at: at('2014-06-09', 9, 30),
      },
    ]);
    await feed.close();
  });

  test('has its splits and dividends and reports omissions', () => {
    const feed = new ReplayFeed({ archive: samples });
    const actions = feed.corporateActions();
    expect(actions).toHaveLength(242);
    expect(actions).toContainEqual({
      type: 'SPLIT',
      symbol: 'AAPL',
      exDate: '2014-06-09',
      knownFrom: '2014-05-26',
      ratio: { new: 7, old: 1 },
    });
    expect(actions).toContainEqual({
      type: 'CASH_DIVIDEND',
      symbol: 'GE',
      exDate: '2000-03-06',
      knownFrom: '2000-02-21',
      amountPerShare: Price.of('0.41'),
    });
    expect(actions).toContainEqual({
      type: 'SPLIT',
      symbol: 'AIG',
      exDate: '2009-07-01',
      knownFrom: '2009-06-17',
      ratio: { new: 1, old: 20 },
    });
    expect(
      new ReplayFeed({ archive: samples, symbols: ['KO'] })
        .corporateActions()
        .every(({ symbol }) => symbol === 'KO'),
    ).toBe(true);
  });

  test('has the recorded daily bars, known after the close, and no shorter ones', async () => {
    const feed = new ReplayFeed({ archive: samples });
    const query = { symbol: 'AAPL', size: '1Day', from: at('2014-06-01', 0), limit: 2 } as const;
    expect(await feed.bars({ ...query, until: at('2014-06-09', 16) })).toEqual([
      expect.objectContaining({ at: at('2014-06-06', 9, 30), close: Price.of('645.57'), volume: 12_497_800 }),
      expect.objectContaining({ at: at('2014-06-09', 9, 30), open: Price.of('92.7'), volume: 75_414_997 }),
    ]);
    const before = await feed.bars({ ...query, until: Instant.plusMs(at('2014-06-09', 16), -1) });
    expect(before.map((bar) => bar.at)).toEqual([at('2014-06-05', 9, 30), at('2014-06-06', 9, 30)]);
    expect(await feed.bars({ ...query, size: '1Hour', until: at('2014-06-09', 16) })).toEqual([]);
    const all = await feed.bars({
      ...query,
      from: Instant.ofMs(0),
      until: at('2020-01-01', 0),
      limit: 10_000,
    });
    expect(all).toHaveLength(4585);
    expect(
      await feed.bars({ ...query, from: Instant.ofMs(0), until: at('2020-01-01', 0), limit: 7 }),
    ).toEqual(all.slice(-7));
  });

  test('ends a day with an early close at 13:00', async () => {
    const feed = new ReplayFeed({ archive: samples, symbols: ['MSFT'] });
    const events = await told(feed, at('2014-11-28', 0), at('2014-11-29', 0));
    expect(events.map((event) => event.at)).toEqual([
      at('2014-11-28', 9, 30),
      at('2014-11-28', 10, 40),
      at('2014-11-28', 11, 50),
      Instant.plusMs(at('2014-11-28', 13), -1000),
    ]);
    await feed.close();
  });

  test('`from` leaves out earlier data', async () => {
    const feed = new ReplayFeed({ archive: samples, symbols: ['KO'], from: at('2010-01-05', 9, 30) });
    const events = await told(feed, at('2010-01-01', 0), at('2010-01-05', 10));
    expect(events.map((event) => event.at)).toEqual([at('2010-01-05', 9, 30)]);
    await feed.close();
  });
});

describe('Recorded minutes', () => {
  test('become known at their end: the quote, then the trade, and the range', async () => {
    const feed = await feedOf({
      'x_quotes.csv': `${QUOTES}2024-03-04T14:30:00Z,X,10,10.5,9.5,10.10,200,10.2,10.8,9.9,10.30,,\n`,
      'x_trades.csv': `${TRADES}2024-03-04T14:30:00Z,X,10.1,10.7,9.6,10.2001,500\n`,
    });
    const end = utc('2024-03-04T14:31:00Z');
    // Stamped with the last millisecond of their minute: that before the bell is not the first of the session (D128).
    const stamp = Instant.plusMs(end, -1);
    expect(await told(feed, utc('2024-03-04T14:00:00Z'), stamp)).toEqual([]);
    const sides = { bid: Price.of('10.1'), bidSize: Quantity.of(200), ask: Price.of('10.3') };
    const through = (bid: string, ask: string, last: string): unknown => ({
      symbol: 'X',
      bid: Price.of(bid),
      bidSize: Quantity.of(200),
      ask: Price.of(ask),
      last: Price.of(last),
      at: stamp,
    });
    expect(await told(feed, Instant.plusMs(end, -1), end)).toEqual([
      {
        at: end,
        quotes: [
          { symbol: 'X', ...sides, openToCome: true, at: stamp },
          {
            symbol: 'X',
            ...sides,
            last: Price.of('10.2001'),
            lastSize: Quantity.of(500),
            open: Price.of('10.1'),
            at: stamp,
          },
        ],
        passed: {
          since: utc('2024-03-04T14:30:00Z'),
          quotes: [
            through('10', '10.2', '10.1'),
            through('9.5', '9.9', '9.6'),
            through('10.5', '10.8', '10.7'),
          ],
        },
      },
    ]);
    await feed.close();
  });

  test('a crossed quote is skipped, an empty price is no side', async () => {
    const feed = await feedOf({
      'x_quotes.csv': [
        QUOTES.trimEnd(),
        '2024-03-04T14:30:00Z,X,10,10,10,10,1,10.2,10.2,10.2,10.2,1,',
        '2024-03-04T14:31:00Z,X,10.4,10.4,10.4,10.4,1,10.2,10.2,10.2,10.2,1,',
        '2024-03-04T14:32:00Z,X,10.2,10.2,10.2,10.2,1,10.2,10.2,10.2,10.2,1,',
        '2024-03-04T14:33:00Z,X,,,,,0,10.2,10.2,10.2,10.2,1,B',
        '',
      ].join('\n'),
    });
    const events = await told(feed, utc('2024-03-04T14:00:00Z'), utc('2024-03-04T15:00:00Z'));
    expect(events.map((event) => event.at)).toEqual(
      ['14:31', '14:33', '14:34'].map((time) => utc(`2024-03-04T${time}:00Z`)),
    );
    expect(events[2]?.quotes[0]).toEqual({
      symbol: 'X',
      ask: Price.of('10.2'),
      askSize: Quantity.of(1),
      at: utc('2024-03-04T14:33:59.999Z'),
    });
    await feed.close();
  });

  test('without quotes, bid and ask equal the trade, with a tenth of its volume', async () => {
    const feed = await feedOf({ 'x_trades.csv.gz': `${TRADES}2024-03-04T14:30:00Z,X,10,10,10,10,500\n` });
    const [event] = await told(feed, utc('2024-03-04T14:00:00Z'), utc('2024-03-04T15:00:00Z'));
    const price = Price.of('10');
    const size = Quantity.of(50);
    expect(event?.quotes).toEqual([
      {
        symbol: 'X',
        bid: price,
        ask: price,
        bidSize: size,
        askSize: size,
        last: price,
        lastSize: Quantity.of(500),
        open: price,
        at: utc('2024-03-04T14:30:59.999Z'),
      },
    ]);
    await feed.close();
  });

  test('the first quote of a session has its open: that of the daily bar, else of the first minute of trades', async () => {
    const minute = (time: string, price: number): string =>
      `2024-03-04T${time}:00Z,A,${price},${price},${price},${price},5\n`;
    const opensOf = async (files: Record<string, string>): Promise<unknown[]> => {
      const feed = await feedOf(files);
      const events = await told(feed, utc('2024-03-04T14:00:00Z'), utc('2024-03-04T21:00:00Z'));
      await feed.close();
      return events.flatMap(({ quotes }) => quotes.map(({ open, openToCome }) => open ?? openToCome));
    };
    const trades = `${TRADES}${minute('14:00', 9)}${minute('14:32', 10)}${minute('14:33', 11)}`;
    // Before the bell, at 09:33, at 09:34.
    expect(await opensOf({ 'a_trades.csv': trades })).toEqual([undefined, Price.of('10'), undefined]);
    const daily = `${DAILY}2024-03-04,A,9.75,12,9,11,7\n`;
    expect((await opensOf({ 'a_trades.csv': trades, 'daily_bars.csv': daily })).slice(0, 3)).toEqual([
      undefined,
      Price.of('9.75'),
      undefined,
    ]);
    // Quotes before the first trade say that it is still to come.
    const quotes = `${QUOTES.trimEnd()}\n2024-03-04T14:30:00Z,A,10,10,10,10,1,10.2,10.2,10.2,10.2,1,\n`;
    expect(await opensOf({ 'a_trades.csv': trades, 'a_quotes.csv': quotes })).toEqual([
      undefined,
      true,
      Price.of('10'),
      undefined,
    ]);
  });

  test('a daily bar provides the official close of recorded minutes at the bell', async () => {
    const feed = await feedOf({
      'a_trades.csv': `${TRADES}2024-03-04T14:30:00Z,A,10,10,10,10,5\n2024-03-04T20:59:00Z,A,12,12,12,12,50\n`,
      'b_trades.csv': `${TRADES}2024-03-04T14:30:00Z,B,20,20,20,20,5\n`,
      'daily_bars.csv': `${DAILY}2024-03-04,A,10,12.05,10,12.05,7\n2024-03-04,B,20,20.1,20,20.1,7\n`,
    });
    const close = at('2024-03-04', 16);
    const events = await told(feed, Instant.plusMs(close, -60_000), close);
    const [a, b] = [Price.of('12'), Price.of('20')];
    expect(events.map(({ quotes }) => quotes)).toMatchObject([
      [
        { symbol: 'A', bid: a, ask: a, last: a, close: Price.of('12.05'), at: Instant.plusMs(close, -1) },
        { symbol: 'B', last: b, close: Price.of('20.1'), at: close },
      ],
    ]);
    await feed.close();
  });

  test('many files are merged by time, regardless of their names', async () => {
    const day = (date: string, symbol: string): string =>
      `${TRADES}${date}T14:30:00Z,${symbol},10,10,10,10,5\n`;
    const feed = await feedOf({
      'a_trades.csv': day('2024-03-06', 'A'),
      'b_trades.csv.gz': day('2024-03-04', 'B'),
      'c_trades.csv': day('2024-03-05', 'C'),
      'd_trades.csv': day('2024-03-04', 'A'),
      'daily_bars.csv': `${DAILY}2024-03-01,A,1,1,1,1,7\n2024-03-04,A,2,2,2,2,7\n2024-03-05,D,3,3,3,3,7\n`,
    });
    const events = await told(feed, utc('2024-03-03T00:00:00Z'), utc('2024-03-07T00:00:00Z'));
    expect(events.map(({ quotes }) => quotes.map((quote) => quote.symbol).join())).toEqual(
      // A has minutes from the 4th to the 6th: its daily bar of the 4th tells its close alone.
      ['A,B', 'A', ...['D', 'C', 'D', 'D', 'D'], 'A'],
    );
    const bars = await feed.bars({
      symbol: 'A',
      size: '1Min',
      from: utc('2024-03-01T00:00:00Z'),
      until: utc('2024-03-08T00:00:00Z'),
      limit: 9,
    });
    expect(bars.map((bar) => bar.at)).toEqual([utc('2024-03-04T14:30:00Z'), utc('2024-03-06T14:30:00Z')]);
    await feed.close();
  });

  test('options and futures are listed by their symbols from the day they are seen; options on futures are left out', async () => {
    const row = (symbol: string): string => `2024-03-04T14:30:00Z,${symbol},10,10,10,10,5\n`;
    const feed = await feedOf({
      'x_trades.csv': TRADES + row('ESH24') + row('ESH24 C5000') + row('SPY') + row('SPY240315C00500000'),
    });
    const { instruments, since } = feed.listing();
    expect(instruments.map(({ symbol, assetClass }) => [symbol, assetClass])).toEqual([
      ['ESH24', 'FUTURE'],
      ['SPY', 'EQUITY'],
      ['SPY240315C00500000', 'OPTION'],
    ]);
    expect(since).toEqual({ ESH24: '2024-03-04', SPY: '2024-03-04', SPY240315C00500000: '2024-03-04' });
    await feed.close();
  });

  test('an invalid file of contracts is refused with the line', async () => {
    const trades = `${TRADES}2024-03-04T14:30:00Z,SPY240315C00500000,10,10,10,10,5\n`;
    const header = 'symbol,underlying,style,multiplier,settlement\n';
    for (const [row, reason] of [
      ['SPY240315C00500000,SPY,american,0,physical', 'not a multiplier: "0"'],
      ['SPY240315C00500000,SPY,american,100,paper', 'not a settlement (cash or physical): "paper"'],
      ['SPY240315C00500000,SPY,asian,100,cash', 'not a style (american or european): "asian"'],
    ] as const) {
      await expect(feedOf({ 'x_trades.csv': trades, 'contracts.csv': `${header}${row}\n` })).rejects.toThrow(
        `contracts.csv, line 2: ${reason}`,
      );
    }
  });

  test('a directory of directories is read as one', async () => {
    const path = await recording({ 'daily_bars.csv': `${DAILY}2024-03-04,X,1,1,1,1,7\n` });
    await mkdir(join(path, 'options'));
    await writeFile(
      join(path, 'options', 'X_trades.csv'),
      `${TRADES}2024-03-04T14:30:00Z,X240315C00001000,0.1,0.1,0.1,0.1,5\n`,
    );
    const archive = await ReplayArchive.open({ path, calendar });
    expect(archive.listing.instruments.map(({ symbol }) => symbol)).toEqual(['X', 'X240315C00001000']);
  });

  test('rows on closed days are left out', async () => {
    const feed = await feedOf({
      'daily_bars.csv': `${DAILY}2024-03-02,X,1,1,1,1,7\n2024-03-04,X,1,1,1,1,7\n`,
    });
    expect(await told(feed, utc('2024-03-01T00:00:00Z'), utc('2024-03-04T15:00:00Z'))).toHaveLength(1);
    await feed.close();
  });

  test('columns may have any order, lines may end in CR LF', async () => {
    const text = 'symbol,date,volume,low,high,close,open,extra\r\nX,2024-03-04,7,1,4,3,2,?\r\n';
    const feed = await feedOf({ 'daily_bars.csv': text });
    const events = await told(feed, utc('2024-03-04T00:00:00Z'), utc('2024-03-05T00:00:00Z'));
    expect(events.map(({ quotes }) => quotes[0]?.last)).toEqual(
      ['2', '1', '4', '3'].map((price) => Price.of(price)),
    );
    await feed.close();
  });
});

describe('A damaged recording', () => {
  const opening = async (files: Readonly<Record<string, string>>): Promise<unknown> =>
    ReplayArchive.open({ path: await recording(files), calendar }).then(
      () => 'opened',
      (error: unknown) => error,
    );

  test.each([
    [
      'a missing column',
      { 'daily_bars.csv': 'date,symbol,open,high,low,close\n' },
      /daily_bars.csv, line 1: .*"volume"/,
    ],
    ['an empty file', { 'daily_bars.csv': '' }, /daily_bars.csv, line 1: the file is empty/],
    [
      'a short row',
      { 'daily_bars.csv': `${DAILY}2024-03-04,X,1,1,1,1,7\n2024-03-05,X,1,1\n` },
      /line 3: 4 cells where the header has 7/,
    ],
    [
      'a date that does not exist',
      { 'daily_bars.csv': `${DAILY}2024-02-30,X,1,1,1,1,7\n` },
      /line 2: not a date/,
    ],
    [
      'an instant without Z',
      { 'x_trades.csv': `${TRADES}2024-03-04T14:30:00,X,1,1,1,1,7\n` },
      /x_trades.csv, line 2: not an instant/,
    ],
    [
      'rows out of order',
      { 'daily_bars.csv.gz': `${DAILY}2024-03-05,X,1,1,1,1,7\n2024-03-04,X,1,1,1,1,7\n` },
      /line 3: rows must be sorted/,
    ],
    ['a row without a symbol', { 'daily_bars.csv': `${DAILY}2024-03-05,,1,1,1,1,7\n` }, /line 2: no symbol/],
    [
      'a repeated minute',
      { 'x_trades.csv': `${TRADES}${'2024-03-04T14:30:00Z,X,1,1,1,1,7\n'.repeat(2)}` },
      /line 3: a second row of X/,
    ],
    ['nothing to replay', { 'notes.txt': 'hello' }, /no daily_bars.csv/],
    [
      'a packed and an unpacked file',
      { 'daily_bars.csv': DAILY, 'daily_bars.csv.gz': DAILY },
      /remove one of the two/,
    ],
    [
      'a bad split',
      {
        'daily_bars.csv': DAILY,
        'corporate_actions.csv':
          'ex_date,symbol,type,split_new_for_old,cash_per_share\n2024-03-04,X,split,7,\n',
      },
      /line 2: not a split ratio/,
    ],
    [
      'a bad dividend',
      {
        'daily_bars.csv': DAILY,
        'corporate_actions.csv':
          'ex_date,symbol,type,split_new_for_old,cash_per_share\n2024-03-04,X,cash_dividend,,x\n',
      },
      /line 2: not an amount/,
    ],
    ['one endless line', { 'daily_bars.csv': 'x'.repeat(400_000) }, /line 1: no end of line/],
  ])('with %s is refused when opened, with file and line', async (_, files, message) => {
    const error = await opening(files);
    expect(error).toBeInstanceOf(BadReplayFile);
    expect(String(error)).toMatch(message);
  });

  test('with a truncated or uncompressed .gz file is refused when opened', async () => {
    const path = await recording({});
    const whole = gzipSync(
      DAILY + Array.from({ length: 20_000 }, (_, i) => `2024-03-04,S${i},1,1,1,1,${i}`).join('\n'),
    );
    await writeFile(join(path, 'daily_bars.csv.gz'), whole.subarray(0, whole.length / 2));
    await expect(ReplayArchive.open({ path, calendar })).rejects.toThrow(
      /daily_bars.csv.gz, line \d+: cannot be read/,
    );
    await writeFile(join(path, 'daily_bars.csv.gz'), DAILY);
    await expect(ReplayArchive.open({ path, calendar })).rejects.toThrow(BadReplayFile);
  });

  test('in a missing directory is refused', async () => {
    await expect(ReplayArchive.open({ path: '/nowhere/at/all', calendar })).rejects.toThrow(
      /not a directory that can be read/,
    );
  });

  test.each([
    ['a price that is not a number', '2024-03-05,X,1,1,1,abc,7'],
    ['a price of zero', '2024-03-05,X,1,1,0,1,7'],
    ['high below low', '2024-03-05,X,2,1,3,2,7'],
    ['a negative volume', '2024-03-05,X,1,1,1,1,-7'],
    ['a symbol twice in a day', '2024-03-05,X,1,1,1,1,7\n2024-03-05,Y,1,1,1,1,7\n2024-03-05,X,1,1,1,1,7'],
  ])('with %s fails at each read that reaches it', async (_, damaged) => {
    // The opening scan reads the prices of the first days; these come later.
    const rows = Array.from(
      { length: 35 },
      (_row, i) => `${TradingDate.plusDays(TradingDate.of('2024-01-01'), i)},X,1,1,1,1,7`,
    );
    const good = '2024-03-04,X,1,1,1,1,7';
    const feed = await feedOf({ 'daily_bars.csv': `${DAILY}${rows.join('\n')}\n${good}\n${damaged}\n` });
    const span = [utc('2024-03-04T00:00:00Z'), utc('2024-03-06T00:00:00Z')] as const;
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(told(feed, ...span)).rejects.toThrow(/daily_bars.csv, line (38|40): /);
    }
    await feed.close();
  });

  test('with a damaged quote fails at a read that reaches it', async () => {
    const quotes = `${QUOTES}2024-03-04T14:30:00Z,X,1,1,1,1,-1,2,2,2,2,1,\n`;
    const feed = await feedOf({ 'x_quotes.csv': quotes });
    await expect(told(feed, utc('2024-03-04T00:00:00Z'), utc('2024-03-06T00:00:00Z'))).rejects.toThrow(
      /line 2: not a size/,
    );
  });
});

describe('Corporate actions of a recording', () => {
  const HEADER =
    'ex_date,symbol,type,split_new_for_old,cash_per_share,declared,new_symbol,basis_percent,pay_date\n';
  const of = { symbol: 'X', exDate: TradingDate.of('2024-03-04') };

  test('of all types are read as the recorder writes them', async () => {
    const actions: readonly CorporateAction[] = [
      { type: 'SPLIT', ...of, ratio: { new: 3, old: 2 } },
      { type: 'CASH_DIVIDEND', ...of, amountPerShare: Price.of('0.25') },
      {
        type: 'SPECIAL_DIVIDEND',
        ...of,
        amountPerShare: Price.of('15'),
        payDate: TradingDate.of('2024-03-12'),
      },
      { type: 'STOCK_DIVIDEND', ...of, rate: 0.1 },
      { type: 'SYMBOL_CHANGE', ...of, newSymbol: 'Y' },
      { type: 'SPIN_OFF', ...of, newSymbol: 'WBD', ratio: 0.241917, basisPercent: 23.48 },
      {
        type: 'MERGER',
        ...of,
        newSymbol: 'T',
        ratio: { new: 1437, old: 1000 },
        cashPerShare: Price.of('53.75'),
      },
      { type: 'MERGER', ...of, cashPerShare: Price.of('95') },
      { type: 'DELISTING', ...of, cashPerShare: Price.of('0') },
    ];
    for (const action of actions) {
      const feed = await feedOf({
        'daily_bars.csv': DAILY,
        'corporate_actions.csv': `${HEADER}${actionLine(action)}\n`,
      });
      const [read] = feed.corporateActions();
      expect(read !== undefined && hasSameTerms(read, action), JSON.stringify(read)).toBe(true);
    }
  });

  test('give ratios of shares as decimals or as new:old', async () => {
    const rows = '2024-03-04,X,spin_off,0.241917,,,WBD,23.48,\n2024-03-05,X,merger,1:3,,,T,,\n';
    const feed = await feedOf({ 'daily_bars.csv': DAILY, 'corporate_actions.csv': HEADER + rows });
    expect(feed.corporateActions()).toMatchObject([{ ratio: 0.241917 }, { ratio: { new: 1, old: 3 } }]);
  });

  test.each([
    ['X,spin_off,0,,,WBD,23.48,', /line 2: not a ratio of shares/],
    ['X,spin_off,0.2419171,,,WBD,23.48,', /line 2: not a split ratio/],
    ['X,spin_off,1:3,,,WBD,100,', /line 2: not a percentage of the cost/],
    ['X,spin_off,1:3,,,,10,', /line 2: not the symbol of new shares/],
    ['X,symbol_change,,,,X,,', /line 2: not the symbol of new shares/],
    ['X,merger,,,,,,', /line 2: not an amount above zero/],
    ['X,stock_dividend,1:2,,,,,', /line 2: not the ratio of a stock dividend/],
    ['X,delisting,,-1,,,,', /line 2: not an amount/],
    ['X,special_dividend,,1,,,,soon', /line 2: not a date/],
  ])('with %s are refused with file and line', async (row, message) => {
    const text = `${HEADER}2024-03-04,${row}\n`;
    await expect(feedOf({ 'daily_bars.csv': DAILY, 'corporate_actions.csv': text })).rejects.toThrow(message);
  });

  test('that cannot be on one day are refused with the line of the second; a repeated row counts once', async () => {
    const rows = ['X,merger,1:3,,,T,,', 'X,special_dividend,,1,,,,', 'X,merger,1:3,,,T,,'];
    const textOf = (lines: readonly string[]): string =>
      HEADER + lines.map((line) => `2024-03-04,${line}\n`).join('');
    const files = (lines: readonly string[]) => ({
      'daily_bars.csv': DAILY,
      'corporate_actions.csv': textOf(lines),
    });
    const feed = await feedOf(files(rows));
    expect(feed.corporateActions().map(({ type }) => type)).toEqual(['MERGER', 'SPECIAL_DIVIDEND']);
    await expect(feedOf(files([...rows, 'X,delisting,,0,,,,']))).rejects.toThrow(
      /line 5: X has a merger and a delisting on 2024-03-04; leave one out/,
    );
    await expect(feedOf(files([...rows, 'X,special_dividend,,2,,,,']))).rejects.toThrow(
      /line 5: X has two different actions of the type special_dividend on 2024-03-04; leave one out/,
    );
  });
});

describe('Symbols of a recording', () => {
  test('in mixed case are refused, because TpC and TPC are two (D254)', async () => {
    for (const [name, row] of [
      ['daily_bars.csv', `${DAILY}2024-03-04,TpC,1,1,1,1,1\n`],
      ['a_trades.csv', `${TRADES}2024-03-04T14:30:00Z,TpC,1,1,1,1,1\n`],
      ['a_open_interest.csv', 'ts,symbol,open_interest\n2024-03-04T14:30:00Z,TpC,1\n'],
      [
        'corporate_actions.csv',
        'ex_date,symbol,type,split_new_for_old,cash_per_share\n2024-03-04,TpC,cash_dividend,,1\n',
      ],
    ] as const)
      await expect(feedOf({ [name]: row })).rejects.toThrow(
        /line 2: "TpC" is in mixed case; write symbols in capitals/,
      );
    const feed = await feedOf({ 'daily_bars.csv': `${DAILY}2024-03-04,aapl,1,1,1,1,1\n` });
    expect(feed.listing().instruments.map(({ symbol }) => symbol)).toEqual(['AAPL']);
  });

  test('are those of an index by the column asset_class, the name of the file or the table of roots', async () => {
    const feed = await feedOf({
      'daily_bars.csv': `date,symbol,open,high,low,close,volume,asset_class\n2024-03-04,GSPC,1,1,1,1,0,INDEX\n2024-03-04,SPX,2,2,2,2,0,\n2024-03-04,X,3,3,3,3,0,\n`,
      'a_index.csv': 'ts,symbol,open,high,low,close\n2024-03-04T14:30:00Z,COMP100,4,4,4,4\n',
    });
    expect(feed.listing().instruments.map(({ symbol, assetClass }) => `${symbol} ${assetClass}`)).toEqual([
      'COMP100 INDEX',
      'GSPC INDEX',
      'SPX INDEX',
      'X EQUITY',
    ]);
    const [{ quotes: [first] } = { quotes: [] }] = await told(
      feed,
      at('2024-03-04', 9),
      at('2024-03-04', 10),
    );
    expect(first).toEqual({ symbol: 'GSPC', last: Price.of('1'), at: at('2024-03-04', 9, 30) });
    const wrong = `date,symbol,open,high,low,close,volume,asset_class\n2024-03-04,X,1,1,1,1,0,BOND\n`;
    await expect(feedOf({ 'daily_bars.csv': wrong })).rejects.toThrow(
      'not an asset class (INDEX or empty): "BOND"',
    );
  });

  test('files whose names begin with a dot are ignored', async () => {
    const path = await recording({
      'daily_bars.csv': `${DAILY}2024-03-04,X,1,1,1,1,1\n`,
      '._x_trades.csv': 'no',
    });
    await mkdir(join(path, '.import-1'));
    await writeFile(join(path, '.import-1', 'daily_bars.csv'), 'no');
    expect((await ReplayArchive.open({ path, calendar })).files).toHaveLength(1);
  });
});

describe('checkRecording', () => {
  test.each([
    ['daily_bars.csv', `${DAILY}2024-03-04,X,1,1,1,0,1\n`, 'line 2: not a price above zero: "0"'],
    ['x_trades.csv', `${TRADES}2024-03-04T14:30:00Z,X,2,1,1,1,1\n`, 'line 2: open and close do not lie'],
    ['x_quotes.csv', `${QUOTES}2024-03-04T14:30:00Z,X,1,1,1,1,-1,2,2,2,2,1,\n`, 'line 2: not a size: "-1"'],
    ['x_index.csv', 'ts,symbol,open,high,low,close\n2024-03-04T14:30:00Z,X,1,1,1,x\n', 'line 2: not a price'],
    [
      'corporate_actions.csv',
      'ex_date,symbol,type,split_new_for_old,cash_per_share\n2024-03-04,X,split,333333:1000000,\n',
      'line 2: not a split ratio',
    ],
    [
      'daily_bars.csv',
      `${DAILY}2024-03-05,X,1,1,1,1,1\n2024-03-04,X,1,1,1,1,1\n`,
      'line 3: rows must be sorted',
    ],
  ])('finds what a replay of %s would fail at', async (name, text, why) => {
    await expect(checkRecording(await recording({ [name]: text }))).rejects.toThrow(why);
  });

  test('accepts what is replayed', async () => {
    await checkRecording(await recording(minutes()));
    await checkRecording(SAMPLES);
  });
});

describe('A large recording', () => {
  /** About 6 MB: a file that is read in a hundred pieces. */
  const ROWS = 120_000;
  const start = utc('2023-01-02T00:00:00Z');
  const text = (): string => {
    const lines = Array.from({ length: ROWS }, (_, i) => {
      const ts = new Date(start + i * 60_000).toISOString().replace('.000', '');
      return `${ts},BIG,10,10,10,10,${i}`;
    });
    return `${TRADES}${lines.join('\n')}\n`;
  };

  test.each(['big_trades.csv', 'big_trades.csv.gz'])(
    'in %s is read in pieces, and no further than needed',
    async (name) => {
      const path = await recording({ [name]: text() });
      const archive = await ReplayArchive.open({ path, calendar });
      const [file] = archive.files;
      const { rowBatches } = await import('./recorded-file.js');
      let largest = 0;
      let rows = 0;
      for await (const batch of rowBatches(file!)) {
        largest = Math.max(largest, batch.rows.length);
        rows += batch.rows.length;
      }
      expect(rows).toBe(ROWS);
      expect(largest).toBeLessThan(3000);

      const feed = new ReplayFeed({ archive });
      const late = Instant.plusMs(start, 100_000 * 60_000);
      const events = await told(feed, late, Instant.plusMs(late, 5 * 60_000));
      expect(events.map(({ quotes }) => quotes[0]?.lastSize)).toEqual(
        [0, 1, 2, 3, 4].map((i) => Quantity.of(100_000 + i)),
      );
      // A plain file is entered near the place, a packed one has to be read from its beginning.
      const position = file!.positionFor(late);
      if (name.endsWith('.gz')) expect(position).toBeUndefined();
      else expect(position!.line).toBeGreaterThan(90_000);
      await feed.close();
    },
  );

  test('is shared by many simulations, each at its own position', async () => {
    const feeds = Array.from({ length: 40 }, () => new ReplayFeed({ archive: samples, symbols: ['IBM'] }));
    const [first, middle, last] = [at('2008-01-02', 0), at('2008-01-03', 12), at('2008-01-05', 0)];
    for (const [from, to, count] of [
      [first, middle, 6],
      [middle, last, 6],
    ] as const) {
      for (const feed of feeds) expect(await told(feed, from, to)).toHaveLength(count);
    }
    await Promise.all(feeds.map((feed) => feed.close()));
  });
});
