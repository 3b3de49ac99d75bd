import { LRUCache } from 'lru-cache';
import type { HistoryChange } from '../history.js';
import { one } from './connection.js';
import type { Database, SqlValue, Statement } from './connection.js';
import { storedId } from './identifier.js';
import { LONGEST_RUN, runEntry } from './runs.js';

type OrderAdded = Extract<HistoryChange, { change: 'order-added' }>;
type OrderMoved = Extract<HistoryChange, { change: 'order-moved' }>;

/** Lists of one owner, each with its own ordinals. Orders are listed twice; a tenant's orders have no ordinals. */
export const PORTFOLIO_ORDERS = 'portfolio-orders';
export const ACCOUNT_ORDERS = 'account-orders';
export const TENANT_ORDERS = 'tenant-orders';
export const ORDER_EVENTS = 'order-events';

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

/** An order as this commit leaves it: several moves become one statement. */
interface OrderDraft {
  readonly k: number;
  readonly added:
    | {
        readonly simulation: number;
        readonly order: OrderAdded;
        readonly portfolio: number;
        readonly portfolioN: number;
        readonly account: number;
        readonly accountN: number;
        readonly tenant: number;
      }
    | undefined;
  status: string;
  filledOn: string | null;
  progress: string;
}

const LISTS_KEPT = 50_000;
const ORDERS_KEPT = 50_000;

/** Changes that a commit may hold back before it writes them; well below what the caches keep. */
const MOST_CHANGES_HELD = 8_192;

/** Writes the history tables. Used by the writer only, inside its commits. */
export class HistoryTables {
  readonly #lists = new LRUCache<string, ListEnd>({ max: LISTS_KEPT });
  readonly #orderKeys = new LRUCache<string, number>({ max: ORDERS_KEPT });
  readonly #executions = new LRUCache<number, ListEnd>({ max: ORDERS_KEPT });
  readonly #drafts = new Map<string, OrderDraft>();
  readonly #openItems = new Set<ListEnd>();
  readonly #openExecutions = new Set<ListEnd>();
  readonly #openEvents = new Map<ListEnd, { run: string; length: number; seq: number; event: number }>();
  #held = 0;
  #nextOrder: number | undefined;

  readonly #findList: Statement;
  readonly #addList: Statement;
  readonly #lastOfPortfolio: Statement;
  readonly #lastOfAccount: Statement;
  readonly #lastItem: Statement;
  readonly #lastExecution: Statement;
  readonly #lastOrder: Statement;
  readonly #findOrder: Statement;
  readonly #addOrder: Statement;
  readonly #moveOrder: Statement;
  readonly #addItems: Statement;
  readonly #findKey: Statement;
  readonly #addKey: Statement;
  readonly #replaceItem: Statement;
  readonly #addExecutions: Statement;
  readonly #addEvents: Statement;
  readonly #openPortfolio: Statement;
  readonly #closePortfolio: Statement;

  constructor(database: Database) {
    const prepare = (sql: string): Statement => database.prepare(sql);
    this.#findList = prepare('SELECT key FROM list WHERE simulation = ? AND owner = ? AND kind = ?');
    this.#addList = prepare('INSERT INTO list (simulation, owner, kind) VALUES (?, ?, ?)');
    this.#lastOfPortfolio = prepare('SELECT max(portfolio_n) AS n FROM orders WHERE portfolio = ?');
    this.#lastOfAccount = prepare('SELECT max(account_n) AS n FROM orders WHERE account = ?');
    this.#lastItem = prepare('SELECT max(n) AS n FROM item WHERE list = ?');
    this.#lastExecution = prepare('SELECT max(n) AS n FROM execution WHERE order_k = ?');
    this.#lastOrder = prepare('SELECT max(k) AS n FROM orders');
    this.#findOrder = prepare('SELECT k FROM orders WHERE simulation = ? AND id = ?');
    this.#addOrder = prepare(
      `INSERT INTO orders (k, simulation, id, portfolio, portfolio_n, account, account_n, tenant, symbol, asset_class,
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
    this.#addExecutions = prepare('INSERT INTO execution (order_k, n, run) VALUES (?, ?, ?)');
    this.#addEvents = prepare('INSERT INTO order_event (list, seq, event, run) VALUES (?, ?, ?, ?)');
    this.#openPortfolio = prepare(
      'INSERT INTO portfolio (simulation, id, tenant, terms) VALUES (?, ?, ?, ?)',
    );
    this.#closePortfolio = prepare('UPDATE portfolio SET last = ? WHERE simulation = ? AND id = ?');
  }

  apply(simulation: number, seq: number, changes: readonly HistoryChange[]): void {
    for (const change of changes) {
      switch (change.change) {
        case 'order-added':
          this.#orderAdded(simulation, change);
          break;
        case 'order-moved':
          this.#orderMoved(simulation, change);
          break;
        case 'listed':
          this.#listed(simulation, seq, change);
          break;
        case 'portfolio-opened':
          this.#openPortfolio.run(simulation, storedId(change.portfolioId), change.tenantId, change.terms);
          break;
        case 'portfolio-closed':
          this.#portfolioClosed(simulation, change.portfolioId, change.last);
          break;
        case 'order-event':
          this.#orderEvent(simulation, change.tenantId, seq, change.event);
          break;
      }
    }
    this.#held += changes.length;
    if (this.#held >= MOST_CHANGES_HELD) this.flush();
  }

  #orderAdded(simulation: number, order: OrderAdded): void {
    const portfolio = this.#list(simulation, PORTFOLIO_ORDERS, order.portfolioId);
    const account = this.#list(simulation, ACCOUNT_ORDERS, accountOwner(order.tenantId, order.accountId));
    const tenant = this.#list(simulation, TENANT_ORDERS, order.tenantId);
    this.#nextOrder ??= lastOf(this.#lastOrder) + 1;
    const k = this.#nextOrder;
    this.#nextOrder += 1;
    portfolio.last += 1;
    account.last += 1;
    const key = `${simulation} ${order.orderId}`;
    this.#orderKeys.set(key, k);
    this.#executions.set(k, { key: k, last: 0, run: '', runLength: 0 });
    this.#drafts.set(key, {
      k,
      added: {
        simulation,
        order,
        portfolio: portfolio.key,
        portfolioN: portfolio.last,
        account: account.key,
        accountN: account.last,
        tenant: tenant.key,
      },
      status: order.status,
      filledOn: order.filledOn ?? null,
      progress: order.progress,
    });
  }

  #orderMoved(simulation: number, move: OrderMoved): void {
    const key = `${simulation} ${move.orderId}`;
    const draft = this.#drafts.get(key);
    if (draft === undefined) {
      const k = this.#orderKey(simulation, move.orderId);
      this.#drafts.set(key, {
        k,
        added: undefined,
        status: move.status,
        filledOn: move.filledOn ?? null,
        progress: move.progress,
      });
      return;
    }
    draft.status = move.status;
    draft.filledOn = move.filledOn ?? draft.filledOn;
    draft.progress = move.progress;
  }

  #listed(simulation: number, seq: number, change: Extract<HistoryChange, { change: 'listed' }>): void {
    const isExecution = change.list === 'executions';
    const end = isExecution
      ? this.#executionsOf(this.#orderKey(simulation, change.owner))
      : this.#list(simulation, change.list, change.owner);
    const entry = runEntry(seq, change.event, change.item, change.tag);
    if (change.key !== undefined) {
      if (isExecution) throw new Error('Executions have no keys');
      this.#listedByKey(end, change.key, entry);
      return;
    }
    end.run = end.runLength === 0 ? entry : `${end.run},${entry}`;
    end.runLength += 1;
    end.last += 1;
    (isExecution ? this.#openExecutions : this.#openItems).add(end);
    if (end.runLength === LONGEST_RUN) writeRun(isExecution ? this.#addExecutions : this.#addItems, end);
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
    const { changes } = this.#closePortfolio.run(last, simulation, storedId(portfolioId));
    if (changes === 0) throw new Error(`The history has no portfolio ${portfolioId}`);
  }

  #orderEvent(simulation: number, tenantId: string, seq: number, event: number): void {
    const list = this.#list(simulation, ORDER_EVENTS, tenantId);
    const open = this.#openEvents.get(list);
    if (open === undefined) {
      this.#openEvents.set(list, { run: `${seq},${event}`, length: 1, seq, event });
      return;
    }
    if (open.length === LONGEST_RUN) {
      this.#addEvents.run(list.key, open.seq, open.event, open.run);
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
    for (const draft of this.#drafts.values()) this.#writeOrder(draft);
    for (const end of this.#openItems) writeRun(this.#addItems, end);
    for (const end of this.#openExecutions) writeRun(this.#addExecutions, end);
    for (const [list, open] of this.#openEvents)
      this.#addEvents.run(list.key, open.seq, open.event, open.run);
    this.#clearHeld();
  }

  #writeOrder(draft: OrderDraft): void {
    if (draft.added === undefined) {
      this.#moveOrder.run(draft.status, draft.filledOn, draft.progress, draft.k);
      return;
    }
    const { order, portfolio, portfolioN, account, accountN, tenant } = draft.added;
    this.#addOrder.run(
      draft.k,
      draft.added.simulation,
      storedId(order.orderId),
      portfolio,
      portfolioN,
      account,
      accountN,
      tenant,
      order.symbol,
      order.assetClass,
      order.createdAt,
      draft.status,
      draft.filledOn,
      order.clientOrderId ?? null,
      order.terms,
      draft.progress,
    );
  }

  /** After a commit that did not happen: what the caches say may be ahead of the tables. */
  forget(): void {
    this.#clearHeld();
    this.#lists.clear();
    this.#orderKeys.clear();
    this.#executions.clear();
    this.#nextOrder = undefined;
  }

  #clearHeld(): void {
    this.#drafts.clear();
    this.#openItems.clear();
    this.#openExecutions.clear();
    this.#openEvents.clear();
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
      case ORDER_EVENTS:
        return 0;
      default:
        return lastOf(this.#lastItem, key);
    }
  }

  #executionsOf(k: number): ListEnd {
    let end = this.#executions.get(k);
    if (end === undefined) {
      end = { key: k, last: lastOf(this.#lastExecution, k), run: '', runLength: 0 };
      this.#executions.set(k, end);
    }
    return end;
  }

  #orderKey(simulation: number, orderId: string): number {
    const key = `${simulation} ${orderId}`;
    let k = this.#orderKeys.get(key);
    if (k === undefined) {
      k = one<{ k: number }>(this.#findOrder, simulation, storedId(orderId))?.k;
      if (k === undefined) throw new Error(`The history has no order ${orderId}`);
      this.#orderKeys.set(key, k);
    }
    return k;
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
