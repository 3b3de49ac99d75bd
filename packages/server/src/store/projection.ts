import {
  Instant,
  isOrderEvent,
  isOrderPlaced,
  markOf,
  newSnapshot,
  optionMarkOf,
  isLongAsOsi,
  orderAfter,
  orderNumberOf,
  placedOrder,
  settlementEntries,
  snapshotAfter,
  snapshotAfterOrder,
  tradeDateOf,
  tradeEntries,
} from '@sandpit/core';
import type {
  Event,
  LastFigures,
  LedgerEntryType,
  OrderEvent,
  OrderSnapshot,
  Quote,
  PortfolioSnapshot,
} from '@sandpit/core';
import type { HistoryChange, ListName } from './history.js';
import type { JournalRecord } from './journal.js';

/** The parts of a payload that a projection reads. */
export interface ParsedPayload {
  readonly command: unknown;
  readonly events: readonly unknown[];
}

/** State of a simulation in the history tables before a record. */
export interface ProjectionSource {
  /** The order after the previous records. */
  order(order: number): OrderSnapshot;
  /** The account of a portfolio. */
  accountOf(portfolioId: string): string;
  /** Snapshot of a portfolio after the last record that changed it; undefined when none was noted. */
  standing(portfolioId: string): PortfolioSnapshot | undefined;
}

/** Changes of the history tables by a record. Pure: depends on the records so far only. */
export type Projection = (
  record: Pick<JournalRecord, 'seq' | 'at'>,
  parsed: ParsedPayload,
  known: ProjectionSource,
) => readonly HistoryChange[];

/** Turns the events of the brokerage into rows. A new kind of event that users should be able to list is added here. */
export const projectRecord: Projection = (record, parsed, known) => {
  const events = parsed.events as readonly Event[];
  const orders = new RecordOrders(known, Instant.ofMs(record.at));
  const minute = Math.floor(record.at / MINUTE_MS);
  const standings = new RecordSnapshots(known, orders, minute);
  const rows = events.flatMap((event, index) => {
    const before = standings.before(event);
    const listed = rowsOf(event, index, orders);
    standings.follow(event, before);
    return listed;
  });
  // Before list items: a list of an order belongs to an existing order.
  return [
    ...orders.changes(),
    ...rows,
    ...standings.changes(),
    ...events.flatMap((event) => marksOf(event, minute)),
  ];
};

const MINUTE_MS = 60_000;

/** Events that change holdings, including trades. */
const MOVES: ReadonlySet<Event['type']> = new Set([
  'OrderExecuted',
  'OptionEnded',
  'FutureSettled',
  'OptionAdjusted',
  'PositionSplit',
  'PortfolioReset',
  'PortfolioClosed',
]);

/** Portfolio snapshots, followed from event to event of one record. */
class RecordSnapshots {
  readonly #known: ProjectionSource;
  readonly #orders: RecordOrders;
  readonly #minute: number;
  readonly #drafts = new Map<string, { standing: PortfolioSnapshot; hasMoved: boolean }>();

  constructor(known: ProjectionSource, orders: RecordOrders, minute: number) {
    this.#known = known;
    this.#orders = orders;
    this.#minute = minute;
  }

  /** The order that an event is about, before it. */
  before(event: Event): OrderSnapshot | undefined {
    return event.type === 'OrderMoved' || event.type === 'OrderExecuted'
      ? this.#orders.now(event.order)
      : undefined;
  }

  /** `before`: the order that it is about, before it. */
  follow(event: Event, before: OrderSnapshot | undefined): void {
    if (event.type === 'PortfolioOpened') {
      const { portfolioId, initialSettings } = event.terms;
      this.#set(portfolioId, newSnapshot(initialSettings.portfolioType), false);
      return;
    }
    if (isOrderEvent(event)) {
      const after = this.#orders.now(orderNumberOf(event));
      // Most moves of an order neither reserve nor release funds.
      if (event.type === 'OrderMoved' && before?.progress.reserved === after.progress.reserved) return;
      const { portfolioId } = after.terms;
      const standing = this.#now(portfolioId);
      if (standing === undefined) return;
      this.#set(
        portfolioId,
        snapshotAfterOrder(standing, event, before, after),
        event.type === 'OrderExecuted',
      );
      return;
    }
    if (!('portfolioId' in event)) return;
    const standing = this.#now(event.portfolioId);
    if (standing === undefined) return;
    const after = snapshotAfter(standing, event);
    if (after !== standing) this.#set(event.portfolioId, after, MOVES.has(event.type));
  }

  #now(portfolioId: string): PortfolioSnapshot | undefined {
    return this.#drafts.get(portfolioId)?.standing ?? this.#known.standing(portfolioId);
  }

  #set(portfolioId: string, standing: PortfolioSnapshot, hasMoved: boolean): void {
    const draft = this.#drafts.get(portfolioId);
    this.#drafts.set(portfolioId, { standing, hasMoved: hasMoved || draft?.hasMoved === true });
  }

  changes(): readonly HistoryChange[] {
    return [...this.#drafts].map(([portfolioId, { standing, hasMoved }]) => ({
      change: 'standing',
      portfolioId,
      minute: this.#minute,
      hasMoved,
      standing,
    }));
  }
}

/** Quotes that an event puts in force: pushed ones, and those that an action restates. */
export function quotesBy(event: Event): readonly Quote[] {
  if (event.type === 'QuotesPushed') return event.quotes;
  if (event.type === 'SeriesAdjusted') return event.markets.map(({ quote }) => quote);
  const isOfAction = event.type === 'SplitBegun' || event.type === 'ActionDone';
  return isOfAction && event.market !== undefined ? [event.market.quote] : [];
}

/** Marks by pushed quotes: they cannot be read again later. */
function marksOf(event: Event, minute: number): readonly HistoryChange[] {
  return quotesBy(event).flatMap((quote: Quote) => {
    const price = isLongAsOsi(quote.symbol) ? optionMarkOf(quote) : markOf(quote);
    return price === undefined ? [] : [{ change: 'mark', symbol: quote.symbol, minute, price }];
  });
}

/** An order after a record, as stored in its row: intermediate states are in the journal. */
interface OrderRowDraft {
  snapshot: OrderSnapshot;
  readonly isNew: boolean;
  isRenamed: boolean;
  filledOn: string | undefined;
}

/** The orders of one record, followed from event to event. */
class RecordOrders {
  readonly #known: ProjectionSource;
  readonly #at: Instant;
  readonly #drafts = new Map<number, OrderRowDraft>();

  constructor(known: ProjectionSource, at: Instant) {
    this.#known = known;
    this.#at = at;
  }

  /** The order as this event leaves it. */
  after(event: OrderEvent): OrderSnapshot {
    if (isOrderPlaced(event)) {
      const snapshot = placedOrder(event, this.#known.accountOf(event.request.portfolioId), this.#at);
      this.#drafts.set(event.number, { snapshot, isNew: true, isRenamed: false, filledOn: undefined });
      return snapshot;
    }
    const draft = this.#draft(event.order);
    draft.snapshot = orderAfter(draft.snapshot, event, this.#at);
    if (event.type === 'OrderMoved' && event.renamed !== undefined) draft.isRenamed = true;
    if (event.type === 'OrderExecuted' && draft.snapshot.progress.status === 'FILLED') {
      draft.filledOn = tradeDateOf(event, this.#at);
    }
    return draft.snapshot;
  }

  /** The order after the events of the record so far. */
  now(order: number): OrderSnapshot {
    return this.#draft(order).snapshot;
  }

  #draft(order: number): OrderRowDraft {
    let draft = this.#drafts.get(order);
    if (draft === undefined) {
      draft = { snapshot: this.#known.order(order), isNew: false, isRenamed: false, filledOn: undefined };
      this.#drafts.set(order, draft);
    }
    return draft;
  }

  changes(): readonly HistoryChange[] {
    return [...this.#drafts].map(([order, { snapshot, isNew, isRenamed, filledOn }]) => {
      const { terms, progress } = snapshot;
      const now = { ...(filledOn !== undefined && { filledOn }), progress };
      if (isNew) return { change: 'order-added', terms, ...now };
      return { change: 'order-moved', order, ...now, ...(isRenamed && { terms }) };
    });
  }
}

/** Movements of cash that are not the consequence of a trade, by the category users find them under (D17). */
const ENTRY_CATEGORY: Readonly<Partial<Record<LedgerEntryType, string>>> = {
  INITIAL_CASH: 'CASH',
  TRANSFER: 'CASH',
  WITHDRAWAL: 'CASH',
  PROMOTIONAL_CASH: 'CASH',
  CASH_IN_LIEU: 'CORPORATE_ACTION',
  INTEREST: 'CASH',
  BORROW_FEE: 'CASH',
};

/** Moves of an order that are part of every order's way and not worth an entry in the activity log. */
const ROUTINE: ReadonlySet<string> = new Set([
  'RESERVING',
  'ACTIVATED',
  'STARTED',
  'RESIZED',
  'EXITS_CHANGED',
  'CANCELING',
  'RESERVED',
  'TRAILED',
  'RESTED',
  'SCRIPTED',
  'OFFERED',
  'AWAITING_CLOSE',
]);

function rowsOf(event: Event, index: number, orders: RecordOrders): readonly HistoryChange[] {
  const listed = (list: ListName, owner: string, item: number, tag?: string): HistoryChange => ({
    change: 'listed',
    list,
    owner,
    event: index,
    item,
    ...(tag !== undefined && { tag }),
  });
  const activity = (owner: string, tag: string, item = 0) => listed('activities', owner, item, tag);
  const ledger = (owner: string, entries: readonly unknown[]) =>
    entries.map((_, item) => listed('ledger', owner, item));
  switch (event.type) {
    case 'OrderAccepted':
    case 'OrderRejected':
    case 'OrderMoved': {
      const { number, portfolioId } = orders.after(event).terms;
      const isRoutine = event.type === 'OrderMoved' && ROUTINE.has(event.transition);
      return [
        { change: 'stream-event', event: index },
        listed('order-events', String(number), 0),
        ...(isRoutine ? [] : [activity(portfolioId, 'ORDER')]),
      ];
    }
    case 'OrderExecuted': {
      const { terms } = orders.after(event);
      const { number, portfolioId } = terms;
      return [
        { change: 'stream-event', event: index },
        ...event.executions.flatMap((_, item) => [
          listed('order-events', String(number), item, 'EXECUTION'),
          activity(portfolioId, 'EXECUTION', item),
        ]),
        ...ledger(portfolioId, tradeEntries(terms, event)),
      ];
    }
    case 'LedgerPosted': {
      const { portfolioId, entries } = event;
      const activities = entries.flatMap((entry, item) => {
        const category = ENTRY_CATEGORY[entry.type];
        return category === undefined ? [] : [activity(portfolioId, category, item)];
      });
      return [...ledger(portfolioId, entries), ...activities];
    }
    case 'DayTradeTracked': {
      const record = event.recorded === undefined ? undefined : event.tracker.current?.record;
      if (record === undefined) return [];
      const { symbol, tradingDate, number } = record;
      return [
        {
          change: 'listed',
          list: 'day-trades',
          owner: event.portfolioId,
          event: index,
          item: 0,
          key: `${tradingDate}/${symbol}/${number}`,
        },
      ];
    }
    case 'OptionEnded':
      return [activity(event.portfolioId, 'OPTION'), ...ledger(event.portfolioId, event.entries)];
    case 'FutureSettled':
      return [
        activity(event.portfolioId, event.closed === undefined ? 'CASH' : 'SETTLEMENT'),
        ...ledger(event.portfolioId, event.entries),
      ];
    case 'ExerciseInstructed':
      return [activity(event.portfolioId, 'OPTION')];
    case 'ObligationSettled': {
      const { portfolioId } = event;
      return [activity(portfolioId, 'SETTLEMENT'), ...ledger(portfolioId, settlementEntries(event))];
    }
    case 'PortfolioOpened': {
      const { terms } = event;
      const { portfolioId, accountId } = terms;
      return [
        { change: 'portfolio-opened', portfolioId, accountId, terms: JSON.stringify(terms) },
        activity(portfolioId, 'SYSTEM'),
      ];
    }
    case 'PortfolioChanged':
      return [activity(event.portfolioId, event.change === 'MARGIN' ? 'MARGIN' : 'SYSTEM')];
    case 'PortfolioClosed': {
      const { portfolioId, settings, value, at, name } = event;
      const last: LastFigures = { settings, value, at, ...(name !== undefined && { name }) };
      return [
        { change: 'portfolio-closed', portfolioId, last: JSON.stringify(last) },
        activity(portfolioId, 'SYSTEM'),
      ];
    }
    case 'PortfolioReset':
      return [activity(event.portfolioId, 'SYSTEM')];
    case 'PositionsImported': {
      const { portfolioId, cash, positions, entries } = event;
      return [
        ...ledger(portfolioId, entries),
        ...(cash === 0 ? [] : [activity(portfolioId, 'CASH')]),
        // Item 0 is the cash.
        ...positions.map((_, index) => activity(portfolioId, 'SYSTEM', index + 1)),
      ];
    }
    case 'OptionAdjusted':
      return [activity(event.portfolioId, 'OPTION')];
    case 'PositionSplit':
    case 'DividendAccrued':
      return [activity(event.portfolioId, 'CORPORATE_ACTION')];
    case 'SessionMarked':
      return event.points.flatMap(({ portfolioId, sma }, item) => [
        listed('equity', portfolioId, item),
        ...(sma === undefined ? [] : [listed('sma', portfolioId, item)]),
      ]);
    case 'SmaChanged':
      return [listed('sma', event.portfolioId, 0)];
    case 'CallIssued':
    case 'CallClosed': {
      const { portfolioId, call } = event;
      const row: HistoryChange = {
        change: 'listed',
        list: 'margin-calls',
        owner: portfolioId,
        event: index,
        item: 0,
        key: String(call.number).padStart(12, '0'),
      };
      return [row, activity(portfolioId, 'MARGIN')];
    }
    case 'CallDue':
    case 'MarginWarned':
    case 'LiquidationDecided':
      return [activity(event.portfolioId, 'MARGIN')];
    case 'DayShortfallNoted':
    case 'InterestAccrued':
    case 'AccrualsPosted':
    case 'AccountOpened':
    case 'AccountUpdated':
    case 'PortfolioRenamed':
    case 'AccountStatusChanged':
    case 'AccountDeleted':
    case 'OptionsSecured':
    case 'ExercisePriceTaken':
    case 'AssignmentsDrawn':
    case 'InstrumentsListed':
    case 'SeriesAdjusted':
    case 'QuotesPushed':
    case 'OrdersRested':
    case 'MatchingPaused':
    case 'ActionsAnnounced':
    case 'ActionWithdrawn':
    case 'SplitBegun':
    case 'ActionContinued':
    case 'ActionDone':
    case 'CompetitionBegun':
    case 'CompetitionPhaseChanged':
    case 'CompetitionMarked':
    case 'CompetitionHigh':
    case 'EntryRemoved':
    case 'AgentSpent':
    case 'AgentRefused':
    case 'ClosesNoted':
    case 'ShortSalesRestricted':
    case 'BandMoved':
    case 'OutcomeSet':
    case 'OutcomesDeleted':
    case 'OutcomeMet':
    case 'OrderRefused':
    case 'TradingHalted':
    case 'TradingResumed':
    case 'RulesChanged':
    case 'ClockMoved':
    case 'ForkBegun':
      return [];
  }
}
