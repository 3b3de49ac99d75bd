import { LRUCache } from 'lru-cache';
import type { OrderTerms, Price } from '@sandpit/core';
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
import { StoreUnavailable } from '../journal.js';
import type { ValueOrPromise } from '../journal.js';
import type { BlockReader, ReadCell } from './block-reader.js';
import type { QuestionConnection } from './question-connection.js';

/** Orders that are over, which never change, that are remembered. */
const ORDERS_REMEMBERED = 5_000;
const OVER: ReadonlySet<string> = new Set(['FILLED', 'CANCELED', 'REJECTED', 'EXPIRED']);
/** A page may be slower than a lookup. */
const PAGE_MS = 10_000;

interface StoredOrder {
  readonly number: string;
  readonly portfolio: string;
  readonly portfolio_n: string;
  readonly account: string;
  readonly account_n: string;
  readonly status: string;
  readonly terms: string;
  readonly progress: string;
}

interface StoredItem {
  readonly n: string;
  readonly seq: string;
  readonly event: number;
  readonly item: number;
  readonly at: string;
}

const ORDER = 'number, portfolio, portfolio_n, account, account_n, status, terms, progress';

const orderRow = ({ number, portfolio, account, status, terms, progress }: StoredOrder): OrderRow => ({
  number: Number(number),
  accountId: account,
  portfolioId: portfolio,
  status,
  terms,
  progress,
});

/** Values and the conditions on them. */
class Conditions {
  readonly values: unknown[] = [];
  readonly #conditions: string[] = [];

  add(condition: string, value: unknown): void {
    if (value === undefined) return;
    this.values.push(value);
    this.#conditions.push(condition.replace('?', `$${this.values.length}`));
  }

  get text(): string {
    return this.#conditions.join(' AND ');
  }

  get count(): number {
    return this.#conditions.length;
  }
}

/** A cell as its history is read. */
type FoundCell = Omit<ReadCell, 'key'> & { readonly key: number | undefined };

/** Finds a cell by the id of its simulation. */
export interface CellsById {
  get(simulationId: string): FoundCell | undefined;
}

/** Queries of the history tables. Their rows hold derived values and point to the blocks that hold the events. */
export class HistoryQueries {
  readonly #database: QuestionConnection;
  readonly #blocks: BlockReader;
  readonly #cells: CellsById;
  readonly #orders = new LRUCache<string, OrderRow>({ max: ORDERS_REMEMBERED });

  constructor(database: QuestionConnection, blocks: BlockReader, cells: CellsById) {
    this.#database = database;
    this.#blocks = blocks;
    this.#cells = cells;
  }

  #key(simulationId: string): number | undefined {
    return this.#cells.get(simulationId)?.key;
  }

  order(simulationId: string, order: number): ValueOrPromise<OrderRow | undefined> {
    const key = this.#key(simulationId);
    if (key === undefined) return undefined;
    return this.#orders.get(`${key} ${order}`) ?? this.#storedOrder(key, order);
  }

  async #storedOrder(key: number, number: number): Promise<OrderRow | undefined> {
    const sql = `SELECT ${ORDER} FROM history_order WHERE cell = $1 AND number = $2`;
    const [row] = await this.#database.ask<StoredOrder>(sql, [key, number]);
    return row === undefined ? undefined : this.#remembered(key, orderRow(row));
  }

  #remembered(key: number, row: OrderRow): OrderRow {
    if (OVER.has(row.status)) this.#orders.set(`${key} ${row.number}`, row);
    return row;
  }

  async closedPortfolio(simulationId: string, portfolioId: string): Promise<ClosedPortfolioRow | undefined> {
    const key = this.#key(simulationId);
    if (key === undefined) return undefined;
    const [row] = await this.#database.ask<ClosedPortfolioRow>(
      'SELECT terms, last FROM history_portfolio WHERE cell = $1 AND id = $2 AND last IS NOT NULL',
      [key, portfolioId],
    );
    return row;
  }

  async closedPortfolios(simulationId: string): Promise<readonly ClosedPortfolioRow[]> {
    const key = this.#key(simulationId);
    if (key === undefined) return [];
    return this.#database.ask<ClosedPortfolioRow>(
      'SELECT terms, last FROM history_portfolio WHERE cell = $1 AND last IS NOT NULL',
      [key],
      PAGE_MS,
    );
  }

  async orderByClientOrderId(
    simulationId: string,
    portfolioId: string,
    clientOrderId: string,
  ): Promise<number | undefined> {
    const key = this.#key(simulationId);
    if (key === undefined) return undefined;
    const [row] = await this.#database.ask<{ number: string }>(
      'SELECT number FROM history_order WHERE cell = $1 AND portfolio = $2 AND client_order = $3 ORDER BY number DESC LIMIT 1',
      [key, portfolioId, clientOrderId],
    );
    return row === undefined ? undefined : Number(row.number);
  }

  /** Orders with numbers in a range, the ends among them. */
  async ordersBetween(simulationId: string, first: number, last: number): Promise<readonly OrderRow[]> {
    const key = this.#key(simulationId);
    if (key === undefined) return [];
    const rows = await this.#database.ask<StoredOrder>(
      `SELECT ${ORDER} FROM history_order WHERE cell = $1 AND number BETWEEN $2 AND $3 ORDER BY number`,
      [key, first, last],
      PAGE_MS,
    );
    return rows.map(orderRow);
  }

  async orders(query: OrderQuery): Promise<Page<OrderRow>> {
    const key = this.#key(query.simulationId);
    if (key === undefined) return { items: [], total: 0 };
    const { scope, offset, limit, before } = query;
    const where = new Conditions();
    where.add('cell = ?', key);
    let ordinal: 'portfolio_n' | 'account_n' | 'number' = 'number';
    let counted: readonly [owner: string, list: string] | undefined;
    if ('portfolioId' in scope) {
      where.add('portfolio = ?', scope.portfolioId);
      ordinal = 'portfolio_n';
      counted = [scope.portfolioId, 'orders'];
    } else if ('accountId' in scope) {
      where.add('account = ?', scope.accountId);
      ordinal = 'account_n';
      counted = [scope.accountId, 'orders-of-account'];
    } else if ('filledOn' in scope) where.add('filled_on = ?', scope.filledOn);
    else counted = ['', 'orders-of-simulation'];
    const inScope = where.count;
    where.add('status = ANY(?)', query.status);
    where.add('symbol = ?', query.symbol);
    where.add('asset_class = ?', query.assetClass);
    where.add('created_at >= ?', query.from);
    where.add('created_at < ?', query.to);
    const isFiltered = where.count > inScope;
    const total =
      isFiltered || counted === undefined
        ? query.isUncounted === true && isFiltered
          ? 0
          : await this.#counted('history_order', where)
        : await this.#count(key, ...counted);
    const isDense = !isFiltered && ordinal !== 'number';
    if (isDense) where.add(`${ordinal} <= ?`, Math.min(total, before ?? total) - offset);
    else where.add(`${ordinal} <= ?`, before);
    const rows = await this.#database.ask<StoredOrder>(
      `SELECT ${ORDER} FROM history_order WHERE ${where.text} ORDER BY ${ordinal} DESC LIMIT ${limit + 1} OFFSET ${isDense ? 0 : offset}`,
      where.values,
      PAGE_MS,
    );
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const isMore = last !== undefined && rows.length > limit;
    const items = shown.map((row) => this.#remembered(key, orderRow(row)));
    await this.#fetchExits(key, items);
    return { items, total, ...(isMore && { next: Number(last[ordinal]) - 1 }) };
  }

  /** An order is shown with its exits, so they are fetched together. */
  async #fetchExits(key: number, rows: readonly OrderRow[]): Promise<void> {
    const wanted = rows.flatMap(({ terms }) => {
      if (!terms.includes('"bracket"')) return [];
      const bracket = (JSON.parse(terms) as OrderTerms).bracket;
      if (bracket?.part === 'ENTRY') return bracket.exits;
      return bracket?.part === 'OCO_LIMIT' && bracket.sibling !== undefined ? [bracket.sibling] : [];
    });
    if (wanted.length === 0) return;
    const found = await this.#database.ask<StoredOrder>(
      `SELECT ${ORDER} FROM history_order WHERE cell = $1 AND number = ANY($2::bigint[])`,
      [key, wanted],
      PAGE_MS,
    );
    for (const row of found) this.#remembered(key, orderRow(row));
  }

  async #counted(table: string, { text, values }: Conditions): Promise<number> {
    const sql = `SELECT count(*)::integer AS n FROM ${table} WHERE ${text}`;
    const [row] = await this.#database.ask<{ n: number }>(sql, values, PAGE_MS);
    return row?.n ?? 0;
  }

  async #count(key: number, owner: string, list: string): Promise<number> {
    const [row] = await this.#database.ask<{ n: string }>(
      'SELECT n FROM history_count WHERE cell = $1 AND owner = $2 AND list = $3',
      [key, owner, list],
    );
    return Number(row?.n ?? 0);
  }

  async list(query: ListQuery): Promise<Page<ListItem>> {
    const { simulationId, list, owner, offset, limit, before } = query;
    const cell = this.#cells.get(simulationId);
    const key = cell?.key;
    if (cell === undefined || key === undefined) return { items: [], total: 0 };
    const where = new Conditions();
    where.add('cell = ?', key);
    where.add('owner = ?', owner);
    where.add('list = ?', list);
    where.add('tag = ?', query.tag);
    where.add('at >= ?', query.from);
    where.add('at < ?', query.to);
    const isFiltered = where.count > 3;
    const total = !isFiltered
      ? await this.#count(key, owner, list)
      : query.isUncounted === true
        ? 0
        : await this.#counted('history_item', where);
    if (isFiltered) where.add('n <= ?', before);
    else where.add('n <= ?', Math.min(total, before ?? total) - offset);
    const rows = await this.#database.ask<StoredItem>(
      `SELECT n, seq, event, item, at FROM history_item WHERE ${where.text} ORDER BY n DESC LIMIT ${limit + 1} OFFSET ${isFiltered ? offset : 0}`,
      where.values,
      PAGE_MS,
    );
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const isMore = last !== undefined && rows.length > limit;
    return { items: await this.#items(cell, key, shown), total, ...(isMore && { next: Number(last.n) - 1 }) };
  }

  async #items({ id, origin }: FoundCell, key: number, rows: readonly StoredItem[]): Promise<ListItem[]> {
    const seqs = rows.map(({ seq }) => Number(seq));
    const records = await this.#blocks.records({ id, key, origin }, seqs);
    const events = new Map<number, readonly unknown[]>();
    return rows.map(({ seq: text, event, item, at }) => {
      const seq = Number(text);
      let parsed = events.get(seq);
      if (parsed === undefined) {
        const record = records.get(seq);
        if (record === undefined)
          throw new StoreUnavailable(`the history names record ${seq}, which is gone`);
        parsed = (JSON.parse(record.payload) as { readonly events: readonly unknown[] }).events;
        events.set(seq, parsed);
      }
      return { seq, at: Number(at), event, item, data: parsed[event] };
    });
  }

  async standingMinutes(simulationId: string, portfolioId: string): Promise<readonly SnapshotMinute[]> {
    const key = this.#key(simulationId);
    if (key === undefined) return [];
    const rows = await this.#database.ask<{ minute: string; holding: boolean; moved: boolean }>(
      'SELECT minute, holding, moved FROM history_standing WHERE cell = $1 AND portfolio = $2 ORDER BY minute',
      [key, portfolioId],
      PAGE_MS,
    );
    return rows.map(({ minute, holding, moved }) => ({
      minute: Number(minute),
      isHolding: holding,
      hasMoved: moved,
    }));
  }

  async standings(
    simulationId: string,
    portfolioId: string,
    from: number,
    to: number,
  ): Promise<readonly SnapshotRow[]> {
    const key = this.#key(simulationId);
    if (key === undefined) return [];
    const rows = await this.#database.ask<{
      minute: string;
      holding: boolean;
      moved: boolean;
      standing: string;
    }>(
      `(SELECT minute, holding, moved, standing FROM history_standing WHERE cell = $1 AND portfolio = $2 AND minute < $3
          ORDER BY minute DESC LIMIT 1)
       UNION ALL
       (SELECT minute, holding, moved, standing FROM history_standing WHERE cell = $1 AND portfolio = $2 AND minute >= $3 AND minute < $4)
       ORDER BY minute`,
      [key, portfolioId, bounded(from), bounded(to)],
      PAGE_MS,
    );
    return rows.map(({ minute, holding, moved, standing }) => ({
      minute: Number(minute),
      isHolding: holding,
      hasMoved: moved,
      standing,
    }));
  }

  async marks(
    simulationId: string,
    symbol: string,
    from: number,
    to: number,
  ): Promise<readonly MinuteMark[]> {
    const key = this.#key(simulationId);
    if (key === undefined) return [];
    const rows = await this.#database.ask<{ minute: string; price: string }>(
      `(SELECT minute, price FROM history_mark WHERE cell = $1 AND symbol = $2 AND minute < $3 ORDER BY minute DESC LIMIT 1)
       UNION ALL
       (SELECT minute, price FROM history_mark WHERE cell = $1 AND symbol = $2 AND minute >= $3 AND minute < $4)
       ORDER BY minute`,
      [key, symbol, bounded(from), bounded(to)],
      PAGE_MS,
    );
    return rows.map(({ minute, price }) => ({ minute: Number(minute), price: Number(price) as Price }));
  }

  async streamEvents(
    simulationId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): Promise<readonly ListItem[]> {
    const cell = this.#cells.get(simulationId);
    if (cell?.key === undefined) return [];
    const rows = await this.#database.ask<StoredItem>(
      `SELECT n, seq, event, item, at FROM history_item WHERE cell = $1 AND list = 'stream-events'
         AND seq >= $2 AND (seq > $2 OR event > $3) ORDER BY seq, event LIMIT $4`,
      [cell.key, after.seq, Math.min(after.event, 2 ** 31 - 1), limit],
      PAGE_MS,
    );
    return this.#items(cell, cell.key, rows);
  }
}

/** A bigint of PostgreSQL has bounds; minutes stay far from them. */
const bounded = (minute: number): number => Math.trunc(Math.max(-(2 ** 52), Math.min(2 ** 52, minute)));
