import type { Quote } from '../market/quote.js';
import { remainingOf, sideOf } from '../orders/order.js';
import type { Order, PositionIntent } from '../orders/order.js';
import { netLimitOf } from '../orders/structure.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { FillModel } from './fill-model.js';
import type { LegWait } from './multi-leg-index.js';

/** A leg of an order with its market. */
export interface LegMarket {
  readonly symbol: string;
  readonly positionIntent: PositionIntent;
  /** Contracts in a unit. */
  readonly ratio: number;
  readonly quote: Quote;
  /** Remaining displayed size on the opposite side; Infinity without a given size. */
  readonly left: number;
}

/** Whole units of an order that would execute now, with the prices of the legs, whose net is that of a unit (D78). */
export interface MultiLegFill {
  readonly units: Quantity;
  /** In the order of the legs. */
  readonly prices: readonly Price[];
  readonly isAtLimit: boolean;
  /** Ordered by a script. */
  readonly isScripted?: true;
}

const CENT = Price.of('0.01');

const touchOf = ({ positionIntent, quote }: LegMarket): Price | undefined =>
  sideOf(positionIntent) === 'BUY' ? quote.ask : quote.bid;

/** Net of a unit at the touches, a credit negative; `undefined` if a leg has no touch. */
export function netAtTouch(legs: readonly LegMarket[]): Price | undefined {
  let net = 0;
  for (const leg of legs) {
    const touch = touchOf(leg);
    if (touch === undefined) return undefined;
    net += leg.ratio * (sideOf(leg.positionIntent) === 'BUY' ? touch : 0 - touch);
  }
  return Price.ofUnits(net);
}

/**
 * Plans the executable part of a multi-leg order against these quotes (D78): if the net is within its limit, at the touches on
 * arrival, at its limit once it is resting; as many whole units as all sizes allow. FOK: all or nothing.
 */
export function planMultiLegFill(
  { terms, progress }: Order,
  model: FillModel,
  legs: readonly LegMarket[],
  isResting: boolean,
): MultiLegFill | undefined {
  const net = netAtTouch(legs);
  if (net === undefined) return undefined;
  const { limitPrice, timeInForce } = progress;
  const limit = limitPrice === undefined ? undefined : netLimitOf(terms.positionIntent, limitPrice);
  const beyond = model === 'strict' && isResting ? CENT : 0;
  if (limit !== undefined && net + beyond > limit) return undefined;
  const remaining = remainingOf(progress);
  let units: number = remaining;
  if (model !== 'ideal') {
    for (const { left, ratio } of legs) units = Math.min(units, left / ratio);
  }
  const whole = Quantity.wholePart(Quantity.ofUnits(units));
  if (whole <= 0 || (timeInForce === 'FOK' && whole < remaining)) return undefined;
  const isAtLimit = isResting && limit !== undefined;
  const touches = legs.map((leg) => touchOf(leg) ?? Price.ofUnits(0));
  const prices = isAtLimit ? pricesAt(limit - net, legs, touches) : touches;
  return { units: whole, prices, isAtLimit };
}

/**
 * Conditions for the execution of an order whose net is beyond its limit: one leg has moved by its part of the distance, or a leg without a
 * quote has received one. `undefined` if any quote may suffice.
 */
export function legWaitsOf(legs: readonly LegMarket[], limit: Price): LegWait[] | undefined {
  for (const { symbol, positionIntent, quote } of legs) {
    const side = sideOf(positionIntent);
    if (side === 'BUY' && quote.ask === undefined) return [{ symbol, side, price: Infinity }];
    if (side === 'SELL' && quote.bid === undefined) return [{ symbol, side, price: -Infinity }];
  }
  const beyond = (netAtTouch(legs) ?? limit) - limit;
  if (beyond <= 0) return undefined;
  return legs.map((leg) => {
    const part = Math.floor(beyond / (legs.length * leg.ratio));
    const side = sideOf(leg.positionIntent);
    const touch = touchOf(leg) ?? 0;
    return { symbol: leg.symbol, side, price: side === 'BUY' ? touch - part : touch + part };
  });
}

/**
 * Distributes the amount that a resting order pays beyond the touches: to the first bought leg of the smallest ratio; if all are sold, from
 * the most expensive down, none below a cent.
 */
function pricesAt(more: number, legs: readonly LegMarket[], touches: readonly Price[]): Price[] {
  const prices = [...touches];
  if (more === 0) return prices;
  let best: number | undefined;
  legs.forEach(({ positionIntent, ratio }, index) => {
    if (sideOf(positionIntent) === 'BUY' && (best === undefined || ratio < (legs[best]?.ratio ?? 0)))
      best = index;
  });
  if (best === undefined) return cheapened(legs, touches, more);
  const { ratio } = legs[best] ?? { ratio: 1 };
  prices[best] = Price.ofUnits((prices[best] ?? 0) + Math.trunc(more / ratio));
  // Prices are whole units: a rest that does not divide by the ratio is taken from a sold leg of one contract.
  const single = legs.findIndex((leg) => leg.ratio === 1 && sideOf(leg.positionIntent) === 'SELL');
  if (single !== -1) prices[single] = Price.ofUnits((prices[single] ?? 0) - (more % ratio));
  return prices;
}

/**
 * The prices of the legs of a unit that executes at a net: their touches, with the difference on one leg. `undefined` if a leg has no
 * touch. Absent `net` = that of the touches; no worse than `limit`.
 */
export function pricesForNet(
  legs: readonly LegMarket[],
  net: Price | undefined,
  limit: Price | undefined,
): readonly Price[] | undefined {
  const atTouch = netAtTouch(legs);
  if (atTouch === undefined) return undefined;
  const wanted = Math.min(net ?? atTouch, limit ?? Infinity);
  const touches = legs.map((leg) => touchOf(leg) ?? Price.ofUnits(0));
  const more = wanted - atTouch;
  if (more === 0) return touches;
  // A higher net raises the price of a bought leg, a lower one that of a sold leg.
  const wantedSide = more > 0 ? 'BUY' : 'SELL';
  const dearer = cheapestRatio(legs, ({ positionIntent }) => sideOf(positionIntent) === wantedSide);
  if (dearer !== undefined) {
    const ratio = legs[dearer]?.ratio ?? 1;
    const prices = [...touches];
    prices[dearer] = Price.ofUnits((prices[dearer] ?? 0) + Math.abs(Math.trunc(more / ratio)));
    return prices;
  }
  // All legs are on the other side: their prices are lowered.
  return cheapened(legs, touches, Math.abs(more));
}

/** The matching leg with the smallest ratio. */
function cheapestRatio(legs: readonly LegMarket[], isMeant: (leg: LegMarket) => boolean): number | undefined {
  let best: number | undefined;
  legs.forEach((leg, index) => {
    if (isMeant(leg) && (best === undefined || leg.ratio < (legs[best]?.ratio ?? 0))) best = index;
  });
  return best;
}

/** Prices lowered by an amount per unit: from the most expensive down, none below a cent. */
function cheapened(legs: readonly LegMarket[], touches: readonly Price[], less: number): Price[] {
  const prices = [...touches];
  let left = less;
  const dearestFirst = legs.map((_, index) => index).sort((a, b) => (touches[b] ?? 0) - (touches[a] ?? 0));
  for (const index of dearestFirst) {
    const ratio = legs[index]?.ratio ?? 1;
    const taken = Math.min(Math.trunc(left / ratio), Math.max(0, (prices[index] ?? 0) - CENT));
    prices[index] = Price.ofUnits((prices[index] ?? 0) - taken);
    left -= taken * ratio;
  }
  return prices;
}
