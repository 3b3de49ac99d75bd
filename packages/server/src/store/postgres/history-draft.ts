import type { OrderProgress, OrderTerms, PortfolioSnapshot } from '@sandpit/core';
import type { QuestionConnection } from './question-connection.js';

/** Writing the rows of a group of records may be slower than a lookup. */
const WRITE_MS = 10_000;

/** An order as the tables are to have it. */
export interface OrderDraft {
  terms: OrderTerms;
  progress: OrderProgress;
  filledOn: string | null;
  readonly portfolioN: number;
  readonly accountN: number;
}

interface ItemRow {
  readonly cell: number;
  readonly owner: string;
  readonly list: string;
  readonly n: number;
  readonly seq: number;
  readonly event: number;
  readonly item: number;
  readonly at: number;
  readonly tag: string | null;
  readonly key: string | null;
}

interface CountRow {
  readonly cell: number;
  readonly owner: string;
  readonly list: string;
  readonly n: number;
}

interface StandingRow {
  readonly cell: number;
  readonly portfolio: string;
  readonly minute: number;
  hasMoved: boolean;
  standing: PortfolioSnapshot;
}

interface MarkRow {
  readonly cell: number;
  readonly symbol: string;
  readonly minute: number;
  readonly price: number;
}

interface PositionDraft {
  readonly cell: number;
  readonly epoch: number;
  readonly from: number;
  to: number;
}

/**
 * One statement for the rows of a group of records. The position of a cell moves if its head has the expected epoch and its position is the
 * expected one; rows of other cells are not written (D199).
 */
const WRITE = `
  WITH expected AS (
    SELECT * FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[]) AS e (cell, epoch, from_seq, to_seq)
  ), moved AS (
    INSERT INTO history_position (cell, seq)
      SELECT e.cell, e.to_seq FROM expected e JOIN head ON head.cell = e.cell AND head.epoch = e.epoch
      ON CONFLICT (cell) DO UPDATE SET seq = excluded.seq
        WHERE history_position.seq = (SELECT from_seq FROM expected e WHERE e.cell = history_position.cell)
      RETURNING cell
  ), counts AS (
    INSERT INTO history_count (cell, owner, list, n)
      SELECT r.* FROM unnest($5::integer[], $6::text[], $7::text[], $8::bigint[]) AS r (cell, owner, list, n) JOIN moved USING (cell)
      ON CONFLICT (cell, owner, list) DO UPDATE SET n = excluded.n
  ), portfolios AS (
    INSERT INTO history_portfolio (cell, id, account, terms, last)
      SELECT r.* FROM unnest($9::integer[], $10::text[], $11::text[], $12::text[], $13::text[])
        AS r (cell, id, account, terms, last) JOIN moved USING (cell)
      ON CONFLICT (cell, id) DO UPDATE SET last = excluded.last
  ), closed AS (
    UPDATE history_portfolio p SET last = r.last
      FROM unnest($14::integer[], $15::text[], $16::text[]) AS r (cell, id, last) JOIN moved USING (cell)
      WHERE p.cell = r.cell AND p.id = r.id
  ), orders AS (
    INSERT INTO history_order (cell, number, portfolio, portfolio_n, account, account_n, client_order, symbol, asset_class,
        created_at, status, filled_on, terms, progress)
      SELECT r.* FROM unnest($17::integer[], $18::bigint[], $19::text[], $20::bigint[], $21::text[], $22::bigint[], $23::text[],
          $24::text[], $25::text[], $26::bigint[], $27::text[], $28::text[], $29::text[], $30::text[])
        AS r (cell, number, portfolio, portfolio_n, account, account_n, client_order, symbol, asset_class, created_at, status,
          filled_on, terms, progress) JOIN moved USING (cell)
      ON CONFLICT (cell, number) DO UPDATE SET symbol = excluded.symbol, status = excluded.status, filled_on = excluded.filled_on,
        terms = excluded.terms, progress = excluded.progress
  ), items AS (
    INSERT INTO history_item (cell, owner, list, n, seq, event, item, at, tag, key)
      SELECT r.* FROM unnest($31::integer[], $32::text[], $33::text[], $34::bigint[], $35::bigint[], $36::integer[], $37::integer[],
          $38::bigint[], $39::text[], $40::text[])
        AS r (cell, owner, list, n, seq, event, item, at, tag, key) JOIN moved USING (cell)
      ON CONFLICT (cell, owner, list, n) DO UPDATE SET seq = excluded.seq, event = excluded.event, item = excluded.item,
        at = excluded.at, tag = excluded.tag
  ), standings AS (
    INSERT INTO history_standing (cell, portfolio, minute, holding, moved, standing)
      SELECT r.* FROM unnest($41::integer[], $42::text[], $43::bigint[], $44::boolean[], $45::boolean[], $46::text[])
        AS r (cell, portfolio, minute, holding, moved, standing) JOIN moved USING (cell)
      ON CONFLICT (cell, portfolio, minute) DO UPDATE SET holding = excluded.holding, standing = excluded.standing,
        moved = history_standing.moved OR excluded.moved
  ), marks AS (
    INSERT INTO history_mark (cell, symbol, minute, price)
      SELECT r.* FROM unnest($47::integer[], $48::text[], $49::bigint[], $50::bigint[]) AS r (cell, symbol, minute, price) JOIN moved USING (cell)
      ON CONFLICT (cell, symbol, minute) DO UPDATE SET price = excluded.price
  )
  SELECT cell FROM moved`;

/** Rows of a group of records, by the cells that they are of. */
export class HistoryDraft {
  readonly portfolios: {
    readonly cell: number;
    readonly id: string;
    readonly account: string;
    readonly terms: string;
    last: string | null;
  }[] = [];
  readonly closures: { readonly cell: number; readonly id: string; readonly last: string }[] = [];
  readonly #positions = new Map<number, PositionDraft>();
  readonly #counts = new Map<string, CountRow>();
  readonly #orders = new Map<string, { readonly cell: number; readonly order: OrderDraft }>();
  readonly #items = new Map<string, ItemRow>();
  readonly #keyed = new Map<string, number>();
  readonly #standings = new Map<string, StandingRow>();
  readonly #marks = new Map<string, MarkRow>();

  begin(cell: number, epoch: number, from: number): void {
    this.#positions.set(cell, { cell, epoch, from, to: from });
  }

  end(cell: number, to: number): void {
    const position = this.#positions.get(cell);
    if (position === undefined) return;
    if (to === position.from) this.#positions.delete(cell);
    else position.to = to;
  }

  /** Next position of the tables; undefined if unchanged. */
  positionOf(cell: number): number | undefined {
    return this.#positions.get(cell)?.to;
  }

  count(cell: number, owner: string, list: string, n: number): void {
    this.#counts.set(`${cell} ${list} ${owner}`, { cell, owner, list, n });
  }

  order(cell: number, order: OrderDraft): void {
    this.#orders.set(`${cell} ${order.terms.number}`, { cell, order });
  }

  item(row: ItemRow): void {
    const { cell, list, owner, n, key } = row;
    this.#items.set(`${cell} ${list} ${n} ${owner}`, row);
    if (key !== null) this.#keyed.set(`${cell} ${list} ${owner} ${key}`, n);
  }

  numberOf(cell: number, owner: string, list: string, key: string): number | undefined {
    return this.#keyed.get(`${cell} ${list} ${owner} ${key}`);
  }

  standing(
    cell: number,
    portfolio: string,
    minute: number,
    hasMoved: boolean,
    standing: PortfolioSnapshot,
  ): void {
    const name = `${cell} ${minute} ${portfolio}`;
    const same = this.#standings.get(name);
    this.#standings.set(name, {
      cell,
      portfolio,
      minute,
      standing,
      hasMoved: hasMoved || same?.hasMoved === true,
    });
  }

  mark(cell: number, symbol: string, minute: number, price: number): void {
    this.#marks.set(`${cell} ${minute} ${symbol}`, { cell, symbol, minute, price });
  }

  /** Returns the cells whose tables have moved. */
  async write(database: QuestionConnection): Promise<ReadonlySet<number>> {
    if (this.#positions.size === 0) return new Set();
    const closures = this.#closureColumns();
    const rows = await database.ask<{ cell: number }>(
      WRITE,
      [
        ...columns([...this.#positions.values()], 'cell', 'epoch', 'from', 'to'),
        ...columns([...this.#counts.values()], 'cell', 'owner', 'list', 'n'),
        ...columns(this.portfolios, 'cell', 'id', 'account', 'terms', 'last'),
        ...closures,
        ...this.#orderColumns(),
        ...columns(
          [...this.#items.values()],
          'cell',
          'owner',
          'list',
          'n',
          'seq',
          'event',
          'item',
          'at',
          'tag',
          'key',
        ),
        ...this.#standingColumns(),
        ...columns([...this.#marks.values()], 'cell', 'symbol', 'minute', 'price'),
      ],
      WRITE_MS,
      'write-history',
    );
    return new Set(rows.map(({ cell }) => cell));
  }

  /** One that is opened and closed in the same group is added as closed: an update would not find it. */
  #closureColumns(): unknown[][] {
    const opened = new Map(this.portfolios.map((row) => [`${row.cell} ${row.id}`, row]));
    const later = this.closures.filter(({ cell, id, last }) => {
      const row = opened.get(`${cell} ${id}`);
      if (row !== undefined) row.last = last;
      return row === undefined;
    });
    return columns(later, 'cell', 'id', 'last');
  }

  #orderColumns(): unknown[][] {
    const rows = [...this.#orders.values()];
    const of = (value: (order: OrderDraft) => unknown): unknown[] => rows.map(({ order }) => value(order));
    return [
      rows.map(({ cell }) => cell),
      of(({ terms }) => terms.number),
      of(({ terms }) => terms.portfolioId),
      of(({ portfolioN }) => portfolioN),
      of(({ terms }) => terms.accountId),
      of(({ accountN }) => accountN),
      of(({ terms }) => terms.clientOrderId ?? null),
      of(({ terms }) => terms.symbol),
      of(({ terms }) => terms.assetClass),
      of(({ terms }) => terms.createdAt),
      of(({ progress }) => progress.status),
      of(({ filledOn }) => filledOn),
      of(({ terms }) => JSON.stringify(terms)),
      of(({ progress }) => JSON.stringify(progress)),
    ];
  }

  #standingColumns(): unknown[][] {
    const rows = [...this.#standings.values()];
    return [
      ...columns(rows, 'cell', 'portfolio', 'minute'),
      rows.map(({ standing }) => Object.keys(standing.held).length > 0),
      rows.map(({ hasMoved }) => hasMoved),
      rows.map(({ standing }) => JSON.stringify(standing)),
    ];
  }
}

const columns = <Row extends object>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] =>
  names.map((name) => rows.map((row) => row[name]));
