import type { ClosedPortfolioRow, ListName, OrderQuery, OrderRow, Page } from '../history.js';
import { all, one } from './connection.js';
import type { SqlValue, Statements } from './connection.js';
import { DamagedHistory, LIST_CODE, placesOf, sound } from './history-rows.js';
import type {
  ClientOrderRow,
  CountedList,
  Counts,
  ItemRow,
  OrderEventRow,
  OwnerKind,
  OwnerRow,
  PortfolioRow,
  SimulationRow,
  StoredOrder,
  TenantEventRow,
} from './history-rows.js';
import { accountOwner } from './history-tables.js';
import { PastRecords } from './past-records.js';
import type { StoredItem } from './past-records.js';
import type { JournalBlocks } from './journal-blocks.js';

export interface ListQuery {
  readonly list: ListName;
  readonly owner: string;
  readonly tag?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

interface PlacedItem {
  readonly seq: number;
  readonly event: number;
  readonly item: number;
  readonly tag: string | undefined;
}

/** A list of places: where its rows are, and how many places it has. */
interface Placed {
  readonly rows: string;
  readonly values: readonly SqlValue[];
  readonly sound: (row: ItemRow | OrderEventRow) => ItemRow | OrderEventRow;
  readonly total: number;
}

/** Rows read at a time where a filter makes it necessary to look at all. */
const SCAN_CHUNK = 1_000;

/**
 * Questions to the history tables, in whichever thread. Simulations are named by their keys. Nothing is given out that is not as it was
 * written: rows by their checksums, pages by their ordinals, events by the hash of the journal's block. Throws `DamagedHistory` and
 * `DamagedJournal`. A question reads several rows: ask inside a transaction.
 */
export class HistoryQueries {
  readonly #statements: Statements;
  readonly #journal: JournalBlocks;

  constructor(statements: Statements, journal: JournalBlocks) {
    this.#statements = statements;
    this.#journal = journal;
  }

  position(simulation: number): number {
    return this.#simulation(simulation)?.seq ?? 0;
  }

  order(simulation: number, number: number): OrderRow | undefined {
    const row = this.#order(simulation, number);
    return row === undefined ? undefined : orderRow(row);
  }

  #order(simulation: number, number: number): StoredOrder | undefined {
    const sql = 'SELECT * FROM orders WHERE simulation = ? AND number = ?';
    const row = this.#one<StoredOrder>(sql, simulation, number);
    if (row !== undefined) return sound('order', row);
    const { orders, last_order } = this.#simulation(simulation) ?? { orders: 0, last_order: 0 };
    // Numbers without gaps: then this one must be there.
    if (orders === last_order && number >= 1 && number <= last_order)
      throw new DamagedHistory(`The history has lost order ${number}`);
    return undefined;
  }

  #simulation(key: number): SimulationRow | undefined {
    const row = this.#one<SimulationRow>('SELECT * FROM simulation WHERE key = ?', key);
    return row === undefined ? undefined : sound('simulation', row);
  }

  closedPortfolio(simulation: number, portfolioId: string): ClosedPortfolioRow | undefined {
    const sql = 'SELECT * FROM portfolio WHERE simulation = ? AND id = ?';
    const row = this.#one<PortfolioRow>(sql, simulation, portfolioId);
    if (row === undefined) return undefined;
    const { tenant, terms, last } = sound('portfolio', row);
    return last === null ? undefined : { tenantId: tenant, terms, last };
  }

  orderByClientOrderId(simulation: number, portfolioId: string, clientOrderId: string): number | undefined {
    const owner = this.#owner(simulation, 'portfolio', portfolioId);
    if (owner === undefined) return undefined;
    const sql = 'SELECT * FROM client_order WHERE owner = ? AND id = ?';
    const row = this.#one<ClientOrderRow>(sql, owner.k, clientOrderId);
    return row === undefined ? undefined : sound('clientOrder', row).number;
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
    filter('status = ?', query.status);
    filter('symbol = ?', query.symbol);
    filter('asset_class = ?', query.assetClass);
    filter('created_at >= ?', query.from);
    filter('created_at < ?', query.to);

    const where = conditions.join(' AND ');
    const { ordinal } = scope;
    if (ordinal === undefined || conditions.length > scope.conditions.length) {
      const newest = ordinal ?? 'number';
      const total =
        this.#one<{ n: number }>(`SELECT count(*) AS n FROM orders WHERE ${where}`, ...values)?.n ?? 0;
      const sql = `SELECT * FROM orders WHERE ${where} ORDER BY ${newest} DESC LIMIT ? OFFSET ?`;
      const rows = this.#all<StoredOrder>(sql, ...values, query.limit, query.offset);
      return { items: rows.map((row) => orderRow(sound('order', row))), total };
    }
    const { total } = scope;
    const last = total - query.offset;
    const sql = `SELECT * FROM orders WHERE ${where} AND ${ordinal} <= ? ORDER BY ${ordinal} DESC LIMIT ?`;
    const rows = last < 1 ? [] : this.#all<StoredOrder>(sql, ...values, last, query.limit);
    if (rows.length < Math.min(query.limit, Math.max(0, last))) throw missingRows();
    rows.forEach((row, index) => {
      if (sound('order', row)[ordinal] !== last - index) throw missingRows();
    });
    return { items: rows.map(orderRow), total };
  }

  #scopeOf(
    simulation: number,
    scope: OrderQuery['scope'],
  ):
    | {
        readonly conditions: readonly string[];
        readonly values: readonly SqlValue[];
        readonly ordinal?: 'portfolio_n' | 'account_n';
        readonly total: number;
      }
    | undefined {
    const [kind, id]: [OwnerKind, string] =
      'portfolioId' in scope
        ? ['portfolio', scope.portfolioId]
        : 'accountId' in scope
          ? ['account', accountOwner(scope.tenantId, scope.accountId)]
          : ['tenant', scope.tenantId];
    const owner = this.#owner(simulation, kind, id);
    if (owner === undefined) return undefined;
    if ('filledOn' in scope)
      return { conditions: ['tenant = ?', 'filled_on = ?'], values: [owner.k, scope.filledOn], total: 0 };
    const total = countOf(owner, 'orders');
    return kind === 'portfolio'
      ? { conditions: ['portfolio = ?'], values: [owner.k], ordinal: 'portfolio_n', total }
      : { conditions: ['account = ?'], values: [owner.k], ordinal: 'account_n', total };
  }

  list(simulation: number, query: ListQuery): Page<StoredItem> {
    const placed = this.#placed(simulation, query);
    if (placed === undefined) return { items: [], total: 0 };
    const { total, items } =
      query.tag === undefined ? this.#page(placed, query) : this.#taggedPage(placed, query, query.tag);
    const records = new PastRecords(this.#journal, simulation);
    return { total, items: items.map((item) => records.stored(item)) };
  }

  #placed(simulation: number, { list, owner }: ListQuery): Placed | undefined {
    if (list === 'order-events') {
      const number = Number(owner);
      const order = this.#order(simulation, number);
      return order === undefined
        ? undefined
        : {
            rows: 'order_event WHERE simulation = ? AND number = ?',
            values: [simulation, number],
            sound: (row) => sound('orderEvent', row as OrderEventRow),
            total: order.events,
          };
    }
    const found = this.#owner(simulation, 'portfolio', owner);
    return found === undefined
      ? undefined
      : {
          rows: 'item WHERE owner = ? AND list = ?',
          values: [found.k, LIST_CODE[list]],
          sound: (row) => sound('item', row as ItemRow),
          total: countOf(found, list),
        };
  }

  #page({ rows, values, sound: checked, total }: Placed, { offset, limit }: ListQuery): Page<PlacedItem> {
    const last = total - offset;
    const first = Math.max(last - limit + 1, 1);
    if (last < first) return { items: [], total };
    // A row is filed under the last of its places: the first that reaches `first` is where the page begins.
    const sql = `SELECT * FROM ${rows} AND n >= ? ORDER BY n LIMIT ?`;
    const items: PlacedItem[] = [];
    let next: number | undefined;
    for (const row of this.#all<ItemRow | OrderEventRow>(sql, ...values, first, limit)) {
      const places = placedItems(checked(row));
      const begin = row.n - places.length + 1;
      if (next === undefined ? begin > first : begin !== next) throw missingRows();
      next = row.n + 1;
      items.push(...places.slice(Math.max(first - begin, 0), Math.max(last - begin + 1, 0)));
      if (row.n >= last) break;
    }
    if (items.length !== last - first + 1) throw missingRows();
    return { items: items.reverse(), total };
  }

  #taggedPage(
    { rows, values, sound: checked, total: all }: Placed,
    query: ListQuery,
    tag: string,
  ): Page<PlacedItem> {
    const { offset, limit } = query;
    const sql = `SELECT * FROM ${rows} AND n <= ? ORDER BY n DESC LIMIT ${SCAN_CHUNK}`;
    const items: PlacedItem[] = [];
    let total = 0;
    let next = all;
    while (next > 0) {
      const chunk = this.#all<ItemRow | OrderEventRow>(sql, ...values, next);
      if (chunk.length === 0) throw missingRows();
      for (const row of chunk) {
        if (row.n !== next) throw missingRows();
        const places = placedItems(checked(row));
        next -= places.length;
        for (const item of places.reverse()) {
          if (item.tag !== tag) continue;
          if (total >= offset && items.length < limit) items.push(item);
          total += 1;
        }
      }
    }
    return { items, total };
  }

  tenantEvents(
    simulation: number,
    tenantId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly StoredItem[] {
    const owner = this.#owner(simulation, 'tenant', tenantId);
    if (owner === undefined) return [];
    const before = this.#one<TenantEventRow>(
      'SELECT * FROM tenant_event WHERE owner = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
      owner.k,
      after.seq,
    );
    let n = before === undefined ? 0 : sound('tenantEvent', before).n;
    const sql = 'SELECT * FROM tenant_event WHERE owner = ? AND seq >= ? ORDER BY seq LIMIT ?';
    const rows = this.#all<TenantEventRow>(sql, owner.k, after.seq, limit + 1);
    const records = new PastRecords(this.#journal, simulation);
    const items: StoredItem[] = [];
    for (const row of rows) {
      const places = placedItems(sound('tenantEvent', row));
      n += places.length;
      if (row.n !== n) throw missingRows();
      for (const item of places) {
        if (item.seq === after.seq && item.event <= after.event) continue;
        items.push(records.stored(item));
        if (items.length === limit) return items;
      }
    }
    if (n !== countOf(owner, 'tenant-events')) throw missingRows();
    return items;
  }

  #owner(simulation: number, kind: OwnerKind, id: string): OwnerRow | undefined {
    const sql = 'SELECT * FROM owner WHERE simulation = ? AND id = ? AND kind = ?';
    const row = this.#one<OwnerRow>(sql, simulation, id, kind);
    return row === undefined ? undefined : sound('owner', row);
  }

  /* eslint-disable @typescript-eslint/no-unnecessary-type-parameters -- as in connection.ts */
  #one<Row>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return one<Row>(this.#statements.of(sql), ...values);
  }

  #all<Row>(sql: string, ...values: readonly SqlValue[]): readonly Row[] {
    return all<Row>(this.#statements.of(sql), ...values);
  }
  /* eslint-enable @typescript-eslint/no-unnecessary-type-parameters */
}

const missingRows = (): DamagedHistory => new DamagedHistory('Rows of the history are missing');

const countOf = ({ counts }: OwnerRow, list: CountedList): number =>
  (JSON.parse(counts) as Counts)[list] ?? 0;

function placedItems(row: { readonly seq: number; readonly places: string }): PlacedItem[] {
  return placesOf(row).map(([event, item, tag]) => ({ seq: row.seq, event, item, tag }));
}

function orderRow({ number, status, terms, progress }: StoredOrder): OrderRow {
  const { tenantId, accountId, portfolioId } = JSON.parse(terms) as Pick<
    OrderRow,
    'tenantId' | 'accountId' | 'portfolioId'
  >;
  return { number, tenantId, accountId, portfolioId, status, terms, progress };
}
