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
beforeEach(async () => {
  now = MONDAY_TEN;
  directory = await mkdtemp(join(tmpdir(), 'sandpit-connections-'));
});
afterEach(async () => {
  await feed?.close();
  await fake?.vendor.stop();
  await rm(directory, { recursive: true, force: true });
});

/** A feed that follows AAPL, on a clock that stands at `now`, and looks for life ten times as often as usual. */
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
  const known = liveSource(live);
  const opened = await LiveMarketFeed.open({
    source:
      isPolled(known.stocks) && everyMs !== undefined
        ? { ...known, stocks: { ...known.stocks, everyMs } }
        : known,
    calendar: calendarById('XNYS'),
    maxAgeMs: 60_000,
    assets: new AssetList(directory, vendor.name),
    note: () => undefined,
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

  it('that the source closes is reopened with increasing delays', async () => {
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
