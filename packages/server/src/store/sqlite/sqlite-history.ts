import { Worker } from 'node:worker_threads';
import type {
  ClosedPortfolioRow,
  History,
  ListItem,
  ListName,
  OrderQuery,
  OrderRow,
  Page,
} from '../history.js';
import { StoreUnavailable } from '../journal.js';
import { readingIntact } from './connection.js';
import type { HistoryQueries, StoredItem } from './history-queries.js';
import type { ReaderAnswer, ReaderData, ReaderRequest } from './history-reader.js';
import type { SimulationKeys } from './simulation-keys.js';
import { WORKER_OPTIONS, workerUrl } from './worker-url.js';

/** Queries that may wait for the reader; more means that it does not keep up. */
const MOST_WAITING = 1_000;

interface Waiting {
  readonly resolve: (page: Page<OrderRow> | Page<StoredItem>) => void;
  readonly reject: (error: Error) => void;
}

export class SqliteHistory implements History {
  readonly #queries: HistoryQueries;
  readonly #keys: SimulationKeys;
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #reader: Worker | undefined;
  #requests = 0;

  constructor(queries: HistoryQueries, keys: SimulationKeys, path: string) {
    this.#queries = queries;
    this.#keys = keys;
    this.#path = path;
  }

  position(simulationId: string): number {
    return this.#keys.find(simulationId)?.lastSeq ?? 0;
  }

  /** They are written in the commit of the record. */
  reached(): Promise<void> {
    return Promise.resolve();
  }

  order(simulationId: string, order: number): OrderRow | undefined {
    const simulation = this.#keys.find(simulationId)?.key;
    if (simulation === undefined) return undefined;
    return readingIntact(() => this.#queries.order(simulation, order));
  }

  closedPortfolio(simulationId: string, portfolioId: string): ClosedPortfolioRow | undefined {
    const simulation = this.#keys.find(simulationId)?.key;
    if (simulation === undefined) return undefined;
    return readingIntact(() => this.#queries.closedPortfolio(simulation, portfolioId));
  }

  orderByClientOrderId(simulationId: string, portfolioId: string, clientOrderId: string): number | undefined {
    const simulation = this.#keys.find(simulationId)?.key;
    if (simulation === undefined) return undefined;
    return readingIntact(() => this.#queries.orderByClientOrderId(simulation, portfolioId, clientOrderId));
  }

  async orders(query: OrderQuery): Promise<Page<OrderRow>> {
    const simulation = this.#keys.find(query.simulationId)?.key;
    if (simulation === undefined) return { items: [], total: 0 };
    return (await this.#ask({ kind: 'orders', simulation, query })) as Page<OrderRow>;
  }

  async list(query: {
    readonly simulationId: string;
    readonly list: ListName;
    readonly owner: string;
    readonly tag?: string;
    readonly offset: number;
    readonly limit: number;
  }): Promise<Page<ListItem>> {
    const simulation = this.#keys.find(query.simulationId)?.key;
    if (simulation === undefined) return { items: [], total: 0 };
    const page = (await this.#ask({ kind: 'list', simulation, query })) as Page<StoredItem>;
    return { items: page.items.map(listItem), total: page.total };
  }

  tenantEvents(
    simulationId: string,
    tenantId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly ListItem[] {
    const simulation = this.#keys.find(simulationId)?.key;
    if (simulation === undefined) return [];
    return readingIntact(() => this.#queries.tenantEvents(simulation, tenantId, after, limit).map(listItem));
  }

  #ask(
    request: { readonly simulation: number } & (
      | Pick<Extract<ReaderRequest, { kind: 'orders' }>, 'kind' | 'query'>
      | Pick<Extract<ReaderRequest, { kind: 'list' }>, 'kind' | 'query'>
    ),
  ): Promise<Page<OrderRow> | Page<StoredItem>> {
    if (this.#waiting.size >= MOST_WAITING)
      return Promise.reject(new StoreUnavailable('Too many queries are waiting'));
    this.#reader ??= this.#startReader();
    const reader = this.#reader;
    this.#requests += 1;
    const id = this.#requests;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      reader.postMessage({ ...request, id } satisfies ReaderRequest);
    });
  }

  #startReader(): Worker {
    const workerData: ReaderData = { path: this.#path };
    const reader = new Worker(workerUrl('history-reader'), {
      workerData,
      name: 'history-reader',
      ...WORKER_OPTIONS,
    });
    reader.on('message', (answer: ReaderAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('page' in answer) waiting?.resolve(answer.page);
      else waiting?.reject(new Error(answer.error));
    });
    // It only reads: the next query gets a new one.
    reader.on('error', (error) =>
      this.#lostReader(reader, error instanceof Error ? error.message : String(error)),
    );
    reader.on('exit', () => this.#lostReader(reader, 'The reader has ended'));
    return reader;
  }

  #lostReader(reader: Worker, reason: string): void {
    if (this.#reader !== reader) return;
    this.#reader = undefined;
    for (const { reject } of this.#waiting.values()) reject(new StoreUnavailable(reason));
    this.#waiting.clear();
  }

  async close(): Promise<void> {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#lostReader(reader, 'The store is closed');
    await reader.terminate();
  }
}

function listItem({ seq, at, event, item, json }: StoredItem): ListItem {
  return { seq, at, event, item, data: JSON.parse(json) as unknown };
}
