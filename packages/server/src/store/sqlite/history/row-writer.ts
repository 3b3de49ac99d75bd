import { answered } from '../../history/asking.js';
import { forkBeginning } from '../../history/fork-beginning.js';
import type { Lengths, StoredOrderRow } from '../../history/fork-beginning.js';
import {
  DamagedHistory,
  HISTORY_FORMAT,
  LENGTHS,
  LIST_CODE,
  orderOwner,
} from '../../history/history-rows.js';
import type {
  ForkRows,
  HistoryRows,
  ItemRow,
  Length,
  MarkRow,
  OwnerGrowth,
  StandingRow,
} from '../../history/history-rows.js';
import type { Line } from '../../history/history-queries.js';
import { BulkInsert } from '../database/bulk-insert.js';
import { all, one, Statements } from '../database/connection.js';
import type { Database, SqlValue } from '../database/connection.js';

type WrittenOrder = StoredOrderRow & { readonly cell: number };

interface WrittenItem {
  readonly cell: number;
  readonly owner: string;
  readonly list: number;
  readonly n: number;
  readonly seq: number;
  readonly at: number;
  readonly places: string;
  readonly key: string | null;
}

const GROW = `INSERT INTO history_owner (cell, id, ${LENGTHS.join(', ')}) VALUES (?, ?, ${LENGTHS.map(() => '?').join(', ')})
  ON CONFLICT (cell, id) DO UPDATE SET ${LENGTHS.map((list) => `${list} = ${list} + excluded.${list}`).join(', ')}
  RETURNING ${LENGTHS.join(', ')}`;

const MOVE = `UPDATE history_order SET symbol = ?, status = ?, filled_on = coalesce(?, filled_on), terms = ?, progress = ?, events = events + ?
  WHERE cell = ? AND number = ? RETURNING events`;

const PORTFOLIO = `INSERT INTO history_portfolio (cell, id, account, terms, opened, last, closed) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (cell, id) DO UPDATE SET terms = excluded.terms, last = excluded.last, closed = excluded.closed`;

const STANDING = `INSERT INTO history_standing (cell, portfolio, minute, holding, moved_by, standing, first, seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (cell, portfolio, minute) DO UPDATE SET holding = excluded.holding, standing = excluded.standing, seq = excluded.seq,
    moved_by = coalesce(moved_by, excluded.moved_by)`;

const MARK = `INSERT INTO history_mark (cell, symbol, minute, price, first, seq) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (cell, symbol, minute) DO UPDATE SET price = excluded.price, seq = excluded.seq`;

const CELL = `INSERT INTO history_cell (cell, seq, format, proof) VALUES (?, ?, ${HISTORY_FORMAT}, ?)
  ON CONFLICT (cell) DO UPDATE SET seq = excluded.seq, format = excluded.format, proof = excluded.proof`;

/** Writes rows as they were made, each table in the order of its key. Within a transaction of the caller. */
export class RowWriter {
  readonly #statements: Statements;
  readonly #insertOrders: BulkInsert<WrittenOrder>;
  readonly #insertItems: BulkInsert<WrittenItem>;

  constructor(database: Database) {
    this.#statements = new Statements(database);
    this.#insertOrders = new BulkInsert(database, 'history_order', [
      'cell',
      'number',
      'portfolio',
      'portfolio_n',
      'account',
      'account_n',
      'client_order',
      'symbol',
      'asset_class',
      'created_at',
      'status',
      'filled_on',
      'terms',
      'progress',
      'seq',
      'places',
      'events',
    ]);
    this.#insertItems = new BulkInsert(database, 'history_item', [
      'cell',
      'owner',
      'list',
      'n',
      'seq',
      'at',
      'places',
      'key',
    ]);
  }

  /**
   * The rows of the records after the position. `line`: of the cell, in whose ancestors an item may have begun. `proof`: of the journal that the
   * last of the records is in.
   */
  write(line: Line, rows: HistoryRows, proof: string): void {
    const [{ cell }] = line;
    const lengths = new Map(rows.owners.map((owner) => [owner.id, this.#grow(cell, owner)]));
    const lengthOf = (owner: string, list: Length): number => lengths.get(owner)?.[list] ?? 0;
    for (const { id, account, terms, opened, last, closed } of rows.portfolios)
      this.#run(PORTFOLIO, cell, id, account, terms, opened, last, closed);
    const events = new Map<string, number>();
    const orders = rows.orders.map((row): WrittenOrder => {
      events.set(orderOwner(row.number), row.events);
      return {
        cell,
        number: row.number,
        portfolio: row.portfolio,
        portfolio_n: lengthOf(row.portfolio, 'orders') - row.portfolioBack,
        account: row.account,
        account_n: lengthOf(row.account, 'orders') - row.accountBack,
        client_order: row.clientOrder,
        symbol: row.symbol,
        asset_class: row.assetClass,
        created_at: row.createdAt,
        status: row.status,
        filled_on: row.filledOn,
        terms: row.terms,
        progress: row.progress,
        seq: row.seq,
        places: row.places,
        events: row.events,
      };
    });
    this.#insertOrders.run(orders.sort((a, b) => a.number - b.number));
    for (const { number, symbol, status, filledOn, terms, progress, events: more } of rows.moved) {
      const sql = this.#statements.of<{ events: number }>(MOVE);
      const moved = one(sql, symbol, status, filledOn, terms, progress, more, cell, number);
      if (moved === undefined) throw new DamagedHistory(`The history has no order ${number}`);
      events.set(orderOwner(number), moved.events);
    }
    const items: WrittenItem[] = [];
    for (const row of rows.items) {
      const { owner, list, seq, at, places, key, back } = row;
      if (key !== null) {
        // One by one: a later row of the same key among these is to find it.
        this.#insertItems.run([{ cell, owner, list, n: this.#ordinalOf(line, row), seq, at, places, key }]);
        continue;
      }
      const length =
        list === LIST_CODE['order-events']
          ? (events.get(owner) ?? 0)
          : lengthOf(owner, LENGTH_BY_CODE[list] ?? 'activities');
      items.push({ cell, owner, list, n: row.n ?? length - back, seq, at, places, key });
    }
    items.sort((a, b) => (a.owner < b.owner ? -1 : a.owner > b.owner ? 1 : a.list - b.list || a.n - b.n));
    this.#insertItems.run(items);
    for (const row of rows.standings) this.#standing(cell, row);
    for (const row of rows.marks) this.#mark(cell, row);
    this.#run(CELL, cell, rows.to, proof);
  }

  #grow(cell: number, owner: OwnerGrowth): Lengths {
    const grown = one<Lengths>(
      this.#statements.of(GROW),
      cell,
      owner.id,
      ...LENGTHS.map((list) => owner[list]),
    );
    if (grown === undefined) throw new Error('An owner has no lengths');
    return grown;
  }

  /** Ordinal of the first item with the key, which this item replaces. */
  #ordinalOf(line: Line, { owner, list, key, n }: ItemRow): number {
    const sql =
      'SELECT n FROM history_item WHERE cell = ? AND owner = ? AND list = ? AND key = ? AND seq <= ? LIMIT 1';
    for (const { cell, upTo } of line) {
      const found = one<{ n: number }>(this.#statements.of(sql), cell, owner, list, key, upTo);
      if (found !== undefined) return found.n;
    }
    return n ?? 0;
  }

  /** Begins a fork. `line`: of the fork, whose own generation has nothing yet. */
  begin(line: Line, rows: ForkRows, proof: string): void {
    const [{ cell }, parent, ...older] = line;
    if (parent === undefined) throw new Error('A fork has a parent');
    const { owners, orders, standings, marks } = answered(
      forkBeginning([parent, ...older], rows),
      (question) => all(this.#statements.of(question.sql), ...question.values),
    );
    const columns = [...LENGTHS, ...LENGTHS.map((list) => `${list}_base`)];
    const insert = `INSERT INTO history_owner (cell, id, ${columns.join(', ')}) VALUES (?, ?, ${columns.map(() => '?').join(', ')})`;
    for (const { id, lengths } of owners) {
      const values = LENGTHS.map((list) => lengths[list]);
      this.#run(insert, cell, id, ...values, ...values);
    }
    this.#insertOrders.run(orders.map((row) => ({ cell, ...row })));
    for (const row of standings) this.#standing(cell, row);
    for (const row of marks) this.#mark(cell, row);
    this.#run(CELL, cell, parent.upTo, proof);
  }

  #standing(
    cell: number,
    { portfolio, minute, isHolding, movedBy, standing, first, seq }: StandingRow,
  ): void {
    this.#run(STANDING, cell, portfolio, minute, isHolding ? 1 : 0, movedBy, standing, first, seq);
  }

  #mark(cell: number, { symbol, minute, price, first, seq }: MarkRow): void {
    this.#run(MARK, cell, symbol, minute, price, first, seq);
  }

  #run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#statements.of(sql).run(...values).changes;
  }
}

const LENGTH_BY_CODE: Readonly<Record<number, Length>> = Object.fromEntries(
  (['activities', 'ledger', 'equity', 'sma'] as const).map((list) => [LIST_CODE[list], list]),
);
