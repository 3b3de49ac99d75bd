import type {
  ClosedPortfolioRow,
  History,
  HistoryChange,
  ListItem,
  ListName,
  OrderQuery,
  OrderRow,
  Page,
} from '../history.js';
import type { JournalRecord } from '../journal.js';
import type { MemoryJournal } from './memory-journal.js';
import type { MemoryRegistry } from './memory-registry.js';

type OrderAdded = Extract<HistoryChange, { change: 'order-added' }>;

/** An order as it was added, with what has moved since. */
interface Order {
  readonly added: OrderAdded;
  status: string;
  filledOn: string | undefined;
  progress: string;
}

interface Portfolio {
  readonly tenantId: string;
  readonly terms: string;
  last: string | undefined;
}

interface Listed {
  readonly seq: number;
  readonly event: number;
  readonly item: number;
  readonly tag?: string | undefined;
  readonly key?: string | undefined;
}

/** The tables of one simulation. */
class Tables {
  readonly orders = new Map<string, Order>();
  readonly portfolios = new Map<string, Portfolio>();
  readonly byClientOrderId = new Map<string, string>();
  readonly lists = new Map<string, Listed[]>();
}

/** The plainest history that could be right: the SQLite one is tested against it. */
export class MemoryHistory implements History {
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

  remove(simulationId: string): void {
    this.#simulations.delete(simulationId);
  }

  #tables(simulationId: string): Tables {
    // A simulation that is being deleted is gone before its tables are.
    const tables = this.#registry.isOpen(simulationId) ? this.#simulations.get(simulationId) : undefined;
    return tables ?? new Tables();
  }

  order(simulationId: string, orderId: string): OrderRow | undefined {
    const order = this.#tables(simulationId).orders.get(orderId);
    return order === undefined ? undefined : orderRow(order);
  }

  closedPortfolio(simulationId: string, portfolioId: string): ClosedPortfolioRow | undefined {
    const portfolio = this.#tables(simulationId).portfolios.get(portfolioId);
    if (portfolio?.last === undefined) return undefined;
    const { tenantId, terms, last } = portfolio;
    return { tenantId, terms, last };
  }

  orderIdByClientOrderId(
    simulationId: string,
    portfolioId: string,
    clientOrderId: string,
  ): string | undefined {
    return this.#tables(simulationId).byClientOrderId.get(JSON.stringify([portfolioId, clientOrderId]));
  }

  orders(query: OrderQuery): Promise<Page<OrderRow>> {
    const matching = [...this.#tables(query.simulationId).orders.values()].filter((order) =>
      isAsked(query, order),
    );
    return Promise.resolve(page(matching, query, orderRow));
  }

  list(query: {
    readonly simulationId: string;
    readonly list: ListName;
    readonly owner: string;
    readonly tag?: string;
    readonly offset: number;
    readonly limit: number;
  }): Promise<Page<ListItem>> {
    const { simulationId, list, owner, tag } = query;
    const items = this.#tables(simulationId).lists.get(listName(list, owner)) ?? [];
    const matching = tag === undefined ? items : items.filter((item) => item.tag === tag);
    return Promise.resolve(page(matching, query, (item) => this.#item(simulationId, item)));
  }

  orderEvents(
    simulationId: string,
    tenantId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly ListItem[] {
    const events = this.#tables(simulationId).lists.get(listName('order-events', tenantId)) ?? [];
    return events
      .filter(({ seq, event }) => seq > after.seq || (seq === after.seq && event > after.event))
      .slice(0, limit)
      .map((event) => this.#item(simulationId, event));
  }

  #item(simulationId: string, { seq, event, item }: Listed): ListItem {
    const record = this.#journal.record(simulationId, seq);
    if (record === undefined)
      throw new Error(`The history names record ${seq}, which the journal does not have`);
    const { events } = JSON.parse(record.payload) as { events: readonly unknown[] };
    return { seq, at: record.at, event, item, data: events[event] };
  }
}

function applyChange(tables: Tables, seq: number, change: HistoryChange): void {
  switch (change.change) {
    case 'order-added': {
      const { orderId, portfolioId, clientOrderId, status, filledOn, progress } = change;
      tables.orders.set(orderId, { added: change, status, filledOn, progress });
      if (clientOrderId !== undefined) {
        tables.byClientOrderId.set(JSON.stringify([portfolioId, clientOrderId]), orderId);
      }
      return;
    }
    case 'order-moved': {
      const order = tables.orders.get(change.orderId);
      if (order === undefined) throw new Error(`The history has no order ${change.orderId}`);
      order.status = change.status;
      order.filledOn = change.filledOn ?? order.filledOn;
      order.progress = change.progress;
      return;
    }
    case 'listed': {
      const { list, owner, event, item, tag, key } = change;
      if (list === 'executions' && key !== undefined) throw new Error('Executions have no keys');
      if (list === 'executions' && !tables.orders.has(owner))
        throw new Error(`The history has no order ${owner}`);
      addTo(tables, listName(list, owner), { seq, event, item, tag, key });
      return;
    }
    case 'portfolio-opened': {
      const { portfolioId, tenantId, terms } = change;
      tables.portfolios.set(portfolioId, { tenantId, terms, last: undefined });
      return;
    }
    case 'portfolio-closed': {
      const portfolio = tables.portfolios.get(change.portfolioId);
      if (portfolio === undefined) throw new Error(`The history has no portfolio ${change.portfolioId}`);
      portfolio.last = change.last;
      return;
    }
    case 'order-event':
      addTo(tables, listName('order-events', change.tenantId), { seq, event: change.event, item: 0 });
  }
}

function addTo(tables: Tables, name: string, listed: Listed): void {
  const list = tables.lists.get(name) ?? [];
  tables.lists.set(name, list);
  const place = listed.key === undefined ? -1 : list.findIndex(({ key }) => key === listed.key);
  if (place === -1) list.push(listed);
  else list[place] = listed;
}

function listName(list: string, owner: string): string {
  return `${list} ${owner}`;
}

function isAsked(query: OrderQuery, { added, status, filledOn }: Order): boolean {
  return (
    isInScope(query.scope, added, filledOn) &&
    (query.status === undefined || status === query.status) &&
    (query.symbol === undefined || added.symbol === query.symbol) &&
    (query.assetClass === undefined || added.assetClass === query.assetClass) &&
    (query.from === undefined || added.createdAt >= query.from) &&
    (query.to === undefined || added.createdAt < query.to)
  );
}

function isInScope(scope: OrderQuery['scope'], added: OrderAdded, filledOn: string | undefined): boolean {
  if ('portfolioId' in scope) return added.portfolioId === scope.portfolioId;
  if (added.tenantId !== scope.tenantId) return false;
  return 'accountId' in scope ? added.accountId === scope.accountId : filledOn === scope.filledOn;
}

function orderRow({ added, status, progress }: Order): OrderRow {
  const { orderId, tenantId, accountId, portfolioId, terms } = added;
  return { orderId, tenantId, accountId, portfolioId, status, terms, progress };
}

/** Newest first. */
function page<Stored, Shown>(
  matching: readonly Stored[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
  show: (stored: Stored) => Shown,
): Page<Shown> {
  return {
    items: matching
      .toReversed()
      .slice(offset, offset + limit)
      .map(show),
    total: matching.length,
  };
}
