import { DatabaseSync } from '@photostructure/sqlite';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { allOf, answerOf, recordOf, withSimulation } from '../../fixtures.contract.js';
import type { Store } from '../../store.js';
import { newDirectory, openTestStore, removeDirectories } from '../data-directory.contract.js';

const opened: Store[] = [];

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(removeDirectories);

interface Found {
  readonly simulationId: string | undefined;
  readonly message: string;
}

/** A store in use, and the damage found in it after it was changed behind its back. */
async function foundAfter(sql: string): Promise<{ readonly store: Store; readonly found: readonly Found[] }> {
  const directory = newDirectory();
  const found: Found[] = [];
  const store = await openTestStore(directory, {
    scrub: { delayMs: 0, pace: { bytes: 1_000, pauseMs: 1, restMs: 5 } },
    onDamage: ({ message }, simulationId) => found.push({ simulationId, message }),
  });
  opened.push(store);
  await withSimulation(store);
  await withSimulation(store, 'other');
  for (let seq = 1; seq <= 5; seq += 1) {
    await store.journal.append(recordOf('main', seq), answerOf(`k${seq}`));
    await store.journal.append(recordOf('other', seq));
  }
  expect(found).toEqual([]);
  const database = new DatabaseSync(join(directory, 'journal.db'), { timeout: 5_000 });
  database.exec(sql);
  database.close();
  return { store, found };
}

describe('The background scrub', () => {
  it.each([
    [
      'a record',
      'UPDATE block SET data = zeroblob(9) WHERE simulation = 2 AND first = 2',
      'other',
      /Record 2 .* damaged/,
    ],
    [
      'a missing record',
      'DELETE FROM block WHERE simulation = 1 AND first = 3',
      'main',
      /Record 3 .* missing/,
    ],
    ['an answer', `UPDATE answer SET body = 'x' WHERE k = 2`, undefined, /answers kept for idempotency keys/],
    ['the registry', `UPDATE simulation SET config = 'x'`, undefined, /tenants, keys, simulations/],
  ])('finds and reports damage in %s', async (_, sql, simulationId, message) => {
    const { store, found } = await foundAfter(sql);
    await expect.poll(() => found.length, { timeout: 10_000 }).toBe(1);
    expect(found[0]).toMatchObject({ simulationId, message: expect.stringMatching(message) as string });
    expect(store.health().damage).toEqual([found[0]?.message]);
  });

  it('reports nothing for an undamaged journal', async () => {
    const { store, found } = await foundAfter('SELECT 1');
    for (let seq = 6; seq <= 60; seq += 1) await store.journal.append(recordOf('main', seq));
    expect(found).toEqual([]);
    expect(await allOf(store.check())).toEqual([]);
  });
});

describe('Checks of a store', () => {
  it.each([
    [
      'a record',
      'UPDATE block SET data = zeroblob(9) WHERE simulation = 2 AND first = 2',
      /Record 2 .* damaged/,
    ],
    ['an answer', `DELETE FROM answer WHERE k = 2`, /answers kept for idempotency keys/],
    [
      'a block of an unknown simulation',
      'UPDATE block SET simulation = 7 WHERE simulation = 2 AND first = 1',
      /was never created/,
    ],
    ['the meta row', 'UPDATE meta SET last_k = last_k + 1', /meta row/],
    ['the tables', 'DROP INDEX block_by_first', /does not have the tables/],
  ])('report damage in %s', async (_, sql, message) => {
    const { store } = await foundAfter(sql);
    expect((await allOf(store.check())).map((problem) => problem.message).join()).toMatch(message);
  });

  it('are asked to end at a close, not terminated during a read, which would abort the process', async () => {
    const directory = newDirectory();
    const options = { scrub: { delayMs: 0, pace: { bytes: 4_000_000, pauseMs: 0, restMs: 0 } } };
    let store = await openTestStore(directory, options);
    await withSimulation(store);
    let seq = 0;
    const append = (count: number) =>
      Promise.all(Array.from({ length: count }, () => store.journal.append(recordOf('main', (seq += 1)))));
    await append(5_000);
    // It reads while records are written, for different times.
    for (const count of [200, 500, 1_000]) {
      await store.close();
      store = await openTestStore(directory, options);
      await append(count);
    }
    await store.close();
  });
});
