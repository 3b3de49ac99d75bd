import type { Event, Ids, OrderEvent } from '@sandpit/core';
import type { RawRecord } from './data-directory.js';

/** A ledger entry as the API should show it: postings in 10^-4 dollars. */
export interface BookEntry {
  readonly entryId: string;
  readonly type: string;
  /** `ACCOUNT amount`, in the order of the accounts' names. */
  readonly postings: readonly string[];
}

/** An execution as the API should show it. Price 10^-8 dollars, quantity 10^-6, charges 10^-4 dollars. */
export interface BookExecution {
  readonly executionId: string;
  readonly quantity: number;
  readonly price: number;
  readonly commission: number;
  readonly fees: readonly { readonly name: string; readonly amount: number }[];
}

export interface BookOrder {
  readonly orderId: string;
  readonly executions: BookExecution[];
  /** 10^-6. */
  quantity: number;
  filled: number;
  /** Once it is over. */
  ended?: 'FILLED' | 'CANCELED' | 'REJECTED';
  readonly buys: boolean;
  readonly symbol: string;
  readonly portfolioId: string;
}

export interface BookPortfolio {
  readonly portfolioId: string;
  isClosed: boolean;
  /** Oldest first. */
  readonly ledger: BookEntry[];
  /** `id category`, oldest first. */
  readonly activities: string[];
  readonly orders: BookOrder[];
  /** Settled and pending cash together, 10^-4 dollars. */
  cash: bigint;
  /** By symbol, 10^-6; none of nothing. */
  readonly held: Map<string, number>;
}

/** Steps of an order that its owner is not told of in the activities. */
const SILENT = new Set(['RESERVING', 'ACTIVATED', 'STARTED', 'RESIZED', 'CANCELING', 'RESERVED', 'TRAILED']);
const ENTRY_IS_ACTIVITY: Readonly<Record<string, string>> = {
  INITIAL_CASH: 'CASH',
  TRANSFER: 'CASH',
  WITHDRAWAL: 'CASH',
  PROMOTIONAL_CASH: 'CASH',
  CASH_IN_LIEU: 'CORPORATE_ACTION',
};
/** Numbers of entries that one execution has for itself. */
const ENTRIES_PER_EXECUTION = 16;

/**
 * Expected contents of the API's lists, read from a journal a second time: with integer arithmetic of its own, without rounding, and
 * without the code that makes the rows of the server's history.
 */
export class Books {
  readonly portfolios = new Map<string, BookPortfolio>();
  /** Names by account; undefined = none. */
  readonly accounts = new Map<string, string | undefined>();
  /** Sequence of the last record read. */
  seq = 0;
  private readonly ids: Ids;
  private readonly orders = new Map<number, BookOrder>();

  constructor(ids: Ids) {
    this.ids = ids;
  }

  read(records: Iterable<RawRecord>): void {
    for (const { seq, events } of records) {
      events.forEach((event, index) => this.see(event, `${seq}-${index}`));
      this.seq = seq;
    }
  }

  private see(event: Event, place: string): void {
    switch (event.type) {
      case 'OrderAccepted':
      case 'OrderRejected':
      case 'OrderMoved':
      case 'OrderExecuted':
        return this.seeOrder(event, place);
      case 'AccountOpened':
        this.accounts.set(event.accountId, event.details.name);
        return;
      case 'AccountUpdated':
        if (event.names.name !== undefined) this.accounts.set(event.accountId, event.names.name);
        return;
      case 'AccountDeleted':
        this.accounts.delete(event.accountId);
        return;
      case 'PortfolioOpened': {
        const { portfolioId } = event.terms;
        const lists = { ledger: [], activities: [], orders: [], held: new Map<string, number>() };
        this.portfolios.set(portfolioId, { portfolioId, isClosed: false, cash: 0n, ...lists });
        return this.tell(portfolioId, place, 'SYSTEM');
      }
      case 'LedgerPosted': {
        const portfolio = this.of(event.portfolioId);
        event.entries.forEach(({ number, type, postings }, item) => {
          this.post(portfolio, this.ids.idOf('ENTRY', number), type, postings);
          const category = ENTRY_IS_ACTIVITY[type];
          if (category !== undefined) portfolio.activities.push(`${place}-${item} ${category}`);
        });
        return;
      }
      case 'PositionsImported': {
        const portfolio = this.of(event.portfolioId);
        for (const { number, type, postings } of event.entries)
          this.post(portfolio, this.ids.idOf('ENTRY', number), type, postings);
        if (event.cash !== 0) portfolio.activities.push(`${place}-0 CASH`);
        event.positions.forEach(({ symbol, lots }, index) => {
          portfolio.activities.push(`${place}-${index + 1} SYSTEM`);
          const held = lots.reduce((sum, { quantity }) => sum + quantity, 0);
          portfolio.held.set(symbol, (portfolio.held.get(symbol) ?? 0) + held);
        });
        return;
      }
      case 'ObligationSettled': {
        const portfolio = this.of(event.portfolioId);
        const { entry } = event;
        const cash: number = event.cash;
        if (entry !== undefined)
          this.post(portfolio, this.ids.idOf('ENTRY', entry), 'SETTLEMENT', [
            { account: 'PENDING_CASH', amount: -cash },
            { account: 'SETTLED_CASH', amount: cash },
          ]);
        return this.tell(event.portfolioId, place, 'SETTLEMENT');
      }
      case 'PortfolioChanged':
        return this.tell(event.portfolioId, place, event.change === 'MARGIN' ? 'MARGIN' : 'SYSTEM');
      case 'PortfolioClosed':
        this.of(event.portfolioId).isClosed = true;
        return this.tell(event.portfolioId, place, 'SYSTEM');
      case 'PortfolioReset':
        this.of(event.portfolioId).held.clear();
        return this.tell(event.portfolioId, place, 'SYSTEM');
      case 'PositionSplit':
        this.hold(this.of(event.portfolioId), event.symbol, event.settled + event.pending);
        return this.tell(event.portfolioId, place, 'CORPORATE_ACTION');
      case 'DividendAccrued':
        return this.tell(event.portfolioId, place, 'CORPORATE_ACTION');
      default:
        return;
    }
  }

  private seeOrder(event: OrderEvent, place: string): void {
    if (event.type === 'OrderAccepted' || event.type === 'OrderRejected') {
      const { symbol, portfolioId, quantity, positionIntent } = event.request;
      const order: BookOrder = {
        orderId: this.ids.idOf('ORDER', event.number),
        executions: [],
        quantity,
        filled: 0,
        buys: positionIntent.startsWith('BUY'),
        symbol,
        portfolioId,
      };
      if (this.orders.has(event.number)) throw new Error(`the journal has order ${event.number} twice`);
      if (event.type === 'OrderRejected') order.ended = 'REJECTED';
      this.orders.set(event.number, order);
      this.of(portfolioId).orders.push(order);
      return this.tell(portfolioId, place, 'ORDER');
    }
    const order = this.orders.get(event.order);
    if (order === undefined) throw new Error(`the journal moves order ${event.order} before it is there`);
    if (event.type === 'OrderMoved') {
      const { transition, changes = {} } = event;
      order.quantity = changes.quantity ?? order.quantity;
      if (transition === 'ADJUSTED') order.filled = changes.filledQuantity ?? order.filled;
      if (transition === 'CANCELED' || transition === 'EXPIRED') order.ended = 'CANCELED';
      if (transition === 'REJECTED') order.ended = 'REJECTED';
      if (!SILENT.has(transition)) this.tell(order.portfolioId, place, 'ORDER');
      return;
    }
    event.executions.forEach((execution, item) => {
      this.execute(order, event.order, execution);
      this.tell(order.portfolioId, place, 'EXECUTION', item);
    });
    if (order.filled === order.quantity) order.ended = 'FILLED';
  }

  private execute(
    order: BookOrder,
    orderNumber: number,
    { number, quantity, price, value, cash = value, commission = 0, fees = [], closed }: Executed,
  ): void {
    const portfolio = this.of(order.portfolioId);
    const way = order.buys ? 1 : -1;
    order.filled += quantity;
    this.hold(portfolio, order.symbol, (portfolio.held.get(order.symbol) ?? 0) + way * quantity);
    const executionId = this.ids.idOf('EXECUTION', number);
    order.executions.push({ executionId, quantity, price, commission, fees });
    // The exact value, which the recorded one may miss by rounding: less than one unit.
    const exact = Number((BigInt(price) * BigInt(quantity)) / 10n ** 10n);
    if (Math.abs(exact - value) > 1)
      throw new Error(`execution ${number} of order ${orderNumber} is worth ${exact}, recorded as ${value}`);
    const cost = closed === undefined ? value : closed.reduce((sum, lot) => sum + lot.cost, 0);
    const account = order.buys ? 'SETTLED_CASH' : 'PENDING_CASH';
    let entry = number * ENTRIES_PER_EXECUTION;
    this.post(portfolio, this.ids.idOf('TRADE_ENTRY', entry), 'TRADE', [
      { account, amount: -way * cash },
      { account: 'SECURITIES', amount: way * cost },
      { account: 'REALIZED_PNL', amount: way * (value - cost) },
      { account: 'ROUNDING', amount: way * (cash - value) },
    ]);
    const charge = (type: string, to: string, amount: number): void => {
      if (amount <= 0) return;
      this.post(portfolio, this.ids.idOf('TRADE_ENTRY', ++entry), type, [
        { account, amount: -amount },
        { account: to, amount },
      ]);
    };
    charge('COMMISSION', 'COMMISSIONS', commission);
    for (const { amount } of fees) charge('FEE', 'FEES', amount);
  }

  private post(
    portfolio: BookPortfolio,
    entryId: string,
    type: string,
    postings: readonly { readonly account: string; readonly amount: number }[],
  ): void {
    const kept = postings.filter(({ amount }) => amount !== 0);
    if (kept.reduce((sum, { amount }) => sum + BigInt(amount), 0n) !== 0n)
      throw new Error(`entry ${entryId} does not balance`);
    for (const { account, amount } of kept)
      if (account === 'SETTLED_CASH' || account === 'PENDING_CASH') portfolio.cash += BigInt(amount);
    const texts = kept.map(({ account, amount }) => `${account} ${amount}`).sort();
    portfolio.ledger.push({ entryId, type, postings: texts });
  }

  private hold({ held }: BookPortfolio, symbol: string, quantity: number): void {
    if (quantity === 0) held.delete(symbol);
    else held.set(symbol, quantity);
  }

  private tell(portfolioId: string, place: string, category: string, item = 0): void {
    this.of(portfolioId).activities.push(`${place}-${item} ${category}`);
  }

  private of(portfolioId: string): BookPortfolio {
    const portfolio = this.portfolios.get(portfolioId);
    if (portfolio === undefined) throw new Error(`the journal has no portfolio ${portfolioId}`);
    return portfolio;
  }
}

interface Executed {
  readonly number: number;
  readonly quantity: number;
  readonly price: number;
  readonly value: number;
  readonly cash?: number | undefined;
  readonly commission?: number | undefined;
  readonly fees?: readonly { readonly name: string; readonly amount: number }[] | undefined;
  readonly closed?: readonly { readonly cost: number }[] | undefined;
}
