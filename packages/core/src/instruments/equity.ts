import type { Price } from '../values/price.js';

/** A stock or an exchange-traded fund. */
export interface Equity {
  readonly assetClass: 'EQUITY';
  readonly symbol: string;
  readonly name: string;
  /** Minimum price increment; absent = Rule 612 (0.01 from one dollar, 0.0001 below). */
  readonly tickSize?: Price;
  /** 1 for a plain stock, 2 or 3 (negative for inverse) for a leveraged fund. */
  readonly leverageFactor: number;
  /** Tier 1 of the plan for limit up, limit down; absent = tier 2 (D179). */
  readonly luldTier?: 1 | 2;
  readonly shortable: boolean;
  /** Yearly rate a short seller pays to borrow, as a fraction (0.003 = 0.3 %). */
  readonly borrowRateAnnual: number;
  /** Shares traded on an ordinary day, 0 if unknown; scales the modeled book of the `depth` fill model. */
  readonly averageDailyVolume: number;
  /** Standard deviation of a day's return, as a fraction, 0 if unknown; used with `averageDailyVolume`. */
  readonly dailyVolatility: number;
  /** Absent = orders are accepted. */
  readonly tradable?: false;
  /** Absent = also in fractions, if the broker offers them. */
  readonly fractionable?: false;
}

/** Defaults of a symbol without a description: an ordinary stock of medium volume. */
export const plainEquity = (symbol: string): Equity => ({
  assetClass: 'EQUITY',
  symbol,
  name: symbol,
  leverageFactor: 1,
  shortable: true,
  borrowRateAnnual: 0.003,
  averageDailyVolume: 1_000_000,
  dailyVolatility: 0.02,
});
