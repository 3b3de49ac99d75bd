import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { mainOf } from '../../engine/values/cell-names.js';
import { openTestPortfolio, startSimulations, TENANT } from '../../testing/simulations.js';
import { newDatabase } from '../../testing/test-database.js';
import { checkpointContract } from '../checkpoints.contract.js';
import type { Store } from '../store.js';
import { recoveryUrl } from '../worker-url.js';
import { openPostgresStore } from './postgres-store.js';

const urls = new WeakMap<Store, string>();

async function openAt(url: string): Promise<Store> {
  const store = await openPostgresStore({ url, recovery: recoveryUrl().href });
  urls.set(store, url);
  return store;
}

const urlOf = (store: Store): string => urls.get(store) ?? '';

checkpointContract('The PostgreSQL store', {
  open: async () => openAt(await newDatabase()),
  openAgain: (store) => openAt(urlOf(store)),
  flipBit: async (store, seq) => {
    const client = new pg.Client({ connectionString: urlOf(store) });
    await client.connect();
    await client.query(
      'UPDATE sandpit.checkpoint_part SET data = set_bit(data, 8 * (length(data) / 2), 1 - get_bit(data, 8 * (length(data) / 2))) WHERE seq = $1',
      [seq],
    );
    await client.end();
  },
});

it('Checkpoints of a tenant that leaves the node while the next one is made are retained', async () => {
  const store = await openPostgresStore({
    url: await newDatabase(),
    recovery: recoveryUrl().href,
    node: 'a',
    cluster: { url: 'http://a', version: '1', facts: {} },
  });
  try {
    await store.ownership?.acquire([TENANT]);
    const { main } = await startSimulations({}, store);
    await openTestPortfolio(main);
    await main.durable();
    expect(await store.checkpoints.make(mainOf(TENANT))).toBe(1);
    const made = store.checkpoints.make(mainOf(TENANT));
    await turn();
    await store.ownership?.release([TENANT], undefined);
    await made;
    await store.ownership?.acquire([TENANT]);
    expect((await store.checkpoints.load(mainOf(TENANT)))?.seq).toBe(1);
  } finally {
    await store.close();
  }
});
