import type { Contract, Micros } from '../margin/reg-t/contracts.js';
import type { TradingDate } from '../values/trading-date.js';

/*
 * The amounts of D100–D103, written from the rule text (12 CFR 220.12; FINRA Rule 4210(c), (f)(2)(D), (E) and (H)) and independent of the
 * product's: a reference must not call the code that it checks. Equity options on stock without a leverage factor, at FINRA's rates.
 * Amounts are of one contract, or of the shares that one contract delivers.
 */

/** Maintenance less the equity contribution of long-dated longs, and the initial requirement. */
export type Least = readonly [aim: Micros, initial: Micros];

const percent = (rate: number, value: Micros): Micros => (value * rate) / 100;
const opening = (fed: Micros, maintenance: Micros, paid = 0): Least => [
  maintenance,
  Math.max(fed, maintenance) + paid,
];

const inTheMoney = ({ isCall, shares, strike }: Contract): Micros =>
  isCall ? Math.max(shares - strike, 0) : Math.max(strike - shares, 0);
const outOfTheMoney = ({ isCall, shares, strike }: Contract): Micros =>
  isCall ? Math.max(strike - shares, 0) : Math.max(shares - strike, 0);

/** Minimum requirement of short stock: 5.00 a share; below 5.00 its full value, and at least 2.50 a share. */
const isLow = ({ shares, deliverable }: Contract): boolean => shares < 5e6 * deliverable;
const leastShort = (one: Contract): Micros =>
  isLow(one) ? Math.max(one.shares, 2.5e6 * one.deliverable) : 5e6 * one.deliverable;
const shortRate = (one: Contract): Micros => Math.max(percent(30, one.shares), leastShort(one));

/** Stock without options, the shares of one contract. */
export function stockAlone(one: Contract, isLong: boolean): Least {
  const half = percent(50, one.shares);
  if (isLong) return opening(half, percent(25, one.shares));
  return opening(isLow(one) ? Math.max(half, leastShort(one)) : half, shortRate(one));
}

function nineMonthsAfter(date: TradingDate): string {
  const months = Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1 + 9;
  return `${Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, '0')}${date.slice(7)}`;
}

const naked = (one: Contract): Micros =>
  one.premium +
  Math.max(percent(20, one.shares) - outOfTheMoney(one), percent(10, one.isCall ? one.shares : one.strike));

/** One option in no group with others. */
export function optionAlone(one: Contract, asOf: TradingDate): Least {
  if (one.isShort) return opening(naked(one), naked(one));
  if (one.expiration <= nineMonthsAfter(asOf)) return [0, one.premium];
  return [percent(75, one.premium) - one.premium, percent(75, one.premium)];
}

/** A short call and a short put: the greater of both, and the premium of the other. */
export function straddle(call: Contract, put: Contract): Least {
  const amount = Math.min(
    ...[
      [call, put],
      [put, call],
    ].flatMap(([a, b]) =>
      a !== undefined && b !== undefined && naked(a) >= naked(b) ? naked(a) + b.premium : [],
    ),
  );
  return opening(amount, amount);
}

/** Stock with one option; undefined if the two are no group. */
export function stockWithOne(one: Contract, isLong: boolean): Least | undefined {
  const { isCall, isShort, shares, strike, premium } = one;
  const [itm, otm] = [inTheMoney(one), outOfTheMoney(one)];
  const half = percent(50, shares);
  if (isLong && isCall && isShort) {
    const value = Math.min(shares, strike);
    return opening(percent(50, value) + itm, percent(25, value) + itm);
  }
  if (isLong && !isCall && !isShort)
    return opening(half, Math.min(percent(10, strike) + otm, percent(25, shares)), premium);
  if (!isLong && !isCall && isShort) return opening(half + itm, shortRate(one) + itm);
  if (!isLong && isCall && !isShort)
    return opening(half, Math.min(percent(10, strike) + otm, shortRate(one)), premium);
  return undefined;
}

/** Stock with a put and a call of one expiration; undefined if the three are no group. */
export function stockWithTwo(put: Contract, call: Contract, isLong: boolean): Least | undefined {
  if (put.expiration !== call.expiration) return undefined;
  const half = percent(50, Math.min(call.shares, call.strike));
  if (isLong && !put.isShort && call.isShort) {
    if (put.strike > call.strike) return undefined;
    const itm = inTheMoney(call);
    const maintenance =
      put.strike === call.strike
        ? percent(10, call.strike)
        : Math.min(percent(10, put.strike) + outOfTheMoney(put), percent(25, call.strike));
    return opening(half + itm, maintenance + itm, put.premium);
  }
  if (!isLong && put.isShort && !call.isShort && put.strike === call.strike) {
    const itm = inTheMoney(put);
    return opening(percent(50, put.shares) + itm, percent(10, put.strike) + itm, call.premium);
  }
  return undefined;
}
