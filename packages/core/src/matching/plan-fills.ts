import { tickFor } from '../instruments/tick-size.js';
import type { Equity } from '../instruments/equity.js';
import { isShares } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import { remainingOf, sideOf } from '../orders/order.js';
import type { Mutable, Order } from '../orders/order.js';
import type { FillRule } from '../orders/execution.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { Book } from './book.js';
import type { FillModel } from './fill-model.js';

/** A part of an order that would execute now. */
export interface PlannedFill {
  readonly price: Price;
  readonly quantity: Quantity;
  readonly rule: FillRule;
  /** Absent = unlimited. */
  readonly sizeAvailable?: Quantity;
}

/** Levels of the modeled book per quote, and their smallest distance as a part of the touch. */
const MODELED_LEVELS = 40;
const MODELED_STEP_BPS = 5;

/**
 * Plans the executable part of an order against the book's quote (D46, D47). The order can trade and its limit, if any, is at or beyond the
 * touch. Empty = none; FOK: all or nothing.
 */
export function planFills(order: Order, model: FillModel, book: Book, instrument: Tradable): PlannedFill[] {
  const quote = book.quote;
  const buy = sideOf(order.terms.positionIntent) === 'BUY';
  const touch = buy ? quote?.ask : quote?.bid;
  if (quote === undefined || touch === undefined) return [];
  const { limitPrice, timeInForce } = order.progress;
  const resting = book.isResting(order, model);
  const remaining = remainingOf(order.progress);
  const atLimit = resting && limitPrice !== undefined;
  const price = atLimit ? limitPrice : touch;
  const rule = atLimit ? 'RESTING_LIMIT' : 'TOUCH';
  if (model === 'ideal') return [{ price, quantity: remaining, rule }];

  const left = buy ? book.askLeft : book.bidLeft;
  const fills: PlannedFill[] = [];
  // Contracts trade whole, regardless of the displayed size.
  const shown = isShares(instrument) || left === Infinity ? left : Quantity.wholePart(Quantity.ofUnits(left));
  const fromTouch = Math.min(remaining, shown);
  if (fromTouch > 0) {
    const fill: Mutable<PlannedFill> = { price, quantity: Quantity.ofUnits(fromTouch), rule };
    if (left !== Infinity) fill.sizeAvailable = Quantity.ofUnits(left);
    fills.push(fill);
  }
  if (model === 'depth' && isShares(instrument) && fromTouch < remaining) {
    fills.push(
      ...modeledFills(order, book, instrument, touch, Quantity.ofUnits(remaining - fromTouch), resting),
    );
  }
  if (timeInForce === 'FOK') {
    const total = fills.reduce((sum, fill) => sum + fill.quantity, 0);
    if (total < remaining) return [];
  }
  return fills;
}

/**
 * The modeled book behind the touch. By the square-root law of market impact, moving the price by a fraction x requires `ADV × (x / σ)²`
 * shares (ADV = shares a day, σ = a day's standard deviation): that is the size within x of the touch. Levels are a tick or 0.05 % apart,
 * whichever is more; whole shares; the size that one order used is not available until the next quote.
 */
function modeledFills(
  order: Order,
  book: Book,
  equity: Equity,
  touch: Price,
  wanted: Quantity,
  resting: boolean,
): PlannedFill[] {
  const buy = sideOf(order.terms.positionIntent) === 'BUY';
  const { limitPrice } = order.progress;
  const tick = tickFor(equity, touch);
  const step = Price.roundToTick(
    Price.ofUnits(Math.max(tick, Math.floor((touch * MODELED_STEP_BPS) / 10_000))),
    tick,
    'up',
  );
  const { volume, volatility } = book.quote?.usualDay ?? {
    volume: equity.averageDailyVolume,
    volatility: equity.dailyVolatility,
  };
  const taken = buy ? book.modelledAskTaken : book.modelledBidTaken;
  const fills: PlannedFill[] = [];
  let left: number = wanted;
  let passed = 0;
  for (let level = 1; level <= MODELED_LEVELS && left > 0; level++) {
    const price = Price.ofUnits(buy ? touch + level * step : touch - level * step);
    if (price <= 0) break;
    if (limitPrice !== undefined && (buy ? price > limitPrice : price < limitPrice)) break;
    const x = (level * step) / touch / volatility;
    // A stock of unknown volatility has no modeled book.
    if (!(x < Infinity)) break;
    const cumulative = Math.min(Math.floor(volume * x * x) * 1e6, Number.MAX_SAFE_INTEGER);
    const free = cumulative - Math.max(taken, 0) - passed;
    if (free <= 0) continue;
    const quantity = Quantity.ofUnits(Math.min(left, free));
    passed += quantity;
    left -= quantity;
    const paid = resting && limitPrice !== undefined ? limitPrice : price;
    fills.push({ price: paid, quantity, rule: 'MODELLED_BOOK', sizeAvailable: Quantity.ofUnits(free) });
  }
  return fills;
}
