import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calendarById, Instant, plainEquity } from '@sandpit/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { liveSource } from '../../compose.js';
import { MONDAY_TEN, testSettings } from '../../testing/simulations.js';
import { AssetList } from './asset-list.js';
import { LiveMarketFeed } from './live-market-feed.js';
import type { StreamTimings } from './socket-stream.js';
import { isPolled } from './source.js';
import type { FakeSource } from './testing/fake-vendor.js';
import { WAIT } from './testing/live-day.js';
import { ALPACA, MASSIVE, TRADIER, type Vendor } from './testing/vendors.js';

let directory: string;
let feed: LiveMarketFeed | undefined;
let fake: FakeSource | undefined;
let now: number;
let notes: string[];
beforeEach(async () => {
  now = MONDAY_TEN;
  notes = [];
  directory = await mkdtemp(join(tmpdir(), 'sandpit-connections-'));
});
afterEach(async () => {
  await feed?.close();
  await fake?.vendor.stop();
  await rm(directory, { recursive: true, force: true });
});

/** A feed that follows AAPL, with the clock at `now`, and looks for life ten times as often as usual. */
async function follow(
  vendor: Vendor,
  { timings, plan, everyMs }: { timings?: Partial<StreamTimings>; plan?: string; everyMs?: number } = {},
): Promise<{ readonly feed: LiveMarketFeed; readonly fake: FakeSource }> {
  const source = await vendor.start();
  source.setSnapshot({ symbol: 'AAPL', atMs: now - 100, bid: 100, ask: 100.02 });
  const { live } = testSettings({
    MARKET_FEED: 'live',
    MARKET_CLOCK: 'wall',
    ...vendor.settings(source),
    ...(plan !== undefined && { LIVE_PLAN: plan }),
  });
  if (live === undefined) throw new Error('no live settings');
  const known = await liveSource(live);
  const opened = await LiveMarketFeed.open({
    source:
      isPolled(known.stocks) && everyMs !== undefined
        ? { ...known, stocks: { ...known.stocks, everyMs } }
        : known,
    calendar: calendarById('XNYS'),
    maxAgeMs: 60_000,
    assets: new AssetList(directory, vendor.name),
    note: (text) => void notes.push(text),
    timings: { pingMs: 20, silentMs: 120, backoffMs: 20, longestBackoffMs: 200, ...timings },
  });
  [feed, fake] = [opened, source];
  opened.start({
    now: () => Instant.ofMs(now),
    interest: () => [['AAPL', 'ORDER']],
    instrument: plainEquity,
    list: () => Promise.resolve(),
    announce: () => Promise.resolve(),
  });
  return { feed: opened, fake: source };
}

const latest = (of: LiveMarketFeed) => {
  now += 1;
  return of.quoteAt('AAPL', Instant.ofMs(now));
};

describe.each<Vendor>([ALPACA, MASSIVE, TRADIER])('$name: a connection', (vendor) => {
  it('without answers to pings is closed, its quotes become stale, and it is opened again', async () => {
    const { feed, fake } = await follow(vendor);
    await vi.waitFor(() => expect(latest(feed)?.freshUntil).toBeGreaterThan(now), WAIT);
    fake.vendor.answersPings = false;
    await vi.waitFor(() => expect(feed.status().reason).toMatch(/does not answer pings/), WAIT);
    await vi.waitFor(() => expect(latest(feed)?.freshUntil).toBeLessThanOrEqual(now), WAIT);
    fake.vendor.answersPings = true;
    await vi.waitFor(() => expect(feed.status()).toMatchObject({ status: 'connected', symbols: 1 }), WAIT);
    await vi.waitFor(() => expect(latest(feed)?.freshUntil).toBeGreaterThan(now), WAIT);
  });

  it('a connection that the source closes is reopened with increasing delays', async () => {
    const { feed, fake } = await follow(vendor);
    await vi.waitFor(() => expect(feed.status().status).toBe('connected'), WAIT);
    const { connections } = fake.vendor;
    let made = 0;
    const add = connections.set.bind(connections);
    connections.set = (...of) => {
      made += 1;
      return add(...of);
    };
    fake.vendor.hangsUp = true;
    fake.vendor.cut();
    const begunAt = performance.now();
    await vi.waitFor(() => expect(made).toBeGreaterThan(4), WAIT);
    await vi.waitFor(() => expect(performance.now() - begunAt).toBeGreaterThan(700), WAIT);
    // 20, 40, 80, 160, 200, 200 ms, each ±50 %; without the doubling there would be thirty.
    expect(made).toBeLessThan(14);
    fake.vendor.hangsUp = false;
    await vi.waitFor(() => expect(feed.status().status).toBe('connected'), WAIT);
  });
});

it('Tradier, sandbox: is polled, is reconnecting while it does not answer, and is refused after a rejected key', async () => {
  const { feed, fake } = await follow(TRADIER, { plan: 'sandbox', everyMs: 20 });
  await vi.waitFor(
    () => expect(latest(feed)).toMatchObject({ delayed: true, freshUntil: expect.any(Number) }),
    WAIT,
  );
  expect(feed.status()).toMatchObject({ status: 'connected', delayedBy: 900, symbols: 1 });
  const bid = () => latest(feed)?.bid;
  fake.setSnapshot({ symbol: 'AAPL', atMs: now, bid: 101, ask: 101.02 });
  await vi.waitFor(() => expect(bid()).toBe(101e8), WAIT);
  fake.vendor.isDown = true;
  await vi.waitFor(() => expect(feed.status().status).toBe('reconnecting'), WAIT);
  expect(feed.status().reason).toMatch(/Tradier/);
  fake.vendor.isDown = false;
  fake.setSnapshot({ symbol: 'AAPL', atMs: now, bid: 102, ask: 102.02 });
  await vi.waitFor(() => expect(bid()).toBe(102e8), WAIT);
  expect(feed.status().status).toBe('connected');
  fake.vendor.isExpired = true;
  await vi.waitFor(() => expect(feed.status()).toMatchObject({ status: 'refused' }), WAIT);
  expect(feed.status().reason).toMatch(TRADIER.refusal);
  const asked = fake.vendor.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(fake.vendor.requests.length - asked).toBeLessThanOrEqual(1);
});

type Reaction = 'reconnects' | 'is refused' | 'continues';

/** Failures that the vendors' reference pages document: the message of the stream, and the operator's line. */
const ALPACA_FAILURES: readonly (readonly [code: number, msg: string, Reaction, line: string])[] = [
  [400, 'invalid syntax', 'continues', 'alpaca iex: Alpaca did not understand a request'],
  [
    401,
    'not authenticated',
    'reconnects',
    'alpaca iex: Alpaca reports that the connection is not authenticated; reconnecting',
  ],
  [
    402,
    'auth failed',
    'is refused',
    'The market data source refuses: Alpaca refuses APCA_API_KEY_ID and APCA_API_SECRET_KEY; check both',
  ],
  [
    403,
    'already authenticated',
    'continues',
    'alpaca iex: Alpaca reports that the connection was authenticated already',
  ],
  [
    404,
    'auth timeout',
    'reconnects',
    'alpaca iex: the authentication took too long for Alpaca; reconnecting',
  ],
  [
    405,
    'symbol limit exceeded',
    'continues',
    'alpaca iex: the plan allows no more symbols; at most 1 from here on',
  ],
  [
    406,
    'connection limit exceeded',
    'reconnects',
    'alpaca iex: another connection with this key is open; the plan allows one; reconnecting',
  ],
  [407, 'slow client', 'reconnects', 'alpaca iex: this server reads too slowly for Alpaca; reconnecting'],
  [
    408,
    'v2 not enabled',
    'is refused',
    'The market data source refuses: this Alpaca account has no market data v2',
  ],
  [
    409,
    'insufficient subscription',
    'is refused',
    'The market data source refuses: the Alpaca plan of this key does not include iex; choose another LIVE_PLAN or LIVE_OPTIONS',
  ],
  [
    410,
    'invalid subscribe action for this feed',
    'continues',
    'alpaca iex: this feed of Alpaca does not allow one of the subscriptions',
  ],
  [500, 'internal error', 'reconnects', 'alpaca iex: Alpaca reports an internal error; reconnecting'],
  [499, 'new', 'reconnects', 'alpaca iex: Alpaca reports error 499; reconnecting'],
];

const MASSIVE_FAILURES: readonly (readonly [status: string, message: string, Reaction, line: string])[] = [
  [
    'auth_failed',
    'Your plan has no websocket access',
    'is refused',
    'The market data source refuses: Massive refuses MASSIVE_API_KEY, or its plan has no streams; check both',
  ],
  [
    'auth_timeout',
    'No auth received',
    'reconnects',
    'massive realtime: the authentication took too long for Massive; reconnecting',
  ],
  [
    'max_connections',
    'Maximum number of connections exceeded',
    'reconnects',
    'massive realtime: another connection with this key is open; the plan allows one; reconnecting',
  ],
  [
    'error',
    'not authorized: LULD.AAPL',
    'continues',
    'massive realtime: the plan has no trades or no halts in its stream',
  ],
  ['error', 'invalid action', 'continues', 'massive realtime: Massive did not understand a request'],
];

const FAILURES: readonly (readonly [Vendor, message: object, Reaction, line: string])[] = [
  ...ALPACA_FAILURES.map(
    ([code, msg, then, line]) => [ALPACA, [{ T: 'error', code, msg }], then, line] as const,
  ),
  ...MASSIVE_FAILURES.map(
    ([status, message, then, line]) => [MASSIVE, [{ ev: 'status', status, message }], then, line] as const,
  ),
  [
    TRADIER,
    { error: '1234 is not a valid symbol' },
    'continues',
    'tradier: a symbol is not known to Tradier',
  ],
  [
    TRADIER,
    { error: 'Session not found' },
    'reconnects',
    'tradier: the session is over or taken by another connection; reconnecting',
  ],
];

it.each(FAILURES)(
  '$0.name: after $1 the feed $2, and the operator reads one line',
  async (vendor, message, then, line) => {
    const { feed, fake } = await follow(vendor, {
      // A busy machine answers pings late.
      timings: { connectionLimitMs: 20, silentMs: 20_000 },
    });
    await vi.waitFor(() => expect(feed.status()).toMatchObject({ status: 'connected', symbols: 1 }), WAIT);
    const before = notes.length;
    for (const connection of fake.vendor.connections.keys()) connection.send(JSON.stringify(message));
    await vi.waitFor(() => expect(notes.slice(before)).toContain(line), WAIT);
    const expected =
      then === 'is refused'
        ? { status: 'refused' }
        : { status: 'connected', symbols: 1, counts: { reconnections: then === 'reconnects' ? 1 : 0 } };
    await vi.waitFor(() => expect(feed.status()).toMatchObject(expected), WAIT);
    expect(notes.slice(before).filter((note) => !note.endsWith(': connected'))).toEqual([line]);
  },
);
