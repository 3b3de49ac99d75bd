import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { divideRounded, multiplyDivide } from '../values/scaled.js';
import type { DeliveredShares, OptionContract } from './option.js';
import { formatOsi, rootOfOsi } from './osi.js';

/** `new` whole shares for `old`, without a common divisor. */
export interface SplitRatio {
  readonly new: number;
  readonly old: number;
}

/** Adjustment of a series by a split (D89). */
export interface Adjustment {
  /** The series that replaces it, with its own symbol. */
  readonly contract: OptionContract;
  /** New contracts per old contract. */
  readonly contracts: number;
}

const CENT = Price.of('0.01');

/** n new shares for one: ordinary contracts are multiplied as shares are. */
export const isWhole = (ratio: SplitRatio): boolean => ratio.old === 1;

/** True for a contract that a split n:1 multiplies. One that delivers cash or shares of other symbols too keeps its number (D208). */
export const isMultiplied = (
  { cash, others }: Pick<OptionContract, 'cash' | 'others'>,
  ratio: SplitRatio,
): boolean => isWhole(ratio) && cash === undefined && others === undefined;

/**
 * Whole ratios n:1 make n contracts of one, at the n-th part of the strike, to the cent half up. Any other keeps contracts, strike and
 * multiplier and changes the deliverable, under a root with a digit appended (D89). The symbol is the first that is not in use; if none is
 * possible (a root of six characters) it stays the same.
 */
export function adjustedBySplit(
  contract: OptionContract,
  ratio: SplitRatio,
  isTaken: (symbol: string) => boolean,
): Adjustment {
  const root = rootOfOsi(contract.symbol);
  if (isMultiplied(contract, ratio)) {
    const strike = strikeAfter(contract.strike, ratio.new);
    const symbol = firstFree({ ...contract, strike }, [root, ...digitsBehind(root)], isTaken);
    return { contract: { ...contract, symbol, strike }, contracts: ratio.new };
  }
  const symbol = firstFree(contract, digitsBehind(root), isTaken);
  const { deliverable, inLieu = Quantity.zero, ...terms } = contract;
  // Shares and cash in lieu are both split; a resulting fraction of a share is paid in cash.
  const units = Math.floor(((Quantity.of(deliverable) + inLieu) * ratio.new) / ratio.old);
  const shares = Math.floor(units / Quantity.of(1));
  const rest = Quantity.ofUnits(units - Quantity.of(shares));
  return {
    contract: { ...terms, symbol, deliverable: shares, ...(rest > 0 && { inLieu: rest }) },
    contracts: 1,
  };
}

const SHARE = Quantity.of(1);
/** Strikes in symbols have three decimals. */
const STRIKE_UNIT = Price.of('0.001');
/** Below this a strike stays, and what is missing becomes cash in the deliverable (D208). */
const LEAST_STRIKE = CENT;

/** Shares of the underlying that a contract delivers, with a fraction paid in cash. */
const deliveredUnits = ({ deliverable, inLieu = Quantity.zero }: OptionContract): number =>
  Quantity.of(deliverable) + inLieu;

/**
 * A special dividend lowers the strike by the amount on the shares of a unit, to a thousandth; the contract delivers the same (D208). Under a
 * cent the strike is a cent, and the contract also delivers what is missing.
 */
export function adjustedByDividend(
  contract: OptionContract,
  { symbol: payer, amountPerShare }: { readonly symbol: string; readonly amountPerShare: Price },
  isTaken: (symbol: string) => boolean,
): Adjustment {
  const lowering = multiplyDivide(
    amountPerShare,
    contract.underlying === payer ? deliveredUnits(contract) : Quantity.of(sharesOf(contract, payer)),
    Math.round(SHARE * contract.multiplier),
    'half-up',
  );
  const exact = divideRounded(contract.strike - lowering, STRIKE_UNIT, 'half-up') * STRIKE_UNIT;
  const root = rootOfOsi(contract.symbol);
  if (exact >= LEAST_STRIKE) {
    const strike = Price.ofUnits(exact);
    const symbol = firstFree({ ...contract, strike }, [root, ...digitsBehind(root)], isTaken);
    return { contract: { ...contract, symbol, strike }, contracts: 1 };
  }
  const strike = LEAST_STRIKE;
  const missing = Money.toCents(Money.ofContracts(Price.ofUnits(strike - exact), SHARE, contract.multiplier));
  const symbol = firstFree({ ...contract, strike }, digitsBehind(root), isTaken);
  const cash = Money.add(contract.cash ?? Money.zero, missing);
  return { contract: { ...contract, symbol, strike, cash }, contracts: 1 };
}

/** Shares of another symbol that a contract delivers. */
const sharesOf = ({ others = [] }: Pick<OptionContract, 'others'>, symbol: string): number =>
  others.find((one) => one.symbol === symbol)?.shares ?? 0;

/** Effect of an action on shares of a symbol other than the underlying that a contract delivers. */
export interface OtherShares {
  /** Symbol of the new shares. */
  readonly symbol: string;
  readonly ratio: SplitRatio;
  /** True if the old shares stay. */
  readonly keepsOld: boolean;
  readonly cashPerShare?: Price | undefined;
  /** Price of a fraction of a new share. */
  readonly price: Price | undefined;
}

/** An action on shares that contracts on another underlying deliver too: whole new shares, and cash for the rest (D208). */
export function adjustedInOther(
  contract: OptionContract,
  from: string,
  { symbol: to, ratio, keepsOld, cashPerShare, price }: OtherShares,
  isTaken: (symbol: string) => boolean,
): Adjustment {
  const before = Quantity.of(sharesOf(contract, from));
  const units = multiplyDivide(before, ratio.new, ratio.old, 'down');
  const shares = Math.floor(units / SHARE);
  const fraction = Quantity.ofUnits(units - Quantity.of(shares));
  const inLieu = price === undefined ? Money.zero : Money.toCents(Money.of(price, fraction));
  const paid = cashPerShare === undefined ? Money.zero : Money.toCents(Money.of(cashPerShare, before));
  const { others: had = [], cash: hadCash = Money.zero, ...terms } = contract;
  const kept = keepsOld ? had : had.filter((one) => one.symbol !== from);
  const isOwn = to === contract.underlying;
  const others = isOwn ? kept : withShares(kept, to, shares);
  const cash = Money.add(hadCash, Money.add(inLieu, paid));
  return {
    contract: {
      ...terms,
      symbol: firstFree(contract, digitsBehind(rootOfOsi(contract.symbol)), isTaken),
      ...(isOwn && { deliverable: contract.deliverable + shares }),
      ...(cash !== 0 && { cash }),
      ...(others.length > 0 && { others }),
    },
    contracts: 1,
  };
}

/** A change of the symbol renames the root, whose digit stays (D208). */
export function renamedContract(
  contract: OptionContract,
  from: string,
  to: string,
  isTaken: (symbol: string) => boolean,
): Adjustment {
  const root = rootOfOsi(contract.symbol);
  const [oldRoot, newRoot] = [rootFor(from), rootFor(to)];
  const digit = root.startsWith(oldRoot) ? root.slice(oldRoot.length) : '';
  const symbol = firstFree(contract, [newRoot + digit, ...digitsBehind(newRoot)], isTaken);
  const { others } = contract;
  const underlying = contract.underlying === from ? to : contract.underlying;
  return {
    contract: {
      ...contract,
      symbol: contract.underlying === from ? symbol : contract.symbol,
      underlying,
      ...(others !== undefined && {
        others: others.map((one) => (one.symbol === from ? { ...one, symbol: to } : one)),
      }),
    },
    contracts: 1,
  };
}

/** Roots of ordinary contracts have no dot: BRK.B has BRKB. */
const rootFor = (symbol: string): string => symbol.replaceAll('.', '');

/** A spin-off adds whole new shares, and cash for the fraction of one at its mark (D208). */
export function adjustedBySpinOff(
  contract: OptionContract,
  { newSymbol, ratio }: { readonly newSymbol: string; readonly ratio: SplitRatio },
  newMark: Price | undefined,
  isTaken: (symbol: string) => boolean,
): Adjustment {
  const given = sharesGiven(contract, ratio, newMark);
  const symbol = firstFree(contract, digitsBehind(rootOfOsi(contract.symbol)), isTaken);
  const cash = Money.add(contract.cash ?? Money.zero, given.cash);
  const others = withShares(contract.others ?? [], newSymbol, given.shares);
  return {
    contract: {
      ...contract,
      symbol,
      ...(cash !== 0 && { cash }),
      ...(others.length > 0 && { others }),
    },
    contracts: 1,
  };
}

/** A merger for shares replaces the shares by whole ones of the acquirer, with cash for the fraction of one and for each share (D208). */
export function adjustedByMerger(
  contract: OptionContract,
  {
    newSymbol,
    ratio,
    cashPerShare,
    newMark,
    hasSeries,
  }: {
    readonly newSymbol: string;
    readonly ratio: SplitRatio;
    readonly cashPerShare: Price | undefined;
    readonly newMark: Price | undefined;
    /** True when there are contracts on the acquirer. */
    readonly hasSeries: boolean;
  },
  isTaken: (symbol: string) => boolean,
): Adjustment {
  const given = sharesGiven(contract, ratio, newMark);
  const paid =
    cashPerShare === undefined
      ? Money.zero
      : Money.toCents(Money.of(cashPerShare, Quantity.ofUnits(deliveredUnits(contract))));
  const cash = Money.add(Money.add(contract.cash ?? Money.zero, given.cash), paid);
  const root = rootFor(newSymbol);
  const { inLieu: _, inLieuAtSplit: __, cash: ___, others = [], ...terms } = contract;
  const isPlain =
    ratio.new === ratio.old &&
    cash === 0 &&
    others.length === 0 &&
    contract.deliverable === contract.multiplier;
  const roots = isPlain && !hasSeries ? [root, ...digitsBehind(root)] : digitsBehind(root);
  const same = others.find(({ symbol }) => symbol === newSymbol)?.shares ?? 0;
  const rest = others.filter(({ symbol }) => symbol !== newSymbol);
  return {
    contract: {
      ...terms,
      symbol: firstFree(contract, roots, isTaken),
      underlying: newSymbol,
      deliverable: given.shares + same,
      ...(cash !== 0 && { cash }),
      ...(rest.length > 0 && { others: rest }),
    },
    contracts: 1,
  };
}

/** Whole new shares for those of a contract, and cash for the fraction, in cents. */
function sharesGiven(
  contract: OptionContract,
  ratio: SplitRatio,
  newMark: Price | undefined,
): { readonly shares: number; readonly cash: Money } {
  const units = multiplyDivide(deliveredUnits(contract), ratio.new, ratio.old, 'down');
  const shares = Math.floor(units / SHARE);
  const fraction = Quantity.ofUnits(units - Quantity.of(shares));
  const cash = newMark === undefined ? Money.zero : Money.toCents(Money.of(newMark, fraction));
  return { shares, cash };
}

function withShares(
  others: readonly DeliveredShares[],
  symbol: string,
  shares: number,
): readonly DeliveredShares[] {
  if (shares === 0) return others;
  const before = others.find((one) => one.symbol === symbol)?.shares ?? 0;
  return [...others.filter((one) => one.symbol !== symbol), { symbol, shares: before + shares }];
}

function strikeAfter(strike: Price, times: number): Price {
  const cents = Price.scale(Price.ofUnits(strike / CENT), 1, times);
  return Price.ofUnits(Math.max(1, cents) * CENT);
}

function firstFree(
  contract: OptionContract,
  roots: readonly string[],
  isTaken: (symbol: string) => boolean,
): string {
  for (const root of roots) {
    const symbol = formatOsi({ ...contract, root });
    if (symbol !== undefined && !isTaken(symbol)) return symbol;
  }
  return contract.symbol;
}

/** `XYZ1`, `XYZ2` … for `XYZ`; for `XYZ1` the others. */
function digitsBehind(root: string): string[] {
  const stem = root.replace(/(?<=[^\d])\d$/, '');
  return Array.from({ length: 9 }, (_, i) => `${stem}${i + 1}`).filter((other) => other !== root);
}
