import { isOrderEvent, isOrderPlaced } from '@sandpit/core';
import type {
  Event,
  OrderProgress,
  OrderSnapshot,
  OrderTerms,
  PortfolioSnapshot,
  Price,
} from '@sandpit/core';
import type { MinuteMark } from '../../history.js';
import { projectRecord } from '../../projection.js';
import type { ProjectionSource } from '../../projection.js';
import { all, one } from '../database/connection.js';
import type { Statements } from '../database/connection.js';
import { missingRows } from './history-lineage.js';
import type { Generation, HistoryLineage, OwnerLink } from './history-lineage.js';
import type { MarkRow, PastSnapshotRow, StoredSnapshot } from './history-rows.js';
import { minuteOf, snapshotAsOf } from './snapshot-tables.js';

/** Snapshots of a fork's portfolio, minute by minute; the minute of the fork point ends at that point. */
export class SnapshotLineage {
  readonly #statements: Statements;
  readonly #lineage: HistoryLineage;

  constructor(statements: Statements, lineage: HistoryLineage) {
    this.#statements = statements;
    this.#lineage = lineage;
  }

  /** The last minute. */
  last(generations: readonly Generation[], links: readonly OwnerLink[]): StoredSnapshot | undefined {
    for (const link of links) {
      const records = this.#lineage.records(link.simulation);
      const row = snapshotAsOf(this.#statements, records, link.row.k, link.upTo);
      if (row !== undefined) return this.#asOf(row, generations, links, link);
    }
    return undefined;
  }

  /** Minutes from one until before another, upwards; the first may be earlier. */
  between(
    generations: readonly Generation[],
    links: readonly OwnerLink[],
    from: number,
    to: number,
  ): readonly StoredSnapshot[] {
    const found = new Map<number, { readonly row: StoredSnapshot; readonly link: OwnerLink }>();
    const before = 'SELECT * FROM standing WHERE owner = ? AND minute < ? ORDER BY minute DESC LIMIT 2';
    const within = 'SELECT * FROM standing WHERE owner = ? AND minute >= ? AND minute < ? ORDER BY minute';
    for (const link of links) {
      const { k } = link.row;
      const rows = [
        ...all<StoredSnapshot>(this.#statements.of(before), k, from),
        ...all<StoredSnapshot>(this.#statements.of(within), k, from, to),
      ];
      for (const row of rows) {
        if (row.first > link.upTo || found.has(row.n)) continue;
        found.set(row.n, { row, link });
      }
    }
    const sorted = [...found.values()].sort((a, b) => a.row.n - b.row.n);
    const early = sorted.findLastIndex(({ row }) => row.minute < from);
    const shown = sorted.slice(Math.max(0, early));
    return shown.map(({ row, link }) => this.#asOf(row, generations, links, link));
  }

  #asOf(
    row: StoredSnapshot,
    generations: readonly Generation[],
    links: readonly OwnerLink[],
    link: OwnerLink,
  ): StoredSnapshot {
    if (row.seq <= link.upTo) return row;
    const older = generations.slice(
      generations.findIndex(({ simulation }) => simulation === link.simulation),
    );
    const past = one<PastSnapshotRow>(
      this.#statements.of(
        'SELECT * FROM past_standing WHERE owner = ? AND minute = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
      ),
      link.row.k,
      row.minute,
      link.upTo,
    );
    const known = past === undefined ? this.#before(row, older, links, link) : versionOf(past);
    const replayed = known.until > link.upTo ? known : this.#replay(link.row.id, older, known, link.upTo);
    if (replayed.standing === undefined) throw missingRows();
    const { standing, hasMoved } = replayed;
    return {
      ...row,
      standing: JSON.stringify(standing),
      holding: Object.keys(standing.held).length > 0 ? 1 : 0,
      moved: hasMoved ? 1 : 0,
      seq: link.upTo,
    };
  }

  /** Snapshot before the first record of the minute that changed it. */
  #before(
    { owner, minute, first }: StoredSnapshot,
    older: readonly Generation[],
    links: readonly OwnerLink[],
    link: OwnerLink,
  ): KnownSnapshot {
    const sql = 'SELECT * FROM standing WHERE owner = ? AND minute < ? ORDER BY minute DESC LIMIT 1';
    const own = one<StoredSnapshot>(this.#statements.of(sql), owner, minute);
    const row = own === undefined ? this.last(older, links.slice(links.indexOf(link) + 1)) : own;
    if (row === undefined) return { standing: undefined, hasMoved: false, until: first };
    const standing = parsed(row.standing);
    if (row.minute < minute) return { standing, hasMoved: false, until: first };
    // The minute in which a fork begins.
    return { standing, hasMoved: row.moved === 1, until: (older[1]?.upTo ?? 0) + 1 };
  }

  /** Follows the records from `known.until` to `upTo`: some hundreds at most, because the tables keep the snapshots in between. */
  #replay(
    portfolioId: string,
    older: readonly Generation[],
    known: KnownSnapshot,
    upTo: number,
  ): KnownSnapshot {
    const [generation] = older;
    if (generation === undefined) return known;
    const before = older.map((one) => ({ ...one, upTo: Math.min(one.upTo, known.until - 1) }));
    const records = this.#lineage.records(generation.simulation);
    const orders = new Map<number, OrderSnapshot>();
    const orderOf = (number: number): OrderSnapshot => {
      let order = orders.get(number);
      if (order === undefined) {
        const found = this.#lineage.order(before, number)?.row;
        if (found === undefined) throw missingRows();
        order = {
          terms: JSON.parse(found.terms) as OrderTerms,
          progress: JSON.parse(found.progress) as OrderProgress,
        };
        orders.set(number, order);
      }
      return order;
    };
    const owner = this.#lineage.portfolio(older, portfolioId);
    if (owner === undefined) throw missingRows();
    /** Orders accepted meanwhile, and whether they are of this portfolio. */
    const accepted = new Map<number, boolean>();
    const isAbout = (event: Event): boolean => {
      if (event.type === 'PortfolioOpened') return event.terms.portfolioId === portfolioId;
      if (isOrderPlaced(event)) {
        const isOwn = event.request.portfolioId === portfolioId;
        accepted.set(event.number, isOwn);
        return isOwn;
      }
      if (isOrderEvent(event)) {
        const { order } = event;
        const isOwn = accepted.get(order);
        return isOwn ?? (orders.has(order) || this.#lineage.portfolioOf(before, order) === portfolioId);
      }
      return 'portfolioId' in event && event.portfolioId === portfolioId;
    };
    let { standing, hasMoved } = known;
    for (let seq = known.until; seq <= upTo; seq += 1) {
      const { at, command, events } = records.record(seq);
      const own = (events as readonly Event[]).filter(isAbout);
      if (own.length === 0) continue;
      const changes = projectRecord(
        { seq, at },
        { command, events: own },
        {
          order: orderOf,
          accountOf: () => owner.account,
          standing: () => standing,
        },
      );
      for (const change of changes) {
        if (change.change === 'order-added')
          orders.set(change.terms.number, { terms: change.terms, progress: change.progress });
        else if (change.change === 'order-moved')
          orders.set(change.order, {
            terms: change.terms ?? orderOf(change.order).terms,
            progress: change.progress,
          });
        else if (change.change === 'standing') {
          ({ standing } = change);
          hasMoved ||= change.hasMoved;
        }
      }
    }
    return { standing, hasMoved, until: upTo + 1 };
  }

  /** Marks of a symbol from pushed quotes, ascending; the first may be earlier than `from`. */
  marks(generations: readonly Generation[], symbol: string, from: number, to: number): readonly MinuteMark[] {
    const found = new Map<number, { readonly row: MarkRow; readonly generation: Generation }>();
    const of = 'SELECT * FROM mark WHERE simulation = ? AND symbol = ?';
    for (const generation of generations) {
      const { simulation, upTo } = generation;
      if (upTo === 0) continue;
      const end = upTo === Infinity ? Infinity : minuteOf(this.#lineage.records(simulation).at(upTo)) + 1;
      const rows = [
        ...all<MarkRow>(
          this.#statements.of(`${of} AND minute < ? ORDER BY minute DESC LIMIT 2`),
          simulation,
          symbol,
          Math.min(from, end),
        ),
        ...all<MarkRow>(
          this.#statements.of(`${of} AND minute >= ? AND minute < ? ORDER BY minute`),
          simulation,
          symbol,
          from,
          Math.min(to, end),
        ),
      ];
      for (const row of rows)
        if (row.first <= generation.upTo && !found.has(row.minute))
          found.set(row.minute, { row, generation });
    }
    const sorted = [...found.values()].sort((a, b) => a.row.minute - b.row.minute);
    const early = sorted.findLastIndex(({ row }) => row.minute < from);
    return sorted
      .slice(Math.max(0, early))
      .map(({ row, generation }) => ({ minute: row.minute, price: this.#markAsOf(row, generation) }));
  }

  #markAsOf({ symbol, price, first, seq, minute }: MarkRow, { simulation, upTo }: Generation): Price {
    if (seq <= upTo) return price as Price;
    const records = this.#lineage.records(simulation);
    for (let earlier = upTo; earlier >= first; earlier -= 1) {
      const { at, command, events } = records.record(earlier);
      const quotes = (events as readonly Event[]).filter(({ type }) => MARKING.has(type));
      if (quotes.length === 0) continue;
      const changes = projectRecord({ seq: earlier, at }, { command, events: quotes }, NOTHING_KNOWN);
      const mark = changes.findLast((change) => change.change === 'mark' && change.symbol === symbol);
      if (mark?.change === 'mark' && mark.minute === minute) return mark.price;
    }
    throw missingRows();
  }
}

/** Snapshot of a portfolio from some record on and before the record `until`. */
interface KnownSnapshot {
  readonly standing: PortfolioSnapshot | undefined;
  readonly hasMoved: boolean;
  readonly until: number;
}

/** Events that mark symbols by quotes that cannot be read again. */
const MARKING: ReadonlySet<Event['type']> = new Set([
  'QuotesPushed',
  'SplitBegun',
  'ActionDone',
  'SeriesAdjusted',
]);

const NOTHING_KNOWN: ProjectionSource = {
  order: () => {
    throw missingRows();
  },
  accountOf: () => {
    throw missingRows();
  },
  standing: () => undefined,
};

const parsed = (standing: string): PortfolioSnapshot => JSON.parse(standing) as PortfolioSnapshot;

const versionOf = ({ standing, moved, until }: PastSnapshotRow): KnownSnapshot => ({
  standing: parsed(standing),
  hasMoved: moved === 1,
  until,
});
