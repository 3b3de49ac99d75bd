import type { Event, ImportedPosition, OrderEvent } from './event.js';
import { SHARES } from './instruments/instrument.js';
import type { AssetClass } from './instruments/instrument.js';
import type { LedgerEntry } from './ledger/ledger.js';
import type { PositionConverted } from './lifecycle/conversion.js';
import type { OptionEnded } from './lifecycle/option-event.js';
import { cashOfExecution, chargesOf, tradedBy } from './orders/execution.js';
import { sideOf } from './orders/order.js';
import type { OrderTerms } from './orders/order.js';
import type { PortfolioType } from './portfolios/account.js';
import type { Portfolio } from './portfolios/portfolio.js';
import type { Books } from './portfolios/valuation.js';
import { Position } from './positions/position.js';
import type { LotClosing } from './positions/position.js';
import { settlementEntries } from './settlement/obligation.js';
import { cashSideOf, tradeEntries } from './trading/entries.js';
import type { OrderSnapshot } from './trading/follow-order.js';
import type { BookedExecution, OrderExecuted } from './trading/trade.js';
import { Instant } from './values/instant.js';
import { Money } from './values/money.js';
import { Quantity } from './values/quantity.js';
import type { TradingDate } from './values/trading-date.js';

/** All lots of one instrument together. */
export interface SnapshotPosition {
  readonly assetClass: AssetClass;
  /** Negative = short. Never 0. */
  readonly quantity: Quantity;
  readonly cost: Money;
  /** Futures only: the base of its variation. */
  readonly marked?: Money;
}

/** Contents of a portfolio at an instant without market values: enough to value it later as of then. Plain data. */
export interface PortfolioSnapshot {
  readonly type: PortfolioType;
  /** The type that a reset restores. */
  readonly initialType: PortfolioType;
  readonly settled: Money;
  readonly pending: Money;
  /** Cash reserved by open orders. */
  readonly reserved: Money;
  /** Cash reserved by positions, by underlying. */
  readonly secured: Readonly<Record<string, Money>>;
  /** Pending cash by settlement date; negative = to be paid. */
  readonly due: Readonly<Record<TradingDate, Money>>;
  readonly held: Readonly<Record<string, SnapshotPosition>>;
}

/** Settled value of the lots of a future; other positions have none. */
export const markedOf = ({ assetClass, lots }: Position): number | undefined =>
  assetClass === 'FUTURE' ? lots.reduce((sum, lot) => sum + (lot.marked ?? lot.cost), 0) : undefined;

/** The present contents of a portfolio, without amounts of 0. Costs as much as the portfolio has positions. */
export function snapshotOf(portfolio: Portfolio): PortfolioSnapshot {
  const { settings, terms, balances, reservedByOrders, secured, obligations, positions } = portfolio;
  return {
    type: settings.portfolioType,
    initialType: terms.initialSettings.portfolioType,
    settled: balances.SETTLED_CASH,
    pending: balances.PENDING_CASH,
    reserved: reservedByOrders.cash,
    secured: Object.fromEntries([...secured].map(([underlying, { cash }]) => [underlying, cash])),
    due: Object.fromEntries([...obligations].map(([date, { cash }]) => [date, cash])),
    held: Object.fromEntries(
      [...positions].flatMap(([symbol, position]) => {
        const quantity = Position.held(position);
        if (quantity === 0) return [];
        const { assetClass } = position;
        const marked = markedOf(position);
        const cost = Position.costBasis(position);
        return [[symbol, { assetClass, quantity, cost, ...(marked !== undefined && { marked }) }]];
      }),
    ) as PortfolioSnapshot['held'],
  };
}

export const newSnapshot = (type: PortfolioType): PortfolioSnapshot => ({
  type,
  initialType: type,
  settled: Money.zero,
  pending: Money.zero,
  reserved: Money.zero,
  secured: {},
  due: {},
  held: {},
});

/** A portfolio after an event that concerns none of its orders. Follows the changes that `evolve.ts` makes to portfolios. */
export function snapshotAfter(
  snapshot: PortfolioSnapshot,
  event: Exclude<Event, OrderEvent>,
): PortfolioSnapshot {
  switch (event.type) {
    case 'LedgerPosted':
      return posted(snapshot, event.entries);
    case 'PositionsImported':
      return imported(posted(snapshot, event.entries), event.positions);
    case 'PortfolioChanged':
      return { ...snapshot, type: event.settings.portfolioType };
    case 'PortfolioReset':
      return { ...snapshot, type: snapshot.initialType, secured: {}, due: {}, held: {} };
    case 'PortfolioClosed':
      return { ...snapshot, held: {} };
    case 'OptionsSecured':
      return { ...snapshot, secured: withAmount(snapshot.secured, event.underlying, event.cash) };
    case 'ObligationSettled':
      return posted({ ...snapshot, due: without(snapshot.due, event.date) }, settlementEntries(event));
    case 'ObligationMoved': {
      const { [event.date]: amount } = snapshot.due;
      const rest = { ...snapshot, due: without(snapshot.due, event.date) };
      return amount === undefined ? rest : withDue(rest, event.to, amount);
    }
    case 'DividendAccrued':
      return withDue(snapshot, event.payDate, event.amount);
    case 'PositionSplit': {
      const cost = event.lots.reduce((sum, lot) => Money.add(sum, lot.cost), Money.zero);
      return withHeld(snapshot, event.symbol, SHARES, () => ({
        quantity: Quantity.add(event.settled, event.pending),
        cost,
      }));
    }
    case 'PositionConverted':
      return converted(snapshot, event);
    case 'OptionAdjusted': {
      const { symbol, to, quantity } = event;
      const { cost } = snapshot.held[symbol] ?? NOTHING;
      const gone = { ...snapshot, held: without(snapshot.held, symbol) };
      return withHeld(gone, to, 'OPTION', () => ({ quantity, cost }));
    }
    case 'FutureSettled':
      return withHeld(posted(snapshot, event.entries), event.symbol, 'FUTURE', (before) => ({
        ...before,
        ...(event.closed === undefined
          ? { marked: (event.marked ?? []).reduce((sum, lot) => Money.add(sum, lot.marked), Money.zero) }
          : { quantity: Quantity.zero }),
      }));
    case 'OptionEnded':
      return ended(snapshot, event);
    // Events without an effect on snapshots.
    case 'AccountOpened':
    case 'AccountUpdated':
    case 'AccountStatusChanged':
    case 'AccountDeleted':
    case 'PortfolioOpened':
    case 'PortfolioRenamed':
    case 'SmaChanged':
    case 'CallIssued':
    case 'CallDue':
    case 'CallMoved':
    case 'CallClosed':
    case 'MarginWarned':
    case 'DayShortfallNoted':
    case 'LiquidationDecided':
    case 'InterestAccrued':
    case 'AccrualsPosted':
    case 'OrdersRested':
    case 'MatchingPaused':
    case 'DayTradeTracked':
    case 'ExerciseInstructed':
    case 'ExercisePriceTaken':
    case 'AssignmentsDrawn':
    case 'InstrumentsListed':
    case 'QuotesPushed':
    case 'ActionsAnnounced':
    case 'ActionWithdrawn':
    case 'ActionContinued':
    case 'ActionDone':
    case 'SeriesAdjusted':
    case 'SplitBegun':
    case 'ActionBegun':
    case 'SessionMarked':
    case 'CompetitionBegun':
    case 'CompetitionPhaseChanged':
    case 'CompetitionMarked':
    case 'CompetitionHigh':
    case 'EntryAdded':
    case 'EntryRemoved':
    case 'CompetitionSettled':
    case 'AgentSpent':
    case 'AgentRefused':
    case 'ClosesNoted':
    case 'ShortSalesRestricted':
    case 'BandMoved':
    case 'OutcomeSet':
    case 'OutcomesDeleted':
    case 'OutcomeMet':
    case 'AlertSet':
    case 'AlertRestated':
    case 'AlertFired':
    case 'AlertsEnded':
    case 'AlertsDeleted':
    case 'OrderRefused':
    case 'TradingHalted':
    case 'TradingResumed':
    case 'RulesChanged':
    case 'ClockMoved':
    case 'IdsTagged':
    case 'ForkBegun':
      return snapshot;
  }
}

/** A portfolio after an event of one of its orders, which was `before` and is `after`. */
export function snapshotAfterOrder(
  snapshot: PortfolioSnapshot,
  event: OrderEvent,
  before: OrderSnapshot | undefined,
  after: OrderSnapshot,
): PortfolioSnapshot {
  const { terms, progress } = after;
  const more = progress.reserved - (before?.progress.reserved ?? 0);
  const next = more === 0 ? snapshot : { ...snapshot, reserved: Money.ofUnits(snapshot.reserved + more) };
  return event.type === 'OrderExecuted' ? snapshotAfterExecution(next, terms, event) : next;
}

/** The portfolio as far as it has to be known to be valued. Each position is one lot. */
export function booksOf(snapshot: PortfolioSnapshot): Books {
  const secured = Object.values(snapshot.secured).reduce((sum, cash) => Money.add(sum, cash), Money.zero);
  const due = Object.entries(snapshot.due) as [TradingDate, Money][];
  const held = Object.entries(snapshot.held);
  return {
    settings: { portfolioType: snapshot.type },
    balances: { SETTLED_CASH: snapshot.settled, PENDING_CASH: snapshot.pending },
    reservedByOrders: { cash: snapshot.reserved },
    reservedByPositions: { cash: secured },
    obligations: new Map(due.map(([date, cash]) => [date, { cash }])),
    positions: new Map(held.map(([symbol, position]) => [symbol, positionOf(symbol, position)])),
  };
}

function positionOf(symbol: string, { assetClass, quantity, cost, marked }: SnapshotPosition): Position {
  const lot = { lotId: 0, quantity, cost, openedAt: Instant.ofMs(0) };
  return {
    symbol,
    assetClass,
    settled: quantity,
    pending: Quantity.zero,
    lots: [marked === undefined ? lot : { ...lot, marked }],
  };
}

/** A portfolio after executions of one of its orders, reserved cash aside. */
export function snapshotAfterExecution(
  snapshot: PortfolioSnapshot,
  terms: OrderTerms,
  event: OrderExecuted,
): PortfolioSnapshot {
  const { executions, settlementDate } = event;
  const cashSide = cashSideOf(terms, executions);
  let next = posted(snapshot, tradeEntries(terms, event));
  for (const execution of executions) {
    const { symbol, positionIntent } = tradedBy(terms, execution);
    const isBuy = sideOf(positionIntent) === 'BUY';
    next = traded(next, symbol, terms.assetClass, isBuy, execution);
    if (settlementDate === undefined || cashSide !== 'SELL') continue;
    const cash = cashOfExecution(execution);
    next = withDue(next, settlementDate, Money.ofUnits((isBuy ? 0 - cash : cash) - chargesOf(execution)));
  }
  return next;
}

function traded(
  snapshot: PortfolioSnapshot,
  symbol: string,
  assetClass: AssetClass,
  isBuy: boolean,
  { quantity, value, closed }: BookedExecution,
): PortfolioSnapshot {
  return withHeld(snapshot, symbol, assetClass, (before) => ({
    quantity: Quantity.ofUnits(before.quantity + (isBuy ? quantity : 0 - quantity)),
    ...(closed === undefined ? opening(before, value, assetClass) : closing(before, closed)),
  }));
}

type Cost = Pick<SnapshotPosition, 'cost' | 'marked'>;

const opening = ({ cost, marked = Money.zero }: Cost, value: Money, assetClass: AssetClass): Cost => ({
  cost: Money.add(cost, value),
  ...(assetClass === 'FUTURE' && { marked: Money.add(marked, value) }),
});

function closing({ cost, marked }: Cost, closed: readonly LotClosing[]): Cost {
  let left: number = cost;
  let markedLeft: number | undefined = marked;
  for (const lot of closed) {
    left -= lot.cost;
    if (markedLeft !== undefined) markedLeft -= lot.marked ?? 0;
  }
  return {
    cost: Money.ofUnits(left),
    ...(markedLeft !== undefined && { marked: Money.ofUnits(markedLeft) }),
  };
}

function ended(snapshot: PortfolioSnapshot, event: OptionEnded): PortfolioSnapshot {
  const { symbol, quantity, closed, shares, settlementDate, entries } = event;
  let next = posted(snapshot, entries);
  if (closed !== undefined)
    next = withHeld(next, symbol, 'OPTION', (before) => ({
      quantity: Quantity.ofUnits(before.quantity + (before.quantity < 0 ? quantity : 0 - quantity)),
      ...closing(before, closed),
    }));
  if (settlementDate !== undefined) {
    const pending = sumOf(entries, 'PENDING_CASH');
    if (pending !== 0) next = withDue(next, settlementDate, pending);
  }
  if (shares === undefined) return next;
  return withHeld(next, shares.symbol, SHARES, (before) => {
    const { cost } = closing(before, shares.closed);
    return {
      quantity: Quantity.add(before.quantity, shares.quantity),
      cost: shares.opened.reduce((sum, lot) => Money.add(sum, lot.cost), cost),
    };
  });
}

function converted(
  snapshot: PortfolioSnapshot,
  { symbol, kept, received, amount, payDate, entries }: PositionConverted,
): PortfolioSnapshot {
  let next = posted(snapshot, entries);
  next = withHeld(next, symbol, SHARES, (before) => ({
    quantity: kept === undefined ? Quantity.zero : before.quantity,
    cost: (kept ?? []).reduce((sum, lot) => Money.add(sum, lot.cost), Money.zero),
  }));
  if (received !== undefined)
    next = withHeld(next, received.symbol, SHARES, (before) => {
      const { cost } = closing(before, received.closed);
      return {
        quantity: Quantity.add(before.quantity, received.quantity),
        cost: received.opened.reduce((sum, lot) => Money.add(sum, lot.cost), cost),
      };
    });
  return amount === undefined || payDate === undefined ? next : withDue(next, payDate, amount);
}

function imported(snapshot: PortfolioSnapshot, positions: readonly ImportedPosition[]): PortfolioSnapshot {
  let next = snapshot;
  for (const { symbol, assetClass, lots } of positions)
    next = withHeld(next, symbol, assetClass, () => ({
      quantity: Quantity.ofUnits(lots.reduce((sum, lot) => sum + lot.quantity, 0)),
      cost: lots.reduce((sum, lot) => Money.add(sum, lot.cost), Money.zero),
      ...(assetClass === 'FUTURE' && {
        marked: lots.reduce((sum, lot) => Money.add(sum, lot.marked ?? lot.cost), Money.zero),
      }),
    }));
  return next;
}

function sumOf(entries: readonly LedgerEntry[], of: 'SETTLED_CASH' | 'PENDING_CASH'): Money {
  let sum = 0;
  for (const { postings } of entries)
    for (const { account, amount } of postings) if (account === of) sum += amount;
  return Money.ofUnits(sum);
}

const posted = (snapshot: PortfolioSnapshot, entries: readonly LedgerEntry[]): PortfolioSnapshot => ({
  ...snapshot,
  settled: Money.add(snapshot.settled, sumOf(entries, 'SETTLED_CASH')),
  pending: Money.add(snapshot.pending, sumOf(entries, 'PENDING_CASH')),
});

const withDue = (snapshot: PortfolioSnapshot, date: TradingDate, more: Money): PortfolioSnapshot => ({
  ...snapshot,
  due: { ...snapshot.due, [date]: Money.add(snapshot.due[date] ?? Money.zero, more) },
});

const NOTHING = { quantity: Quantity.zero, cost: Money.zero };

function withHeld(
  snapshot: PortfolioSnapshot,
  symbol: string,
  assetClass: AssetClass,
  change: (before: Omit<SnapshotPosition, 'assetClass'>) => Omit<SnapshotPosition, 'assetClass'>,
): PortfolioSnapshot {
  const after = change(snapshot.held[symbol] ?? NOTHING);
  const held =
    after.quantity === 0
      ? without(snapshot.held, symbol)
      : { ...snapshot.held, [symbol]: { assetClass, ...after } };
  return { ...snapshot, held };
}

const withAmount = (
  amounts: Readonly<Record<string, Money>>,
  key: string,
  amount: Money,
): Readonly<Record<string, Money>> => (amount === 0 ? without(amounts, key) : { ...amounts, [key]: amount });

function without<Value>(
  record: Readonly<Record<string, Value>>,
  key: string,
): Readonly<Record<string, Value>> {
  if (!(key in record)) return record;
  return Object.fromEntries(Object.entries(record).filter(([other]) => other !== key));
}
