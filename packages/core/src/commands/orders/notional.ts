import type { Decision } from '../../decision.js';
import { valueOf } from '../../instruments/instrument.js';
import type { Book } from '../../matching/book.js';
import { planFills } from '../../matching/plan-fills.js';
import type { PlannedFill } from '../../matching/plan-fills.js';
import { isOpening, remainingOf, sideOf } from '../../orders/order.js';
import type { Mutable, Order, OrderProgress, Side } from '../../orders/order.js';
import type { OrderRequest } from '../../orders/order-request.js';
import type { ProgressChanges } from '../../orders/order-event.js';
import { reservedShares } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import { Money } from '../../values/money.js';
import type { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';

/**
 * Orders for an amount of money (D168): MARKET orders in shares whose quantity is that of the amount at the execution price, in
 * millionths of a share rounded down, so that they never exceed it. Until then the quantity is an estimate by the touch. Executions
 * stay; the rest of the amount is sized again at the next price.
 */

/** Smallest quantity that trades. A smaller rest is rounded up to it: an order always has a remainder until it is filled. */
const LEAST = Quantity.ofUnits(1);

/** Largest quantity of an order. */
const MOST = Quantity.of(1e9);

/** Quantity and value of a part of an amount at a price. */
interface Sized {
  readonly price: Price;
  readonly quantity: Quantity;
  readonly value: Money;
}

type Filled = Pick<OrderProgress, 'filledValue'>;

/** Quantity for the rest of an amount at the current bid or ask; `undefined` without a price. */
export function sizeAtTouch(
  d: Decision,
  symbol: string,
  side: Side,
  notional: Money,
  { filledValue }: Filled,
): Sized | undefined {
  const quote = d.quote(symbol);
  const price = (side === 'BUY' ? quote?.ask : quote?.bid) ?? quote?.last ?? quote?.bid ?? quote?.ask;
  if (price === undefined) return undefined;
  const value = Money.max(Money.subtract(notional, filledValue), Money.zero);
  return { price, value, quantity: Quantity.max(Money.sharesFor(value, price), LEAST) };
}

/** A request with its quantity; a refusal if there is no price to size it by, or the amount is too small to trade. */
export function sizedRequest(d: Decision, request: OrderRequest): OrderRequest | Rejection {
  const { notional, symbol, positionIntent } = request;
  if (notional === undefined) return request;
  const sized = sizeAtTouch(d, symbol, sideOf(positionIntent), notional, { filledValue: Money.zero });
  if (sized === undefined)
    return {
      code: 'INSTRUMENT_NOT_TRADABLE',
      message: `There is no price for ${symbol} yet to size a notional by`,
    };
  if (Money.sharesFor(notional, sized.price) < LEAST)
    return { code: 'INVALID', messages: ['notional must be worth at least 0.000001 shares'] };
  if (sized.quantity > MOST)
    return { code: 'INVALID', messages: ['notional must not be worth more than 1000000000 shares'] };
  return { ...request, quantity: sized.quantity };
}

/**
 * Plans the executable part of an order for an amount, and resizes the order to it. At the prices of a modeled book behind the touch a
 * purchase ends when the amount is used up.
 */
export function planFillsWorth(d: Decision, order: Order, notional: Money, book: Book): PlannedFill[] {
  const portfolio = d.portfolioOf(order);
  const instrument = d.tradable(order.terms.symbol);
  const { fillModel } = portfolio.terms;
  const [atTouch] = planFills(order, fillModel, book, instrument);
  if (atTouch === undefined) return [];
  let left = Money.subtract(notional, order.progress.filledValue);
  resizeTo(d, order, Quantity.max(Money.sharesFor(left, atTouch.price), LEAST));
  const fills = planFills(order, fillModel, book, instrument);
  if (sideOf(order.terms.positionIntent) === 'SELL') return fills;
  const within: PlannedFill[] = [];
  for (const fill of fills) {
    const affordable = within.length === 0 ? fill.quantity : Money.sharesFor(left, fill.price);
    const quantity = Quantity.min(fill.quantity, affordable);
    if (quantity === 0) break;
    within.push({ ...fill, quantity });
    left = Money.subtract(left, valueOf(instrument, fill.price, quantity));
    if (quantity < fill.quantity) break;
  }
  const total = (parts: readonly PlannedFill[]): Quantity =>
    parts.reduce((sum, { quantity }) => Quantity.add(sum, quantity), Quantity.zero);
  if (total(within) < total(fills)) resizeTo(d, order, total(within));
  return within;
}

/** Sets the remaining quantity of an order. A sale also reserves it, limited to the available shares. */
export function resizeTo(d: Decision, order: Order, left: Quantity): void {
  const { terms, progress } = order;
  let remaining = left;
  const changes: Mutable<ProgressChanges> = {};
  if (!isOpening(terms.positionIntent)) {
    const portfolio = d.portfolioOf(order);
    const position = portfolio.positions.get(terms.symbol);
    const held = position === undefined ? Quantity.zero : Quantity.abs(Position.held(position));
    const others = Quantity.subtract(reservedShares(portfolio, terms.symbol), progress.reservedQuantity);
    remaining = Quantity.min(left, Quantity.max(Quantity.subtract(held, others), progress.reservedQuantity));
    changes.reservedQuantity = remaining;
  }
  if (remaining === remainingOf(progress)) return;
  changes.quantity = Quantity.add(progress.filledQuantity, remaining);
  d.move(order, 'RESIZED', changes);
}
