import { DatabaseSync } from '@photostructure/sqlite';
import { cpSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { standbyFrom } from '../../../engine/recovery/checkpoint.js';
import { START } from '../../fixtures.contract.js';
import { expectHistory, HistoryOracle } from '../../history-oracle.contract.js';
import { StoreUnavailable } from '../../journal.js';
import type { Store } from '../../store.js';
import { beginningOf, TradedSimulation } from '../../traded-simulation.contract.js';
import { compareHistory } from '../checks/compare-history.js';
import { newDirectory, openTestStore, removeDirectories } from '../data-directory.contract.js';
import type { SqliteStoreOptions } from '../sqlite-store.js';

const opened: Store[] = [];
const notes: string[] = [];

async function open(directory: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  const store = await openTestStore(directory, { note: (text) => notes.push(text), ...options });
  opened.push(store);
  return store;
}

async function close(store: Store): Promise<void> {
  opened.splice(opened.indexOf(store), 1);
  await store.close();
}

afterEach(async () => {
  notes.length = 0;
  for (const store of opened.splice(0)) await store.close();
});
afterAll(removeDirectories);

const PATIENCE = { timeout: 15_000 };
const PAGES = { limit: 7, offset: 3, from: 0.2, to: 0.8 };

/** Everything that the history says of a simulation is what its journal gives. */
async function expectRight(store: Store, ...ids: readonly string[]): Promise<void> {
  for (const id of ids.length === 0 ? ['main'] : ids) {
    const oracle = new HistoryOracle(beginningOf(store, id));
    for await (const record of store.journal.read(id, 0)) oracle.read(record);
    await expectHistory(store.history, id, oracle, PAGES);
  }
}

/** Trades of every kind, over some minutes and in several blocks of the journal. */
async function trade(simulation: TradedSimulation, rounds: number, name = 'c'): Promise<void> {
  const portfolioId = [...simulation.brokerage.state.portfolios.keys()][0] ?? '';
  for (let n = 0; n < rounds; n += 1) {
    await simulation.quote('AAPL', `${90 + (n % 20)}.00`, `${90 + (n % 20)}.10`);
    await simulation.place(portfolioId, { quantity: 2, clientOrderId: `${name}-${n}` });
    const resting = await simulation.place(portfolioId, { limit: '50' });
    if (n % 2 === 0) await simulation.cancel(resting);
    await simulation.place(portfolioId, { intent: 'SELL_TO_CLOSE', quantity: 1 });
    if (n % 3 === 0) await simulation.advance(1);
    if (n % 8 === 0) await simulation.durable();
  }
}

async function begun(store: Store, id = 'main'): Promise<TradedSimulation> {
  const simulation = await TradedSimulation.begin(store, id);
  await simulation.openPortfolio();
  await simulation.close(await simulation.openPortfolio());
  return simulation;
}

const ROUNDS = 12;

let filling: Promise<string> | undefined;

/** A closed data directory with a simulation and a fork of it: a copy of one that is filled once. */
async function filled(): Promise<string> {
  const directory = newDirectory();
  cpSync(await (filling ??= fill()), directory, { recursive: true });
  return directory;
}

async function fill(): Promise<string> {
  const directory = newDirectory();
  const store = await openTestStore(directory);
  const main = await begun(store);
  await trade(main, ROUNDS);
  const fork = await main.fork('fork', main.seq - 5);
  await trade(fork, 3, 'd');
  await main.written();
  await fork.written();
  await store.close();
  return directory;
}

const historyFile = (directory: string): string => join(directory, 'history.db');

function alter(directory: string, sql: string): void {
  const database = new DatabaseSync(historyFile(directory));
  database.exec(sql);
  database.close();
}

/** A server that is killed leaves no seal. */
const unseal = (directory: string): void => rmSync(`${historyFile(directory)}.seal`, { force: true });

function alterUnsealed(directory: string, sql: string): void {
  alter(directory, sql);
  unseal(directory);
}

/** A file of its own: the process still has the one before it open. */
function replace(directory: string, content: string | Buffer): void {
  rmSync(historyFile(directory));
  writeFileSync(historyFile(directory), content);
}

/** A history in use that loses its positions, and that nothing can be written to until the result is called. */
function locked(directory: string): () => void {
  const database = new DatabaseSync(historyFile(directory));
  database.exec('DELETE FROM history_cell; BEGIN IMMEDIATE');
  return () => database.close();
}

/** What a kill leaves of a directory in use. */
function killed(directory: string): string {
  const copy = newDirectory();
  for (const name of ['journal.db', 'journal.mark', 'history.db'])
    for (const ending of ['', '-wal'])
      if (existsSync(join(directory, `${name}${ending}`)))
        cpSync(join(directory, `${name}${ending}`), join(copy, `${name}${ending}`));
  return copy;
}

const complete = (store: Store): Promise<void> =>
  expect.poll(() => store.history.health(), PATIENCE).toMatchObject({ status: 'ok', behind: 0 });

/** A simulation in memory, whose rows are complete. */
async function recovered(store: Store, id = 'main'): Promise<TradedSimulation> {
  const simulation = await TradedSimulation.recovered(store, id);
  await complete(store);
  await expect.poll(() => store.history.isComplete(id), PATIENCE).toBe(true);
  return simulation;
}

async function expectNoDifferences(store: Store, directory: string): Promise<void> {
  for (const { id } of store.registry.simulations()) await store.history.make(id);
  expect(await compareHistory(directory, standbyFrom)).toEqual({ problems: [], ids: [] });
}

describe('History at start', () => {
  it('continues from its last position', async () => {
    const directory = await filled();
    const store = await open(directory);
    const main = await recovered(store);
    await trade(main, 2, 'e');
    await main.written();
    await expectRight(store, 'main', 'fork');
    expect(notes).toEqual([]);
    await expectNoDifferences(store, directory);
  });

  it.each<[string, RegExp, (directory: string) => void]>([
    ['missing', /^$/, (directory) => rmSync(historyFile(directory))],
    [
      'empty after a kill',
      /^$/,
      (directory) => {
        replace(directory, '');
        unseal(directory);
      },
    ],
    ['empty', /not the one that was closed/, (directory) => replace(directory, '')],
    ['torn', /not the one that was closed/, (directory) => truncateSync(historyFile(directory), 8_192)],
    [
      'not a database',
      /not the one that was closed/,
      (directory) => replace(directory, 'other'.repeat(3_000)),
    ],
    [
      'torn after a kill',
      /./,
      (directory) => {
        truncateSync(historyFile(directory), 8_192);
        unseal(directory);
      },
    ],
    [
      'no database after a kill',
      /./,
      (directory) => {
        replace(directory, 'other'.repeat(3_000));
        unseal(directory);
      },
    ],
    [
      'of another format',
      /another format/,
      (directory) => alterUnsealed(directory, 'PRAGMA user_version = 99'),
    ],
    [
      'of another program',
      /another format/,
      (directory) => alterUnsealed(directory, 'PRAGMA application_id = 7'),
    ],
    [
      'without one of its tables',
      /tables/,
      (directory) => alterUnsealed(directory, 'DROP TABLE history_item'),
    ],
    [
      'without one of its indexes',
      /tables/,
      (directory) => alterUnsealed(directory, 'DROP INDEX history_order_by_account'),
    ],
    [
      'changed while it was closed',
      /not the one/,
      (directory) => alter(directory, `UPDATE history_order SET status = 'X' WHERE number = 7`),
    ],
  ])('is made again from the journal if it is %s', async (_, why, damage) => {
    const directory = await filled();
    damage(directory);
    const store = await open(directory);
    const main = await recovered(store);
    await main.written();
    // The fork is not in memory: its rows are made, too.
    await expect.poll(async () => (await store.history.order('fork', 1))?.status, PATIENCE).toBe('FILLED');
    await store.history.make('fork');
    await expectRight(store, 'main', 'fork');
    expect(notes.join('\n')).toMatch(why);
    expect(statSync(historyFile(directory)).mode & 0o077).toBe(0);
    await expectNoDifferences(store, directory);
  });

  it.each([
    ['without the position of a simulation', 'DELETE FROM history_cell WHERE cell = 1'],
    ['without any position', 'DELETE FROM history_cell'],
    ['with rows of a simulation in another format', 'UPDATE history_cell SET format = 1 WHERE cell = 1'],
    ['with rows of another journal', `UPDATE history_cell SET proof = 'ab' WHERE cell = 1`],
    ['with a fork whose rows are of another journal', `UPDATE history_cell SET proof = 'ab' WHERE cell = 2`],
  ])('makes the rows of a simulation again: %s', async (_, sql) => {
    const directory = await filled();
    alterUnsealed(directory, sql);
    const store = await open(directory);
    const main = await recovered(store);
    const fork = await recovered(store, 'fork');
    await trade(main, 1, 'e');
    await main.written();
    await fork.written();
    await expectRight(store, 'main', 'fork');
    // The rows of others stay.
    expect(notes).toEqual([]);
    await expectNoDifferences(store, directory);
  });

  it('is made again if a position does not fit the rows', async () => {
    const directory = await filled();
    alterUnsealed(directory, 'UPDATE history_cell SET seq = seq - 1 WHERE cell = 1');
    const store = await open(directory);
    await recovered(store);
    await expectRight(store);
    expect(notes.length).toBeLessThan(4);
    await expectNoDifferences(store, directory);
  });

  it('makes what is missing after a kill between commit and rows', async () => {
    const directory = await filled();
    const older = readFileSync(historyFile(directory));
    let store = await open(directory);
    const main = await recovered(store);
    await trade(main, 6, 'e');
    await main.durable();
    await close(store);
    replace(directory, older);
    unseal(directory);
    store = await open(directory);
    const again = await recovered(store);
    expect(store.history.position('main')).toBe(again.seq);
    await expectRight(store, 'main', 'fork');
    expect(notes).toEqual([]);
    await expectNoDifferences(store, directory);
  });

  it('has the rows of every durable record when a server in use is killed', async () => {
    const directory = newDirectory();
    const main = await begun(await open(directory));
    await trade(main, 3);
    await main.written();
    await trade(main, 3, 'e');
    // Durable, and without rows.
    await main.durable();
    const copy = killed(directory);
    const store = await open(copy);
    const again = await recovered(store);
    expect(again.seq).toBe(main.seq);
    await expectRight(store);
    await expectNoDifferences(store, copy);
  });

  it('prevents the start if it is of another journal, or ahead of it', async () => {
    const directory = await filled();
    alterUnsealed(directory, `UPDATE history_meta SET journal = 'x'`);
    await expect(openTestStore(directory)).rejects.toThrow(/belongs to another journal/);
    const other = await filled();
    alterUnsealed(other, 'UPDATE history_cell SET seq = seq + 1 WHERE cell = 1');
    await expect(openTestStore(other)).rejects.toThrow(/has more records than journal\.db/);
    rmSync(historyFile(other));
    const store = await open(other);
    await recovered(store);
    await expectRight(store);
  });
});

describe('Damaged history', () => {
  it('is made again after a kill if SQLite reports malformed pages', async () => {
    const directory = await filled();
    unseal(directory);
    const whole = readFileSync(historyFile(directory));
    replace(directory, whole.fill(0xa5, whole.length - 3 * 8_192));
    const store = await open(directory);
    await recovered(store);
    expect(notes[0]).toMatch(/^The history is made again from the journal: .*malformed/);
    await expectRight(store, 'main');
  });

  it('is made again or answers correctly after any flipped bit of a closed file', async () => {
    const directory = await filled();
    const whole = readFileSync(historyFile(directory));
    for (let at = 100; at < whole.length; at += Math.floor(whole.length / 5)) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      replace(directory, bytes);
      const store = await open(directory);
      await recovered(store);
      await expectRight(store, 'main');
      await close(store);
    }
  });

  it('is made again while the server runs if its pages are overwritten, and trading goes on', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    const main = await begun(store);
    await trade(main, 40);
    await main.written();
    // The pages that are in the file itself.
    const database = new DatabaseSync(historyFile(directory));
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    const file = readFileSync(historyFile(directory));
    writeFileSync(historyFile(directory), file.fill(0xa5, 8_192));
    const portfolioId = [...main.brokerage.state.portfolios.keys()][0] ?? '';
    let n = 0;
    await expect
      .poll(async () => {
        // Pages that are cached are still right: later ones are not.
        n += 1;
        await main.place(portfolioId, { limit: '40', clientOrderId: `while-${n}` });
        await main.written().catch(() => undefined);
        const page = {
          simulationId: 'main',
          list: 'activities',
          owner: portfolioId,
          offset: 0,
          limit: 500,
        } as const;
        await store.history.list(page).catch(() => undefined);
        return notes.some((note) => note.startsWith('The history is made again from the journal'));
      }, PATIENCE)
      .toBe(true);
    await main.place(portfolioId, { limit: '40', clientOrderId: 'after' });
    await expect.poll(() => store.history.isComplete('main'), PATIENCE).toBe(true);
    await main.written();
    expect(store.health().status).toBe('ok');
    await expectRight(store);
    await expectNoDifferences(store, directory);
  });

  it('is made again if it is damaged while the rows of a simulation are made', async () => {
    const directory = await filled();
    // Rows of main are to be added to pages that cannot be read; those of its position can.
    alterUnsealed(directory, `UPDATE history_cell SET proof = 'ab' WHERE cell = 1`);
    const store = await open(directory);
    const database = new DatabaseSync(historyFile(directory));
    const { page } = database
      .prepare(`SELECT rootpage AS page FROM sqlite_master WHERE name = 'history_item'`)
      .get() as { page: number };
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    const file = readFileSync(historyFile(directory));
    writeFileSync(historyFile(directory), file.fill(0xa5, (page - 1) * 8_192, page * 8_192));
    await recovered(store);
    await expectRight(store);
    await expectNoDifferences(store, directory);
  });
});

describe('A history that is damaged again and again', () => {
  it('is made at once twice a minute, then after pauses that a close ends', async () => {
    const directory = await filled();
    const store = await open(directory);
    await recovered(store);
    const page = { simulationId: 'main', scope: { every: 'order' }, offset: 0, limit: 5 } as const;
    const isMade = (note: string): boolean => note.startsWith('The history is made again');
    notes.length = 0;
    for (let round = 1; round <= 3; round += 1) {
      alter(directory, 'PRAGMA busy_timeout = 5000; DROP TABLE history_order');
      await expect(store.history.orders(page)).rejects.toThrow(StoreUnavailable);
      if (round < 3) await complete(store);
    }
    const made = notes.filter(isMade).length;
    expect(made).toBe(2);
    const since = performance.now();
    await close(store);
    // The pause, of two seconds or more, has ended without its tables.
    expect(performance.now() - since).toBeLessThan(1_500);
    expect(notes.filter(isMade)).toHaveLength(made);
    const again = await open(directory);
    await recovered(again);
    await expectRight(again);
    await close(again);
  });
});

describe('While rows are made again', () => {
  it('lists wait, at most two seconds, and then reject with StoreUnavailable; records are accepted', async () => {
    const directory = await filled();
    const store = await open(directory);
    const { length } = await allRecords(store);
    const unlock = locked(directory);
    const main = await TradedSimulation.recovered(store);
    expect(main.seq).toBe(length);
    expect(store.history.isComplete('main')).toBe(false);
    expect(store.history.health()).toMatchObject({ status: 'rebuilding', progress: 0, behind: length });
    const portfolioId = [...main.brokerage.state.portfolios.keys()][0] ?? '';
    // Records that ask nothing of the past.
    await main.place(portfolioId, { limit: '40' });
    await main.transfer(portfolioId, 5);
    await main.durable();
    expect(store.journal.lastSeq('main')).toBe(length + 2);
    const since = performance.now();
    await expect(store.history.flush('main')).rejects.toThrow(StoreUnavailable);
    const waited = performance.now() - since;
    expect(waited).toBeGreaterThan(1_500);
    expect(waited).toBeLessThan(3_000);
    expect(store.history.health().waits.count).toBeGreaterThan(0);
    unlock();
    await expect.poll(() => store.history.isComplete('main'), PATIENCE).toBe(true);
    await main.written();
    expect(store.history.position('main')).toBe(length + 2);
    await expectRight(store);
    await complete(store);
  });

  it('a client order id is not accepted twice, and a closed portfolio not traded', async () => {
    const directory = await filled();
    const store = await open(directory);
    const [closing] = await store.history.closedPortfolios('main');
    const closed = (JSON.parse(closing?.terms ?? '') as { portfolioId: string }).portfolioId;
    const unlock = locked(directory);
    const main = await TradedSimulation.recovered(store);
    const portfolioId = [...main.brokerage.state.portfolios.keys()][0] ?? '';
    await expect(main.submit(portfolioId, { limit: '40', clientOrderId: 'c-3' })).rejects.toThrow(
      StoreUnavailable,
    );
    await expect(main.submit(portfolioId, { limit: '40', clientOrderId: 'unused' })).rejects.toThrow(
      StoreUnavailable,
    );
    await expect(main.submit(closed, { limit: '40' })).rejects.toThrow(StoreUnavailable);
    unlock();
    await expect.poll(() => store.history.isComplete('main'), PATIENCE).toBe(true);
    expect(await main.submit(portfolioId, { limit: '40', clientOrderId: 'c-3' })).toBe(
      'DUPLICATE_CLIENT_ORDER_ID',
    );
    expect(await main.submit(closed, { limit: '40' })).toBe('CONFLICT');
    expect(typeof (await main.submit(portfolioId, { limit: '40', clientOrderId: 'unused' }))).toBe('number');
    await main.written();
    await expectRight(store);
  });

  it('rows of later records are held, and those that are too many are made as well', async () => {
    const directory = await filled();
    rmSync(historyFile(directory));
    const store = await open(directory, { mostHeldRows: 10 });
    const main = await TradedSimulation.recovered(store);
    // More than ten records before any row is made, then some more.
    const portfolioId = [...main.brokerage.state.portfolios.keys()][0] ?? '';
    for (let n = 0; n < 25; n += 1) await main.place(portfolioId, { limit: '40' });
    expect(store.history.isComplete('main')).toBe(false);
    await main.durable();
    await main.place(portfolioId, { limit: '41' });
    await expect.poll(() => store.history.isComplete('main'), PATIENCE).toBe(true);
    await main.place(portfolioId, { limit: '42' });
    await main.written();
    expect(store.history.position('main')).toBe(main.seq);
    await expectRight(store);
    await expectNoDifferences(store, directory);
  });

  it('a simulation leaves memory and comes back, and the store closes', async () => {
    const directory = await filled();
    rmSync(historyFile(directory));
    let store = await open(directory);
    const main = await TradedSimulation.recovered(store);
    await main.transfer([...main.brokerage.state.portfolios.keys()][0] ?? '', 5);
    await main.leave();
    const again = await TradedSimulation.recovered(store);
    await again.transfer([...again.brokerage.state.portfolios.keys()][0] ?? '', 5);
    await again.durable();
    await close(store);
    store = await open(directory);
    await recovered(store);
    await expectRight(store);
  });

  it('a fork of a simulation whose rows are missing has all of them, also if its parent is deleted meanwhile', async () => {
    const directory = await filled();
    rmSync(historyFile(directory));
    const store = await open(directory);
    const main = await TradedSimulation.recovered(store);
    const child = await main.fork('child', 20);
    const orphan = await main.fork('orphan');
    void store.registry.deleteSimulation('main', START);
    await orphan.place([...orphan.brokerage.state.portfolios.keys()][0] ?? '', { limit: '40' });
    for (const fork of [child, orphan]) {
      await expect.poll(() => store.history.isComplete(fork.id), PATIENCE).toBe(true);
      await fork.written();
    }
    await expectRight(store, 'child', 'orphan');
  });
});

const allRecords = async (store: Store): Promise<unknown[]> => {
  const all: unknown[] = [];
  for await (const record of store.journal.read('main', 0)) all.push(record);
  return all;
};

describe('A full disk for history only', () => {
  const pagesOf = (directory: string): number => {
    const database = new DatabaseSync(historyFile(directory), { readOnly: true });
    const [pages] = Object.values(database.prepare('PRAGMA page_count').get() as Record<string, number>);
    database.close();
    return pages ?? 0;
  };

  it('does not stop trading, and the rows are written when there is space', async () => {
    const directory = newDirectory();
    const historyPageLimit = new Int32Array(new SharedArrayBuffer(4));
    const store = await open(directory, { historyPageLimit });
    const main = await begun(store);
    await trade(main, 2);
    await main.written();
    const { seq } = main;
    Atomics.store(historyPageLimit, 0, pagesOf(directory));
    await trade(main, 60, 'd');
    await main.durable();
    await expect.poll(() => store.history.health().status, PATIENCE).toBe('failing');
    expect(store.health().status).toBe('ok');
    expect(store.history.health()).toMatchObject({
      behind: main.seq - seq,
      reason: expect.stringContaining('full') as string,
    });
    await expect(store.history.flush('main')).rejects.toThrow(StoreUnavailable);
    expect(store.history.order('main', 1)).toBeDefined();
    const portfolioId = [...main.brokerage.state.portfolios.keys()][0] ?? '';
    // Known from memory, and by the tables: neither is accepted again.
    for (const clientOrderId of ['c-1', 'd-50'])
      expect(await main.submit(portfolioId, { limit: '40', clientOrderId })).toBe(
        'DUPLICATE_CLIENT_ORDER_ID',
      );
    expect(typeof (await main.submit(portfolioId, { limit: '40', clientOrderId: 'e' }))).toBe('number');
    Atomics.store(historyPageLimit, 0, 0);
    await complete(store);
    await main.written();
    expect(store.history.position('main')).toBe(main.seq);
    expect(store.history.health()).toMatchObject({ status: 'ok', behind: 0 });
    expect(notes).toEqual([
      expect.stringMatching(/^The history cannot be written: .*full/),
      'The history is written again',
    ]);
    await expectRight(store);
    await expectNoDifferences(store, directory);
  });

  it('does not prevent the store from closing; the rows are made by the next one', async () => {
    const directory = newDirectory();
    const historyPageLimit = new Int32Array(new SharedArrayBuffer(4));
    let store = await open(directory, { historyPageLimit });
    const main = await begun(store);
    await main.written();
    Atomics.store(historyPageLimit, 0, pagesOf(directory));
    await trade(main, 60);
    await main.durable();
    await expect.poll(() => store.history.health().status, PATIENCE).toBe('failing');
    await close(store);
    store = await open(directory);
    await recovered(store);
    expect(store.history.position('main')).toBe(main.seq);
    await expectRight(store);
  });
});

describe('Rows of the history', () => {
  it('are written without a read, within some seconds or when they are many', async () => {
    const store = await open(newDirectory());
    const main = await begun(store);
    expect(store.history.position('main')).toBe(0);
    await expect.poll(() => store.history.position('main'), PATIENCE).toBe(main.seq);
    const portfolioId = [...main.brokerage.state.portfolios.keys()][0] ?? '';
    for (let n = 0; n < 3_500; n += 1) {
      await main.transfer(portfolioId, 1);
      if (n % 500 === 0) await main.durable();
    }
    await main.durable();
    await main.written();
    expect(store.history.position('main')).toBe(main.seq);
    const page = { simulationId: 'main', list: 'ledger', owner: portfolioId, offset: 0, limit: 1 } as const;
    expect((await store.history.list(page)).total).toBe(3_501);
  });

  it('of a simulation that is in memory no longer are complete', async () => {
    const store = await open(newDirectory());
    const main = await begun(store);
    await trade(main, 5);
    await main.leave();
    await expectRight(store);
  });
});

describe('The history of a deleted simulation', () => {
  const TABLES = ['owner', 'portfolio', 'order', 'item', 'standing', 'mark', 'cell'];

  const rowsOf = (directory: string): number => {
    const database = new DatabaseSync(historyFile(directory), { readOnly: true });
    const counts = TABLES.map(
      (table) => (database.prepare(`SELECT count(*) AS n FROM history_${table}`).get() as { n: number }).n,
    );
    database.close();
    return counts.reduce((sum, count) => sum + count, 0);
  };

  it('is deleted completely, without a change to another simulation', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    const other = await begun(store, 'other');
    await trade(other, 3);
    await other.written();
    const left = rowsOf(directory);
    const main = await begun(store);
    await trade(main, 150);
    await main.written();
    expect(rowsOf(directory)).toBeGreaterThan(1_000);
    await store.registry.deleteSimulation('main', START);
    await expect.poll(() => rowsOf(directory), PATIENCE).toBe(left);
    await expectRight(store, 'other');
  });

  it('is deleted completely by the next process after a close', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    const main = await begun(store);
    await trade(main, 100);
    await main.written();
    void store.registry.deleteSimulation('main', START);
    await close(store);
    await open(directory);
    await expect.poll(() => rowsOf(directory), PATIENCE).toBe(0);
  });
});
