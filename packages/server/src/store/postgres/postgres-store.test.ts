import { newDatabase } from '../../testing/test-database.js';
import { historyContract } from '../history.contract.js';
import { journalContract } from '../journal.contract.js';
import { registryContract } from '../registry.contract.js';
import type { Store } from '../store.js';
import { webhookContract } from '../webhooks.contract.js';
import { openPostgresStore } from './postgres-store.js';

const urls = new WeakMap<Store, string>();

async function openAt(url: string): Promise<Store> {
  const store = await openPostgresStore({ url });
  urls.set(store, url);
  return store;
}

const underTest = {
  open: async () => openAt(await newDatabase()),
  reopen: async (store: Store) => {
    await store.close();
    return openAt(urls.get(store) ?? '');
  },
};

journalContract('The PostgreSQL store', underTest);
historyContract('The PostgreSQL store', underTest);
registryContract('The PostgreSQL store', underTest);
webhookContract('PostgreSQL', underTest.open);
