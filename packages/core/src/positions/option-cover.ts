import { valueOf } from '../instruments/instrument.js';
import type { OptionContract } from '../instruments/option.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';

/*
 * What stands behind short options where nobody lends (D81, D160): shares under calls first, then longs, then cash. A question about
 * the contracts on one underlying, whoever holds them.
 */

/** Contracts of one series, held or imagined. */
export interface CoverLeg {
  readonly contract: OptionContract;
  /** Whole contracts; negative = short. */
  readonly count: number;
  /** When it settles: what a long must do no earlier than the short it covers. */
  readonly settlesAt: Instant;
}

export interface Cover {
  /** Of the underlying, under calls. */
  readonly shares: Quantity;
  /** What the rest can lose at most with the longs beside it; of puts that nothing covers their strikes. Whole cents. */
  readonly cash: Money;
  /** The part of it that puts without a long take. */
  readonly secured: Money;
  /** Short calls that nothing covers. */
  readonly nakedCalls: number;
  /** Short contracts that longs cover. */
  readonly spreads: number;
}

/** What covers the shorts among these, where so many shares of the underlying are free. */
export function coverOf(legs: readonly CoverLeg[], freeShares: Quantity): Cover {
  let shares = Quantity.zero;
  let cash = 0;
  let secured = 0;
  let nakedCalls = 0;
  let spreads = 0;
  const left = legs.filter(({ count }) => count !== 0).map((leg): Left => ({ ...leg }));
  for (const call of left.filter(isShortCall).sort(byStrike)) {
    if (call.contract.settlement === 'CASH') continue;
    const each = deliveredBy(call.contract);
    const covered = Math.min(-call.count, Math.max(0, Math.floor((freeShares - shares) / each)));
    shares = Quantity.ofUnits(shares + covered * each);
    call.count += covered;
  }
  for (const alike of classesOf(left)) {
    const pool: Left[] = [];
    for (const chain of chainsOf(alike)) {
      const found = coverChain(chain, pool);
      cash += found.cash;
      secured += found.secured;
      nakedCalls += found.nakedCalls;
      spreads += found.spreads;
    }
  }
  return {
    shares,
    cash: Money.upToCents(Money.ofUnits(cash)),
    secured: Money.upToCents(Money.ofUnits(secured)),
    nakedCalls,
    spreads,
  };
}

interface Left extends CoverLeg {
  count: number;
}

const isShortCall = ({ contract, count }: Left): boolean => count < 0 && contract.optionType === 'CALL';

/** Shares that one contract delivers, what is paid in cash beside them counted up. */
const deliveredBy = ({ deliverable, inLieu }: OptionContract): Quantity =>
  Quantity.of(deliverable + (inLieu === undefined ? 0 : 1));

const byStrike = (a: Left, b: Left): number =>
  a.contract.strike - b.contract.strike || (a.contract.symbol < b.contract.symbol ? -1 : 1);

/** Only what is exercised in the same way and delivers the same can cover. */
function classesOf(legs: readonly Left[]): Left[][] {
  const classes = new Map<string, Left[]>();
  for (const leg of legs) {
    const { style, multiplier, deliverable, inLieu } = leg.contract;
    const key = `${style} ${multiplier} ${deliverable} ${inLieu ?? 0}`;
    const alike = classes.get(key);
    if (alike === undefined) classes.set(key, [leg]);
    else alike.push(leg);
  }
  return [...classes.values()];
}

/** Those that settle together, the last first: what it does not need may cover an earlier one. */
function chainsOf(legs: readonly Left[]): Left[][] {
  const chains = new Map<Instant, Left[]>();
  for (const leg of legs) {
    const chain = chains.get(leg.settlesAt);
    if (chain === undefined) chains.set(leg.settlesAt, [leg]);
    else chain.push(leg);
  }
  return [...chains].sort(([a], [b]) => b - a).map(([, chain]) => chain);
}

/** The shorts of one expiration with its own longs and what later ones have left over, which is put into `pool`. */
function coverChain(chain: readonly Left[], pool: Left[]): Omit<Cover, 'shares'> {
  const used: Left[] = chain.filter(({ count }) => count < 0).map((leg) => ({ ...leg }));
  let nakedCalls = 0;
  let spreads = 0;
  let secured = Money.zero;
  for (const optionType of ['CALL', 'PUT'] as const) {
    const shorts = used.filter(({ contract, count }) => contract.optionType === optionType && count < 0);
    const longs = chain.filter(({ contract, count }) => contract.optionType === optionType && count > 0);
    let lacking = shorts.reduce((sum, { count }) => sum - count, 0);
    if (lacking === 0) {
      pool.push(...longs);
      continue;
    }
    // A call protects the better the lower its strike is, a put the higher.
    const best = optionType === 'CALL' ? byStrike : (a: Left, b: Left): number => byStrike(b, a);
    const borrowed = pool.filter(({ contract }) => contract.optionType === optionType).sort(best);
    used.push(...longs.map((leg) => ({ ...leg })));
    lacking -= longs.reduce((sum, { count }) => sum + count, 0);
    for (const leg of borrowed) {
      const taken = Math.min(leg.count, Math.max(lacking, 0));
      if (taken === 0) continue;
      leg.count -= taken;
      lacking -= taken;
      used.push({ ...leg, count: taken });
    }
    const uncovered = Math.max(lacking, 0);
    spreads += shorts.reduce((sum, { count }) => sum - count, 0) - uncovered;
    if (optionType === 'CALL') {
      nakedCalls += uncovered;
      // What nothing covers has no limit: it is another's question.
      dropHighest(shorts, uncovered);
    } else {
      secured = strikesOfLowest(shorts, uncovered);
    }
  }
  return { cash: largestLoss(used), secured, nakedCalls, spreads };
}

function dropHighest(shorts: readonly Left[], count: number): void {
  let left = count;
  for (const short of [...shorts].sort(byStrike).reverse()) {
    const dropped = Math.min(left, -short.count);
    short.count += dropped;
    left -= dropped;
  }
}

function strikesOfLowest(shorts: readonly Left[], count: number): Money {
  let left = count;
  let sum = 0;
  for (const short of [...shorts].sort(byStrike)) {
    const taken = Math.min(left, -short.count);
    sum += worth(short.contract.strike, taken, short.contract);
    left -= taken;
  }
  return Money.ofUnits(sum);
}

/** The most that these can be worth less than nothing when they settle (D104): at one of the strikes, or at zero. */
function largestLoss(legs: readonly Left[]): Money {
  const prices = [0, ...legs.map(({ contract }) => contract.strike as number)];
  const values = prices.map((price) =>
    legs.reduce((sum, { contract, count }) => {
      const inTheMoney = contract.optionType === 'CALL' ? price - contract.strike : contract.strike - price;
      return sum + worth(Math.max(0, inTheMoney), count, contract);
    }, 0),
  );
  return Money.ofUnits(Math.max(0, -Math.min(...values)));
}

const worth = (price: number, count: number, contract: OptionContract): number =>
  valueOf(contract, Price.ofUnits(price), Quantity.of(count));
