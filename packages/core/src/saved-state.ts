import type { Calendar } from './calendar/calendar.js';
import { entryKey } from './competitions/competition.js';
import type { Competition } from './competitions/competition.js';
import {
  addOpenOrder,
  addPosition,
  scheduleAction,
  scheduleCall,
  scheduleMatching,
  scheduleSettlement,
  secure,
} from './evolve.js';
import type { AssetClass, Instrument } from './instruments/instrument.js';
import type { Balances } from './ledger/ledger.js';
import type { UsedQuote } from './matching/book.js';
import { newMarginAccount } from './margin/margin-account.js';
import type { MarginAccount } from './margin/margin-account.js';
import type { Halt, Resumption } from './market/halts.js';
import type { BandState } from './market/price-bands.js';
import type { Alert } from './market/alert.js';
import type { Quote } from './market/quote.js';
import type { MarginExcess } from './orders/margin-excess.js';
import type { OutcomeRule } from './orders/outcome-rule.js';
import { OpenOrders } from './orders/open-orders.js';
import { newOrder } from './orders/order.js';
import type { Account } from './portfolios/account.js';
import type { CloseMark, Portfolio, PortfolioSettings, PortfolioTerms } from './portfolios/portfolio.js';
import { Reservation } from './portfolios/reservation.js';
import type { Secured } from './portfolios/reservation.js';
import type { DayTradeTracker } from './positions/day-trade.js';
import type { Lot } from './positions/position.js';
import type { RulesInForce } from './rules.js';
import { progressFrom, savedOrderOf, termsFrom } from './saved-order.js';
import type { SavedOrder } from './saved-order.js';
import { finish } from './pieces.js';
import {
  noteDelivered,
  bookOf,
  emptyState,
  placeAlert,
  scheduleChecks,
  scheduleHaltEnd,
  scheduleLimitState,
  scheduleOrder,
} from './state.js';
import type { AgentUse, AnnouncedAction, AssignmentDraw, Counters, State } from './state.js';
import type { Instant } from './values/instant.js';
import type { Money } from './values/money.js';
import type { Price } from './values/price.js';
import type { Quantity } from './values/quantity.js';
import type { TradingDate } from './values/trading-date.js';

interface SavedPosition {
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly underlying?: string;
  readonly settled: Quantity;
  readonly pending: Quantity;
  readonly lots: readonly Lot[];
  readonly variation?: Money;
  readonly closedAt?: Instant;
  readonly settlementPrice?: Price;
  readonly settledAt?: Instant;
  readonly doNotExercise?: Quantity;
}

interface SavedReservation {
  readonly cash: Money;
  /** By symbol. */
  readonly shares: readonly (readonly [string, Quantity])[];
  readonly headroom: MarginExcess;
}

interface SavedPortfolio {
  readonly terms: PortfolioTerms;
  readonly settings: PortfolioSettings;
  readonly updatedAt: Instant;
  readonly promotionalCashAdded: boolean;
  readonly balances: Balances;
  readonly reservedByOrders: SavedReservation;
  /** By underlying. */
  readonly secured: readonly (readonly [string, Secured])[];
  readonly previousClose?: CloseMark;
  readonly positions: readonly SavedPosition[];
  readonly obligations: readonly {
    readonly date: TradingDate;
    readonly cash: Money;
    readonly quantities: readonly (readonly [string, Quantity])[];
    readonly paid?: Money;
    readonly dividends?: Money;
  }[];
  readonly dayTrades: readonly (readonly [string, DayTradeTracker])[];
  readonly margin: MarginAccount;
}

/** A state as plain JSON, in an order that does not depend on its history. Indexes and timers are omitted: they are rebuilt. */
export interface SavedState {
  readonly seed: number;
  readonly idSecret: string;
  readonly now: Instant;
  /** `alert`: absent = none. */
  readonly counters: Omit<Counters, 'alert'> & Partial<Pick<Counters, 'alert'>>;
  readonly closedThrough?: TradingDate;
  readonly accruedThrough?: TradingDate;
  readonly assignedThrough?: TradingDate;
  readonly assigning?: AssignmentDraw;
  readonly rules?: RulesInForce;
  readonly clock?: Instant;
  readonly marketSeq?: number;
  readonly competition?: SavedCompetition;
  readonly accounts: readonly Account[];
  readonly portfolios: readonly SavedPortfolio[];
  readonly orders: readonly SavedOrder[];
  readonly listed: readonly Instrument[];
  readonly adjusted?: readonly (readonly [string, string])[];
  /** Symbols that corporate actions have ended, with their successors; absent = none. */
  readonly retired?: readonly (readonly [string, string])[];
  readonly actions: readonly AnnouncedAction[];
  readonly exercisePrices?: readonly (readonly [
    string,
    { readonly date: TradingDate; readonly price: Price },
  ])[];
  /** By key, in its order. */
  readonly agents?: readonly (readonly [string, AgentUse])[];
  readonly halts?: {
    readonly inForce: readonly Halt[];
    readonly resumed: readonly (readonly [string, Resumption])[];
    readonly breakers: readonly (readonly [string, TradingDate])[];
  };
  /** By symbol, in its order. */
  readonly closes?: readonly (readonly [string, Price])[];
  readonly closesOf?: TradingDate;
  readonly restricted?: readonly (readonly [string, Instant])[];
  readonly bands?: readonly (readonly [string, BandState])[];
  /** Oldest first. */
  readonly outcomes?: readonly OutcomeRule[];
  /** By number. */
  readonly alerts?: readonly Alert[];
  readonly unmatched?: readonly string[];
  /** Latest quotes the journal knows, so that a pushed market is there again after a restart. */
  readonly quotes: readonly Quote[];
  /** Sizes that executions have used of these quotes. */
  readonly taken: readonly TakenSizes[];
  /** Queued margin checks: changed symbols and portfolios, and when they are due. */
  readonly checks?: {
    readonly symbols: readonly (readonly [string, Instant])[];
    readonly portfolios: readonly (readonly [string, Instant])[];
  };
  /** Numbers of the pushes that contained the quotes, if a halt ended at the same instant. */
  readonly pushed?: readonly (readonly [string, number])[];
}

/**
 * State for immediate writing or reading. Orders come last, one at a time, because all at once exceed a young generation.
 */
export type PassingState = Omit<SavedState, 'orders'> & { readonly orders: Iterable<SavedOrder> };

/** Shares used of a quote until the next one: of the displayed sizes, and of the modeled book behind them. */
interface TakenSizes {
  readonly symbol: string;
  readonly bid: number;
  readonly ask: number;
  readonly modelledBid: number;
  readonly modelledAsk: number;
}

/** Parts of a saved state that grow with its use: accounts, portfolios, orders, lots, quotes and so on. Counts no further than `most`. */
export function savedParts(state: State, most: number): number {
  const { accounts, orders, books, listed, actions, outcomes, alerts, agents, competition } = state;
  let parts = [accounts, orders, books, listed, actions, outcomes, alerts, agents].reduce(
    (sum, { size }) => sum + size,
    (competition?.points.length ?? 0) + (competition?.entries?.size ?? 0),
  );
  for (const { positions, obligations } of state.portfolios.values()) {
    parts += 1 + obligations.size;
    for (const { lots } of positions.values()) parts += 1 + lots.length;
    if (parts >= most) break;
  }
  return Math.min(parts, most);
}

/** The current state, independent of later changes. */
export const saveState = (state: State): SavedState => finish(savingState(state));

/** Saves a state in steps of a portfolio or an order. The state must not change meanwhile. */
export function* savingState(state: State): Generator<undefined, SavedState> {
  const portfolios: SavedPortfolio[] = [];
  for (const portfolio of state.portfolios.values()) {
    portfolios.push(savePortfolio(portfolio));
    yield;
  }
  const passing = stateToSave(state, portfolios);
  const orders: SavedOrder[] = [];
  for (const order of passing.orders) {
    orders.push(order);
    yield;
  }
  return { ...passing, orders };
}

export function stateToSave(
  state: State,
  portfolios: readonly SavedPortfolio[] = [...state.portfolios.values()].map(savePortfolio),
): PassingState {
  const recorded = [...state.books].sort(bySymbol).flatMap(([, book]) => book.recorded() ?? []);
  return {
    seed: state.seed,
    idSecret: state.idSecret,
    now: state.now,
    counters: countersToSave(state.counters),
    ...(state.closedThrough !== undefined && { closedThrough: state.closedThrough }),
    ...(state.accruedThrough !== undefined && { accruedThrough: state.accruedThrough }),
    ...(state.assignedThrough !== undefined && { assignedThrough: state.assignedThrough }),
    ...(state.assigning !== undefined && { assigning: state.assigning }),
    ...(state.rules !== undefined && { rules: state.rules }),
    ...(state.clock !== undefined && { clock: state.clock }),
    ...(state.marketSeq > 0 && { marketSeq: state.marketSeq }),
    ...(state.competition !== undefined && { competition: savedCompetition(state.competition) }),
    accounts: [...state.accounts.values()].map((account) => ({
      ...account,
      portfolioIds: [...account.portfolioIds],
    })),
    portfolios,
    listed: [...state.listed.values()],
    ...(state.adjusted.size > 0 && { adjusted: [...state.adjusted] }),
    ...(state.retired.size > 0 && { retired: [...state.retired].sort(bySymbol) }),
    actions: [...state.actions.values()].map((announced) => ({ ...announced })),
    ...(state.exercisePrices.size > 0 && {
      exercisePrices: [...state.exercisePrices].sort(([a], [b]) => (a < b ? -1 : 1)),
    }),
    ...(state.agents.size > 0 && { agents: [...state.agents].sort(([a], [b]) => (a < b ? -1 : 1)) }),
    ...savedHalts(state),
    ...(state.closes.size > 0 && { closes: [...state.closes].sort(bySymbol) }),
    ...(state.closesOf !== undefined && { closesOf: state.closesOf }),
    ...(state.restricted.size > 0 && { restricted: [...state.restricted].sort(bySymbol) }),
    ...(state.bands.size > 0 && { bands: [...state.bands].sort(bySymbol) }),
    ...(state.outcomes.size > 0 && { outcomes: [...state.outcomes.values()] }),
    ...(state.alerts.size > 0 && {
      alerts: [...state.alerts.values()].sort((a, b) => a.number - b.number),
    }),
    ...(state.unmatched.length > 0 && { unmatched: state.unmatched }),
    quotes: recorded.map(({ quote }) => quote),
    taken: recorded.flatMap(takenFrom),
    ...pushedAtResumptions(state, recorded),
    ...savedChecks(state),
    orders: ordersToSave(state),
  };
}

/** Without alerts as in checkpoints of earlier versions. */
const countersToSave = ({ alert, ...others }: Counters): SavedState['counters'] =>
  alert === 0 ? others : { ...others, alert };

/** The entries as a list. */
type SavedCompetition = Omit<Competition, 'entries'> & {
  readonly entries?: readonly MapValue<NonNullable<Competition['entries']>>[];
};
type MapValue<M> = M extends Map<unknown, infer Value> ? Value : never;

/** In a fixed order of its fields. */
const savedCompetition = ({
  terms,
  phase,
  highest,
  points,
  trades,
  accepted,
  removed,
  entries,
  result,
}: Competition): SavedCompetition => ({
  terms,
  phase,
  ...(highest !== undefined && { highest }),
  points: [...points],
  trades,
  ...(accepted !== undefined && { accepted }),
  ...(removed !== undefined && { removed }),
  ...(entries !== undefined && { entries: [...entries.values()] }),
  ...(result !== undefined && { result }),
});

const restoredCompetition = ({ entries, ...saved }: SavedCompetition): Competition => ({
  ...saved,
  points: [...saved.points],
  ...(entries !== undefined && { entries: new Map(entries.map((entry) => [entryKey(entry), entry])) }),
});

const bySymbol = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;

function savedHalts({ halts }: State): Pick<SavedState, 'halts'> {
  const { inForce, resumed, breakers } = halts;
  if (inForce.size === 0 && resumed.size === 0 && breakers.size === 0) return {};
  return {
    halts: {
      inForce: [...inForce].sort(bySymbol).map(([, halt]) => halt),
      resumed: [...resumed].sort(bySymbol),
      breakers: [...breakers].sort(bySymbol),
    },
  };
}

function pushedAtResumptions({ halts }: State, recorded: readonly UsedQuote[]): Pick<SavedState, 'pushed'> {
  const instants = new Set([...halts.resumed.values()].map(({ at }) => at));
  if (instants.size === 0) return {};
  const pushed = recorded.flatMap(({ quote, pushed }): (readonly [string, number])[] =>
    pushed > 0 && instants.has(quote.at) ? [[quote.symbol, pushed]] : [],
  );
  return pushed.length === 0 ? {} : { pushed };
}

function savedChecks(state: State): Pick<SavedState, 'checks'> {
  const { symbols, portfolios } = state.watch;
  if (symbols.size === 0 && portfolios.size === 0) return {};
  return {
    checks: {
      symbols: [...symbols].sort(bySymbol),
      portfolios: [...portfolios]
        .map(([{ terms }, due]): readonly [string, Instant] => [terms.portfolioId, due])
        .sort(bySymbol),
    },
  };
}

function* ordersToSave(state: State): Iterable<SavedOrder> {
  const byNumber = [...state.orders.values()].sort((a, b) => a.terms.number - b.terms.number);
  for (const { terms, progress } of byNumber) yield savedOrderOf(terms, progress);
}

function takenFrom(used: UsedQuote): TakenSizes | [] {
  const { quote, bidLeft, askLeft, modelledBidTaken: modelledBid, modelledAskTaken: modelledAsk } = used;
  // A missing side, or one of unlimited size, has no used size.
  const taken = (price: Price | undefined, size: Quantity | undefined, left: number): number =>
    price === undefined || size === undefined ? 0 : size - left;
  const bid = taken(quote.bid, quote.bidSize, bidLeft);
  const ask = taken(quote.ask, quote.askSize, askLeft);
  return bid === 0 && ask === 0 && modelledBid === 0 && modelledAsk === 0
    ? []
    : { symbol: quote.symbol, bid, ask, modelledBid, modelledAsk };
}

function saveReservation({ shares, ...sums }: Reservation): SavedReservation {
  return { ...sums, shares: [...shares].sort(([a], [b]) => (a < b ? -1 : 1)) };
}

const restoreReservation = ({ shares, ...sums }: SavedReservation): Reservation => ({
  ...sums,
  shares: new Map(shares),
});

function savePortfolio(portfolio: Portfolio): SavedPortfolio {
  const { terms, settings, updatedAt, promotionalCashAdded, balances } = portfolio;
  return {
    terms,
    settings,
    updatedAt,
    promotionalCashAdded,
    balances: { ...balances },
    reservedByOrders: saveReservation(portfolio.reservedByOrders),
    secured: [...portfolio.secured].sort(([a], [b]) => (a < b ? -1 : 1)),
    ...(portfolio.previousClose !== undefined && { previousClose: portfolio.previousClose }),
    positions: [...portfolio.positions.values()].map((position) => ({
      ...position,
      lots: [...position.lots],
    })),
    obligations: [...portfolio.obligations.values()].map(({ date, cash, quantities, paid, dividends }) => ({
      date,
      cash,
      quantities: [...quantities],
      ...(paid !== undefined && { paid }),
      ...(dividends !== undefined && { dividends }),
    })),
    dayTrades: [...portfolio.dayTrades],
    margin: { ...portfolio.margin },
  };
}

/** A state from its saved form, in pieces: each step of the generator restores a portfolio or an order. */
export function* restoringState(saved: PassingState, calendar: Calendar): Generator<undefined, State> {
  const state = emptyState(saved.seed, saved.idSecret, saved.now);
  Object.assign(state.counters, saved.counters);
  state.closedThrough = saved.closedThrough;
  state.accruedThrough = saved.accruedThrough;
  state.assignedThrough = saved.assignedThrough;
  state.assigning = saved.assigning;
  state.rules = saved.rules;
  state.clock = saved.clock;
  state.marketSeq = saved.marketSeq ?? 0;
  state.competition = saved.competition && restoredCompetition(saved.competition);
  for (const account of saved.accounts) {
    state.accounts.set(account.accountId, {
      ...account,
      portfolioIds: [...account.portfolioIds],
    });
  }
  for (const portfolio of saved.portfolios) {
    restorePortfolio(state, portfolio, calendar);
    yield;
  }
  for (const instrument of saved.listed) {
    state.listed.set(instrument.symbol, instrument);
    noteDelivered(state, instrument);
  }
  for (const [from, to] of saved.adjusted ?? []) state.adjusted.set(from, to);
  for (const [symbol, successor] of saved.retired ?? []) state.retired.set(symbol, successor);
  for (const quote of saved.quotes) bookOf(state, quote.symbol).setQuote(quote, true);
  for (const { symbol, bid, ask, modelledBid, modelledAsk } of saved.taken) {
    const book = bookOf(state, symbol);
    book.bidLeft -= bid;
    book.askLeft -= ask;
    book.modelledBidTaken = modelledBid;
    book.modelledAskTaken = modelledAsk;
  }
  for (const [symbol, pushed] of saved.pushed ?? []) bookOf(state, symbol).pushed = pushed;
  for (const halt of saved.halts?.inForce ?? []) {
    state.halts.inForce.set(halt.symbol, halt);
    scheduleHaltEnd(state, halt.symbol, halt.until);
  }
  for (const [symbol, resumed] of saved.halts?.resumed ?? []) state.halts.resumed.set(symbol, resumed);
  for (const [reason, date] of saved.halts?.breakers ?? []) state.halts.breakers.set(reason, date);
  for (const [symbol, close] of saved.closes ?? []) state.closes.set(symbol, close);
  state.closesOf = saved.closesOf;
  for (const [symbol, until] of saved.restricted ?? []) state.restricted.set(symbol, until);
  for (const [symbol, band] of saved.bands ?? []) {
    state.bands.set(symbol, band);
    scheduleLimitState(state, symbol, band.limitSince);
  }
  for (const rule of saved.outcomes ?? []) state.outcomes.set(rule.number, rule);
  for (const alert of saved.alerts ?? []) placeAlert(state, alert.number, alert);
  scheduleMatching(state, saved.unmatched ?? []);
  for (const action of saved.actions) {
    state.actions.set(action.actionId, { ...action });
    scheduleAction(state, calendar, action.actionId);
  }
  for (const [key, use] of saved.agents ?? []) state.agents.set(key, use);
  for (const [symbol, due] of saved.checks?.symbols ?? []) state.watch.symbols.set(symbol, due);
  for (const [portfolioId, due] of saved.checks?.portfolios ?? []) {
    const portfolio = state.portfolios.get(portfolioId);
    if (portfolio !== undefined) state.watch.portfolios.set(portfolio, due);
  }
  scheduleChecks(state);
  for (const [symbol, taken] of saved.exercisePrices ?? []) state.exercisePrices.set(symbol, taken);
  for (const savedOrder of saved.orders) {
    const portfolio = state.portfolios.get(savedOrder.terms.portfolioId);
    if (portfolio === undefined) throw new RangeError('saved order without a portfolio');
    const order = newOrder(termsFrom(savedOrder, portfolio.terms), progressFrom(savedOrder));
    addOpenOrder(state, portfolio, order);
    const { terms, progress } = order;
    if (progress.arrival !== undefined && terms.legs === undefined)
      bookOf(state, terms.symbol).place(order, portfolio.terms.fillModel);
    scheduleOrder(state, order);
    yield;
  }
  return state;
}

function restorePortfolio(state: State, saved: SavedPortfolio, calendar: Calendar): void {
  const account = state.accounts.get(saved.terms.accountId);
  if (account === undefined) throw new RangeError('saved portfolio without an account');
  const portfolio: Portfolio = {
    terms: saved.terms,
    account,
    settings: saved.settings,
    updatedAt: saved.updatedAt,
    promotionalCashAdded: saved.promotionalCashAdded,
    balances: { ...saved.balances },
    reservedByOrders: restoreReservation(saved.reservedByOrders),
    reservedByPositions: Reservation.none(),
    secured: new Map(),
    optionsOn: new Map(),
    contractsOnOrder: new Map(),
    ...(saved.previousClose !== undefined && { previousClose: saved.previousClose }),
    positions: new Map(),
    openOrders: new OpenOrders(),
    clientOrderIds: new Map(),
    obligations: new Map(
      saved.obligations.map(({ quantities, ...obligation }) => [
        obligation.date,
        { ...obligation, quantities: new Map(quantities) },
      ]),
    ),
    dayTrades: new Map(saved.dayTrades),
    margin: { ...newMarginAccount(), ...saved.margin },
    owing: new Set(),
  };
  state.portfolios.set(saved.terms.portfolioId, portfolio);
  for (const position of saved.positions)
    addPosition(state, portfolio, { ...position, lots: [...position.lots] });
  for (const [underlying, secured] of saved.secured) secure(portfolio, underlying, secured);
  for (const date of portfolio.obligations.keys()) scheduleSettlement(state, calendar, portfolio, date);
  for (const call of portfolio.margin.calls) scheduleCall(state, saved.terms.portfolioId, call);
}
