import { marketHours } from './calendar/hours.js';
import type { MarketHours } from './calendar/market-hours.js';
import type { Command, Requester } from './command.js';
import {
  deleteAccount,
  openAccount,
  setAccountStatus,
  updateAccount,
} from './commands/portfolios/accounts.js';
import { deleteAlert, setAlert, updateAlert } from './commands/market/alerts.js';
import { advanceClock, scheduleSeries, scheduleSessions } from './commands/market/advance-clock.js';
import { scheduleAssignments } from './commands/options/assign-early.js';
import { auctionOf } from './commands/fills/auctions.js';
import {
  addEntry,
  beginCompetition,
  followDecision,
  judgeEntry,
  removeEntry,
  resumeCompetition,
  setCompetitionPhase,
  settleCompetition,
} from './commands/portfolios/competition.js';
import { cancelAccountOrders, cancelOrder } from './commands/orders/cancel-order.js';
import { doNotExercise, exerciseOption } from './commands/options/exercise-option.js';
import { isTrading } from './commands/market/halted.js';
import { scheduleAnnouncement } from './commands/market/meet-announcement.js';
import { importPositions } from './commands/portfolios/import-positions.js';
import { haltTrading, liftHalt } from './commands/market/halts.js';
import {
  checkMargin,
  nextMarginCheck,
  portfoliosToCheck,
  resumeMarginWatch,
} from './commands/margin/margin-watch.js';
import {
  announceActions,
  classesInUse,
  listInstruments,
  withdrawAction,
} from './commands/market/market-setup.js';
import { closePortfolio } from './commands/portfolios/close-portfolio.js';
import {
  openPortfolio,
  resetPortfolio,
  renamePortfolio,
  switchBroker,
  transferCash,
} from './commands/portfolios/portfolios.js';
import { scheduleInterest } from './commands/margin/interest.js';
import { previewOrder } from './commands/orders/preview-order.js';
import type { OrderEstimate } from './commands/orders/preview-order.js';
import { deleteOutcomes, setOutcome } from './commands/orders/outcomes.js';
import { bandNow, closesToNote, isRestricted } from './commands/market/price-limits.js';
import { replaceOrder } from './commands/orders/replace-order.js';
import { symbolsRead } from './commands/market/reads.js';
import { submitOrder } from './commands/orders/submit-order.js';
import { updateMarket } from './commands/market/update-market.js';
import { upgradeMargin } from './commands/margin/upgrade-margin.js';
import { Decision, instrumentOf } from './decision.js';
import type { HouseNumbers } from './decision.js';
import type { Event } from './event.js';
import type { BrokerConfiguration } from './brokers/broker.js';
import { evolveTelling } from './evolve.js';
import type { EvolvedOrder } from './evolve.js';
import { tradableOf } from './instruments/instrument.js';
import type { Instrument } from './instruments/instrument.js';
import { instrumentNamed } from './instruments/symbols.js';
import { hoursOf } from './instruments/trading-hours.js';
import type { ClassesElsewhere } from './margin/book.js';
import { haltOf } from './market/halts.js';
import type { Halt } from './market/halts.js';
import { isUsable } from './market/quote.js';
import { wakeConcerned } from './matching/multi-leg-index.js';
import { waitingFor } from './matching/wait-reason.js';
import type { Order, OrderTerms } from './orders/order.js';
import type { Quote } from './market/quote.js';
import { optionMarketOf } from './option-lookup.js';
import { markOfSymbol } from './options/option-figures.js';
import type { OptionMarket } from './options/option-market.js';
import type { OrderRequest } from './orders/order-request.js';
import type { Rejection } from './rejection.js';
import { brokerOf } from './rules.js';
import type { Rules } from './rules.js';
import { finish } from './pieces.js';
import { restoringState } from './saved-state.js';
import type { PassingState } from './saved-state.js';
import { booksOf } from './portfolio-snapshot.js';
import type { PortfolioSnapshot } from './portfolio-snapshot.js';
import type { Portfolio } from './portfolios/portfolio.js';
import { worthOf } from './portfolios/valuation.js';
import type { Worth } from './portfolios/valuation.js';
import { bookOf, emptyState, forgetPastChecks, noteMark } from './state.js';
import type { State } from './state.js';
import { Ids } from './values/ids.js';
import { Instant } from './values/instant.js';
import type { Price } from './values/price.js';

/** Result of each command that is not rejected. */
export interface Results {
  OpenAccount: ReturnType<typeof openAccount>;
  UpdateAccount: ReturnType<typeof updateAccount>;
  SetAccountStatus: ReturnType<typeof setAccountStatus>;
  DeleteAccount: ReturnType<typeof deleteAccount>;
  OpenPortfolio: ReturnType<typeof openPortfolio>;
  ClosePortfolio: ReturnType<typeof closePortfolio>;
  RenamePortfolio: ReturnType<typeof renamePortfolio>;
  SwitchBroker: ReturnType<typeof switchBroker>;
  UpgradeMargin: ReturnType<typeof upgradeMargin>;
  ResetPortfolio: ReturnType<typeof resetPortfolio>;
  TransferCash: ReturnType<typeof transferCash>;
  ImportPositions: ReturnType<typeof importPositions>;
  ExerciseOption: ReturnType<typeof exerciseOption>;
  DoNotExercise: ReturnType<typeof doNotExercise>;
  SubmitOrder: ReturnType<typeof submitOrder>;
  ReplaceOrder: ReturnType<typeof replaceOrder>;
  CancelOrder: ReturnType<typeof cancelOrder>;
  CancelAccountOrders: ReturnType<typeof cancelAccountOrders>;
  ListInstruments: ReturnType<typeof listInstruments>;
  AnnounceActions: ReturnType<typeof announceActions>;
  WithdrawAction: ReturnType<typeof withdrawAction>;
  SetOutcome: ReturnType<typeof setOutcome>;
  DeleteOutcomes: ReturnType<typeof deleteOutcomes>;
  SetAlert: ReturnType<typeof setAlert>;
  UpdateAlert: ReturnType<typeof updateAlert>;
  DeleteAlert: ReturnType<typeof deleteAlert>;
  HaltTrading: ReturnType<typeof haltTrading>;
  LiftHalt: ReturnType<typeof liftHalt>;
  UpdateMarket: ReturnType<typeof updateMarket>;
  AdvanceClock: undefined;
  LookAtMargin: undefined;
  ChangeRules: undefined;
  MoveClock: undefined;
  TagIds: undefined;
  BeginFork: undefined;
  BeginCompetition: ReturnType<typeof beginCompetition>;
  SetCompetitionPhase: ReturnType<typeof setCompetitionPhase>;
  AddEntry: ReturnType<typeof addEntry>;
  RemoveEntry: ReturnType<typeof removeEntry>;
  SettleCompetition: ReturnType<typeof settleCompetition>;
  JudgeEntry: undefined;
}

/** Result and events of a command. A rejected one has no events. */
export interface Outcome<T extends Command['type'] = Command['type']> {
  readonly result: Results[T];
  readonly events: readonly Event[];
  /** For each event its order, in the state after the event; undefined for events that concern no order. */
  readonly orders: readonly (EvolvedOrder | undefined)[];
  /** Quotes read by the decision that the journal does not have yet: they go into its record, before the command. */
  readonly quotes: readonly Quote[];
}

/**
 * The brokerage of one simulation: commands in, events out. Synchronous and deterministic: the same seed and commands at the
 * same instants give the same events, ids and figures anywhere. It has no clock, no randomness and no I/O of its own.
 */
export class Brokerage {
  readonly state: State;
  /** Called with every symbol whose market a decision reads: tests compare them with `symbolsRead`. */
  onRead: ((symbol: string) => void) | undefined;
  /** For reads only: decisions compute all requirements themselves. */
  classes: ClassesElsewhere | undefined;
  /** Numbers that orders of the house had when they were first placed: for comparisons. */
  houseNumbers: HouseNumbers | undefined;
  /** With the calendar as it is known now. */
  #rules: Rules;
  /** First instant at which an announcement changes that calendar. */
  #knownUntil: Instant;

  private constructor(state: State, rules: Rules) {
    this.state = state;
    this.#rules = rulesAsOf(rules, state.now);
    this.#knownUntil = knownUntil(rules, state.now);
  }

  /** The rules in force, with the calendar as it is known now. */
  get rules(): Rules {
    return this.#rules;
  }

  /** Moves to an instant. Returns true when an announcement has changed the calendar since. */
  #moveTo(at: Instant): boolean {
    this.state.now = at;
    if (at < this.#knownUntil) return false;
    this.#rules = rulesAsOf(this.#rules, at);
    this.#knownUntil = knownUntil(this.#rules, at);
    return true;
  }

  /** A simulation that begins at `start`. Without an `idSecret` its ids follow from the seed. */
  static begin(rules: Rules, seed: number, start: Instant, idSecret = Ids.secretOf(seed)): Brokerage {
    const brokerage = new Brokerage(emptyState(seed, idSecret, start), rules);
    const d = new Decision(brokerage.state, brokerage.rules, start);
    scheduleAnnouncement(d, start);
    scheduleSessions(d, start, start);
    scheduleInterest(d, start);
    scheduleAssignments(d, start);
    return brokerage;
  }

  /** Restores a saved simulation. Apply the records after it, then call `resume`. */
  static restore(rules: Rules, saved: PassingState): Brokerage {
    return finish(Brokerage.restoring(rules, saved));
  }

  /** Restores a brokerage in steps. */
  static *restoring(rules: Rules, saved: PassingState): Generator<undefined, Brokerage> {
    return new Brokerage(yield* restoringState(saved, rules.calendar), rules);
  }

  /**
   * Executes one command at an instant, which must not be before that of any earlier command. Everything due before `at` must have been
   * executed with `AdvanceClock` first (see `nextDue`).
   */
  execute<T extends Command['type']>(command: Extract<Command, { type: T }>, at: Instant): Outcome<T> {
    if (at < this.state.now) throw new RangeError('commands go forward in time');
    const isAnnounced = this.#moveTo(at);
    const decision = new Decision(this.state, this.rules, at, this.onRead, this.houseNumbers);
    const result = dispatch(decision, command) as Results[T];
    const { unmatched } = decision;
    if (unmatched.size > 0)
      decision.emit({
        type: 'MatchingPaused',
        symbols: [...new Set([...this.state.unmatched, ...unmatched])].sort(),
      });
    followDecision(decision);
    if (isAnnounced) this.#scheduleByCalendar();
    if (decision.events.length === 0) decision.forgetReads();
    // The record contains the whole command.
    else this.#noteRecorded(command);
    const { events, orders, quotesRead } = decision;
    return { result, events, orders, quotes: quotesRead };
  }

  #noteRecorded(command: Command): void {
    if (command.type !== 'UpdateMarket' || command.pushed) return;
    for (const quote of command.quotes) {
      const book = this.state.books.get(quote.symbol);
      if (book?.quote === quote) book.quoteRecorded = true;
    }
  }

  /** Recovery: applies recorded events. Returns the order of each event, as `Outcome.orders` has them. */
  apply(events: readonly Event[], at: Instant): readonly (EvolvedOrder | undefined)[] {
    this.#moveTo(Instant.max(this.state.now, at));
    forgetPastChecks(this.state);
    return events.map((event) => evolveTelling(this.state, event, at, this.rules.calendar));
  }

  /** Restores a quote that a record carries with its command: decisions have already used it. */
  recall(quotes: readonly Quote[]): void {
    for (const quote of quotes) {
      bookOf(this.state, quote.symbol).setQuote(quote, true);
      wakeConcerned(this.state.multiLegOrdersOn, quote);
      noteMark(this.state, quote.symbol, quote.at);
    }
  }

  /** Reasons why instruments cannot be listed as described: they are held or on order under another class. */
  classesInUse(instruments: readonly Instrument[]): readonly string[] {
    return classesInUse({ state: this.state, instrument: (symbol) => this.instrument(symbol) }, instruments);
  }

  /** Notes the latest processed record of the followed market. */
  follow(marketSeq: number): void {
    this.state.marketSeq = marketSeq;
  }

  /** Quotes in force of these symbols that the journal does not have. They count as recorded from here on. */
  quotesToRecord(symbols: Iterable<string>): readonly Quote[] {
    const quotes: Quote[] = [];
    for (const symbol of symbols) {
      const book = this.state.books.get(symbol);
      if (book?.quote === undefined || book.quoteRecorded) continue;
      book.quoteRecorded = true;
      quotes.push(book.quote);
    }
    return quotes;
  }

  /** Sets quotes that are already in force and are matched with no order. Newer quotes stay. */
  prime(quotes: readonly Quote[]): void {
    for (const quote of quotes) {
      const book = bookOf(this.state, quote.symbol);
      if (!isUsable(quote) || (book.quote !== undefined && book.quote.at >= quote.at)) continue;
      book.setQuote(quote, false);
      wakeConcerned(this.state.multiLegOrdersOn, quote);
    }
  }

  /**
   * Sets the session timers after recovery, from the last complete close and from now (an open before now has
   * been processed). Timers due at this very instant are still to run.
   */
  resume(): void {
    this.#scheduleByCalendar();
    resumeMarginWatch(new Decision(this.state, this.rules, this.state.now));
  }

  /** Sets all timers that follow from the calendar. */
  #scheduleByCalendar(): void {
    const { closedThrough, now } = this.state;
    const { calendar } = this.rules;
    const day = closedThrough === undefined ? undefined : calendar.tradingDay(closedThrough);
    for (const timer of [...this.state.timers.values()]) {
      if (DERIVED.has(timer.what.kind)) this.state.timers.remove(timer);
    }
    const justBefore = Instant.plusMs(now, -1);
    const d = new Decision(this.state, this.rules, now);
    this.state.seriesEndings.clear();
    this.state.futureSettlements.clear();
    this.state.awaitingOpening.clear();
    scheduleAnnouncement(d, justBefore);
    scheduleSessions(d, justBefore, day?.regularClose ?? justBefore);
    scheduleSeries(new Decision(this.state, this.rules, justBefore));
    scheduleInterest(d, justBefore);
    scheduleAssignments(d, justBefore);
    resumeCompetition(d);
  }

  /** Previews an order (D122): plans it without placing it, and records no quotes as read. */
  preview(by: Requester, request: OrderRequest): OrderEstimate | Rejection {
    const d = new Decision(this.state, this.rules, this.state.now);
    d.classes = this.classes;
    try {
      return previewOrder(d, by, request);
    } finally {
      d.forgetReads();
    }
  }

  /** The configuration of a portfolio's broker, with the option level that a competition allows. */
  broker({ settings }: Pick<Portfolio, 'settings'>): BrokerConfiguration {
    return brokerOf(this.rules, settings.brokerId, this.state.competition?.terms.rules.optionLevel);
  }

  /** The earliest due time of all timers. */
  nextDue(): Instant | undefined {
    return this.state.timers.first()?.due;
  }

  /** Time of the next judgment of a competition entry (`JudgeEntry`). */
  nextJudgment(): Instant | undefined {
    return this.state.competitionTimers.judgeAt;
  }

  /** Due time of the next margin check. `isComputed`: quotes are computed on demand. */
  nextLook(isComputed = false): Instant | undefined {
    return nextMarginCheck(this.state, isComputed);
  }

  /** Portfolios due for a margin check (`LookAtMargin`), `most` at a time. */
  toLookAt(at: Instant, isComputed: boolean, most: number): readonly string[] {
    return portfoliosToCheck(this, at, isComputed, most);
  }

  /** The symbols whose quotes this command reads, to be brought up to date before it. */
  symbolsRead(command: Command, at: Instant): ReadonlySet<string> {
    return symbolsRead(this.state, command, at, () =>
      closesToNote({ state: this.state, rules: this.rules, instrument: (symbol) => this.instrument(symbol) }),
    );
  }

  /** The time of all reads. */
  get at(): Instant {
    return this.state.now;
  }

  quote(symbol: string): Quote | undefined {
    return this.state.books.get(symbol)?.quote;
  }

  /** The mark of a position in a symbol (D56, D72). */
  mark(symbol: string): Price | undefined {
    return markOfSymbol(symbol, this.options);
  }

  /** Market data and model inputs of option valuations. */
  get options(): OptionMarket {
    return optionMarketOf(this.state, this.rules, {
      at: this.at,
      quote: (symbol) => this.quote(symbol),
      instrument: (symbol) => this.instrument(symbol),
    });
  }

  /** Cash and positions of a portfolio at current marks. */
  worthOf(portfolio: Portfolio): Worth {
    const market = this.options;
    const instrument = (symbol: string): Instrument | undefined => this.instrument(symbol);
    return worthOf(portfolio, { instrument, mark: (symbol) => markOfSymbol(symbol, market) });
  }

  /** Cash and positions of a portfolio at an earlier instant, by its snapshot and the quotes of then. */
  worthThen(snapshot: PortfolioSnapshot, at: Instant, quote: (symbol: string) => Quote | undefined): Worth {
    const { held } = snapshot;
    // A command may have listed the symbol as another class since. The position then is that of the feed, or what its name says.
    const instrument = (symbol: string): Instrument | undefined => {
      const known = this.instrument(symbol, at);
      const heldAs = held[symbol]?.assetClass;
      if (heldAs === undefined || known?.assetClass === heldAs) return known;
      const named = this.rules.instruments.get(symbol, at);
      if (named?.assetClass === heldAs) return named;
      const usual = instrumentNamed(symbol, (name) => this.instrument(name, at)?.assetClass);
      return usual?.assetClass === heldAs ? usual : undefined;
    };
    const market = optionMarketOf(this.state, this.rules, { at, quote, instrument });
    const known = Object.entries(held).filter(([symbol]) => instrument(symbol) !== undefined);
    const books = booksOf({ ...snapshot, held: Object.fromEntries(known) });
    return worthOf(books, { instrument, mark: (symbol) => markOfSymbol(symbol, market) });
  }

  /** The instrument of a symbol, if listed by this instant. */
  instrument(symbol: string, at = this.state.now): Instrument | undefined {
    return instrumentOf(this.state, this.rules, symbol, at);
  }

  /** The halt that keeps an instrument from trading at an instant. */
  haltOf(instrument: Instrument, at = this.state.now): Halt | undefined {
    return haltOf(this.state.halts, instrument, at);
  }

  /** True when short sales of a symbol are restricted at an instant (D179a). */
  isShortSaleRestricted(symbol: string, at = this.state.now): boolean {
    return isRestricted({ state: this.state, at }, symbol);
  }

  /** Reason why an open order has not filled yet, as a sentence for users. */
  waitingFor(order: Order, now = this.state.now): string | undefined {
    const d = new Decision(this.state, this.rules, now);
    return waitingFor(order, this.hours(order.terms), now, {
      quoteMaxAgeMs: this.rules.quoteMaxAgeMs,
      bookOf: (symbol) => this.state.books.get(symbol),
      instrument: (symbol) => d.tradable(symbol),
      auctionOf: (one) => auctionOf(d, one),
      haltOf: (instrument) => this.haltOf(instrument, now),
      isTrading: (book) => isTrading(d, book),
      fillModelOf: (one) => d.portfolioOf(one).terms.fillModel,
      bandOf: ({ symbol }) => bandNow(d, symbol),
      scriptOf: ({ terms: { script } }) =>
        script?.outcome === undefined
          ? 'held by script'
          : `held by outcome ${this.state.ids.idOf('OUTCOME', script.outcome)}`,
    });
  }

  /** The trading hours of an order's instrument. */
  hours({ symbol, legs }: Pick<OrderTerms, 'symbol' | 'legs'>): MarketHours {
    const traded = legs?.[0]?.optionSymbol ?? symbol;
    return marketHours(this.rules.calendar, hoursOf(tradableOf(traded, this.instrument(traded))));
  }
}

const rulesAsOf = (rules: Rules, at: Instant): Rules => {
  const calendar = rules.calendar.asOf(at);
  return calendar === rules.calendar ? rules : { ...rules, calendar };
};

const knownUntil = ({ calendar }: Rules, at: Instant): Instant =>
  calendar.changesAfter(at) ?? Instant.ofMs(Number.POSITIVE_INFINITY);

/** Timers that follow from the calendar. */
const DERIVED: ReadonlySet<string> = new Set([
  'ANNOUNCEMENT',
  'SESSION_OPEN',
  'SESSION_CLOSE',
  'SERIES_END',
  'FUTURES_SETTLE',
  'INTEREST',
  'INTEREST_POST',
  'EARLY_ASSIGNMENT',
  'COMPETITION_START',
  'COMPETITION_HOUR',
  'COMPETITION_END',
]);

function dispatch(d: Decision, command: Command): unknown {
  switch (command.type) {
    case 'OpenAccount':
      return openAccount(d, command);
    case 'UpdateAccount':
      return updateAccount(d, command);
    case 'SetAccountStatus':
      return setAccountStatus(d, command);
    case 'DeleteAccount':
      return deleteAccount(d, command);
    case 'OpenPortfolio':
      return openPortfolio(d, command);
    case 'ClosePortfolio':
      return closePortfolio(d, command);
    case 'RenamePortfolio':
      return renamePortfolio(d, command);
    case 'SwitchBroker':
      return switchBroker(d, command);
    case 'UpgradeMargin':
      return upgradeMargin(d, command);
    case 'ResetPortfolio':
      return resetPortfolio(d, command);
    case 'TransferCash':
      return transferCash(d, command);
    case 'ImportPositions':
      return importPositions(d, command);
    case 'ExerciseOption':
      return exerciseOption(d, command);
    case 'DoNotExercise':
      return doNotExercise(d, command);
    case 'SubmitOrder':
      return submitOrder(d, command);
    case 'ReplaceOrder':
      return replaceOrder(d, command);
    case 'CancelOrder':
      return cancelOrder(d, command);
    case 'CancelAccountOrders':
      return cancelAccountOrders(d, command);
    case 'ListInstruments':
      return listInstruments(d, command);
    case 'AnnounceActions':
      return announceActions(d, command);
    case 'WithdrawAction':
      return withdrawAction(d, command);
    case 'SetOutcome':
      return setOutcome(d, command);
    case 'DeleteOutcomes':
      return deleteOutcomes(d, command);
    case 'SetAlert':
      return setAlert(d, command);
    case 'UpdateAlert':
      return updateAlert(d, command);
    case 'DeleteAlert':
      return deleteAlert(d, command);
    case 'HaltTrading':
      return haltTrading(d, command);
    case 'LiftHalt':
      return liftHalt(d, command);
    case 'BeginCompetition':
      return beginCompetition(d, command);
    case 'SetCompetitionPhase':
      return setCompetitionPhase(d, command);
    case 'JudgeEntry':
      judgeEntry(d);
      return undefined;
    case 'AddEntry':
      return addEntry(d, command);
    case 'RemoveEntry':
      return removeEntry(d, command);
    case 'SettleCompetition':
      return settleCompetition(d, command);
    case 'UpdateMarket':
      return updateMarket(d, command);
    case 'AdvanceClock':
      advanceClock(d);
      return undefined;
    case 'LookAtMargin': {
      checkMargin(d, command);
      return;
    }
    case 'ChangeRules':
      d.emit({ type: 'RulesChanged', rules: command.rules });
      return undefined;
    case 'MoveClock':
      d.emit({
        type: 'ClockMoved',
        now: command.now,
        ...(command.since !== undefined && { since: command.since }),
      });
      return undefined;
    case 'TagIds':
      d.emit({ type: 'IdsTagged', tag: command.tag });
      return undefined;
    case 'BeginFork': {
      const { now, seed } = command;
      d.emit({ type: 'ForkBegun', now, ...(seed !== undefined && { seed }) });
      return undefined;
    }
  }
}
