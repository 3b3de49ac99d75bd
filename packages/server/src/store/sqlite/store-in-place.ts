import { join } from 'node:path';
import { NO_CHECKPOINTS } from '../checkpoints.js';
import type { CheckpointMaking, Checkpoints } from '../checkpoints.js';
import { lineOf } from '../history/history-queries.js';
import { makeRows } from '../history/make-rows.js';
import type { Store } from '../store.js';
import { CheckpointFiles } from './checkpoints/checkpoint-files.js';
import { altered } from './checks/journal-check.js';
import { openConnection, Statements } from './database/connection.js';
import { DirectoryLock } from './database/directory-lock.js';
import { makePrivateDirectory } from './database/private-files.js';
import { BookFiles } from './history/book-files.js';
import { HISTORY_FILE } from './history/history-file.js';
import { HistoryInPlace } from './history/history-host.js';
import { HistoryWork } from './history/history-work.js';
import { SqliteHistory } from './history/sqlite-history.js';
import { hasForks } from './journal/fork-origin.js';
import { JournalBlocks } from './journal/journal-blocks.js';
import { JOURNAL_FILE } from './journal/journal-schema.js';
import { SimulationKeys } from './journal/simulation-keys.js';
import { SqliteJournal } from './journal/sqlite-journal.js';
import { WriteQueue } from './journal/write-queue.js';
import { RegistryQueries } from './registry/registry-tables.js';
import { SqliteRegistry } from './registry/sqlite-registry.js';
import { webhooksInJournal } from './journal/webhook-database.js';
import { writeInPlace } from './writer/journal-writer.js';

interface StoreInPlaceOptions {
  /** Created when it is not there. */
  readonly directory: string;
  readonly standbyFrom: CheckpointMaking['standbyFrom'];
  /** Called once, when the store has failed permanently. */
  readonly onFatal: (error: Error) => void;
}

/**
 * The embedded store on the calling thread, for programs that embed a brokerage (D256): a commit for each turn of the event loop in which
 * something was appended. The data directory is the same as a server's. Rejects with `StoreInUse` or `DamagedJournal`.
 */
export async function openStoreInPlace({
  directory,
  standbyFrom,
  onFatal,
}: StoreInPlaceOptions): Promise<Store> {
  makePrivateDirectory(directory);
  const lock = new DirectoryLock(directory);
  let isOpen = false;
  try {
    const { line } = writeInPlace(directory);
    const queue = WriteQueue.inPlace(line, false, onFatal);
    const database = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
    const statements = new Statements(database);
    const blocks = new JournalBlocks(statements);
    const keys = new SimulationKeys(statements, blocks);
    const files = new CheckpointFiles(directory, blocks);
    const books = new BookFiles(directory, blocks);
    let isClosing = false;
    const registry = new SqliteRegistry(queue, new RegistryQueries(statements), keys, blocks, (key) => {
      history.forget(key);
      books.remove(key);
      if (!isClosing && !hasForks(statements, key)) files.remove(key).catch(() => undefined);
    });
    const work = new HistoryWork(join(directory, HISTORY_FILE), statements);
    const makeRowsHere = async (simulationId: string, upTo: number): Promise<void> => {
      const key = keys.find(simulationId)?.key;
      if (key === undefined) return;
      const config = registry.simulation(simulationId)?.config ?? '';
      const generations = lineOf(key, (fork) => blocks.originOf(fork), upTo).map((generation) => ({
        ...generation,
        position: history.storedPosition(generation.cell),
      }));
      await makeRows(generations, {
        standbyAt: (seq) => Promise.resolve(standbyFrom(config, files.load(key, seq))),
        read: (afterSeq) => [blocks.read(key, simulationId, afterSeq)],
        write: (made) => history.writeMade(made),
      });
    };
    const history: SqliteHistory = await SqliteHistory.start({
      directory: undefined,
      host: new HistoryInPlace(work),
      keys,
      journal: blocks,
      tables: () => work.tables,
      durable: () => queue.durable(),
      makeRows: makeRowsHere,
      simulations: () => [...registry.simulations()].map(({ id }) => id),
      note: () => undefined,
    });
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      isClosing = true;
      await history.close();
      database.close();
      await queue.close();
      lock.release();
    };
    isOpen = true;
    return {
      journal: new SqliteJournal(queue, statements, blocks, keys),
      checkpoints: checkpointsIn(files, (id) => keys.find(id)?.key),
      history,
      registry,
      webhooks: webhooksInJournal(queue, statements),
      probe: () => queue.probe(),
      health: () => queue.health(),
      check: () => altered(database, statements),
      close: () => (closing ??= close()),
    };
  } finally {
    if (!isOpen) lock.release();
  }
}

/** Checkpoints that the calling thread has made are written; larger ones would need a thread, and the next start reads more records. */
const checkpointsIn = (
  files: CheckpointFiles,
  keyOf: (simulationId: string) => number | undefined,
): Checkpoints => ({
  ...NO_CHECKPOINTS,
  load: (simulationId, upTo) => {
    const key = keyOf(simulationId);
    return key === undefined ? undefined : files.load(key, upTo);
  },
  make: (simulationId, state) => {
    const key = keyOf(simulationId);
    if (key === undefined || state === undefined) return Promise.resolve(0);
    files.save(key, state, false);
    return Promise.resolve(state.seq);
  },
  letGo: (simulationId, seq) => {
    const key = keyOf(simulationId);
    if (key !== undefined) void files.letGo(key, seq);
  },
});
