import { join } from 'node:path';
import type { Store } from '../store.js';
import { openConnection, Statements } from './connection.js';
import { DirectoryLock } from './directory-lock.js';
import { JournalBlocks } from './journal-blocks.js';
import { JOURNAL_FILE } from './journal-schema.js';
import { makePrivateDirectory } from './private-files.js';
import { HistoryQueries } from './history-queries.js';
import { RegistryQueries } from './registry-tables.js';
import { SimulationKeys } from './simulation-keys.js';
import { SqliteHistory } from './sqlite-history.js';
import { SqliteJournal } from './sqlite-journal.js';
import { SqliteRegistry } from './sqlite-registry.js';
import { WriteQueue } from './write-queue.js';

export interface SqliteStoreOptions {
  /** Created when it is not there. */
  readonly directory: string;
  /** Called once, when the store has failed for good: the process should end. */
  readonly onFatal?: (error: Error) => void;
  /** URL of a module with another `projectRecord`. */
  readonly projection?: string;
  /** For tests: one shared number, the most pages the database may have; 0 is no limit. */
  readonly pageLimit?: Int32Array;
}

/**
 * The embedded store: one database for all simulations, one thread that writes, one that answers paged queries.
 * Rejects with `StoreInUse` or `DamagedJournal`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, onFatal = () => undefined, pageLimit } = options;
  makePrivateDirectory(directory);
  const lock = new DirectoryLock(directory);
  let queue: WriteQueue;
  try {
    queue = await WriteQueue.start({ directory, pageLimit }, { onFatal, onCommitted: () => undefined });
  } catch (error) {
    lock.release();
    throw error;
  }
  const path = join(directory, JOURNAL_FILE);
  const database = openConnection(path, { readOnly: true });
  const statements = new Statements(database);
  const blocks = new JournalBlocks(statements);
  const keys = new SimulationKeys(statements, blocks);
  const history = new SqliteHistory(new HistoryQueries(statements), keys, path);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await history.close();
    // Before the writer, which empties the write-ahead log when nobody reads it any more.
    database.close();
    await queue.close();
    lock.release();
  };
  const journal = new SqliteJournal(queue, statements, blocks, keys);
  return {
    journal,
    checkpoints: { save: () => Promise.resolve(), load: () => undefined },
    history,
    registry: new SqliteRegistry(queue, new RegistryQueries(statements), keys),
    probe: () => queue.probe(),
    health: () => queue.health(),
    close: () => (closing ??= close()),
  };
}
