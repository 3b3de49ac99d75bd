/** Items of the history lists: each refers to an event of the journal and a part of it. */
import {
  Instant,
  Money,
  parseOsi,
  Price,
  Quantity,
  refusalText,
  rejectionText,
  settlementEntries,
  sideOf,
  tradedBy,
  tradeEntries,
} from '@sandpit/core';
import type {
  ClosePoint,
  Event,
  Ids,
  LedgerEntry as CoreEntry,
  MarginCall as CoreCall,
  OrderEvent,
  OrderSnapshot,
  OrderTerms,
  PositionConverted,
} from '@sandpit/core';
import type {
  Activity,
  ActivityCategory,
  DayTrade,
  EquityPoint,
  Execution,
  LedgerEntry,
  MarginCall,
  SmaEntry,
} from '@sandpit/protocol';
import type { ListItem } from '../../store/history.js';
import { isoOf } from './instants.js';
import { dollars, moneyNumber, priceNumber, quantityNumber } from './numbers.js';
import { chargesOf, executionOf } from './orders.js';

/** The event of an item, which must be of its list's kind. */
function eventOf<Type extends Event['type']>(item: ListItem, type: Type): Extract<Event, { type: Type }> {
  const event = item.data as Event;
  if (event.type !== type) throw unexpected(event);
  return event as Extract<Event, { type: Type }>;
}

const unexpected = ({ type }: Event) => new Error(`The history has ${type} in a list where it has no place`);

function partOf<Part>(parts: readonly Part[], item: ListItem): Part {
  const part = parts[item.item];
  if (part === undefined) throw new Error(`The history names part ${item.item} of an event that has none`);
  return part;
}

export const toExecution = (ids: Ids, terms: OrderTerms, item: ListItem): Execution =>
  executionOf(ids, terms, partOf(eventOf(item, 'OrderExecuted').executions, item), Instant.ofMs(item.at));

/** A ledger entry, `at` the instant of its record. */
export function ledgerEntryOf(ids: Ids, entry: CoreEntry, at: Instant): LedgerEntry {
  const { number, order, execution } = entry;
  return {
    entryId: ids.idOf(execution === undefined ? 'ENTRY' : 'TRADE_ENTRY', number),
    at: isoOf(at),
    type: entry.type,
    description: entryText(entry),
    postings: entry.postings.map(({ account, amount }) => ({ account, amount: moneyNumber(amount) })),
    ...(order !== undefined && { orderId: ids.idOf('ORDER', order) }),
    ...(execution !== undefined && { executionId: ids.idOf('EXECUTION', execution) }),
  };
}

/** Option events, in words (D90). */
const ENDED: Readonly<Record<string, string>> = {
  EXERCISED: 'exercised',
  ASSIGNED: 'assigned',
  EXPIRED: 'expired',
  CASH_SETTLED: 'settled in cash',
  SOLD_AT_EXPIRY: 'sold at expiry',
  BUY_IN: 'bought in',
};

/** Description of a ledger entry. */
function entryText({ type, about = {}, postings }: CoreEntry): string {
  const { symbol = '', name, date = '', side } = about;
  const quantity = about.quantity === undefined ? '' : Quantity.format(about.quantity);
  const price = about.price === undefined ? '' : Price.format(about.price);
  switch (type) {
    case 'INITIAL_CASH':
      return 'Initial cash';
    case 'TRANSFER':
      return name ?? (settledCashOf(postings) < 0 ? 'Withdrawal' : 'Deposit');
    case 'WITHDRAWAL':
      return 'Cash paid out on closing';
    case 'PROMOTIONAL_CASH':
      return 'Promotional cash';
    case 'IMPORT':
      return symbol === '' ? 'Imported cash' : `Imported ${quantity} ${symbol} at a cost of ${price}`;
    case 'TRADE':
      return `${side === 'BUY' ? 'Bought' : 'Sold'} ${quantity} ${symbol} at ${price}`;
    case 'COMMISSION':
    case 'FEE':
      return name ?? '';
    case 'SETTLEMENT':
      return `Settlement of ${date}`;
    case 'DIVIDEND':
      return `Dividend of ${price} a share on ${symbol}`;
    case 'VARIATION':
      return `Variation of ${quantity} ${symbol} to ${price}`;
    case 'EXERCISE':
    case 'ASSIGNMENT':
    case 'EXPIRY':
      return `${quantity} ${symbol} ${ENDED[name ?? ''] ?? 'expired'}`;
    case 'CASH_IN_LIEU':
      return `Cash in lieu of ${quantity} ${symbol}`;
    case 'SPIN_OFF':
      return `Spin-off of ${quantity} ${symbol}`;
    case 'MERGER':
      return `Merger of ${quantity} ${symbol}`;
    case 'DELISTING':
      return `Delisting of ${quantity} ${symbol}`;
    case 'INTEREST':
      return 'Margin interest';
    case 'BORROW_FEE':
      return 'Fees for borrowed stock';
    case 'RESET':
      return 'Reset to the initial state';
  }
}

const settledCashOf = (postings: CoreEntry['postings']): Money =>
  postings.find(({ account }) => account === 'SETTLED_CASH')?.amount ?? Money.zero;

/** Entries that an event posts, or that follow from it. `termsOf` finds the order that it is about. */
export function toLedgerEntry(ids: Ids, item: ListItem, termsOf: (order: number) => OrderTerms): LedgerEntry {
  return ledgerEntryOf(ids, partOf(entriesOf(item.data as Event, termsOf), item), Instant.ofMs(item.at));
}

function entriesOf(event: Event, termsOf: (order: number) => OrderTerms): readonly CoreEntry[] {
  if (event.type === 'OrderExecuted') return tradeEntries(termsOf(event.order), event);
  if (event.type === 'ObligationSettled') return settlementEntries(event);
  if (event.type === 'PositionsImported') return event.entries;
  if (
    event.type === 'LedgerPosted' ||
    event.type === 'OptionEnded' ||
    event.type === 'FutureSettled' ||
    event.type === 'PositionConverted'
  )
    return event.entries;
  throw unexpected(event);
}

export function toDayTrade(item: ListItem): DayTrade {
  const event = eventOf(item, 'DayTradeTracked');
  const record = event.record ?? event.tracker.current?.record;
  if (record === undefined) throw new Error('The history lists a day trade without a record');
  return {
    symbol: record.symbol,
    tradingDate: record.tradingDate,
    buyTime: isoOf(record.buyTime),
    sellTime: isoOf(record.sellTime),
    quantity: quantityNumber(record.quantity),
    buyPrice: priceNumber(record.buyPrice),
    sellPrice: priceNumber(record.sellPrice),
    pnl: moneyNumber(record.pnl),
    isSameDay: true,
  };
}

export function toEquityPoint(item: ListItem): EquityPoint {
  const point: ClosePoint = partOf(eventOf(item, 'SessionMarked').points, item);
  return equityPointOf(Instant.ofMs(item.at), point);
}

export function equityPointOf(
  at: Instant,
  point: Omit<ClosePoint, 'date' | 'portfolioId' | 'maintenanceExcess' | 'sma'>,
): EquityPoint {
  return {
    at: isoOf(at),
    totalEquity: moneyNumber(point.totalEquity),
    settledCash: moneyNumber(point.settledCash),
    pendingCash: moneyNumber(point.pendingCash),
    reservedCash: moneyNumber(point.reservedCash),
    longMarketValue: moneyNumber(point.longMarketValue),
    shortMarketValue: moneyNumber(point.shortMarketValue),
    marginLoan: moneyNumber(point.marginLoan),
  };
}

type ActivityDescription = Pick<Activity, 'category' | 'type' | 'description'> &
  Partial<Omit<Activity, 'activityId' | 'at' | 'category' | 'type' | 'description'>>;

/** An entry of the activity log as the portfolio's owner reads it. `order` is the order of the event, after the event. */
export function toActivity(ids: Ids, item: ListItem, order: OrderSnapshot | undefined): Activity {
  const event = item.data as Event;
  return {
    activityId: `${item.seq}-${item.event}-${item.item}`,
    at: isoOf(Instant.ofMs(item.at)),
    ...(order === undefined
      ? describeActivity(event, item)
      : describeOrderEvent(ids, event as OrderEvent, item, order)),
  };
}

/** Item 0 is the cash, item n the n-th position. */
/** An activity for shares that were exchanged, ended or given: the shares held before, and the cash for them, a fraction's included. */
function describeConversion({
  action,
  symbol,
  quantity,
  received,
  amount = Money.zero,
  inLieu = Money.zero,
}: PositionConverted): Pick<
  Activity,
  'category' | 'type' | 'description' | 'symbol' | 'quantity' | 'amount'
> {
  const given = received && `${Quantity.format(received.quantity)} ${received.symbol}`;
  const cash = amount === 0 ? [] : [`${Money.format(amount)} in cash`];
  const result = [...(given === undefined ? [] : [given]), ...cash].join(' and ');
  const text: Readonly<Record<PositionConverted['action'], string>> = {
    SYMBOL_CHANGE: `${symbol} became ${received?.symbol ?? ''}`,
    SPIN_OFF: `Spin-off of ${symbol}: ${result}`,
    MERGER: `Merger of ${symbol}: ${result}`,
    DELISTING: `Delisting of ${symbol}: ${result === '' ? 'worthless' : result}`,
  };
  return {
    category: 'CORPORATE_ACTION',
    type: action,
    description: text[action],
    symbol,
    quantity: quantityNumber(quantity),
    amount: moneyNumber(Money.add(amount, inLieu)),
  };
}

function describeImport(
  { cash, positions }: Extract<Event, { type: 'PositionsImported' }>,
  { item }: ListItem,
): ActivityDescription {
  const type = 'IMPORT';
  const position = positions[item - 1];
  if (position === undefined)
    return { category: 'CASH', type, description: 'Imported cash', amount: moneyNumber(cash) };
  const { symbol, lots } = position;
  const quantity = Quantity.ofUnits(lots.reduce((sum, lot) => sum + lot.quantity, 0));
  return {
    category: 'SYSTEM',
    type,
    description: `Imported ${Quantity.format(quantity)} ${symbol}`,
    symbol,
    quantity: quantityNumber(quantity),
    amount: 0,
  };
}

function describeActivity(event: Event, item: ListItem): ActivityDescription {
  switch (event.type) {
    case 'LedgerPosted':
      return describeEntry(partOf(event.entries, item));
    case 'ObligationSettled':
      return {
        category: 'SETTLEMENT',
        type: 'SETTLED',
        description: `Settlement of ${event.date}`,
        settlementDate: event.date,
        amount: moneyNumber(event.cash),
      };
    case 'OptionEnded': {
      const { act, symbol, quantity, price, amount, unpriced } = event;
      return {
        category: 'OPTION',
        type: act,
        description: `${Quantity.format(quantity)} ${symbol} ${ENDED[act] ?? ''}${unpriced === true ? ' worthless: the underlying has no price' : ''}`,
        symbol,
        quantity: quantityNumber(quantity),
        price: priceNumber(price),
        amount: moneyNumber(amount),
      };
    }
    case 'FutureSettled': {
      const { symbol, price, amount, closed } = event;
      const at = `${symbol} at ${Price.format(price)}`;
      return {
        ...(closed === undefined
          ? { category: 'CASH', type: 'VARIATION', description: `Variation of ${at}` }
          : {
              category: 'SETTLEMENT',
              type: 'FUTURE_SETTLED',
              description: `Settled ${at} for the last time`,
            }),
        symbol,
        price: priceNumber(price),
        amount: moneyNumber(amount),
      };
    }
    case 'ExerciseInstructed': {
      const { symbol, quantity } = event;
      const strike = parseOsi(symbol)?.strike;
      return {
        category: 'OPTION',
        type: 'DO_NOT_EXERCISE',
        description: `${Quantity.format(quantity)} ${symbol} not to be exercised at expiry`,
        symbol,
        quantity: quantityNumber(quantity),
        ...(strike !== undefined && { price: priceNumber(strike) }),
      };
    }
    case 'PortfolioOpened':
      return { category: 'SYSTEM', type: 'PORTFOLIO_OPENED', description: 'Portfolio opened' };
    case 'PortfolioClosed':
      return { category: 'SYSTEM', type: 'PORTFOLIO_CLOSED', description: 'Portfolio closed' };
    case 'PortfolioReset':
      return {
        category: 'SYSTEM',
        type: 'PORTFOLIO_RESET',
        description: 'Portfolio reset to its initial state',
        amount: moneyNumber(event.newCashBalance),
      };
    case 'PositionsImported':
      return describeImport(event, item);
    case 'PortfolioChanged':
      return event.change === 'MARGIN'
        ? {
            category: 'MARGIN',
            type: 'MARGIN_TYPE_CHANGED',
            description: `Margin type changed to ${event.settings.marginType ?? 'NONE'}`,
          }
        : {
            category: 'SYSTEM',
            type: 'BROKER_SWITCHED',
            description: `Broker switched to ${event.settings.brokerId}`,
          };
    case 'OptionAdjusted': {
      const { symbol, to, quantity, price } = event;
      return {
        category: 'OPTION',
        type: 'ADJUSTED',
        description: `${symbol} adjusted: ${Quantity.format(quantity)} ${to}`,
        symbol: to,
        quantity: quantityNumber(quantity),
        price: priceNumber(price),
        amount: 0,
      };
    }
    case 'PositionSplit': {
      const { symbol, ratio, action = 'SPLIT' } = event;
      const what = action === 'SPLIT' ? 'split' : 'stock dividend:';
      return {
        category: 'CORPORATE_ACTION',
        type: action,
        description: `${symbol} ${what} ${ratio.new} for ${ratio.old}`,
        symbol,
      };
    }
    case 'PositionConverted':
      return describeConversion(event);
    case 'DividendAccrued':
      return {
        category: 'CORPORATE_ACTION',
        type: event.action ?? 'DIVIDEND',
        description: `${event.action === undefined ? 'Dividend' : 'Special dividend'} of ${event.symbol}, paid on ${event.payDate}`,
        symbol: event.symbol,
        quantity: quantityNumber(event.quantity),
        amount: moneyNumber(event.amount),
      };
    case 'CallIssued':
    case 'CallDue':
    case 'CallClosed':
    case 'MarginWarned':
    case 'LiquidationDecided':
      return describeMarginEvent(event);
    case 'OrderAccepted':
    case 'OrderRejected':
    case 'OrderMoved':
    case 'OrderExecuted':
    case 'DayTradeTracked':
    case 'SessionMarked':
    case 'SmaChanged':
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
    case 'CallMoved':
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
      throw unexpected(event);
  }
}

const inDollars = (money: Money): string => dollars(Money.toCents(money), Money.format);

/** Describes events of margin calls in full, for a reader without context. */
function describeMarginEvent(
  event: Extract<
    Event,
    { type: 'CallIssued' | 'CallDue' | 'CallClosed' | 'MarginWarned' | 'LiquidationDecided' }
  >,
): ActivityDescription {
  const category = 'MARGIN';
  switch (event.type) {
    case 'CallIssued': {
      const { type, amount, dueAt } = event.call;
      return {
        category,
        type: 'CALL_ISSUED',
        description: `${type} call of ${inDollars(amount)}, due ${isoOf(dueAt)}`,
        amount: moneyNumber(Money.toCents(amount)),
      };
    }
    case 'CallDue': {
      const { type } = event.call;
      return {
        category,
        type: 'CALL_DUE',
        description: `${type} call is due: ${inDollars(event.deficit)} are still missing`,
        amount: moneyNumber(Money.toCents(event.deficit)),
      };
    }
    case 'CallClosed': {
      const { type, amount, status } = event.call;
      return {
        category,
        type: status === 'MET' ? 'CALL_MET' : 'LIQUIDATION',
        description:
          status === 'MET'
            ? `${type} call of ${inDollars(amount)} is met`
            : `${type} call of ${inDollars(amount)} was met by liquidation`,
        amount: moneyNumber(Money.toCents(amount)),
      };
    }
    case 'MarginWarned':
      return {
        category,
        type: 'WARNING',
        description:
          `Equity exceeds the maintenance requirement by ${inDollars(event.excess)}, ` +
          `less than a tenth of ${inDollars(event.totalEquity)}`,
        amount: moneyNumber(Money.toCents(event.excess)),
      };
    case 'LiquidationDecided': {
      const { legs, deficit, freed } = event;
      const closed = legs.map(({ symbol, quantity }) => `${Quantity.format(quantity)} ${symbol}`).join(', ');
      return {
        category,
        type: 'LIQUIDATION',
        description:
          `${inDollars(deficit)} were missing: closing ${closed}, which frees most for what it costs, ` +
          inDollars(freed),
        ...(legs[0] !== undefined && {
          symbol: legs[0].symbol,
          quantity: quantityNumber(legs[0].quantity),
        }),
        amount: moneyNumber(Money.toCents(freed)),
      };
    }
  }
}

/** A row of a memorandum account (D107). */
export function toSmaEntry(item: ListItem): SmaEntry {
  const event = item.data as Event;
  const at = isoOf(Instant.ofMs(item.at));
  if (event.type === 'SmaChanged') {
    const { amount, balance } = event;
    return { at, event: event.event, amount: moneyNumber(amount), balance: moneyNumber(balance) };
  }
  const { sma } = partOf(eventOf(item, 'SessionMarked').points, item);
  if (sma === undefined) throw unexpected(event);
  return { at, event: 'CLOSE', amount: moneyNumber(sma.amount), balance: moneyNumber(sma.balance) };
}

/** The current state of a margin call (D119). `due`: remaining amounts of the open calls, by number (D217). */
export function toMarginCall(ids: Ids, item: ListItem, due: ReadonlyMap<number, Money>): MarginCall {
  const event = item.data as Event;
  if (event.type !== 'CallIssued' && event.type !== 'CallMoved' && event.type !== 'CallClosed')
    throw unexpected(event);
  const { call } = event;
  return callOf(ids, call, call.status === 'OPEN' ? due.get(call.number) : undefined);
}

export const callOf = (
  ids: Ids,
  { number, type, amount, issuedAt, dueAt, status }: CoreCall,
  due: Money | undefined,
): MarginCall => ({
  callId: ids.idOf('CALL', number),
  type,
  amount: moneyNumber(Money.toCents(amount)),
  // Rounded up: a deposit of this amount meets the call.
  ...(due !== undefined && { amountDue: moneyNumber(Money.upToCents(due)) }),
  issuedAt: isoOf(issuedAt),
  dueAt: isoOf(dueAt),
  status,
});

function describeEntry(entry: CoreEntry): ActivityDescription {
  const settled = settledCashOf(entry.postings);
  const category: ActivityCategory = entry.type === 'CASH_IN_LIEU' ? 'CORPORATE_ACTION' : 'CASH';
  return {
    category,
    type: entry.type,
    description: entryText(entry),
    ...(settled !== 0 && { amount: moneyNumber(settled) }),
  };
}

/** `to buy 10 AAPL`; of legs `for 1 vertical spread in AAPL`, which is neither bought nor sold. */
const orderText = ({ positionIntent, symbol, strategy }: OrderTerms, quantity: Quantity): string =>
  strategy === undefined
    ? `to ${sideOf(positionIntent) === 'BUY' ? 'buy' : 'sell'} ${Quantity.format(quantity)} ${symbol}`
    : `for ${Quantity.format(quantity)} ${strategy === 'CUSTOM' ? 'combo' : strategy.toLowerCase().replaceAll('_', ' ')} in ${symbol}`;

function describeOrderEvent(
  ids: Ids,
  event: OrderEvent,
  item: ListItem,
  { terms, progress }: OrderSnapshot,
): ActivityDescription {
  const about = {
    orderId: ids.idOf('ORDER', terms.number),
    symbol: terms.symbol,
    quantity: quantityNumber(progress.quantity),
  };
  switch (event.type) {
    case 'OrderAccepted': {
      const { limitPrice, stopPrice } = progress;
      const price = limitPrice ?? stopPrice;
      return {
        category: 'ORDER',
        type: 'CREATED',
        description: `${terms.orderType} order ${orderText(terms, progress.quantity)} created`,
        ...about,
        ...(price !== undefined && { price: priceNumber(price) }),
      };
    }
    case 'OrderRejected':
      return {
        category: 'ORDER',
        type: 'REJECTED',
        description: `Order ${orderText(terms, progress.quantity)} rejected (${rejectionText(event.rejection)})`,
        ...about,
      };
    case 'OrderMoved': {
      const { rejectReason, cancelReason } = progress;
      const type = TYPES[event.transition] ?? event.transition;
      const why = rejectReason === undefined ? cancelReason : refusalText(rejectReason);
      return {
        category: 'ORDER',
        type,
        description: `Order ${orderText(terms, progress.quantity)} ${MOVED[event.transition] ?? 'changed'}${why === undefined ? '' : ` (${why})`}`,
        ...about,
      };
    }
    case 'OrderExecuted': {
      const execution = partOf(event.executions, item);
      const { quantity, price, value, variation } = execution;
      const { symbol, positionIntent } = tradedBy(terms, execution);
      const side = sideOf(positionIntent);
      const cash = side === 'BUY' ? Money.negate(value) : value;
      return {
        category: 'EXECUTION',
        type: progress.status === 'FILLED' ? 'FILLED' : 'PARTIALLY_FILLED',
        description: `${side === 'BUY' ? 'Bought' : 'Sold'} ${Quantity.format(quantity)} ${symbol} at ${dollars(price, Price.format)}`,
        ...about,
        symbol,
        quantity: quantityNumber(quantity),
        price: priceNumber(price),
        amount: moneyNumber(terms.assetClass === 'FUTURE' ? (variation ?? Money.zero) : cash),
        ...(event.settlementDate !== undefined && { settlementDate: event.settlementDate }),
        executionId: ids.idOf('EXECUTION', execution.number),
        ...chargesOf(execution),
      };
    }
  }
}

/** Statuses that transitions of another name lead to. */
const TYPES: Readonly<Partial<Record<string, string>>> = { QUEUED: 'PENDING_MARKET_OPEN', FAILED: 'ERROR' };

const MOVED: Readonly<Partial<Record<string, string>>> = {
  QUEUED: 'waits for the market to open',
  TRIGGERED: 'triggered',
  REPLACED: 'updated',
  ADJUSTED: 'adjusted',
  CANCELED: 'canceled',
  EXPIRED: 'expired',
  REJECTED: 'rejected',
  FAILED: 'failed',
};
