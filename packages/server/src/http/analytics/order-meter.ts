/**
 * Measures orders against the market at their records (D188). Pure: the same records in the same order, with the same later quotes, give
 * the same measurements.
 */
import type { MeasuredExecution, MeasuredLeg, MeasuredOrder, Quoted } from '@sandpit/analytics';
import {
  commissionOf,
  type Event,
  type Execution,
  feesOf,
  Instant,
  type Instrument,
  isStop,
  leaderOf,
  legRatios,
  type OrderPlaced,
  type OrderExecuted,
  type OrderMoved,
  orderAfter,
  placedOrder,
  type OrderSnapshot,
  type OrderTerms,
  type Quote,
  sideOf,
  type Split,
} from '@sandpit/core';
import type { Payload } from '../../engine/records/record-text.js';

const MONEY_UNITS = 10_000;
const QUANTITY_UNITS = 1_000_000;
const PRICE_UNITS = 100_000_000;

/** Time after an execution at which its realized spread is measured (Rule 605). */
const REALIZED_AFTER_MS = 300_000;

const OVER: ReadonlySet<string> = new Set(['FILLED', 'CANCELED', 'REJECTED', 'ERROR']);

/** Quote in force at an instant, requested before it is known. */
export interface QuoteQuestion {
  readonly symbol: string;
  readonly at: number;
  /** `first`: the first quote at or after the instant, instead of the one in force at it. */
  readonly isFirst: boolean;
  readonly settle: (quote: Quote | undefined) => void;
}

/** Answers from the rules in force and from the market, which records do not contain. */
export interface MeterContext {
  readonly isWanted: (event: OrderPlaced, at: number) => boolean;
  readonly orderId: (order: number) => string;
  readonly instrument: (symbol: string, at: Instant) => Instrument | undefined;
  /** Hour of an instant in New York, 0 to 23. */
  readonly hourOf: (at: number) => number;
  /** End of the session of an execution; Infinity for a session without an end. */
  readonly sessionEnd: (terms: OrderTerms, at: Instant) => number;
  /** Quote of a feed that computes it; undefined if only records have quotes. */
  readonly quoteAt: (symbol: string, at: number) => Quote | undefined;
  /** True when records have every quote of a symbol while it has open orders. */
  readonly recordsTellAll: boolean;
  readonly ask: (question: QuoteQuestion) => void;
  readonly refused?: (order: RefusedOrder, at: number) => void;
  /** Receives each order once all its figures are known. */
  readonly done: (order: MeasuredOrder) => void;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type LegDraft = Writable<Omit<MeasuredLeg, 'executions'>> & { executions: Writable<MeasuredExecution>[] };

interface Draft {
  order: OrderSnapshot;
  readonly brokerId: string;
  readonly legs: LegDraft[];
  isQueued: boolean;
  /** Instant of its first quote, or of its trigger. */
  arrivalAt: number | undefined;
  /** Instant at which the order reached the market. */
  reachedAt: number | undefined;
  /** Questions that have no answer yet. */
  open: number;
  isOver: boolean;
  /** Splits since its acceptance, by leg. */
  readonly splits: LegSplit[][];
}

interface LegSplit {
  readonly at: number;
  /** New units for an old one, by which prices are divided. */
  readonly factor: number;
  /** False if the order was over: its figures stay in the units of before. */
  readonly isRestated: boolean;
}

/** An order that was refused, with a record. */
export interface RefusedOrder {
  readonly portfolioId: string;
  readonly symbol: string;
  readonly orderType: string;
  readonly brokerId: string;
}

/** A journal record, as far as measuring goes. */
export interface MeteredRecord {
  readonly at: number;
  readonly command?: Pick<Payload['command'], 'type'> & { readonly order?: unknown };
  readonly quotes?: readonly Quote[];
  readonly events: readonly Event[];
}

export class OrderMeter {
  readonly #context: MeterContext;
  readonly #drafts = new Map<number, Draft>();
  /** Quotes in force according to the records. */
  readonly #quotes = new Map<string, Quote>();
  /** Orders whose arrival is the next quote of a symbol. */
  readonly #waiting = new Map<string, ((quote: Quote) => boolean)[]>();
  /** Quotes before a split that is taking effect: orders that it cancels end at them. */
  readonly #beforeSplit = new Map<string, Quote>();
  readonly #brokers = new Map<string, string>();
  /** Orders that this record has ended. */
  readonly #ended: Draft[] = [];
  #isAnyArrivalUnknown = false;

  constructor(context: MeterContext) {
    this.#context = context;
  }

  /** True if the quote of an order is before the first record. */
  get isAnyArrivalUnknown(): boolean {
    return this.#isAnyArrivalUnknown;
  }

  /** Orders that are not over, or wait for later quotes. */
  get openOrders(): number {
    return this.#drafts.size;
  }

  /** True while an order is being measured. */
  measures(order: number): boolean {
    return this.#drafts.has(order);
  }

  /** Symbols of the open orders. */
  openSymbols(): readonly string[] {
    const symbols = new Set<string>();
    for (const { legs, isOver } of this.#drafts.values())
      if (!isOver) for (const { symbol } of legs) symbols.add(symbol);
    return [...symbols];
  }

  record({ at, quotes = [], events, command }: MeteredRecord): void {
    const fresh: Draft[] = [];
    for (const quote of quotes) this.#see(quote);
    for (const event of events) {
      switch (event.type) {
        case 'QuotesPushed':
          for (const quote of event.quotes) this.#see(quote);
          break;
        case 'SplitBegun': {
          const before = this.#quotes.get(event.symbol);
          if (before !== undefined) this.#beforeSplit.set(event.symbol, before);
          if (event.market !== undefined) this.#see(event.market.quote);
          break;
        }
        case 'ActionDone':
          if (event.action.type === 'SPLIT') this.#split(event.action, at);
          if (event.market !== undefined) this.#see(event.market.quote);
          break;
        case 'SeriesAdjusted':
          for (const { quote } of event.markets) this.#see(quote);
          break;
        case 'PortfolioOpened':
          this.#brokers.set(event.terms.portfolioId, event.terms.initialSettings.brokerId);
          break;
        case 'PortfolioChanged':
          this.#brokers.set(event.portfolioId, event.settings.brokerId);
          break;
        case 'OrderRefused':
        case 'AgentRefused':
          this.#refuse(command, at);
          break;
        case 'OrderAccepted':
          if (this.#context.isWanted(event, at)) fresh.push(this.#place(event, at));
          break;
        case 'OrderRejected':
          if (this.#context.isWanted(event, at)) this.#end(this.#place(event, at), at);
          break;
        case 'OrderMoved':
          this.#move(event, at);
          break;
        case 'OrderExecuted':
          this.#execute(event, at);
          break;
        default:
      }
    }
    for (const draft of fresh)
      if (!draft.isQueued && draft.arrivalAt === undefined && arrivesWhenAccepted(draft.order.terms))
        this.#arrive(draft, at);
    // The arrival of an order that begins and ends in one record is known only now.
    for (const draft of this.#ended.splice(0)) this.#settle(draft);
  }

  /** Orders that are still open are measured against the quotes of now. */
  finish(quoteNow: (symbol: string) => Quote | undefined): void {
    for (const draft of [...this.#drafts.values()]) {
      if (!draft.isOver)
        for (const leg of draft.legs) {
          const quote = quoteNow(leg.symbol);
          if (quote !== undefined) leg.finalQuote = quotedOf(quote);
        }
      draft.open = 0;
      draft.isOver = true;
      this.#settle(draft);
    }
  }

  /** The quote in force according to the records so far. */
  quote(symbol: string): Quote | undefined {
    return this.#quotes.get(symbol);
  }

  #see(quote: Quote): void {
    this.#quotes.set(quote.symbol, quote);
    const waiting = this.#waiting.get(quote.symbol);
    if (waiting === undefined) return;
    const left = waiting.filter((take) => !take(quote));
    if (left.length === 0) this.#waiting.delete(quote.symbol);
    else this.#waiting.set(quote.symbol, left);
  }

  #quoteNow(symbol: string, at: number): Quote | undefined {
    return this.#context.quoteAt(symbol, at) ?? this.#quotes.get(symbol);
  }

  #place(event: OrderPlaced, at: number): Draft {
    const order = placedOrder(event, '', Instant.ofMs(at));
    const { terms } = order;
    const traded = terms.legs?.map(({ optionSymbol, positionIntent }) => ({
      symbol: optionSymbol,
      positionIntent,
    })) ?? [terms];
    const draft: Draft = {
      order,
      brokerId: this.#brokers.get(terms.portfolioId) ?? '',
      legs: traded.map(({ symbol, positionIntent }) => ({
        symbol,
        side: sideOf(positionIntent),
        quantity: 0,
        multiplier: this.#multiplierOf(symbol, terms, at),
        executions: [],
        charges: 0,
      })),
      isQueued: false,
      arrivalAt: undefined,
      reachedAt: undefined,
      open: 0,
      isOver: false,
      splits: traded.map(() => []),
    };
    this.#drafts.set(terms.number, draft);
    return draft;
  }

  #move(event: OrderMoved, at: number): void {
    const draft = this.#drafts.get(event.order);
    if (draft === undefined) return;
    const before = draft.order;
    draft.order = orderAfter(draft.order, event, Instant.ofMs(at));
    const { terms, progress } = draft.order;
    switch (event.transition) {
      case 'QUEUED':
        draft.isQueued = true;
        break;
      case 'ACTIVATED':
      case 'STARTED':
        draft.reachedAt = at;
        if (isStop(terms.orderType)) break;
        if (draft.isQueued) this.#arriveWithNextQuote(draft, at);
        else if (leaderOf(terms.bracket) !== undefined) this.#arrive(draft, at);
        break;
      case 'TRIGGERED':
        this.#arrive(draft, at);
        break;
      case 'ADJUSTED':
        if (event.renamed !== undefined) this.#adjust(draft, event.renamed, before.progress.quantity, at);
        break;
      default:
    }
    if (OVER.has(progress.status)) this.#end(draft, at);
  }

  /** Contracts after a split of their underlying: their number, their multiplier, or both have changed. */
  #adjust(
    { order: { terms, progress }, legs, splits }: Draft,
    renamed: NonNullable<OrderMoved['renamed']>,
    quantityBefore: number,
    at: number,
  ): void {
    const contracts = quantityBefore > 0 ? progress.quantity / quantityBefore : 1;
    legs.forEach((leg, index) => {
      leg.symbol = renamed.legs?.[index]?.optionSymbol ?? renamed.symbol;
      const multiplier = this.#multiplierOf(leg.symbol, terms, at);
      const factor = (contracts * multiplier) / leg.multiplier;
      leg.multiplier = multiplier;
      restate(leg, factor, contracts);
      splits[index]?.push({ at, factor, isRestated: true });
    });
  }

  /** Shares after a split. */
  #split({ symbol, ratio }: Split, at: number): void {
    const factor = ratio.new / ratio.old;
    this.#beforeSplit.delete(symbol);
    for (const { order, legs, splits, isOver } of this.#drafts.values())
      if (order.terms.assetClass === 'EQUITY')
        legs.forEach((leg, index) => {
          if (leg.symbol !== symbol) return;
          if (!isOver) restate(leg, factor, factor);
          splits[index]?.push({ at, factor, isRestated: !isOver });
        });
  }

  #refuse(command: MeteredRecord['command'], at: number): void {
    if (command?.type !== 'SubmitOrder') return;
    const { portfolioId, symbol, orderType } = command.order as OrderTerms;
    const brokerId = this.#brokers.get(portfolioId) ?? '';
    this.#context.refused?.({ portfolioId, symbol, orderType, brokerId }, at);
  }

  #execute(event: OrderExecuted, at: number): void {
    const draft = this.#drafts.get(event.order);
    if (draft === undefined) return;
    draft.order = orderAfter(draft.order, event, Instant.ofMs(at));
    const until = Math.min(
      at + REALIZED_AFTER_MS,
      this.#context.sessionEnd(draft.order.terms, Instant.ofMs(at)),
    );
    for (const execution of event.executions) {
      const leg = draft.legs[execution.leg ?? 0];
      if (leg === undefined) continue;
      const measured: Writable<MeasuredExecution> = executionOf(execution, at);
      leg.executions.push(measured);
      leg.charges +=
        (commissionOf(execution) + feesOf(execution).reduce((sum, { amount }) => sum + amount, 0)) /
        MONEY_UNITS;
      if (measured.isAuction !== true)
        this.#ask(draft, leg.symbol, until, false, (quote) => {
          // The journal of a fork of `main` lacks quotes of symbols in which its parent had no order at the time.
          const isNewer = quote !== undefined && quote.at >= execution.quote.at;
          const mid = midOf(isNewer ? quotedFor(draft, leg, quote) : measured.quote);
          if (mid !== undefined) measured.midAfter = mid;
        });
    }
    if (OVER.has(draft.order.progress.status)) this.#end(draft, at);
  }

  #end(draft: Draft, at: number): void {
    draft.isOver = true;
    this.#ended.push(draft);
    if (draft.order.progress.status === 'FILLED') return;
    for (const leg of draft.legs) {
      if (this.#context.recordsTellAll) {
        const quote = this.#beforeSplit.get(leg.symbol) ?? this.#quoteNow(leg.symbol, at);
        if (quote !== undefined) leg.finalQuote = quotedOf(quote);
      } else
        this.#ask(draft, leg.symbol, at, false, (quote) => {
          const known = this.#quotes.get(leg.symbol);
          if (quote !== undefined) leg.finalQuote = quotedFor(draft, leg, quote);
          else if (known !== undefined) leg.finalQuote = quotedOf(known);
        });
    }
  }

  /** The quote in force, or the next one if there is none. */
  #arrive(draft: Draft, at: number): void {
    draft.arrivalAt = at;
    for (const leg of draft.legs) {
      const quote = this.#quoteNow(leg.symbol, at);
      if (quote !== undefined) leg.arrival = quotedOf(quote);
      else {
        this.#isAnyArrivalUnknown = true;
        this.#awaitQuote(draft, leg, at);
      }
    }
  }

  #arriveWithNextQuote(draft: Draft, at: number): void {
    if (draft.arrivalAt !== undefined) return;
    draft.arrivalAt = at;
    for (const leg of draft.legs) {
      const quote = this.#quoteNow(leg.symbol, at);
      if (quote !== undefined && quote.at >= at) leg.arrival = quotedOf(quote);
      else this.#awaitQuote(draft, leg, at);
    }
  }

  #awaitQuote(draft: Draft, leg: LegDraft, from: number): void {
    if (!this.#context.recordsTellAll) {
      this.#ask(draft, leg.symbol, from, true, (quote) => {
        if (quote !== undefined) leg.arrival = quotedFor(draft, leg, quote);
      });
      return;
    }
    const waiting = this.#waiting.get(leg.symbol) ?? [];
    waiting.push((quote) => {
      if (quote.at < from) return false;
      if (!draft.isOver) leg.arrival = quotedOf(quote);
      return true;
    });
    this.#waiting.set(leg.symbol, waiting);
  }

  #ask(
    draft: Draft,
    symbol: string,
    at: number,
    isFirst: boolean,
    settle: (quote: Quote | undefined) => void,
  ): void {
    draft.open += 1;
    this.#context.ask({
      symbol,
      at,
      isFirst,
      settle: (quote) => {
        settle(quote);
        draft.open -= 1;
        if (draft.isOver) this.#settle(draft);
      },
    });
  }

  #settle(draft: Draft): void {
    if (draft.open > 0 || !this.#drafts.delete(draft.order.terms.number)) return;
    this.#context.done(this.#measured(draft));
  }

  #measured({ order, brokerId, legs, arrivalAt, reachedAt }: Draft): MeasuredOrder {
    const { terms, progress } = order;
    const ratios = terms.legs === undefined ? [1] : legRatios(terms.legs);
    const hourAt = arrivalAt ?? reachedAt;
    return {
      orderId: this.#context.orderId(terms.number),
      symbol: terms.symbol,
      orderType: terms.orderType,
      brokerId,
      ...(reachedAt !== undefined && { arrivedAt: reachedAt }),
      ...(hourAt !== undefined && { hour: this.#context.hourOf(hourAt) }),
      isRejected: progress.status === 'REJECTED',
      isFilled: progress.status === 'FILLED',
      legs: legs.map((leg, index) => ({
        ...leg,
        quantity: (progress.quantity / QUANTITY_UNITS) * (ratios[index] ?? 1),
      })),
    };
  }

  #multiplierOf(symbol: string, { assetClass }: OrderTerms, at: number): number {
    if (assetClass === 'EQUITY') return 1;
    const instrument = this.#context.instrument(symbol, Instant.ofMs(at));
    const usual = 100;
    return instrument?.assetClass === 'OPTION' || instrument?.assetClass === 'FUTURE'
      ? instrument.multiplier
      : usual;
  }
}

/** Exits of a bracket arrive when their entry fills, stops when they are triggered. */
const arrivesWhenAccepted = ({ orderType, bracket }: OrderTerms): boolean =>
  !isStop(orderType) && leaderOf(bracket) === undefined;

const quotedOf = ({ bid, ask }: Pick<Quote, 'bid' | 'ask'>): Quoted => ({
  ...(bid !== undefined && { bid: bid / PRICE_UNITS }),
  ...(ask !== undefined && { ask: ask / PRICE_UNITS }),
});

function midOf(quote: Quoted | undefined): number | undefined {
  const { bid, ask } = quote ?? {};
  return bid === undefined || ask === undefined || bid > ask || ask <= 0 ? undefined : (bid + ask) / 2;
}

function executionOf(execution: Execution, at: number): Writable<MeasuredExecution> {
  const { rule, maker, price, quantity, quote } = execution;
  return {
    at,
    price: price / PRICE_UNITS,
    quantity: quantity / QUANTITY_UNITS,
    quote: quotedOf(quote),
    tookLiquidity: maker !== true,
    ...((rule === 'OPENING_AUCTION' || rule === 'CLOSING_AUCTION') && { isAuction: true }),
  };
}

/** A quote as it was made at its instant, in the units of a leg's figures. */
function quotedFor({ legs, splits }: Draft, leg: LegDraft, quote: Quote): Quoted {
  const own = splits[legs.indexOf(leg)] ?? [];
  const divisor = own.reduce((product, { at, factor, isRestated }) => {
    if (isRestated) return quote.at < at ? product * factor : product;
    return quote.at < at ? product : product / factor;
  }, 1);
  return dividedBy(quotedOf(quote), divisor);
}

const dividedBy = ({ bid, ask }: Quoted, divisor: number): Quoted => ({
  ...(bid !== undefined && { bid: bid / divisor }),
  ...(ask !== undefined && { ask: ask / divisor }),
});

/** Prices and quantities from before a split, in units of after it. */
function restate(leg: LegDraft, priceFactor: number, quantityFactor: number): void {
  if (leg.arrival !== undefined) leg.arrival = dividedBy(leg.arrival, priceFactor);
  for (const execution of leg.executions) {
    execution.price /= priceFactor;
    execution.quantity *= quantityFactor;
    execution.quote = dividedBy(execution.quote, priceFactor);
    if (execution.midAfter !== undefined) execution.midAfter /= priceFactor;
  }
}
