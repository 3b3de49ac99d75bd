import {
  isLongAsOsi,
  isOrderPlaced,
  markOf,
  optionMarkOf,
  settlementEntries,
  snapshotOf,
  tradeDateOf,
  tradeEntries,
} from '@sandpit/core';
import type {
  Event,
  EvolvedOrder,
  Instant,
  LastFigures,
  LedgerEntryType,
  OrderSnapshot,
  Portfolio,
  PortfolioTerms,
  PortfolioSnapshot,
  Quote,
  State,
} from '@sandpit/core';
import { accountOwner, EVERY_ORDER, LIST_CODE, orderOwner } from './history-rows.js';
import type {
  ListName,
  ForkRows,
  HistoryRows,
  ItemRow,
  Length,
  MarkRow,
  MovedOrderRow,
  NewOrderRow,
  OwnerGrowth,
  PortfolioRow,
  StandingRow,
} from './history-rows.js';

/** A decision as far as rows are made from it. */
export interface DecidedRecord {
  readonly seq: number;
  readonly at: Instant;
  readonly events: readonly Event[];
  /** For each event its order, after the event. */
  readonly orders: readonly (EvolvedOrder | undefined)[];
}

/** An item of a paged list: which part of the record it is, found again by (seq, event, item). */
export interface Listed {
  readonly list: Exclude<ListName, 'order-events'>;
  /** A portfolio. */
  readonly owner: string;
  /** Part of the event. */
  readonly item: number;
  /** For filters: the category of an activity. */
  readonly tag?: string;
  /** An item that grows: a later one with the same key of this owner and list replaces it. */
  readonly key?: string;
}

const MINUTE_MS = 60_000;

/** The minute of an instant, since 1970. */
const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS);

/** Events that change holdings, including trades. */
const MOVES: ReadonlySet<Event['type']> = new Set([
  'OrderExecuted',
  'OptionEnded',
  'FutureSettled',
  'OptionAdjusted',
  'PositionSplit',
  'PositionConverted',
  'PortfolioReset',
  'PortfolioClosed',
]);

/** Events of a portfolio that change its snapshot. */
const CHANGES: ReadonlySet<Event['type']> = new Set([
  ...MOVES,
  'LedgerPosted',
  'PositionsImported',
  'PortfolioChanged',
  'OptionsSecured',
  'ObligationSettled',
  'ObligationMoved',
  'DividendAccrued',
]);

/** Quotes that an event puts in force: pushed ones, and those that an action restates. */
export function quotesBy(event: Event): readonly Quote[] {
  if (event.type === 'QuotesPushed') return event.quotes;
  if (event.type === 'SeriesAdjusted') return event.markets.map(({ quote }) => quote);
  if (event.type === 'ActionBegun') return event.quotes;
  const isOfAction = event.type === 'SplitBegun' || event.type === 'ActionDone';
  return isOfAction && event.market !== undefined ? [event.market.quote] : [];
}

/** Mark of a symbol by its quote, in units of a price; undefined without a price. */
const markBy = (quote: Quote): number | undefined =>
  isLongAsOsi(quote.symbol) ? optionMarkOf(quote) : markOf(quote);

/** An order after the records that are collected. */
interface OrderDraft {
  snapshot: OrderSnapshot;
  /** The record that accepted it; undefined = it is there already. */
  readonly acceptedBy: number | undefined;
  filledOn: string | null;
  /** Inside of the JSON of its places in the record that accepted it. */
  places: string;
  events: number;
  portfolioN: number;
  accountN: number;
  /** Its last events that are not in its own row. */
  last: ItemDraft | undefined;
}

interface ItemDraft {
  readonly owner: string;
  readonly list: number;
  /** Ordinal of its last item among those that are collected; of an item with a key, its own. */
  n: number;
  seq: number;
  readonly at: number;
  places: string;
  readonly key: string | null;
}

/** A portfolio or an account: how much its lists have grown, and the last item of each, by the code of the list. */
interface OwnerDraft extends Record<Length, number> {
  readonly last: (ItemDraft | undefined)[];
}

interface MinuteDraft {
  readonly minute: number;
  movedBy: number | null;
  readonly first: number;
  seq: number;
}

/** Places of events after which a row of `stream-events` ends with the record. */
const MOST_STREAM_PLACES = 256;

/**
 * Collects the rows of consecutive records of a simulation. Orders and portfolios are read from the state: of the orders of many records
 * only the last state becomes a row, and a snapshot is taken once for a minute, when the next minute begins or the rows are taken.
 */
export class RowCollector {
  readonly #state: State;
  #from: number;
  #to: number;
  #owners = new Map<string, OwnerDraft>();
  #portfolios = new Map<string, PortfolioRow>();
  #orders = new Map<number, OrderDraft>();
  #items: ItemDraft[] = [];
  /** The last item of each owner, list and key. */
  #keyed = new Map<string, ItemDraft>();
  #lastStreamed: ItemDraft | undefined;
  #standings: StandingRow[] = [];
  /** Portfolios that have changed in the minute, without a snapshot yet. */
  #changed = new Map<string, MinuteDraft>();
  #minute = -Infinity;
  #marks = new Map<string, MarkRow>();
  #streamPlaces = 0;
  #records = 0;

  /** `seq`: the last record that has rows. */
  constructor(state: State, seq: number) {
    this.#state = state;
    this.#from = seq;
    this.#to = seq;
  }

  /** The last record that is collected or was taken. */
  get seq(): number {
    return this.#to;
  }

  /** Records that are collected. */
  get records(): number {
    return this.#records;
  }

  /** Call before a decision at this instant changes the state: snapshots of an earlier minute are taken. */
  begin(at: Instant): void {
    if (this.#changed.size > 0 && minuteOf(at) !== this.#minute) this.#takeSnapshots();
  }

  /** Call after the decision. `closing`: the portfolio that its command may have closed, which the state no longer has. */
  add({ seq, at, events, orders }: DecidedRecord, closing?: Portfolio): void {
    this.#minute = minuteOf(at);
    this.#to = seq;
    this.#records += 1;
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index] as Event;
      const order = orders[index];
      if (order === undefined) this.#add(event, index, seq, at, closing);
      else this.#addOfOrder(event, order, index, seq, at);
    }
  }

  #addOfOrder(event: Event, order: EvolvedOrder, index: number, seq: number, at: Instant): void {
    const { number, portfolioId } = order.terms;
    const draft = this.#order(order, isOrderPlaced(event) ? seq : undefined);
    if (event.type === 'OrderExecuted') {
      if (order.progress.status === 'FILLED') draft.filledOn = tradeDateOf(event, at);
      for (let item = 0; item < event.executions.length; item += 1)
        this.#orderEvent(number, draft, placeOf(index, item, 'EXECUTION'), seq, at);
    } else this.#orderEvent(number, draft, placeOf(index, 0), seq, at);
    this.#streamEvent(`[${seq},${index}]`, seq, at);
    for (const listed of listedOf(event, order)) this.#list(listed, index, seq, at);
    if (event.type === 'OrderExecuted' || order.hasReservedOther === true)
      this.#change(portfolioId, seq, event.type === 'OrderExecuted');
  }

  #add(event: Event, index: number, seq: number, at: Instant, closing: Portfolio | undefined): void {
    for (const listed of listedOf(event, undefined)) this.#list(listed, index, seq, at);
    for (const quote of quotesBy(event)) this.#mark(quote, seq);
    if (event.type === 'PortfolioOpened') {
      const { terms } = event;
      this.#portfolios.set(terms.portfolioId, portfolioRow(terms, seq, null, null));
      this.#change(terms.portfolioId, seq, false);
      return;
    }
    if (!('portfolioId' in event) || !CHANGES.has(event.type)) return;
    this.#change(event.portfolioId, seq, MOVES.has(event.type));
    if (event.type !== 'PortfolioClosed') return;
    const { portfolioId: id, settings, value, at: closedAt, name } = event;
    const last: LastFigures = { settings, value, at: closedAt, ...(name !== undefined && { name }) };
    if (closing?.terms.portfolioId !== id)
      throw new Error(`Portfolio ${id} was closed by a command of another`);
    const opened = this.#portfolios.get(id)?.opened ?? seq;
    this.#portfolios.set(id, portfolioRow(closing.terms, opened, JSON.stringify(last), seq));
    this.#takeSnapshot(id, { ...snapshotOf(closing), held: {} });
  }

  #order(order: EvolvedOrder, acceptedBy: number | undefined): OrderDraft {
    const { number, portfolioId, accountId } = order.terms;
    let draft = this.#orders.get(number);
    if (draft === undefined) {
      const isNew = acceptedBy !== undefined;
      draft = {
        snapshot: order,
        acceptedBy,
        filledOn: null,
        places: '',
        events: 0,
        portfolioN: isNew ? (this.#owner(portfolioId).orders += 1) : 0,
        accountN: isNew ? (this.#owner(accountOwner(accountId)).orders += 1) : 0,
        last: undefined,
      };
      if (isNew) this.#owner(EVERY_ORDER).orders += 1;
      this.#orders.set(number, draft);
    } else draft.snapshot = order;
    return draft;
  }

  #owner(id: string): OwnerDraft {
    let owner = this.#owners.get(id);
    if (owner === undefined) {
      owner = { orders: 0, activities: 0, ledger: 0, equity: 0, sma: 0, last: [] };
      this.#owners.set(id, owner);
    }
    return owner;
  }

  /** Events of an order in the record that accepted it are in its own row: most orders have no others. */
  #orderEvent(number: number, draft: OrderDraft, place: string, seq: number, at: Instant): void {
    draft.events += 1;
    if (draft.acceptedBy === seq) {
      draft.places = joined(draft.places, place);
      return;
    }
    if (extended(draft.last, draft.events, place, seq)) return;
    const list = LIST_CODE['order-events'];
    draft.last = { owner: orderOwner(number), list, n: draft.events, seq, at, places: place, key: null };
    this.#items.push(draft.last);
  }

  /** A record is in one row: a row is found by its last record. */
  #streamEvent(place: string, seq: number, at: Instant): void {
    const last = this.#lastStreamed;
    this.#streamPlaces += 1;
    if (last !== undefined && (last.seq === seq || this.#streamPlaces < MOST_STREAM_PLACES)) {
      last.places = joined(last.places, place);
      last.seq = seq;
      return;
    }
    this.#streamPlaces = 1;
    const item = { owner: '', list: LIST_CODE['stream-events'], n: 0, seq, at, places: place, key: null };
    this.#items.push(item);
    this.#lastStreamed = item;
  }

  #list({ list, owner, item, tag, key }: Listed, event: number, seq: number, at: Instant): void {
    const code = LIST_CODE[list];
    const place = placeOf(event, item, tag);
    if (key === undefined) {
      const draft = this.#owner(owner);
      const n = (draft[list as Length] += 1);
      if (extended(draft.last[code], n, place, seq)) return;
      const item = { owner, list: code, n, seq, at, places: place, key: null };
      draft.last[code] = item;
      this.#items.push(item);
      return;
    }
    // The last of several in a record counts.
    const name = `${owner} ${code} ${key}`;
    const last = this.#keyed.get(name);
    if (last?.seq === seq) {
      last.places = place;
      return;
    }
    const added = { owner, list: code, n: keyedOrdinal(seq, event), seq, at, places: place, key };
    this.#items.push(added);
    this.#keyed.set(name, added);
  }

  #change(portfolioId: string, seq: number, hasMoved: boolean): void {
    const draft = this.#changed.get(portfolioId);
    if (draft === undefined) {
      const movedBy = hasMoved ? seq : null;
      this.#changed.set(portfolioId, { minute: this.#minute, movedBy, first: seq, seq });
      return;
    }
    draft.seq = seq;
    if (hasMoved) draft.movedBy ??= seq;
  }

  #takeSnapshots(): void {
    for (const portfolioId of [...this.#changed.keys()]) {
      const portfolio = this.#state.portfolios.get(portfolioId);
      if (portfolio !== undefined) this.#takeSnapshot(portfolioId, snapshotOf(portfolio));
    }
  }

  #takeSnapshot(portfolio: string, standing: PortfolioSnapshot): void {
    const draft = this.#changed.get(portfolio);
    if (draft === undefined) return;
    this.#changed.delete(portfolio);
    const { minute, movedBy, first, seq } = draft;
    const isHolding = Object.keys(standing.held).length > 0;
    const text = JSON.stringify(standing);
    this.#standings.push({ portfolio, minute, isHolding, movedBy, standing: text, first, seq });
  }

  #mark(quote: Quote, seq: number): void {
    const price = markBy(quote);
    if (price === undefined) return;
    const { symbol } = quote;
    const name = `${this.#minute} ${symbol}`;
    const first = this.#marks.get(name)?.first ?? seq;
    this.#marks.set(name, { symbol, minute: this.#minute, price, first, seq });
  }

  /** The rows of everything that is collected; the next ones begin after them. Undefined = there is nothing. */
  take(): HistoryRows | undefined {
    if (this.#to === this.#from) return undefined;
    this.#takeSnapshots();
    const rows: HistoryRows = {
      from: this.#from,
      to: this.#to,
      owners: [...this.#owners].map(([id, { orders, activities, ledger, equity, sma }]): OwnerGrowth => ({
        id,
        orders,
        activities,
        ledger,
        equity,
        sma,
      })),
      portfolios: [...this.#portfolios.values()],
      ...this.#orderRows(),
      items: this.#items.map((item) => this.#itemRow(item)),
      standings: this.#standings,
      marks: [...this.#marks.values()],
    };
    this.#forget(this.#to);
    return rows;
  }

  /** The rows up to this record are another's. */
  skip(seq: number): void {
    this.#to = seq;
    this.drop();
  }

  /** Drops what is collected: its rows are made from the journal. */
  drop(): void {
    this.#changed.clear();
    this.#forget(this.#to);
  }

  #forget(from: number): void {
    this.#from = from;
    this.#records = 0;
    this.#owners = new Map();
    this.#portfolios = new Map();
    this.#orders = new Map();
    this.#items = [];
    this.#keyed = new Map();
    this.#lastStreamed = undefined;
    this.#standings = [];
    this.#marks = new Map();
    this.#streamPlaces = 0;
  }

  #lengthOf(owner: string, list: Length): number {
    return this.#owners.get(owner)?.[list] ?? 0;
  }

  #orderRows(): { readonly orders: readonly NewOrderRow[]; readonly moved: readonly MovedOrderRow[] } {
    const orders: NewOrderRow[] = [];
    const moved: MovedOrderRow[] = [];
    for (const [number, draft] of this.#orders) {
      const { filledOn, acceptedBy: seq, events } = draft;
      const { terms, progress } = draft.snapshot;
      const { symbol, portfolioId: portfolio } = terms;
      const { status } = progress;
      const termsText = JSON.stringify(terms);
      const progressText = JSON.stringify(progress);
      if (seq === undefined) {
        moved.push({ number, symbol, status, filledOn, terms: termsText, progress: progressText, events });
        continue;
      }
      const account = accountOwner(terms.accountId);
      // In one literal: an object that is spread and then extended costs several times as much to make and to send.
      orders.push({
        number,
        portfolio,
        portfolioBack: this.#lengthOf(portfolio, 'orders') - draft.portfolioN,
        account,
        accountBack: this.#lengthOf(account, 'orders') - draft.accountN,
        clientOrder: terms.clientOrderId ?? null,
        symbol,
        assetClass: terms.assetClass,
        createdAt: terms.createdAt,
        status,
        filledOn,
        terms: termsText,
        progress: progressText,
        seq,
        places: `[${draft.places}]`,
        events,
      });
    }
    return { orders, moved };
  }

  #itemRow({ owner, list, n, seq, at, places: listed, key }: ItemDraft): ItemRow {
    const places = `[${listed}]`;
    if (key !== null) return { owner, list, n, back: 0, seq, at, places, key };
    if (list === LIST_CODE['stream-events']) return { owner, list, n: seq, back: 0, seq, at, places, key };
    const length =
      list === LIST_CODE['order-events']
        ? (this.#orders.get(Number(owner))?.events ?? n)
        : this.#lengthOf(owner, LENGTH_BY_CODE[list] ?? 'activities');
    return { owner, list, n: null, back: length - n, seq, at, places, key };
  }
}

/** Events of one record have other ordinals: no record has more. */
const MOST_EVENTS = 65_536;

/** Ordinal of an item with a key, if it is the first with it. */
const keyedOrdinal = (seq: number, event: number): number =>
  seq * MOST_EVENTS + Math.min(event, MOST_EVENTS - 1);

/** Rows of a new fork, from the state at its point. */
export function forkRowsOf(state: State): ForkRows {
  const { now, orders, portfolios, books } = state;
  return {
    orders: [...orders.values()].map(({ terms, progress }) => ({
      number: terms.number,
      symbol: terms.symbol,
      status: progress.status,
      terms: JSON.stringify(terms),
      progress: JSON.stringify(progress),
    })),
    minute: minuteOf(now),
    standings: [...portfolios].map(([portfolio, contents]) => {
      const standing = snapshotOf(contents);
      return {
        portfolio,
        isHolding: Object.keys(standing.held).length > 0,
        standing: JSON.stringify(standing),
      };
    }),
    marks: [...books.values()].flatMap(({ quote }) => {
      const price = quote === undefined ? undefined : markBy(quote);
      return quote === undefined || price === undefined ? [] : [{ symbol: quote.symbol, price }];
    }),
  };
}

const LENGTH_BY_CODE: Readonly<Record<number, Length>> = Object.fromEntries(
  (['activities', 'ledger', 'equity', 'sma'] as const).map((list) => [LIST_CODE[list], list as Length]),
);

const portfolioRow = (
  terms: PortfolioTerms,
  opened: number,
  last: string | null,
  closed: number | null,
): PortfolioRow => ({
  id: terms.portfolioId,
  account: terms.accountId,
  terms: JSON.stringify(terms),
  opened,
  last,
  closed,
});

const placeOf = (event: number, item: number, tag?: string): string =>
  tag === undefined ? `[${event},${item}]` : `[${event},${item},"${tag}"]`;

/** Adds a place to an item of the same record: the places of a record in a list are one row. False if the item is of an earlier one. */
function extended(item: ItemDraft | undefined, n: number, place: string, seq: number): boolean {
  if (item?.seq !== seq) return false;
  item.n = n;
  item.places = joined(item.places, place);
  return true;
}

const joined = (places: string, place: string): string => (places === '' ? place : `${places},${place}`);

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
  'RESCHEDULED',
]);

const listed = (list: Listed['list'], owner: string, item: number, tag?: string): Listed =>
  tag === undefined ? { list, owner, item } : { list, owner, item, tag };

const activity = (owner: string, tag: string, item = 0): Listed => listed('activities', owner, item, tag);

const ledger = (owner: string, entries: readonly unknown[]): readonly Listed[] =>
  entries.map((_, item) => listed('ledger', owner, item));

/** The items of lists of portfolios that an event adds. A new kind of event that users should be able to list is added here. */
export function listedOf(event: Event, order: OrderSnapshot | undefined): readonly Listed[] {
  switch (event.type) {
    case 'OrderAccepted':
    case 'OrderRejected':
    case 'OrderMoved': {
      if (order === undefined || (event.type === 'OrderMoved' && ROUTINE.has(event.transition))) return [];
      return [activity(order.terms.portfolioId, 'ORDER')];
    }
    case 'OrderExecuted': {
      if (order === undefined) return [];
      const { terms } = order;
      const { portfolioId } = terms;
      return [
        ...event.executions.map((_, item) => activity(portfolioId, 'EXECUTION', item)),
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
          list: 'day-trades',
          owner: event.portfolioId,
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
      return [activity(event.terms.portfolioId, 'SYSTEM')];
    }
    case 'PortfolioChanged':
      return [activity(event.portfolioId, event.change === 'MARGIN' ? 'MARGIN' : 'SYSTEM')];
    case 'PortfolioClosed':
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
    case 'PositionConverted':
      return [activity(event.portfolioId, 'CORPORATE_ACTION'), ...ledger(event.portfolioId, event.entries)];
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
    case 'CallMoved':
    case 'CallClosed': {
      const { portfolioId, call } = event;
      const row: Listed = {
        list: 'margin-calls',
        owner: portfolioId,
        item: 0,
        key: String(call.number).padStart(12, '0'),
      };
      return event.type === 'CallMoved' ? [row] : [row, activity(portfolioId, 'MARGIN')];
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
    case 'ObligationMoved':
    case 'ActionsAnnounced':
    case 'ActionWithdrawn':
    case 'SplitBegun':
    case 'ActionBegun':
    case 'ActionContinued':
    case 'ActionDone':
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
      return [];
  }
}
