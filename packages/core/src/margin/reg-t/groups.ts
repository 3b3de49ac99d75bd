import { multiplyDivide } from '../../values/scaled.js';
import type { Contract, Micros, RegTTerms } from './contracts.js';

/**
 * Amounts of one unit of a group (D99, D103): one contract of each of its options and, if it includes stock, the shares that
 * one contract delivers.
 */
export interface UnitAmounts {
  /** Reg T initial requirement, against margin equity. */
  readonly fed: Micros;
  readonly maintenance: Micros;
  /** The greater of the two, plus its long options that are paid in full. */
  readonly initial: Micros;
  /** Equity contribution; negative for short positions. */
  readonly counted: Micros;
}

const of = (fed: Micros, maintenance: Micros, paid: Micros, counted: Micros): UnitAmounts => ({
  fed,
  maintenance,
  initial: Math.max(fed, maintenance) + paid,
  counted,
});

const tenPercent = (strike: Micros, { parameters }: RegTTerms): Micros =>
  multiplyDivide(strike, parameters.hedgedBps, 10_000, 'half-up');

const share = (value: Micros, bps: number): Micros => multiplyDivide(value, bps, 10_000, 'half-up');

/** LONG_STOCK: 50 %, then 25 % or the house's rate (D100; 12 CFR 220.12, FINRA Rule 4210(c)). */
export const longStock = ({ stock, shares }: Contract): UnitAmounts => of(stock.fed, stock.long, 0, shares);

/**
 * SHORT_STOCK: 50 % in addition to the proceeds, then 30 %, at least $5.00 a share; low-priced stock 100 % and at least $2.50 a
 * share, which then applies at initiation too (D100, D108).
 */
export const shortStock = ({ stock, shares }: Contract): UnitAmounts =>
  of(stock.shortFed, stock.short, 0, 0 - shares);

/** LONG_CALL, LONG_PUT: paid in full; beyond nine months 75 % of the value, which then contributes to equity (D102; 12 CFR 220.12). */
export function longOption(option: Contract, { parameters }: RegTTerms): UnitAmounts {
  if (!option.isLongDated) return of(0, 0, option.premium, 0);
  const rate = share(option.premium, parameters.longDatedBps);
  return of(rate, rate, 0, option.premium);
}

/** NAKED_CALL, NAKED_PUT (D103; FINRA Rule 4210(f)(2)(E)). */
export const nakedOption = ({ naked }: Contract): UnitAmounts => of(naked, naked, 0, 0);

/**
 * SHORT_STRADDLE, SHORT_STRANGLE: one short call and one short put, the greater requirement and the premium of the other
 * (D103; FINRA Rule 4210(f)(2)(H)(ii)). If the two are equal, the smaller premium is the other's.
 */
export function shortStraddle(call: Contract, put: Contract): UnitAmounts {
  const other =
    call.naked === put.naked
      ? Math.min(call.premium, put.premium)
      : call.naked > put.naked
        ? put.premium
        : call.premium;
  const amount = Math.max(call.naked, put.naked) + other;
  return of(amount, amount, 0, 0);
}

/** COVERED_CALL: long stock, valued at most at the strike, and the in-the-money amount of the call (D103; 4210(f)(2)(H)). */
export function coveredCall(call: Contract, terms: RegTTerms): UnitAmounts {
  const { fed, long } = valuedAt(Math.min(call.shares, call.strike), call, terms);
  return of(fed + call.inTheMoney, long + call.inTheMoney, 0, call.shares);
}

/** COVERED_PUT: short stock, and the in-the-money amount of the put (D103). */
export const coveredPut = ({ stock, inTheMoney, shares }: Contract): UnitAmounts =>
  of(stock.fed + inTheMoney, stock.short + inTheMoney, 0, 0 - shares);

/**
 * PROTECTIVE_PUT: 10 % of the strike plus the out-of-the-money amount of the put, at most the requirement of the stock
 * alone (D103; 4210(f)(2)(H)(iv)). The stock counts at no less than the strike.
 */
export function protectivePut(put: Contract, terms: RegTTerms): UnitAmounts {
  const hedged = tenPercent(put.strike, terms) + put.outOfTheMoney;
  return of(put.stock.fed, Math.min(hedged, put.stock.long), put.premium, Math.max(put.shares, put.strike));
}

/** PROTECTIVE_CALL: short stock and a long call, like PROTECTIVE_PUT (D103). */
export function protectiveCall(call: Contract, terms: RegTTerms): UnitAmounts {
  const hedged = tenPercent(call.strike, terms) + call.outOfTheMoney;
  return of(call.stock.fed, Math.min(hedged, call.stock.short), call.premium, 0 - call.shares);
}

/** COLLAR: long stock, a long put and a short call of a higher strike and the same expiration (D103, D164). */
export function collar(put: Contract, call: Contract, terms: RegTTerms): UnitAmounts {
  const { fed } = valuedAt(Math.min(call.shares, call.strike), call, terms);
  const { long } = valuedAt(call.strike, call, terms);
  const hedged = tenPercent(put.strike, terms) + put.outOfTheMoney;
  return of(
    fed + call.inTheMoney,
    Math.min(hedged, long) + call.inTheMoney,
    put.premium,
    Math.max(put.shares, put.strike),
  );
}

/** CONVERSION: long stock, a long put and a short call of one strike and expiration (D103, D164; 4210(f)(2)(H)(v)). */
export function conversion(put: Contract, call: Contract, terms: RegTTerms): UnitAmounts {
  const { fed } = valuedAt(Math.min(call.shares, call.strike), call, terms);
  return of(
    fed + call.inTheMoney,
    tenPercent(call.strike, terms) + call.inTheMoney,
    put.premium,
    Math.max(put.shares, put.strike),
  );
}

/** REVERSAL: short stock, a short put and a long call of one strike and expiration (D103, D164; 4210(f)(2)(H)(v)). */
export const reversal = (put: Contract, call: Contract, terms: RegTTerms): UnitAmounts =>
  of(
    put.stock.fed + put.inTheMoney,
    tenPercent(put.strike, terms) + put.inTheMoney,
    call.premium,
    0 - put.shares,
  );

/** The rates of long stock on a value other than its own. */
function valuedAt(
  value: Micros,
  { longBps }: Contract,
  { parameters }: RegTTerms,
): { fed: Micros; long: Micros } {
  return { fed: share(value, parameters.stockInitialBps), long: share(value, longBps) };
}

/** True when call and put have one expiration, which a collar, a conversion and a reversal require (D164). */
export const expireTogether = (a: Contract, b: Contract): boolean => a.expiration === b.expiration;
