/** Orders as Schwab shows them. */
import { netLimitOf, type OrderSnapshot } from '@sandpit/core';
import {
  type Book,
  fillsIn,
  type LegShape,
  legsOf,
  optionParts,
  type OrderedLeg,
  type OrderVersion,
  priceOf,
  quantityOf,
  shapeOf,
  words,
} from '@sandpit/dialect-port';
import { rejectionText } from './order-rejections.js';
import { accountOf } from './request.js';
import { instrumentShape } from './symbols.js';
import { instrumentIdOf, orderTime } from './wire.js';

/** An id is the number of the order, after which of its replacements it names, and whether it names a part of a group. */
const VERSIONS = 1_000_000_000_000;
const PARTS = 500_000_000_000;

export interface OrderId {
  readonly number: number;
  /** Replacements before this one. */
  readonly version: number;
  /** The pair of exits of an entry, or the first order of a pair. */
  readonly isPart: boolean;
}

export const idOf = (order: OrderSnapshot, isPart = false): number =>
  (order.progress.replacements ?? 0) * VERSIONS + (isPart ? PARTS : 0) + order.terms.number;

export function orderIdIn(text: string): OrderId | undefined {
  const all = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(all)) return undefined;
  const rest = all % VERSIONS;
  const isPart = rest >= PARTS;
  return { number: isPart ? rest - PARTS : rest, version: Math.floor(all / VERSIONS), isPart };
}

/** Futures have no place in the orders of this API. */
export const isShown = ({ terms }: OrderSnapshot): boolean => terms.assetClass !== 'FUTURE';

export const STATUSES = words(
  'AWAITING_PARENT_ORDER AWAITING_CONDITION AWAITING_STOP_CONDITION AWAITING_MANUAL_REVIEW ACCEPTED',
  'AWAITING_UR_OUT PENDING_ACTIVATION QUEUED WORKING REJECTED PENDING_CANCEL CANCELED PENDING_REPLACE',
  'REPLACED FILLED EXPIRED NEW AWAITING_RELEASE_TIME PENDING_ACKNOWLEDGEMENT PENDING_RECALL UNKNOWN',
);
export type Status = (typeof STATUSES)[number];

export function statusOf({ terms, progress }: OrderSnapshot): Status {
  switch (progress.status) {
    case 'CREATED':
      return 'AWAITING_PARENT_ORDER';
    case 'PENDING':
    case 'RESERVING':
      return 'PENDING_ACTIVATION';
    case 'PENDING_MARKET_OPEN':
      return 'QUEUED';
    case 'ACTIVE':
      return /STOP/.test(terms.orderType) && progress.triggered === undefined
        ? 'AWAITING_STOP_CONDITION'
        : 'WORKING';
    case 'CANCELING':
      return 'PENDING_CANCEL';
    case 'FILLED':
      return 'FILLED';
    case 'CANCELED':
      return progress.cancelReason === 'EXPIRED' ? 'EXPIRED' : 'CANCELED';
    case 'REJECTED':
    case 'ERROR':
      return 'REJECTED';
  }
}

const OVER: ReadonlySet<Status> = new Set(['REJECTED', 'CANCELED', 'REPLACED', 'FILLED', 'EXPIRED']);
export const isOver = (order: OrderSnapshot): boolean => OVER.has(statusOf(order));

const DURATIONS = {
  DAY: 'DAY',
  GTC: 'GOOD_TILL_CANCEL',
  GTD: 'GOOD_TILL_CANCEL',
  IOC: 'IMMEDIATE_OR_CANCEL',
  FOK: 'FILL_OR_KILL',
  OPG: 'DAY',
  CLS: 'DAY',
} as const;

const SHARE_INSTRUCTIONS: Readonly<Record<string, string>> = {
  BUY_TO_OPEN: 'BUY',
  BUY_TO_CLOSE: 'BUY_TO_COVER',
  SELL_TO_CLOSE: 'SELL',
  SELL_TO_OPEN: 'SELL_SHORT',
};

const STRATEGIES: Readonly<Record<LegShape, string>> = {
  SPREAD: 'VERTICAL',
  CALENDAR: 'CALENDAR',
  DIAGONAL: 'DIAGONAL',
  STRADDLE: 'STRADDLE',
  STRANGLE: 'STRANGLE',
  BUTTERFLY: 'BUTTERFLY',
  CONDOR: 'CONDOR',
  COLLAR: 'COLLAR_SYNTHETIC',
  FREEFORM: 'CUSTOM',
};

/** The legs of an order; of one for a single instrument the order itself. */
function allLegsOf(order: OrderSnapshot): readonly OrderedLeg[] {
  const { legs, symbol, positionIntent } = order.terms;
  if (legs !== undefined) return legsOf(order);
  return [{ symbol, positionIntent, isBuy: positionIntent.startsWith('BUY'), ratio: 1 }];
}

function strategyOf(legs: readonly OrderedLeg[]): string {
  if (legs.length === 1) return 'NONE';
  const shape = shapeOf(legs);
  const types = new Set(legs.map(({ symbol }) => optionParts(symbol)?.optionType)).size;
  return legs.length === 4 && types === 2 && shape !== 'FREEFORM' ? 'IRON_CONDOR' : STRATEGIES[shape];
}

function typeOf({ terms, progress }: OrderSnapshot): string {
  const { orderType, legs, positionIntent } = terms;
  if (legs !== undefined && progress.limitPrice !== undefined) {
    const net = netLimitOf(positionIntent, progress.limitPrice);
    return net > 0 ? 'NET_DEBIT' : net < 0 ? 'NET_CREDIT' : 'NET_ZERO';
  }
  return progress.timeInForce === 'CLS' ? `${orderType}_ON_CLOSE` : orderType;
}

function sessionOf(book: Book, { terms }: OrderSnapshot): string {
  if (terms.session !== 'EXTENDED') return 'NORMAL';
  const { session } = book.market.hoursAt(terms.createdAt);
  return session === 'PRE' ? 'AM' : session === 'POST' ? 'PM' : 'SEAMLESS';
}

/** Executions of an order, one activity for each event. */
function activitiesOf(versions: readonly OrderVersion[], legs: readonly OrderedLeg[]): readonly object[] {
  const single = legs.length === 1;
  return versions.flatMap(({ event, at, before, order }, i) => {
    const fills = fillsIn(event);
    if (fills.length === 0) return [];
    const filled = order.progress.filledQuantity - (before?.progress.filledQuantity ?? 0);
    return {
      activityType: 'EXECUTION',
      activityId: order.terms.number * 10_000 + i,
      executionType: 'FILL',
      quantity: quantityOf(filled),
      orderRemainingQuantity: quantityOf(order.progress.quantity - order.progress.filledQuantity),
      executionLegs: fills.map(({ leg, price, quantity }) => ({
        legId: single ? 1 : leg + 1,
        quantity: quantityOf(quantity),
        mismarkedQuantity: 0,
        price: priceOf(price),
        time: orderTime(at),
        instrumentId: instrumentIdOf(legs[leg]?.symbol ?? ''),
      })),
    };
  });
}

export type SchwabOrder = Readonly<Record<string, unknown>> & {
  readonly orderId: number;
  readonly status: Status;
};

interface Showing {
  readonly book: Book;
  readonly versions: readonly OrderVersion[];
  readonly orderId?: number;
  /** Time at which the next version replaced this one. */
  readonly replacedAt?: number;
}

/** An order by itself, without the orders that belong to it. */
export function plainShape(
  order: OrderSnapshot,
  { book, versions, orderId, replacedAt }: Showing,
): SchwabOrder {
  const { terms, progress } = order;
  const legs = allLegsOf(order);
  const status = replacedAt === undefined ? statusOf(order) : 'REPLACED';
  const isOpen = !OVER.has(status);
  const remaining = isOpen || replacedAt !== undefined ? progress.quantity - progress.filledQuantity : 0;
  const amount = progress.trailingAmount ?? terms.trailingAmount;
  const isTrailing = amount !== undefined || terms.trailingPercent !== undefined;
  const limit = progress.limitPrice;
  const rejected = rejectionText(order);
  return {
    session: sessionOf(book, order),
    duration: DURATIONS[progress.timeInForce],
    orderType: typeOf(order),
    ...(progress.timeInForce === 'GTD' &&
      progress.expiresAt !== undefined && { cancelTime: orderTime(progress.expiresAt) }),
    complexOrderStrategyType: strategyOf(legs),
    quantity: quantityOf(progress.quantity),
    filledQuantity: quantityOf(progress.filledQuantity),
    remainingQuantity: quantityOf(remaining),
    requestedDestination: 'AUTO',
    destinationLinkName: 'AutoRoute',
    ...(limit !== undefined && {
      price: priceOf(terms.legs === undefined ? limit : Math.abs(netLimitOf(terms.positionIntent, limit))),
    }),
    ...(progress.stopPrice !== undefined && { stopPrice: priceOf(progress.stopPrice) }),
    ...(isTrailing && {
      stopPriceLinkBasis: 'LAST',
      stopPriceLinkType: amount === undefined ? 'PERCENT' : 'VALUE',
      stopPriceOffset: amount === undefined ? (terms.trailingPercent ?? 0) / 1e4 : priceOf(amount),
    }),
    taxLotMethod: 'FIFO',
    orderLegCollection: legs.map(({ symbol, positionIntent, ratio }, i) => {
      const isOption = optionParts(symbol) !== undefined;
      return {
        orderLegType: isOption ? 'OPTION' : 'EQUITY',
        legId: i + 1,
        instrument: instrumentShape(book, symbol),
        instruction: isOption ? positionIntent : SHARE_INSTRUCTIONS[positionIntent],
        positionEffect: positionIntent.endsWith('OPEN') ? 'OPENING' : 'CLOSING',
        quantity: quantityOf(progress.quantity * ratio),
        quantityType: 'SHARES',
      };
    }),
    orderStrategyType: 'SINGLE',
    orderId: orderId ?? idOf(order),
    cancelable: isOpen && status !== 'PENDING_CANCEL',
    editable: isOpen && status !== 'PENDING_CANCEL' && status !== 'AWAITING_PARENT_ORDER',
    status,
    ...(rejected !== undefined && { statusDescription: rejected }),
    enteredTime: orderTime(terms.createdAt),
    ...(!isOpen && { closeTime: orderTime(replacedAt ?? progress.updatedAt) }),
    tag: 'API_TOS:SANDPIT',
    accountNumber: Number(accountOf(book)),
    orderActivityCollection: activitiesOf(versions, legs),
    replacingOrderCollection: [],
    childOrderStrategies: [],
  };
}

const FIRST_OF_GROUP: readonly Status[] = [
  'WORKING',
  'AWAITING_STOP_CONDITION',
  'QUEUED',
  'PENDING_ACTIVATION',
  'PENDING_CANCEL',
  'AWAITING_PARENT_ORDER',
  'FILLED',
];

/** A pair of orders that cancel each other, as one without legs. */
export function pairShape(orderId: number, orders: readonly SchwabOrder[]): SchwabOrder {
  const [first] = orders;
  const statuses = orders.map(({ status }) => status);
  const status =
    FIRST_OF_GROUP.find((one) => statuses.includes(one)) ?? first?.status ?? ('UNKNOWN' as const);
  return {
    session: first?.['session'],
    duration: first?.['duration'],
    quantity: first?.['quantity'],
    filledQuantity: Math.max(...orders.map((one) => Number(one['filledQuantity']))),
    remainingQuantity: Math.max(...orders.map((one) => Number(one['remainingQuantity']))),
    requestedDestination: 'AUTO',
    orderLegCollection: [],
    orderStrategyType: 'OCO',
    orderId,
    cancelable: orders.some((one) => one['cancelable'] === true),
    editable: false,
    status,
    enteredTime: first?.['enteredTime'],
    ...(OVER.has(status) && { closeTime: first?.['closeTime'] }),
    tag: first?.['tag'],
    accountNumber: first?.['accountNumber'],
    orderActivityCollection: [],
    replacingOrderCollection: [],
    childOrderStrategies: orders,
  };
}
