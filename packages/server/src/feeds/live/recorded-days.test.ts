/** Days that are hard to record: each is replayed to the same executions and verified against its recording. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calendarById } from '@sandpit/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { compareQuotes } from '../../engine/records/recorded-quotes.js';
import { ReplayArchive } from '../replay/archive.js';
import { ReplayFeed } from '../replay/replay-feed.js';
import type { FakeAlpaca } from './testing/fake-alpaca.js';
import { acceptancesOf, executionsOf, LiveDay, replayed, WAIT } from './testing/live-day.js';
import { ALPACA } from './testing/vendors.js';

let recording: string;
beforeEach(async () => {
  recording = await mkdtemp(join(tmpdir(), 'sandpit-recorded-days-'));
});
afterEach(() => rm(recording, { recursive: true, force: true }));

const LIMIT = { symbol: 'AAPL', orderType: 'LIMIT', quantity: 6 } as const;

/** Closes a day, and expects its recording to have what its decisions read and to replay to the same executions. */
async function expectReplay(
  day: LiveDay<FakeAlpaca>,
  orders: readonly object[],
  start: number,
): Promise<void> {
  expect((await day.verify()).problems).toEqual([]);
  const [expected, acceptedAt, end] = [await executionsOf(day.app), await acceptancesOf(day.app), day.now];
  day.feed.saveRecording();
  const archive = await ReplayArchive.open({ path: recording, calendar: calendarById('XNYS') });
  const journal = day.app.store.journal.read(day.app.main.id, 0);
  const found = await compareQuotes(journal, new ReplayFeed({ archive }));
  expect(found).toMatchObject({ differences: [] });
  expect(found.matching).toBeGreaterThan(0);
  await day.close();
  const replay = await replayed(recording, orders, acceptedAt, end, start);
  expect(await executionsOf(replay)).toEqual(expected);
  expect(expected).toHaveLength(orders.length);
  await replay.close();
}

it('a connection lost over the change of the hour: quotes age in both files, and the replay gives the same executions', async () => {
  const start = Date.parse('2026-01-05T10:59:30-05:00');
  const day = await LiveDay.open(ALPACA, { at: start, settings: { RECORD_DIR: recording } });
  await day.status('connected');
  const orders = [
    { ...LIMIT, limitPrice: 99 },
    { ...LIMIT, orderType: 'MARKET', limitPrice: undefined },
    { ...LIMIT, limitPrice: 97 },
  ];
  const portfolioId = await day.portfolio();
  const before = await day.place(portfolioId, orders[0]);
  await day.subscribed('AAPL');
  await day.quote({ symbol: 'AAPL', bid: 98.9, ask: 98.95 });
  expect(await day.order(before)).toMatchObject({ status: 'FILLED' });
  day.fake.isDown = true;
  day.fake.cut();
  await day.status('reconnecting');
  await day.advanceTo('2026-01-05T11:00:40-05:00');
  // The last quote is older than a minute: a market order waits for the source.
  const waiting = await day.place(portfolioId, orders[1]);
  expect(await day.order(waiting)).toMatchObject({ status: 'ACTIVE' });
  const after = await day.place(portfolioId, orders[2]);
  day.fake.setSnapshot({ symbol: 'AAPL', atMs: day.now - 100, bid: 98, ask: 98.02 });
  day.fake.isDown = false;
  await vi.waitFor(async () => {
    await day.advance();
    expect(await day.order(waiting)).toMatchObject({ status: 'FILLED', averagePrice: 98.02 });
  }, WAIT);
  await day.subscribed('AAPL');
  await day.quote({ symbol: 'AAPL', bid: 96.9, ask: 96.95 });
  expect(await day.order(after)).toMatchObject({ status: 'FILLED', averagePrice: 97 });
  await vi.waitFor(() => expect(existsSync(join(recording, 'ticks_2026-01-05_10.csv.gz'))).toBe(true), WAIT);
  await expectReplay(day, orders, start);
});

it('a symbol halted over a split: recorded, forked before it and replayed, the executions are the same', async () => {
  const start = Date.parse('2026-01-05T15:58:00-05:00');
  const day = await LiveDay.open(ALPACA, { at: start, settings: { RECORD_DIR: recording } });
  day.fake.actions = {
    forward_splits: [{ symbol: 'AAPL', new_rate: 4, old_rate: 1, ex_date: '2026-01-06' }],
  };
  await day.status('connected');
  const orders = [
    { ...LIMIT, limitPrice: 101 },
    { ...LIMIT, limitPrice: 96, timeInForce: 'GTC' },
  ];
  const portfolioId = await day.portfolio();
  const bought = await day.place(portfolioId, orders[0]);
  await day.subscribed('AAPL');
  await day.quote({ symbol: 'AAPL', bid: 100, ask: 100.02 });
  const resting = await day.place(portfolioId, orders[1]);
  expect(await day.order(bought)).toMatchObject({ status: 'FILLED' });
  const { body: fork } = await day.client.post('/v1/simulations/main/forks', {});
  const halts = async (count: number): Promise<void> =>
    vi.waitFor(async () => {
      await day.advance();
      expect((await day.client.get('/v1/simulation/halts')).body.data).toHaveLength(count);
    }, WAIT);
  day.fake.tell({ T: 's', S: 'AAPL', sc: 'H', rc: 'T1', z: 'C' });
  await halts(1);
  await day.advanceTo('2026-01-06T09:45:00-05:00');
  // Four times the shares at a quarter of the price, still halted.
  expect(await day.order(resting)).toMatchObject({ quantity: 24, limitPrice: 24, status: 'ACTIVE' });
  await day.quote({ symbol: 'AAPL', bid: 23.8, ask: 23.85 });
  expect(await day.order(resting)).toMatchObject({ status: 'ACTIVE' });
  day.fake.tell({ T: 's', S: 'AAPL', sc: 'T', rc: 'R4', z: 'C' });
  await halts(0);
  await day.quote({ symbol: 'AAPL', bid: 23.9, ask: 23.95 });
  expect(await day.order(resting)).toMatchObject({
    status: 'FILLED',
    filledQuantity: 24,
    averagePrice: 23.95,
  });

  const forked = day.app.withToken(fork.token as string);
  const { status, text } = await forked.post('/v1/simulation/clock/advance', {
    to: new Date(day.now).toISOString(),
  });
  expect(status, text).toBe(200);
  for (const id of [bought, resting]) {
    const path = `/v1/orders/${id}/executions`;
    expect((await forked.get(path)).body).toEqual((await day.client.get(path)).body);
  }
  await expectReplay(day, orders, start);
});
