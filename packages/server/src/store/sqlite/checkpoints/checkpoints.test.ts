import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateHash } from '@sandpit/core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Simulation } from '../../../engine/simulation/simulation.js';
import { mainOf } from '../../../engine/values/cell-names.js';
import type { Simulations } from '../../../engine/directory/simulations.js';
import {
  BY,
  minutesLater,
  MONDAY_TEN,
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
  TENANT,
} from '../../../testing/simulations.js';
import { checkpointContract } from '../../checkpoints.contract.js';
import type { Store } from '../../store.js';
import { newDirectory, removeDirectories } from '../data-directory.contract.js';
import { openSqliteStore } from '../sqlite-store.js';
import { recoveryUrl } from '../../worker-url.js';

const MAIN = mainOf(TENANT);

const opened: { store: Store; simulations: Simulations }[] = [];

async function start(
  directory: string,
): Promise<{ store: Store; main: Simulation; simulations: Simulations }> {
  const store = await openSqliteStore({ directory, recovery: recoveryUrl().href });
  const { main, simulations } = await startSimulations({}, store);
  opened.push({ store, simulations });
  return { store, main, simulations };
}

async function closeAll(): Promise<void> {
  for (const { store, simulations } of opened.splice(0)) {
    await simulations.close();
    await store.close();
  }
}
afterEach(closeAll);
afterAll(removeDirectories);

/** A simulation with a portfolio, a filled order and one that rests; three checkpoints of it, and a record behind them. */
async function withCheckpoints() {
  const directory = newDirectory();
  const { store, main } = await start(directory);
  const portfolio = await openTestPortfolio(main);
  await openTestPortfolio(main);
  await pushTestQuote(main, 'AAPL', '187.40', '187.50');
  const seqs: number[] = [];
  for (let made = 0; made < 3; made++) {
    await placeTestOrder(
      main,
      portfolio,
      made === 1 ? { orderType: 'LIMIT', limitPrice: 100_00000000 as never } : {},
    );
    seqs.push(await store.checkpoints.make(MAIN));
  }
  await placeTestOrder(main, portfolio);
  const hash = stateHash(main.brokerage.state);
  return { directory, store, main, seqs, hash };
}

const folderOf = (directory: string): string => join(directory, 'checkpoints');
const fileOf = (directory: string, seq: number): string => join(folderOf(directory), `2-${seq}.jsonl`);

const directories = new WeakMap<Store, string>();

const openIn = async (directory: string): Promise<Store> => {
  const store = await openSqliteStore({ directory, recovery: recoveryUrl().href });
  directories.set(store, directory);
  return store;
};

checkpointContract('The SQLite store', {
  open: () => openIn(newDirectory()),
  openAgain: (store) => openIn(directories.get(store) ?? ''),
  flipBit: (store, seq) => {
    flipBit(fileOf(directories.get(store) ?? '', seq), 0.5);
    return Promise.resolve();
  },
});

describe('Checkpoints of the embedded store', () => {
  it('are stored as files, of which the newest two are retained', async () => {
    const { directory } = await withCheckpoints();
    expect(readdirSync(folderOf(directory)).sort()).toEqual(['2-4.jsonl', '2-5.jsonl']);
  });

  it.each([
    ['with a flipped bit in its head', (path: string) => flipBit(path, 0.01)],
    [
      'with a flipped bit in the name of a field of its head',
      (path: string) => replaceIn(path, '"sim', '"rim'),
    ],
    ['with a flipped bit in its checksum', (path: string) => flipBit(path, 0.999)],
    ['that is truncated', (path: string) => truncateSync(path, readFileSync(path).length >> 1)],
    ['that is empty', (path: string) => truncateSync(path, 0)],
    ['that belongs to another record', becomeAnother],
  ])('are skipped for an older one or the journal: one %s', async (_, damage) => {
    const { directory, hash } = await withCheckpoints();
    await closeAll();
    damage(fileOf(directory, 5));
    const { store, main } = await start(directory);
    expect((await store.checkpoints.load(MAIN))?.seq).toBe(4);
    expect(stateHash(main.brokerage.state)).toBe(hash);
    await closeAll();
    damage(fileOf(directory, 4));
    const again = await start(directory);
    expect(await again.store.checkpoints.load(MAIN)).toBeUndefined();
    expect(stateHash(again.main.brokerage.state)).toBe(hash);
  });

  it('are replaced by a replay of the journal if this version cannot read their state', async () => {
    const { directory, hash } = await withCheckpoints();
    await closeAll();
    for (const seq of [4, 5]) losePortfolios(fileOf(directory, seq));
    const { store, main } = await start(directory);
    expect((await store.checkpoints.load(MAIN))?.seq).toBe(5);
    expect(stateHash(main.brokerage.state)).toBe(hash);
    await placeTestOrder(main, main.brokerage.state.portfolios.keys().next().value ?? '');
    expect(await store.checkpoints.make(MAIN)).toBe(7);
  });

  it('prevent the start if they were made of another journal, until they are deleted', async () => {
    const [one, other] = [await withCheckpoints(), await withCheckpoints()];
    await closeAll();
    writeFileSync(fileOf(other.directory, 5), readFileSync(fileOf(one.directory, 5)));
    await expect(start(other.directory)).rejects.toThrow(/2-5\.jsonl belongs to another journal/);
    rmSync(fileOf(other.directory, 5));
    const { store, main } = await start(other.directory);
    expect((await store.checkpoints.load(MAIN))?.seq).toBe(4);
    expect(stateHash(main.brokerage.state)).toBe(other.hash);
  });

  it('prevent the start if they contain more records than the journal', async () => {
    const { directory } = await withCheckpoints();
    await closeAll();
    const [head = '', ...lines] = readFileSync(fileOf(directory, 5), 'utf8').split('\n').slice(0, -2);
    const later = [head.replace('"seq":5', '"seq":60'), ...lines, ''].join('\n');
    const sum = createHash('sha256').update(later).digest('hex');
    writeFileSync(fileOf(directory, 60), `${later}${sum}\n`);
    await expect(start(directory)).rejects.toThrow(/2-60\.jsonl has more records than journal\.db/);
  });

  it('are written at a stop after enough new records', async () => {
    const directory = newDirectory();
    const { main } = await start(directory);
    const quotes = Array.from({ length: 1200 }, (_, i) =>
      pushTestQuote(main, 'AAPL', '187.40', `188.${10 + (i % 80)}`),
    );
    await Promise.all(quotes);
    await closeAll();
    expect(readdirSync(folderOf(directory))).toEqual(['1-1200.jsonl']);
    await start(directory);
    await closeAll();
    expect(readdirSync(folderOf(directory))).toEqual(['1-1200.jsonl']);
  });

  it('of a small state from memory equal those derived from the records', async () => {
    const directory = newDirectory();
    const { main, simulations } = await start(directory);
    const portfolio = await openTestPortfolio(main, { cash: 2_000_000 });
    await pushTestQuote(main, 'AAPL', '187.40', '187.50');
    const limit = { orderType: 'LIMIT', limitPrice: 100_00000000 as never, timeInForce: 'GTC' } as const;
    await placeTestOrder(main, portfolio, limit);
    for (let half = 0; half < 500; half += 1)
      await Promise.all([placeTestOrder(main, portfolio), pushTestQuote(main, 'AAPL', '187.40', '187.50')]);
    // None of these leaves a record.
    await pushTestQuote(main, 'MSFT', '400.00', '400.10');
    await simulations.market.moveClock(minutesLater(main, 90));
    await main.submit<'CancelOrder'>({ type: 'CancelOrder', by: BY, orderId: portfolio });
    expect(main.brokerage.state.now).toBeGreaterThan(MONDAY_TEN);
    await closeAll();
    const again = await start(directory);
    const { checkpoints } = again.store;
    const [fromMemory, records] = [await checkpoints.load(MAIN), again.main.published];
    expect(fromMemory?.seq).toBe(records);
    const lines = [...(fromMemory?.lines ?? [])];
    expect(lines.some((line) => line === `now ${MONDAY_TEN}`)).toBe(true);
    rmSync(fileOf(directory, records));
    // The thread's own recovery.
    expect(await checkpoints.make(MAIN)).toBe(records);
    // Checks of margin that had no result have run in memory, and are repeated by a recovery.
    const derived = [...((await checkpoints.load(MAIN))?.lines ?? [])];
    expect(lines).toEqual(derived.filter((line) => !line.startsWith('checks ')));
  });

  it('of a snapshot are deleted with it, and are not made if it is removed before', async () => {
    const { directory, store, main } = await withCheckpoints();
    const { simulations } = opened.at(-1)!;
    const take = async () => (await simulations.forking.takeSnapshot('main', TENANT))!;
    const kept = await take();
    await store.checkpoints.make(MAIN);
    expect(readdirSync(folderOf(directory))).toContain('2-6.kept.jsonl');
    await placeTestOrder(main, main.brokerage.state.portfolios.keys().next().value ?? '');
    const making = store.checkpoints.make(MAIN);
    const passing = await take();
    await simulations.snapshots.remove(MAIN, passing.snapshotId);
    expect(await simulations.snapshots.remove(MAIN, passing.snapshotId)).toBe(false);
    await making;
    await store.checkpoints.make(MAIN);
    expect(readdirSync(folderOf(directory)).sort()).toEqual(['2-6.jsonl', '2-6.kept.jsonl', '2-7.jsonl']);
    await simulations.snapshots.remove(MAIN, kept.snapshotId);
    await store.checkpoints.make(MAIN);
    expect(readdirSync(folderOf(directory)).sort()).toEqual(['2-6.jsonl', '2-7.jsonl']);
  });

  it('are deleted with their simulation, even while one is written; a partial file is deleted at the start', async () => {
    const { directory, store } = await withCheckpoints();
    writeFileSync(join(folderOf(directory), '2-6.jsonl.new'), '{');
    writeFileSync(join(folderOf(directory), '99-6.jsonl'), '{');
    const { simulations } = opened.at(-1)!;
    const wanted = { feed: 'push', clock: 'manual', calendar: 'XNYS', start: 0, speed: 1 } as const;
    const mine = await simulations.creation.create('tenant-1', wanted);
    await openTestPortfolio(mine);
    await store.checkpoints.make(mine.id);
    expect(readdirSync(folderOf(directory))).toContain('3-1.jsonl');
    await openTestPortfolio(mine);
    const making = store.checkpoints.make(mine.id);
    await simulations.directory.remove(mine.id, 'tenant-1');
    await making.catch(() => 0);
    await closeAll();
    await start(directory);
    expect(readdirSync(folderOf(directory)).sort()).toEqual(['2-4.jsonl', '2-5.jsonl']);
  });
});

/** Changes a checkpoint into one of a version with another state: complete, with its checksum. */
function losePortfolios(path: string): void {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -2);
  const left = lines.filter((line) => !line.startsWith('portfolios')).join('\n') + '\n';
  writeFileSync(path, `${left}${createHash('sha256').update(left).digest('hex')}\n`);
}

function becomeAnother(path: string): void {
  if (path.endsWith('-5.jsonl')) writeFileSync(path, readFileSync(path.replace('-5.', '-4.')));
  else writeFileSync(path, readFileSync(path, 'utf8').replace('"seq":4', '"seq":5'));
}

const replaceIn = (path: string, from: string, to: string): void =>
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));

function flipBit(path: string, where: number): void {
  const data = readFileSync(path);
  const at = Math.floor(data.length * where);
  data[at] = (data[at] ?? 0) ^ 1;
  writeFileSync(path, data);
}
