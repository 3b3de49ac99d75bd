import type { ClosedPortfolioRow, ListName, OrderQuery, OrderRow, Page } from '../history.js';
import { all, one } from './connection.js';
import type { SqlValue, Statements } from './connection.js';
import {
  ACCOUNT_ORDERS,
  accountOwner,
  PORTFOLIO_ORDERS,
  TENANT_EVENTS,
  TENANT_ORDERS,
} from './history-tables.js';
import { eventPlaces, runItems } from './runs.js';
import type { RunItem } from './runs.js';

/** An item of a list with its event still as text: parsing is left to the thread that wants it. */
export interface StoredItem {
  readonly seq: number;
  readonly at: number;
  readonly event: number;
  readonly item: number;
  readonly json: string;
}

export interface ListQuery {
  readonly list: ListName;
  readonly owner: string;
  readonly tag?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

interface StoredOrder {
  readonly number: number;
  readonly tenant: string;
  readonly account: string;
  readonly portfolio: string;
  readonly status: string;
  readonly terms: string;
  readonly progress: string;
}

const ORDER_COLUMNS = `o.number, t.owner AS tenant, a.owner AS account, p.owner AS portfolio, o.status, o.terms, o.progress
  FROM orders o CROSS JOIN list t ON t.key = o.tenant CROSS JOIN list a ON a.key = o.account CROSS JOIN list p ON p.key = o.portfolio`;

/** Rows of runs read at a time where a filter makes it necessary to look at all. */
const SCAN_CHUNK = 1_000;

/** Questions to the history tables, in whichever thread. Simulations are named by their keys. */
export class HistoryQueries {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  order(simulation: number, order: number): OrderRow | undefined {
    const sql = `SELECT ${ORDER_COLUMNS} WHERE o.simulation = ? AND o.number = ?`;
    const row = one<StoredOrder>(this.#statements.of(sql), simulation, order);
    return row === undefined ? undefined : orderRow(row);
  }

  closedPortfolio(simulation: number, portfolioId: string): ClosedPortfolioRow | undefined {
    const sql =
      'SELECT tenant AS tenantId, terms, last FROM portfolio WHERE simulation = ? AND id = ? AND last IS NOT NULL';
    return one<ClosedPortfolioRow>(this.#statements.of(sql), simulation, portfolioId);
  }

  orderByClientOrderId(simulation: number, portfolioId: string, clientOrderId: string): number | undefined {
    const portfolio = this.#list(simulation, PORTFOLIO_ORDERS, portfolioId);
    if (portfolio === undefined) return undefined;
    const sql = 'SELECT number FROM orders WHERE portfolio = ? AND client_order_id = ?';
    return one<{ number: number }>(this.#statements.of(sql), portfolio, clientOrderId)?.number;
  }

  orders(simulation: number, query: OrderQuery): Page<OrderRow> {
    const scope = this.#scopeOf(simulation, query.scope);
    if (scope === undefined) return { items: [], total: 0 };
    const conditions = [...scope.conditions];
    const values = [...scope.values];
    const filter = (condition: string, value: SqlValue | undefined): void => {
      if (value === undefined) return;
      conditions.push(condition);
      values.push(value);
    };
    filter('o.status = ?', query.status);
    filter('o.symbol = ?', query.symbol);
    filter('o.asset_class = ?', query.assetClass);
    filter('o.created_at >= ?', query.from);
    filter('o.created_at < ?', query.to);

    const where = conditions.join(' AND ');
    const isWhole = scope.ordinal !== undefined && conditions.length === scope.conditions.length;
    if (scope.ordinal === undefined || !isWhole) {
      const newest = scope.ordinal === undefined ? 'o.k' : `o.${scope.ordinal}`;
      const total = this.#number(`SELECT count(*) AS n FROM orders o WHERE ${where}`, ...values);
      // The page is found in the bare table first: the joins are for its rows only.
      const page = `SELECT o.k FROM orders o WHERE ${where} ORDER BY ${newest} DESC LIMIT ? OFFSET ?`;
      const sql = `SELECT ${ORDER_COLUMNS} WHERE o.k IN (${page}) ORDER BY ${newest} DESC`;
      return { items: this.#orderRows(sql, ...values, query.limit, query.offset), total };
    }
    const total = this.#number(`SELECT max(o.${scope.ordinal}) AS n FROM orders o WHERE ${where}`, ...values);
    const sql = `SELECT ${ORDER_COLUMNS} WHERE ${where} AND o.${scope.ordinal} <= ? ORDER BY o.${scope.ordinal} DESC LIMIT ?`;
    return { items: this.#orderRows(sql, ...values, total - query.offset, query.limit), total };
  }

  #scopeOf(
    simulation: number,
    scope: OrderQuery['scope'],
  ):
    | { conditions: readonly string[]; values: readonly SqlValue[]; ordinal?: 'portfolio_n' | 'account_n' }
    | undefined {
    if ('portfolioId' in scope) {
      const list = this.#list(simulation, PORTFOLIO_ORDERS, scope.portfolioId);
      return list === undefined
        ? undefined
        : { conditions: ['o.portfolio = ?'], values: [list], ordinal: 'portfolio_n' };
    }
    if ('accountId' in scope) {
      const list = this.#list(simulation, ACCOUNT_ORDERS, accountOwner(scope.tenantId, scope.accountId));
      return list === undefined
        ? undefined
        : { conditions: ['o.account = ?'], values: [list], ordinal: 'account_n' };
    }
    const list = this.#list(simulation, TENANT_ORDERS, scope.tenantId);
    return list === undefined
      ? undefined
      : { conditions: ['o.tenant = ?', 'o.filled_on = ?'], values: [list, scope.filledOn] };
  }

  list(simulation: number, query: ListQuery): Page<StoredItem> {
    const source = this.#runsOf(simulation, query);
    if (source === undefined) return { items: [], total: 0 };
    const { total, items } =
      query.tag === undefined ? this.#page(source, query) : this.#taggedPage(source, query, query.tag);
    return { total, items: items.map((item) => this.#stored(simulation, item)) };
  }

  #page(source: RunSource, { offset, limit }: ListQuery): Page<RunItem> {
    const total = this.#number(
      `SELECT max(n) AS n FROM ${source.table} WHERE ${source.column} = ?`,
      source.key,
    );
    const last = total - offset;
    const first = Math.max(last - limit + 1, 1);
    if (last < first) return { items: [], total };
    // Filed under its last item: the first run that reaches `first` is where the page begins. At most `limit` runs
    // touch it, and one more where the page begins in the middle of a run.
    const sql = `SELECT n, run FROM ${source.table} WHERE ${source.column} = ? AND n >= ? ORDER BY n LIMIT ?`;
    const items: RunItem[] = [];
    for (const row of all<{ n: number; run: string }>(
      this.#statements.of(sql),
      source.key,
      first,
      limit + 1,
    )) {
      const run = runItems(row.run);
      const runFirst = row.n - run.length + 1;
      if (runFirst > last) break;
      items.push(...run.slice(Math.max(first - runFirst, 0), last - runFirst + 1));
    }
    return { items: items.reverse(), total };
  }

  #taggedPage(source: RunSource, { offset, limit }: ListQuery, tag: string): Page<RunItem> {
    const sql = `SELECT n, run FROM ${source.table} WHERE ${source.column} = ? AND n < ? ORDER BY n DESC LIMIT ${SCAN_CHUNK}`;
    const items: RunItem[] = [];
    let total = 0;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const rows = all<{ n: number; run: string }>(this.#statements.of(sql), source.key, before);
      for (const row of rows) {
        for (const item of runItems(row.run).toReversed()) {
          if (item.tag !== tag) continue;
          if (total >= offset && items.length < limit) items.push(item);
          total += 1;
        }
        before = row.n;
      }
      if (rows.length < SCAN_CHUNK) return { items, total };
    }
  }

  #runsOf(simulation: number, query: ListQuery): RunSource | undefined {
    if (query.list !== 'order-events') {
      const key = this.#list(simulation, query.list, query.owner);
      return key === undefined ? undefined : { table: 'item', column: 'list', key };
    }
    const sql = 'SELECT k FROM orders WHERE simulation = ? AND number = ?';
    const order = one<{ k: number }>(this.#statements.of(sql), simulation, Number(query.owner));
    return order === undefined ? undefined : { table: 'order_event', column: 'order_k', key: order.k };
  }

  tenantEvents(
    simulation: number,
    tenantId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly StoredItem[] {
    const list = this.#list(simulation, TENANT_EVENTS, tenantId);
    if (list === undefined) return [];
    const sql = `SELECT run FROM tenant_event WHERE list = ? AND (seq, event) > (?, ?) ORDER BY seq, event LIMIT ?`;
    const items: StoredItem[] = [];
    for (const row of all<{ run: string }>(this.#statements.of(sql), list, after.seq, after.event, limit)) {
      for (const [seq, event] of eventPlaces(row.run)) {
        if (items.length === limit) return items;
        if (seq < after.seq || (seq === after.seq && event <= after.event)) continue;
        items.push(this.#stored(simulation, { seq, event, item: 0 }));
      }
    }
    return items;
  }

  #stored(simulation: number, { seq, event, item }: Omit<RunItem, 'tag'>): StoredItem {
    const sql = 'SELECT at, payload -> ? AS json FROM journal WHERE simulation = ? AND seq = ?';
    const row = one<{ at: number; json: string }>(
      this.#statements.of(sql),
      `$.events[${event}]`,
      simulation,
      seq,
    );
    if (row === undefined)
      throw new Error(`The history names record ${seq}, which the journal does not have`);
    return { seq, at: row.at, event, item, json: row.json };
  }

  #list(simulation: number, kind: string, owner: string): number | undefined {
    const sql = 'SELECT key FROM list WHERE simulation = ? AND owner = ? AND kind = ?';
    return one<{ key: number }>(this.#statements.of(sql), simulation, owner, kind)?.key;
  }

  #number(sql: string, ...values: readonly SqlValue[]): number {
    return one<{ n: number | null }>(this.#statements.of(sql), ...values)?.n ?? 0;
  }

  #orderRows(sql: string, ...values: readonly SqlValue[]): readonly OrderRow[] {
    return all<StoredOrder>(this.#statements.of(sql), ...values).map(orderRow);
  }
}

/** The table that holds a list's runs, and which of its rows they are. */
interface RunSource {
  readonly table: 'item' | 'order_event';
  readonly column: 'list' | 'order_k';
  readonly key: number;
}

function orderRow(row: StoredOrder): OrderRow {
  return {
    number: row.number,
    tenantId: row.tenant,
    accountId: row.account.slice(row.tenant.length + 1),
    portfolioId: row.portfolio,
    status: row.status,
    terms: row.terms,
    progress: row.progress,
  };
}
