/** The thread that answers paged queries, so that a long scan does not hold up the event loop. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { OrderQuery, OrderRow, Page } from '../history.js';
import { openConnection, Statements } from './connection.js';
import { HistoryQueries } from './history-queries.js';
import type { ListQuery } from './history-queries.js';
import type { StoredItem } from './past-records.js';
import { HISTORY_FILE } from './history-schema.js';
import { troubleOf } from './history-trouble.js';
import type { Trouble } from './history-trouble.js';
import { JournalBlocks } from './journal-blocks.js';
import { JOURNAL_FILE } from './journal-schema.js';

export interface ReaderData {
  readonly directory: string;
  /** One shared number; not 0: what waits is not to be answered any more. */
  readonly isStopping: Int32Array;
}

export type ReaderRequest = { readonly id: number; readonly simulation: number } & (
  | { readonly kind: 'orders'; readonly query: OrderQuery }
  | { readonly kind: 'list'; readonly query: ListQuery }
);

export type ToReader = ReaderRequest | { readonly kind: 'close' };

export type ReaderAnswer =
  | { readonly id: number; readonly page: Page<OrderRow> | Page<StoredItem> }
  | { readonly id: number; readonly trouble: Trouble };

const port = parentPort;
if (port !== null) {
  const { directory, isStopping } = workerData as ReaderData;
  const database = openConnection(join(directory, HISTORY_FILE), { readOnly: true });
  database.exec('PRAGMA cache_size = -32768');
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
    let answer: ReaderAnswer;
    try {
      // One transaction: total and rows are of the same moment.
      database.exec('BEGIN');
      const { id, simulation } = request;
      const page =
        request.kind === 'orders'
          ? queries.orders(simulation, request.query)
          : queries.list(simulation, request.query);
      answer = { id, page };
    } catch (error) {
      answer = { id: request.id, trouble: troubleOf(error) };
    }
    if (database.isTransaction) database.exec('ROLLBACK');
    port.postMessage(answer);
  });
}
