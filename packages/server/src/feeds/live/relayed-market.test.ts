/** Two nodes of a cluster on one live source: one is connected, the other follows its quotes (D202). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calendarById, Instant, optionContract, parseOsi, plainEquity, TradingDate } from '@sandpit/core';
import type { Instrument } from '@sandpit/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { liveSource } from '../../compose.js';
import { MONDAY_TEN, testSettings } from '../../testing/simulations.js';
import type { InterestRank, LiveHost, LiveLead, RelayAnswers, RelayQuestion } from '../live-feed.js';
import { LiveFeedClosed, MarketDataLimit } from '../live-feed.js';
import { AssetList } from './asset-list.js';
import { LiveMarketFeed } from './live-market-feed.js';
import type { FakeAlpaca } from './testing/fake-alpaca.js';
import { WAIT } from './testing/live-day.js';
import { ALPACA } from './testing/vendors.js';

let directory: string;
let fake: FakeAlpaca;
let now: number;
const feeds: LiveMarketFeed[] = [];
beforeEach(async () => {
  now = MONDAY_TEN;
  directory = await mkdtemp(join(tmpdir(), 'sandpit-relay-'));
  fake = await ALPACA.start();
  fake.setSnapshot({ symbol: 'AAPL', atMs: now - 100, bid: 100, ask: 100.02 });
});
afterEach(async () => {
  for (const feed of feeds.splice(0)) await feed.close();
  await fake.stop();
  await rm(directory, { recursive: true, force: true });
});

async function openFeed(maxSymbols?: number): Promise<LiveMarketFeed> {
  const { live } = testSettings({
    MARKET_FEED: 'live',
    MARKET_CLOCK: 'wall',
    ...ALPACA.settings(fake),
    LIVE_OPTIONS: 'indicative',
    LIVE_OPTIONS_URL: fake.optionsUrl,
  });
  if (live === undefined) throw new Error('no live settings');
  const feed = await LiveMarketFeed.open({
    source: await liveSource(live),
    calendar: calendarById('XNYS'),
    maxAgeMs: 60_000,
    ...(maxSymbols !== undefined && { maxSymbols }),
    assets: new AssetList(directory, ALPACA.name),
    note: () => undefined,
    timings: { backoffMs: 20, longestBackoffMs: 200 },
  });
  feeds.push(feed);
  return feed;
}

/** The simulations of one node. Instruments that the source lists are known to all. */
const listed = new Map<string, Instrument>();
const hostOf = (interest: readonly (readonly [string, InterestRank])[]): LiveHost => ({
  now: () => Instant.ofMs(now),
  interest: () => interest,
  instrument: (symbol) =>
    symbol.length > 15 ? listed.get(symbol) : /\d$/.test(symbol) ? undefined : plainEquity(symbol),
  list: (instruments) => {
    for (const instrument of instruments) listed.set(instrument.symbol, instrument);
    return Promise.resolve();
  },
  announce: () => Promise.resolve(),
});

/** The way to the connected node, as JSON; it can be cut. */
class Way implements LiveLead {
  readonly lead: LiveMarketFeed;
  isCut = false;
  readonly asked: RelayQuestion[] = [];

  constructor(lead: LiveMarketFeed) {
    this.lead = lead;
  }

  async ask<Q extends RelayQuestion>(question: Q): Promise<RelayAnswers[Q['ask']]> {
    this.asked.push(question);
    const asked = JSON.parse(JSON.stringify(question)) as RelayQuestion;
    const answer = this.isCut ? undefined : await this.lead.answer(asked);
    if (answer !== undefined && !this.isCut)
      return JSON.parse(JSON.stringify(answer)) as RelayAnswers[Q['ask']];
    throw new Error('cut');
  }
}

const connectionsOfStocks = (): number =>
  [...fake.vendor.connections.values()].filter((path) => path.startsWith('/v2')).length;

const latest = (feed: LiveMarketFeed, symbol = 'AAPL') => {
  now += 1;
  return feed.quoteAt(symbol, Instant.ofMs(now));
};

it('a node that follows has the quotes, halts and state of the connected node, and the source has one connection', async () => {
  const lead = await openFeed();
  lead.start(hostOf([]));
  const follower = await openFeed();
  const way = new Way(lead);
  follower.follow(hostOf([['AAPL', 'ORDER']]), way);
  // The order of the other node subscribes its symbol.
  await vi.waitFor(() => expect([...fake.subscribed()]).toEqual(['AAPL']), WAIT);
  await vi.waitFor(() => expect(latest(follower)).toMatchObject({ bid: 100e8, ask: 100.02e8 }), WAIT);
  await vi.waitFor(() => expect(follower.status()).toMatchObject({ status: 'connected', symbols: 1 }), WAIT);
  fake.quote({ symbol: 'AAPL', atMs: now, bid: 101, ask: 101.02 });
  fake.tell({ T: 's', S: 'AAPL', sc: 'H', rc: 'T1', z: 'C', t: new Date(now).toISOString() });
  const since = Instant.ofMs(now);
  await vi.waitFor(() => expect(latest(follower)?.bid).toBe(101e8), WAIT);
  await vi.waitFor(() => {
    now += 1;
    const events = follower.take(since, Instant.ofMs(now), () => true);
    expect(events.flatMap(({ halts = [] }) => halts)).toMatchObject([{ symbol: 'AAPL' }]);
  }, WAIT);
  expect([latest(follower)?.at, latest(follower)?.bid]).toEqual([latest(lead)?.at, latest(lead)?.bid]);
  expect(connectionsOfStocks()).toBe(1);
});

it('a query of a node that follows subscribes the symbol at the connected node and waits for its quote; the limit of the plan holds for both', async () => {
  const lead = await openFeed(1);
  lead.start(hostOf([]));
  const follower = await openFeed(1);
  const way = new Way(lead);
  follower.follow(hostOf([]), way);
  await vi.waitFor(() => expect(lead.status().status).toBe('connected'), WAIT);
  await vi.waitFor(() => expect(follower.status().status).toBe('connected'), WAIT);
  await follower.want(['AAPL'], 'ORDER', true);
  expect(latest(follower)?.ask).toBe(100.02e8);
  const wants = (): number => way.asked.filter(({ ask }) => ask === 'want').length;
  const before = wants();
  await follower.want(['AAPL'], 'ORDER', true);
  expect(wants()).toBe(before);
  await expect(follower.want(['MSFT'], 'ORDER', true)).rejects.toThrow(MarketDataLimit);
});

it('a node that follows lists the contracts of a chain through the connected node, with open interest', async () => {
  const osi = 'AAPL260116C00100000';
  fake.optionSnapshots.set(osi, { symbol: osi, atMs: now - 50, bid: 5, ask: 5.1 });
  const lead = await openFeed();
  lead.start(hostOf([]));
  const follower = await openFeed();
  follower.follow(hostOf([]), new Way(lead));
  await vi.waitFor(() => expect(lead.status().status).toBe('connected'), WAIT);
  const expiration = TradingDate.parse('2026-01-16') as TradingDate;
  expect(await follower.wantChain('AAPL')).toEqual([expiration]);
  expect(await follower.wantChain('AAPL', expiration)).toEqual([expiration]);
  expect(listed.get(osi)).toEqual(optionContract(parseOsi(osi) as never, {}, () => undefined));
  expect(latest(follower, osi)).toMatchObject({ bid: 5e8 });
});

it('a chain of a source leaves adjusted contracts out and counts each once, except listed ones (D245)', async () => {
  const ordinary = 'AAPL260116C00110000';
  const [unknown, known] = ['AAPL1260116C00110000', 'AAPL2260116C00110000'];
  for (const symbol of [ordinary, unknown, known])
    fake.optionSnapshots.set(symbol, { symbol, atMs: now - 50, bid: 5, ask: 5.1 });
  listed.set(
    known,
    optionContract(parseOsi(known)!, { deliverable: 150 }, () => undefined)!,
  );
  const lead = await openFeed();
  lead.start(hostOf([]));
  await vi.waitFor(() => expect(lead.status().status).toBe('connected'), WAIT);
  const expiration = TradingDate.of('2026-01-16');
  await lead.wantChain('AAPL', expiration);
  await lead.wantChain('AAPL', expiration);
  expect(lead.status().counts.adjusted).toBe(1);
  expect([...listed.keys()]).toEqual(expect.arrayContaining([ordinary, known]));
  expect(listed.has(unknown)).toBe(false);
  await lead.want([unknown], 'QUESTION', false);
  expect(listed.has(unknown)).toBe(false);
  expect(latest(lead, unknown)).toBeUndefined();
  expect(latest(lead, known)).toMatchObject({ bid: 5e8 });
});

it('while the connected node does not answer, quotes are no longer fresh; afterwards they are, and a lost message costs no later one', async () => {
  const lead = await openFeed();
  lead.start(hostOf([]));
  const follower = await openFeed();
  const way = new Way(lead);
  follower.follow(hostOf([['AAPL', 'POSITION']]), way);
  await vi.waitFor(() => expect(latest(follower)?.freshUntil).toBeGreaterThan(now), WAIT);
  way.isCut = true;
  await vi.waitFor(() => expect(latest(follower)?.freshUntil).toBeLessThanOrEqual(now), WAIT);
  expect(follower.status()).toMatchObject({
    status: 'reconnecting',
    reason: expect.stringMatching(/node of the market/),
  });
  fake.quote({ symbol: 'AAPL', atMs: now, bid: 102, ask: 102.02 });
  await vi.waitFor(() => expect(latest(lead)?.bid).toBe(102e8), WAIT);
  expect(latest(follower)?.bid).toBe(100e8);
  way.isCut = false;
  await vi.waitFor(() => expect(latest(follower)).toMatchObject({ bid: 102e8 }), WAIT);
  await vi.waitFor(() => expect(latest(follower)?.freshUntil).toBeGreaterThan(now), WAIT);
});

it('a node that takes the market connects, and goes on after the quotes that it has followed; a third node follows it then', async () => {
  const old = await openFeed();
  old.start(hostOf([]));
  const next = await openFeed();
  next.follow(hostOf([['AAPL', 'ORDER']]), new Way(old));
  const third = await openFeed();
  const ways = { lead: old };
  third.follow(hostOf([['MSFT', 'ORDER']]), {
    ask: (question) => new Way(ways.lead).ask(question),
  });
  await vi.waitFor(() => expect(latest(next)?.freshUntil).toBeGreaterThan(now), WAIT);
  await old.close();
  next.start(hostOf([['AAPL', 'ORDER']]));
  ways.lead = next;
  expect(latest(next)?.bid).toBe(100e8);
  // The symbols of both nodes, without a request.
  await vi.waitFor(() => expect([...fake.subscribed()].sort()).toEqual(['AAPL', 'MSFT']), WAIT);
  expect(connectionsOfStocks()).toBe(1);
  fake.quote({ symbol: 'AAPL', atMs: now, bid: 103, ask: 103.02 });
  await vi.waitFor(() => expect(latest(next)?.bid).toBe(103e8), WAIT);
  await vi.waitFor(() => expect(latest(third)?.bid).toBe(103e8), WAIT);
  expect(latest(next)?.bid).toBe(103e8);
});

it('a node that follows a closed feed asks again after a pause: the closed one answers nothing', async () => {
  const lead = await openFeed();
  lead.start(hostOf([]));
  const follower = await openFeed();
  let asked = 0;
  const way = new Way(lead);
  follower.follow(hostOf([['AAPL', 'ORDER']]), {
    ask: (question) => {
      asked += 1;
      // Without the pause, requests would follow one another without a turn of the event loop between them, forever.
      if (asked > 1_000) throw new Error('asked without a pause');
      return way.ask(question);
    },
  });
  await vi.waitFor(() => expect(latest(follower)?.freshUntil).toBeGreaterThan(now), WAIT);
  await lead.close();
  await expect(lead.answer({ ask: 'ticks' })).rejects.toThrow(LiveFeedClosed);
  await vi.waitFor(() => expect(follower.status().status).toBe('reconnecting'), WAIT);
  expect(asked).toBeLessThan(100);
});
