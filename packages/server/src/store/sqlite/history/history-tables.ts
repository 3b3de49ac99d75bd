import type { OrderProgress, OrderSnapshot, OrderTerms } from '@sandpit/core';
import type { HistoryChange } from '../../history.js';
import type { ProjectionSource } from '../../projection.js';
import { BulkInsert } from '../database/bulk-insert.js';
import { one, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { DamagedHistory, LIST_CODE } from './history-rows.js';
import type { ForkOrigin } from '../journal/fork-origin.js';
import { HistoryLineage } from './history-lineage.js';
import type { Generation } from './history-lineage.js';
import type { Block, JournalBlocks } from '../journal/journal-blocks.js';
import type {
  ClientOrderRow,
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
import { SnapshotLineage } from './snapshot-lineage.js';
import { SnapshotTables } from './snapshot-tables.js';
import type { SnapshotOwner } from './snapshot-tables.js';

type Change<Name extends HistoryChange['change']> = Extract<HistoryChange, { change: Name }>;

type RowDraft<Row> = { -readonly [Field in keyof Row]: Row[Field] };

/** Owner of lists after the last record. */
interface OwnerDraft {
  readonly row: RowDraft<OwnerRow>;
  readonly counts: { -readonly [List in keyof Counts]: number };
  isNew: boolean;
  /** True when this transaction has to write it. */
  isChanged: boolean;
  /** The last row of each list, while records can be added to it. */
  readonly open: Partial<Record<keyof typeof LIST_CODE, RowDraft<ItemRow> | undefined>>;
}

interface OrderDraft {
  readonly row: RowDraft<StoredOrder>;
  terms: OrderTerms;
  progress: OrderProgress;
  readonly isNew: boolean;
  /** Events of the last record after the one that created the order. */
  later?: RowDraft<OrderEventRow>;
}

interface PortfolioDraft {
  readonly row: RowDraft<PortfolioRow>;
  readonly isNew: boolean;
}

/** One simulation: its known state, and the changes of a transaction. */
class SimulationDraft {
  readonly row: RowDraft<SimulationRow>;
  readonly owners: Readonly<Record<OwnerKind, Map<string, OwnerDraft>>> = {
    portfolio: new Map(),
    account: new Map(),
  };
  /** Accounts of portfolios. */
  readonly accounts = new Map<string, string>();
  /** The row of stream events of the last block. */
  events: { readonly block: number; readonly row: RowDraft<StreamEventRow> } | undefined;
  changedOwners: OwnerDraft[] = [];
  readonly portfolios = new Map<string, PortfolioDraft>();
  readonly orders = new Map<number, OrderDraft>();
  /** A fork's ancestors, each up to the start of the next one. */
  readonly ancestors: readonly Generation[];

  constructor(row: RowDraft<SimulationRow>, ancestors: readonly Generation[]) {
    this.row = row;
    this.ancestors = ancestors;
  }

  /** The ordinal of one more item. */
  count(owner: OwnerDraft, list: CountedList): number {
    if (!owner.isChanged) {
      owner.isChanged = true;
      this.changedOwners.push(owner);
    }
    return (owner.counts[list] = (owner.counts[list] ?? 0) + 1);
  }

  written(): void {
    for (const owner of this.changedOwners) owner.isNew = owner.isChanged = false;
    this.changedOwners = [];
    this.portfolios.clear();
    this.orders.clear();
  }
}

/** Owners and portfolios that are remembered between transactions: the next one is most likely about them. */
const MOST_REMEMBERED = 50_000;

/**
 * Writes the history tables: collects what many records change, then writes it in one go, each table in the order of its key. Between
 * transactions it remembers who has lists, and how long they are.
 */
export class HistoryTables {
  readonly #statements: Statements;
  readonly #simulations = new Map<number, SimulationDraft>();
  readonly #changed = new Set<SimulationDraft>();
  #remembered = 0;
  #items: RowDraft<ItemRow>[] = [];
  readonly #keyedItems = new Map<string, RowDraft<ItemRow>>();
  #orderEvents: RowDraft<OrderEventRow>[] = [];
  #streamEvents: RowDraft<StreamEventRow>[] = [];
  #clientOrders: RowDraft<ClientOrderRow>[] = [];
  #replacedItems: RowDraft<ItemRow>[] = [];
  #nextOwner: number | undefined;
  readonly #standings: SnapshotTables;
  #pastItems: Omit<ItemRow, 'key'>[] = [];
  readonly #lineage: HistoryLineage;
  readonly #snapshots: SnapshotLineage;

  readonly #insertOwners: BulkInsert<OwnerRow>;
  readonly #insertPortfolios: BulkInsert<PortfolioRow>;
  readonly #insertOrders: BulkInsert<StoredOrder>;
  readonly #insertClientOrders: BulkInsert<ClientOrderRow>;
  readonly #insertItems: BulkInsert<ItemRow>;
  readonly #insertPastItems: BulkInsert<Omit<ItemRow, 'key'>>;
  readonly #insertOrderEvents: BulkInsert<OrderEventRow>;
  readonly #insertStreamEvents: BulkInsert<StreamEventRow>;

  /** `journal`: source for deriving earlier rows of a fork's ancestors. */
  constructor(database: Database, journal: JournalBlocks) {
    this.#statements = new Statements(database);
    this.#standings = new SnapshotTables(database);
    this.#lineage = new HistoryLineage(this.#statements, journal);
    this.#snapshots = new SnapshotLineage(this.#statements, this.#lineage);
    this.#insertPastItems = new BulkInsert(database, 'past_item', ['owner', 'list', 'n', 'seq', 'places']);
    this.#insertOwners = new BulkInsert(database, 'owner', [
      'k',
      'simulation',
      'kind',
      'id',
      'counts',
      'base',
    ]);
    this.#insertPortfolios = new BulkInsert(database, 'portfolio', [
      'simulation',
      'id',
      'account',
      'terms',
      'opened',
      'last',
      'closed',
    ]);
    this.#insertOrders = new BulkInsert(database, 'orders', [
      'simulation',
      'number',
      'portfolio',
      'portfolio_n',
      'account',
      'account_n',
      'symbol',
      'asset_class',
      'created_at',
      'status',
      'filled_on',
      'terms',
      'progress',
      'seq',
      'places',
      'changed',
      'events',
    ]);
    this.#insertClientOrders = new BulkInsert(database, 'client_order', ['owner', 'id', 'number']);
    this.#insertItems = new BulkInsert(database, 'item', ['owner', 'list', 'n', 'seq', 'places', 'key']);
    this.#insertOrderEvents = new BulkInsert(database, 'order_event', [
      'simulation',
      'number',
      'n',
      'seq',
      'places',
    ]);
    this.#insertStreamEvents = new BulkInsert(database, 'stream_event', ['simulation', 'seq', 'places']);
  }

  /** Position of a simulation, including applied changes that are not written yet. */
  position(simulation: number): number {
    return this.#simulation(simulation).row.seq;
  }

  /** State that a projection reads before its changes are applied. */
  known(simulation: number): ProjectionSource {
    const draft = this.#simulation(simulation);
    return {
      order: (number): OrderSnapshot => {
        const { terms, progress } = this.#order(draft, number);
        return { terms, progress };
      },
      accountOf: (portfolioId) => this.#accountOf(draft, portfolioId),
      standing: (portfolioId) =>
        this.#standings.now(this.#snapshotOwner(draft, this.#owner(draft, 'portfolio', portfolioId))),
    };
  }

  /** The changes of one record of a block; records come without gaps. */
  apply(
    { simulation, k }: Pick<Block, 'simulation' | 'k'>,
    seq: number,
    changes: readonly HistoryChange[],
  ): void {
    const draft = this.#simulation(simulation);
    this.#changed.add(draft);
    for (const change of changes) {
      switch (change.change) {
        case 'portfolio-opened':
          this.#portfolioOpened(draft, seq, change);
          break;
        case 'order-added':
          this.#orderAdded(draft, seq, change);
          break;
        case 'order-moved':
          this.#orderMoved(draft, seq, change);
          break;
        case 'listed':
          if (change.list === 'order-events') this.#orderEvent(draft, seq, change);
          else this.#listed(draft, seq, change.list, change);
          break;
        case 'portfolio-closed':
          this.#portfolioClosed(draft, seq, change);
          break;
        case 'stream-event':
          this.#streamEvent(draft, k, seq, change);
          break;
        case 'standing': {
          const owner = this.#owner(draft, 'portfolio', change.portfolioId);
          this.#standings.changed(this.#snapshotOwner(draft, owner), seq, change, () =>
            draft.count(owner, 'standings'),
          );
          break;
        }
        case 'mark':
          this.#standings.marked(draft.row.key, seq, change);
      }
    }
    draft.row.seq = seq;
  }

  /**
   * Begins a fork without rows of its own: its rows are those of its parent as of a record, and its own additions. Not
   * written yet.
   */
  beginFork(simulation: number, { parent, seq }: ForkOrigin): void {
    const { count, last } = this.#lineage.ordersBy(parent, seq);
    const ancestors = this.#lineage.generations(parent, seq);
    const draft = new SimulationDraft(
      {
        key: simulation,
        seq,
        orders: count,
        last_order: last,
        parent,
        begins: seq,
        inherited: count,
      },
      ancestors,
    );
    this.#simulations.set(simulation, draft);
    this.#remembered += 1;
    this.#changed.add(draft);
  }

  /** True when unwritten rows depend on a fork's ancestors. */
  hasUnwritten(parent: number): boolean {
    if (this.#changed.size === 0) return false;
    const keys = new Set(this.#lineage.generations(parent).map(({ simulation }) => simulation));
    return [...this.#changed].some(({ row }) => keys.has(row.key));
  }

  #snapshotOwner({ ancestors }: SimulationDraft, { row: { k, kind, id } }: OwnerDraft): SnapshotOwner {
    return {
      k,
      inherited: () =>
        ancestors.length === 0
          ? undefined
          : this.#snapshots.last(ancestors, this.#lineage.owners(ancestors, kind, id)),
    };
  }

  #portfolioClosed(
    draft: SimulationDraft,
    seq: number,
    { portfolioId, last }: Change<'portfolio-closed'>,
  ): void {
    const { row } = this.#portfolio(draft, portfolioId);
    row.last = last;
    row.closed = seq;
  }

  #portfolioOpened(draft: SimulationDraft, seq: number, opened: Change<'portfolio-opened'>): void {
    const { portfolioId: id, accountId: account, terms } = opened;
    draft.portfolios.set(id, {
      row: {
        simulation: draft.row.key,
        id,
        account,
        terms,
        opened: seq,
        last: null,
        closed: null,
      },
      isNew: true,
    });
    this.#remember(draft, id, account);
  }

  #remember({ accounts }: SimulationDraft, portfolioId: string, account: string): string {
    accounts.set(portfolioId, account);
    this.#remembered += 1;
    return account;
  }

  #accountOf(draft: SimulationDraft, portfolioId: string): string {
    return (
      draft.accounts.get(portfolioId) ??
      this.#remember(draft, portfolioId, this.#portfolioRow(draft, portfolioId).account)
    );
  }

  #orderAdded(
    draft: SimulationDraft,
    seq: number,
    { terms, filledOn, progress }: Change<'order-added'>,
  ): void {
    const { number, accountId, portfolioId, clientOrderId } = terms;
    const portfolio = this.#owner(draft, 'portfolio', portfolioId);
    const account = this.#owner(draft, 'account', accountId);
    const row = {
      simulation: draft.row.key,
      number,
      portfolio: portfolio.row.k,
      portfolio_n: draft.count(portfolio, 'orders'),
      account: account.row.k,
      account_n: draft.count(account, 'orders'),
      symbol: terms.symbol,
      asset_class: terms.assetClass,
      created_at: terms.createdAt,
      status: progress.status,
      filled_on: filledOn ?? null,
      terms: JSON.stringify(terms),
      progress: '',
      seq,
      places: '',
      changed: seq,
      events: 0,
    };
    draft.orders.set(number, { row, terms, progress, isNew: true });
    draft.row.orders += 1;
    draft.row.last_order = Math.max(draft.row.last_order, number);
    if (clientOrderId !== undefined)
      this.#clientOrders.push({ owner: portfolio.row.k, id: clientOrderId, number });
  }

  #orderMoved(
    simulation: SimulationDraft,
    seq: number,
    { order, progress, filledOn, terms }: Change<'order-moved'>,
  ): void {
    const draft = this.#order(simulation, order);
    if (terms !== undefined) {
      draft.terms = terms;
      draft.row.symbol = terms.symbol;
      draft.row.terms = JSON.stringify(terms);
    }
    draft.progress = progress;
    draft.row.changed = seq;
    draft.row.status = progress.status;
    draft.row.filled_on = filledOn ?? draft.row.filled_on;
  }

  /** Events of an order's first record are in its own row: most orders have no others. */
  #orderEvent(simulation: SimulationDraft, seq: number, change: Change<'listed'>): void {
    if (change.key !== undefined) throw new Error('Events of orders have no keys');
    const number = Number(change.owner);
    const draft = this.#order(simulation, number);
    const { row } = draft;
    row.events += 1;
    row.changed = seq;
    const place = placeText(change);
    if (row.seq === seq) row.places = joined(row.places, place);
    else if (draft.later?.seq === seq) addPlace(draft.later, row.events, place);
    else {
      draft.later = { simulation: row.simulation, number, n: row.events, seq, places: place };
      this.#orderEvents.push(draft.later);
    }
  }

  #listed(draft: SimulationDraft, seq: number, list: keyof typeof LIST_CODE, change: Change<'listed'>): void {
    const owner = this.#owner(draft, 'portfolio', change.owner);
    const place = placeText(change);
    if (change.key !== undefined) {
      owner.open[list] = undefined;
      this.#listedByKey(draft, owner, list, seq, change.key, place);
      return;
    }
    const n = draft.count(owner, list);
    const open = owner.open[list];
    if (open?.seq === seq) addPlace(open, n, place);
    else owner.open[list] = this.#addItem(owner, list, n, seq, place, null);
  }

  #addItem(
    owner: OwnerDraft,
    list: keyof typeof LIST_CODE,
    n: number,
    seq: number,
    places: string,
    key: string | null,
  ): RowDraft<ItemRow> {
    const item = { owner: owner.row.k, list: LIST_CODE[list], n, seq, places, key };
    this.#items.push(item);
    return item;
  }

  #listedByKey(
    draft: SimulationDraft,
    owner: OwnerDraft,
    list: keyof typeof LIST_CODE,
    seq: number,
    key: string,
    places: string,
  ): void {
    const name = `${owner.row.k} ${list} ${key}`;
    let row = this.#keyedItems.get(name);
    if (row === undefined) {
      const found = one<ItemRow>(
        this.#statements.of('SELECT * FROM item WHERE owner = ? AND list = ? AND key = ?'),
        owner.row.k,
        LIST_CODE[list],
        key,
      );
      const inherited = found === undefined ? this.#inheritedItem(draft, owner, list, key) : undefined;
      if (found !== undefined) {
        row = { ...found };
        this.#replacedItems.push(row);
      } else if (inherited !== undefined) row = this.#addItem(owner, list, inherited, seq, places, key);
      else row = this.#addItem(owner, list, draft.count(owner, list), seq, places, key);
      this.#keyedItems.set(name, row);
    }
    if (row.seq < seq) {
      const { owner, list, n, seq } = row;
      this.#pastItems.push({ owner, list, n, seq, places: whole(row.places) });
    }
    row.seq = seq;
    row.places = places;
  }

  /** The ordinal of an item with a key, if a fork's ancestors have it. */
  #inheritedItem(
    { ancestors }: SimulationDraft,
    { row: { kind, id } }: OwnerDraft,
    list: keyof typeof LIST_CODE,
    key: string,
  ): number | undefined {
    if (ancestors.length === 0) return undefined;
    for (const { row, upTo } of this.#lineage.owners(ancestors, kind, id)) {
      const sql = 'SELECT * FROM item WHERE owner = ? AND list = ? AND key = ?';
      const item = one<ItemRow>(this.#statements.of(sql), row.k, LIST_CODE[list], key);
      if (item !== undefined && this.#lineage.itemAsOf(item, upTo) !== undefined) return item.n;
    }
    return undefined;
  }

  /** A row has the events of a block. */
  #streamEvent(draft: SimulationDraft, block: number, seq: number, change: Change<'stream-event'>): void {
    const place = `[${seq},${change.event}]`;
    const open = draft.events;
    if (open?.block === block) {
      open.row.places = joined(open.row.places, place);
      open.row.seq = seq;
      return;
    }
    const row = { simulation: draft.row.key, seq, places: place };
    this.#streamEvents.push(row);
    draft.events = { block, row };
  }

  /** Writes the collected changes: the last part of a transaction. */
  write(): void {
    for (const { changedOwners, portfolios, orders, row } of this.#changed) {
      this.#writeOwners(changedOwners);
      this.#writePortfolios([...portfolios.values()]);
      this.#writeOrders([...orders.values()].sort((a, b) => a.row.number - b.row.number));
      this.#run(
        'INSERT OR REPLACE INTO simulation (key, seq, orders, last_order, parent, begins, inherited) VALUES (?, ?, ?, ?, ?, ?, ?)',
        row.key,
        row.seq,
        row.orders,
        row.last_order,
        row.parent,
        row.begins,
        row.inherited,
      );
    }
    this.#clientOrders.sort((a, b) => a.owner - b.owner || (a.id < b.id ? -1 : 1));
    this.#insertClientOrders.run(this.#clientOrders);
    this.#orderEvents.sort((a, b) => a.simulation - b.simulation || a.number - b.number || a.n - b.n);
    this.#insertOrderEvents.run(this.#orderEvents.map(closed));
    this.#streamEvents.sort((a, b) => a.simulation - b.simulation || a.seq - b.seq);
    this.#insertStreamEvents.run(this.#streamEvents.map(closed));
    this.#items.sort((a, b) => a.owner - b.owner || a.list - b.list || a.n - b.n);
    this.#insertItems.run(this.#items.map(closed));
    this.#insertPastItems.run(this.#pastItems);
    for (const row of this.#replacedItems) {
      this.#run(
        'UPDATE item SET seq = ?, places = ? WHERE owner = ? AND list = ? AND n = ?',
        closed(row).seq,
        row.places,
        row.owner,
        row.list,
        row.n,
      );
    }
    this.#standings.write();
    this.#clear();
  }

  #writeOwners(drafts: readonly OwnerDraft[]): void {
    const added: OwnerRow[] = [];
    for (const { row, counts, isNew } of drafts) {
      row.counts = JSON.stringify(counts);
      if (isNew) added.push(row);
      else this.#run('UPDATE owner SET counts = ? WHERE k = ?', row.counts, row.k);
    }
    this.#insertOwners.run(added);
  }

  #writePortfolios(drafts: readonly PortfolioDraft[]): void {
    const added: PortfolioRow[] = [];
    for (const { row, isNew } of drafts) {
      if (isNew) added.push(row);
      else
        this.#run(
          'UPDATE portfolio SET last = ?, closed = ? WHERE simulation = ? AND id = ?',
          row.last,
          row.closed,
          row.simulation,
          row.id,
        );
    }
    this.#insertPortfolios.run(added);
  }

  #writeOrders(drafts: readonly OrderDraft[]): void {
    const added: StoredOrder[] = [];
    const moved: StoredOrder[] = [];
    for (const { row, progress, isNew } of drafts) {
      row.progress = JSON.stringify(progress);
      if (isNew) row.places = whole(row.places);
      (isNew ? added : moved).push(row);
    }
    this.#insertOrders.run(added);
    for (const { simulation, number, symbol, terms, status, filled_on, progress, changed, events } of moved)
      this.#run(
        'UPDATE orders SET symbol = ?, terms = ?, status = ?, filled_on = ?, progress = ?, changed = ?, events = ? WHERE simulation = ? AND number = ?',
        symbol,
        terms,
        status,
        filled_on,
        progress,
        changed,
        events,
        simulation,
        number,
      );
  }

  /** After a transaction that did not happen. */
  forget(): void {
    this.#nextOwner = undefined;
    this.#simulations.clear();
    this.#standings.forget();
    this.#clear();
  }

  #clear(): void {
    for (const draft of this.#changed) draft.written();
    this.#changed.clear();
    if (this.#remembered > MOST_REMEMBERED) this.#simulations.clear();
    if (this.#simulations.size === 0) this.#remembered = 0;
    this.#keyedItems.clear();
    this.#items = [];
    this.#pastItems = [];
    this.#orderEvents = [];
    this.#streamEvents = [];
    this.#clientOrders = [];
    this.#replacedItems = [];
  }

  #simulation(key: number): SimulationDraft {
    let draft = this.#simulations.get(key);
    if (draft === undefined) {
      const row = one<SimulationRow>(this.#statements.of('SELECT * FROM simulation WHERE key = ?'), key);
      draft = new SimulationDraft(
        row === undefined
          ? {
              key,
              seq: 0,
              orders: 0,
              last_order: 0,
              parent: null,
              begins: 0,
              inherited: 0,
            }
          : { ...row },
        this.#lineage.generations(key).slice(1),
      );
      this.#simulations.set(key, draft);
      this.#remembered += 1;
    }
    return draft;
  }

  #owner(simulation: SimulationDraft, kind: OwnerKind, id: string): OwnerDraft {
    const owners = simulation.owners[kind];
    let draft = owners.get(id);
    if (draft === undefined) {
      const found = one<OwnerRow>(
        this.#statements.of('SELECT * FROM owner WHERE simulation = ? AND id = ? AND kind = ?'),
        simulation.row.key,
        id,
        kind,
      );
      draft = found === undefined ? this.#newOwner(simulation, kind, id) : knownOwner(found);
      owners.set(id, draft);
      this.#remembered += 1;
    }
    return draft;
  }

  #newOwner({ row, changedOwners, ancestors }: SimulationDraft, kind: OwnerKind, id: string): OwnerDraft {
    const links = ancestors.length === 0 ? [] : this.#lineage.owners(ancestors, kind, id);
    const counts = links.length === 0 ? {} : this.#lineage.counts(links);
    this.#nextOwner ??=
      (one<{ k: number | null }>(this.#statements.of('SELECT max(k) AS k FROM owner'))?.k ?? 0) + 1;
    const k = this.#nextOwner;
    this.#nextOwner += 1;
    const added: OwnerDraft = {
      row: { k, simulation: row.key, kind, id, counts: '{}', base: JSON.stringify(counts) },
      counts: { ...counts },
      isNew: true,
      isChanged: true,
      open: {},
    };
    changedOwners.push(added);
    return added;
  }

  #order(simulation: SimulationDraft, number: number): OrderDraft {
    let draft = simulation.orders.get(number);
    if (draft === undefined) {
      const row = one<StoredOrder>(
        this.#statements.of('SELECT * FROM orders WHERE simulation = ? AND number = ?'),
        simulation.row.key,
        number,
      );
      draft =
        row === undefined
          ? this.#inheritedOrder(simulation, number)
          : {
              row: { ...row },
              terms: JSON.parse(row.terms) as OrderTerms,
              progress: JSON.parse(row.progress) as OrderProgress,
              isNew: false,
            };
      simulation.orders.set(number, draft);
    }
    return draft;
  }

  /** An order of a fork's ancestors at the fork, about to become the fork's own. */
  #inheritedOrder(simulation: SimulationDraft, number: number): OrderDraft {
    const found = this.#lineage.order(simulation.ancestors, number)?.row;
    if (found === undefined) throw new DamagedHistory(`The history has no order ${number}`);
    const terms = JSON.parse(found.terms) as OrderTerms;
    const { portfolioId, accountId } = terms;
    const ownerOf = (kind: OwnerKind, id: string): number => this.#owner(simulation, kind, id).row.k;
    return {
      row: {
        ...found,
        simulation: simulation.row.key,
        portfolio: ownerOf('portfolio', portfolioId),
        account: ownerOf('account', accountId),
      },
      terms,
      progress: JSON.parse(found.progress) as OrderProgress,
      isNew: true,
    };
  }

  #portfolio(draft: SimulationDraft, id: string): PortfolioDraft {
    let portfolio = draft.portfolios.get(id);
    if (portfolio === undefined) {
      const row = this.#portfolioRow(draft, id);
      const isNew = row.simulation !== draft.row.key;
      portfolio = { row: { ...row, simulation: draft.row.key }, isNew };
      draft.portfolios.set(id, portfolio);
    }
    return portfolio;
  }

  #portfolioRow({ row, ancestors }: SimulationDraft, id: string): PortfolioRow {
    const found = this.#lineage.portfolio([{ simulation: row.key, upTo: Infinity }, ...ancestors], id);
    if (found === undefined) throw new DamagedHistory(`The history has no portfolio ${id}`);
    return found;
  }

  #run(sql: string, ...values: readonly (string | number | null)[]): void {
    this.#statements.of(sql).run(...values);
  }
}

function knownOwner(row: OwnerRow): OwnerDraft {
  const counts = JSON.parse(row.counts) as Counts;
  return { row: { ...row }, counts, isNew: false, isChanged: false, open: {} };
}

function placeText({ event, item, tag }: Change<'listed'>): string {
  return tag === undefined ? `[${event},${item}]` : `[${event},${item},${JSON.stringify(tag)}]`;
}

/** A row of places that is still being written. */
interface OpenRow {
  n: number;
  places: string;
}

const joined = (places: string, place: string): string => (places === '' ? place : `${places},${place}`);

function addPlace(open: OpenRow, n: number, place: string): void {
  open.n = n;
  open.places = joined(open.places, place);
}

/** Places are collected as the inside of an array. */
function closed<Row extends Pick<OpenRow, 'places'>>(row: Row): Row {
  row.places = whole(row.places);
  return row;
}

/** Places as a row has them, which they may be already. */
const whole = (places: string): string =>
  places === '[]' || places.startsWith('[[') ? places : `[${places}]`;
