import { afterAll } from 'vitest';
import { historyContract } from '../history.contract.js';
import { journalContract } from '../journal.contract.js';
import { registryContract } from '../registry.contract.js';
import type { Store } from '../store.js';
import { webhookContract } from '../webhooks.contract.js';
import { newDirectory, openTestStore, removeDirectories } from './data-directory.contract.js';

const directories = new WeakMap<Store, string>();

async function openIn(directory: string): Promise<Store> {
  const store = await openTestStore(directory);
  directories.set(store, directory);
  return store;
}

const underTest = {
  open: () => openIn(newDirectory()),
  reopen: async (store: Store) => {
    await store.close();
    return openIn(directories.get(store) ?? '');
  },
};

afterAll(removeDirectories);

journalContract('The SQLite store', underTest);
historyContract('The SQLite store', underTest);
registryContract('The SQLite store', underTest);
webhookContract('SQLite', underTest.open);
