import { rowOf, rowsOf } from './asking.js';
import type { Asking, SqlValue } from './asking.js';
import { DamagedHistory, EVERY_ORDER, LENGTHS, LIST_CODE, orderOwner } from './history-rows.js';
import type { ForkRows, ItemLength, Length, StandingRow, MarkRow } from './history-rows.js';
import type { Generation, Line } from './history-queries.js';

/** Lengths of the lists of an owner. */
export type Lengths = Readonly<Record<Length, number>>;

/** An order as the tables have it. */
export interface StoredOrderRow {
  readonly number: number;
  readonly portfolio: string;
  readonly portfolio_n: number;
  readonly account: string;
  readonly account_n: number;
  readonly client_order: string | null;
  readonly symbol: string;
  readonly asset_class: string;
  readonly created_at: number;
  readonly status: string;
  readonly filled_on: string | null;
  readonly terms: string;
  readonly progress: string;
  readonly seq: number;
  readonly places: string;
  readonly events: number;
}

/** The rows that a fork begins with. */
export interface ForkBeginning {
  readonly owners: readonly { readonly id: string; readonly lengths: Lengths }[];
  readonly orders: readonly StoredOrderRow[];
  readonly standings: readonly StandingRow[];
  readonly marks: readonly MarkRow[];
}

/**
 * The rows of a fork at its beginning: the lengths of all lists, and copies of what its parent may change afterwards: orders that are open,
 * and the minutes of the curves that contain the point. `parents`: the line of the parent, up to the point.
 */
export function* forkBeginning(parents: Line, rows: ForkRows): Asking<ForkBeginning> {
  return {
    owners: yield* lengthsAt(parents),
    orders: yield* ordersAt(parents, rows.orders),
    standings: yield* standingsAt(parents, rows),
    marks: yield* marksAt(parents, rows),
  };
}

/** Orders as of the point. Their events continue in the fork. */
function* ordersAt(parents: Line, orders: ForkRows['orders']): Asking<readonly StoredOrderRow[]> {
  const stored = yield* youngest<StoredOrderRow & { readonly cell: number }, number>(
    parents,
    orders.map(({ number }) => number),
    (list) => `SELECT * FROM history_order WHERE number IN (${list}) AND cell = ? AND seq <= ?`,
    ({ number }) => number,
  );
  const later = yield* youngest<{ owner: string; n: number }, string>(
    parents,
    orders.map(({ number }) => orderOwner(number)),
    (list) =>
      `SELECT owner, max(n) AS n FROM history_item WHERE owner IN (${list}) AND cell = ? AND seq <= ? AND list = ${LIST_CODE['order-events']}
         GROUP BY owner`,
    ({ owner }) => owner,
  );
  return orders.map((now) => {
    const found = stored.get(now.number);
    if (found === undefined) throw new DamagedHistory(`The history has no order ${now.number}`);
    const { cell: _, ...row } = found;
    const events =
      later.get(orderOwner(now.number))?.n ?? (JSON.parse(row.places) as readonly unknown[]).length;
    // Open at the point, whatever the parent has done with it since.
    return { ...row, ...now, filled_on: null, events };
  });
}

/** The minute of the point of portfolios that have changed in it, before it. */
function* standingsAt(parents: Line, { standings, minute }: ForkRows): Asking<ForkBeginning['standings']> {
  const [{ upTo: point }] = parents;
  const found = yield* youngest<{ portfolio: string; first: number; moved_by: number | null }, string>(
    parents,
    standings.map(({ portfolio }) => portfolio),
    (list) =>
      `SELECT portfolio, first, moved_by FROM history_standing WHERE portfolio IN (${list}) AND cell = ? AND first <= ? AND minute = ?`,
    ({ portfolio }) => portfolio,
    minute,
  );
  return standings.flatMap(({ portfolio, isHolding, standing }) => {
    const earlier = found.get(portfolio);
    if (earlier === undefined) return [];
    const { first, moved_by: by } = earlier;
    const movedBy = by !== null && by <= point ? by : null;
    return [{ portfolio, isHolding, standing, minute, first, movedBy, seq: point }];
  });
}

function* marksAt(parents: Line, { marks, minute }: ForkRows): Asking<ForkBeginning['marks']> {
  const [{ upTo: point }] = parents;
  const found = yield* youngest<{ symbol: string; first: number }, string>(
    parents,
    marks.map(({ symbol }) => symbol),
    (list) =>
      `SELECT symbol, first FROM history_mark WHERE symbol IN (${list}) AND cell = ? AND first <= ? AND minute = ?`,
    ({ symbol }) => symbol,
    minute,
  );
  return marks.flatMap(({ symbol, price }) => {
    const first = found.get(symbol)?.first;
    return first === undefined ? [] : [{ symbol, price, minute, first, seq: point }];
  });
}

/** Names in a question: each question has as many, so that a store prepares one statement. */
const NAMES_AT_ONCE = 64;
const NAMES = Array.from({ length: NAMES_AT_ONCE }, () => '?').join(', ');

/** Rows by their names, each of the youngest generation that has it. `sql`: for a list of names, with cell, last record and `more` after them. */
function* youngest<Row, Name extends SqlValue>(
  line: Line,
  names: readonly Name[],
  sql: (list: string) => string,
  nameOf: (row: Row) => Name,
  ...more: readonly SqlValue[]
): Asking<ReadonlyMap<Name, Row>> {
  const found = new Map<Name, Row>();
  const text = sql(NAMES);
  for (const { cell, upTo } of line) {
    const missing = names.filter((name) => !found.has(name));
    for (let first = 0; first < missing.length; first += NAMES_AT_ONCE) {
      const few = missing.slice(first, first + NAMES_AT_ONCE);
      const padded = Array.from({ length: NAMES_AT_ONCE }, (_, index) => few[index] ?? few[0] ?? null);
      for (const row of yield* rowsOf<Row>(text, ...padded, cell, upTo, ...more)) found.set(nameOf(row), row);
    }
  }
  return found;
}

function* lengthsAt([parent]: Line): Asking<ForkBeginning['owners']> {
  const owners = yield* rowsOf<Record<string, number> & { readonly id: string }>(
    'SELECT * FROM history_owner WHERE cell = ?',
    parent.cell,
  );
  const end = yield* rowOf<{ seq: number }>('SELECT seq FROM history_cell WHERE cell = ?', parent.cell);
  // True if no record was added since.
  const isEnd = end !== undefined && end.seq <= parent.upTo;
  const found: { id: string; lengths: Lengths }[] = [];
  let every = 0;
  for (const owner of owners) {
    if (owner.id === EVERY_ORDER) continue;
    const lengths: Record<string, number> = {};
    for (const list of LENGTHS)
      lengths[list] = isEnd ? (owner[list] ?? 0) : yield* lengthAt(parent, owner, list);
    if (owner.id.startsWith('@')) every += lengths['orders'] ?? 0;
    if (Object.values(lengths).some((length) => length > 0))
      found.push({ id: owner.id, lengths: lengths as Lengths });
  }
  // Each order is of one account.
  if (every > 0) found.push({ id: EVERY_ORDER, lengths: { ...NO_LENGTHS, orders: every } });
  return found;
}

const NO_LENGTHS = Object.fromEntries(LENGTHS.map((list) => [list, 0])) as Lengths;

/** Length of a list at the point. Usually it is the present one; otherwise it is searched for: rows are in the order of records. */
function* lengthAt(
  { cell, upTo }: Generation,
  owner: Readonly<Record<string, number>> & { readonly id: string },
  list: Length,
): Asking<number> {
  let low = owner[`${list}_base`] ?? 0;
  let high = owner[list] ?? 0;
  for (let middle = high; low < high; middle = Math.ceil((low + high) / 2)) {
    const row =
      list === 'orders'
        ? yield* orderWith(cell, owner.id, middle)
        : yield* itemWith(cell, owner.id, list, middle);
    if (row === undefined) throw new DamagedHistory('Rows of the history are missing');
    if (row.seq <= upTo) low = row.last;
    else high = row.first - 1;
  }
  return low;
}

/** The row with an ordinal of a list: its record, and its first and last ordinal. */
interface FoundRow {
  readonly seq: number;
  readonly first: number;
  readonly last: number;
}

function* orderWith(cell: number, id: string, n: number): Asking<FoundRow | undefined> {
  const [owner, ordinal] = id.startsWith('@') ? ['account', 'account_n'] : ['portfolio', 'portfolio_n'];
  const sql = `SELECT seq FROM history_order WHERE cell = ? AND ${owner} = ? AND ${ordinal} = ?`;
  const row = yield* rowOf<{ seq: number }>(sql, cell, id, n);
  return row === undefined ? undefined : { seq: row.seq, first: n, last: n };
}

function* itemWith(cell: number, id: string, list: ItemLength, n: number): Asking<FoundRow | undefined> {
  const row = yield* rowOf<{ seq: number; n: number; places: string }>(
    'SELECT n, seq, places FROM history_item WHERE cell = ? AND owner = ? AND list = ? AND n >= ? ORDER BY n LIMIT 1',
    cell,
    id,
    LIST_CODE[list],
    n,
  );
  if (row === undefined) return undefined;
  return { seq: row.seq, last: row.n, first: row.n - (JSON.parse(row.places) as unknown[]).length + 1 };
}
