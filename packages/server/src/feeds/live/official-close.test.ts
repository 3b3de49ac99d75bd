import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Money } from '@sandpit/core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acceptancesOf, executionsOf, LiveDay, replayed } from './testing/live-day.js';
import { ALPACA, MASSIVE } from './testing/vendors.js';

let recording: string;
beforeEach(async () => {
  recording = await mkdtemp(join(tmpdir(), 'sandpit-close-'));
});
afterEach(() => rm(recording, { recursive: true, force: true }));

const QUARTER_TO_FOUR = Date.parse('2026-01-05T15:45:00-05:00');
const ON_CLOSE = {
  symbol: 'AAPL',
  orderType: 'MARKET',
  limitPrice: undefined,
  timeInForce: 'CLS',
  quantity: 7,
};
const NEXT_DAY = { symbol: 'AAPL', orderType: 'LIMIT', limitPrice: 25.5, quantity: 4 };

it('a live day with an official close and a split overnight is recorded, and its replay gives the same executions', async () => {
  const day = await LiveDay.open(ALPACA, {
    at: QUARTER_TO_FOUR,
    settings: { LIVE_PLAN: 'sip', RECORD_DIR: recording },
  });
  day.fake.actions = {
    forward_splits: [{ symbol: 'AAPL', new_rate: 4, old_rate: 1, ex_date: '2026-01-06' }],
  };
  await day.status('connected');
  const portfolioId = await day.portfolio();
  const orderId = await day.place(portfolioId, ON_CLOSE);
  await day.subscribed('AAPL');
  await day.advanceTo('2026-01-05T15:59:59-05:00');
  await day.quote({ symbol: 'AAPL', bid: 100.1, ask: 100.12 });
  await day.advanceTo('2026-01-05T16:00:00-05:00');
  expect(await day.order(orderId)).toMatchObject({ status: 'ACTIVE' });
  await day.quote({ symbol: 'AAPL', bid: 99, ask: 99.02 });
  await day.advanceTo('2026-01-05T16:00:05-05:00');
  const close = { T: 't', S: 'AAPL', i: 9, x: 'Q', p: 100.5, s: 90_000, z: 'C' };
  // A close of another exchange, then one of the listing exchange.
  await day.heard(() => day.fake.tell({ ...close, i: 8, x: 'V', p: 100.4, c: ['@', '6'], t: iso(day.now) }));
  expect(await day.order(orderId)).toMatchObject({ status: 'ACTIVE' });
  await day.heard(() => day.fake.tell({ ...close, c: ['@', '6', 'X'], t: iso(day.now) }));
  expect(await day.order(orderId)).toMatchObject({ status: 'FILLED', averagePrice: 100.5 });
  await day.advanceTo('2026-01-05T16:02:00-05:00');
  const { previousClose } = day.app.main.brokerage.state.portfolios.get(portfolioId)!;
  // Marked at the official close: 7 shares bought at it are worth their cost.
  expect(previousClose).toMatchObject({ date: '2026-01-05', totalEquity: Money.ofDollars(100_000) });
  await day.advanceTo('2026-01-06T10:00:00-05:00');
  await day.place(portfolioId, NEXT_DAY);
  await day.quote({ symbol: 'AAPL', bid: 25.3, ask: 25.4 });
  const { body, text } = await day.client.get(`/v1/accounts/portfolios/${portfolioId}/equities`);
  expect(body, text).toMatchObject([{ symbol: 'AAPL', settledQuantity: 28, pendingQuantity: 4 }]);
  expect((await day.verify()).problems).toEqual([]);
  const [expected, acceptedAt, end] = [await executionsOf(day.app), await acceptancesOf(day.app), day.now];
  await day.close();
  expect(await readFile(join(recording, 'corporate_actions.csv'), 'utf8')).toBe(
    'ex_date,symbol,type,split_new_for_old,cash_per_share,declared,new_symbol,basis_percent,pay_date\n2026-01-06,AAPL,split,4:1,,,,,\n',
  );
  const replay = await replayed(recording, [ON_CLOSE, NEXT_DAY], acceptedAt, end, QUARTER_TO_FOUR);
  expect(await executionsOf(replay)).toEqual(expected);
  expect(expected).toHaveLength(2);
  await replay.close();
});

it('a live source without an official close: closing auctions use the last quote at the bell, a minute later', async () => {
  const day = await LiveDay.open(MASSIVE, { at: QUARTER_TO_FOUR });
  await day.status('connected');
  const orderId = await day.place(await day.portfolio(), ON_CLOSE);
  await day.subscribed('AAPL');
  await day.advanceTo('2026-01-05T15:59:59-05:00');
  await day.quote({ symbol: 'AAPL', bid: 100.1, ask: 100.12 });
  await day.advanceTo('2026-01-05T16:00:01-05:00');
  await day.quote({ symbol: 'AAPL', bid: 90, ask: 90.02 });
  await day.advanceTo('2026-01-05T16:00:59-05:00');
  expect(await day.order(orderId)).toMatchObject({ status: 'ACTIVE' });
  await day.advanceTo('2026-01-05T16:01:01-05:00');
  await day.heardClose('AAPL');
  expect(await day.order(orderId)).toMatchObject({ status: 'FILLED', averagePrice: 100.11 });
  await day.close();
});

const iso = (ms: number): string => new Date(ms).toISOString();
