/** Orders as Tradier shows them. */
import { netLimitOf, type OrderProgress, type OrderSnapshot, sideOf } from '@sandpit/core';
import {
  type Attached,
  type Book,
  type Fill,
  followersOf,
  legId,
  type LegShape,
  legsOf as orderedLegs,
  priceOf,
  quantityOf,
  shapeOf,
  slashedSymbol,
} from '@sandpit/dialect-port';
import { reasonText } from './refusals.js';
import { iso } from './wire.js';

const price = (units: number | undefined): number | undefined => units && priceOf(units);

type Status = OrderProgress['status'];

export function statusOf({ progress }: OrderSnapshot): string {
  const isFilled = progress.filledQuantity > 0;
  const words: Readonly<Record<Status, string>> = {
    CREATED: 'pending',
    PENDING: 'pending',
    RESERVING: 'pending',
    PENDING_MARKET_OPEN: 'pending',
    ACTIVE: isFilled ? 'partially_filled' : 'open',
    CANCELING: isFilled ? 'partially_filled' : 'open',
    FILLED: 'filled',
    CANCELED: progress.cancelReason === 'EXPIRED' ? 'expired' : 'canceled',
    REJECTED: 'rejected',
    ERROR: 'error',
  };
  return words[progress.status];
}

const ACTIVE: ReadonlySet<string> = new Set(['pending', 'open', 'partially_filled']);
export const isOver = (order: OrderSnapshot): boolean => !ACTIVE.has(statusOf(order));
/** Futures have no place in this dialect. */
export const isShown = ({ terms }: OrderSnapshot): boolean => terms.assetClass !== 'FUTURE';

/** The status of orders that belong together: of the first until it has filled, then of the others. */
export function statusOfAll([first, ...others]: readonly OrderSnapshot[], isPair: boolean): string {
  if (first === undefined) return 'error';
  const own = statusOf(first);
  if (!isPair && own !== 'filled') return own;
  const statuses = others.map(statusOf);
  const all = isPair ? [own, ...statuses] : statuses;
  if (all.includes('partially_filled')) return 'partially_filled';
  return ['open', 'pending', 'filled'].find((one) => all.includes(one)) ?? own;
}

const TYPES = {
  MARKET: 'market',
  LIMIT: 'limit',
  STOP: 'stop',
  STOP_LIMIT: 'stop_limit',
  TRAILING_STOP: 'stop',
  TRAILING_STOP_LIMIT: 'stop_limit',
} as const;

const STRATEGIES: Readonly<Record<LegShape, string>> = {
  SPREAD: 'spread',
  CALENDAR: 'spread',
  DIAGONAL: 'spread',
  STRADDLE: 'straddle',
  STRANGLE: 'strangle',
  BUTTERFLY: 'butterfly',
  CONDOR: 'condor',
  COLLAR: 'freeform',
  FREEFORM: 'freeform',
};

const SHARE_SIDES: Readonly<Record<string, string>> = {
  BUY_TO_OPEN: 'buy',
  BUY_TO_CLOSE: 'buy_to_cover',
  SELL_TO_CLOSE: 'sell',
  SELL_TO_OPEN: 'sell_short',
};

function durationOf(book: Book, { terms, progress }: OrderSnapshot): string {
  const { timeInForce } = progress;
  if (timeInForce === 'GTC' || timeInForce === 'GTD') return 'gtc';
  if (terms.session !== 'EXTENDED') return 'day';
  const { session } = book.market.hoursAt(terms.createdAt);
  return session === 'PRE' || session === 'POST' ? session.toLowerCase() : 'day';
}

export type TradierOrder = Readonly<Record<string, unknown>> & {
  readonly id: number;
  readonly status: string;
};

/** An order by itself, without the orders that belong to it. */
export function plainShape(
  book: Book,
  order: OrderSnapshot,
  fills: readonly Fill[],
  id?: number,
): TradierOrder {
  const { terms, progress } = order;
  const { legs, positionIntent, assetClass, number, symbol, underlying } = terms;
  const isOption = assetClass === 'OPTION' && legs === undefined;
  const last = fills.at(-1);
  const code = progress.rejection?.code ?? progress.rejectReason?.code;
  const status = statusOf(order);
  const shape = {
    id: id ?? number,
    type: legs === undefined ? TYPES[terms.orderType] : netTypeOf(order),
    symbol: slashedSymbol(underlying ?? symbol),
    side: legs !== undefined ? 'buy' : isOption ? positionIntent.toLowerCase() : SHARE_SIDES[positionIntent],
    quantity: quantityOf(progress.quantity),
    status,
    duration: durationOf(book, order),
    price: legs === undefined ? price(progress.limitPrice) : netPriceOf(order),
    stop_price: price(progress.stopPrice),
    avg_fill_price: Math.abs(price(progress.averagePrice) ?? 0),
    exec_quantity: quantityOf(progress.filledQuantity),
    last_fill_price:
      legs === undefined ? (price(last?.price) ?? 0) : Math.abs(price(progress.averagePrice) ?? 0),
    last_fill_quantity: quantityOf(legs === undefined ? (last?.quantity ?? 0) : progress.filledQuantity),
    remaining_quantity: ACTIVE.has(status) ? quantityOf(progress.quantity - progress.filledQuantity) : 0,
    create_date: iso(terms.createdAt),
    transaction_date: iso(progress.updatedAt),
    class: legs !== undefined ? 'multileg' : isOption ? 'option' : 'equity',
    ...(isOption && { option_symbol: symbol }),
    ...(code !== undefined && { reason_description: reasonText(code, sideOf(positionIntent) === 'BUY') }),
  };
  return legs === undefined ? shape : { ...shape, ...legShapes(order, fills, shape) };
}

function netTypeOf({ terms, progress }: OrderSnapshot): string {
  if (progress.limitPrice === undefined) return 'market';
  const net = netLimitOf(terms.positionIntent, progress.limitPrice);
  return net > 0 ? 'debit' : net < 0 ? 'credit' : 'even';
}

function netPriceOf({ terms, progress }: OrderSnapshot): number | undefined {
  if (progress.limitPrice === undefined) return undefined;
  return priceOf(Math.abs(netLimitOf(terms.positionIntent, progress.limitPrice)));
}

function legShapes(order: OrderSnapshot, fills: readonly Fill[], shape: object) {
  const { terms, progress } = order;
  const legs = orderedLegs(order);
  return {
    num_legs: legs.length,
    strategy: STRATEGIES[shapeOf(legs)],
    leg: legs.map(({ symbol, positionIntent, ratio }, i) => {
      const own = fills.filter((fill) => fill.leg === i);
      const filled = own.reduce((sum, fill) => sum + fill.quantity, 0);
      const value = own.reduce((sum, fill) => sum + fill.quantity * fill.price, 0);
      const total = progress.quantity * ratio;
      return {
        ...shape,
        id: legId(terms.number, i + 1),
        side: positionIntent.toLowerCase(),
        quantity: quantityOf(total),
        price: undefined,
        avg_fill_price: filled === 0 ? 0 : priceOf(value / filled),
        exec_quantity: quantityOf(filled),
        last_fill_price: price(own.at(-1)?.price) ?? 0,
        last_fill_quantity: quantityOf(own.at(-1)?.quantity ?? 0),
        remaining_quantity: ACTIVE.has((shape as TradierOrder).status) ? quantityOf(total - filled) : 0,
        class: 'option',
        option_symbol: symbol,
      };
    }),
  };
}

/** An order with the orders that belong to it; `fillsFor`: executions by order. */
export function wholeShape(
  book: Book,
  order: OrderSnapshot,
  attached: Attached,
  fillsFor: ReadonlyMap<number, readonly Fill[]>,
  withTag: boolean,
): TradierOrder {
  const { terms } = order;
  const fillsOfOne = ({ terms: { number } }: OrderSnapshot) => fillsFor.get(number) ?? [];
  const tag = withTag && terms.notes !== undefined ? { tag: terms.notes } : {};
  const plain = plainShape(book, order, fillsOfOne(order));
  const followers = followersOf(order).flatMap((number) => attached(number) ?? []);
  if (followers.length === 0) return { ...plain, ...tag };
  const isPair = terms.bracket?.part === 'OCO_LIMIT';
  const leg = [
    plainShape(book, order, fillsOfOne(order), legId(terms.number, 1)),
    ...followers.map((one) => plainShape(book, one, fillsOfOne(one))),
  ];
  return {
    ...plain,
    ...tag,
    class: isPair ? 'oco' : followers.length === 2 ? 'otoco' : 'oto',
    status: statusOfAll([order, ...followers], isPair),
    num_legs: leg.length,
    leg,
  };
}
