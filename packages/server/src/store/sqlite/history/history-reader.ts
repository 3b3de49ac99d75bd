/** The thread that answers paged queries, so that a long scan does not hold up the event loop. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type {
  ClosedPortfolioRow,
  ListQuery,
  MinuteMark,
  OrderQuery,
  OrderRow,
  Page,
  SnapshotMinute,
  SnapshotRow,
} from '../../history.js';
import { openConnection, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { uninterrupted } from '../../../threads/process-end.js';
import { HistoryQueries } from './history-queries.js';
import type { StoredItem } from './past-records.js';
import { HISTORY_FILE } from './history-schema.js';
import { historyFailureOf } from './history-failure.js';
import type { HistoryFailure } from './history-failure.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';

export interface ReaderData {
  readonly directory: string;
  /** One shared number; not 0: queued queries are discarded. */
  readonly isStopping: Int32Array;
}

export type ReaderRequest = { readonly id: number; readonly simulation: number } & (
  | { readonly kind: 'orders'; readonly query: OrderQuery }
  | { readonly kind: 'list'; readonly query: ListQuery }
  | { readonly kind: 'closed-portfolios' }
  | { readonly kind: 'standing-minutes'; readonly portfolioId: string }
  | { readonly kind: 'standings'; readonly portfolioId: string; readonly from: number; readonly to: number }
  | { readonly kind: 'marks'; readonly symbol: string; readonly from: number; readonly to: number }
);

export type ToReader = ReaderRequest | { readonly kind: 'close' };

export type AnyPage =
  | Page<OrderRow>
  | Page<StoredItem>
  | Page<ClosedPortfolioRow>
  | Page<SnapshotMinute>
  | Page<SnapshotRow>
  | Page<MinuteMark>;

export type ReaderAnswer =
  { readonly id: number; readonly page: AnyPage } | { readonly id: number; readonly trouble: HistoryFailure };

const port = parentPort;
if (port !== null) {
  const { directory, isStopping } = workerData as ReaderData;
  const database = openConnection(join(directory, HISTORY_FILE), { readOnly: true });
  database.exec('PRAGMA cache_size = -8192');
  const journal = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  const queries = new HistoryQueries(new Statements(database), new JournalBlocks(new Statements(journal)));
  port.on('message', (request: ToReader) => {
    if (request.kind === 'close') {
      database.close();
      journal.close();
      port.close();
      return;
    }
    if (Atomics.load(isStopping, 0) !== 0) return;
    port.postMessage(uninterrupted(() => answerTo(database, queries, request)));
  });
}

function answerTo(database: Database, queries: HistoryQueries, request: ReaderRequest): ReaderAnswer {
  try {
    // One transaction: total and rows are of the same moment.
    database.exec('BEGIN');
    return { id: request.id, page: pageOf(queries, request) };
  } catch (error) {
    return { id: request.id, trouble: historyFailureOf(error) };
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

function pageOf(queries: HistoryQueries, request: ReaderRequest): AnyPage {
  switch (request.kind) {
    case 'orders':
      return queries.orders(request.simulation, request.query);
    case 'list':
      return queries.list(request.simulation, request.query);
    case 'closed-portfolios':
      return allOf(queries.closedPortfolios(request.simulation));
    case 'standing-minutes':
      return allOf(queries.standingMinutes(request.simulation, request.portfolioId));
    case 'standings':
      return allOf(queries.standings(request.simulation, request.portfolioId, request.from, request.to));
    case 'marks':
      return allOf(queries.marks(request.simulation, request.symbol, request.from, request.to));
  }
}

const allOf = <Row>(items: readonly Row[]): Page<Row> => ({ items, total: items.length });
