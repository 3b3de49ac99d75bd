import { marketHours } from './calendar/hours.js';
import type { MarketHours } from './calendar/market-hours.js';
import { isOrderPlaced } from './event.js';
import type { Event } from './event.js';
import { evolveTelling } from './evolve.js';
import type { EvolvedOrder } from './evolve.js';
import type { BrokerConfiguration } from './brokers/broker.js';
import { withOthersInCash } from './instruments/exercise-value.js';
import { tradableOf } from './instruments/instrument.js';
import type { Instrument, Tradable } from './instruments/instrument.js';
import { isLongAsOsi } from './instruments/osi.js';
import { hoursOf } from './instruments/trading-hours.js';
import type { EntrySubject, LedgerEntry, LedgerEntryType, Posting } from './ledger/ledger.js';
import { balanced } from './ledger/ledger.js';
import type { ClassesElsewhere } from './margin/book.js';
import type { KnownModels } from './margin/portfolio/known-models.js';
import type { Partitions } from './margin/reg-t/partition.js';
import type { Book } from './matching/book.js';
import { markOf } from './market/quote.js';
import type { Quote } from './market/quote.js';
import { optionMarketOf } from './option-lookup.js';
import { markOfSymbol } from './options/option-figures.js';
import type { OptionMarket } from './options/option-market.js';
import type { Order, OrderLeg } from './orders/order.js';
import type { OrderRequest } from './orders/order-request.js';
import type { OrderScript } from './orders/script.js';
import type { OrderTransition, ProgressChanges, RenamedOrder } from './orders/order-event.js';
import type { Portfolio } from './portfolios/portfolio.js';
import { brokerOf } from './rules.js';
import type { Rules } from './rules.js';
import { bookOf } from './state.js';
import type { State } from './state.js';
import type { Instant } from './values/instant.js';
import { Money } from './values/money.js';
import type { Price } from './values/price.js';

/** Maximum order updates that streams send for one decision. */
const MOST_UPDATES = 1024;
/** Updates that one order causes at most: of itself, and of the orders of its bracket. */
const UPDATES_OF_AN_ORDER = 16;

/** Transitions that streams do not send. */
const SILENT: ReadonlySet<OrderTransition> = new Set([
  'TRAILED',
  'RESTED',
  'SCRIPTED',
  'OFFERED',
  'AWAITING_CLOSE',
  'RESCHEDULED',
]);

function updatesOf(event: Event): number {
  if (isOrderPlaced(event) || event.type === 'OrderExecuted') return 1;
  if (event.type !== 'OrderMoved' || SILENT.has(event.transition)) return 0;
  return event.transition === 'ACTIVATED' ? 2 : 1;
}

/** The number of an order of the house that was placed before; `undefined` = the next one. */
export type HouseNumbers = (request: OrderRequest, at: Instant) => number | undefined;

/**
 * One decision in progress: the state, the events emitted so far, and the quotes read. Events take
 * effect as they are emitted, so each line of a decision sees the effects of the lines before it.
 */
export class Decision {
  readonly state: State;
  readonly rules: Rules;
  readonly at: Instant;
  readonly events: Event[] = [];
  /** For each event its order, in the state after the event; undefined for events that concern no order. */
  readonly orders: (EvolvedOrder | undefined)[] = [];
  /** Quotes read by this decision that the journal does not have yet: they belong to its record. */
  readonly quotesRead: Quote[] = [];

  /** For previews only. */
  classes: ClassesElsewhere | undefined;
  private readonly onRead: ((symbol: string) => void) | undefined;
  private readonly houseNumbers: HouseNumbers | undefined;

  constructor(
    state: State,
    rules: Rules,
    at: Instant,
    onRead?: (symbol: string) => void,
    houseNumbers?: HouseNumbers,
  ) {
    this.houseNumbers = houseNumbers;
    this.state = state;
    this.rules = rules;
    this.at = at;
    this.onRead = onRead;
  }

  /** Symbols whose orders this decision leaves to the next one, because it is full; `''` = all multi-leg orders. */
  readonly unmatched = new Set<string>();
  #updates = 0;

  /** True when the decision has as many order updates as it may have: the remainder is due at once (D264). */
  get isFull(): boolean {
    return this.#updates > MOST_UPDATES - UPDATES_OF_AN_ORDER;
  }

  emit(event: Event): void {
    this.#updates += updatesOf(event);
    this.events.push(event);
    this.orders.push(evolveTelling(this.state, event, this.at, this.rules.calendar));
  }

  /** Moves an open order: the transition, and the changes of its progress that do not follow from it; after a split also of its terms. */
  move(
    order: Order,
    transition: OrderTransition,
    changes?: ProgressChanges,
    terms?: { readonly renamed?: RenamedOrder | undefined; readonly script?: OrderScript | undefined },
  ): void {
    const { number } = order.terms;
    if (terms?.renamed !== undefined || terms?.script !== undefined)
      this.emit({
        type: 'OrderMoved',
        order: number,
        transition,
        ...(changes !== undefined && { changes }),
        ...(terms.renamed !== undefined && { renamed: terms.renamed }),
        ...(terms.script !== undefined && { script: terms.script }),
      });
    else if (changes === undefined) this.emit({ type: 'OrderMoved', order: number, transition });
    else this.emit({ type: 'OrderMoved', order: number, transition, changes });
  }

  /** The book of an instrument, its quote noted as read. */
  book(symbol: string): Book {
    this.onRead?.(symbol);
    const book = bookOf(this.state, symbol);
    if (!book.quoteRecorded && book.quote !== undefined) {
      book.quoteRecorded = true;
      this.quotesRead.push(book.quote);
    }
    return book;
  }

  /** A decision without events leaves no record, so what it read is still unknown to the journal. */
  forgetReads(): void {
    for (const quote of this.quotesRead) bookOf(this.state, quote.symbol).forgetRecord();
    this.quotesRead.length = 0;
  }

  quote(symbol: string): Quote | undefined {
    return this.book(symbol).quote;
  }

  mark(symbol: string): Price | undefined {
    // Most symbols are shares, and marks are read often.
    if (isLongAsOsi(symbol)) return markOfSymbol(symbol, this.options);
    const quote = this.quote(symbol);
    return quote === undefined ? undefined : markOf(quote);
  }

  get partitions(): Partitions {
    return this.state.partitions;
  }

  get models(): KnownModels {
    return this.state.models;
  }

  /** Market data and model inputs of option valuations. Quotes read through it count as read by the decision. */
  get options(): OptionMarket {
    return optionMarketOf(this.state, this.rules, {
      at: this.at,
      quote: (symbol) => this.quote(symbol),
      instrument: (symbol) => this.instrument(symbol),
    });
  }

  /** An instrument whose value is wanted: shares of other symbols that a contract delivers are cash in it (D208). */
  valued(symbol: string): Instrument | undefined {
    const instrument = this.instrument(symbol);
    return instrument?.assetClass === 'OPTION' && instrument.others !== undefined
      ? withOthersInCash(instrument, (one) => this.mark(one))
      : instrument;
  }

  instrument(symbol: string): Instrument | undefined {
    return instrumentOf(this.state, this.rules, symbol, this.at);
  }

  /** The instrument of a position or order. */
  tradable(symbol: string): Tradable {
    return tradableOf(symbol, this.instrument(symbol));
  }

  /** The instrument of an order; for multi-leg orders that of the first leg, since all have the same hours and kind. */
  tradedBy({
    symbol,
    legs,
  }: {
    readonly symbol: string;
    readonly legs?: readonly OrderLeg[] | undefined;
  }): Tradable {
    return this.tradable(legs?.[0]?.optionSymbol ?? symbol);
  }

  /** The hours that an instrument trades in. */
  hours(instrument: Instrument): MarketHours {
    return marketHours(this.rules.calendar, hoursOf(instrument));
  }

  broker(portfolio: Portfolio): BrokerConfiguration {
    const { competition } = this.state;
    return brokerOf(this.rules, portfolio.settings.brokerId, competition?.terms.rules.optionLevel);
  }

  /** The open order of a public id. */
  order(orderId: string): Order | undefined {
    const number = this.state.ids.numberOf('ORDER', orderId);
    return number === undefined ? undefined : this.state.orders.get(number);
  }

  /** The portfolio of an open order. */
  portfolioOf(order: Order): Portfolio {
    const portfolio = this.state.portfolios.get(order.terms.portfolioId);
    if (portfolio === undefined) throw new RangeError('order without a portfolio');
    return portfolio;
  }

  /** The number of an order that the broker places by itself. */
  numberHouseOrder(request: OrderRequest): number {
    return this.houseNumbers?.(request, this.at) ?? this.state.counters.order + 1;
  }

  nextPortfolio(): { readonly portfolioId: string; readonly number: number } {
    const number = this.state.counters.portfolio + 1;
    return { portfolioId: this.state.ids.idOf('PORTFOLIO', number), number };
  }

  /** A balanced entry. One to an event: the next one is numbered when this one is posted. */
  entry(type: LedgerEntryType, postings: readonly Posting[], about?: EntrySubject): LedgerEntry {
    const number = this.state.counters.ledgerEntry + 1;
    const entry = { number, type, postings: balanced(postings) };
    return about === undefined ? entry : { ...entry, about };
  }

  /** A capital movement: settled cash against CAPITAL. */
  capitalEntry(type: LedgerEntryType, amount: Money, about?: EntrySubject): LedgerEntry {
    return this.entry(
      type,
      [
        { account: 'SETTLED_CASH', amount },
        { account: 'CAPITAL', amount: Money.negate(amount) },
      ],
      about,
    );
  }
}

/** An instrument that commands listed, else one the feed has listed by that instant. */
export const instrumentOf = (
  state: State,
  rules: Rules,
  symbol: string,
  at: Instant,
): Instrument | undefined => state.listed.get(symbol) ?? rules.instruments.get(symbol, at);
