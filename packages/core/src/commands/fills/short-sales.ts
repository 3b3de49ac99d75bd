import type { Decision } from '../../decision.js';
import { isForShares } from '../../instruments/instrument.js';
import { tickFor } from '../../instruments/tick-size.js';
import type { Book } from '../../matching/book.js';
import type { FillModel } from '../../matching/fill-model.js';
import type { PlannedFill } from '../../matching/plan-fills.js';
import { remainingOf } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { isRestricted } from '../market/price-limits.js';

/*
 * Short sales under Rule 201 (D179a). One that would execute at the bid is offered one tick above it, follows the bid down, never up, and
 * executes at its offer when a later bid reaches that.
 */

const isShortSale = ({ terms }: Order): boolean =>
  terms.positionIntent === 'SELL_TO_OPEN' && isForShares(terms.assetClass);

/** True when an order may not execute at the bid now. An order that has waited above the bid is exempt. */
export function isHeldAboveBid(d: Decision, book: Book, order: Order): boolean {
  if (d.rules.shortSaleRestriction !== true || !isShortSale(order)) return false;
  if (order.progress.offer !== undefined || !isRestricted(d, book.symbol)) return false;
  return !book.isResting(order, d.portfolioOf(order).terms.fillModel);
}

/** True when the restriction excludes an order from an auction at this price. */
export const isBelowAuction = (d: Decision, book: Book, order: Order, price: Price): boolean =>
  d.rules.shortSaleRestriction === true &&
  isShortSale(order) &&
  isRestricted(d, book.symbol) &&
  price <= (book.quote?.bid ?? 0);

/** Offers an order above the bid. False if its time in force does not let it wait. */
export function offerAboveBid(d: Decision, book: Book, order: Order): boolean {
  const { timeInForce } = order.progress;
  const offer = offerOver(d, book, order);
  if (timeInForce === 'IOC' || timeInForce === 'FOK' || offer === undefined) return false;
  d.move(order, 'OFFERED', { offer });
  return true;
}

function offerOver(d: Decision, { quote, symbol }: Book, { progress }: Order): Price | undefined {
  if (quote?.bid === undefined) return undefined;
  const above = quote.bid + tickFor(d.tradable(symbol), quote.bid);
  return Price.ofUnits(Math.max(above, progress.limitPrice ?? 0));
}

/** Moves offers down with a lower bid; ends them when the restriction is over. */
export function followBid(d: Decision, book: Book): void {
  const inTurn = [...book.offered].sort((a, b) => a.terms.number - b.terms.number);
  const isOver = !isRestricted(d, book.symbol);
  for (const order of inTurn) {
    const { offer } = order.progress;
    if (isOver) d.move(order, 'OFFERED', { offer: null });
    const next = isOver ? undefined : offerOver(d, book, order);
    if (next !== undefined && offer !== undefined && next < offer) d.move(order, 'OFFERED', { offer: next });
  }
}

/** Executions of an offered order whose price the bid has reached. */
export function offeredFills(order: Order, model: FillModel, book: Book): PlannedFill[] {
  const { offer } = order.progress;
  if (offer === undefined) return [];
  const remaining = remainingOf(order.progress);
  if (model === 'ideal') return [{ price: offer, quantity: remaining, rule: 'RULE_201' }];
  const quantity = Math.min(remaining, book.bidLeft);
  if (quantity <= 0) return [];
  const fill = { price: offer, quantity: Quantity.ofUnits(quantity), rule: 'RULE_201' as const };
  return [book.bidLeft === Infinity ? fill : { ...fill, sizeAvailable: Quantity.ofUnits(book.bidLeft) }];
}
