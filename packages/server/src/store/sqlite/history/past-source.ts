/** The past of a data directory, for walks in a thread of their own. Connections are read-only and end with the thread. */
import { join } from 'node:path';
import type { ListItem, Page } from '../../history.js';
import type { PastJournal, PastModule } from '../../past.js';
import { endIfRaised } from '../../stop-flag.js';
import { eachUninterrupted, uninterrupted } from '../../../threads/process-end.js';
import { one, openConnection, Statements } from '../database/connection.js';
import { BookFiles } from './book-files.js';
import { historyFailureOf } from './history-failure.js';
import { HistoryQueries } from './history-queries.js';
import { HISTORY_FILE } from './history-schema.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';
import type { PastRecords } from './past-records.js';

/** Time for which a checked block counts as sound: pages follow each other quickly, and changes on disk are noticed soon. */
const KEPT_MS = 1_000;

const NOTHING: Page<ListItem> = { items: [], total: 0 };

export const openPast: PastModule['openPast'] = (data, stop) => {
  const { directory } = data as { readonly directory: string };
  const database = openConnection(join(directory, HISTORY_FILE), { readOnly: true });
  database.exec('PRAGMA cache_size = -8192');
  const { blocks, keyOf, journal } = openJournal(directory, stop);
  const queries = new HistoryQueries(new Statements(database), blocks);
  const books = new BookFiles(directory, blocks);
  /** Several rows are read: they must be of the same moment. */
  const look = <Found>(id: string, read: (simulation: number) => Found): Found | undefined => {
    const simulation = keyOf(id);
    if (simulation === undefined) return undefined;
    return uninterrupted(() => {
      database.exec('BEGIN');
      try {
        return read(simulation);
      } finally {
        // Some failures end the transaction themselves.
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    });
  };
  let recent:
    { readonly simulation: number; readonly records: PastRecords; readonly until: number } | undefined;
  const recordsOf = (simulation: number): PastRecords => {
    const now = performance.now();
    if (recent?.simulation !== simulation || now > recent.until)
      recent = { simulation, records: queries.records(simulation), until: now + KEPT_MS };
    return recent.records;
  };
  return {
    nameOf: (id) => keyOf(id)?.toString(),
    history: {
      order: (id, order) => look(id, (simulation) => queries.order(simulation, order)),
      list: (query) =>
        Promise.resolve(
          look(query.simulationId, (simulation) => queries.items(simulation, query, recordsOf(simulation))) ??
            NOTHING,
        ),
    },
    ordersBetween: (id, first, last) =>
      look(id, (simulation) => queries.ordersBetween(simulation, first, last)) ?? [],
    orderEventsBetween: (id, first, last) =>
      look(id, (simulation) => queries.orderEventsBetween(simulation, first, last, recordsOf(simulation))) ??
      new Map(),
    journal,
    books: {
      load(id, portfolioId) {
        const simulation = keyOf(id);
        return simulation === undefined ? undefined : books.load(simulation, portfolioId);
      },
      save(id, portfolioId, seq, parts) {
        const simulation = keyOf(id);
        if (simulation === undefined) return;
        books.save(simulation, portfolioId, seq, parts);
        // Deleted meanwhile: the main thread may have removed its books before this one was there.
        if (keyOf(id) !== simulation) books.remove(simulation);
      },
    },
  };
};

export const openPastJournal: PastModule['openPastJournal'] = (data, stop) =>
  openJournal((data as { readonly directory: string }).directory, stop).journal;

/** The journal of a data directory on a connection of its own. */
function openJournal(
  directory: string,
  stop: Int32Array,
): {
  readonly blocks: JournalBlocks;
  readonly keyOf: (id: string) => number | undefined;
  readonly journal: PastJournal;
} {
  const statements = new Statements(openConnection(join(directory, JOURNAL_FILE), { readOnly: true }));
  const blocks = new JournalBlocks(statements);
  /** Each read begins with it. */
  const keyOf = (id: string): number | undefined => {
    endIfRaised(stop);
    const sql = 'SELECT key FROM simulation WHERE id = ? AND deleted_at IS NULL';
    return uninterrupted(() => one<{ key: number }>(statements.of(sql), id)?.key);
  };
  return {
    blocks,
    keyOf,
    journal: {
      lastSeq(id) {
        const simulation = keyOf(id);
        return simulation === undefined ? 0 : blocks.tail(simulation).seq;
      },
      *read(id, afterSeq) {
        const simulation = keyOf(id);
        if (simulation === undefined) return;
        for (const record of eachUninterrupted(blocks.read(simulation, id, afterSeq))) {
          yield record;
          endIfRaised(stop);
        }
      },
    },
  };
}

export const failureOf: PastModule['failureOf'] = historyFailureOf;
