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
import { HistoryThread } from './history/history-host.js';
import { RegistryQueries } from './registry/registry-tables.js';
import { ScrubbingThread } from './checks/scrubbing-thread.js';
import type { ScrubOptions } from './checks/scrubbing-thread.js';
import { SimulationKeys } from './journal/simulation-keys.js';
import { hasForks } from './journal/fork-origin.js';
import { lineOf } from '../history/history-queries.js';
import { SqliteContents } from './sqlite-contents.js';
import { SqliteHistory } from './history/sqlite-history.js';
import { SqliteJournal } from './journal/sqlite-journal.js';
import { SqliteRegistry } from './registry/sqlite-registry.js';
import { webhooksInJournal } from './journal/webhook-database.js';
import { recoveryUrl, workerUrl } from '../worker-url.js';
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
  /** URL of a module that is a `CheckpointMaking`; absent = checkpoints are neither written nor used. */
  readonly recovery?: string;
  /** For tests: one shared number, the most pages the journal may have; 0 is no limit. */
  readonly pageLimit?: Int32Array;
  /** Page limit of the history. */
  readonly historyPageLimit?: Int32Array;
  /** For tests: records whose rows are held in memory while earlier ones are made again. */
  readonly mostHeldRows?: number;
}

/**
 * The embedded store: one journal for all simulations and a thread that writes it; history, whose rows another thread writes behind the
 * commits, and answers paged queries from.
 * Rejects with `StoreInUse` or `DamagedJournal`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, onFatal = () => undefined, note = () => undefined } = options;
  const { recovery, pageLimit, historyPageLimit } = options;
  makePrivateDirectory(directory);
  const lock = new DirectoryLock(directory);
  let queue: WriteQueue;
  try {
    queue = await WriteQueue.start({ directory, pageLimit }, onFatal);
  } catch (error) {
    lock.release();
    throw error;
  }
  let database: Database;
  try {
    database = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  } catch (error) {
    await queue.close();
    lock.release();
    throw unusable(directory, error);
  }
  const statements = new Statements(database);
  const blocks = new JournalBlocks(statements);
  const keys = new SimulationKeys(statements, blocks);
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
  const newMaker = (with_: string): CheckpointMaker =>
    new CheckpointMaker(
      { url: workerUrl('sqlite/checkpoints/checkpoint-thread'), recovery: with_, data: { directory } },
      files,
      configOf,
    );
  const maker = recovery === undefined ? undefined : newMaker(recovery);
  const checkpoints = maker ?? NO_CHECKPOINTS;
  // In its own thread: the rows of a large simulation must not keep the checkpoints of others waiting.
  const rowMaker = newMaker(recovery ?? recoveryUrl().href);
  const live = statements.of('SELECT 1 FROM simulation WHERE key = ? AND deleted_at IS NULL');
  files.tidy((key) => one(live, key) !== undefined || hasForks(statements, key));
  books.tidy((key) => one(live, key) !== undefined);
  const host = new HistoryThread({ directory, pageLimit: historyPageLimit });
  const history: SqliteHistory = await SqliteHistory.start({
    directory,
    host,
    keys,
    journal: blocks,
    durable: () => queue.durable(),
    makeRows: (simulationId, upTo) =>
      rowMaker.makeRows(
        simulationId,
        (key) =>
          lineOf(key, (fork) => blocks.originOf(fork), upTo).map((generation) => ({
            ...generation,
            position: history.storedPosition(generation.cell),
          })),
        (made) => history.writeMade(made),
      ),
    endMaking: () => rowMaker.close(),
    mostHeld: options.mostHeldRows,
    simulations: () => [...registry.simulations()].map(({ id }) => id),
    note,
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await maker?.close();
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
    webhooks: webhooksInJournal(queue, statements),
    past: history.past,
    contents: new SqliteContents(queue, statements, blocks),
    probe: () => queue.probe(),
    health: () => ({ ...queue.health(), ...(damage.length > 0 && { damage }) }),
    check: () => altered(database, statements),
    close: () => (closing ??= close()),
  };
}
