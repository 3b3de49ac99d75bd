/** Items of the history lists: each is an event of the journal, and which part of it is meant. */
import type { ClosePoint, Event, LedgerEntry as CoreEntry, OrderEvent, OrderTerms } from '@sandpit/core';
import type {
  Activity,
  ActivityCategory,
  DayTrade,
  EquityPoint,
  Execution,
  LedgerEntry,
} from '@sandpit/protocol';
import type { ListItem } from '../../store/history.js';
import { Money, Price, Quantity, sideOf } from '@sandpit/core';
import { isoOf } from './instants.js';
import { dollars, moneyNumber, priceNumber, quantityNumber } from './numbers.js';
import { executionOf } from './orders.js';

/** The event of an item, which must be of the kind that its list holds. */
function eventOf<Type extends Event['type']>(item: ListItem, type: Type): Extract<Event, { type: Type }> {
  const event = item.data as Event;
  if (event.type !== type) throw new Error(`${event.type} where the history should have ${type}`);
  return event as Extract<Event, { type: Type }>;
}

function partOf<Part>(parts: readonly Part[], item: ListItem): Part {
  const part = parts[item.item];
  if (part === undefined) throw new Error(`The history names part ${item.item} of an event that has none`);
  return part;
}

export const listedExecution = (item: ListItem): Execution =>
  executionOf(eventOf(item, 'OrderExecuted').execution);

export function ledgerEntryOf(entry: CoreEntry): LedgerEntry {
  return {
    entryId: entry.entryId,
    at: isoOf(entry.at),
    type: entry.type,
    description: entry.description,
    postings: entry.postings.map(({ account, amount }) => ({ account, amount: moneyNumber(amount) })),
    ...(entry.orderId !== undefined && { orderId: entry.orderId }),
    ...(entry.executionId !== undefined && { executionId: entry.executionId }),
  };
}

export const listedLedgerEntry = (item: ListItem): LedgerEntry =>
  ledgerEntryOf(partOf(eventOf(item, 'LedgerPosted').entries, item));

export function listedDayTrade(item: ListItem): DayTrade {
  const { record } = eventOf(item, 'DayTradeTracked');
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

export function listedEquityPoint(item: ListItem): EquityPoint {
  const point: ClosePoint = partOf(eventOf(item, 'SessionMarked').points, item);
  return {
    at: isoOf(item.at as never),
    totalEquity: moneyNumber(point.totalEquity),
    settledCash: moneyNumber(point.settledCash),
    pendingCash: moneyNumber(point.pendingCash),
    reservedCash: moneyNumber(point.reservedCash),
    longMarketValue: moneyNumber(point.longMarketValue),
    shortMarketValue: moneyNumber(point.shortMarketValue),
    marginLoan: moneyNumber(point.marginLoan),
  };
}

type Told = Pick<Activity, 'category' | 'type' | 'description'> &
  Partial<Pick<Activity, 'orderId' | 'symbol' | 'quantity' | 'price' | 'amount'>>;

/** What a portfolio's owner reads in the activity log. `termsOf` finds the order that an event is about. */
export function listedActivity(
  item: ListItem,
  termsOf: (orderId: string) => OrderTerms | undefined,
): Activity {
  return {
    activityId: `${item.seq}-${item.event}-${item.item}`,
    at: isoOf(item.at as never),
    ...told(item.data as Event, item, termsOf),
  };
}

function told(event: Event, item: ListItem, termsOf: (orderId: string) => OrderTerms | undefined): Told {
  switch (event.type) {
    case 'OrderAccepted':
      return orderTold(event, event.terms);
    case 'OrderMoved':
    case 'OrderExecuted':
      return orderTold(event, termsOf(event.orderId));
    case 'LedgerPosted':
      return entryTold(partOf(event.entries, item));
    case 'ObligationSettled':
      return {
        category: 'SETTLEMENT',
        type: 'SETTLED',
        description: `Settlement of ${event.date}`,
        amount: moneyNumber(event.cash),
      };
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
    case 'PositionSplit':
      return {
        category: 'CORPORATE_ACTION',
        type: 'SPLIT',
        description: `${event.symbol} split ${event.ratio.new} for ${event.ratio.old}`,
        symbol: event.symbol,
      };
    case 'DividendAccrued':
      return {
        category: 'CORPORATE_ACTION',
        type: 'DIVIDEND',
        description: `Dividend of ${event.symbol}, paid on ${event.payDate}`,
        symbol: event.symbol,
        quantity: quantityNumber(event.quantity),
        amount: moneyNumber(event.amount),
      };
    default:
      return { category: 'SYSTEM', type: event.type, description: event.type };
  }
}

function entryTold(entry: CoreEntry): Told {
  const settled = entry.postings.find(({ account }) => account === 'SETTLED_CASH');
  const category: ActivityCategory = entry.type === 'CASH_IN_LIEU' ? 'CORPORATE_ACTION' : 'CASH';
  return {
    category,
    type: entry.type,
    description: entry.description,
    ...(settled !== undefined && { amount: moneyNumber(settled.amount) }),
  };
}

/** `buy 10 AAPL`. */
function orderText(terms: OrderTerms | undefined, quantity: Quantity): string {
  if (terms === undefined) return 'order';
  return `${sideOf(terms.positionIntent) === 'BUY' ? 'buy' : 'sell'} ${Quantity.format(quantity)} ${terms.symbol}`;
}

function orderTold(event: OrderEvent, terms: OrderTerms | undefined): Told {
  const { progress } = event;
  const about = {
    ...(terms !== undefined && { orderId: terms.orderId, symbol: terms.symbol }),
    quantity: quantityNumber(progress.quantity),
  };
  switch (event.type) {
    case 'OrderAccepted': {
      const { limitPrice, stopPrice } = progress;
      const price = limitPrice ?? stopPrice;
      return {
        category: 'ORDER',
        type: 'CREATED',
        description: `${event.terms.orderType} order to ${orderText(terms, progress.quantity)} created`,
        ...about,
        ...(price !== undefined && { price: priceNumber(price) }),
      };
    }
    case 'OrderMoved': {
      const type = event.transition === 'QUEUED' ? 'PENDING_MARKET_OPEN' : event.transition;
      const why = progress.rejectReason?.message ?? progress.cancelReason;
      return {
        category: 'ORDER',
        type,
        description: `Order to ${orderText(terms, progress.quantity)} ${MOVED[event.transition] ?? 'changed'}${why === undefined ? '' : ` (${why})`}`,
        ...about,
      };
    }
    case 'OrderExecuted': {
      const { quantity, price, side } = event.execution;
      const value = Money.of(price, quantity);
      return {
        category: 'EXECUTION',
        type: progress.status === 'FILLED' ? 'FILLED' : 'PARTIALLY_FILLED',
        description: `${side === 'BUY' ? 'Bought' : 'Sold'} ${Quantity.format(quantity)} ${event.execution.symbol} at ${dollars(price, Price.format)}`,
        ...about,
        quantity: quantityNumber(quantity),
        price: priceNumber(price),
        amount: moneyNumber(side === 'BUY' ? Money.negate(value) : value),
      };
    }
  }
}

const MOVED: Readonly<Partial<Record<string, string>>> = {
  QUEUED: 'waits for the market to open',
  TRIGGERED: 'triggered',
  REPLACED: 'updated',
  ADJUSTED: 'adjusted',
  CANCELED: 'canceled',
  EXPIRED: 'expired',
  REJECTED: 'rejected',
};
