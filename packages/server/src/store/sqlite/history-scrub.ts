import { all, one, Statements } from './connection.js';
import type { Database, SqlValue } from './connection.js';
import { DamagedHistory, LIST_CODE, placesOf, sound } from './history-rows.js';
import type {
  ClientOrderRow,
  Counts,
  ItemRow,
  MarkRow,
  OrderEventRow,
  OwnerRow,
  PastSnapshotRow,
  PortfolioRow,
  SimulationRow,
  StoredOrder,
  StoredSnapshot,
  TenantEventRow,
} from './history-rows.js';

/** A step takes about a millisecond or two. */
const ROWS_AT_ONCE = 300;

interface Pass {
  readonly table: string;
  readonly key: readonly string[];
  /** Sees all rows in the order of the key, the last time without one. */
  readonly look: (row: unknown) => void;
}

/**
 * Looks through the tables a little at a time, while there is nothing to write, for what no read would notice: rows that are gone where
 * nobody asks for them, fields that only filters look at. Throws `DamagedHistory`. Between two steps nothing may be removed.
 */
export class HistoryScrub {
  readonly #statements: Statements;
  #passes: Iterator<Pass> | undefined;
  #pass: Pass | undefined;
  #after: readonly SqlValue[] | undefined;

  constructor(database: Database) {
    this.#statements = new Statements(database);
  }

  /** Begins again. */
  restart(): void {
    this.#passes = undefined;
    this.#pass = undefined;
  }

  /** False at the end of a round. */
  step(): boolean {
    this.#passes ??= this.#round()[Symbol.iterator]();
    if (this.#pass === undefined) {
      const next = this.#passes.next();
      if (next.done === true) {
        this.restart();
        return false;
      }
      this.#pass = next.value;
      this.#after = undefined;
    }
    const { table, key, look } = this.#pass;
    const after = this.#after;
    const places = key.map(() => '?').join(', ');
    const where = after === undefined ? '' : `WHERE (${key.join(', ')}) > (${places})`;
    const sql = `SELECT * FROM ${table} ${where} ORDER BY ${key.join(', ')} LIMIT ${ROWS_AT_ONCE}`;
    const rows = all<Record<string, SqlValue>>(this.#statements.of(sql), ...(after ?? []));
    for (const row of rows) look(row);
    const last = rows.at(-1);
    if (last !== undefined && rows.length === ROWS_AT_ONCE)
      this.#after = key.map((column) => last[column] ?? null);
    else {
      look(undefined);
      this.#pass = undefined;
    }
    return true;
  }

  *#round(): Iterable<Pass> {
    yield {
      table: 'simulation',
      key: ['key'],
      look: (row) => this.#simulation(row as SimulationRow | undefined),
    };
    yield { table: 'owner', key: ['k'], look: (row) => this.#owner(row as OwnerRow | undefined) };
    yield {
      table: 'portfolio',
      key: ['simulation', 'id'],
      look: (row) => row !== undefined && sound('portfolio', row as PortfolioRow),
    };
    yield { table: 'orders', key: ['simulation', 'number'], look: this.#orders() };
    yield {
      table: 'client_order',
      key: ['owner', 'id'],
      look: (row) => row !== undefined && sound('clientOrder', row as ClientOrderRow),
    };
    yield {
      table: 'item',
      key: ['owner', 'list', 'n'],
      look: gapless(
        (row) => sound('item', row as ItemRow),
        ofItem,
        (row) => this.#baseOf(row.owner, LISTS[(row as ItemRow).list]),
      ),
    };
    yield {
      table: 'past_item',
      key: ['owner', 'list', 'n', 'seq'],
      look: (row) => row !== undefined && sound('pastItem', row as Omit<ItemRow, 'key'>),
    };
    yield {
      table: 'standing',
      key: ['owner', 'minute'],
      look: (row) => row !== undefined && sound('standing', row as StoredSnapshot),
    };
    yield {
      table: 'past_standing',
      key: ['owner', 'minute', 'seq'],
      look: (row) => row !== undefined && sound('pastStanding', row as PastSnapshotRow),
    };
    yield {
      table: 'mark',
      key: ['simulation', 'symbol', 'minute'],
      look: (row) => row !== undefined && sound('mark', row as MarkRow),
    };
    yield {
      table: 'tenant_event',
      key: ['owner', 'seq'],
      look: gapless(
        (row) => sound('tenantEvent', row as TenantEventRow),
        ofTenant,
        (row) => this.#baseOf(row.owner, 'tenant-events'),
      ),
    };
  }

  /** How long a list was where a fork begins. */
  #baseOf(owner: number, list: keyof Counts | undefined): number {
    const row = this.#one<OwnerRow>('SELECT * FROM owner WHERE k = ?', owner);
    return row === undefined || list === undefined ? 0 : ((JSON.parse(row.base) as Counts)[list] ?? 0);
  }

  #simulation(row: SimulationRow | undefined): void {
    if (row === undefined) return;
    const { key, owners } = sound('simulation', row);
    const found = this.#one<{ n: number }>('SELECT count(*) AS n FROM owner WHERE simulation = ?', key)?.n;
    if (found !== owners) throw new DamagedHistory('The history has lost somebody who has lists');
  }

  /** Every list ends where its count says. */
  #owner(row: OwnerRow | undefined): void {
    if (row === undefined) return;
    const { k, kind, counts, base } = sound('owner', row);
    const has = JSON.parse(counts) as Counts;
    const began = JSON.parse(base) as Counts;
    const ends = (list: keyof Counts, sql: string, ...values: readonly SqlValue[]): void => {
      const last = this.#one<{ n: number | null }>(sql, ...values)?.n ?? 0;
      if (Math.max(last, began[list] ?? 0) !== (has[list] ?? 0))
        throw new DamagedHistory('The history has lost the end of a list');
    };
    if (kind === 'tenant') {
      const last = 'SELECT n FROM tenant_event WHERE owner = ? ORDER BY seq DESC LIMIT 1';
      ends('tenant-events', last, k);
      return;
    }
    ends('orders', `SELECT max(${kind}_n) AS n FROM orders WHERE ${kind} = ?`, k);
    if (kind === 'account') return;
    const standings =
      began.standings === undefined
        ? 'SELECT count(*) AS n FROM standing WHERE owner = ?'
        : 'SELECT max(n) AS n FROM standing WHERE owner = ?';
    ends('standings', standings, k);
    for (const [list, code] of Object.entries(LIST_CODE))
      ends(
        list as keyof typeof LIST_CODE,
        'SELECT max(n) AS n FROM item WHERE owner = ? AND list = ?',
        k,
        code,
      );
  }

  /** As many orders as their simulation says; each with its events, and where its lists and its client order id say. */
  #orders(): Pass['look'] {
    let simulation: number | undefined;
    let begins = 0;
    let count = 0;
    const simulationOf = (key: number): SimulationRow | undefined =>
      this.#one<SimulationRow>('SELECT * FROM simulation WHERE key = ?', key);
    return (found) => {
      const row = found as StoredOrder | undefined;
      if (row?.simulation !== simulation) {
        const says = simulation === undefined ? undefined : simulationOf(simulation);
        if (simulation !== undefined && says?.orders !== (says?.inherited ?? 0) + count)
          throw new DamagedHistory('The history has lost an order');
        count = 0;
        simulation = row?.simulation;
        begins = simulation === undefined ? 0 : (simulationOf(simulation)?.begins ?? 0);
      }
      if (row === undefined) return;
      // An order of a fork's ancestors that it has changed is a row of its own.
      const isOwn = row.seq > begins;
      if (isOwn) count += 1;
      this.#order(sound('order', row), isOwn);
    };
  }

  #order(
    { simulation, number, portfolio, portfolio_n, account, account_n, terms, places, events }: StoredOrder,
    isOwn: boolean,
  ): void {
    for (const [kind, owner, n] of [
      ['portfolio', portfolio, portfolio_n],
      ['account', account, account_n],
    ] as const) {
      const sql = `SELECT number FROM orders INDEXED BY orders_by_${kind} WHERE ${kind} = ? AND ${kind}_n = ?`;
      if (this.#one<{ number: number }>(sql, owner, n)?.number !== number)
        throw new DamagedHistory('The history does not list an order that it has');
    }
    const { clientOrderId } = JSON.parse(terms) as { readonly clientOrderId?: string };
    if (clientOrderId !== undefined && isOwn) {
      const sql = 'SELECT number FROM client_order WHERE owner = ? AND id = ?';
      if (this.#one(sql, portfolio, clientOrderId) === undefined)
        throw new DamagedHistory('The history has lost a client order id');
    }
    let end: number | undefined = isOwn ? placesOf({ places }).length : undefined;
    const sql = 'SELECT * FROM order_event WHERE simulation = ? AND number = ? ORDER BY n';
    for (const row of all<OrderEventRow>(this.#statements.of(sql), simulation, number)) {
      end ??= row.n - placesOf(row).length;
      end += placesOf(sound('orderEvent', row)).length;
      if (row.n !== end) throw new DamagedHistory('The history has lost an event of an order');
    }
    if (end !== events) throw new DamagedHistory('The history has lost the last event of an order');
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- as in connection.ts
  #one<Row>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return one<Row>(this.#statements.of(sql), ...values);
  }
}

type ScrubbedRow = ItemRow | TenantEventRow;

const LISTS = Object.fromEntries(Object.entries(LIST_CODE).map(([list, code]) => [code, list])) as Record<
  number,
  keyof typeof LIST_CODE
>;

const ofItem = (row: ScrubbedRow): string => `${row.owner} ${(row as ItemRow).list}`;
const ofTenant = (row: ScrubbedRow): string => String(row.owner);

/** Each row of a list begins where the one before it has ended. That the list ends where it must, the owners are asked. */
function gapless(
  checked: (row: unknown) => ScrubbedRow,
  listOf: (row: ScrubbedRow) => string,
  baseOf: (row: ScrubbedRow) => number,
): Pass['look'] {
  let list: string | undefined;
  let base = 0;
  let end = 0;
  return (found) => {
    if (found === undefined) return;
    const row = checked(found);
    if (listOf(row) !== list) end = base = baseOf(row);
    list = listOf(row);
    // An item of a fork's ancestors that it has replaced.
    if (row.n <= base) return;
    end += placesOf(row).length;
    if (row.n !== end) throw new DamagedHistory('The history has lost an item of a list');
  };
}
