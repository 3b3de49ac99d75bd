import { afterAll, describe, expect, it } from 'vitest';
import { standbyFrom } from '../engine/recovery/checkpoint.js';
import { compareRuns } from './history-runs.contract.js';
import { newDirectory, openTestStore, removeDirectories } from './sqlite/data-directory.contract.js';
import { compareHistory } from './sqlite/checks/compare-history.js';
import { openMemoryStore } from './sqlite/memory-store.js';

afterAll(removeDirectories);

describe('History of any simulations and their forks', () => {
  it('in memory: is what their journals give, as it was written and made again', async () => {
    const store = await openMemoryStore({ standbyFrom });
    await compareRuns(store, 20);
    await store.close();
  }, 240_000);

  it('on disk: is what their journals give, as it was written and made again', async () => {
    const directory = newDirectory();
    const store = await openTestStore(directory);
    await compareRuns(store, 4, async () => {
      expect(await compareHistory(directory, standbyFrom)).toEqual({ problems: [], ids: [] });
    });
    await store.close();
  }, 240_000);
});
