import { DatabaseSync } from '@photostructure/sqlite';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { allOf, answerOf, recordOf, START, withSimulation } from '../fixtures.contract.js';
import { StoreUnavailable } from '../journal.js';
import type { Store } from '../store.js';
import { TradedSimulation } from '../traded-simulation.contract.js';
import { newDirectory, openTestStore, removeDirectories } from './data-directory.contract.js';
import type { SqliteStoreOptions } from './sqlite-store.js';

const opened: Store[] = [];

async function open(directory: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  const store = await openTestStore(directory, options);
  opened.push(store);
  return store;
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(removeDirectories);

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

function ask(directory: string, sql: string): number {
  const database = new DatabaseSync(join(directory, 'journal.db'), { readOnly: true });
  const value = Object.values(database.prepare(sql).get() as Record<string, number>)[0]!;
  database.close();
  return value;
}

describe('A store on a full disk', () => {
  const big = (seq: number): ReturnType<typeof recordOf> =>
    recordOf('main', seq, [{ type: 'x'.repeat(300_000) }]);

  async function fullDisk(): Promise<{ store: Store; traded: TradedSimulation; makeRoom: () => void }> {
    const directory = newDirectory();
    const pageLimit = new Int32Array(new SharedArrayBuffer(4));
    const store = await withSimulation(await open(directory, { pageLimit }));
    await store.journal.append(recordOf('main', 1));
    const traded = await TradedSimulation.begin(store, 'traded');
    await traded.place(await traded.openPortfolio(), { limit: '50' });
    await traded.written();
    Atomics.store(pageLimit, 0, ask(directory, 'PRAGMA page_count'));
    return { store, traded, makeRoom: () => Atomics.store(pageLimit, 0, 0) };
  }

  it('keeps accepted records waiting, refuses new ones, and resumes by itself', async () => {
    const { store, traded, makeRoom } = await fullDisk();
    const accepted = [2, 3].map((seq) => store.journal.append(big(seq)));
    const started = performance.now();
    for (const append of accepted) await expect(append).rejects.toThrow(StoreUnavailable);
    expect(performance.now() - started).toBeLessThan(1_500);

    expect(store.health()).toMatchObject({
      status: 'failing',
      waiting: 2,
      reason: expect.stringContaining('full') as string,
    });
    await expect(store.journal.append(recordOf('main', 4))).rejects.toThrow(StoreUnavailable);
    await expect(store.journal.saveAnswer(answerOf('k'))).rejects.toThrow(StoreUnavailable);
    await expect(store.registry.saveSetting('a', 'b')).rejects.toThrow(StoreUnavailable);
    await expect(store.probe()).rejects.toThrow(StoreUnavailable);
    expect(await allOf(store.journal.read('main', 0))).toHaveLength(1);
    expect(await store.history.order('traded', 1)).toBeDefined();

    makeRoom();
    await expect.poll(() => store.health().status, { timeout: 5_000 }).toBe('ok');
    expect(store.journal.lastSeq('main')).toBe(3);
    await store.probe();
    await store.journal.append(recordOf('main', 4));
    expect((await allOf(store.journal.read('main', 0))).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    const [portfolioId = ''] = traded.brokerage.state.portfolios.keys();
    await traded.place(portfolioId, { limit: '50' });
    await traded.written();
    const mine = { simulationId: 'traded', scope: { portfolioId }, offset: 0, limit: 9 };
    expect((await store.history.orders(mine)).total).toBe(2);
  });

  it('completes a waiting append if space becomes free in time', async () => {
    const { store, makeRoom } = await fullDisk();
    const append = store.journal.append(big(2));
    await expect.poll(() => store.health().status).toBe('failing');
    makeRoom();
    await append;
    expect(store.health()).toEqual({ status: 'ok', waiting: 0 });
  });

  it('closes, and fails the waiting append', async () => {
    const { store } = await fullDisk();
    const append = store.journal.append(big(2));
    const closed = store.close();
    await expect(append).rejects.toThrow(StoreUnavailable);
    await closed;
  });
});

describe('The disk reserve', () => {
  it('is created soon after the start, at its full size', async () => {
    const directory = newDirectory();
    await open(directory);
    await expect.poll(() => sizeOf(join(directory, 'reserve')), { timeout: 10_000 }).toBe(8 * 1024 * 1024);
  });

  it('is released once when the disk is full, reported by health, and created again when space is free', async () => {
    const directory = newDirectory();
    // With the reserve there are so many pages more.
    const pageLimit = new Int32Array(new SharedArrayBuffer(8));
    pageLimit[1] = 200;
    const store = await withSimulation(await open(directory, { pageLimit }));
    await expect.poll(() => sizeOf(join(directory, 'reserve')), { timeout: 10_000 }).toBeDefined();
    Atomics.store(pageLimit, 0, ask(directory, 'PRAGMA page_count'));

    const big = [{ type: 'x'.repeat(50_000) }];
    await store.journal.append(recordOf('main', 1, big));
    expect(store.health()).toMatchObject({
      status: 'reserve',
      waiting: 0,
      reason: expect.stringContaining('full') as string,
    });
    expect(sizeOf(join(directory, 'reserve'))).toBeUndefined();
    await store.journal.append(recordOf('main', 2));
    await store.probe();

    // And then it is really full.
    const hopeless = [3, 4, 5, 6].map((seq) => store.journal.append(recordOf('main', seq, big)));
    for (const append of hopeless) await expect(append).rejects.toThrow(StoreUnavailable);
    expect(store.health().status).toBe('failing');

    Atomics.store(pageLimit, 0, 0);
    await expect.poll(() => store.health(), { timeout: 10_000 }).toEqual({ status: 'ok', waiting: 0 });
    expect(sizeOf(join(directory, 'reserve'))).toBe(8 * 1024 * 1024);
    expect((await allOf(store.journal.read('main', 0))).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe('An unexpected error of the writer', () => {
  it('fails the store permanently: no later append is acknowledged', async () => {
    const directory = newDirectory();
    const errors: Error[] = [];
    const store = await withSimulation(await open(directory, { onFatal: (error) => errors.push(error) }));
    await store.journal.append(recordOf('main', 1));
    const database = new DatabaseSync(join(directory, 'journal.db'));
    database.exec('UPDATE meta SET epoch = epoch + 1');
    database.close();
    const appends = await Promise.allSettled(
      [2, 3].map((seq) => store.journal.append(recordOf('main', seq))),
    );
    expect(appends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(store.journal.append(recordOf('main', 4))).rejects.toThrow(StoreUnavailable);
    await expect(store.probe()).rejects.toThrow(StoreUnavailable);
    expect(store.health()).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('Another writer') as string,
    });
    expect(errors).toHaveLength(1);
  });
});

describe('Commits of the embedded store', () => {
  it('group appends that arrive together', async () => {
    const directory = newDirectory();
    const store = await withSimulation(await open(directory));
    const before = ask(directory, 'SELECT commits FROM meta');
    await Promise.all(
      Array.from({ length: 500 }, (_, index) => store.journal.append(recordOf('main', index + 1))),
    );
    expect(ask(directory, 'SELECT commits FROM meta') - before).toBe(1);
  });

  it('remove expired answers in small portions', async () => {
    const directory = newDirectory();
    const store = await withSimulation(await open(directory));
    const expired = Array.from({ length: 200 }, (_, index) =>
      answerOf(`k${index}`, { expiresAt: START - 1 }),
    );
    await Promise.all([...expired, answerOf('alive')].map((answer) => store.journal.saveAnswer(answer)));
    await expect
      .poll(
        async () => {
          await store.probe();
          return ask(directory, 'SELECT count(*) FROM answer');
        },
        { timeout: 10_000 },
      )
      .toBe(1);
    expect(
      await store.journal.findAnswer('tenant-1', 'main', 'POST /v1/orders', 'alive', START),
    ).toBeDefined();
  });
});

describe('A deleted simulation', () => {
  const blocks = (directory: string): number => ask(directory, 'SELECT count(*) FROM block');

  async function filled(directory: string): Promise<Store> {
    const store = await withSimulation(await openTestStore(directory));
    for (let first = 1; first <= 600; first += 4) {
      const group = [0, 1, 2, 3].map((index) => store.journal.append(recordOf('main', first + index)));
      await Promise.all(group);
    }
    return store;
  }

  it('loses all its blocks and none of another simulation', async () => {
    const directory = newDirectory();
    const store = await filled(directory);
    opened.push(store);
    await withSimulation(store, 'other');
    await store.journal.append(recordOf('other', 1));
    expect(blocks(directory)).toBe(151);
    await store.registry.deleteSimulation('main', START);
    await expect.poll(() => blocks(directory), { timeout: 5_000 }).toBe(1);
    expect(await allOf(store.journal.read('other', 0))).toHaveLength(1);
    // Numbers of blocks are not given again.
    await store.journal.append(recordOf('other', 2));
    expect(ask(directory, 'SELECT max(k) FROM block')).toBe(152);
  });

  it('loses a record of the commit that deletes it, while records of another simulation are kept', async () => {
    const directory = newDirectory();
    const store = await withSimulation(await open(directory));
    await withSimulation(store, 'other');
    await store.journal.append(recordOf('main', 1));
    const appended = [store.journal.append(recordOf('main', 2)), store.journal.append(recordOf('other', 1))];
    await Promise.all([...appended, store.registry.deleteSimulation('main', START)]);
    await store.close();
    expect((await open(directory)).journal.lastSeq('other')).toBe(1);
  });

  it('is purged completely by the next process after a close', async () => {
    const directory = newDirectory();
    const store = await filled(directory);
    void store.registry.deleteSimulation('main', START);
    await store.close();
    await open(directory);
    await expect.poll(() => blocks(directory), { timeout: 5_000 }).toBe(0);
    expect(ask(directory, 'SELECT purged FROM simulation')).toBe(1);
  });
});
