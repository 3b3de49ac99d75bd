import type { Price } from '@sandpit/core';
import type {
  ClosedPortfolioRow,
  ListQuery,
  MinuteMark,
  OrderQuery,
  OrderRow,
  Page,
  SnapshotMinute,
  SnapshotRow,
} from '../history.js';
import { rowOf, rowsOf } from './asking.js';
import type { Asking, SqlValue } from './asking.js';
import {
  accountOwner,
  DamagedHistory,
  EVERY_ORDER,
  KEYED_LISTS,
  LIST_CODE,
  orderOwner,
} from './history-rows.js';
import type { ItemLength, Length } from './history-rows.js';

/**
 * The queries of the history, for every store. A simulation is named by its line: itself, and for a fork its ancestors, each with the last
 * record that the fork has of it. Throws `DamagedHistory`.
 */

/** A cell, and the last of its records that count; `ALL` for the simulation itself. */
export interface Generation {
  readonly cell: number;
  readonly upTo: number;
}

/** The youngest first. */
export type Line = readonly [Generation, ...Generation[]];

/** More records than any cell has. */
const ALL = Number.MAX_SAFE_INTEGER;

/** The line of a cell. `originOf`: where a fork begins, in the journal of its parent. */
export function lineOf(
  cell: number,
  originOf: (cell: number) => { readonly parent: number; readonly seq: number } | undefined,
  upTo = ALL,
): Line {
  const line: [Generation, ...Generation[]] = [{ cell, upTo }];
  let end = upTo;
  for (let origin = originOf(cell); origin !== undefined; origin = originOf(origin.parent)) {
    end = Math.min(end, origin.seq);
    line.push({ cell: origin.parent, upTo: end });
  }
  return line;
}

/** An item of a list: where its event is. */
export interface PlacedItem {
  readonly seq: number;
  /** Simulated ms. */
  readonly at: number;
  readonly event: number;
  readonly item: number;
  readonly tag?: string | undefined;
}

/** Places of one record, filed under the ordinal of the last of them. */
interface PlacedRow {
  readonly n: number;
  readonly seq: number;
  readonly at: number;
  readonly places: string;
}

interface StoredOrder {
  readonly number: number;
  readonly portfolio: string;
  readonly portfolio_n: number;
  readonly account_n: number;
  readonly account: string;
  readonly created_at: number;
  readonly status: string;
  readonly terms: string;
  readonly progress: string;
  readonly seq: number;
  readonly places: string;
  readonly events: number;
}

/** Rows read at a time when a filter requires reading all of them. */
const SCAN_CHUNK = 1_000;
/** Rows read at a time for a page. */
const PAGE_CHUNK = 256;
/** Rows of events of orders read at a time. */
const MOST_EVENTS = 20_000;

const missingRows = (): DamagedHistory => new DamagedHistory('Rows of the history are missing');

const orderRow = ({ number, portfolio, account, status, terms, progress }: StoredOrder): OrderRow => ({
  number,
  accountId: account.slice(1),
  portfolioId: portfolio,
  status,
  terms,
  progress,
});

// ---- Orders

const ORDER_COLUMNS =
  'number, portfolio, portfolio_n, account, account_n, created_at, status, terms, progress, seq, places, events';

export function* order(line: Line, number: number): Asking<OrderRow | undefined> {
  const found = yield* storedOrder(line, number);
  return found === undefined ? undefined : orderRow(found);
}

function* storedOrder(line: Line, number: number): Asking<StoredOrder | undefined> {
  for (const { cell, upTo } of line) {
    const sql = `SELECT ${ORDER_COLUMNS} FROM history_order WHERE cell = ? AND number = ? AND seq <= ?`;
    const found = yield* rowOf<StoredOrder>(sql, cell, number, upTo);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The number of the order of a portfolio with this client order id. */
export function* orderByClientOrderId(
  line: Line,
  portfolioId: string,
  clientOrderId: string,
): Asking<number | undefined> {
  for (const { cell, upTo } of line) {
    const found = yield* rowOf<{ number: number }>(
      'SELECT number FROM history_order WHERE cell = ? AND portfolio = ? AND client_order = ? AND seq <= ? ORDER BY number DESC LIMIT 1',
      cell,
      portfolioId,
      clientOrderId,
      upTo,
    );
    if (found !== undefined) return found.number;
  }
  return undefined;
}

/** Orders with numbers in a range, in no order. */
export function* ordersBetween(line: Line, first: number, last: number): Asking<readonly OrderRow[]> {
  const { sql, values } = ofLine(
    line,
    `SELECT ${ORDER_COLUMNS} FROM history_order o`,
    'number BETWEEN ? AND ?',
    [first, last],
  );
  return (yield* rowsOf<StoredOrder>(sql, ...values)).map(orderRow);
}

/** Orders with these numbers, in no order. */
export function* ordersWith(line: Line, numbers: readonly number[]): Asking<readonly OrderRow[]> {
  const { sql, values } = ofLine(
    line,
    `SELECT ${ORDER_COLUMNS} FROM history_order o`,
    `number IN (${numbers.map(() => '?').join(', ')})`,
    numbers,
  );
  return (yield* rowsOf<StoredOrder>(sql, ...values)).map(orderRow);
}

/**
 * A statement over the orders of a line: the fork's own, and those of its ancestors that it has no copy of. `end`: bounds the rows of each
 * generation.
 */
function ofLine(
  line: Line,
  select: string,
  where: string,
  values: readonly SqlValue[],
  end = '',
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const [own] = line;
  if (line.length === 1)
    return { sql: `${select} WHERE cell = ? AND ${where} ${end}`, values: [own.cell, ...values] };
  const all: SqlValue[] = [];
  const parts = line.map(({ cell, upTo }, index) => {
    const younger = line.slice(0, index).map((one) => one.cell);
    const isOwn =
      younger.length === 0
        ? ''
        : `AND seq <= ? AND NOT EXISTS (SELECT 1 FROM history_order y
             WHERE y.cell IN (${younger.map(() => '?').join(', ')}) AND y.number = o.number)`;
    all.push(cell, ...(younger.length === 0 ? [] : [upTo, ...younger]), ...values);
    return `SELECT * FROM (${select} WHERE cell = ? ${isOwn} AND ${where} ${end}) g${index}`;
  });
  return { sql: parts.join(' UNION ALL '), values: all };
}

interface OrderScope {
  readonly where: string;
  readonly values: readonly SqlValue[];
  /** Column that orders the rows. */
  readonly ordinal: 'portfolio_n' | 'account_n' | 'number';
  /** True when the ordinals of the scope have no gaps. */
  readonly isRanged: boolean;
  /** Owner whose length is the total; undefined = to be counted. */
  readonly owner: string | undefined;
}

function scopeOf(scope: OrderQuery['scope']): OrderScope {
  if ('filledOn' in scope)
    return {
      where: 'filled_on = ?',
      values: [scope.filledOn],
      ordinal: 'number',
      isRanged: false,
      owner: undefined,
    };
  if ('every' in scope)
    return { where: 'number >= ?', values: [0], ordinal: 'number', isRanged: false, owner: EVERY_ORDER };
  if ('portfolioId' in scope) {
    const { portfolioId } = scope;
    return {
      where: 'portfolio = ?',
      values: [portfolioId],
      ordinal: 'portfolio_n',
      isRanged: true,
      owner: portfolioId,
    };
  }
  const account = accountOwner(scope.accountId);
  return { where: 'account = ?', values: [account], ordinal: 'account_n', isRanged: true, owner: account };
}

/** A page of orders, newest first. */
export function* orders(line: Line, query: Omit<OrderQuery, 'simulationId'>): Asking<Page<OrderRow>> {
  const { where, values: scoped, ordinal, isRanged, owner } = scopeOf(query.scope);
  const conditions = [where];
  const values: SqlValue[] = [...scoped];
  const filter = (condition: string, value: SqlValue | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  if (query.status !== undefined) {
    conditions.push(
      query.status.length === 0 ? '1 = 0' : `status IN (${query.status.map(() => '?').join(', ')})`,
    );
    values.push(...query.status);
  }
  filter('symbol = ?', query.symbol);
  filter('asset_class = ?', query.assetClass);
  filter('created_at >= ?', query.from);
  filter('created_at < ?', query.to);
  const isFiltered = conditions.length > 1;
  const { offset, limit, before } = query;
  let total = 0;
  if (owner !== undefined && !isFiltered) total = yield* length(line, owner, 'orders');
  else if (query.isUncounted !== true || !isFiltered)
    total = yield* countOf(line, conditions.join(' AND '), values);
  if (total === 0 && !(isFiltered && query.isUncounted === true)) return { items: [], total };

  if (isFiltered || !isRanged) {
    filter(`${ordinal} <= ?`, before);
    const rows = yield* someOf(line, conditions.join(' AND '), values, ordinal, limit + 1, offset);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const isMore = last !== undefined && rows.length > limit;
    return { items: shown.map(orderRow), total, ...(isMore && { next: last[ordinal] - 1 }) };
  }
  const last = Math.min(total, before ?? total) - offset;
  if (last < 1) return { items: [], total };
  filter(`${ordinal} <= ?`, last);
  const rows = yield* someOf(line, conditions.join(' AND '), values, ordinal, limit, 0);
  if (rows.length !== Math.min(limit, last)) throw missingRows();
  const next = last - rows.length;
  return { items: rows.map(orderRow), total, ...(next >= 1 && rows.length > 0 && { next }) };
}

function* countOf(line: Line, where: string, values: readonly SqlValue[]): Asking<number> {
  const counted = ofLine(line, 'SELECT count(*) AS n FROM history_order o', where, values);
  return (yield* rowsOf<{ n: number }>(counted.sql, ...counted.values)).reduce((sum, { n }) => sum + n, 0);
}

function* someOf(
  line: Line,
  where: string,
  values: readonly SqlValue[],
  ordinal: string,
  limit: number,
  offset: number,
): Asking<readonly StoredOrder[]> {
  const select = `SELECT ${ORDER_COLUMNS} FROM history_order o`;
  const isOne = line.length === 1;
  const some = ofLine(
    line,
    select,
    where,
    values,
    `ORDER BY ${ordinal} DESC LIMIT ${isOne ? limit : limit + offset}${isOne ? ` OFFSET ${offset}` : ''}`,
  );
  const sql = isOne ? some.sql : `${some.sql} ORDER BY ${ordinal} DESC LIMIT ${limit} OFFSET ${offset}`;
  return yield* rowsOf<StoredOrder>(sql, ...some.values);
}

// ---- Portfolios

export function* closedPortfolio(line: Line, portfolioId: string): Asking<ClosedPortfolioRow | undefined> {
  for (const { cell, upTo } of line) {
    const sql = 'SELECT terms, last FROM history_portfolio WHERE cell = ? AND id = ? AND closed <= ?';
    const found = yield* rowOf<ClosedPortfolioRow>(sql, cell, portfolioId, upTo);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All that are closed, in no order. */
export function* closedPortfolios(line: Line): Asking<readonly ClosedPortfolioRow[]> {
  const found: ClosedPortfolioRow[] = [];
  for (const { cell, upTo } of line) {
    const sql = 'SELECT terms, last FROM history_portfolio WHERE cell = ? AND closed <= ?';
    found.push(...(yield* rowsOf<ClosedPortfolioRow>(sql, cell, upTo)));
  }
  return found;
}

// ---- Lists

/** Length of a list of an owner. */
function* length({ 0: { cell } }: Line, owner: string, list: Length): Asking<number> {
  const sql = `SELECT ${list} AS n FROM history_owner WHERE cell = ? AND id = ?`;
  return (yield* rowOf<{ n: number }>(sql, cell, owner))?.n ?? 0;
}

/** Ordinals of a list in one cell, after `first` and up to `last`. */
interface Piece {
  readonly cell: number;
  readonly upTo: number;
  readonly first: number;
  readonly last: number;
}

/** A list in rows of one owner, the youngest piece first. `head`: a row that stands before all others. */
interface PlacedList {
  readonly owner: string;
  readonly code: number;
  readonly pieces: readonly Piece[];
  readonly head?: PlacedRow;
  readonly total: number;
}

type ItemQuery = Omit<ListQuery, 'simulationId'>;

/** A page of a list, newest first. */
export function* list(line: Line, query: ItemQuery): Asking<Page<PlacedItem>> {
  if (KEYED_LISTS.has(query.list)) return yield* keyedPage(line, query);
  const placed =
    query.list === 'order-events'
      ? yield* placedEvents(line, Number(query.owner))
      : yield* placedList(line, query.owner, query.list as ItemLength);
  if (placed === undefined || placed.total === 0) return { items: [], total: 0 };
  const range = {
    first: query.from === undefined ? 1 : yield* firstFrom(placed, query.from),
    last: query.to === undefined ? placed.total : (yield* firstFrom(placed, query.to)) - 1,
  };
  return query.tag === undefined
    ? yield* plainPage(placed, range, query)
    : yield* taggedPage(placed, range, query, query.tag);
}

function* placedList(line: Line, owner: string, list: ItemLength): Asking<PlacedList | undefined> {
  const sql = `SELECT ${list} AS n, ${list}_base AS base FROM history_owner WHERE cell = ? AND id = ?`;
  const pieces: Piece[] = [];
  let total: number | undefined;
  let last = 0;
  for (const { cell, upTo } of line) {
    const row = yield* rowOf<{ n: number; base: number }>(sql, cell, owner);
    if (row === undefined) break;
    total ??= row.n;
    last = pieces.length === 0 ? row.n : last;
    pieces.push({ cell, upTo, first: Math.min(row.base, last), last });
    last = Math.min(row.base, last);
    if (last === 0) break;
  }
  return total === undefined ? undefined : { owner, code: LIST_CODE[list], pieces, total };
}

/** Events of an order: those of the record that accepted it are in its own row. */
function* placedEvents(line: Line, number: number): Asking<PlacedList | undefined> {
  const found = yield* storedOrder(line, number);
  if (found === undefined) return undefined;
  const { places, seq, created_at: at, events: total } = found;
  const head = { n: placesIn(places).length, seq, at, places };
  const pieces = line
    .filter(({ upTo }) => upTo >= seq)
    .map(({ cell, upTo }) => ({ cell, upTo, first: head.n, last: total }));
  return { owner: orderOwner(number), code: LIST_CODE['order-events'], pieces, head, total };
}

/** Rows with ordinals of at least `n`, upwards. */
function* rowsFrom(
  { owner, code, pieces, head }: PlacedList,
  n: number,
  limit: number,
): Asking<readonly PlacedRow[]> {
  const found: PlacedRow[] = head !== undefined && n <= head.n ? [head] : [];
  for (const { cell, upTo, first, last } of pieces.toReversed()) {
    if (found.length >= limit) break;
    if (n > last) continue;
    found.push(
      ...(yield* rowsOf<PlacedRow>(
        `SELECT n, seq, at, places FROM history_item WHERE cell = ? AND owner = ? AND list = ? AND n >= ? AND n <= ? AND seq <= ?
           ORDER BY n LIMIT ${limit - found.length}`,
        cell,
        owner,
        code,
        Math.max(n, first + 1),
        last,
        upTo,
      )),
    );
  }
  return found;
}

/** Rows with ordinals of at most `n`, downwards. */
function* rowsUpTo(
  { owner, code, pieces, head }: PlacedList,
  n: number,
  limit: number,
): Asking<readonly PlacedRow[]> {
  const found: PlacedRow[] = [];
  for (const { cell, upTo, first, last } of pieces) {
    if (found.length >= limit) break;
    if (n <= first) continue;
    found.push(
      ...(yield* rowsOf<PlacedRow>(
        `SELECT n, seq, at, places FROM history_item WHERE cell = ? AND owner = ? AND list = ? AND n > ? AND n <= ? AND seq <= ?
           ORDER BY n DESC LIMIT ${limit - found.length}`,
        cell,
        owner,
        code,
        first,
        Math.min(n, last),
        upTo,
      )),
    );
  }
  return head === undefined || n < head.n || found.length >= limit ? found : [...found, head];
}

/** Position of the first item at or after an instant; one past the last if there is none. Items are in order of time. */
function* firstFrom(placed: PlacedList, at: number): Asking<number> {
  let low = 1;
  let high = placed.total + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = yield* rowsFrom(placed, middle, 1);
    if (row === undefined) throw missingRows();
    if (row.at < at) low = row.n + 1;
    else high = Math.min(middle, row.n - placesIn(row.places).length + 1);
  }
  return low;
}

interface Range {
  readonly first: number;
  readonly last: number;
}

function* plainPage(
  placed: PlacedList,
  range: Range,
  { offset, limit, before = range.last }: ItemQuery,
): Asking<Page<PlacedItem>> {
  const total = Math.max(range.last - range.first + 1, 0);
  const last = Math.min(range.last, before) - offset;
  const first = Math.max(last - limit + 1, range.first);
  if (last < first) return { items: [], total };
  // A row is filed under its last position: the page begins in the first row that reaches `first`.
  const items: PlacedItem[] = [];
  for (let n = first; items.length < last - first + 1;) {
    const rows = yield* rowsFrom(placed, n, Math.min(last - n + 1, PAGE_CHUNK));
    if (rows.length === 0) throw missingRows();
    for (const row of rows) {
      const places = itemsOf(row);
      const begin = row.n - places.length + 1;
      items.push(...places.slice(Math.max(first - begin, 0), Math.max(last - begin + 1, 0)));
      n = row.n + 1;
      if (row.n >= last) break;
    }
    if (n > last) break;
  }
  if (items.length !== last - first + 1) throw missingRows();
  return { items: items.reverse(), total, ...(first > range.first && { next: first - 1 }) };
}

function* taggedPage(
  placed: PlacedList,
  range: Range,
  { offset, limit, before = range.last, isUncounted }: ItemQuery,
  tag: string,
): Asking<Page<PlacedItem>> {
  const items: PlacedItem[] = [];
  let total = 0;
  let passed = 0;
  let following: number | undefined;
  const { total: all } = placed;
  // Without a total no row before the page is read: it begins in the row with its first position.
  let next = all;
  if (isUncounted === true && before >= 1 && before < all)
    next = (yield* rowsFrom(placed, before, 1))[0]?.n ?? all;
  while (next >= range.first && next > 0) {
    if (isUncounted === true && following !== undefined) break;
    const chunk = yield* rowsUpTo(placed, next, SCAN_CHUNK);
    if (chunk.length === 0) throw missingRows();
    for (const row of chunk) {
      const places = itemsOf(row);
      next = row.n - places.length;
      for (const [index, item] of places.reverse().entries()) {
        const n = row.n - index;
        if (item.tag !== tag || n < range.first || n > range.last) continue;
        total += 1;
        if (n > before) continue;
        if (passed < offset) passed += 1;
        else if (items.length < limit) items.push(item);
        else following ??= n;
      }
    }
  }
  return { items, total, ...(following !== undefined && { next: following }) };
}

/** A list whose items grow: of the rows with one ordinal the last one counts. */
function* keyedPage(
  line: Line,
  { list, owner, offset, limit, before = ALL }: ItemQuery,
): Asking<Page<PlacedItem>> {
  const code = LIST_CODE[list];
  const ofCells = line.map(() => '(cell = ? AND seq <= ?)').join(' OR ');
  const values = line.flatMap(({ cell, upTo }) => [cell, upTo]);
  const counted = yield* rowOf<{ n: number }>(
    `SELECT count(DISTINCT n) AS n FROM history_item WHERE (${ofCells}) AND owner = ? AND list = ?`,
    ...values,
    owner,
    code,
  );
  const total = counted?.n ?? 0;
  const items: PlacedItem[] = [];
  let passed = 0;
  let known = Infinity;
  for (let next = before; items.length <= limit;) {
    const parts = line.map(
      (_, index) =>
        `SELECT * FROM (SELECT n, seq, at, places FROM history_item WHERE cell = ? AND owner = ? AND list = ? AND n <= ? AND seq <= ?
           ORDER BY n DESC, seq DESC LIMIT ${SCAN_CHUNK}) g${index}`,
    );
    const rows = yield* rowsOf<PlacedRow>(
      `${parts.join(' UNION ALL ')} ORDER BY n DESC, seq DESC LIMIT ${SCAN_CHUNK}`,
      ...line.flatMap(({ cell, upTo }) => [cell, owner, code, next, upTo]),
    );
    for (const row of rows) {
      if (row.n >= known) continue;
      known = row.n;
      if (passed < offset) passed += 1;
      else items.push(...itemsOf(row));
      if (items.length > limit) return { items: items.slice(0, limit), total, next: known };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < SCAN_CHUNK) break;
    // Rows of one ordinal that fill a chunk: the ordinals before it are next.
    next = rows[0]?.n === last.n ? last.n - 1 : last.n;
  }
  return { items, total };
}

/**
 * Events of orders with numbers in a range, by order, oldest first. None if they are too many to cache, and none in a fork, whose orders
 * may have events of its ancestors.
 */
export function* orderEventsBetween(
  line: Line,
  first: number,
  last: number,
): Asking<ReadonlyMap<number, readonly PlacedItem[]>> {
  const found = new Map<number, PlacedItem[]>();
  if (line.length > 1) return found;
  const [{ cell }] = line;
  const later = yield* rowsOf<PlacedRow & { readonly owner: string }>(
    `SELECT owner, n, seq, at, places FROM history_item WHERE cell = ? AND owner BETWEEN ? AND ? AND list = ? LIMIT ${MOST_EVENTS}`,
    cell,
    orderOwner(first),
    orderOwner(last),
    LIST_CODE['order-events'],
  );
  if (later.length === MOST_EVENTS) return found;
  const accepted = yield* rowsOf<Omit<PlacedRow, 'n'> & { readonly number: number }>(
    'SELECT number, seq, created_at AS at, places FROM history_order WHERE cell = ? AND number BETWEEN ? AND ?',
    cell,
    first,
    last,
  );
  // In the order of the journal: neighbors are often in the same block.
  const rows = [...accepted, ...later.map((row) => ({ ...row, number: Number(row.owner) }))];
  for (const row of rows.sort((a, b) => a.seq - b.seq)) {
    const known = found.get(row.number);
    if (known === undefined) found.set(row.number, itemsOf(row));
    else known.push(...itemsOf(row));
  }
  return found;
}

/** Order events after a stream position, oldest first, at most `limit`. */
export function* streamEvents(
  line: Line,
  after: { readonly seq: number; readonly event: number },
  limit: number,
): Asking<readonly PlacedItem[]> {
  const found: PlacedItem[] = [];
  for (const { cell, upTo } of line.toReversed()) {
    if (upTo < after.seq) continue;
    const rows = yield* rowsOf<PlacedRow>(
      `SELECT n, seq, at, places FROM history_item WHERE cell = ? AND owner = '' AND list = ? AND n >= ? ORDER BY n LIMIT ${limit + 1}`,
      cell,
      LIST_CODE['stream-events'],
      after.seq,
    );
    for (const { at, places } of rows)
      for (const [seq, event] of JSON.parse(places) as readonly (readonly [seq: number, event: number])[]) {
        if (seq > upTo || seq < after.seq || (seq === after.seq && event <= after.event)) continue;
        if (found.length === limit) return found;
        found.push({ seq, at, event, item: 0 });
      }
  }
  return found;
}

// ---- Curves

interface StoredStanding {
  readonly minute: number;
  readonly holding: number;
  readonly moved_by: number | null;
  readonly standing: string;
}

/** All minutes in which a portfolio's snapshot changed, oldest first. */
export function* standingMinutes(line: Line, portfolioId: string): Asking<readonly SnapshotMinute[]> {
  const found = new Map<number, SnapshotMinute>();
  for (const { cell, upTo } of line) {
    const rows = yield* rowsOf<Omit<StoredStanding, 'standing'>>(
      'SELECT minute, holding, moved_by FROM history_standing WHERE cell = ? AND portfolio = ? AND first <= ? ORDER BY minute',
      cell,
      portfolioId,
      upTo,
    );
    for (const row of rows) if (!found.has(row.minute)) found.set(row.minute, shownMinute(row, upTo));
  }
  return [...found.values()].sort((a, b) => a.minute - b.minute);
}

/** Snapshots of a portfolio in force from one minute until before another, oldest first: the first may be of an earlier minute. */
export function* standings(
  line: Line,
  portfolioId: string,
  from: number,
  to: number,
): Asking<readonly SnapshotRow[]> {
  const found = yield* inForce<StoredStanding>(
    line,
    ['minute', 'holding', 'moved_by', 'standing'],
    'history_standing',
    'portfolio',
    portfolioId,
    from,
    to,
  );
  return found.map(({ row, upTo }) => ({ ...shownMinute(row, upTo), standing: row.standing }));
}

/** Marks of a symbol by pushed quotes, in the same way. */
export function* marks(line: Line, symbol: string, from: number, to: number): Asking<readonly MinuteMark[]> {
  const found = yield* inForce<{ minute: number; price: number }>(
    line,
    ['minute', 'price'],
    'history_mark',
    'symbol',
    symbol,
    from,
    to,
  );
  return found.map(({ row: { minute, price } }) => ({ minute, price: price as Price }));
}

function* inForce<Row extends { readonly minute: number }>(
  line: Line,
  columns: readonly (keyof Row & string)[],
  table: string,
  of: string,
  value: string,
  from: number,
  to: number,
): Asking<readonly { readonly row: Row; readonly upTo: number }[]> {
  const found = new Map<number, { readonly row: Row; readonly upTo: number }>();
  const where = `FROM ${table} WHERE cell = ? AND ${of} = ? AND first <= ?`;
  for (const { cell, upTo } of line) {
    const earlier = `SELECT ${columns.join(', ')} ${where} AND minute < ? ORDER BY minute DESC LIMIT 1`;
    const within = `SELECT ${columns.join(', ')} ${where} AND minute >= ? AND minute < ? ORDER BY minute`;
    const rows = [
      ...(yield* rowsOf<Row>(earlier, cell, value, upTo, bounded(from))),
      ...(yield* rowsOf<Row>(within, cell, value, upTo, bounded(from), bounded(to))),
    ];
    for (const row of rows) if (!found.has(row.minute)) found.set(row.minute, { row, upTo });
  }
  const sorted = [...found.values()].sort((a, b) => a.row.minute - b.row.minute);
  const early = sorted.findLastIndex(({ row }) => row.minute < from);
  return sorted.slice(Math.max(0, early));
}

const shownMinute = (
  { minute, holding, moved_by }: Omit<StoredStanding, 'standing'>,
  upTo: number,
): SnapshotMinute => ({
  minute,
  isHolding: holding === 1,
  hasMoved: moved_by !== null && moved_by <= upTo,
});

/** Numbers of databases have bounds; minutes stay far from them. */
const bounded = (minute: number): number => Math.trunc(Math.max(-(2 ** 52), Math.min(2 ** 52, minute)));

// ---- Places

type ItemPosition = readonly [event: number, item: number, tag?: string];

/** Places by their text: most records list the same kinds of events at the same positions. */
const knownPlaces = new Map<string, readonly ItemPosition[]>();
const MOST_KNOWN_PLACES = 1_000;
const LONGEST_KNOWN_PLACES = 200;

function placesIn(places: string): readonly ItemPosition[] {
  let found = knownPlaces.get(places);
  if (found !== undefined) return found;
  found = JSON.parse(places) as readonly ItemPosition[];
  if (places.length > LONGEST_KNOWN_PLACES) return found;
  if (knownPlaces.size >= MOST_KNOWN_PLACES) knownPlaces.clear();
  knownPlaces.set(places, found);
  return found;
}

function itemsOf({ seq, at, places }: Omit<PlacedRow, 'n'>): PlacedItem[] {
  return placesIn(places).map(([event, item, tag]) => ({ seq, at, event, item, tag }));
}
