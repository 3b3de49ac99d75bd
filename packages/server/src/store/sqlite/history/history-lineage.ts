import { Instant, isOrderPlaced, orderAfter, placedOrder } from '@sandpit/core';
import type { OrderEvent, OrderSnapshot, OrderTerms } from '@sandpit/core';
import { all, one } from '../database/connection.js';
import type { Statements } from '../database/connection.js';
import { DamagedHistory, LIST_CODE, placesOf } from './history-rows.js';
import type {
  CountedList,
  Counts,
  ItemRow,
  OrderEventRow,
  OwnerKind,
  OwnerRow,
  PortfolioRow,
  SimulationRow,
  StoredOrder,
  StreamEventRow,
} from './history-rows.js';
import type { JournalBlocks } from '../journal/journal-blocks.js';
import { LargeRecords, PastRecords } from './past-records.js';
import { snapshotAsOf } from './snapshot-tables.js';

/** A simulation whose rows are shown, as of its record `upTo`; Infinity = current rows. */
export interface Generation {
  readonly simulation: number;
  readonly upTo: number;
}

/** An owner of lists, in one generation. */
export interface OwnerLink extends Generation {
  readonly row: OwnerRow;
  /** Current lengths of its lists. */
  readonly counts: Counts;
  /** Lengths at the start of the generation: later items belong to the generation. */
  readonly base: Counts;
}

/** Lists whose items can be replaced. */
export const KEYED_LISTS: ReadonlySet<CountedList> = new Set(['day-trades', 'margin-calls']);

const COUNTED: readonly CountedList[] = [
  ...(Object.keys(LIST_CODE) as (keyof typeof LIST_CODE)[]),
  'orders',
  'standings',
];

/**
 * The history of a fork: rows of its ancestors at the point of the fork, and its own. A row of an ancestor that has changed since is
 * derived again from the events up to the point. Newer generations come first everywhere. Throws `DamagedHistory` and `DamagedJournal`.
 */
export class HistoryLineage {
  readonly #statements: Statements;
  readonly #journal: JournalBlocks;
  readonly #large = new LargeRecords();

  constructor(statements: Statements, journal: JournalBlocks) {
    this.#statements = statements;
    this.#journal = journal;
  }

  simulation(key: number): SimulationRow | undefined {
    return one<SimulationRow>(this.#statements.of('SELECT * FROM simulation WHERE key = ?'), key);
  }

  /** A simulation and its ancestors, each up to the start of the next one. Keys ascend, so an ancestor that is no older is damage. */
  generations(simulation: number, upTo = Infinity): readonly Generation[] {
    const generations: Generation[] = [];
    for (let key: number | null = simulation, end = upTo; key !== null;) {
      generations.push({ simulation: key, upTo: end });
      const row = this.simulation(key);
      const parent: number | null = row?.parent ?? null;
      if (parent !== null && parent >= key)
        throw new DamagedHistory('A simulation of the history is a fork of a later one');
      end = row?.begins ?? 0;
      key = parent;
    }
    return generations;
  }

  records(simulation: number): PastRecords {
    return new PastRecords(this.#journal, simulation, this.#large);
  }

  /** An owner in each generation that has it. */
  owners(generations: readonly Generation[], kind: OwnerKind, id: string): readonly OwnerLink[] {
    return generations.flatMap((generation) => {
      const sql = 'SELECT * FROM owner WHERE simulation = ? AND id = ? AND kind = ?';
      const row = one<OwnerRow>(this.#statements.of(sql), generation.simulation, id, kind);
      return row === undefined ? [] : [linkOf(row, generation)];
    });
  }

  /** Number of items in a list. */
  count([link]: readonly OwnerLink[], list: CountedList): number {
    if (link === undefined) return 0;
    const { upTo, counts, base, row } = link;
    const last = counts[list] ?? 0;
    const first = base[list] ?? 0;
    if (upTo === Infinity || last === first) return last;
    if (list === 'standings') return this.#snapshotsOf(link, first);
    // Records of items are in the order of their ordinals.
    const isThere = (n: number): boolean => this.#bornOf(row, list, n) <= upTo;
    if (isThere(last)) return last;
    let low = first;
    let high = last - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (isThere(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  counts(links: readonly OwnerLink[]): Counts {
    return Object.fromEntries(
      COUNTED.flatMap((list) => {
        const count = this.count(links, list);
        return count === 0 ? [] : [[list, count]];
      }),
    );
  }

  /** The record that contains the item with an ordinal. */
  #bornOf({ k, kind }: OwnerRow, list: CountedList, n: number): number {
    let row: { readonly seq: number | null } | undefined;
    if (list === 'orders')
      row = one(this.#statements.of(`SELECT seq FROM orders WHERE ${kind} = ? AND ${kind}_n = ?`), k, n);
    else {
      const code = LIST_CODE[list as keyof typeof LIST_CODE];
      if (KEYED_LISTS.has(list))
        row = one(
          this.#statements.of('SELECT min(seq) AS seq FROM past_item WHERE owner = ? AND list = ? AND n = ?'),
          k,
          code,
          n,
        );
      if (typeof row?.seq !== 'number')
        row = one(
          this.#statements.of(
            'SELECT seq FROM item WHERE owner = ? AND list = ? AND n >= ? ORDER BY n LIMIT 1',
          ),
          k,
          code,
          n,
        );
    }
    if (typeof row?.seq !== 'number') throw missingRows();
    return row.seq;
  }

  #snapshotsOf({ row: { k }, simulation, upTo }: OwnerLink, base: number): number {
    return snapshotAsOf(this.#statements, this.records(simulation), k, upTo)?.n ?? base;
  }

  /** An order, and the generation whose row it is. */
  order(
    generations: readonly Generation[],
    number: number,
  ): { readonly row: StoredOrder; readonly from: readonly Generation[] } | undefined {
    for (const [index, { simulation, upTo }] of generations.entries()) {
      const sql = 'SELECT * FROM orders WHERE simulation = ? AND number = ?';
      const row = one<StoredOrder>(this.#statements.of(sql), simulation, number);
      if (row === undefined || row.seq > upTo) continue;
      const from = generations.slice(index);
      return { row: this.orderAsOf(row, from), from };
    }
    return undefined;
  }

  /** Whose order it is; of all that its generations have. */
  portfolioOf(generations: readonly Generation[], number: number): string | undefined {
    for (const { simulation, upTo } of generations) {
      const sql = 'SELECT seq, terms FROM orders WHERE simulation = ? AND number = ?';
      const row = one<Pick<StoredOrder, 'seq' | 'terms'>>(this.#statements.of(sql), simulation, number);
      if (row !== undefined && row.seq <= upTo) return (JSON.parse(row.terms) as OrderTerms).portfolioId;
    }
    return undefined;
  }

  /** The row of an order in its generation, the first of `from`. */
  orderAsOf(row: StoredOrder, from: readonly Generation[]): StoredOrder {
    const [generation] = from;
    if (generation === undefined || row.changed <= generation.upTo) return row;
    const rows = this.orderEvents(row, from);
    const records = this.records(generation.simulation);
    const { accountId } = JSON.parse(row.terms) as OrderTerms;
    let order: OrderSnapshot | undefined;
    for (const { seq, places } of rows) {
      const { at, events } = records.record(seq);
      const told = new Set(placesOf({ places }).map(([event]) => event));
      for (const index of told) {
        const event = events[index] as OrderEvent;
        if (isOrderPlaced(event)) order = placedOrder(event, accountId, Instant.ofMs(at));
        else if (order !== undefined) order = orderAfter(order, event, Instant.ofMs(at));
      }
    }
    const last = rows.at(-1);
    if (order === undefined || last === undefined) throw missingRows();
    const { terms, progress } = order;
    return {
      ...row,
      symbol: terms.symbol,
      terms: JSON.stringify(terms),
      progress: JSON.stringify(progress),
      status: progress.status,
      filled_on: null,
      changed: last.seq,
      events: last.n,
    };
  }

  /** Places of the events of an order, in order: the first row is the order itself. */
  orderEvents(
    { seq, places, number }: StoredOrder,
    from: readonly Generation[],
  ): readonly Pick<OrderEventRow, 'n' | 'seq' | 'places'>[] {
    const later = from
      .toReversed()
      .flatMap(({ simulation, upTo }) =>
        all<OrderEventRow>(
          this.#statements.of('SELECT * FROM order_event WHERE simulation = ? AND number = ? ORDER BY n'),
          simulation,
          number,
        ).filter((row) => row.seq > seq && row.seq <= upTo),
      );
    return [{ n: placesOf({ places }).length, seq, places }, ...later];
  }

  /** A portfolio; `last` only if it was closed by then. */
  portfolio(generations: readonly Generation[], id: string): PortfolioRow | undefined {
    for (const { simulation, upTo } of generations) {
      const sql = 'SELECT * FROM portfolio WHERE simulation = ? AND id = ?';
      const row = one<PortfolioRow>(this.#statements.of(sql), simulation, id);
      if (row === undefined || row.opened > upTo) continue;
      const { last, closed, ...rest } = row;
      return closed === null || closed > upTo
        ? { ...rest, last: null, closed: null }
        : { ...rest, last, closed };
    }
    return undefined;
  }

  /** The rows of a list with keys, upwards: of each item the latest version by then. */
  keyedItems(links: readonly OwnerLink[], list: keyof typeof LIST_CODE): readonly ItemRow[] {
    const found = new Map<number, ItemRow>();
    for (const { row, upTo } of links) {
      const sql = 'SELECT * FROM item WHERE owner = ? AND list = ? ORDER BY n';
      for (const item of all<ItemRow>(this.#statements.of(sql), row.k, LIST_CODE[list])) {
        const version = found.has(item.n) ? undefined : this.itemAsOf(item, upTo);
        if (version !== undefined) found.set(item.n, version);
      }
    }
    return [...found.values()].sort((a, b) => a.n - b.n);
  }

  /** An item with a key, as of a record; undefined if there was none yet. */
  itemAsOf(item: ItemRow, upTo: number): ItemRow | undefined {
    if (item.seq <= upTo) return item;
    const sql =
      'SELECT * FROM past_item WHERE owner = ? AND list = ? AND n = ? AND seq <= ? ORDER BY seq DESC LIMIT 1';
    const past = one<Omit<ItemRow, 'key'>>(this.#statements.of(sql), item.owner, item.list, item.n, upTo);
    return past === undefined ? undefined : { ...item, ...past };
  }

  /** The orders of a simulation by then: their count, and the number of the last. */
  ordersBy(simulation: number, upTo: number): { readonly count: number; readonly last: number } {
    const row = this.simulation(simulation);
    if (row === undefined) return { count: 0, last: 0 };
    const { parent, begins, inherited, orders, last_order } = row;
    const before = parent === null ? 0 : this.ordersBy(parent, begins).last;
    const last = Math.max(before, this.#lastOrder(simulation, upTo, last_order));
    if (orders === last_order) return { count: last, last };
    const sql = 'SELECT count(*) AS n FROM orders WHERE simulation = ? AND seq > ? AND seq <= ?';
    return {
      count: inherited + (one<{ n: number }>(this.#statements.of(sql), simulation, begins, upTo)?.n ?? 0),
      last,
    };
  }

  #lastOrder(simulation: number, upTo: number, lastOrder: number): number {
    let low = 0;
    let high = lastOrder;
    const sql = 'SELECT number, seq FROM orders WHERE simulation = ? AND number >= ? ORDER BY number LIMIT 1';
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const row = one<{ number: number; seq: number }>(this.#statements.of(sql), simulation, middle);
      if (row !== undefined && row.seq <= upTo) low = row.number;
      else high = middle - 1;
    }
    return low;
  }
}

const linkOf = (row: OwnerRow, { simulation, upTo }: Generation): OwnerLink => ({
  row,
  simulation,
  upTo,
  counts: JSON.parse(row.counts) as Counts,
  base: JSON.parse(row.base) as Counts,
});

export const missingRows = (): DamagedHistory => new DamagedHistory('Rows of the history are missing');

export const eventPlacesOf = ({ places }: Pick<StreamEventRow, 'places'>) =>
  JSON.parse(places) as readonly (readonly [seq: number, event: number])[];
