import { LRUCache } from 'lru-cache';
import type { OrderTerms } from '@sandpit/core';
import type {
  ClosedPortfolioRow,
  ListItem,
  ListQuery,
  MinuteMark,
  OrderQuery,
  OrderRow,
  Page,
  SnapshotMinute,
  SnapshotRow,
} from '../history.js';
import { answeredLater } from '../history/asking.js';
import type { Asking } from '../history/asking.js';
import { DamagedHistory } from '../history/history-rows.js';
import * as queries from '../history/history-queries.js';
import type { PlacedItem } from '../history/history-queries.js';
import type { ValueOrPromise } from '../journal.js';
import type { BlockReader, ReadCell } from './block-reader.js';
import type { Origin } from './cells.js';
import type { QuestionConnection } from './question-connection.js';

/** Orders that are over, which never change, that are remembered: a read that awaits one runs again, and must find it. */
const ORDERS_REMEMBERED = 5_000;
const OVER: ReadonlySet<string> = new Set(['FILLED', 'CANCELED', 'REJECTED', 'EXPIRED']);

/** A cell as its history is read. */
type FoundCell = Omit<ReadCell, 'key'> & { readonly key: number | undefined };

export interface HistoryTablesParts {
  readonly database: QuestionConnection;
  readonly blocks: BlockReader;
  /** Finds a cell by the id of its simulation. */
  readonly cells: { get(simulationId: string): FoundCell | undefined };
  readonly originOf: (key: number) => Origin | undefined;
}

const NOTHING: Page<never> = { items: [], total: 0 };

/** Reads the history. Rows have derived values, and point to the blocks that have the events. */
export class HistoryTables {
  readonly #parts: HistoryTablesParts;
  readonly #orders = new LRUCache<string, OrderRow>({ max: ORDERS_REMEMBERED });

  constructor(parts: HistoryTablesParts) {
    this.#parts = parts;
  }

  lineOf(key: number, upTo?: number): queries.Line {
    return queries.lineOf(key, this.#parts.originOf, upTo);
  }

  ask<Answer>(query: Asking<Answer>): Promise<Answer> {
    return answeredLater(query, (question) => this.#parts.database.askHistory(question));
  }

  /** Rejects with `DamagedHistory` of a simulation whose rows are incomplete. */
  async #of<Answer>(
    simulationId: string,
    query: (line: queries.Line) => Asking<Answer>,
  ): Promise<Answer | undefined> {
    const key = this.#parts.cells.get(simulationId)?.key;
    return key === undefined ? undefined : this.ask(query(this.lineOf(key)));
  }

  order(simulationId: string, number: number): ValueOrPromise<OrderRow | undefined> {
    const key = this.#parts.cells.get(simulationId)?.key;
    if (key === undefined) return undefined;
    return this.#orders.get(`${key} ${number}`) ?? this.#storedOrder(key, number);
  }

  async #storedOrder(key: number, number: number): Promise<OrderRow | undefined> {
    const row = await this.ask(queries.order(this.lineOf(key), number));
    return row === undefined ? undefined : this.#remembered(key, row);
  }

  #remembered(key: number, row: OrderRow): OrderRow {
    if (OVER.has(row.status)) this.#orders.set(`${key} ${row.number}`, row);
    return row;
  }

  closedPortfolio(simulationId: string, portfolioId: string): Promise<ClosedPortfolioRow | undefined> {
    return this.#of(simulationId, (line) => queries.closedPortfolio(line, portfolioId));
  }

  async closedPortfolios(simulationId: string): Promise<readonly ClosedPortfolioRow[]> {
    return (await this.#of(simulationId, queries.closedPortfolios)) ?? [];
  }

  orderByClientOrderId(
    simulationId: string,
    portfolioId: string,
    clientOrderId: string,
  ): Promise<number | undefined> {
    return this.#of(simulationId, (line) => queries.orderByClientOrderId(line, portfolioId, clientOrderId));
  }

  async ordersBetween(simulationId: string, first: number, last: number): Promise<readonly OrderRow[]> {
    return (await this.#of(simulationId, (line) => queries.ordersBetween(line, first, last))) ?? [];
  }

  async orders(query: OrderQuery): Promise<Page<OrderRow>> {
    const key = this.#parts.cells.get(query.simulationId)?.key;
    if (key === undefined) return NOTHING;
    const page = await this.ask(queries.orders(this.lineOf(key), query));
    for (const row of page.items) this.#remembered(key, row);
    await this.#fetchExits(key, page.items);
    return page;
  }

  /** An order is shown with its exits, so they are fetched together. */
  async #fetchExits(key: number, rows: readonly OrderRow[]): Promise<void> {
    const wanted = rows.flatMap(({ terms }) => {
      if (!terms.includes('"bracket"')) return [];
      const bracket = (JSON.parse(terms) as OrderTerms).bracket;
      if (bracket?.part === 'ENTRY') return bracket.exits;
      return bracket?.part === 'OCO_LIMIT' && bracket.sibling !== undefined ? [bracket.sibling] : [];
    });
    const missing = wanted.filter((number) => !this.#orders.has(`${key} ${number}`));
    if (missing.length === 0) return;
    for (const row of await this.ask(queries.ordersWith(this.lineOf(key), missing)))
      this.#remembered(key, row);
  }

  async list(query: ListQuery): Promise<Page<ListItem>> {
    const page = await this.#of(query.simulationId, (line) => queries.list(line, query));
    if (page === undefined) return NOTHING;
    return { ...page, items: await this.#items(query.simulationId, page.items) };
  }

  async standingMinutes(simulationId: string, portfolioId: string): Promise<readonly SnapshotMinute[]> {
    return (await this.#of(simulationId, (line) => queries.standingMinutes(line, portfolioId))) ?? [];
  }

  async standings(
    simulationId: string,
    portfolioId: string,
    from: number,
    to: number,
  ): Promise<readonly SnapshotRow[]> {
    return (await this.#of(simulationId, (line) => queries.standings(line, portfolioId, from, to))) ?? [];
  }

  async marks(
    simulationId: string,
    symbol: string,
    from: number,
    to: number,
  ): Promise<readonly MinuteMark[]> {
    return (await this.#of(simulationId, (line) => queries.marks(line, symbol, from, to))) ?? [];
  }

  async streamEvents(
    simulationId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): Promise<readonly ListItem[]> {
    const places = await this.#of(simulationId, (line) => queries.streamEvents(line, after, limit));
    return this.#items(simulationId, places ?? []);
  }

  /** The events of places. Each record is parsed once. */
  async #items(simulationId: string, places: readonly PlacedItem[]): Promise<readonly ListItem[]> {
    const cell = this.#parts.cells.get(simulationId);
    if (cell?.key === undefined) return [];
    const { id, key, origin } = cell;
    const seqs = places.map(({ seq }) => seq);
    const records = await this.#parts.blocks.records({ id, key, origin }, seqs);
    const parsed = new Map<number, readonly unknown[]>();
    return places.map(({ seq, event, item }) => {
      const record = records.get(seq);
      if (record === undefined)
        throw new DamagedHistory(`The history names record ${seq} of ${id}, which is gone`);
      let events = parsed.get(seq);
      if (events === undefined) {
        ({ events } = JSON.parse(record.payload) as { readonly events: readonly unknown[] });
        parsed.set(seq, events);
      }
      return { seq, at: record.at, event, item, data: events[event] };
    });
  }
}
