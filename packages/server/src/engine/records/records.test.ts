import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '@sandpit/core';
import { Quantity, stateHash } from '@sandpit/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answerOf, START } from '../../store/fixtures.contract.js';
import { StoreUnavailable } from '../../store/journal.js';
import { openPostgresStore } from '../../store/postgres/postgres-store.js';
import type { Store } from '../../store/store.js';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.js';
import {
  BY,
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
  TENANT,
} from '../../testing/simulations.js';
import { newDatabase } from '../../testing/test-database.js';
import { verifyJournal } from '../recovery/verify.js';

/** For as many orders as a test likes. */
const RICH = { cash: 10_000_000 };

const orderIn = (portfolioId: string): Extract<Command, { type: 'SubmitOrder' }> => ({
  type: 'SubmitOrder',
  by: BY,
  order: {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity: Quantity.of(1),
    timeInForce: 'DAY',
  },
});

const batchIn = (portfolioId: string, orders = 400) =>
  Array.from({ length: orders }, () => orderIn(portfolioId));

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

describe('A read', () => {
  it('of the market alone waits for no records of portfolios', async () => {
    const { main } = await startSimulations();
    const portfolio = await openTestPortfolio(main, RICH);
    await pushTestQuote(main, 'AAPL', '187.40', '187.50');
    let isPlaced = false;
    const placed = placeTestOrder(main, portfolio).then(() => (isPlaced = true));
    await main.read([], () => undefined);
    expect(isPlaced).toBe(false);
    await main.read([BY], () => undefined);
    await placed;
    expect(isPlaced).toBe(true);
  });

  it('waits for records of the market', async () => {
    const { main } = await startSimulations();
    let isPushed = false;
    const pushed = pushTestQuote(main, 'AAPL', '187.40', '187.50').then(() => (isPushed = true));
    const mark = await main.read([], (brokerage) => brokerage.mark('AAPL'));
    expect(mark).toBeDefined();
    expect(main.market.published).toBe(1);
    await pushed;
    expect(isPushed).toBe(true);
  });
});

/** A store of a node of a cluster, which owns `TENANT`. */
async function openNode(): Promise<Store> {
  const store = await openPostgresStore({
    url: await newDatabase(),
    cluster: { url: 'http://a', version: '1', facts: {} },
  });
  await store.ownership?.acquire([TENANT]);
  return store;
}

describe('The wall clock of a simulation in a cluster', () => {
  it("is the database's, so that a tenant can move from a machine with a wrong clock", async () => {
    const store = await openNode();
    const right = Date.now();
    const machine = Date.now;
    const wrong = vi.spyOn(Date, 'now').mockImplementation(() => machine() + 22 * 60_000);
    try {
      // The first renewal with the wrong clock renews the lease.
      await expect.poll(() => store.health().status, { timeout: 5_000 }).toBe('ok');
      const { main } = await startSimulations(
        { clock: 'wall', calendar: 'always-open', start: right },
        store,
      );
      expect(Math.abs(main.now() - right)).toBeLessThan(60_000);
      await openTestPortfolio(main, RICH);
      expect(main.now() - right).toBeLessThan(60_000);
    } finally {
      wrong.mockRestore();
      await store.close();
    }
  });
});

describe('A record that the store has refused', () => {
  it('is not published when the store commits again', async () => {
    const store = await openNode();
    try {
      const { main } = await startSimulations({}, store);
      const portfolio = await openTestPortfolio(main, RICH);
      await pushTestQuote(main, 'AAPL', '187.40', '187.50');
      const before = main.published;
      const shown: number[] = [];
      main.subscribe(({ seq }) => shown.push(seq));
      await store.ownership?.release([TENANT], undefined);
      await expect(placeTestOrder(main, portfolio)).rejects.toThrow(StoreUnavailable);
      await store.probe();
      await expect(main.durable()).rejects.toThrow(StoreUnavailable);
      expect(shown).toEqual([]);
      expect(main.published).toBe(before);
    } finally {
      await store.close();
    }
  });
});

describe('A batch', () => {
  it('becomes durable as a whole, and allows reads during its execution', async () => {
    const { main, store } = await startSimulations();
    const portfolio = await openTestPortfolio(main, RICH);
    await pushTestQuote(main, 'AAPL', '187.40', '187.50');
    const before = store.journal.lastSeq(main.id);
    const seen = new Set<number>();
    let looks = 0;
    const state = { isOver: false };
    const batch = main.submitAll(batchIn(portfolio)).finally(() => (state.isOver = true));
    while (!state.isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      await main.read([], () => undefined);
      looks += 1;
      seen.add(store.journal.lastSeq(main.id));
    }
    expect((await batch).filter(({ result }) => 'code' in result)).toEqual([]);
    // In slices of some milliseconds.
    expect(looks).toBeGreaterThan(1);
    expect([...seen].sort((a, b) => a - b)).toEqual([before, before + 400].slice(seen.has(before) ? 0 : 1));
  });

  it('leaves a journal that verifies when another client trades during its execution', async () => {
    const { main, store } = await startSimulations();
    const [mine, theirs] = [await openTestPortfolio(main, RICH), await openTestPortfolio(main, RICH)];
    await pushTestQuote(main, 'AAPL', '187.40', '187.50');
    const batches = [main.submitAll(batchIn(mine)), main.submitAll(batchIn(mine))];
    const orders: Promise<string>[] = [];
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      orders.push(placeTestOrder(main, theirs));
    }
    await Promise.all([...batches, ...orders]);
    expect(store.journal.lastSeq(main.id)).toBe(2 + 400 + 400 + 20);
    const report = await verifyJournal(store, main.id);
    expect(report.problems).toEqual([]);
    expect(report.stateHash).toBe(stateHash(main.brokerage.state));
  });

  it('is not acknowledged when it fills the disk, and is stored as a whole when space is free', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-'));
    directories.push(directory);
    const pageLimit = new Int32Array(new SharedArrayBuffer(4));
    const store = await openSqliteStore({ directory, pageLimit });
    try {
      const { main } = await startSimulations({}, store);
      const portfolio = await openTestPortfolio(main, RICH);
      await pushTestQuote(main, 'AAPL', '187.40', '187.50');
      const before = main.published;
      const batch = main.submitAll(batchIn(portfolio, 800));
      Atomics.store(pageLimit, 0, 1);
      const refused = store.registry.saveSetting('filler', 'x'.repeat(300_000));
      refused.catch(() => undefined);
      const kept = store.journal.saveAnswer(answerOf('k1'));
      kept.catch(() => undefined);
      const answer = () => store.journal.findAnswer('tenant-1', 'main', 'POST /v1/orders', 'k1', START);
      await expect(batch).rejects.toThrow(StoreUnavailable);
      expect(store.journal.lastSeq(main.id)).toBe(before);
      await expect(main.read([BY], () => undefined)).rejects.toThrow(StoreUnavailable);
      // The record will be written, so a repetition must not be executed.
      expect(answer).toThrow(StoreUnavailable);
      await main.read([], () => undefined);
      Atomics.store(pageLimit, 0, 0);
      await expect
        .poll(() => main.read([BY], () => 'shown').catch(() => 'not yet'), { timeout: 10_000 })
        .toBe('shown');
      expect(answer()).toEqual(answerOf('k1'));
      expect(store.journal.lastSeq(main.id)).toBe(before + 800);
      expect(main.published).toBe(before + 800);
      const report = await verifyJournal(store, main.id);
      expect(report.problems).toEqual([]);
      expect(report.stateHash).toBe(stateHash(main.brokerage.state));
    } finally {
      await store.close();
    }
  });
});
