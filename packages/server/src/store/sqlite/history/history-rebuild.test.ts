import { DatabaseSync } from '@photostructure/sqlite';
import { cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { changing, orderAdded, orderMoved, START, withSimulation } from '../../fixtures.contract.js';
import type { HistoryChange } from '../../history.js';
import { StoreUnavailable } from '../../journal.js';
import type { JournalRecord } from '../../journal.js';
import type { Store } from '../../store.js';
import { newDirectory, openTestStore, removeDirectories } from '../data-directory.contract.js';
import type { SqliteStoreOptions } from '../sqlite-store.js';

const opened: Store[] = [];
const notes: string[] = [];

async function open(directory: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  const store = await openTestStore(directory, { note: (text) => notes.push(text), ...options });
  opened.push(store);
  return store;
}

afterEach(async () => {
  notes.length = 0;
  for (const store of opened.splice(0)) await store.close();
});
afterAll(removeDirectories);

/** A record of an order, with something of everything that history keeps. */
function orderRecord(simulationId: string, seq: number): JournalRecord {
  const placed = { event: 0, item: 0 };
  const changes: HistoryChange[] = [
    {
      change: 'portfolio-opened',
      portfolioId: `closed-${seq}`,
      accountId: 'account-1',
      terms: '{}',
    },
    { change: 'portfolio-closed', portfolioId: `closed-${seq}`, last: '{"cash":1}' },
    orderAdded(seq, {
      clientOrderId: `mine-${seq}`,
      status: 'FILLED',
      filledOn: '2026-01-05',
      portfolioId: `portfolio-${seq % 2}`,
    }),
    { change: 'listed', list: 'order-events', owner: String(seq), ...placed, tag: 'EXECUTION' },
    // And one more of the order before it.
    ...(seq === 1
      ? []
      : [{ change: 'listed', list: 'order-events', owner: String(seq - 1), ...placed } as const]),
    { change: 'listed', list: 'activities', owner: `portfolio-${seq % 2}`, ...placed, tag: 'ORDER' },
    { change: 'listed', list: 'day-trades', owner: `portfolio-${seq % 2}`, ...placed, key: `key-${seq % 5}` },
    { change: 'stream-event', event: 0 },
  ];
  return changing(simulationId, seq, ...changes);
}

async function fill(store: Store, from: number, to: number, simulationId = 'main'): Promise<void> {
  const appends: Promise<void>[] = [];
  for (let seq = from; seq <= to; seq += 1) {
    appends.push(store.journal.append(orderRecord(simulationId, seq)));
    // Several blocks of the journal.
    if (seq % 8 === 0) await Promise.all(appends.splice(0));
  }
  await Promise.all(appends);
  await store.history.reached(simulationId, to);
}

/** Everything that history says. */
async function everything({ history }: Store, last: number, simulationId = 'main'): Promise<unknown> {
  const all = { simulationId, offset: 0, limit: 1_000 };
  const numbers = Array.from({ length: last + 1 }, (_, index) => index + 1);
  return {
    orders: await Promise.all(
      [{ portfolioId: 'portfolio-1' }, { accountId: 'account-1' }, { filledOn: '2026-01-05' }].map((scope) =>
        history.orders({ ...all, scope }),
      ),
    ),
    lists: await Promise.all([
      history.list({ ...all, list: 'activities', owner: 'portfolio-0' }),
      history.list({ ...all, list: 'activities', owner: 'portfolio-0', tag: 'ORDER' }),
      history.list({ ...all, list: 'day-trades', owner: 'portfolio-1' }),
      ...numbers.map((number) => history.list({ ...all, list: 'order-events', owner: String(number) })),
    ]),
    single: numbers.map((number) => history.order(simulationId, number)),
    named: numbers.map((number) =>
      history.orderByClientOrderId(simulationId, `portfolio-${number % 2}`, `mine-${number}`),
    ),
    closed: numbers.map((number) => history.closedPortfolio(simulationId, `closed-${number}`)),
    events: history.streamEvents(simulationId, { seq: 0, event: -1 }, 1_000),
  };
}

const historyFile = (directory: string): string => join(directory, 'history.db');

function alter(directory: string, sql: string): void {
  const database = new DatabaseSync(historyFile(directory));
  database.exec(sql);
  database.close();
}

/** A server that is killed leaves no seal. */
const unseal = (directory: string): void => rmSync(`${historyFile(directory)}.seal`);

/** A file of its own: the process still has the one before it open. */
function replace(directory: string, content: string | Buffer): void {
  rmSync(historyFile(directory));
  writeFileSync(historyFile(directory), content);
}

const complete = (store: Store): Promise<void> =>
  expect.poll(() => store.history.health(), { timeout: 10_000 }).toMatchObject({ status: 'ok', behind: 0 });

const LAST = 40;

/** A closed data directory, and what its history says: a copy of one that is filled once. */
async function directoryWithHistory(): Promise<{ directory: string; said: unknown }> {
  const { directory: filled, said } = await (filledDirectory ??= fillDirectory());
  const directory = newDirectory();
  cpSync(filled, directory, { recursive: true });
  return { directory, said };
}

let filledDirectory: Promise<{ directory: string; said: unknown }> | undefined;

async function fillDirectory(): Promise<{ directory: string; said: unknown }> {
  const directory = newDirectory();
  const store = await withSimulation(await openTestStore(directory));
  await fill(store, 1, LAST);
  const said = await everything(store, LAST);
  await store.close();
  return { directory, said };
}

describe('History at start', () => {
  it('continues from its last position', async () => {
    const { directory, said } = await directoryWithHistory();
    const store = await open(directory);
    expect(await everything(store, LAST)).toEqual(said);
    expect(notes).toEqual([]);
  });

  it.each<[string, (directory: string) => void]>([
    ['missing', (directory) => rmSync(historyFile(directory))],
    ['empty', (directory) => replace(directory, '')],
    ['torn', (directory) => truncateSync(historyFile(directory), 8_192)],
    ['not a database', (directory) => replace(directory, 'something else'.repeat(1_000))],
    ['of another format', (directory) => alter(directory, 'PRAGMA user_version = 99')],
    ['of another journal', (directory) => alter(directory, `UPDATE watermark SET journal = 'x'`)],
    ['without a watermark', (directory) => alter(directory, 'DELETE FROM watermark')],
    ['ahead of the journal', (directory) => alter(directory, 'UPDATE watermark SET k = k + 1')],
    ['without one of its tables', (directory) => alter(directory, 'DROP TABLE item')],
    ['without one of its indexes', (directory) => alter(directory, 'DROP INDEX orders_by_portfolio')],
  ])('is rebuilt from the journal if it is %s', async (_, damage) => {
    const { directory, said } = await directoryWithHistory();
    damage(directory);
    const store = await open(directory);
    await complete(store);
    expect(notes).toEqual([
      expect.stringMatching(/^The history is derived again from the journal: /),
      'The history is complete again',
    ]);
    expect(await everything(store, LAST)).toEqual(said);
    expect(statSync(historyFile(directory)).mode & 0o077).toBe(0);
  });

  it('continues from its last position after a kill between commit and projection', async () => {
    const { directory, said } = await directoryWithHistory();
    const older = readFileSync(historyFile(directory));
    let store = await openTestStore(directory);
    await fill(store, LAST + 1, LAST + 20);
    const later = await everything(store, LAST + 20);
    await store.close();
    replace(directory, older);
    unseal(directory);
    store = await open(directory);
    await store.history.reached('main', LAST + 20);
    expect(await everything(store, LAST + 20)).toEqual(later);
    expect(later).not.toEqual(said);
    expect(notes).toEqual([]);
  });

  it('is rebuilt if the option isHistoryFresh is set', async () => {
    const { directory, said } = await directoryWithHistory();
    const store = await open(directory, { isHistoryFresh: true });
    await complete(store);
    expect(await everything(store, LAST)).toEqual(said);
    expect(notes).toEqual([
      'The history is derived again from the journal: asked for',
      'The history is complete again',
    ]);
  });
});

describe('Damaged history', () => {
  it.each([
    ['an order with another status', `UPDATE orders SET status = 'ACTIVE' WHERE number = 7`],
    ['a missing item', 'DELETE FROM item WHERE list = 1 AND n = 3'],
    ['another closed portfolio', `UPDATE portfolio SET last = '{"cash":2}' WHERE id = 'closed-7'`],
  ])('is rebuilt at start if its closed file has changed: %s', async (_, sql) => {
    const { directory, said } = await directoryWithHistory();
    alter(directory, sql);
    const store = await open(directory);
    await expect(everything(store, LAST)).rejects.toThrow(StoreUnavailable);
    await complete(store);
    expect(await everything(store, LAST)).toEqual(said);
    expect(notes[0]).toBe(
      'The history is derived again from the journal: The history is not the one that was closed',
    );
  });

  it('is rebuilt after a kill if SQLite reports malformed pages', async () => {
    const { directory, said } = await directoryWithHistory();
    unseal(directory);
    const whole = readFileSync(historyFile(directory));
    // Noise on the last page: rows of some table.
    replace(directory, whole.fill(0xa5, whole.length - 8_192));
    const store = await open(directory);
    await complete(store);
    expect(notes[0]).toMatch(/^The history is derived again from the journal: .*malformed/);
    expect(await everything(store, LAST)).toEqual(said);
  });

  it('is rebuilt if the next record does not continue its sequence', async () => {
    const { directory } = await directoryWithHistory();
    alter(directory, 'UPDATE simulation SET seq = seq - 1');
    unseal(directory);
    const store = await open(directory);
    await store.journal.append(changing('main', LAST + 1, orderMoved(7, { status: 'FILLED', mark: 1 })));
    await expect.poll(() => notes.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await complete(store);
    expect((await store.history.order('main', 7))?.progress).toBe('{"status":"FILLED","mark":1}');
  });

  it('is rebuilt if a simulation is its own ancestor', async () => {
    const { directory, said } = await directoryWithHistory();
    alter(directory, 'UPDATE simulation SET parent = key');
    unseal(directory);
    const store = await open(directory);
    await expect(everything(store, LAST)).rejects.toThrow(StoreUnavailable);
    await complete(store);
    expect(await everything(store, LAST)).toEqual(said);
    expect(notes[0]).toMatch(/a fork of a later one/);
  });

  it('is rebuilt or answers correctly after any flipped bit', async () => {
    const { directory, said } = await directoryWithHistory();
    const whole = readFileSync(historyFile(directory));
    for (let at = 100; at < whole.length; at += Math.floor(whole.length / 5)) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      replace(directory, bytes);
      const store = await openTestStore(directory);
      const answered = await everything(store, LAST).catch((error: unknown) => error);
      if (!(answered instanceof StoreUnavailable)) expect(answered).toEqual(said);
      else {
        await complete(store);
        expect(await everything(store, LAST)).toEqual(said);
      }
      await store.close();
    }
  });
});

describe('While history is rebuilt, the store', () => {
  it('accepts records and answers reads of history with StoreUnavailable', async () => {
    const { directory } = await directoryWithHistory();
    alter(directory, 'DELETE FROM orders WHERE number = 7');
    const store = await open(directory);
    expect(() => store.history.order('main', 7)).toThrow(StoreUnavailable);
    expect(store.history.health()).toMatchObject({ status: 'rebuilding', progress: 0 });
    const append = store.journal.append(orderRecord('main', LAST + 1));
    await expect(store.history.reached('main', LAST)).rejects.toThrow(StoreUnavailable);
    expect(() => store.history.orderByClientOrderId('main', 'portfolio-1', 'mine-1')).toThrow(
      StoreUnavailable,
    );
    await append;
    await complete(store);
    await store.history.reached('main', LAST + 1);
    expect(store.history.order('main', LAST + 1)).toBeDefined();
  });
});

describe('A full disk for history only', () => {
  /** The projector writes at least every second. */
  const NOTICED = { timeout: 5_000 };
  const pagesOf = (directory: string): number => {
    const database = new DatabaseSync(historyFile(directory), { readOnly: true });
    const [pages] = Object.values(database.prepare('PRAGMA page_count').get() as Record<string, number>);
    database.close();
    return pages ?? 0;
  };

  it('does not stop appends, and history catches up when space is free', async () => {
    const directory = newDirectory();
    const historyPageLimit = new Int32Array(new SharedArrayBuffer(4));
    const store = await withSimulation(await open(directory, { historyPageLimit }));
    await fill(store, 1, 10);
    Atomics.store(historyPageLimit, 0, pagesOf(directory));
    const appends = Array.from({ length: 400 }, (_, index) =>
      store.journal.append(orderRecord('main', 11 + index)),
    );
    await Promise.all(appends);
    await expect.poll(() => store.history.health().status, NOTICED).toBe('failing');
    expect(store.health().status).toBe('ok');
    expect(store.history.health()).toMatchObject({
      behind: 400,
      reason: expect.stringContaining('full') as string,
    });
    await expect(store.history.reached('main', 410)).rejects.toThrow(StoreUnavailable);
    expect(store.history.order('main', 10)).toBeDefined();
    await store.journal.append(orderRecord('main', 411));

    Atomics.store(historyPageLimit, 0, 0);
    await complete(store);
    expect(store.history.position('main')).toBe(411);
    expect(store.history.order('main', 411)).toBeDefined();
    expect(notes).toEqual([
      expect.stringMatching(/^The history cannot be written: .*full/),
      'The history is written again',
    ]);
  });

  it('does not prevent the store from closing', async () => {
    const directory = newDirectory();
    const historyPageLimit = new Int32Array(new SharedArrayBuffer(4));
    const store = await withSimulation(await openTestStore(directory, { historyPageLimit }));
    await fill(store, 1, 1);
    Atomics.store(historyPageLimit, 0, pagesOf(directory));
    await Promise.all(
      Array.from({ length: 400 }, (_, index) => store.journal.append(orderRecord('main', 2 + index))),
    );
    await expect.poll(() => store.history.health().status, NOTICED).toBe('failing');
    await store.close();
    expect((await open(directory)).history.position('main')).toBeLessThanOrEqual(401);
  });
});

describe('Reads that wait for history', () => {
  it('resolve when history includes the record, and count in the health figures', async () => {
    const store = await withSimulation(await open(newDirectory()));
    const reads: Promise<number>[] = [];
    for (let seq = 1; seq <= 50; seq += 1) {
      await store.journal.append(orderRecord('main', seq));
      reads.push(store.history.reached('main', seq).then(() => store.history.position('main')));
    }
    (await Promise.all(reads)).forEach((position, index) => expect(position).toBeGreaterThan(index));
    await complete(store);
    const { waits } = store.history.health();
    expect(waits.count).toBeGreaterThan(0);
    expect(waits.longestMs).toBeLessThanOrEqual(waits.totalMs);
  });

  it('resolve at once for records in history and for unknown simulations', async () => {
    const store = await withSimulation(await open(newDirectory()));
    await fill(store, 1, 3);
    const { count } = store.history.health().waits;
    await store.history.reached('main', 2);
    await store.history.reached('nowhere', 7);
    expect(store.history.health().waits.count).toBe(count);
  });

  it('wait for the position of their own simulation only', async () => {
    const store = await open(newDirectory());
    const names = Array.from({ length: 60 }, (_, index) => `s-${index}`);
    await Promise.all(names.map((name) => withSimulation(store, name)));
    await Promise.all(names.map((name, index) => fill(store, 1, 1 + (index % 5), name)));
    for (const [index, name] of names.entries()) {
      expect(store.history.position(name)).toBe(1 + (index % 5));
      expect(await store.history.order(name, 1 + (index % 5))).toBeDefined();
      expect(await store.history.order(name, 2 + (index % 5))).toBeUndefined();
    }
  });
});

describe('The history of a deleted simulation', () => {
  const rows = (directory: string): number => {
    const database = new DatabaseSync(historyFile(directory), { readOnly: true });
    const tables = [
      'simulation',
      'owner',
      'portfolio',
      'orders',
      'client_order',
      'item',
      'order_event',
      'stream_event',
    ];
    const counts = tables.map((table) => {
      const [count] = Object.values(
        database.prepare(`SELECT count(*) FROM ${table}`).get() as Record<string, number>,
      );
      return count ?? 0;
    });
    database.close();
    return counts.reduce((sum, count) => sum + count, 0);
  };

  it('is deleted completely, without a change to another simulation', async () => {
    const directory = newDirectory();
    const store = await withSimulation(await withSimulation(await open(directory)), 'other');
    await fill(store, 1, 3, 'other');
    const left = rows(directory);
    const said = await everything(store, 3, 'other');
    await fill(store, 1, 1_500);
    await store.registry.deleteSimulation('main', START);
    await expect.poll(() => rows(directory), { timeout: 10_000 }).toBe(left);
    expect(await everything(store, 3, 'other')).toEqual(said);
  });

  it('is deleted completely by the next process after a close', async () => {
    const directory = newDirectory();
    const store = await withSimulation(await openTestStore(directory));
    await fill(store, 1, 1_500);
    void store.registry.deleteSimulation('main', START);
    await store.close();
    await open(directory);
    await expect.poll(() => rows(directory), { timeout: 10_000 }).toBe(0);
  });
});
