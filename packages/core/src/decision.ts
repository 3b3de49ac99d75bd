import type { Event } from './event.js';
import { evolve } from './evolve.js';
import type { BrokerConfiguration } from './fees/broker.js';
import type { Equity, Instrument } from './instruments/instrument.js';
import type { LedgerEntry, LedgerEntryType, Posting } from './ledger/ledger.js';
import { balanced } from './ledger/ledger.js';
import type { Book } from './matching/book.js';
import { markOf } from './market/quote.js';
import type { Quote } from './market/quote.js';
import type { Mutable } from './orders/order.js';
import type { Portfolio } from './portfolios/portfolio.js';
import type { Rules } from './rules.js';
import { bookOf } from './state.js';
import type { State } from './state.js';
import type { Instant } from './values/instant.js';
import { Money } from './values/money.js';
import type { Price } from './values/price.js';
import { seededUuid } from './values/seeded.js';

const STREAM = { portfolio: 1, order: 2, execution: 3, entry: 4 } as const;

/**
 * One decision in the making: what the state is, what has been emitted so far, and which quotes were read. Events take
 * effect as they are emitted, so the next line of a decision sees what the line before it did.
 */
export class Decision {
  readonly state: State;
  readonly rules: Rules;
  readonly at: Instant;
  readonly events: Event[] = [];
  /** Quotes this decision read that the journal does not know yet: they belong to its record. */
  readonly quotesRead: Quote[] = [];

  constructor(state: State, rules: Rules, at: Instant) {
    this.state = state;
    this.rules = rules;
    this.at = at;
  }

  emit(event: Event): void {
    this.events.push(event);
    evolve(this.state, event, this.rules.calendar);
  }

  /** The book of an instrument, its quote noted as read. */
  book(symbol: string): Book {
    const book = bookOf(this.state, symbol);
    if (!book.quoteRecorded && book.quote !== undefined) {
      book.quoteRecorded = true;
      this.quotesRead.push(book.quote);
    }
    return book;
  }

  /** A decision without events leaves no record, so what it read is still unknown to the journal. */
  forgetReads(): void {
    for (const quote of this.quotesRead) bookOf(this.state, quote.symbol).quoteRecorded = false;
    this.quotesRead.length = 0;
  }

  quote(symbol: string): Quote | undefined {
    return this.book(symbol).quote;
  }

  mark(symbol: string): Price | undefined {
    const quote = this.quote(symbol);
    return quote === undefined ? undefined : markOf(quote);
  }

  instrument(symbol: string): Instrument | undefined {
    return instrumentOf(this.state, this.rules, symbol);
  }

  equity(symbol: string): Equity | undefined {
    const instrument = this.instrument(symbol);
    return instrument?.assetClass === 'EQUITY' ? instrument : undefined;
  }

  broker(portfolio: Portfolio): BrokerConfiguration {
    const broker = this.rules.brokers.get(portfolio.settings.brokerId) ?? this.rules.brokers.get('default');
    if (broker === undefined) throw new RangeError('no broker configuration');
    return broker;
  }

  nextPortfolio(): { readonly portfolioId: string; readonly number: number } {
    const number = this.state.counters.portfolio + 1;
    return { portfolioId: seededUuid(this.state.seed, STREAM.portfolio, number, this.at), number };
  }

  /** `ahead`: how many orders of this decision are numbered already but not emitted. */
  nextOrder(ahead = 0): { readonly orderId: string; readonly number: number } {
    const number = this.state.counters.order + 1 + ahead;
    return { orderId: seededUuid(this.state.seed, STREAM.order, number, this.at), number };
  }

  nextExecutionId(): string {
    return seededUuid(this.state.seed, STREAM.execution, this.state.counters.execution + 1, this.at);
  }

  /** A balanced entry; `ahead` as in `nextOrder`. */
  entry(
    ahead: number,
    type: LedgerEntryType,
    description: string,
    postings: readonly Posting[],
    source: { readonly orderId?: string; readonly executionId?: string } = {},
  ): LedgerEntry {
    const number = this.state.counters.ledgerEntry + 1 + ahead;
    const entryId = seededUuid(this.state.seed, STREAM.entry, number, this.at);
    const entry: Mutable<LedgerEntry> = {
      entryId,
      at: this.at,
      type,
      description,
      postings: balanced(postings),
    };
    if (source.orderId !== undefined) entry.orderId = source.orderId;
    if (source.executionId !== undefined) entry.executionId = source.executionId;
    return entry;
  }

  /** A capital movement: settled cash against CAPITAL. */
  capitalEntry(type: LedgerEntryType, description: string, amount: Money): LedgerEntry {
    return this.entry(0, type, description, [
      { account: 'SETTLED_CASH', amount },
      { account: 'CAPITAL', amount: Money.negate(amount) },
    ]);
  }
}

/** An instrument that commands listed, else one the feed lists. */
export const instrumentOf = (state: State, rules: Rules, symbol: string): Instrument | undefined =>
  state.listed.get(symbol) ?? rules.instruments.get(symbol);
