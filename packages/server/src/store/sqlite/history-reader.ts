/** The thread that answers paged queries, so that a long scan does not hold up the event loop. */
import { parentPort, workerData } from 'node:worker_threads';
import type { OrderQuery, OrderRow, Page } from '../history.js';
import { openConnection, Statements } from './connection.js';
import { HistoryQueries } from './history-queries.js';
import type { ListQuery, StoredItem } from './history-queries.js';

export interface ReaderData {
  readonly path: string;
}

export type ReaderRequest = { readonly id: number; readonly simulation: number } & (
  | { readonly kind: 'orders'; readonly query: OrderQuery }
  | { readonly kind: 'list'; readonly query: ListQuery }
);

export type ReaderAnswer =
  | { readonly id: number; readonly page: Page<OrderRow> | Page<StoredItem> }
  | { readonly id: number; readonly error: string };

const port = parentPort;
if (port !== null) {
  const database = openConnection((workerData as ReaderData).path, { readOnly: true });
  database.exec('PRAGMA cache_size = -32768');
  const queries = new HistoryQueries(new Statements(database));
  port.on('message', (request: ReaderRequest) => {
    let answer: ReaderAnswer;
    // One transaction: total and rows are of the same moment.
    database.exec('BEGIN');
    try {
      const { id, simulation } = request;
      const page =
        request.kind === 'orders'
          ? queries.orders(simulation, request.query)
          : queries.list(simulation, request.query);
      answer = { id, page };
    } catch (error) {
      answer = { id: request.id, error: error instanceof Error ? error.message : String(error) };
    }
    database.exec('ROLLBACK');
    port.postMessage(answer);
  });
}
