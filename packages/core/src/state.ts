import type { CorporateAction } from './corporate-actions/corporate-action.js';
import type { Instrument } from './instruments/instrument.js';
import { Book } from './matching/book.js';
import type { Packages } from './matching/packages-on.js';
import type { Order } from './orders/order.js';
import type { Account } from './portfolios/account.js';
import { KeptSums } from './portfolios/kept-sums.js';
import { MarginBounds } from './portfolios/margin-bounds.js';
import type { Portfolio } from './portfolios/portfolio.js';
import type { RulesInForce } from './rules.js';
import { Ids } from './values/ids.js';
import { Instant } from './values/instant.js';
import type { Price } from './values/price.js';
import { PriorityQueue } from './values/priority-queue.js';
import type { TradingDate } from './values/trading-date.js';

/** Running numbers; together with the seed and the secret of ids they are all the chance and identity there is. */
export interface Counters {
  portfolio: number;
  order: number;
  execution: number;
  ledgerEntry: number;
  lot: number;
  arrival: number;
  action: number;
  call: number;
}

/** A dividend or split that was announced. Kept for some days after its ex-date, so that nobody announces it twice. */
export interface AnnouncedAction {
  readonly actionId: string;
  readonly number: number;
  readonly action: CorporateAction;
  status: 'ANNOUNCED' | 'EFFECTIVE' | 'WITHDRAWN';
  /** How far it has come, where it takes more than one record. */
  underWay?: ActionUnderWay;
}

export interface ActionUnderWay {
  /** The number of the last portfolio that is done. */
  readonly through: number;
  /** Of a split: the mark that there was. */
  readonly mark?: Price;
  /** Of a split: what has become of the series on its symbol, in the order in which they are renamed. */
  readonly series: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Something that is due at an instant. Timers are derived from the state and rebuilt on recovery. At the same
 * instant they go by `rank`, then by `number`.
 */
export interface Timer {
  place: number;
  readonly due: Instant;
  readonly rank: number;
  readonly number: number;
  readonly what:
    | { readonly kind: 'CORPORATE_ACTION'; readonly actionId: string }
    | { readonly kind: 'SETTLEMENT'; readonly portfolioId: string; readonly date: TradingDate }
    | { readonly kind: 'SESSION_OPEN' }
    | { readonly kind: 'ORDER_RELEASE'; readonly order: number }
    | { readonly kind: 'ORDER_ARRIVAL'; readonly order: number }
    | { readonly kind: 'CANCEL_ARRIVAL'; readonly order: number }
    | { readonly kind: 'ORDER_EXPIRY'; readonly order: number }
    | SeriesEnding
    | { readonly kind: 'FUTURES_SETTLE'; readonly symbols: ReadonlySet<string> }
    | { readonly kind: 'SESSION_CLOSE'; readonly date: TradingDate }
    | { readonly kind: 'INTEREST'; readonly date: TradingDate }
    | { readonly kind: 'INTEREST_POST' }
    | { readonly kind: 'CALL_DUE'; readonly portfolioId: string; readonly call: number }
    | { readonly kind: 'EARLY_ASSIGNMENT'; readonly date: TradingDate };
}

/** How far the draw of an evening's early assignments has come, in the order of series and portfolios (D89). */
export interface AssignmentDraw {
  readonly date: TradingDate;
  /** The series that it stands at; those before it are done. */
  readonly symbol: string;
  /** The number of the last portfolio of it that is done. */
  readonly through: number;
  /** Short contracts behind that one, and how many of them will be hit. */
  readonly contracts: number;
  readonly hits: number;
}

/** Option series that are held and want attention, by underlying. */
export interface SeriesEnding {
  readonly kind: 'SERIES_END';
  readonly series: ReadonlyMap<string, Set<string>>;
  /** By underlying: the opening that settles series on it, where it was seen already. */
  readonly opening?: ReadonlyMap<string, Price>;
}

/** What the timer of an instant at which series end is about, as it fills. */
interface EndingAt {
  readonly series: Map<string, Set<string>>;
  readonly opening: Map<string, Price>;
}

/** The order in which things due at the same instant happen. */
const TIMER_RANK: Readonly<Record<Timer['what']['kind'], number>> = {
  CORPORATE_ACTION: 0,
  SETTLEMENT: 1,
  SESSION_OPEN: 2,
  ORDER_RELEASE: 3,
  ORDER_ARRIVAL: 4,
  CANCEL_ARRIVAL: 5,
  ORDER_EXPIRY: 6,
  SERIES_END: 7,
  FUTURES_SETTLE: 8,
  SESSION_CLOSE: 9,
  INTEREST: 10,
  INTEREST_POST: 11,
  EARLY_ASSIGNMENT: 12,
  CALL_DUE: 13,
};

/** Timers that are served in one go, at most. */
export const TIMERS_AT_ONCE = 256;

/** Their records are long enough alone: nothing else is done in one go after one of them. */
export const DONE_ALONE: ReadonlySet<Timer['what']['kind']> = new Set([
  'SESSION_CLOSE',
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

/** Everything a simulation knows. Changed by `evolve.ts` only. */
export interface State {
  readonly seed: number;
  /** Makes the ids that are shown, and reads them. */
  readonly ids: Ids;
  readonly idSecret: string;
  /** The instant of the latest command. */
  now: Instant;
  readonly counters: Counters;
  /** By `accountKey`. */
  readonly accounts: Map<string, Account>;
  /** Accounts that a tenant has now (D8). */
  readonly accountsPerTenant: Map<string, number>;
  /** Accounts that a tenant has ever opened: those that are deleted count, so that no id is chosen twice. */
  readonly accountsEverOpened: Map<string, number>;
  readonly portfolios: Map<string, Portfolio>;
  /** Open orders only, by number, oldest first. */
  readonly orders: Map<number, Order>;
  /** What commands listed beside what the feed knows. */
  readonly listed: Map<string, Instrument>;
  /** Series that a split has made others of, with the symbols of these: they trade no longer (D89). */
  readonly adjusted: Map<string, string>;
  readonly actions: Map<string, AnnouncedAction>;
  /** By underlying: the mark of the latest close that options on it are exercised by, though they trade on (D69). */
  readonly exercisePrices: Map<string, { readonly date: TradingDate; readonly price: Price }>;
  /** The latest date whose close marks are complete. */
  closedThrough: TradingDate | undefined;
  /** The latest date that interest is accrued for. */
  accruedThrough: TradingDate | undefined;
  /** The latest date whose early assignments are complete, where there were any. */
  assignedThrough: TradingDate | undefined;
  /** Those of an evening that are under way. */
  assigning: AssignmentDraw | undefined;
  /** The rules that the journal named last; undefined = those the simulation began with. */
  rules: RulesInForce | undefined;
  /** Where a clock that moves only when told stands; undefined under other clocks. */
  clock: Instant | undefined;

  // Derived: indexes that recovery rebuilds. Not part of the state hash.
  readonly books: Map<string, Book>;
  /** Open orders of several legs, by the contracts of their legs; they stand in no book. */
  readonly packagesOn: Packages;
  /** Open orders in options, be it of several legs, by what these are on. */
  readonly optionOrders: Map<string, Set<Order>>;
  /** Among whom the dividend or split under way finds those it concerns, oldest first; kept from one slice of it to the next. */
  concerned: { readonly actionId: string; readonly portfolios: readonly Portfolio[] } | undefined;
  /** Who has a position in a symbol. */
  readonly holders: Map<string, Set<Portfolio>>;
  readonly timers: PriorityQueue<Timer>;
  /** By instant: what the one timer of series that end then is about. */
  readonly seriesEndings: Map<Instant, EndingAt>;
  /** By instant: the futures that the one timer of settlements then is about. */
  readonly futureSettlements: Map<Instant, Set<string>>;
  /** By index: series on it that wait for its opening. */
  readonly awaitingOpening: Map<string, Set<string>>;
  /** Who holds options on a symbol, or did. */
  readonly optionHolders: Map<string, Set<Portfolio>>;
  readonly watch: MarginWatch;
  /** What large portfolios that owe come to, kept between decisions. */
  readonly kept: KeptSums;
}

/** What may have brought portfolios to a margin call since they were last looked at. Derived. */
export interface MarginWatch {
  /** Whose marks have moved. */
  readonly symbols: Set<string>;
  readonly portfolios: Set<Portfolio>;
  readonly bounds: MarginBounds;
  /** When those are looked at; undefined = there are none. */
  dueAt: Instant | undefined;
  /** When computed prices may have used up what a portfolio had left. */
  readonly looks: PriorityQueue<MarginLook>;
  readonly lookOf: Map<Portfolio, MarginLook>;
  /** Of which positions are to be closed that could not be yet. */
  readonly unfinished: Set<Portfolio>;
}

export interface MarginLook {
  place: number;
  readonly at: Instant;
  readonly portfolio: Portfolio;
}

const lookBefore = (a: MarginLook, b: MarginLook): boolean =>
  a.at !== b.at ? a.at < b.at : a.portfolio.terms.number < b.portfolio.terms.number;

export function emptyState(seed: number, idSecret: string, now: Instant): State {
  return {
    seed,
    ids: new Ids(idSecret),
    idSecret,
    now,
    counters: {
      portfolio: 0,
      order: 0,
      execution: 0,
      ledgerEntry: 0,
      lot: 0,
      arrival: 0,
      action: 0,
      call: 0,
    },
    accounts: new Map(),
    accountsPerTenant: new Map(),
    accountsEverOpened: new Map(),
    portfolios: new Map(),
    orders: new Map(),
    listed: new Map(),
    adjusted: new Map(),
    actions: new Map(),
    exercisePrices: new Map(),
    closedThrough: undefined,
    accruedThrough: undefined,
    assignedThrough: undefined,
    assigning: undefined,
    rules: undefined,
    clock: undefined,
    books: new Map(),
    packagesOn: new Map(),
    optionOrders: new Map(),
    concerned: undefined,
    holders: new Map(),
    timers: new PriorityQueue(timerBefore),
    seriesEndings: new Map(),
    futureSettlements: new Map(),
    awaitingOpening: new Map(),
    optionHolders: new Map(),
    watch: {
      symbols: new Set(),
      portfolios: new Set(),
      bounds: new MarginBounds(),
      dueAt: undefined,
      looks: new PriorityQueue(lookBefore),
      lookOf: new Map(),
      unfinished: new Set(),
    },
    kept: new KeptSums(),
  };
}

/** The book of an instrument, made on first use. */
export function bookOf(state: State, symbol: string): Book {
  let book = state.books.get(symbol);
  if (book === undefined) {
    book = new Book(symbol, state.kept.changes);
    state.books.set(symbol, book);
  }
  return book;
}

export function addHolder(state: State, symbol: string, portfolio: Portfolio): void {
  let holders = state.holders.get(symbol);
  if (holders === undefined) {
    holders = new Set();
    state.holders.set(symbol, holders);
  }
  holders.add(portfolio);
}

/** The portfolios that have a position in a symbol, oldest first: not in the order in which they came to it, which a recovery does not know. */
export const holdersOf = (state: State, symbol: string): Portfolio[] =>
  [...(state.holders.get(symbol) ?? [])].sort((a, b) => a.terms.number - b.terms.number);

/**
 * The first `count` portfolios, oldest first, that hold one of these and are wanted: however many hold them, without sorting all.
 */
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

/** All open orders in a symbol, at work or not, oldest first; those of several legs, one of which is in it, at the end. */
export function openOrdersIn(state: State, symbol: string): Order[] {
  const single = state.books.get(symbol)?.open;
  const packages = state.packagesOn.get(symbol);
  if ((single?.size ?? 0) === 0 && packages === undefined) return [];
  return [
    ...(single?.oldestFirst() ?? []),
    ...[...(packages ?? [])].sort((a, b) => a.terms.number - b.terms.number),
  ];
}

/** Adds a timer. `number` breaks ties, so it must not depend on when the timer was made: recovery makes it again. */
export function addTimer(state: State, due: Instant, number: number, what: Timer['what']): Timer {
  const timer: Timer = { place: -1, due, rank: TIMER_RANK[what.kind], number, what };
  state.timers.add(timer);
  return timer;
}

/** Has a series looked at when it ends; one timer for all that end at an instant. */
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

/** The same for all series on an underlying that have not had their turn. The set is the ending's from then on. */
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

/** Positions that one record ends at most, and series that it looks at: records and pauses stay short. */
export const ENDINGS_PER_RECORD = 100;
const SERIES_PER_RECORD = 300;

/** The underlyings whose series have their turn now: as many as give one record enough to do, one at least. */
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

/** Has a future looked at when it is settled next; one timer for all that are at an instant. */
export function scheduleFuture(state: State, due: Instant, symbol: string): void {
  let symbols = state.futureSettlements.get(due);
  if (symbols === undefined) {
    symbols = new Set();
    state.futureSettlements.set(due, symbols);
    addTimer(state, due, 0, { kind: 'FUTURES_SETTLE', symbols });
  }
  symbols.add(symbol);
}

/** Margin is looked at on the whole second: at this instant, or the next one. */
const LOOK_EVERY_MS = 1000;

function lookAt(state: State, at: Instant): void {
  const due = Instant.ofMs(Math.ceil(at / LOOK_EVERY_MS) * LOOK_EVERY_MS);
  const { watch } = state;
  if (watch.dueAt === undefined || due < watch.dueAt) watch.dueAt = due;
}

/** A mark has moved: whoever holds the symbol on margin is looked at within a second. */
export function noteMark(state: State, symbol: string): void {
  if (state.watch.symbols.has(symbol)) return;
  if ((state.holders.get(symbol)?.size ?? 0) === 0 && !state.optionHolders.has(symbol)) return;
  state.watch.symbols.add(symbol);
  lookAt(state, state.now);
}

/** Something has happened to a portfolio that its margin may not stand. */
export function noteMargin(state: State, portfolio: Portfolio): void {
  if (portfolio.settings.portfolioType !== 'MARGIN' || state.watch.portfolios.has(portfolio)) return;
  state.watch.portfolios.add(portfolio);
  lookAt(state, Instant.plusMs(state.now, 1));
}

/** Sets the one timer of an open order to what it waits for next, or to none. */
export function scheduleOrder(state: State, order: Order): void {
  if (order.timer !== undefined) state.timers.remove(order.timer as Timer);
  order.timer = undefined;
  const { number } = order.terms;
  const next = nextOf(order);
  if (next !== undefined) order.timer = addTimer(state, next.due, number, { kind: next.kind, order: number });
}

interface OrderWait {
  readonly due: Instant;
  readonly kind: 'ORDER_RELEASE' | 'ORDER_ARRIVAL' | 'CANCEL_ARRIVAL' | 'ORDER_EXPIRY';
}

const wait = (due: Instant | undefined, kind: OrderWait['kind']): OrderWait | undefined =>
  due === undefined ? undefined : { due, kind };

function nextOf({ terms, progress }: Order): OrderWait | undefined {
  const { status, releaseAt, marketAt, cancelAt, expiresAt, arrival } = progress;
  switch (status) {
    case 'ACTIVE':
      return wait(expiresAt, 'ORDER_EXPIRY');
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
          ? wait(expiresAt, 'ORDER_EXPIRY')
          : releaseAt === undefined
            ? wait(marketAt, 'ORDER_ARRIVAL')
            : wait(releaseAt, 'ORDER_RELEASE');
      return other === undefined || (cancel !== undefined && cancel.due < other.due) ? cancel : other;
    }
    default:
      return undefined;
  }
}
