import { Position } from '@sandpit/core';
import type { Event, State } from '@sandpit/core';
import type { RecordedCommand } from '../packages/server/src/engine/record-text.js';

interface Books {
  /** 10^-14 dollars, exact: initial cash, transfers, executions, charges, dividends. */
  cash: bigint;
  /** Every execution may be up to a cent away from its exact value, because cash moves in whole cents. */
  cents: number;
  initialCash: number;
  readonly shares: Map<string, number>;
}

interface Audited {
  readonly portfolioId: string;
  readonly symbol: string;
  readonly buys: boolean;
  isOver: boolean;
  filled: number;
  quantity: number;
  limitPrice: number | undefined;
}

const CENT = 10n ** 12n;
/** Entries that neither an execution nor a transfer brings. */
const TAKEN_AS_BOOKED: ReadonlySet<string> = new Set(['CASH_IN_LIEU', 'PROMOTIONAL_CASH', 'WITHDRAWAL']);
/** Core money counts 10^-4 dollars. */
const MONEY = 10n ** 10n;

/**
 * Keeps the books of a run a second time, in the plainest way: cash is what came in less what was paid, a position
 * is what was bought less what was sold. It knows events, not rules, and shares no arithmetic with the core.
 */
export class Auditor {
  /** Discrepancies; empty = the books match. */
  readonly findings: string[] = [];
  readonly counts = { orders: 0, executions: 0, canceled: 0, rejected: 0, dividends: 0, splits: 0 };
  private readonly books = new Map<string, Books>();
  private readonly orders = new Map<number, Audited>();

  /** A record of the journal, as it was decided. */
  see(command: RecordedCommand, events: readonly Event[]): void {
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
    for (const [number, { progress }] of state.orders) {
      const order = this.orders.get(number);
      if (order === undefined) this.find(`order ${number} was never accepted`);
      else if (order.isOver) this.find(`order ${number} is open though it is over`);
      else if (order.filled !== progress.filledQuantity) this.find(`order ${number}: fills do not add up`);
    }
    for (const [number, { isOver }] of this.orders) {
      if (!isOver && !state.orders.has(number)) this.find(`order ${number} is gone though it is not over`);
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
        this.seeClose(event.portfolioId);
        this.books.delete(event.portfolioId);
        return;
      case 'OrderAccepted': {
        const { portfolioId, symbol, positionIntent, quantity, limitPrice } = event.request;
        if (this.orders.has(event.number)) this.find(`order ${event.number} was accepted twice`);
        const buys = positionIntent.startsWith('BUY');
        const order = { portfolioId, symbol, buys, isOver: false, quantity, filled: 0, limitPrice };
        this.orders.set(event.number, order);
        this.counts.orders++;
        return;
      }
      case 'OrderMoved': {
        const order = this.open(event.order, event.transition);
        const { quantity, filledQuantity, limitPrice } = event.changes ?? {};
        order.quantity = quantity ?? order.quantity;
        order.limitPrice = limitPrice ?? order.limitPrice;
        // A split restates what was filled before it.
        if (event.transition === 'ADJUSTED') order.filled = filledQuantity ?? order.filled;
        const isCanceled = event.transition === 'CANCELED' || event.transition === 'EXPIRED';
        const isRejected = event.transition === 'REJECTED';
        order.isOver = isCanceled || isRejected;
        if (isCanceled) this.counts.canceled++;
        if (isRejected) this.counts.rejected++;
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
      case 'PositionsImported': {
        const books = this.booksOf(event.portfolioId);
        books.cash += BigInt(event.cash) * MONEY;
        for (const { symbol, lots } of event.positions)
          books.shares.set(
            symbol,
            lots.reduce((sum, { quantity }) => sum + quantity, 0),
          );
        return;
      }
      case 'LedgerPosted':
        for (const entry of event.entries) {
          const sum = entry.postings.reduce((total, { amount }) => total + amount, 0);
          if (sum !== 0) this.find(`entry ${entry.number} does not balance`);
          if (!TAKEN_AS_BOOKED.has(entry.type)) continue;
          const cash = entry.postings.find(({ account }) => account === 'SETTLED_CASH');
          this.booksOf(event.portfolioId).cash += BigInt(cash?.amount ?? 0) * MONEY;
        }
        return;
      default:
        return;
    }
  }

  /** A closed portfolio was paid out and leaves no rows (D212). */
  private seeClose(portfolioId: string): void {
    const { cash, cents, shares } = this.booksOf(portfolioId);
    const allowed = CENT * BigInt(cents);
    if (cash > allowed || cash < -allowed) this.find(`portfolio ${portfolioId}: closed with ${cash} of cash`);
    for (const [symbol, held] of shares)
      if (held !== 0) this.find(`portfolio ${portfolioId}: closed with ${held} of ${symbol}`);
  }

  private seeExecution(event: Extract<Event, { type: 'OrderExecuted' }>): void {
    const order = this.open(event.order, 'executed');
    const { portfolioId, symbol, buys, limitPrice } = order;
    const books = this.booksOf(portfolioId);
    for (const { quantity, price, commission = 0, fees = [] } of event.executions) {
      this.counts.executions++;
      order.filled += quantity;
      if (quantity <= 0 || order.filled > order.quantity)
        this.find(`order ${event.order}: filled beyond its quantity`);
      if (limitPrice !== undefined && (buys ? price > limitPrice : price < limitPrice))
        this.find(`order ${event.order}: executed beyond its limit`);
      const value = BigInt(price) * BigInt(quantity);
      books.cash += buys ? -value : value;
      for (const charge of [commission, ...fees.map(({ amount }) => amount)])
        books.cash -= BigInt(charge) * MONEY;
      books.cents++;
      books.shares.set(symbol, (books.shares.get(symbol) ?? 0) + (buys ? 1 : -1) * quantity);
    }
    order.isOver = order.filled === order.quantity;
  }

  private open(number: number, what: string): Audited {
    const order = this.orders.get(number);
    if (order === undefined) throw new Error(`order ${number} is ${what} before it was accepted`);
    if (order.isOver) this.find(`order ${number} is ${what} after it was over`);
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
