import { isTerminal } from '@sandpit/core';
import type { OrderProgress, OrderSnapshot, OrderTerms } from '@sandpit/core';
import { LRUCache } from 'lru-cache';
import type { HistoryChange, Owner } from '../history.js';
import type { Known } from '../projection.js';
import { one } from './connection.js';
import type { Database, SqlValue, Statement } from './connection.js';
import { LONGEST_RUN, runEntry } from './runs.js';

type Change<Name extends HistoryChange['change']> = Extract<HistoryChange, { change: Name }>;

/** Lists of one owner, each with its own ordinals. Orders are listed twice; a tenant's orders have no ordinals. */
export const PORTFOLIO_ORDERS = 'portfolio-orders';
export const ACCOUNT_ORDERS = 'account-orders';
export const TENANT_ORDERS = 'tenant-orders';
export const TENANT_EVENTS = 'tenant-events';

/** Account ids are unique within a tenant only. */
export function accountOwner(tenantId: string, accountId: string): string {
  return `${tenantId}/${accountId}`;
}

/** The end of a list, and the items that this commit adds to it. */
interface ListEnd {
  readonly key: number;
  last: number;
  run: string;
  runLength: number;
}

/** An order that is at hand, with the list of its events. */
interface KnownOrder {
  readonly k: number;
  readonly terms: OrderTerms;
  progress: OrderProgress;
  readonly events: ListEnd;
}

/** An order that this commit adds or moves: several moves become one statement. */
interface OrderDraft {
  readonly order: KnownOrder;
  /** Of an order that is new. */
  readonly place:
    | {
        readonly simulation: number;
        readonly portfolio: number;
        readonly portfolioN: number;
        readonly account: number;
        readonly accountN: number;
        readonly tenant: number;
      }
    | undefined;
  filledOn: string | null;
}

const LISTS_KEPT = 50_000;
/** Open ones: nothing happens to the others any more. */
const ORDERS_KEPT = 50_000;
const OWNERS_KEPT = 50_000;

/** Changes that a commit may hold back before it writes them; well below what the caches keep. */
const MOST_CHANGES_HELD = 8_192;

/** Writes the history tables. Used by the writer only, inside its commits. */
export class HistoryTables {
  readonly #lists = new LRUCache<string, ListEnd>({ max: LISTS_KEPT });
  readonly #orders = new LRUCache<string, KnownOrder>({ max: ORDERS_KEPT });
  readonly #owners = new LRUCache<string, Owner>({ max: OWNERS_KEPT });
  readonly #drafts = new Map<string, OrderDraft>();
  readonly #openItems = new Set<ListEnd>();
  readonly #openOrderEvents = new Set<ListEnd>();
  readonly #openTenantEvents = new Map<
    ListEnd,
    { run: string; length: number; seq: number; event: number }
  >();
  #held = 0;
  #nextOrder: number | undefined;

  readonly #findOwner: Statement;
  readonly #addPortfolio: Statement;
  readonly #findList: Statement;
  readonly #addList: Statement;
  readonly #lastOfPortfolio: Statement;
  readonly #lastOfAccount: Statement;
  readonly #lastItem: Statement;
  readonly #lastOrderEvent: Statement;
  readonly #lastOrder: Statement;
  readonly #findOrder: Statement;
  readonly #addOrder: Statement;
  readonly #moveOrder: Statement;
  readonly #addItems: Statement;
  readonly #findKey: Statement;
  readonly #addKey: Statement;
  readonly #replaceItem: Statement;
  readonly #addOrderEvents: Statement;
  readonly #addTenantEvents: Statement;
  readonly #closePortfolio: Statement;

  constructor(database: Database) {
    const prepare = (sql: string): Statement => database.prepare(sql);
    this.#findOwner = prepare(
      'SELECT tenant AS tenantId, account AS accountId FROM portfolio WHERE simulation = ? AND id = ?',
    );
    this.#addPortfolio = prepare(
      'INSERT INTO portfolio (simulation, id, tenant, account, terms) VALUES (?, ?, ?, ?, ?)',
    );
    this.#findList = prepare('SELECT key FROM list WHERE simulation = ? AND owner = ? AND kind = ?');
    this.#addList = prepare('INSERT INTO list (simulation, owner, kind) VALUES (?, ?, ?)');
    this.#lastOfPortfolio = prepare('SELECT max(portfolio_n) AS n FROM orders WHERE portfolio = ?');
    this.#lastOfAccount = prepare('SELECT max(account_n) AS n FROM orders WHERE account = ?');
    this.#lastItem = prepare('SELECT max(n) AS n FROM item WHERE list = ?');
    this.#lastOrderEvent = prepare('SELECT max(n) AS n FROM order_event WHERE order_k = ?');
    this.#lastOrder = prepare('SELECT max(k) AS n FROM orders');
    this.#findOrder = prepare('SELECT k, terms, progress FROM orders WHERE simulation = ? AND number = ?');
    this.#addOrder = prepare(
      `INSERT INTO orders (k, simulation, number, portfolio, portfolio_n, account, account_n, tenant, symbol, asset_class,
         created_at, status, filled_on, client_order_id, terms, progress)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#moveOrder = prepare(
      'UPDATE orders SET status = ?, filled_on = coalesce(?, filled_on), progress = ? WHERE k = ?',
    );
    this.#addItems = prepare('INSERT INTO item (list, n, run) VALUES (?, ?, ?)');
    this.#findKey = prepare('SELECT n FROM item_key WHERE list = ? AND key = ?');
    this.#addKey = prepare('INSERT INTO item_key (list, key, n) VALUES (?, ?, ?)');
    this.#replaceItem = prepare('UPDATE item SET run = ? WHERE list = ? AND n = ?');
    this.#addOrderEvents = prepare('INSERT INTO order_event (order_k, n, run) VALUES (?, ?, ?)');
    this.#addTenantEvents = prepare('INSERT INTO tenant_event (list, seq, event, run) VALUES (?, ?, ?, ?)');
    this.#closePortfolio = prepare('UPDATE portfolio SET last = ? WHERE simulation = ? AND id = ?');
  }

  /** What a projection may ask before its changes are applied. */
  known(simulation: number): Known {
    return {
      order: (order): OrderSnapshot => this.#order(simulation, order),
      owner: (portfolioId) => this.#owner(simulation, portfolioId),
    };
  }

  apply(simulation: number, seq: number, changes: readonly HistoryChange[]): void {
    for (const change of changes) {
      switch (change.change) {
        case 'portfolio-opened':
          this.#portfolioOpened(simulation, change);
          break;
        case 'order-added':
          this.#orderAdded(simulation, change);
          break;
        case 'order-moved':
          this.#orderMoved(simulation, change);
          break;
        case 'listed':
          this.#listed(simulation, seq, change);
          break;
        case 'portfolio-closed':
          this.#portfolioClosed(simulation, change.portfolioId, change.last);
          break;
        case 'tenant-event':
          this.#tenantEvent(simulation, change.tenantId, seq, change.event);
          break;
      }
    }
    this.#held += changes.length;
    if (this.#held >= MOST_CHANGES_HELD) this.flush();
  }

  #portfolioOpened(simulation: number, opened: Change<'portfolio-opened'>): void {
    const { portfolioId, tenantId, accountId, terms } = opened;
    this.#addPortfolio.run(simulation, portfolioId, tenantId, accountId, terms);
  }

  #orderAdded(simulation: number, { terms, filledOn, progress }: Change<'order-added'>): void {
    const { number, tenantId, accountId, portfolioId } = terms;
    const portfolio = this.#list(simulation, PORTFOLIO_ORDERS, portfolioId);
    const account = this.#list(simulation, ACCOUNT_ORDERS, accountOwner(tenantId, accountId));
    const tenant = this.#list(simulation, TENANT_ORDERS, tenantId);
    this.#nextOrder ??= lastOf(this.#lastOrder) + 1;
    const k = this.#nextOrder;
    this.#nextOrder += 1;
    portfolio.last += 1;
    account.last += 1;
    const name = `${simulation} ${number}`;
    const order = { k, terms, progress, events: { key: k, last: 0, run: '', runLength: 0 } };
    this.#orders.set(name, order);
    this.#drafts.set(name, {
      order,
      place: {
        simulation,
        portfolio: portfolio.key,
        portfolioN: portfolio.last,
        account: account.key,
        accountN: account.last,
        tenant: tenant.key,
      },
      filledOn: filledOn ?? null,
    });
  }

  #orderMoved(simulation: number, move: Change<'order-moved'>): void {
    const name = `${simulation} ${move.order}`;
    const draft = this.#drafts.get(name) ?? {
      order: this.#order(simulation, move.order),
      place: undefined,
      filledOn: null,
    };
    this.#drafts.set(name, draft);
    draft.order.progress = move.progress;
    draft.filledOn = move.filledOn ?? draft.filledOn;
  }

  #listed(simulation: number, seq: number, change: Change<'listed'>): void {
    const isOfOrder = change.list === 'order-events';
    const end = isOfOrder
      ? this.#order(simulation, Number(change.owner)).events
      : this.#list(simulation, change.list, change.owner);
    const entry = runEntry(seq, change.event, change.item, change.tag);
    if (change.key !== undefined) {
      if (isOfOrder) throw new Error('Events of orders have no keys');
      this.#listedByKey(end, change.key, entry);
      return;
    }
    end.run = end.runLength === 0 ? entry : `${end.run},${entry}`;
    end.runLength += 1;
    end.last += 1;
    (isOfOrder ? this.#openOrderEvents : this.#openItems).add(end);
    if (end.runLength === LONGEST_RUN) writeRun(isOfOrder ? this.#addOrderEvents : this.#addItems, end);
  }

  /** Written at once: these are few, and the item to replace must be in its table. */
  #listedByKey(end: ListEnd, key: string, entry: string): void {
    const place = one<{ n: number }>(this.#findKey, end.key, key)?.n;
    if (place !== undefined) {
      this.#replaceItem.run(entry, end.key, place);
      return;
    }
    writeRun(this.#addItems, end);
    end.last += 1;
    this.#addItems.run(end.key, end.last, entry);
    this.#addKey.run(end.key, key, end.last);
  }

  #portfolioClosed(simulation: number, portfolioId: string, last: string): void {
    const { changes } = this.#closePortfolio.run(last, simulation, portfolioId);
    if (changes === 0) throw new Error(`The history has no portfolio ${portfolioId}`);
  }

  #tenantEvent(simulation: number, tenantId: string, seq: number, event: number): void {
    const list = this.#list(simulation, TENANT_EVENTS, tenantId);
    const open = this.#openTenantEvents.get(list);
    if (open === undefined) {
      this.#openTenantEvents.set(list, { run: `${seq},${event}`, length: 1, seq, event });
      return;
    }
    if (open.length === LONGEST_RUN) {
      this.#addTenantEvents.run(list.key, open.seq, open.event, open.run);
      open.run = '';
      open.length = 0;
    }
    open.run = open.length === 0 ? `${seq},${event}` : `${open.run},${seq},${event}`;
    open.length += 1;
    open.seq = seq;
    open.event = event;
  }

  /** Writes what was held back: the last part of a commit. */
  flush(): void {
    for (const [name, draft] of this.#drafts) {
      this.#writeOrder(draft);
      if (isTerminal(draft.order.progress.status)) this.#orders.delete(name);
    }
    for (const end of this.#openItems) writeRun(this.#addItems, end);
    for (const end of this.#openOrderEvents) writeRun(this.#addOrderEvents, end);
    for (const [list, open] of this.#openTenantEvents)
      this.#addTenantEvents.run(list.key, open.seq, open.event, open.run);
    this.#clearHeld();
  }

  #writeOrder({ order, place, filledOn }: OrderDraft): void {
    const { k, terms, progress } = order;
    const { number } = terms;
    const { status } = progress;
    const text = JSON.stringify(progress);
    if (place === undefined) {
      this.#moveOrder.run(status, filledOn, text, k);
      return;
    }
    this.#addOrder.run(
      k,
      place.simulation,
      number,
      place.portfolio,
      place.portfolioN,
      place.account,
      place.accountN,
      place.tenant,
      terms.symbol,
      terms.assetClass,
      terms.createdAt,
      status,
      filledOn,
      terms.clientOrderId ?? null,
      JSON.stringify(terms),
      text,
    );
  }

  /** After a commit that did not happen: what the caches say may be ahead of the tables. */
  forget(): void {
    this.#clearHeld();
    this.#lists.clear();
    this.#orders.clear();
    this.#owners.clear();
    this.#nextOrder = undefined;
  }

  #clearHeld(): void {
    this.#drafts.clear();
    this.#openItems.clear();
    this.#openOrderEvents.clear();
    this.#openTenantEvents.clear();
    this.#held = 0;
  }

  #list(simulation: number, kind: string, owner: string): ListEnd {
    const name = `${simulation} ${kind} ${owner}`;
    let end = this.#lists.get(name);
    if (end === undefined) {
      end = this.#loadList(simulation, kind, owner);
      this.#lists.set(name, end);
    }
    return end;
  }

  #loadList(simulation: number, kind: string, owner: string): ListEnd {
    const found = one<{ key: number }>(this.#findList, simulation, owner, kind);
    if (found === undefined) {
      const { lastInsertRowid } = this.#addList.run(simulation, owner, kind);
      return { key: Number(lastInsertRowid), last: 0, run: '', runLength: 0 };
    }
    return { key: found.key, last: this.#lastOfList(kind, found.key), run: '', runLength: 0 };
  }

  #lastOfList(kind: string, key: number): number {
    switch (kind) {
      case PORTFOLIO_ORDERS:
        return lastOf(this.#lastOfPortfolio, key);
      case ACCOUNT_ORDERS:
        return lastOf(this.#lastOfAccount, key);
      case TENANT_ORDERS:
      case TENANT_EVENTS:
        return 0;
      default:
        return lastOf(this.#lastItem, key);
    }
  }

  #order(simulation: number, number: number): KnownOrder {
    const name = `${simulation} ${number}`;
    let order = this.#drafts.get(name)?.order ?? this.#orders.get(name);
    if (order === undefined) {
      order = this.#loadOrder(simulation, number);
      this.#orders.set(name, order);
    }
    return order;
  }

  #loadOrder(simulation: number, number: number): KnownOrder {
    const row = one<{ k: number; terms: string; progress: string }>(this.#findOrder, simulation, number);
    if (row === undefined) throw new Error(`The history has no order ${number}`);
    const { k } = row;
    return {
      k,
      terms: JSON.parse(row.terms) as OrderTerms,
      progress: JSON.parse(row.progress) as OrderProgress,
      events: { key: k, last: lastOf(this.#lastOrderEvent, k), run: '', runLength: 0 },
    };
  }

  #owner(simulation: number, portfolioId: string): Owner {
    const name = `${simulation} ${portfolioId}`;
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = one<{ tenantId: string; accountId: string }>(this.#findOwner, simulation, portfolioId);
      if (owner === undefined) throw new Error(`The history has no portfolio ${portfolioId}`);
      this.#owners.set(name, owner);
    }
    return owner;
  }
}

function lastOf(statement: Statement, ...values: readonly SqlValue[]): number {
  return one<{ n: number | null }>(statement, ...values)?.n ?? 0;
}

function writeRun(statement: Statement, end: ListEnd): void {
  if (end.runLength === 0) return;
  statement.run(end.key, end.last, end.run);
  end.run = '';
  end.runLength = 0;
}
