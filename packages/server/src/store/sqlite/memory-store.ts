import { NO_CHECKPOINTS } from '../checkpoints.js';
import type { CheckpointMaking } from '../checkpoints.js';
import { lineOf } from '../history/history-queries.js';
import { makeRows } from '../history/make-rows.js';
import { webhooksInJournal } from './journal/webhook-database.js';
import type { Store } from '../store.js';
import { Statements } from './database/connection.js';
import { HistoryInPlace } from './history/history-host.js';
import { HistoryWork, IN_MEMORY } from './history/history-work.js';
import { SqliteHistory } from './history/sqlite-history.js';
import { JournalBlocks } from './journal/journal-blocks.js';
import { SimulationKeys } from './journal/simulation-keys.js';
import { SqliteJournal } from './journal/sqlite-journal.js';
import { WriteQueue } from './journal/write-queue.js';
import { RegistryQueries } from './registry/registry-tables.js';
import { SqliteRegistry } from './registry/sqlite-registry.js';
import { writeInPlace } from './writer/journal-writer.js';

export interface MemoryStoreOptions {
  /** Recovery, for imported simulations: their rows are made from the journal. Absent = there are none. */
  readonly standbyFrom?: CheckpointMaking['standbyFrom'];
}

/** The embedded store in memory and on the calling thread: for tests, and for programs that embed a brokerage. It ends with the process. */
export async function openMemoryStore({ standbyFrom }: MemoryStoreOptions = {}): Promise<Store> {
  const { line, database } = writeInPlace();
  const queue = WriteQueue.inPlace(line, true, () => undefined);
  const statements = new Statements(database, () => queue.flush());
  const blocks = new JournalBlocks(statements);
  const keys = new SimulationKeys(statements, blocks);
  const work = new HistoryWork(IN_MEMORY, statements);
  const makeRowsHere = async (simulationId: string, upTo: number): Promise<void> => {
    const key = keys.find(simulationId)?.key;
    if (key === undefined || standbyFrom === undefined) return;
    const line = lineOf(key, (fork) => blocks.originOf(fork), upTo).map((generation) => ({
      ...generation,
      position: history.storedPosition(generation.cell),
    }));
    const config = registry.simulation(simulationId)?.config ?? '';
    await makeRows(line, {
      standbyAt: () => Promise.resolve(standbyFrom(config, undefined)),
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
    note: () => undefined,
  });
  const registry = new SqliteRegistry(queue, new RegistryQueries(statements), keys, blocks, (key) =>
    history.forget(key),
  );
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await history.close();
    await queue.close();
  };
  return {
    journal: new SqliteJournal(queue, statements, blocks, keys),
    // The state ends with the process, and is fast to read.
    checkpoints: NO_CHECKPOINTS,
    history,
    registry,
    webhooks: webhooksInJournal(queue, statements),
    probe: () => queue.probe(),
    health: () => queue.health(),
    check: () => [],
    close: () => (closing ??= close()),
  };
}
