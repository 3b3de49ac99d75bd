import { valueOf } from '../instruments/instrument.js';
import { hasSameOthers } from '../instruments/option.js';
import type { OptionContract } from '../instruments/option.js';
import type { SharesOf } from '../instruments/shares-of.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';

/*
 * Collateral of short options without a margin loan (D81, D160): shares for calls first, then longs, then cash. It depends on
 * the contracts on one underlying alone, not on their holder.
 */

/** Contracts of one series, held or hypothetical. */
export interface CollateralLeg {
  readonly contract: OptionContract;
  /** Whole contracts; negative = short. */
  readonly count: number;
}

/** Settlement time of a contract. A long must settle no earlier than the short it covers. */
type SettlesAt = (contract: OptionContract) => Instant;

export interface OptionCollateral {
  /** Shares of the underlying that cover calls. */
  readonly shares: Quantity;
  /** Shares of other symbols that cover them too, by symbol (D208); absent = none. */
  readonly others?: readonly SharesOf[];
  /** Strikes of uncovered puts, and the largest loss of the rest including its longs (D270). Whole cents. */
  readonly cash: Money;
  /** The part of it for puts without a long. */
  readonly secured: Money;
  /** Short puts without a long. */
  readonly nakedPuts: number;
  /** Uncovered short calls. */
  readonly nakedCalls: number;
  /** Short contracts covered by longs. */
  readonly spreads: number;
}

const NO_COVER: OptionCollateral = {
  shares: Quantity.zero,
  cash: Money.zero,
  secured: Money.zero,
  nakedPuts: 0,
  nakedCalls: 0,
  spreads: 0,
};

/**
 * Collateral of the shorts among these legs, each series once, with `freeShares` of the underlying, and of other symbols. The order of legs
 * does not matter.
 */
export function collateralOf(
  legs: Iterable<CollateralLeg>,
  freeShares: Quantity,
  settlesAt: SettlesAt,
  freeOf: (symbol: string) => Quantity = () => Quantity.zero,
): OptionCollateral {
  const left: UncoveredContracts[] = [];
  let hasShorts = false;
  for (const { contract, count } of legs) {
    if (count === 0) continue;
    left.push({ contract, count });
    if (count < 0) hasShorts = true;
  }
  if (!hasShorts) return NO_COVER;
  const covered = freeShares > 0 ? coverByShares(left, freeShares, freeOf) : NOTHING_COVERED;
  let cash: number = covered.cash;
  let secured: number = covered.cash;
  let nakedPuts = 0;
  let nakedCalls = 0;
  let spreads = 0;
  for (const alike of classesOf(left)) {
    const pool: UncoveredContracts[] = [];
    for (const chain of chainsOf(alike, settlesAt)) {
      const found = coverChain(chain, pool);
      cash += found.cash;
      secured += found.secured;
      nakedPuts += found.nakedPuts;
      nakedCalls += found.nakedCalls;
      spreads += found.spreads;
    }
  }
  const { shares, others } = covered;
  return {
    shares,
    ...(others !== undefined && { others }),
    cash: Money.upToCents(Money.ofUnits(cash)),
    secured: Money.upToCents(Money.ofUnits(secured)),
    nakedPuts,
    nakedCalls,
    spreads,
  };
}

interface UncoveredContracts {
  readonly contract: OptionContract;
  count: number;
}

/** Deliverables of covered calls. A call is covered only if all of its deliverables are held. */
interface CoveredCalls {
  readonly shares: Quantity;
  readonly others?: readonly SharesOf[];
  /** Cash that they deliver beside shares (D208). */
  readonly cash: Money;
}

const NOTHING_COVERED: CoveredCalls = { shares: Quantity.zero, cash: Money.zero };

/** Removes the calls that shares cover, the lowest strikes first. Returns what these would deliver. */
function coverByShares(
  left: readonly UncoveredContracts[],
  freeShares: Quantity,
  freeOf: (symbol: string) => Quantity,
): CoveredCalls {
  let shares = 0;
  let cash = 0;
  const used = new Map<string, number>();
  for (const call of left.filter(isShortCall).sort(byStrike)) {
    if (call.contract.settlement === 'CASH') continue;
    const each = sharesToCover(call.contract);
    const { others = [] } = call.contract;
    let covered =
      each === 0 ? -call.count : Math.min(-call.count, Math.max(0, Math.floor((freeShares - shares) / each)));
    for (const { symbol, shares: size } of others) {
      const free = freeOf(symbol) - (used.get(symbol) ?? 0);
      covered = Math.min(covered, Math.max(0, Math.floor(free / Quantity.of(size))));
    }
    if (covered === 0) continue;
    shares += covered * each;
    cash += covered * (call.contract.cash ?? 0);
    for (const { symbol, shares: size } of others)
      used.set(symbol, (used.get(symbol) ?? 0) + Quantity.of(size * covered));
    call.count += covered;
  }
  const others = [...used]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([symbol, quantity]) => ({ symbol, quantity: Quantity.ofUnits(quantity) }));
  return {
    shares: Quantity.ofUnits(shares),
    ...(others.length > 0 && { others }),
    cash: Money.ofUnits(cash),
  };
}

const isShortCall = ({ contract, count }: UncoveredContracts): boolean =>
  count < 0 && contract.optionType === 'CALL';

/**
 * Shares that cover one call: those that it delivers. The strike received for them pays the cash in lieu of a fractional share. A call that
 * delivers no whole share is covered by that fraction.
 */
const sharesToCover = ({ deliverable, inLieu = Quantity.zero }: OptionContract): Quantity =>
  deliverable > 0 ? Quantity.of(deliverable) : inLieu;

const byStrike = (a: UncoveredContracts, b: UncoveredContracts): number =>
  a.contract.strike - b.contract.strike || (a.contract.symbol < b.contract.symbol ? -1 : 1);

/** Groups legs by style and deliverable: only equal contracts can cover each other. There are seldom two classes. */
function classesOf(legs: readonly UncoveredContracts[]): UncoveredContracts[][] {
  const classes: UncoveredContracts[][] = [];
  for (const leg of legs) {
    const alike = classes.find(([first]) => first !== undefined && isAlike(first.contract, leg.contract));
    if (alike === undefined) classes.push([leg]);
    else alike.push(leg);
  }
  return classes;
}

const isAlike = (a: OptionContract, b: OptionContract): boolean =>
  a.style === b.style &&
  a.multiplier === b.multiplier &&
  a.deliverable === b.deliverable &&
  (a.inLieu ?? 0) === (b.inLieu ?? 0) &&
  (a.cash ?? 0) === (b.cash ?? 0) &&
  hasSameOthers(a, b);

/** Groups of contracts that settle together, the last first: its unused longs may cover an earlier one. */
function chainsOf(legs: UncoveredContracts[], settlesAt: SettlesAt): UncoveredContracts[][] {
  const [first] = legs;
  if (first === undefined || legs.every(({ contract }) => endsWith(contract, first.contract))) return [legs];
  const chains = new Map<Instant, UncoveredContracts[]>();
  for (const leg of legs) {
    const at = settlesAt(leg.contract);
    const chain = chains.get(at);
    if (chain === undefined) chains.set(at, [leg]);
    else chain.push(leg);
  }
  return [...chains].sort(([a], [b]) => b - a).map(([, chain]) => chain);
}

const endsWith = (a: OptionContract, b: OptionContract): boolean =>
  a.expiration === b.expiration && a.settleSession === b.settleSession && a.settlement === b.settlement;

const OPTION_TYPES = ['CALL', 'PUT'] as const;

/** Covers the shorts of one expiration with its own longs and unused later ones from `pool`; its own unused longs are added to it. */
function coverChain(
  chain: readonly UncoveredContracts[],
  pool: UncoveredContracts[],
): Omit<OptionCollateral, 'shares' | 'others'> {
  const used: UncoveredContracts[] = [];
  let nakedPuts = 0;
  let nakedCalls = 0;
  let spreads = 0;
  let secured = Money.zero;
  let inLieu = Money.zero;
  for (const optionType of OPTION_TYPES) {
    const shorts: UncoveredContracts[] = [];
    const longs: UncoveredContracts[] = [];
    let short = 0;
    let long = 0;
    for (const leg of chain) {
      if (leg.contract.optionType !== optionType) continue;
      if (leg.count < 0) {
        shorts.push(leg);
        short -= leg.count;
      } else if (leg.count > 0) {
        longs.push(leg);
        long += leg.count;
      }
    }
    if (short === 0) {
      pool.push(...longs);
      continue;
    }
    used.push(...shorts, ...longs);
    const uncovered = borrow(optionType, Math.max(short - long, 0), pool, used);
    spreads += short - uncovered;
    if (uncovered === 0) continue;
    if (optionType === 'CALL') {
      nakedCalls += uncovered;
      // The loss of naked calls is unlimited and handled elsewhere. For a fractional share only the cash in lieu counts.
      inLieu = dropHighest(shorts, uncovered);
    } else {
      nakedPuts += uncovered;
      secured = dropLowest(shorts, uncovered);
    }
  }
  const cash = Money.add(largestLoss(used), Money.add(inLieu, secured));
  return { cash, secured, nakedPuts, nakedCalls, spreads };
}

/** Uses longs of later expirations for uncovered shorts. Returns the number that stays uncovered. */
function borrow(
  optionType: OptionContract['optionType'],
  lacking: number,
  pool: readonly UncoveredContracts[],
  used: UncoveredContracts[],
): number {
  if (lacking === 0 || pool.length === 0) return lacking;
  let left = lacking;
  // A call protects the better the lower its strike is, a put the higher.
  const best =
    optionType === 'CALL'
      ? byStrike
      : (a: UncoveredContracts, b: UncoveredContracts): number => byStrike(b, a);
  for (const leg of pool.filter(({ contract }) => contract.optionType === optionType).sort(best)) {
    const taken = Math.min(leg.count, left);
    if (taken === 0) continue;
    leg.count -= taken;
    left -= taken;
    used.push({ contract: leg.contract, count: taken });
  }
  return left;
}

/** Removes the highest strikes. Returns their cash in lieu of shares. */
function dropHighest(shorts: readonly UncoveredContracts[], count: number): Money {
  let left = count;
  let inLieu = 0;
  for (const short of [...shorts].sort(byStrike).reverse()) {
    const dropped = Math.min(left, -short.count);
    short.count += dropped;
    left -= dropped;
    inLieu += dropped * (short.contract.inLieuAtSplit ?? 0);
  }
  return Money.ofUnits(inLieu);
}

/** Removes the lowest strikes. Returns the cash that pays them. */
function dropLowest(shorts: readonly UncoveredContracts[], count: number): Money {
  let left = count;
  let sum = 0;
  for (const short of [...shorts].sort(byStrike)) {
    const taken = Math.min(left, -short.count);
    sum += taken * strikeValue(short.contract);
    short.count += taken;
    left -= taken;
  }
  return Money.ofUnits(sum);
}

/**
 * The largest loss of these contracts at settlement (D104): at one of the strikes, or at zero. Between two strikes
 * their value is linear, with the calls below less the puts above as its slope.
 */
function largestLoss(legs: UncoveredContracts[]): Money {
  let value = 0;
  let slope = 0;
  for (const { contract, count } of legs) {
    if (contract.optionType === 'CALL') continue;
    value += count * strikeValue(contract);
    slope -= count;
  }
  let least = Math.min(0, value);
  let reached = 0;
  for (const { contract, count } of legs.sort(byStrike)) {
    const strike = strikeValue(contract);
    value += slope * (strike - reached);
    slope += count;
    reached = strike;
    if (value < least) least = value;
  }
  return Money.ofUnits(0 - least);
}

/** Cash that one contract pays or receives at its strike. */
const strikeValue = (contract: OptionContract): number => valueOf(contract, contract.strike, ONE_CONTRACT);

const ONE_CONTRACT = Quantity.of(1);
