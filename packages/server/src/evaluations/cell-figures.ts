/** The figures of a simulation that tasks are graded by, as of the last applied record (D211). */
import { matchesOrder, parseFutureSymbol, Position } from '@sandpit/core';
import type {
  Brokerage,
  Event,
  Instant,
  MarginCall,
  OrderRequest,
  OutcomeMatch,
  Portfolio,
} from '@sandpit/core';
import type { Payload } from '../engine/records/record-text.js';
import type { WhichPositions } from './assertion.js';

/** Units of the core in one dollar, and in one share. A single division gives the double nearest to the decimal, as JSON does. */
const DOLLAR = 10_000;
const SHARE = 1_000_000;
const NEXT_CENTURY = 2100;

interface AcceptedOrder {
  readonly at: Instant;
  readonly portfolio: number;
  readonly request: OrderRequest;
}

/** Equity by the closing marks of a session, and what was held then. */
interface CloseEquity {
  readonly at: Instant;
  readonly equity: number;
  readonly books: string;
}

export class CellFigures {
  readonly #brokerage: Brokerage;
  readonly #orders: AcceptedOrder[] = [];
  /** By number of the call. */
  readonly #calls = new Map<
    number,
    { readonly portfolioId: string; readonly status: MarginCall['status'] }
  >();
  readonly #closes = new Map<string, CloseEquity>();
  /** Amounts since the last record, by name and portfolio: many assertions read the same ones. */
  readonly #amounts = new Map<string, number>();
  /** By condition: matching orders among the first `seen` ones. */
  readonly #counts = new Map<object, { count: number; seen: number }>();

  constructor(brokerage: Brokerage) {
    this.#brokerage = brokerage;
  }

  /** Notes what a record has and the state has not. The record is applied. */
  note(at: Instant, { command, events }: Payload, isSetup: boolean): void {
    this.#amounts.clear();
    const [first] = events;
    if (!isSetup && command.type === 'SubmitOrder' && first?.type === 'OrderAccepted') {
      const { request } = first;
      const portfolio = this.#brokerage.state.portfolios.get(request.portfolioId);
      if (portfolio !== undefined) this.#orders.push({ at, portfolio: portfolio.terms.number, request });
    }
    for (const event of events) this.#noteEvent(at, event);
  }

  #noteEvent(at: Instant, event: Event): void {
    switch (event.type) {
      case 'CallIssued':
      case 'CallClosed':
        this.#calls.set(event.call.number, { portfolioId: event.portfolioId, status: event.call.status });
        return;
      case 'SessionMarked':
        for (const { portfolioId, totalEquity } of event.points) {
          const portfolio = this.#brokerage.state.portfolios.get(portfolioId);
          if (portfolio !== undefined)
            this.#closes.set(portfolioId, { at, equity: totalEquity, books: booksOf(portfolio) });
        }
        return;
      default:
        return;
    }
  }

  /** Open portfolios: one by its number, or all. */
  #portfolios(number: number | undefined): Portfolio[] {
    const all = [...this.#brokerage.state.portfolios.values()];
    return number === undefined ? all : all.filter(({ terms }) => terms.number === number);
  }

  /** Positions that match, long or short. */
  #positions(
    number: number | undefined,
    which: WhichPositions & { readonly assetClass?: string },
  ): Position[] {
    return this.#portfolios(number).flatMap(({ positions }) =>
      [...positions.values()].filter(
        (position) => Position.held(position) !== 0 && isWanted(position, which),
      ),
    );
  }

  quantity(number: number | undefined, which: WhichPositions & { readonly assetClass?: string }): number {
    return this.#positions(number, which).reduce((sum, position) => sum + Position.held(position), 0) / SHARE;
  }

  positionCount(number: number | undefined, which: WhichPositions): number {
    return this.#positions(number, which).length;
  }

  /** Orders that were accepted from an instant on. `match` is one object for one condition: each order is compared with it once. */
  orderCount(number: number | undefined, match: OutcomeMatch, from: Instant): number {
    const counted = this.#counts.get(match) ?? { count: 0, seen: 0 };
    this.#counts.set(match, counted);
    for (; counted.seen < this.#orders.length; counted.seen += 1) {
      const order = this.#orders[counted.seen];
      if (order === undefined || order.at < from) continue;
      if ((number === undefined || order.portfolio === number) && matchesOrder(match, order.request))
        counted.count += 1;
    }
    return counted.count;
  }

  /** Settled, pending and reserved cash less the loan. */
  cash(number: number | undefined): number {
    return this.#sum('cash', number, (portfolio) => {
      const { settledCash, pendingCash, reservedCash, marginLoan } = this.#brokerage.worthOf(portfolio);
      return settledCash + pendingCash + reservedCash - marginLoan;
    });
  }

  equity(number: number | undefined): number {
    return this.#sum('equity', number, (portfolio) => {
      const close = this.#closes.get(portfolio.terms.portfolioId);
      // At the instant of a close its marks count, unless something was traded after it.
      if (close?.at === this.#brokerage.state.now && close.books === booksOf(portfolio)) return close.equity;
      return this.#brokerage.worthOf(portfolio).totalEquity;
    });
  }

  /** Realized profit before charges, variation of futures included. */
  realizedPnl(number: number | undefined): number {
    return this.#sum(
      'realizedPnl',
      number,
      ({ balances }) => 0 - balances.REALIZED_PNL - balances.FUTURES_PNL,
    );
  }

  #sum(name: string, number: number | undefined, amountOf: (portfolio: Portfolio) => number): number {
    const key = `${name} ${number ?? ''}`;
    const known = this.#amounts.get(key);
    if (known !== undefined) return known;
    const amount = this.#portfolios(number).reduce((sum, portfolio) => sum + amountOf(portfolio), 0) / DOLLAR;
    this.#amounts.set(key, amount);
    return amount;
  }

  isCallOpen(number: number | undefined): boolean {
    return this.#portfolios(number).some(({ margin }) => margin.calls.length > 0);
  }

  /** True if a call was issued and every one of them is MET. */
  areCallsMet(number: number | undefined): boolean {
    const ids = new Set(this.#portfolios(number).map(({ terms }) => terms.portfolioId));
    const calls = [...this.#calls.values()].filter(({ portfolioId }) => ids.has(portfolioId));
    return calls.length > 0 && calls.every(({ status }) => status === 'MET');
  }
}

function isWanted(
  { symbol, assetClass, underlying }: Position,
  which: WhichPositions & { readonly assetClass?: string },
): boolean {
  if (which.assetClass !== undefined && which.assetClass !== assetClass) return false;
  if (which.symbol !== undefined) return which.symbol === symbol;
  if (which.underlying === undefined) return true;
  const root = assetClass === 'FUTURE' ? parseFutureSymbol(symbol, NEXT_CENTURY)?.root : underlying;
  return which.underlying === root;
}

/** Cash and quantities of a portfolio: changes with every trade. */
const booksOf = ({ balances, positions }: Portfolio): string =>
  JSON.stringify([
    balances.SETTLED_CASH + balances.PENDING_CASH,
    ...[...positions.values()].map((position) => [position.symbol, Position.held(position)]),
  ]);
