import type { CorporateAction } from './corporate-actions/corporate-action.js';
import type { Instrument } from './instruments/instrument.js';
import { noHalts } from './market/halts.js';
import type { BandState } from './market/price-bands.js';
import type { TradingHalts } from './market/halts.js';
import { Book } from './matching/book.js';
import type { MultiLegOrderIndexes } from './matching/multi-leg-index.js';
import { symbolsTraded } from './orders/order.js';
import type { Order } from './orders/order.js';
import type { Alert } from './market/alert.js';
import type { OutcomeRule } from './orders/outcome-rule.js';
import type { Account } from './portfolios/account.js';
import { KnownModels } from './margin/portfolio/known-models.js';
import { Partitions } from './margin/reg-t/partition.js';
import { MarginBounds } from './portfolios/margin-bounds.js';
import type { Portfolio } from './portfolios/portfolio.js';
import type { RulesInForce } from './rules.js';
import { Ids } from './values/ids.js';
import { Instant } from './values/instant.js';
import type { Competition } from './competitions/competition.js';
import type { Money } from './values/money.js';
import type { Price } from './values/price.js';
import { PriorityQueue } from './values/priority-queue.js';
import type { TradingDate } from './values/trading-date.js';

/** Running numbers. All identity and chance follow from them, the seed and the secret of ids. */
export interface Counters {
  /** Accounts that were ever opened, including deleted ones, so that no id is reused. */
  account: number;
  portfolio: number;
  order: number;
  execution: number;
  ledgerEntry: number;
  lot: number;
  arrival: number;
  action: number;
  call: number;
  /** Batches of quotes pushed through the API. */
  push: number;
  outcome: number;
  alert: number;
}

/** An announced corporate action. Kept for some days after its ex-date so that it cannot be announced twice. */
export interface AnnouncedAction {
  readonly actionId: string;
  readonly number: number;
  readonly action: CorporateAction;
  /** Absent = announced by an earlier version: it takes effect in the order of announcement. */
  readonly byKind?: true;
  status: 'ANNOUNCED' | 'EFFECTIVE' | 'WITHDRAWN';
  /** Progress of an action that requires more than one record. */
  underWay?: ActionProgress;
}

/** Progress of a corporate action in a portfolio with many orders. */
export interface PortfolioInPart {
  /** Number of the portfolio. */
  readonly portfolio: number;
  /** Number of the last order that is done. */
  readonly order: number;
}

interface ActionProgress {
  /** The number of the last processed portfolio. */
  readonly through: number;
  /** The next one, if it has so many orders that it is done in part. */
  readonly within?: PortfolioInPart;
  /** The mark before the action: of splits, and of actions that give or end shares. */
  readonly mark?: Price;
  /** The mark of the shares that an action gives: the price of fractions, and of shares in taxes. */
  readonly newMark?: Price;
  /** Old and new symbol of each adjusted series on the symbol, in the order of renaming. */
  readonly series: readonly { readonly from: string; readonly to: string }[];
}

/**
 * An action that is due at an instant. Timers are derived from the state and rebuilt on recovery. At the same
 * instant they go by `rank`, then by `number`.
 */
export interface Timer {
  place: number;
  readonly due: Instant;
  readonly rank: number;
  readonly number: number;
  readonly what:
    | { readonly kind: 'ANNOUNCEMENT' }
    | { readonly kind: 'CLOSING_AUCTION'; readonly order: number }
    | { readonly kind: 'CORPORATE_ACTION'; readonly actionId: string }
    | { readonly kind: 'SETTLEMENT'; readonly portfolioId: string; readonly date: TradingDate }
    | { readonly kind: 'HALT_END' }
    | { readonly kind: 'LIMIT_STATE'; readonly symbol: string }
    | { readonly kind: 'SESSION_OPEN' }
    | { readonly kind: 'MATCHING' }
    | { readonly kind: 'ORDER_RELEASE'; readonly order: number }
    | { readonly kind: 'ORDER_ARRIVAL'; readonly order: number }
    | { readonly kind: 'ORDER_SCRIPT'; readonly order: number }
    | { readonly kind: 'CANCEL_ARRIVAL'; readonly order: number }
    | { readonly kind: 'ORDER_EXPIRY'; readonly order: number }
    | SeriesEnding
    | { readonly kind: 'FUTURES_SETTLE'; readonly symbols: ReadonlySet<string> }
    | { readonly kind: 'SESSION_CLOSE'; readonly date: TradingDate }
    | { readonly kind: 'INTEREST'; readonly date: TradingDate }
    | { readonly kind: 'INTEREST_POST' }
    | { readonly kind: 'CALL_DUE'; readonly portfolioId: string; readonly call: number }
    | { readonly kind: 'EARLY_ASSIGNMENT'; readonly date: TradingDate }
    | { readonly kind: 'COMPETITION_START' }
    | { readonly kind: 'COMPETITION_HOUR' }
    | { readonly kind: 'COMPETITION_END' };
}

/** Progress of the draw of an evening's early assignments, in the order of series and portfolios (D89). */
export interface AssignmentDraw {
  readonly date: TradingDate;
  /** The current series; those before it are done. */
  readonly symbol: string;
  /** The number of the last processed portfolio of that series. */
  readonly through: number;
  /** Short contracts of the portfolios after that one, and the number of them to be assigned. */
  readonly contracts: number;
  readonly hits: number;
}

/** Option series with open positions that require processing, by underlying. */
export interface SeriesEnding {
  readonly kind: 'SERIES_END';
  readonly series: ReadonlyMap<string, Set<string>>;
  /** By underlying: the opening that settles series on it, if already seen. */
  readonly opening?: ReadonlyMap<string, Price>;
}

/** Series and openings of one series-end timer, filled in as series are scheduled. */
interface EndingAt {
  readonly series: Map<string, Set<string>>;
  readonly opening: Map<string, Price>;
}

/** The order of actions due at the same instant. */
const TIMER_RANK: Readonly<Record<Timer['what']['kind'], number>> = {
  ANNOUNCEMENT: -2,
  COMPETITION_START: -1,
  CLOSING_AUCTION: 0,
  CORPORATE_ACTION: 1,
  SETTLEMENT: 2,
  HALT_END: 3,
  LIMIT_STATE: 4,
  SESSION_OPEN: 5,
  MATCHING: 5.5,
  ORDER_RELEASE: 6,
  ORDER_ARRIVAL: 7,
  ORDER_SCRIPT: 8,
  CANCEL_ARRIVAL: 9,
  ORDER_EXPIRY: 10,
  SERIES_END: 11,
  FUTURES_SETTLE: 12,
  COMPETITION_HOUR: 12.5,
  SESSION_CLOSE: 13,
  COMPETITION_END: 13.5,
  INTEREST: 14,
  INTEREST_POST: 15,
  EARLY_ASSIGNMENT: 16,
  CALL_DUE: 17,
};

/** Most timers that one batch serves. */
export const TIMERS_AT_ONCE = 256;

/** Timers that end their batch: their records are long enough alone. */
export const DONE_ALONE: ReadonlySet<Timer['what']['kind']> = new Set([
  'ANNOUNCEMENT',
  'SESSION_CLOSE',
  'COMPETITION_START',
  'COMPETITION_HOUR',
  'COMPETITION_END',
  'CORPORATE_ACTION',
  'SERIES_END',
  'FUTURES_SETTLE',
  'INTEREST',
  'INTEREST_POST',
  'EARLY_ASSIGNMENT',
  'CALL_DUE',
]);

const timerBefore = (a: Timer, b: Timer): boolean =>
  a.due !== b.due ? a.due < b.due : a.rank !== b.rank ? a.rank < b.rank : a.number < b.number;

/** Notional that an agent has used of its daily cap. */
export interface AgentUse {
  readonly date: TradingDate;
  readonly used: Money;
}

/**
 * The known state of a simulation: saved in checkpoints and hashed. Only events change it, in `evolve.ts`; `now` is that of the latest
 * command.
 */
interface KnownState {
  /** Seed of all draws. A fork may continue with another. */
  seed: number;
  /** Creates and reads public ids. */
  ids: Ids;
  /** With a tag for each loss of records (D226). */
  idSecret: string;
  /** The instant of the latest command. */
  now: Instant;
  readonly counters: Counters;
  /** By id. */
  readonly accounts: Map<string, Account>;
  readonly portfolios: Map<string, Portfolio>;
  /** Open orders only, by number, oldest first. */
  readonly orders: Map<number, Order>;
  /** Instruments listed by commands, in addition to those of the feed. */
  readonly listed: Map<string, Instrument>;
  /** Series that a split has replaced, with their new symbols; the old ones no longer trade (D89). */
  readonly adjusted: Map<string, string>;
  readonly actions: Map<string, AnnouncedAction>;
  /** Symbols whose shares a corporate action has ended, with their successor; '' = none (D208). */
  readonly retired: Map<string, string>;
  /** By underlying: the mark of the latest close, by which options on it are exercised although they trade on (D69). */
  readonly exercisePrices: Map<string, { readonly date: TradingDate; readonly price: Price }>;
  /** By agent: use of daily caps, for the latest day with any. */
  readonly agents: Map<string, AgentUse>;
  /** The latest date whose close marks are complete. */
  closedThrough: TradingDate | undefined;
  /** The latest date with accrued interest. */
  accruedThrough: TradingDate | undefined;
  /** The latest date whose early assignments are complete, if any. */
  assignedThrough: TradingDate | undefined;
  /** The draw of early assignments in progress. */
  assigning: AssignmentDraw | undefined;
  readonly halts: TradingHalts;
  /** By symbol: the latest official close, in current shares; equities only, if price limits are in force. */
  readonly closes: Map<string, Price>;
  /** The session of these closes. */
  closesOf: TradingDate | undefined;
  /** By symbol: end of the short-sale restriction (D179a). */
  readonly restricted: Map<string, Instant>;
  /** By symbol: price bands of the current session (D179). */
  readonly bands: Map<string, BandState>;
  /** By number, oldest first: the outcome rules that script orders. */
  readonly outcomes: Map<number, OutcomeRule>;
  /** By number, oldest first: price alerts, those that have fired included. */
  readonly alerts: Map<number, Alert>;
  /** Symbols with orders that the last decision has left unmatched (D264). */
  unmatched: readonly string[];
  /** The latest rules in the journal; undefined = those the simulation began with. */
  rules: RulesInForce | undefined;
  /** Current time of a manual clock; undefined under other clocks. */
  clock: Instant | undefined;
  /** Sequence number of the last processed record of the followed market; 0 = none, or its own market. */
  marketSeq: number;
  /** The competition of the simulation. */
  competition: Competition | undefined;
}

/**
 * Indexes, timers and the market in force: rebuilt on recovery, part of neither checkpoints nor the state hash. `evolve.ts` maintains them
 * as events are applied, as do readers of the market, of margin and of time; no decision may depend on how they were built.
 */
interface DerivedState {
  readonly books: Map<string, Book>;
  /** Numbers of active price alerts, by symbol. */
  readonly alertsOn: Map<string, Set<number>>;
  /** Open multi-leg orders by the contracts of their legs; they are in no book. */
  readonly multiLegOrdersOn: MultiLegOrderIndexes;
  /** Open orders in options, multi-leg orders included, by underlying. */
  readonly optionOrders: Map<string, Set<Order>>;
  /** Candidates of the corporate action in progress, oldest first; kept from one slice of it to the next. */
  concerned: { readonly actionId: string; readonly portfolios: readonly Portfolio[] } | undefined;
  /** By symbol: the portfolios that hold it. No entry is empty. */
  readonly holders: Map<string, Set<Portfolio>>;
  readonly timers: PriorityQueue<Timer>;
  /** By symbol: open orders that a script keeps from the market. No entry is empty. */
  readonly scripted: Map<string, Set<Order>>;
  /** By symbol: the timers of limit states. */
  readonly limitTimers: Map<string, Timer>;
  /** By symbol: the timers of halts with a set end. */
  readonly haltTimers: Map<string, Timer>;
  /** By instant: the series that the one series-end timer of that instant covers. */
  readonly seriesEndings: Map<Instant, EndingAt>;
  /** By instant: the futures that the one settlement timer of that instant covers. */
  readonly futureSettlements: Map<Instant, Set<string>>;
  readonly competitionTimers: {
    start: Timer | undefined;
    hour: Timer | undefined;
    end: Timer | undefined;
    /** Time of the next judgment of the entry (`JudgeEntry`). */
    judgeAt: Instant | undefined;
  };
  /** By index: series that wait for its opening. */
  readonly awaitingOpening: Map<string, Set<string>>;
  /** By underlying: the portfolios that hold options on it. No entry is empty. */
  readonly optionHolders: Map<string, Set<Portfolio>>;
  /** By shares that contracts deliver beside those of their underlying: the underlyings of contracts that do, or did (D208). */
  readonly deliveredWith: Map<string, Set<string>>;
  readonly watch: MarginWatch;
  /** The latest partitions of large option books. */
  readonly partitions: Partitions;
  /** The latest model values of options in books under portfolio margin. */
  readonly models: KnownModels;
}

export interface State extends KnownState, DerivedState {}

/** Changes since the last margin check that may have caused a margin call. Derived. */
interface MarginWatch {
  /** Symbols whose marks have moved, and when their holders are to be checked. */
  readonly symbols: Map<string, Instant>;
  /** Portfolios whose margin has changed, and when they are to be checked. */
  readonly portfolios: Map<Portfolio, Instant>;
  readonly bounds: MarginBounds;
  /** Due time of the check of those portfolios; undefined = none are queued. */
  dueAt: Instant | undefined;
  /** Due checks of portfolios whose margin computed prices may have used up. */
  readonly looks: PriorityQueue<MarginCheck>;
  readonly lookOf: Map<Portfolio, MarginCheck>;
}

interface MarginCheck {
  place: number;
  readonly at: Instant;
  readonly portfolio: Portfolio;
}

const lookBefore = (a: MarginCheck, b: MarginCheck): boolean =>
  a.at !== b.at ? a.at < b.at : a.portfolio.terms.number < b.portfolio.terms.number;

export function emptyState(seed: number, idSecret: string, now: Instant): State {
  return {
    seed,
    ids: new Ids(idSecret),
    idSecret,
    now,
    counters: {
      account: 0,
      portfolio: 0,
      order: 0,
      execution: 0,
      ledgerEntry: 0,
      lot: 0,
      arrival: 0,
      action: 0,
      call: 0,
      push: 0,
      outcome: 0,
      alert: 0,
    },
    accounts: new Map(),
    portfolios: new Map(),
    orders: new Map(),
    listed: new Map(),
    adjusted: new Map(),
    actions: new Map(),
    retired: new Map(),
    exercisePrices: new Map(),
    agents: new Map(),
    closedThrough: undefined,
    accruedThrough: undefined,
    assignedThrough: undefined,
    assigning: undefined,
    halts: noHalts(),
    closes: new Map(),
    closesOf: undefined,
    restricted: new Map(),
    bands: new Map(),
    outcomes: new Map(),
    alerts: new Map(),
    unmatched: [],
    rules: undefined,
    clock: undefined,
    marketSeq: 0,
    competition: undefined,
    books: new Map(),
    alertsOn: new Map(),
    multiLegOrdersOn: new Map(),
    optionOrders: new Map(),
    concerned: undefined,
    holders: new Map(),
    timers: new PriorityQueue(timerBefore),
    scripted: new Map(),
    limitTimers: new Map(),
    haltTimers: new Map(),
    seriesEndings: new Map(),
    futureSettlements: new Map(),
    competitionTimers: { start: undefined, hour: undefined, end: undefined, judgeAt: undefined },
    awaitingOpening: new Map(),
    optionHolders: new Map(),
    deliveredWith: new Map(),
    watch: {
      symbols: new Map(),
      portfolios: new Map(),
      bounds: new MarginBounds(),
      dueAt: undefined,
      looks: new PriorityQueue(lookBefore),
      lookOf: new Map(),
    },
    partitions: new Partitions(),
    models: new KnownModels(),
  };
}

/** The book of an instrument, created on first use. */
export function bookOf(state: State, symbol: string): Book {
  let book = state.books.get(symbol);
  if (book === undefined) {
    book = new Book(symbol);
    state.books.set(symbol, book);
  }
  return book;
}

type Holders = Map<string, Set<Portfolio>>;

/** Adds a portfolio to an index of holders. */
export function addHolder(index: Holders, key: string, portfolio: Portfolio): void {
  const holders = index.get(key);
  if (holders === undefined) index.set(key, new Set([portfolio]));
  else holders.add(portfolio);
}

/** Removes a portfolio from an index of holders. */
export function removeHolder(index: Holders, key: string, portfolio: Portfolio): void {
  const holders = index.get(key);
  holders?.delete(portfolio);
  if (holders?.size === 0) index.delete(key);
}

/** Removes a portfolio from all indexes of holders. */
export function removeHoldings({ holders, optionHolders }: State, portfolio: Portfolio): void {
  for (const symbol of portfolio.positions.keys()) removeHolder(holders, symbol, portfolio);
  for (const underlying of portfolio.optionsOn.keys()) removeHolder(optionHolders, underlying, portfolio);
}

/** Ends all margin checks of a closed portfolio. */
export function forgetMargin({ watch }: State, portfolio: Portfolio): void {
  watch.portfolios.delete(portfolio);
  watch.bounds.set(portfolio, []);
  const look = watch.lookOf.get(portfolio);
  if (look !== undefined) watch.looks.remove(look);
  watch.lookOf.delete(portfolio);
}

/** The portfolios that have a position in a symbol, oldest first: not in the order of their purchases, which recovery does not know. */
export const holdersOf = (state: State, symbol: string): Portfolio[] =>
  [...(state.holders.get(symbol) ?? [])].sort((a, b) => a.terms.number - b.terms.number);

/** The first `count` portfolios, oldest first, that hold one of these symbols and are wanted, without sorting all holders. */
export function earliestHolders(
  state: State,
  symbols: Iterable<string>,
  count: number,
  isWanted: (portfolio: Portfolio) => boolean = () => true,
): Portfolio[] {
  let found: Portfolio[] = [];
  let last = Infinity;
  const keepFirst = (): void => {
    found = [...new Set(found)].sort((a, b) => a.terms.number - b.terms.number).slice(0, count);
    if (found.length === count) last = found.at(-1)?.terms.number ?? Infinity;
  };
  for (const symbol of symbols) {
    for (const portfolio of state.holders.get(symbol) ?? []) {
      if (portfolio.terms.number > last || !isWanted(portfolio)) continue;
      found.push(portfolio);
      if (found.length >= count * 4) keepFirst();
    }
  }
  keepFirst();
  return found;
}

/** All open orders in a symbol, at work or not, oldest first; multi-leg orders with a leg in it at the end. */
export function openOrdersIn(state: State, symbol: string): Order[] {
  const single = state.books.get(symbol)?.open;
  const packages = state.multiLegOrdersOn.get(symbol);
  if ((single?.size ?? 0) === 0 && packages === undefined) return [];
  return [
    ...(single?.oldestFirst() ?? []),
    ...[...(packages ?? [])].sort((a, b) => a.terms.number - b.terms.number),
  ];
}

/** Adds a timer. `number` breaks ties, so it must not depend on the creation time: recovery creates it again. */
export function addTimer(state: State, due: Instant, number: number, what: Timer['what']): Timer {
  const timer: Timer = { place: -1, due, rank: TIMER_RANK[what.kind], number, what };
  state.timers.add(timer);
  return timer;
}

/** Sets the timer of a halt of this symbol instead of an earlier one, or removes it. */
export function scheduleHaltEnd(state: State, symbol: string, until: Instant | undefined): void {
  const before = state.haltTimers.get(symbol);
  if (before !== undefined) state.timers.remove(before);
  state.haltTimers.delete(symbol);
  if (until !== undefined) state.haltTimers.set(symbol, addTimer(state, until, 0, { kind: 'HALT_END' }));
}

/** Duration of a limit state before trading pauses. */
const LIMIT_STATE_MS = 15_000;

/** Sets or removes the timer of the limit state of a symbol. */
export function scheduleLimitState(state: State, symbol: string, since: Instant | undefined): void {
  const before = state.limitTimers.get(symbol);
  if (before !== undefined) state.timers.remove(before);
  state.limitTimers.delete(symbol);
  if (since === undefined) return;
  const due = Instant.plusMs(since, LIMIT_STATE_MS);
  state.limitTimers.set(symbol, addTimer(state, due, 0, { kind: 'LIMIT_STATE', symbol }));
}

/** Schedules a check of a series at its end; one timer covers all series that end at an instant. */
export function scheduleSeriesEnd(
  state: State,
  due: Instant,
  symbol: string,
  underlying: string,
  opening?: Price,
): void {
  const { series, opening: openings } = endingAt(state, due);
  const symbols = series.get(underlying);
  if (symbols === undefined) series.set(underlying, new Set([symbol]));
  else symbols.add(symbol);
  if (opening !== undefined) openings.set(underlying, opening);
}

/** Postpones all unprocessed series on an underlying. The timer then owns the set. */
export function postponeSeriesEnd(
  state: State,
  due: Instant,
  symbols: Set<string>,
  underlying: string,
  opening?: Price,
): void {
  const { series, opening: openings } = endingAt(state, due);
  const already = series.get(underlying);
  if (already === undefined) series.set(underlying, symbols);
  else for (const symbol of symbols) already.add(symbol);
  if (opening !== undefined) openings.set(underlying, opening);
}

function endingAt(state: State, due: Instant): EndingAt {
  let ending = state.seriesEndings.get(due);
  if (ending === undefined) {
    ending = { series: new Map(), opening: new Map() };
    state.seriesEndings.set(due, ending);
    addTimer(state, due, 0, { kind: 'SERIES_END', ...ending });
  }
  return ending;
}

/** Most positions that one record ends, and most series that it checks: records and pauses stay short. */
export const ENDINGS_PER_RECORD = 100;
const SERIES_PER_RECORD = 300;

/** The underlyings whose series are processed now: enough for one record, and at least one. */
export function underlyingsInTurn(
  { holders }: State,
  series: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const inTurn: string[] = [];
  let looked = 0;
  let held = 0;
  for (const underlying of [...series.keys()].sort()) {
    if (held >= ENDINGS_PER_RECORD || looked >= SERIES_PER_RECORD) break;
    inTurn.push(underlying);
    for (const symbol of series.get(underlying) ?? []) {
      held += holders.get(symbol)?.size ?? 0;
      looked++;
    }
  }
  return inTurn;
}

/** Schedules the next settlement of a future; one timer covers all that settle at an instant. */
export function scheduleFuture(state: State, due: Instant, symbol: string): void {
  let symbols = state.futureSettlements.get(due);
  if (symbols === undefined) {
    symbols = new Set();
    state.futureSettlements.set(due, symbols);
    addTimer(state, due, 0, { kind: 'FUTURES_SETTLE', symbols });
  }
  symbols.add(symbol);
}

/** Margin checks run on the whole second: at this instant, or the next one. */
const LOOK_EVERY_MS = 1000;

const lookDue = (at: Instant): Instant => Instant.ofMs(Math.ceil(at / LOOK_EVERY_MS) * LOOK_EVERY_MS);

function lookAt({ watch }: State, due: Instant): void {
  if (watch.dueAt === undefined || due < watch.dueAt) watch.dueAt = due;
}

/** Indexes a listed contract by the shares that it delivers beside those of its underlying. */
export function noteDelivered(state: State, instrument: Instrument): void {
  if (instrument.assetClass !== 'OPTION') return;
  for (const { symbol } of instrument.others ?? []) {
    const underlyings = state.deliveredWith.get(symbol);
    if (underlyings === undefined) state.deliveredWith.set(symbol, new Set([instrument.underlying]));
    else underlyings.add(instrument.underlying);
  }
}

/** The underlyings of contracts that deliver a symbol: itself, and those whose contracts deliver it beside their own shares. */
export const underlyingsDelivering = (state: State, symbol: string): readonly string[] => {
  const others = state.deliveredWith.get(symbol);
  return others === undefined ? [symbol] : [symbol, ...[...others].filter((one) => one !== symbol).sort()];
};

/** Queues a margin check, within a second, of the holders of a symbol whose mark has moved. */
export function noteMark(state: State, symbol: string, movedAt = state.now): void {
  for (const underlying of state.deliveredWith.get(symbol) ?? [])
    if (underlying !== symbol) noteMark(state, underlying, movedAt);
  if (!state.holders.has(symbol) && !state.optionHolders.has(symbol) && !state.deliveredWith.has(symbol))
    return;
  const due = lookDue(movedAt);
  state.watch.symbols.set(symbol, due);
  lookAt(state, due);
}

/** Queues a margin check of a portfolio after a change of its margin. */
export function noteMargin(state: State, portfolio: Portfolio): void {
  if (portfolio.settings.portfolioType !== 'MARGIN') return;
  const due = lookDue(Instant.plusMs(state.now, 1));
  state.watch.portfolios.set(portfolio, due);
  lookAt(state, due);
}

/** Notes all portfolios that hold a symbol or options on it, after a change of its terms. */
export function noteHolders(state: State, symbol: string): void {
  for (const index of [state.holders, state.optionHolders])
    for (const portfolio of index.get(symbol) ?? []) noteMargin(state, portfolio);
}

/** Sets the due time of the margin watch to the earliest of all queued checks. */
export function scheduleChecks({ watch }: State): void {
  watch.dueAt = undefined;
  for (const queue of [watch.symbols, watch.portfolios])
    for (const due of queue.values()) if (watch.dueAt === undefined || due < watch.dueAt) watch.dueAt = due;
}

/** Recovery: drops queued checks that were due before the present. They have run, but left no record if they had no result. */
export function forgetPastChecks(state: State): void {
  const { watch, now } = state;
  if (watch.dueAt === undefined || watch.dueAt >= now) return;
  for (const [symbol, due] of watch.symbols) if (due < now) watch.symbols.delete(symbol);
  for (const [portfolio, due] of watch.portfolios) if (due < now) watch.portfolios.delete(portfolio);
  scheduleChecks(state);
}

/** Moves queued checks that are due at this very instant to the next second: most have run, and a stopped clock must not show them again. */
export function postponeChecks(state: State): void {
  const { watch, now } = state;
  const next = lookDue(Instant.plusMs(now, 1));
  for (const [symbol, due] of watch.symbols) if (due <= now) watch.symbols.set(symbol, next);
  for (const [portfolio, due] of watch.portfolios) if (due <= now) watch.portfolios.set(portfolio, next);
  scheduleChecks(state);
}

/** Sets the one timer of an open order to its next due time, or removes it. */
export function scheduleOrder(state: State, order: Order): void {
  if (order.timer !== undefined) state.timers.remove(order.timer as Timer);
  order.timer = undefined;
  const { number } = order.terms;
  const next = nextOf(order);
  if (next !== undefined) order.timer = addTimer(state, next.due, number, { kind: next.kind, order: number });
}

/** Replaces an alert, or removes it, here and in the index of active alerts. */
export function placeAlert({ alerts, alertsOn }: State, number: number, alert: Alert | undefined): void {
  const before = alerts.get(number);
  if (before !== undefined) {
    const others = alertsOn.get(before.symbol);
    others?.delete(number);
    if (others?.size === 0) alertsOn.delete(before.symbol);
  }
  if (alert === undefined) {
    alerts.delete(number);
    return;
  }
  alerts.set(number, alert);
  if (alert.status !== 'ACTIVE') return;
  const others = alertsOn.get(alert.symbol);
  if (others === undefined) alertsOn.set(alert.symbol, new Set([number]));
  else others.add(number);
}

/** Adds an order to the index of those that a script keeps from the market, or removes it. */
export function noteScripted({ scripted }: State, order: Order, isKept: boolean): void {
  for (const symbol of symbolsTraded(order.terms)) {
    const others = scripted.get(symbol);
    if (!isKept) {
      others?.delete(order);
      if (others?.size === 0) scripted.delete(symbol);
    } else if (others === undefined) scripted.set(symbol, new Set([order]));
    else others.add(order);
  }
}

interface OrderWait {
  readonly due: Instant;
  readonly kind:
    | 'CLOSING_AUCTION'
    | 'ORDER_RELEASE'
    | 'ORDER_ARRIVAL'
    | 'ORDER_SCRIPT'
    | 'CANCEL_ARRIVAL'
    | 'ORDER_EXPIRY';
}

const wait = (due: Instant | undefined, kind: OrderWait['kind']): OrderWait | undefined =>
  due === undefined ? undefined : { due, kind };

function nextOf({ terms, progress }: Order): OrderWait | undefined {
  const { status, releaseAt, marketAt, cancelAt, expiresAt, arrival, scriptRun } = progress;
  const end = progress.timeInForce === 'CLS' ? 'CLOSING_AUCTION' : 'ORDER_EXPIRY';
  const atWork = (): OrderWait | undefined => {
    const due = scriptRun?.due;
    return due !== undefined && (expiresAt === undefined || due < expiresAt)
      ? wait(due, 'ORDER_SCRIPT')
      : wait(expiresAt, end);
  };
  switch (status) {
    case 'ACTIVE':
      return atWork();
    case 'PENDING':
      return marketAt !== undefined && marketAt > terms.createdAt
        ? wait(marketAt, 'ORDER_ARRIVAL')
        : undefined;
    case 'PENDING_MARKET_OPEN':
      return wait(releaseAt, 'ORDER_RELEASE');
    case 'CANCELING': {
      const cancel = wait(cancelAt, 'CANCEL_ARRIVAL');
      const other =
        arrival !== undefined
          ? atWork()
          : releaseAt === undefined
            ? wait(marketAt, 'ORDER_ARRIVAL')
            : wait(releaseAt, 'ORDER_RELEASE');
      return other === undefined || (cancel !== undefined && cancel.due < other.due) ? cancel : other;
    }
    default:
      return undefined;
  }
}
