import type { ForkBeginning } from '../history/fork-beginning.js';
import { DamagedHistory, HISTORY_FORMAT, LENGTHS, LIST_CODE, orderOwner } from '../history/history-rows.js';
import type { HistoryRows, ItemRow } from '../history/history-rows.js';
import type { Line } from '../history/history-queries.js';

/**
 * The rows of the history as parts of one statement: with the commit of their records, or on their own when they were made from the journal.
 * Each table has one parameter, a JSON list of its rows. Rows of a cell are written if they follow those that are there, all or none.
 */

/** Rows of one cell. */
export interface CellRows {
  readonly cell: number;
  /** Of the cell: an item with a key may have begun in an ancestor. */
  readonly line: Line;
  readonly rows: HistoryRows;
}

const LENGTHS_OF_R = LENGTHS.map((list) => `r.${list}`).join(', ');

/** Ordinal of the last item among these rows of the same list. */
const LENGTH_OF_ITEM = `CASE r.list
  WHEN ${LIST_CODE.activities} THEN o.activities WHEN ${LIST_CODE.ledger} THEN o.ledger
  WHEN ${LIST_CODE.equity} THEN o.equity WHEN ${LIST_CODE.sma} THEN o.sma
  WHEN ${LIST_CODE['order-events']} THEN m.events END`;

const STANDINGS = `
  INSERT INTO history_standing AS s (cell, portfolio, minute, holding, moved_by, standing, first, seq)
    SELECT r.cell, r.portfolio, r.minute, r.holding, r.moved_by, r.standing, r.first, r.seq
      FROM json_to_recordset($standings::json) AS r (cell bigint, portfolio text, minute bigint, holding bigint, moved_by bigint,
        standing text, first bigint, seq bigint)
      JOIN told ON told.cell = r.cell
    ON CONFLICT (cell, portfolio, minute) DO UPDATE SET holding = excluded.holding, standing = excluded.standing, seq = excluded.seq,
      moved_by = coalesce(s.moved_by, excluded.moved_by)`;

const MARKS = `
  INSERT INTO history_mark (cell, symbol, minute, price, first, seq)
    SELECT r.cell, r.symbol, r.minute, r.price, r.first, r.seq
      FROM json_to_recordset($marks::json) AS r (cell bigint, symbol text, minute bigint, price bigint, first bigint, seq bigint)
      JOIN told ON told.cell = r.cell
    ON CONFLICT (cell, symbol, minute) DO UPDATE SET price = excluded.price, seq = excluded.seq`;

const ROWS = `
  continued AS (
    UPDATE history_cell h SET seq = r.seq
      FROM json_to_recordset($cells::json) AS r (cell bigint, after bigint, seq bigint) JOIN done ON done.cell = r.cell
      WHERE h.cell = r.cell AND h.seq = r.after AND h.format = ${HISTORY_FORMAT}
      RETURNING h.cell
  ), begun AS (
    INSERT INTO history_cell (cell, seq, format, proof)
      SELECT r.cell, r.seq, ${HISTORY_FORMAT}, ''
        FROM json_to_recordset($cells::json) AS r (cell bigint, after bigint, seq bigint) JOIN done ON done.cell = r.cell
        WHERE r.after = 0
      ON CONFLICT (cell) DO NOTHING
      RETURNING cell
  ), told AS (SELECT cell FROM continued UNION ALL SELECT cell FROM begun), owners AS (
    INSERT INTO history_owner AS o (cell, id, ${LENGTHS.join(', ')})
      SELECT r.cell, r.id, ${LENGTHS_OF_R}
        FROM json_to_recordset($owners::json) AS r (cell bigint, id text, ${LENGTHS.map((list) => `${list} bigint`).join(', ')})
        JOIN told ON told.cell = r.cell
      ON CONFLICT (cell, id) DO UPDATE SET ${LENGTHS.map((list) => `${list} = o.${list} + excluded.${list}`).join(', ')}
      RETURNING cell, id, ${LENGTHS.join(', ')}
  ), portfolios AS (
    INSERT INTO history_portfolio (cell, id, account, terms, opened, last, closed)
      SELECT r.cell, r.id, r.account, r.terms, r.opened, r.last, r.closed
        FROM json_to_recordset($portfolios::json) AS r (cell bigint, id text, account text, terms text, opened bigint, last text, closed bigint)
        JOIN told ON told.cell = r.cell
      ON CONFLICT (cell, id) DO UPDATE SET terms = excluded.terms, last = excluded.last, closed = excluded.closed
  ), orders AS (
    INSERT INTO history_order (cell, number, portfolio, portfolio_n, account, account_n, client_order, symbol, asset_class, created_at,
        status, filled_on, terms, progress, seq, places, events)
      SELECT r.cell, r.number, r.portfolio, p.orders - r.portfolio_back, r.account, a.orders - r.account_back, r.client_order, r.symbol,
          r.asset_class, r.created_at, r.status, r.filled_on, r.terms, r.progress, r.seq, r.places, r.events
        FROM json_to_recordset($orders::json) AS r (cell bigint, number bigint, portfolio text, portfolio_back bigint, account text,
          account_back bigint, client_order text, symbol text, asset_class text, created_at bigint, status text, filled_on text,
          terms text, progress text, seq bigint, places text, events bigint)
        JOIN told ON told.cell = r.cell
        LEFT JOIN owners p ON p.cell = r.cell AND p.id = r.portfolio
        LEFT JOIN owners a ON a.cell = r.cell AND a.id = r.account
  ), moves AS (
    UPDATE history_order o SET symbol = r.symbol, status = r.status, filled_on = coalesce(r.filled_on, o.filled_on), terms = r.terms,
        progress = r.progress, events = o.events + r.events
      FROM json_to_recordset($moved::json) AS r (cell bigint, number bigint, symbol text, status text, filled_on text, terms text,
        progress text, events bigint)
      JOIN told ON told.cell = r.cell
      WHERE o.cell = r.cell AND o.number = r.number
      RETURNING o.cell, o.number, o.events
  ), items AS (
    INSERT INTO history_item (cell, owner, list, n, seq, at, places)
      SELECT r.cell, r.owner, r.list, coalesce(r.n, ${LENGTH_OF_ITEM} - r.back), r.seq, r.at, r.places
        FROM json_to_recordset($items::json) AS r (cell bigint, owner text, list bigint, n bigint, back bigint, of_order bigint, seq bigint,
          at bigint, places text)
        JOIN told ON told.cell = r.cell
        LEFT JOIN owners o ON o.cell = r.cell AND o.id = r.owner
        LEFT JOIN moves m ON m.cell = r.cell AND m.number = r.of_order
  ), keyed AS (
    INSERT INTO history_item (cell, owner, list, n, seq, at, places, key)
      SELECT r.cell, r.owner, r.list, coalesce((
            SELECT i.n FROM json_array_elements(r.line) WITH ORDINALITY AS l (generation, place)
              JOIN history_item i ON i.cell = (l.generation ->> 'cell')::bigint AND i.owner = r.owner AND i.list = r.list AND i.key = r.key
              WHERE i.seq <= (l.generation ->> 'upTo')::bigint ORDER BY l.place LIMIT 1
          ), r.n), r.seq, r.at, r.places, r.key
        FROM json_to_recordset($keyed::json) AS r (cell bigint, line json, owner text, list bigint, n bigint, seq bigint, at bigint,
          places text, key text)
        JOIN told ON told.cell = r.cell
  ), standings AS (${STANDINGS}
  ), marks AS (${MARKS}
  )`;

/** The parts of `ROWS`, in the order of their parameters. */
const PARAMETERS = [
  'cells',
  'owners',
  'portfolios',
  'orders',
  'moved',
  'items',
  'keyed',
  'standings',
  'marks',
] as const;

const BEGINNING = `
  told AS (
    INSERT INTO history_cell (cell, seq, format, proof)
      SELECT r.cell, r.seq, ${HISTORY_FORMAT}, ''
        FROM json_to_recordset($cells::json) AS r (cell bigint, seq bigint) JOIN done ON done.cell = r.cell
      ON CONFLICT (cell) DO NOTHING
      RETURNING cell
  ), owners AS (
    INSERT INTO history_owner (cell, id, ${LENGTHS.join(', ')}, ${LENGTHS.map((list) => `${list}_base`).join(', ')})
      SELECT r.cell, r.id, ${LENGTHS_OF_R}, ${LENGTHS_OF_R}
        FROM json_to_recordset($owners::json) AS r (cell bigint, id text, ${LENGTHS.map((list) => `${list} bigint`).join(', ')})
        JOIN told ON told.cell = r.cell
  ), orders AS (
    INSERT INTO history_order (cell, number, portfolio, portfolio_n, account, account_n, client_order, symbol, asset_class, created_at,
        status, filled_on, terms, progress, seq, places, events)
      SELECT r.cell, r.number, r.portfolio, r.portfolio_n, r.account, r.account_n, r.client_order, r.symbol, r.asset_class, r.created_at,
          r.status, r.filled_on, r.terms, r.progress, r.seq, r.places, r.events
        FROM json_to_recordset($orders::json) AS r (cell bigint, number bigint, portfolio text, portfolio_n bigint, account text,
          account_n bigint, client_order text, symbol text, asset_class text, created_at bigint, status text, filled_on text,
          terms text, progress text, seq bigint, places text, events bigint)
        JOIN told ON told.cell = r.cell
  ), standings AS (${STANDINGS}
  ), marks AS (${MARKS}
  )`;

/** Parts of the statement that write rows of the cells in `done`, with parameters from this number on. `told` has the cells with new rows. */
export const rowsFrom = (parameter: number): string => numbered(ROWS, PARAMETERS, parameter);

/** Statement with the initial rows of a fork. */
export const beginningFrom = (parameter: number): string =>
  numbered(BEGINNING, BEGINNING_PARAMETERS, parameter);

const BEGINNING_PARAMETERS = ['cells', 'owners', 'orders', 'standings', 'marks'] as const;

const numbered = (sql: string, names: readonly string[], first: number): string =>
  sql.replaceAll(/\$([a-z]+)::json/g, (_, name: string) => `$${first + names.indexOf(name)}::json`);

/** The values of `rowsFrom`. */
export function rowValues(cells: readonly CellRows[]): string[] {
  const all: Record<(typeof PARAMETERS)[number], object[]> = {
    cells: [],
    owners: [],
    portfolios: [],
    orders: [],
    moved: [],
    items: [],
    keyed: [],
    standings: [],
    marks: [],
  };
  for (const { cell, line, rows } of cells) {
    all.cells.push({ cell, after: rows.from, seq: rows.to });
    for (const row of rows.owners) all.owners.push({ cell, ...row });
    for (const row of rows.portfolios) all.portfolios.push({ cell, ...row });
    const events = new Map<string, number>();
    for (const row of rows.orders) {
      events.set(orderOwner(row.number), row.events);
      const { portfolioBack, accountBack, clientOrder, assetClass, createdAt, filledOn, ...same } = row;
      all.orders.push({
        cell,
        ...same,
        portfolio_back: portfolioBack,
        account_back: accountBack,
        client_order: clientOrder,
        asset_class: assetClass,
        created_at: createdAt,
        filled_on: filledOn,
      });
    }
    for (const { filledOn, ...same } of rows.moved) all.moved.push({ cell, ...same, filled_on: filledOn });
    const firstWith = new Map<string, number | null>();
    for (const row of rows.items)
      if (row.key === null) all.items.push({ cell, ...placed(row, events) });
      else {
        // The statement does not see its own rows.
        const name = `${row.owner} ${row.list} ${row.key}`;
        const n = firstWith.get(name) ?? row.n;
        firstWith.set(name, n);
        all.keyed.push({ cell, ...row, n, line });
      }
    for (const { isHolding, movedBy, ...same } of rows.standings)
      all.standings.push({ cell, ...same, holding: isHolding ? 1 : 0, moved_by: movedBy });
    for (const row of rows.marks) all.marks.push({ cell, ...row });
  }
  return PARAMETERS.map((name) => JSON.stringify(all[name]));
}

/** Events of an order that is new among these rows have known ordinals. */
function placed(
  { owner, list, n, back, seq, at, places }: ItemRow,
  events: ReadonlyMap<string, number>,
): object {
  const ofNew = list === LIST_CODE['order-events'] ? events.get(owner) : undefined;
  const isOfOrder = list === LIST_CODE['order-events'] && ofNew === undefined;
  return {
    owner,
    list,
    n: ofNew === undefined ? n : ofNew - back,
    back,
    ...(isOfOrder && { of_order: Number(owner) }),
    seq,
    at,
    places,
  };
}

/** The values of `beginningFrom`. `seq`: the record after which the fork begins. */
export function beginningValues(cell: number, seq: number, beginning: ForkBeginning): string[] {
  const { owners, orders, standings, marks } = beginning;
  const lists = [
    [{ cell, seq }],
    owners.map(({ id, lengths }) => ({ cell, id, ...lengths })),
    orders.map((row) => ({ cell, ...row })),
    standings.map(({ isHolding, movedBy, ...row }) => ({
      cell,
      ...row,
      holding: isHolding ? 1 : 0,
      moved_by: movedBy,
    })),
    marks.map((row) => ({ cell, ...row })),
  ];
  return lists.map((list) => JSON.stringify(list));
}

/** True for an error that rows may be the reason of: they contradict those that are there, or are no valid values. */
export function isOfRows(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return error instanceof DamagedHistory || (typeof code === 'string' && /^2[123]/.test(code));
}
