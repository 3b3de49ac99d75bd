/** The past of a data directory, for walks in a thread of their own. Connections are read-only and end with the thread. */
import { join } from 'node:path';
import type { ListItem, Page } from '../../history.js';
import type { PastJournal, PastModule } from '../../past.js';
import { endIfRaised } from '../../stop-flag.js';
import { eachUninterrupted, uninterrupted } from '../../../threads/process-end.js';
import type { Asking } from '../../history/asking.js';
import * as queries from '../../history/history-queries.js';
import { one, openConnection, Statements } from '../database/connection.js';
import { BookFiles } from './book-files.js';
import { historyFailureOf } from './history-failure.js';
import { HISTORY_FILE } from './history-file.js';
import { OpenTables } from './open-tables.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';
import { LargeRecords, PastRecords } from './past-records.js';

/** Time for which a checked block counts as sound: pages follow each other quickly, and changes on disk are noticed soon. */
const KEPT_MS = 1_000;

const NO_EVENTS: ReadonlyMap<number, readonly queries.PlacedItem[]> = new Map();

const NOTHING: Page<ListItem> = { items: [], total: 0 };

export const openPast: PastModule['openPast'] = (data, stop) => {
  const { directory } = data as { readonly directory: string };
  const database = openConnection(join(directory, HISTORY_FILE), { readOnly: true });
  database.exec('PRAGMA cache_size = -8192');
  const { blocks, keyOf, journal } = openJournal(directory, stop);
  const tables = new OpenTables(database, blocks);
  const large = new LargeRecords();
  const books = new BookFiles(directory, blocks);
  const look = <Found>(id: string, query: (line: queries.Line) => Asking<Found>): Found | undefined => {
    const cell = keyOf(id);
    return cell === undefined ? undefined : uninterrupted(() => tables.ask(query(tables.lineOf(cell))));
  };
  let recent:
    { readonly simulation: number; readonly records: PastRecords; readonly until: number } | undefined;
  const recordsOf = (simulation: number): PastRecords => {
    const now = performance.now();
    if (recent?.simulation !== simulation || now > recent.until)
      recent = { simulation, records: new PastRecords(blocks, simulation, large), until: now + KEPT_MS };
    return recent.records;
  };
  const itemsAt = (id: string, places: readonly queries.PlacedItem[]): readonly ListItem[] => {
    const simulation = keyOf(id);
    if (simulation === undefined) return [];
    const records = recordsOf(simulation);
    return uninterrupted(() => places.map((place) => records.item(place)));
  };
  return {
    nameOf: (id) => keyOf(id)?.toString(),
    history: {
      order: (id, order) => look(id, (line) => queries.order(line, order)),
      list(query) {
        const page = look(query.simulationId, (line) => queries.list(line, query));
        return Promise.resolve(
          page === undefined ? NOTHING : { ...page, items: itemsAt(query.simulationId, page.items) },
        );
      },
    },
    ordersBetween: (id, first, last) => look(id, (line) => queries.ordersBetween(line, first, last)) ?? [],
    orderEventsBetween(id, first, last) {
      const found = look(id, (line) => queries.orderEventsBetween(line, first, last)) ?? NO_EVENTS;
      return new Map([...found].map(([number, places]) => [number, itemsAt(id, places)]));
    },
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

/** The journal of a data directory on its own connection. */
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
