import { TradingDate } from '../../values/trading-date.js';

/** The figures of Regulation T and FINRA Rule 4210 for requirements, in hundredths of a percent. */
export interface RegTParameters {
  /** The first date on which they are in force. */
  readonly effectiveFrom: TradingDate;
  /** Stock at purchase or sale (12 CFR 220.12). */
  readonly stockInitialBps: number;
  /** FINRA Rule 4210(c)(1) and (3). */
  readonly longStockBps: number;
  readonly shortStockBps: number;
  /** Short stock at or above this price requires at least `shortLeast` a share, below it its full value and at least `lowPricedLeast`. */
  readonly lowPriceDollars: number;
  readonly shortLeastDollars: number;
  readonly lowPricedLeastDollars: number;
  /** Uncovered options (FINRA Rule 4210(f)(2)(E)): on stock and narrow indices, on broad indices, and the floor. */
  readonly optionBps: number;
  readonly broadIndexOptionBps: number;
  readonly optionFloorBps: number;
  /** Stock with a long option (4210(f)(2)(H)): part of the strike. */
  readonly hedgedBps: number;
  /** Long options of more than `longDatedMonths` that no group uses (12 CFR 220.12, 4210(f)(2)(D)). */
  readonly longDatedBps: number;
  readonly longDatedMonths: number;
}

const PARAMETERS: readonly RegTParameters[] = [
  {
    effectiveFrom: TradingDate.of('1970-01-01'),
    stockInitialBps: 5000,
    longStockBps: 2500,
    shortStockBps: 3000,
    lowPriceDollars: 5,
    shortLeastDollars: 5,
    lowPricedLeastDollars: 2.5,
    optionBps: 2000,
    broadIndexOptionBps: 1500,
    optionFloorBps: 1000,
    hedgedBps: 1000,
    longDatedBps: 7500,
    longDatedMonths: 9,
  },
];

/** The figures in force on a date. */
export function regTParametersOn(date: TradingDate): RegTParameters {
  const inForce = PARAMETERS.findLast(({ effectiveFrom }) => effectiveFrom <= date) ?? PARAMETERS[0];
  if (inForce === undefined) throw new RangeError('no parameters');
  return inForce;
}

/** True when an option has more than nine calendar months to expiration (D99). */
export function isLongDated(expiration: TradingDate, asOf: TradingDate, months: number): boolean {
  const from = Number(asOf.slice(0, 4)) * 12 + Number(asOf.slice(5, 7)) - 1 + months;
  const to = Number(expiration.slice(0, 4)) * 12 + Number(expiration.slice(5, 7)) - 1;
  // In the same month a later day; a day that the month lacks has none after it.
  return from === to ? expiration.slice(8, 10) > asOf.slice(8, 10) : to > from;
}
