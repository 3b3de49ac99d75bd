import type { Equity } from '../instruments/equity.js';
import type { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import type { TradingDate } from '../values/trading-date.js';

/*
 * Price bands of the plan for limit up, limit down (D179): facts of its Amendment 18, in force since 2020-02-24.
 */

/** Prices within this many milliseconds form one entry of a window. */
const BUCKET_MS = 100;
const WINDOW_MS = 300_000;

/** Prices of a moment: their sum and number. */
interface PriceSum {
  readonly at: Instant;
  readonly sum: number;
  readonly count: number;
}

/** State of a symbol's price band, in one session. */
export interface BandState {
  readonly date: TradingDate;
  /** Prices of the last five minutes, since the open or the latest halt. */
  readonly prices: readonly PriceSum[];
  /** Absent until the first price, also after a halt. */
  readonly reference?: Price;
  readonly referenceAt?: Instant;
  /** The last counted trade: price, size and time as text. */
  readonly trade?: string;
  /** A trade has counted, so the midpoint of a quote without one does not. */
  readonly hasTrades?: true;
  /** Start of the current limit state. */
  readonly limitSince?: Instant;
  /** True after a halt until the first price. */
  readonly isAfterHalt?: true;
  /** The quote in force is the first after a halt, which no band limits. */
  readonly isExempt?: true;
}

/** The lowest and the highest price at which a symbol may execute. */
export interface PriceBand {
  readonly lower: Price;
  readonly upper: Price;
}

export const newBand = (date: TradingDate): BandState => ({ date, prices: [] });

/** A band after a halt: the first price is its reference. */
export const bandAfterHalt = ({ date }: BandState): BandState => ({ date, prices: [], isAfterHalt: true });

/** The prices of the last five minutes, with an optional new one. */
export function pricesWith(
  prices: readonly PriceSum[],
  at: Instant,
  price: Price | undefined,
): readonly PriceSum[] {
  const first = prices.findIndex((one) => one.at >= at - WINDOW_MS);
  const kept = first === -1 ? [] : prices.slice(first);
  if (price === undefined) return kept;
  const last = kept.at(-1);
  if (last !== undefined && at - last.at < BUCKET_MS)
    kept[kept.length - 1] = { at: last.at, sum: last.sum + price, count: last.count + 1 };
  else kept.push({ at, sum: price, count: 1 });
  return kept;
}

/** The mean of prices, to the price unit; undefined without any. */
export function meanOf(prices: readonly PriceSum[]): Price | undefined {
  let sum = 0n;
  let count = 0n;
  for (const one of prices) {
    sum += BigInt(one.sum);
    count += BigInt(one.count);
  }
  return count === 0n ? undefined : Price.ofUnits(Number((sum * 2n + count) / (count * 2n)));
}

/** True when a mean differs enough from a reference price to replace it. */
export const differsByOnePercent = (mean: Price, reference: Price): boolean =>
  Math.abs(mean - reference) * 100 >= reference;

const THREE_DOLLARS = Price.of('3');
const THREE_QUARTERS = Price.of('0.75');
const FIFTEEN_CENTS = Price.of('0.15');
const CENT = Price.of('0.01');

/**
 * The band around a reference price, in whole cents, rounded half up. `isLate`: in the last 25 minutes of the session. The percentage
 * depends on the previous close all day.
 */
export function bandAround(
  reference: Price,
  previousClose: Price,
  { luldTier = 2, leverageFactor }: Pick<Equity, 'luldTier' | 'leverageFactor'>,
  isLate: boolean,
): PriceBand {
  const isDear = previousClose > THREE_DOLLARS;
  const doubled = isLate && (luldTier === 1 || !isDear) ? 2 : 1;
  const leverage = luldTier === 2 ? Math.abs(leverageFactor) : 1;
  const times = doubled * (leverage === 0 ? 1 : leverage);
  const share = (percent: number): number => (reference * percent * times) / 100;
  const width = isDear
    ? share(luldTier === 1 ? 5 : 10)
    : previousClose >= THREE_QUARTERS
      ? share(20)
      : Math.min(FIFTEEN_CENTS * times, share(75));
  const cents = (price: number): number => Math.floor((price + CENT / 2) / CENT) * CENT;
  return {
    lower: Price.ofUnits(Math.max(CENT, cents(reference - width))),
    upper: Price.ofUnits(cents(reference + width)),
  };
}

/** True when a price is within a band, its limits included. */
export const isWithin = ({ lower, upper }: PriceBand, price: number): boolean =>
  price >= lower && price <= upper;
