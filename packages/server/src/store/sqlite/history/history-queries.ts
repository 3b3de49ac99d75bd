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
} from '../../history.js';
import { all, one } from '../database/connection.js';
import type { SqlValue, Statements } from '../database/connection.js';
import { LIST_CODE, orderRow, placesOf } from './history-rows.js';
import type {
  ClientOrderRow,
  CountedList,
  Counts,
  ItemRow,
  OrderEventRow,
  OwnerKind,
  OwnerRow,
  PortfolioRow,
  StoredOrder,
  StreamEventRow,
} from './history-rows.js';
import { forkOrders } from './fork-orders.js';
import { eventPlacesOf, HistoryLineage, KEYED_LISTS, missingRows } from './history-lineage.js';
import type { Generation, OwnerLink } from './history-lineage.js';
import type { PastRecords } from './past-records.js';
import { SnapshotLineage } from './snapshot-lineage.js';
import { shownMinute } from './snapshot-tables.js';
import type { StoredItem } from './past-records.js';
import type { JournalBlocks } from '../journal/journal-blocks.js';

interface PlacedItem {
  readonly seq: number;
  readonly event: number;
  readonly item: number;
  readonly tag: string | undefined;
}

/** Places of one record, filed under the ordinal of the last of them. */
type PlacedRow = Pick<ItemRow, 'n' | 'seq' | 'places'>;

/** A list of places: its rows, of which no field is wrong, and how many places it has. */
interface PlacedList {
  /** Ascending from a position. */
  readonly from: (n: number, limit: number) => readonly PlacedRow[];
  /** Descending from a position. */
  readonly upTo: (n: number, limit: number) => readonly PlacedRow[];
  readonly total: number;
}

/** The requested ordinals: none if `last` is before `first`. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** Rows read at a time when a filter requires reading all of them. */
const SCAN_CHUNK = 1_000;
/** Rows of events of orders read at a time. */
const MOST_EVENTS = 20_000;
/** Rows read at a time for a page. */
const PAGE_CHUNK = 256;

const FROM = 'n >= ? ORDER BY n';
const UP_TO = 'n <= ? ORDER BY n DESC';
/** One bound on each side: of two, SQLite may seek by the looser one and scan from there. */
const ITEMS_BETWEEN =
  'SELECT n, seq, places FROM item WHERE owner = ? AND list = ? AND n >= ? AND n <= ? ORDER BY n';

/**
 * Queries of the history tables, in any thread. Simulations are named by their keys. Events are read from the journal and checked against
 * the hash of their block. Throws `DamagedHistory` and `DamagedJournal`. A query reads several rows: run it inside a transaction.
 */
export class HistoryQueries {
  readonly #statements: Statements;
  readonly #lineage: HistoryLineage;
  readonly #snapshots: SnapshotLineage;

  constructor(statements: Statements, journal: JournalBlocks) {
    this.#statements = statements;
    this.#lineage = new HistoryLineage(statements, journal);
    this.#snapshots = new SnapshotLineage(statements, this.#lineage);
  }

  position(simulation: number): number {
    return this.#lineage.simulation(simulation)?.seq ?? 0;
  }

  order(simulation: number, number: number): OrderRow | undefined {
    const found = this.#order(simulation, number);
    return found === undefined ? undefined : orderRow(found.row);
  }

  #order(simulation: number, number: number): ReturnType<HistoryLineage['order']> {
    return this.#lineage.order(this.#lineage.generations(simulation), number);
  }

  closedPortfolio(simulation: number, portfolioId: string): ClosedPortfolioRow | undefined {
    const row = this.#lineage.portfolio(this.#lineage.generations(simulation), portfolioId);
    if (row === undefined || row.last === null) return undefined;
    const { terms, last } = row;
    return { terms, last };
  }

  closedPortfolios(simulation: number): readonly ClosedPortfolioRow[] {
    const sql = 'SELECT * FROM portfolio WHERE simulation = ? AND last IS NOT NULL';
    return this.#lineage.generations(simulation).flatMap((generation) =>
      all<PortfolioRow>(this.#statements.of(sql), generation.simulation)
        .filter(({ closed }) => closed !== null && closed <= generation.upTo)
        .map(({ terms, last }) => ({ terms, last: last ?? '' })),
    );
  }

  orderByClientOrderId(simulation: number, portfolioId: string, clientOrderId: string): number | undefined {
    const generations = this.#lineage.generations(simulation);
    for (const { row, upTo, simulation: of } of this.#lineage.owners(generations, 'portfolio', portfolioId)) {
      const sql = 'SELECT * FROM client_order WHERE owner = ? AND id = ?';
      const found = one<ClientOrderRow>(this.#statements.of(sql), row.k, clientOrderId);
      if (found === undefined) continue;
      const { number } = found;
      if (upTo === Infinity || this.#lineage.order([{ simulation: of, upTo }], number) !== undefined)
        return number;
    }
    return undefined;
  }

  orders(simulation: number, query: OrderQuery): Page<OrderRow> {
    const generations = this.#lineage.generations(simulation);
    if (generations.length > 1) return forkOrders(this.#statements, this.#lineage, generations, query);
    const scope = this.#scopeOf(simulation, query.scope);
    if (scope === undefined) return { items: [], total: 0 };
    const conditions = [...scope.conditions];
    const values = [...scope.values];
    const filter = (condition: string, value: SqlValue | undefined): void => {
      if (value === undefined) return;
      conditions.push(condition);
      values.push(value);
    };
    if (query.status !== undefined) {
      conditions.push(`status IN (${query.status.map(() => '?').join(', ')})`);
      values.push(...query.status);
    }
    filter('symbol = ?', query.symbol);
    filter('asset_class = ?', query.assetClass);
    filter('created_at >= ?', query.from);
    filter('created_at < ?', query.to);

    const where = conditions.join(' AND ');
    const { ordinal, isRanged } = scope;
    const { offset, limit, before } = query;
    const isFiltered = conditions.length > scope.conditions.length;
    const total =
      query.isUncounted === true && isFiltered
        ? 0
        : isFiltered || scope.total === undefined
          ? (one<{ n: number }>(
              this.#statements.of(`SELECT count(*) AS n FROM orders WHERE ${where}`),
              ...values,
            )?.n ?? 0)
          : scope.total;
    if (isFiltered || !isRanged) {
      const upTo = before === undefined ? '' : `AND ${ordinal} <= ?`;
      const sql = `SELECT * FROM orders WHERE ${where} ${upTo} ORDER BY ${ordinal} DESC LIMIT ? OFFSET ?`;
      const asked = before === undefined ? values : [...values, before];
      const rows = all<StoredOrder>(this.#statements.of(sql), ...asked, limit + 1, offset);
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const isMore = last !== undefined && rows.length > limit;
      return { items: shown.map(orderRow), total, ...(isMore && { next: last[ordinal] - 1 }) };
    }
    const last = Math.min(total, before ?? total) - offset;
    const sql = `SELECT * FROM orders WHERE ${where} AND ${ordinal} <= ? ORDER BY ${ordinal} DESC LIMIT ?`;
    const rows = last < 1 ? [] : all<StoredOrder>(this.#statements.of(sql), ...values, last, limit);
    const next = last - rows.length;
    return { items: rows.map(orderRow), total, ...(next >= 1 && rows.length > 0 && { next }) };
  }

  #scopeOf(
    simulation: number,
    scope: OrderQuery['scope'],
  ):
    | {
        readonly conditions: readonly string[];
        readonly values: readonly SqlValue[];
        /** Column that orders the rows. */
        readonly ordinal: 'portfolio_n' | 'account_n' | 'number';
        /** True when the ordinals of the scope have no gaps. */
        readonly isRanged: boolean;
        /** Undefined = to be counted. */
        readonly total: number | undefined;
      }
    | undefined {
    if ('filledOn' in scope)
      return {
        conditions: ['simulation = ?', 'filled_on = ?'],
        values: [simulation, scope.filledOn],
        ordinal: 'number',
        isRanged: false,
        total: undefined,
      };
    if ('every' in scope)
      return {
        conditions: ['simulation = ?'],
        values: [simulation],
        ordinal: 'number',
        isRanged: false,
        total: this.#lineage.simulation(simulation)?.orders ?? 0,
      };
    const [kind, id]: [OwnerKind, string] =
      'portfolioId' in scope ? ['portfolio', scope.portfolioId] : ['account', scope.accountId];
    const owner = this.#owner(simulation, kind, id);
    if (owner === undefined) return undefined;
    const total = countOf(owner, 'orders');
    return kind === 'portfolio'
      ? { conditions: ['portfolio = ?'], values: [owner.k], ordinal: 'portfolio_n', isRanged: true, total }
      : { conditions: ['account = ?'], values: [owner.k], ordinal: 'account_n', isRanged: true, total };
  }

  list(simulation: number, query: Omit<ListQuery, 'simulationId'>): Page<StoredItem> {
    return this.#listed(simulation, query, (records, item) => records.stored(item));
  }

  /** The same with unparsed events, for readers in this thread. They cache `records` briefly for the next page. */
  items(simulation: number, query: Omit<ListQuery, 'simulationId'>, records: PastRecords): Page<ListItem> {
    return this.#listed(simulation, query, (_, item) => records.item(item), records);
  }

  /** Records of a simulation, cached by a reader. */
  records(simulation: number): PastRecords {
    return this.#lineage.records(simulation);
  }

  /** Orders with numbers in a range, in no order. */
  ordersBetween(simulation: number, first: number, last: number): readonly OrderRow[] {
    const sql = 'SELECT * FROM orders WHERE simulation = ? AND number BETWEEN ? AND ?';
    const generations = this.#lineage.generations(simulation);
    const found = new Map<number, OrderRow>();
    for (const [index, generation] of generations.entries())
      for (const row of all<StoredOrder>(this.#statements.of(sql), generation.simulation, first, last)) {
        if (row.seq > generation.upTo || found.has(row.number)) continue;
        const was = this.#lineage.orderAsOf(row, generations.slice(index));
        found.set(row.number, orderRow(was));
      }
    return [...found.values()];
  }

  /**
   * Events of orders with numbers in a range, by order, oldest first. None if they are too many to cache, and none in a fork, whose orders
   * may have events of its ancestors.
   */
  orderEventsBetween(
    simulation: number,
    first: number,
    last: number,
    records: PastRecords,
  ): ReadonlyMap<number, readonly ListItem[]> {
    const found = new Map<number, ListItem[]>();
    if (this.#lineage.generations(simulation).length > 1) return found;
    type PlacedEvents = PlacedRow & { readonly number: number };
    const range = 'WHERE simulation = ? AND number BETWEEN ? AND ?';
    const accepted = `SELECT number, 0 AS n, seq, places FROM orders ${range}`;
    const later = `SELECT number, n, seq, places FROM order_event ${range} LIMIT ${MOST_EVENTS}`;
    const rows = all<PlacedEvents>(this.#statements.of(later), simulation, first, last);
    if (rows.length === MOST_EVENTS) return found;
    // In the order of the journal: neighbors are often in the same block.
    const places = [...all<PlacedEvents>(this.#statements.of(accepted), simulation, first, last), ...rows];
    for (const row of places.sort((a, b) => a.seq - b.seq)) {
      const items = placedItems(row).map((item) => records.item(item));
      const known = found.get(row.number);
      if (known === undefined) found.set(row.number, items);
      else known.push(...items);
    }
    return found;
  }

  #listed<Item>(
    simulation: number,
    query: Omit<ListQuery, 'simulationId'>,
    show: (records: PastRecords, item: PlacedItem) => Item,
    records = this.records(simulation),
  ): Page<Item> {
    const placed = this.#placed(simulation, query);
    if (placed === undefined) return { items: [], total: 0 };
    const range = this.#rangeOf(placed, query, records);
    const { items, ...rest } =
      query.tag === undefined
        ? this.#page(placed, range, query)
        : this.#taggedPage(placed, range, query, query.tag);
    return { ...rest, items: items.map((item) => show(records, item)) };
  }

  #rangeOf(placed: PlacedList, { from, to }: Pick<ListQuery, 'from' | 'to'>, records: PastRecords): Range {
    return {
      first: from === undefined ? 1 : this.#firstFrom(placed, from, records),
      last: to === undefined ? placed.total : this.#firstFrom(placed, to, records) - 1,
    };
  }

  /** Position of the first record at or after an instant; one past the last if there is none. Records are in order of time. */
  #firstFrom({ from, total }: PlacedList, at: number, records: PastRecords): number {
    let low = 1;
    let high = total + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [row] = from(middle, 1);
      if (row === undefined) throw missingRows();
      if (records.at(row.seq) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #placed(simulation: number, { list, owner }: Pick<ListQuery, 'list' | 'owner'>): PlacedList | undefined {
    if (list === 'order-events') {
      const order = this.#order(simulation, Number(owner));
      if (order === undefined) return undefined;
      const { row, from } = order;
      return from.length === 1 ? this.#placedEvents(row) : placedAmong(this.#lineage.orderEvents(row, from));
    }
    const generations = this.#lineage.generations(simulation);
    const links = this.#lineage.owners(generations, 'portfolio', owner);
    const [link] = links;
    if (link === undefined) return undefined;
    if (generations.length > 1 && KEYED_LISTS.has(list))
      return placedAmong(this.#lineage.keyedItems(links, list));
    const total = this.#lineage.count(links, list);
    const pieces = piecesOf(links, list, total);
    const rows = (
      { k, first, last }: Piece,
      [from, upTo]: readonly [from: number, upTo: number],
      order: 'ASC' | 'DESC',
      limit: number,
    ): readonly PlacedRow[] =>
      all<PlacedRow>(
        this.#statements.of(`${ITEMS_BETWEEN} ${order} LIMIT ?`),
        k,
        LIST_CODE[list],
        Math.max(from, first + 1),
        Math.min(upTo, last),
        limit,
      );
    const through = (
      from: readonly Piece[],
      range: readonly [from: number, upTo: number],
      order: 'ASC' | 'DESC',
      limit: number,
    ): readonly PlacedRow[] => {
      const found: PlacedRow[] = [];
      for (const piece of from) {
        if (found.length >= limit) break;
        found.push(...rows(piece, range, order, limit - found.length));
      }
      return found;
    };
    return {
      from: (n, limit) => through(pieces.toReversed(), [n, total], 'ASC', limit),
      upTo: (n, limit) => through(pieces, [1, n], 'DESC', limit),
      total,
    };
  }

  /** The first row of an order's events is the order itself. */
  #placedEvents({ simulation, number, seq, places, events }: StoredOrder): PlacedList {
    const first = { n: placesOf({ places }).length, seq, places };
    const rows = (end: string, n: number, limit: number): readonly PlacedRow[] =>
      all<OrderEventRow>(
        this.#statements.of(
          `SELECT * FROM order_event WHERE simulation = ? AND number = ? AND ${end} LIMIT ?`,
        ),
        simulation,
        number,
        n,
        limit,
      );
    return {
      from: (n, limit) => (n > first.n ? rows(FROM, n, limit) : [first, ...rows(FROM, n, limit - 1)]),
      upTo: (n, limit) => {
        const later = rows(UP_TO, n, limit);
        return n < first.n || later.length === limit ? later : [...later, first];
      },
      total: events,
    };
  }

  #page(
    { from }: PlacedList,
    range: Range,
    { offset, limit, before = range.last }: Pick<ListQuery, 'offset' | 'limit' | 'before'>,
  ): Page<PlacedItem> {
    const total = Math.max(range.last - range.first + 1, 0);
    const last = Math.min(range.last, before) - offset;
    const first = Math.max(last - limit + 1, range.first);
    if (last < first) return { items: [], total };
    // A row is stored under its last position: the page begins at the first row that reaches `first`.
    const items: PlacedItem[] = [];
    for (const row of rowsUpward(from, first, limit)) {
      const places = placedItems(row);
      const begin = row.n - places.length + 1;
      items.push(...places.slice(Math.max(first - begin, 0), Math.max(last - begin + 1, 0)));
      if (row.n >= last) break;
    }
    if (items.length !== last - first + 1) throw missingRows();
    return { items: items.reverse(), total, ...(first > range.first && { next: first - 1 }) };
  }

  #taggedPage(
    { from, upTo, total: all }: PlacedList,
    range: Range,
    {
      offset,
      limit,
      before = range.last,
      isUncounted,
    }: Pick<ListQuery, 'offset' | 'limit' | 'before' | 'isUncounted'>,
    tag: string,
  ): Page<PlacedItem> {
    const items: PlacedItem[] = [];
    let total = 0;
    let passed = 0;
    let following: number | undefined;
    // Without a total no row before the page is read: it begins in the row with its first position.
    let next = isUncounted === true && before >= 1 && before < all ? (from(before, 1)[0]?.n ?? all) : all;
    while (next >= range.first && next > 0) {
      if (isUncounted === true && following !== undefined) break;
      const chunk = upTo(next, SCAN_CHUNK);
      if (chunk.length === 0) throw missingRows();
      for (const row of chunk) {
        const places = placedItems(row);
        next = row.n - places.length;
        for (const [i, item] of places.reverse().entries()) {
          const n = row.n - i;
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

  streamEvents(
    simulation: number,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly StoredItem[] {
    const records = this.#lineage.records(simulation);
    const items: StoredItem[] = [];
    for (const generation of this.#lineage.generations(simulation).toReversed()) {
      if (generation.upTo < after.seq) continue;
      for (const [seq, event] of this.#streamPlaces(generation, after, limit - items.length))
        items.push(records.stored({ seq, event, item: 0 }));
      if (items.length >= limit) break;
    }
    return items;
  }

  /** Rows of one generation. */
  #streamPlaces(
    { simulation, upTo }: Generation,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly (readonly [seq: number, event: number])[] {
    const sql = 'SELECT * FROM stream_event WHERE simulation = ? AND seq >= ? ORDER BY seq LIMIT ?';
    const rows = all<StreamEventRow>(this.#statements.of(sql), simulation, after.seq, limit + 1);
    const found: (readonly [seq: number, event: number])[] = [];
    for (const row of rows) {
      for (const place of eventPlacesOf(row)) {
        const [seq, event] = place;
        if (seq > upTo) return found;
        if (seq < after.seq || (seq === after.seq && event <= after.event)) continue;
        found.push(place);
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  standingMinutes(simulation: number, portfolioId: string): readonly SnapshotMinute[] {
    const rows = this.#snapshotsOf(simulation, portfolioId, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    return rows.map(shownMinute);
  }

  standings(simulation: number, portfolioId: string, from: number, to: number): readonly SnapshotRow[] {
    return this.#snapshotsOf(simulation, portfolioId, from, to).map((row) => ({
      ...shownMinute(row),
      standing: row.standing,
    }));
  }

  #snapshotsOf(
    simulation: number,
    portfolioId: string,
    from: number,
    to: number,
  ): ReturnType<SnapshotLineage['between']> {
    const generations = this.#lineage.generations(simulation);
    const links = this.#lineage.owners(generations, 'portfolio', portfolioId);
    return this.#snapshots.between(generations, links, from, to);
  }

  marks(simulation: number, symbol: string, from: number, to: number): readonly MinuteMark[] {
    return this.#snapshots.marks(this.#lineage.generations(simulation), symbol, from, to);
  }

  #owner(simulation: number, kind: OwnerKind, id: string): OwnerRow | undefined {
    const sql = 'SELECT * FROM owner WHERE simulation = ? AND id = ? AND kind = ?';
    return one<OwnerRow>(this.#statements.of(sql), simulation, id, kind);
  }
}

/** The ordinals of one generation of an owner, after `first` and up to `last`. */
interface Piece {
  readonly k: number;
  readonly first: number;
  readonly last: number;
}

/** Which generation has which ordinals of a list, the newest first. */
function piecesOf(links: readonly OwnerLink[], list: CountedList, total: number): readonly Piece[] {
  let last = total;
  return links.map(({ row: { k }, base }) => {
    const first = Math.min(base[list] ?? 0, last);
    const piece = { k, first, last };
    last = first;
    return piece;
  });
}

/** A list of loaded rows, ascending. */
function placedAmong(rows: readonly PlacedRow[]): PlacedList {
  return {
    from: (n, limit) => rows.filter((row) => row.n >= n).slice(0, limit),
    upTo: (n, limit) =>
      rows
        .filter((row) => row.n <= n)
        .slice(-limit)
        .reverse(),
    total: rows.at(-1)?.n ?? 0,
  };
}

/** A limited number of rows from a position on. A row may have several positions: few more are read than needed. */
function* rowsUpward(from: PlacedList['from'], first: number, limit: number): Generator<PlacedRow> {
  for (let n = first, left = limit; left > 0;) {
    const asked = Math.min(left, PAGE_CHUNK);
    const rows = from(n, asked);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < asked) return;
    left -= asked;
    n = last.n + 1;
  }
}

const countOf = ({ counts }: OwnerRow, list: CountedList): number =>
  (JSON.parse(counts) as Counts)[list] ?? 0;

function placedItems(row: { readonly seq: number; readonly places: string }): PlacedItem[] {
  return placesOf(row).map(([event, item, tag]) => ({ seq: row.seq, event, item, tag }));
}
