import { afterEach, describe, expect, it } from 'vitest';
import { recordOf, START, withSimulation } from './fixtures.contract.js';
import type { StoreUnderTest } from './fixtures.contract.js';
import type { Store } from './store.js';

/** What every keeper of checkpoints does. */
export function checkpointsContract(name: string, underTest: StoreUnderTest): void {
  describe(`${name} as a keeper of checkpoints`, () => {
    const opened: Store[] = [];
    const open = async (): Promise<Store> => {
      const store = await withSimulation(await underTest.open());
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    it('loads the latest', async () => {
      const { journal, checkpoints } = await open();
      expect(checkpoints.load('main')).toBeUndefined();
      for (let seq = 1; seq <= 4; seq += 1) {
        await journal.append(recordOf('main', seq));
        await checkpoints.save({ simulationId: 'main', seq, state: `{"seq":${seq}}` });
      }
      expect(checkpoints.load('main')).toEqual({ simulationId: 'main', seq: 4, state: '{"seq":4}' });
    });

    it('forgets those of a deleted simulation', async () => {
      const { journal, checkpoints, registry } = await open();
      await journal.append(recordOf('main', 1));
      await checkpoints.save({ simulationId: 'main', seq: 1, state: '{}' });
      await registry.deleteSimulation('main', START);
      expect(checkpoints.load('main')).toBeUndefined();
    });
  });
}
