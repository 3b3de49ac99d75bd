import { join } from 'node:path';
import { CheckpointMaker } from '../checkpoint-maker.js';
import { NO_CHECKPOINTS } from '../checkpoints.js';
import { DamagedJournal } from '../journal.js';
import type { Store } from '../store.js';
import { CheckpointFiles } from './checkpoints/checkpoint-files.js';
import { one, openConnection, Statements } from './database/connection.js';
import type { Database } from './database/connection.js';
import { DirectoryLock } from './database/directory-lock.js';
import { altered } from './checks/journal-check.js';
import { JournalBlocks } from './journal/journal-blocks.js';
import { JOURNAL_FILE } from './journal/journal-schema.js';
import { makePrivateDirectory, unusable } from './database/private-files.js';
import { BookFiles } from './history/book-files.js';
import { ProjectingThread } from './history/projecting-thread.js';
import { RegistryQueries } from './registry/registry-tables.js';
import { ScrubbingThread } from './checks/scrubbing-thread.js';
import type { ScrubOptions } from './checks/scrubbing-thread.js';
import { SimulationKeys } from './journal/simulation-keys.js';
import { hasForks } from './journal/fork-origin.js';
import { SqliteContents } from './sqlite-contents.js';
import { SqliteHistory } from './history/sqlite-history.js';
import { SqliteJournal } from './journal/sqlite-journal.js';
import { SqliteRegistry } from './registry/sqlite-registry.js';
import { SqliteWebhooks } from './webhooks/sqlite-webhooks.js';
import { projectionUrl, workerUrl } from '../worker-url.js';
import { WriteQueue } from './journal/write-queue.js';

export interface SqliteStoreOptions {
  /** Created when it is not there. */
  readonly directory: string;
  /** Called once, when the store has failed permanently: the process should end. */
  readonly onFatal?: (error: Error) => void;
  /** Receives notes for the operator, one line each. */
  readonly note?: (text: string) => void;
  /** Notification that stored data is damaged; the simulation, if only one is affected. */
  readonly onDamage?: (problem: DamagedJournal, simulationId: string | undefined) => void;
  /** For tests: how soon and how fast the journal is read again. */
  readonly scrub?: ScrubOptions;
  /** Derives history again, regardless of its state. */
  readonly isHistoryFresh?: boolean;
  /** URL of a module that is a `CheckpointMaking`; absent = checkpoints are neither written nor used. */
  readonly recovery?: string;
  /** URL of a module with another `projectRecord`. */
  readonly projection?: string;
  /** For tests: one shared number, the most pages the journal may have; 0 is no limit. */
  readonly pageLimit?: Int32Array;
  /** The same for history. */
  readonly historyPageLimit?: Int32Array;
}

/**
 * The embedded store: one journal for all simulations and a thread that writes it; history, derived from it by another thread, and one
 * that answers paged queries.
 * Rejects with `StoreInUse` or `DamagedJournal`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, onFatal = () => undefined, note = () => undefined } = options;
  const { recovery, pageLimit, historyPageLimit } = options;
  makePrivateDirectory(directory);
  const lock = new DirectoryLock(directory);
  const projector = new ProjectingThread({
    directory,
    projection: options.projection ?? projectionUrl().href,
    fresh: options.isHistoryFresh === true ? 'asked for' : undefined,
    pageLimit: historyPageLimit,
  });
  let queue: WriteQueue;
  try {
    const onCommitted = (records: number): void => projector.signal.committed(records);
    queue = await WriteQueue.start({ directory, pageLimit }, { onFatal, onCommitted });
  } catch (error) {
    await projector.close();
    lock.release();
    throw error;
  }
  let database: Database;
  try {
    database = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  } catch (error) {
    await projector.close();
    await queue.close();
    lock.release();
    throw unusable(directory, error);
  }
  const statements = new Statements(database);
  const blocks = new JournalBlocks(statements);
  const keys = new SimulationKeys(statements, blocks);
  const history = await SqliteHistory.start({ directory, projector, keys, journal: blocks, note });
  const damage: string[] = [];
  const scrub = new ScrubbingThread(directory, options.scrub ?? {}, ({ message, simulation }) => {
    damage.push(message);
    note(message);
    options.onDamage?.(
      new DamagedJournal(message, simulation === undefined ? {} : { simulation }),
      simulation === undefined ? undefined : keys.idOf(simulation),
    );
  });
  const files = new CheckpointFiles(directory, blocks);
  const books = new BookFiles(directory, blocks);
  const registry = new SqliteRegistry(queue, new RegistryQueries(statements), keys, blocks, (key) => {
    history.forget(key);
    books.remove(key);
    // Forks start from their ancestors' checkpoints: those go with the next start of the server after the last fork. So do any that cannot
    // be removed now.
    if (closing === undefined && !hasForks(statements, key)) files.remove(key).catch(() => undefined);
  });
  const configOf = (id: string) => {
    const key = keys.find(id)?.key;
    return key === undefined ? undefined : { key, config: registry.simulation(id)?.config ?? '' };
  };
  const maker =
    recovery === undefined
      ? undefined
      : new CheckpointMaker(
          { url: workerUrl('sqlite/checkpoints/checkpoint-thread'), recovery, data: { directory } },
          files,
          configOf,
        );
  const checkpoints = maker ?? NO_CHECKPOINTS;
  const live = statements.of('SELECT 1 FROM simulation WHERE key = ? AND deleted_at IS NULL');
  files.tidy((key) => one(live, key) !== undefined || hasForks(statements, key));
  books.tidy((key) => one(live, key) !== undefined);
  const webhooks = new SqliteWebhooks(directory);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await maker?.close();
    await webhooks.close();
    await scrub.close();
    await history.close();
    // Closed before the writer, which empties the write-ahead log when it has no other readers.
    database.close();
    await queue.close();
    lock.release();
  };
  const journal = new SqliteJournal(queue, statements, blocks, keys);
  return {
    journal,
    checkpoints,
    history,
    registry,
    webhooks,
    past: history.past,
    contents: new SqliteContents(queue, statements, blocks),
    probe: () => queue.probe(),
    health: () => ({ ...queue.health(), ...(damage.length > 0 && { damage }) }),
    check: () => altered(database, statements),
    close: () => (closing ??= close()),
  };
}
