import { Position } from '@sandpit/core';
import type { Command, Event, State } from '@sandpit/core';

interface Books {
  /** 10^-14 dollars, exact: initial cash, transfers, executions, charges, dividends. */
  cash: bigint;
  /** Every execution may be up to a cent away from its exact value, because cash moves in whole cents. */
  cents: number;
  initialCash: number;
  readonly shares: Map<string, number>;
}

interface Audited {
  status: string;
  filled: number;
  /** Σ price × quantity. */
  value: bigint;
  quantity: number;
}

const CENT = 10n ** 12n;
/** Core money counts 10^-4 dollars. */
const MONEY = 10n ** 10n;
const OVER: ReadonlySet<string> = new Set(['FILLED', 'CANCELED', 'REJECTED', 'ERROR']);

/**
 * Keeps the books of a run a second time, in the plainest way: cash is what came in less what was paid, a position
 * is what was bought less what was sold. It knows events, not rules, and shares no arithmetic with the core.
 */
export class Auditor {
  /** What did not add up; empty = all is well. */
  readonly findings: string[] = [];
  readonly counts = { orders: 0, executions: 0, canceled: 0, rejected: 0, dividends: 0, splits: 0 };
  private readonly books = new Map<string, Books>();
  private readonly orders = new Map<string, Audited>();

  /** A record of the journal, as it was decided. */
  see(command: Command, events: readonly Event[]): void {
    if (command.type === 'TransferCash' && events.length > 0) {
      this.booksOf(command.portfolioId).cash += BigInt(command.amount) * MONEY;
    }
    for (const event of events) this.seeEvent(event);
  }

  /** Compares the books with the state of the brokerage. */
  compare(state: State): void {
    for (const [portfolioId, portfolio] of state.portfolios) {
      const books = this.booksOf(portfolioId);
      const { SETTLED_CASH, PENDING_CASH } = portfolio.balances;
      const difference = books.cash - BigInt(SETTLED_CASH + PENDING_CASH) * MONEY;
      const allowed = CENT * BigInt(books.cents);
      if (difference > allowed || difference < -allowed)
        this.find(`portfolio ${portfolioId}: cash is off by ${difference}`);
      for (const symbol of new Set([...books.shares.keys(), ...portfolio.positions.keys()])) {
        const position = portfolio.positions.get(symbol);
        const held = position === undefined ? 0 : Position.held(position);
        const expected = books.shares.get(symbol) ?? 0;
        if (held !== expected)
          this.find(`portfolio ${portfolioId}: holds ${held} of ${symbol}, not ${expected}`);
      }
    }
    for (const [orderId, { progress }] of state.orders) {
      const order = this.orders.get(orderId);
      if (order === undefined) this.find(`order ${orderId} was never accepted`);
      else if (order.filled !== progress.filledQuantity) this.find(`order ${orderId}: fills do not add up`);
    }
  }

  private seeEvent(event: Event): void {
    switch (event.type) {
      case 'PortfolioOpened': {
        const { portfolioId, initialCash } = event.terms;
        this.books.set(portfolioId, {
          cash: BigInt(initialCash) * MONEY,
          cents: 0,
          initialCash,
          shares: new Map(),
        });
        return;
      }
      case 'PortfolioReset': {
        const books = this.booksOf(event.portfolioId);
        books.cash = BigInt(books.initialCash) * MONEY;
        books.cents = 0;
        books.shares.clear();
        return;
      }
      case 'PortfolioClosed':
        this.books.delete(event.portfolioId);
        return;
      case 'OrderAccepted': {
        const { status, quantity } = event.progress;
        if (this.orders.has(event.terms.orderId))
          this.find(`order ${event.terms.orderId} was accepted twice`);
        this.orders.set(event.terms.orderId, { status, quantity, filled: 0, value: 0n });
        this.counts.orders++;
        return;
      }
      case 'OrderMoved': {
        const order = this.move(event.orderId, event.progress.status);
        order.quantity = event.progress.quantity;
        // A split restates what was filled before it.
        if (event.transition === 'ADJUSTED') order.filled = event.progress.filledQuantity;
        if (event.progress.status === 'CANCELED') this.counts.canceled++;
        if (event.progress.status === 'REJECTED') this.counts.rejected++;
        return;
      }
      case 'OrderExecuted':
        this.seeExecution(event);
        return;
      case 'DividendAccrued':
        this.booksOf(event.portfolioId).cash += BigInt(event.amount) * MONEY;
        this.counts.dividends++;
        return;
      case 'PositionSplit': {
        this.booksOf(event.portfolioId).shares.set(event.symbol, event.settled + event.pending);
        this.counts.splits++;
        return;
      }
      case 'LedgerPosted':
        for (const entry of event.entries) {
          const sum = entry.postings.reduce((total, { amount }) => total + amount, 0);
          if (sum !== 0) this.find(`entry ${entry.entryId} does not balance`);
          // What neither an execution nor a transfer brings: taken as it was booked.
          if (entry.type !== 'CASH_IN_LIEU' && entry.type !== 'PROMOTIONAL_CASH') continue;
          const cash = entry.postings.find(({ account }) => account === 'SETTLED_CASH');
          this.booksOf(event.portfolioId).cash += BigInt(cash?.amount ?? 0) * MONEY;
        }
        return;
      default:
        return;
    }
  }

  private seeExecution(event: Extract<Event, { type: 'OrderExecuted' }>): void {
    const { execution, portfolioId, progress } = event;
    const { side, quantity, price, symbol, commission, fees } = execution;
    this.counts.executions++;
    const order = this.move(event.orderId, progress.status);
    order.filled += quantity;
    order.value += BigInt(price) * BigInt(quantity);
    if (quantity <= 0 || order.filled > order.quantity)
      this.find(`order ${event.orderId}: filled beyond its quantity`);
    if ((progress.status === 'FILLED') !== (order.filled === order.quantity)) {
      this.find(`order ${event.orderId}: ${progress.status} with ${order.filled} of ${order.quantity}`);
    }
    if (
      progress.limitPrice !== undefined &&
      (side === 'BUY' ? price > progress.limitPrice : price < progress.limitPrice)
    ) {
      this.find(`order ${event.orderId}: executed beyond its limit`);
    }
    const books = this.booksOf(portfolioId);
    const value = BigInt(price) * BigInt(quantity);
    books.cash += side === 'BUY' ? -value : value;
    for (const charge of [commission, ...fees.map(({ amount }) => amount)])
      books.cash -= BigInt(charge) * MONEY;
    books.cents++;
    books.shares.set(symbol, (books.shares.get(symbol) ?? 0) + (side === 'BUY' ? 1 : -1) * quantity);
  }

  private move(orderId: string, status: string): Audited {
    let order = this.orders.get(orderId);
    if (order === undefined) {
      this.find(`order ${orderId} moved before it was accepted`);
      order = { status, quantity: 0, filled: 0, value: 0n };
    }
    if (OVER.has(order.status)) this.find(`order ${orderId} moved to ${status} after it was ${order.status}`);
    order.status = status;
    return order;
  }

  private booksOf(portfolioId: string): Books {
    const books = this.books.get(portfolioId);
    if (books === undefined) throw new Error(`no portfolio ${portfolioId}`);
    return books;
  }

  private find(what: string): void {
    this.findings.push(what);
  }
}
