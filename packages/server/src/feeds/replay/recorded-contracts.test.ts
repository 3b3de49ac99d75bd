/** Options, futures and indices of a recording: their listing and their quotes. */
import { fileURLToPath } from 'node:url';
import { calendarById, Instant, isUsable, Price, type Quote } from '@sandpit/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { feedContract } from '../feed.contract.js';
import type { MarketEvent } from '../feed.js';
import { ReplayArchive } from './archive.js';
import { ReplayFeed } from './replay-feed.js';

const SAMPLES = fileURLToPath(new URL('../../../../../samples/options-and-futures', import.meta.url));
const calendar = calendarById('XNYS');
const utc = (text: string): Instant => Instant.ofMs(Date.parse(text));

let archive: ReplayArchive;
beforeAll(async () => {
  archive = await ReplayArchive.open({ path: SAMPLES, calendar });
});

feedContract({
  name: 'replay of contracts and an index',
  open: async () => new ReplayFeed({ archive: await ReplayArchive.open({ path: SAMPLES, calendar }) }),
  after: utc('2021-01-04T15:00:00Z'),
  until: utc('2021-01-04T15:20:00Z'),
  symbols: ['SPX'],
  bars: { size: '5Min', eventsLie: 'up to its end' },
});

async function told(after: string, until: string, symbols?: readonly string[]): Promise<MarketEvent[]> {
  const feed = new ReplayFeed({ archive, ...(symbols && { symbols }) });
  const events: MarketEvent[] = [];
  for await (const event of feed.events(utc(after), utc(until))) events.push(event);
  await feed.close();
  return events;
}

const of = (events: readonly MarketEvent[], symbol: string): Quote[] =>
  events.flatMap(({ quotes }) => quotes.filter((quote) => quote.symbol === symbol));

describe('A recording of contracts', () => {
  test('lists them by their symbols and by its file of contracts', () => {
    const listed = new Map(archive.listing.instruments.map((instrument) => [instrument.symbol, instrument]));
    expect(listed.get('GOOG151224C00750000')).toMatchObject({
      assetClass: 'OPTION',
      underlying: 'GOOG',
      style: 'AMERICAN',
      settlement: 'PHYSICAL',
      multiplier: 100,
    });
    const spxw = [...listed.values()].find(({ symbol }) => symbol.startsWith('SPXW'));
    expect(spxw).toMatchObject({
      underlying: 'SPX',
      style: 'EUROPEAN',
      settlement: 'CASH',
      settleSession: 'PM',
    });
    expect(listed.get('ESZ13')).toMatchObject({
      assetClass: 'FUTURE',
      multiplier: 50,
      lastTradeDate: '2013-12-20',
    });
    expect(listed.get('SPX')).toMatchObject({ assetClass: 'INDEX' });
    // Has no rows, but options on it do.
    expect(listed.get('GOOG')).toMatchObject({ assetClass: 'EQUITY' });
    expect(archive.listing.since?.SPXW210108P03700000).toBe('2021-01-04');
  });

  test("replays the options on a simulation's symbol, and the underlying of an option", () => {
    const symbolsOf = (symbols: readonly string[]): string[] =>
      new ReplayFeed({ archive, symbols }).listing().instruments.map(({ symbol }) => symbol);
    const goog = symbolsOf(['GOOG']);
    expect(goog).toHaveLength(53);
    expect(goog.every((symbol) => symbol.startsWith('GOOG'))).toBe(true);
    expect(symbolsOf(['AAPL140621C00645000'])).toEqual(['AAPL', 'AAPL140621C00645000']);
  });

  test('reports a chain by minute: all contracts of a minute in one event', async () => {
    const events = await told('2015-12-24T15:00:30Z', '2015-12-24T15:02:00Z');
    expect(events.map(({ at }) => at)).toEqual([utc('2015-12-24T15:01:00Z'), utc('2015-12-24T15:02:00Z')]);
    for (const { quotes } of events) {
      expect(quotes.length).toBeGreaterThan(20);
      expect(quotes.every(isUsable)).toBe(true);
    }
    const call = of(events, 'GOOG151224C00750000').at(-1)!;
    expect(call.ask! > call.bid!).toBe(true);
  });

  test('uses one-sided quotes and skips crossed ones', async () => {
    // A worthless call has no bid.
    const [call] = of(await told('2015-12-24T15:00:00Z', '2015-12-24T15:01:00Z'), 'GOOG151224C00760000');
    expect(call).toMatchObject({ ask: Price.of('0.1') });
    expect(call).not.toHaveProperty('bid');
    const events = await told('2021-01-08T15:10:30Z', '2021-01-08T15:20:30Z');
    expect(events.flatMap(({ quotes }) => quotes).every(isUsable)).toBe(true);
    // All six of its rows in these minutes are crossed: there are no events.
    expect(of(events, 'SPXW210108P03700000')).toEqual([]);
  });

  test('reports an hourly row only at the end of its hour', async () => {
    const events = await told('2014-06-09T13:00:00Z', '2014-06-09T15:00:00Z', ['AAPL']);
    expect(events.map(({ at }) => at)).toEqual([utc('2014-06-09T14:00:00Z'), utc('2014-06-09T15:00:00Z')]);
    expect(of(events, 'AAPL140621C00092140')[0]).toMatchObject({
      bid: Price.of('1.59'),
      ask: Price.of('1.64'),
      at: utc('2014-06-09T13:59:59.999Z'),
    });
    expect(events.every(({ passed }) => passed === undefined)).toBe(true);
  });

  test('has only last values for an index, and bars without volume', async () => {
    const quotes = of(await told('2021-01-04T15:00:00Z', '2021-01-04T15:03:00Z'), 'SPX');
    expect(quotes).toHaveLength(3);
    for (const quote of quotes) expect(Object.keys(quote).sort()).toEqual(['at', 'last', 'symbol']);
    const feed = new ReplayFeed({ archive });
    const bars = await feed.bars({
      symbol: 'SPX',
      size: '1Min',
      from: utc('2021-01-04T15:00:00Z'),
      until: utc('2021-01-04T15:03:00Z'),
      limit: 10,
    });
    expect(bars.map(({ close }) => close)).toEqual(quotes.map(({ last }) => last));
    expect(bars.every(({ volume }) => volume === 0)).toBe(true);
  });

  test('distinguishes futures by month', async () => {
    const events = await told('2013-12-20T14:20:00Z', '2013-12-20T14:41:00Z', ['ESZ13', 'ESH14']);
    const [front] = of(events, 'ESZ13');
    expect(front).toMatchObject({ at: utc('2013-12-20T14:20:59.999Z') });
    expect(front!.bid! % Price.of('0.25')).toBe(0);
    expect(of(events, 'ESH14').length).toBeGreaterThan(15);
  });

  test('reports the open interest of the previous evening, after its publication', () => {
    const feed = new ReplayFeed({ archive });
    const symbol = 'GOOG160115C00750000';
    const before = feed.openInterest(symbol, utc('2015-12-23T00:00:00Z'));
    const morning = feed.openInterest(symbol, utc('2015-12-24T15:00:00Z'));
    expect(before).toBeUndefined();
    expect(morning).toBeGreaterThan(0);
    expect(feed.openInterest('NOPE', utc('2015-12-24T15:00:00Z'))).toBeUndefined();
  });
});
