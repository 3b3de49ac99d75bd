import { formatScaled } from '../../values/scaled.js';
import type { Contract, Micros, RegTTerms } from './contracts.js';
import type { ComboName } from './model.js';
import type { SpreadLegs } from './shapes.js';
import { intrinsicAt } from './model.js';

/** A figure per share, in dollars. */
const perShare = (amount: Micros, { multiplier }: Contract): string =>
  formatScaled(Math.round((amount / multiplier) * 100), 8);

const percent = (bps: number): string => `${formatScaled(Math.round(bps * 100), 4)} %`;

/** NAKED_CALL, NAKED_PUT: the formula of D103 with its figures. */
export function nakedFormula(option: Contract, { parameters }: RegTTerms): string {
  const { isCall, delivered, strike, premium, outOfTheMoney } = option;
  const of = (amount: Micros): string => perShare(amount, option);
  return (
    `D103, FINRA 4210(f)(2)(E): ${of(premium)} + max(${percent(option.nakedBps)} × ${of(delivered)} − ` +
    `${of(outOfTheMoney)}, ${percent(parameters.optionFloorBps * option.factor)} × ${of(isCall ? delivered : strike)})` +
    ` = ${of(option.naked)} a share`
  );
}

/** SHORT_STRADDLE, SHORT_STRANGLE. */
export function straddleFormula(call: Contract, put: Contract, amount: Micros): string {
  return (
    `D103, FINRA 4210(f)(2)(H): the greater of ${perShare(call.naked, call)} (call) and ${perShare(put.naked, put)} (put), ` +
    `and the other's premium (call ${perShare(call.premium, call)}, put ${perShare(put.premium, put)}) = ` +
    `${perShare(amount, call)} a share`
  );
}

/** LONG_CALL, LONG_PUT. */
export const longFormula = (option: Contract, { parameters }: RegTTerms): string =>
  option.isLongDated
    ? `D102, 12 CFR 220.12: more than ${parameters.longDatedMonths} months, ${percent(parameters.longDatedBps)} × ` +
      perShare(option.premium, option)
    : `D102, 12 CFR 220.12: paid in full, ${perShare(option.premium, option)} a share; nothing to hold`;

/** LONG_STOCK, SHORT_STOCK. */
export function stockFormula(
  isShort: boolean,
  price: string,
  longBps: number,
  shortBps: number,
  terms: RegTTerms,
): string {
  const { parameters } = terms;
  const initial = `D100, 12 CFR 220.12, FINRA 4210(c): initially ${percent(parameters.stockInitialBps)}, then `;
  if (!isShort) return `${initial}${percent(longBps)} × ${price}`;
  return (
    `${initial}max(${percent(shortBps)} × ${price}, ${parameters.shortLeastDollars} a share), below ` +
    `${parameters.lowPriceDollars} max(100 % × ${price}, ${parameters.lowPricedLeastDollars} a share)`
  );
}

/** Groups with stock; `put` and `call` as far as it has them. */
export function comboFormula(
  name: ComboName,
  legs: readonly Contract[],
  maintenance: Micros,
  { parameters }: RegTTerms,
): string {
  const put = legs.find(({ isCall }) => !isCall);
  const call = legs.find(({ isCall }) => isCall);
  const any = call ?? put;
  if (any === undefined) return name;
  const of = (amount: Micros): string => perShare(amount, any);
  const tenth = percent(parameters.hedgedBps);
  const long = percent(any.longBps);
  const total = ` = ${of(maintenance)} a share`;
  const inTheMoney = of((any === call ? call : put)?.inTheMoney ?? 0);
  const hedge = put ?? any;
  switch (name) {
    case 'COVERED_CALL':
      return `D103: ${long} × min(${of(any.shares)}, ${of(any.strike)}) + ${inTheMoney} in the money${total}`;
    case 'COVERED_PUT':
      return `D103: ${of(any.stock.short)} for the short stock + ${inTheMoney} in the money${total}`;
    case 'PROTECTIVE_PUT':
      return `D103: min(${tenth} × ${of(any.strike)} + ${of(any.outOfTheMoney)}, ${long} × ${of(any.shares)})${total}`;
    case 'PROTECTIVE_CALL':
      return `D103: min(${tenth} × ${of(any.strike)} + ${of(any.outOfTheMoney)}, ${of(any.stock.short)} for the short stock)${total}`;
    case 'COLLAR':
      return (
        `D103: min(${tenth} × ${of(hedge.strike)} + ${of(hedge.outOfTheMoney)}, ${long} × ${of(any.strike)}) + ` +
        `${inTheMoney} in the money${total}`
      );
    case 'CONVERSION':
      return `D103: ${tenth} × ${of(any.strike)} + ${inTheMoney} in the money${total}`;
    case 'REVERSAL':
      return `D103: ${tenth} × ${of(any.strike)} + ${of(hedge.inTheMoney)} in the money${total}`;
  }
}

/** The SPREAD family, with the price of its largest loss. */
export function spreadFormula(contracts: readonly Contract[], legs: SpreadLegs, loss: Micros): string {
  const source = 'D104, FINRA Regulatory Notice 12-44: ';
  if (loss === 0) return `${source}loses nothing at any strike beyond what was paid`;
  const parts = [...legs].flatMap(([i, count]) => {
    const contract = contracts[i];
    return contract === undefined ? [] : [{ contract, count: contract.isShort ? -count : count }];
  });
  const prices = [0, ...parts.map(({ contract }) => contract.strike)].sort((a, b) => a - b);
  const valueAt = (price: Micros): Micros =>
    parts.reduce((sum, { contract, count }) => sum + count * intrinsicAt(contract, price), 0);
  const worst = prices.reduce((at, price) => (valueAt(price) < valueAt(at) ? price : at), 0);
  const [first] = parts;
  if (first === undefined) return source;
  const apart =
    valueAt(worst) === 0 - loss ? `at ${perShare(worst, first.contract)}` : 'calls and puts apart';
  return `${source}loses ${formatScaled(loss, 6)} at most, ${apart}`;
}
