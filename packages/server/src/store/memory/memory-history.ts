import type { OrderProgress, OrderTerms, PortfolioSnapshot } from '@sandpit/core';
import type {
  ClosedPortfolioRow,
  History,
  HistoryChange,
  HistoryHealth,
  ListItem,
  ListQuery,
  MinuteMark,
  OrderQuery,
  OrderRow,
  Page,
  SnapshotMinute,
  SnapshotRow,
} from '../history.js';
import type { JournalRecord } from '../journal.js';
import type { ProjectionSource } from '../projection.js';
import type { MemoryJournal } from './memory-journal.js';
import type { MemoryRegistry } from './memory-registry.js';

interface Order {
  terms: OrderTerms;
  filledOn: string | undefined;
  progress: OrderProgress;
}

interface Portfolio {
  readonly accountId: string;
  readonly terms: string;
  last: string | undefined;
}

interface ListEntry {
  readonly seq: number;
  readonly event: number;
  readonly item: number;
  readonly tag?: string | undefined;
  readonly key?: string | undefined;
}

interface StoredMinute extends SnapshotMinute {
  readonly standing: PortfolioSnapshot;
}

/** The tables of one simulation. */
class Tables implements ProjectionSource {
  readonly portfolios = new Map<string, Portfolio>();
  readonly orders = new Map<number, Order>();
  readonly byClientOrderId = new Map<string, number>();
  readonly lists = new Map<string, ListEntry[]>();
  /** Oldest first. */
  readonly standings = new Map<string, StoredMinute[]>();
  readonly marks = new Map<string, MinuteMark[]>();

  order(order: number): Order {
    const found = this.orders.get(order);
    if (found === undefined) throw new Error(`The history has no order ${order}`);
    return found;
  }

  accountOf(portfolioId: string): string {
    return this.portfolio(portfolioId).accountId;
  }

  standing(portfolioId: string): PortfolioSnapshot | undefined {
    return this.standings.get(portfolioId)?.at(-1)?.standing;
  }

  portfolio(portfolioId: string): Portfolio {
    const found = this.portfolios.get(portfolioId);
    if (found === undefined) throw new Error(`The history has no portfolio ${portfolioId}`);
    return found;
  }
}

/** The plainest history that could be right: the SQLite one is tested against it. */
export class MemoryHistory implements History {
  readonly answersAtOnce = true;
  readonly #registry: MemoryRegistry;
  readonly #journal: MemoryJournal;
  readonly #simulations = new Map<string, Tables>();

  constructor(registry: MemoryRegistry, journal: MemoryJournal) {
    this.#registry = registry;
    this.#journal = journal;
  }

  apply(record: JournalRecord, changes: readonly HistoryChange[]): void {
    const tables = this.#simulations.get(record.simulationId) ?? new Tables();
    this.#simulations.set(record.simulationId, tables);
    for (const change of changes) applyChange(tables, record.seq, change);
  }

  /** State that a projection reads before its changes are applied. */
  known(simulationId: string): ProjectionSource {
    return this.#simulations.get(simulationId) ?? new Tables();
  }

  remove(simulationId: string): void {
    this.#simulations.delete(simulationId);
  }

  health(): HistoryHealth {
    return { status: 'ok', behind: 0, waits: { count: 0, totalMs: 0, longestMs: 0 } };
  }

  position(simulationId: string): number {
    return this.#journal.lastSeq(simulationId);
  }

  /** Records are projected as they are committed. */
  reached(): Promise<void> {
    return Promise.resolve();
  }

  #tables(simulationId: string): Tables {
    // A simulation that is being deleted disappears before its tables do.
    const tables = this.#registry.isOpen(simulationId) ? this.#simulations.get(simulationId) : undefined;
    return tables ?? new Tables();
  }

  order(simulationId: string, order: number): OrderRow | undefined {
    const found = this.#tables(simulationId).orders.get(order);
    return found === undefined ? undefined : orderRow(found);
  }

  closedPortfolio(simulationId: string, portfolioId: string): ClosedPortfolioRow | undefined {
    const portfolio = this.#tables(simulationId).portfolios.get(portfolioId);
    if (portfolio?.last === undefined) return undefined;
    const { terms, last } = portfolio;
    return { terms, last };
  }

  orderByClientOrderId(simulationId: string, portfolioId: string, clientOrderId: string): number | undefined {
    return this.#tables(simulationId).byClientOrderId.get(JSON.stringify([portfolioId, clientOrderId]));
  }

  closedPortfolios(simulationId: string): Promise<readonly ClosedPortfolioRow[]> {
    const all = [...this.#tables(simulationId).portfolios.values()];
    return Promise.resolve(all.flatMap(({ terms, last }) => (last !== undefined ? [{ terms, last }] : [])));
  }

  orders(query: OrderQuery): Promise<Page<OrderRow>> {
    const inScope = [...this.#tables(query.simulationId).orders.values()].filter(({ terms, filledOn }) =>
      isInScope(query.scope, terms, filledOn),
    );
    const isCounted = 'portfolioId' in query.scope || 'accountId' in query.scope;
    const ordinals = new Map(inScope.map((order, i) => [order, isCounted ? i + 1 : order.terms.number]));
    return Promise.resolve(
      page(
        inScope.filter((order) => isAsked(query, order)),
        query,
        (order) => ordinals.get(order) ?? 0,
        orderRow,
      ),
    );
  }

  list(query: ListQuery): Promise<Page<ListItem>> {
    const { simulationId, list, owner, tag, from = -Infinity, to = Infinity } = query;
    const items = this.#tables(simulationId).lists.get(listName(list, owner)) ?? [];
    const isBetween = ({ seq }: ListEntry): boolean => {
      const at = this.#journal.record(simulationId, seq)?.at ?? Number.NaN;
      return at >= from && at < to;
    };
    const isRanged = from > -Infinity || to < Infinity;
    const matching = items.filter(
      (item) => (tag === undefined || item.tag === tag) && (!isRanged || isBetween(item)),
    );
    return Promise.resolve(
      page(
        matching,
        query,
        (item) => items.indexOf(item) + 1,
        (item) => this.#item(simulationId, item),
      ),
    );
  }

  standingMinutes(simulationId: string, portfolioId: string): Promise<readonly SnapshotMinute[]> {
    const rows = this.#tables(simulationId).standings.get(portfolioId) ?? [];
    return Promise.resolve(rows.map(({ minute, isHolding, hasMoved }) => ({ minute, isHolding, hasMoved })));
  }

  standings(
    simulationId: string,
    portfolioId: string,
    from: number,
    to: number,
  ): Promise<readonly SnapshotRow[]> {
    const rows = inForce(this.#tables(simulationId).standings.get(portfolioId) ?? [], from, to);
    return Promise.resolve(rows.map((row) => ({ ...row, standing: JSON.stringify(row.standing) })));
  }

  marks(simulationId: string, symbol: string, from: number, to: number): Promise<readonly MinuteMark[]> {
    return Promise.resolve(inForce(this.#tables(simulationId).marks.get(symbol) ?? [], from, to));
  }

  streamEvents(
    simulationId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly ListItem[] {
    const events = this.#tables(simulationId).lists.get(STREAM_EVENTS) ?? [];
    return events
      .filter(({ seq, event }) => seq > after.seq || (seq === after.seq && event > after.event))
      .slice(0, limit)
      .map((event) => this.#item(simulationId, event));
  }

  #item(simulationId: string, { seq, event, item }: ListEntry): ListItem {
    const record = this.#journal.record(simulationId, seq);
    if (record === undefined)
      throw new Error(`The history names record ${seq}, which the journal does not have`);
    const { events } = JSON.parse(record.payload) as { events: readonly unknown[] };
    return { seq, at: record.at, event, item, data: events[event] };
  }
}

function applyChange(tables: Tables, seq: number, change: HistoryChange): void {
  switch (change.change) {
    case 'portfolio-opened': {
      const { portfolioId, accountId, terms } = change;
      tables.portfolios.set(portfolioId, { accountId, terms, last: undefined });
      return;
    }
    case 'order-added': {
      const { terms, filledOn, progress } = change;
      const { number, portfolioId, clientOrderId } = terms;
      tables.orders.set(number, { terms, filledOn, progress });
      if (clientOrderId !== undefined) {
        tables.byClientOrderId.set(JSON.stringify([portfolioId, clientOrderId]), number);
      }
      return;
    }
    case 'order-moved': {
      const order = tables.order(change.order);
      order.filledOn = change.filledOn ?? order.filledOn;
      order.progress = change.progress;
      order.terms = change.terms ?? order.terms;
      return;
    }
    case 'listed': {
      const { list, owner, event, item, tag, key } = change;
      if (list === 'order-events') {
        if (key !== undefined) throw new Error('Events of orders have no keys');
        tables.order(Number(owner));
      }
      addTo(tables, listName(list, owner), { seq, event, item, tag, key });
      return;
    }
    case 'portfolio-closed': {
      tables.portfolio(change.portfolioId).last = change.last;
      return;
    }
    case 'standing': {
      const { portfolioId, minute, standing } = change;
      const rows = tables.standings.get(portfolioId) ?? [];
      tables.standings.set(portfolioId, rows);
      const isHolding = Object.keys(standing.held).length > 0;
      const same = rows.at(-1)?.minute === minute ? rows.pop() : undefined;
      rows.push({ minute, isHolding, hasMoved: change.hasMoved || same?.hasMoved === true, standing });
      return;
    }
    case 'mark': {
      const rows = tables.marks.get(change.symbol) ?? [];
      tables.marks.set(change.symbol, rows);
      if (rows.at(-1)?.minute === change.minute) rows.pop();
      rows.push({ minute: change.minute, price: change.price });
      return;
    }
    case 'stream-event':
      addTo(tables, STREAM_EVENTS, { seq, event: change.event, item: 0 });
  }
}

function addTo(tables: Tables, name: string, listed: ListEntry): void {
  const list = tables.lists.get(name) ?? [];
  tables.lists.set(name, list);
  const place = listed.key === undefined ? -1 : list.findIndex(({ key }) => key === listed.key);
  if (place === -1) list.push(listed);
  else list[place] = listed;
}

/** Rows in force from one minute until before another. */
function inForce<Row extends { readonly minute: number }>(
  rows: readonly Row[],
  from: number,
  to: number,
): Row[] {
  const first = rows.findLastIndex(({ minute }) => minute < from);
  return rows.slice(Math.max(first, 0)).filter(({ minute }) => minute < to);
}

/** Name of the list of stream events, beside those of `listName`. */
const STREAM_EVENTS = 'stream-events';

function listName(list: string, owner: string): string {
  return `${list} ${owner}`;
}

function isAsked(query: OrderQuery, { terms, progress }: Order): boolean {
  return (
    (query.status === undefined || query.status.includes(progress.status)) &&
    (query.symbol === undefined || terms.symbol === query.symbol) &&
    (query.assetClass === undefined || terms.assetClass === query.assetClass) &&
    (query.from === undefined || terms.createdAt >= query.from) &&
    (query.to === undefined || terms.createdAt < query.to)
  );
}

function isInScope(scope: OrderQuery['scope'], terms: OrderTerms, filledOn: string | undefined): boolean {
  if ('portfolioId' in scope) return terms.portfolioId === scope.portfolioId;
  if ('accountId' in scope) return terms.accountId === scope.accountId;
  return !('filledOn' in scope) || filledOn === scope.filledOn;
}

function orderRow({ terms, progress }: Order): OrderRow {
  const { number, accountId, portfolioId } = terms;
  return {
    number,
    accountId,
    portfolioId,
    status: progress.status,
    terms: JSON.stringify(terms),
    progress: JSON.stringify(progress),
  };
}

/** Newest first. `ordinalOf` grows with each that is added. */
function page<Stored, Shown>(
  matching: readonly Stored[],
  {
    offset,
    limit,
    before = Infinity,
  }: { readonly offset: number; readonly limit: number; readonly before?: number },
  ordinalOf: (stored: Stored) => number,
  show: (stored: Stored) => Shown,
): Page<Shown> {
  const left = matching
    .filter((stored) => ordinalOf(stored) <= before)
    .toReversed()
    .slice(offset);
  const shown = left.slice(0, limit);
  const last = shown.at(-1);
  const isMore = last !== undefined && left.length > limit;
  return {
    items: shown.map(show),
    total: matching.length,
    ...(isMore && { next: ordinalOf(last) - 1 }),
  };
}
