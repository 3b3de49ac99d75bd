import type { Contract, Micros, RegTTerms } from '../margin/reg-t/contracts.js';
import type { UnderlyingPositions } from '../margin/reg-t/model.js';
import { optionAlone, stockAlone, stockWithOne, stockWithTwo, straddle } from './margin-formulas.js';
import type { Least } from './margin-formulas.js';

/**
 * The least requirement of an offset group by D104's definition alone: tries every partition of its contracts and share lots
 * into the groups of D100–D104. All contracts deliver the same; shares beyond whole lots are left out.
 */
export function leastByTrying({ contracts, shares }: UnderlyingPositions, terms: RegTTerms): Least {
  const lot = contracts[0]?.deliverable ?? 100;
  const lots = Math.floor(Math.abs(shares) / lot);
  const held = [...contracts.map(({ count }) => count), lots];
  const known = new Map<string, Least>();

  const leastOf = (left: readonly number[]): Least => {
    const first = left.findIndex((count) => count > 0);
    if (first < 0) return [0, 0];
    const key = left.join();
    const before = known.get(key);
    if (before !== undefined) return before;
    let best: Least = [Infinity, Infinity];
    for (const group of parts(left, first)) {
      const amounts = amountsOf(group);
      if (amounts === undefined) continue;
      const rest = leastOf(left.map((count, i) => count - (group[i] ?? 0)));
      const sum: Least = [amounts[0] + rest[0], amounts[1] + rest[1]];
      if (sum[0] < best[0] || (sum[0] === best[0] && sum[1] < best[1])) best = sum;
    }
    known.set(key, best);
    return best;
  };

  /** The least requirement of exactly these legs as one group, by any rule; undefined if none makes them a group. */
  const amountsOf = (group: readonly number[]): Least | undefined => {
    const stock = group[contracts.length] ?? 0;
    const legs = contracts.flatMap((contract, i) => new Array<Contract>(group[i] ?? 0).fill(contract));
    const candidates: Least[] = [];
    const add = (amounts: Least | undefined): void => {
      if (amounts !== undefined) candidates.push(amounts);
    };
    const isLong = shares > 0;
    const [a, b] = legs.toSorted((x, y) => Number(x.isCall) - Number(y.isCall));
    if (stock === 1 && a === undefined && contracts[0] !== undefined) add(stockAlone(contracts[0], isLong));
    if (a !== undefined && b === undefined) {
      if (stock === 0) add(optionAlone(a, terms.asOf));
      if (stock === 1) add(stockWithOne(a, isLong));
    }
    // Sorted: a is the put, b the call.
    if (a !== undefined && b !== undefined && legs.length === 2 && !a.isCall && b.isCall) {
      if (stock === 0 && a.isShort && b.isShort) add(straddle(b, a));
      if (stock === 1) add(stockWithTwo(a, b, isLong));
    }
    if (stock === 0) {
      const loss = spreadLoss(legs);
      const paid = legs.reduce((sum, leg) => sum + (leg.isShort ? 0 : leg.premium), 0);
      if (loss !== undefined) candidates.push([loss, loss + paid]);
    }
    return candidates.toSorted((x, y) => x[0] - y[0] || x[1] - y[1])[0];
  };

  return leastOf(held);
}

/** Largest loss of a SPREAD group; undefined if D104 does not call it one. */
function spreadLoss(legs: readonly Contract[]): Micros | undefined {
  const longs = legs.filter(({ isShort }) => !isShort);
  const shorts = legs.filter(({ isShort }) => isShort);
  if (longs.length === 0 || shorts.length === 0) return undefined;
  if (new Set(legs.map(({ style }) => style)).size > 1) return undefined;
  const callsOf = (all: readonly Contract[]): number => all.filter(({ isCall }) => isCall).length;
  const putsOf = (all: readonly Contract[]): number => all.length - callsOf(all);
  if (callsOf(longs) < callsOf(shorts) || putsOf(longs) < putsOf(shorts)) return undefined;
  const last = Math.max(...shorts.map(({ settlesAt }) => settlesAt));
  if (longs.some(({ settlesAt }) => settlesAt < last)) return undefined;
  const prices = [0, ...legs.map(({ strike }) => strike)];
  const worst = (all: readonly Contract[]): Micros => {
    const valueAt = (price: Micros): Micros =>
      all.reduce((sum, { isCall, isShort, strike }) => {
        const intrinsic = Math.max(0, isCall ? price - strike : strike - price);
        return sum + (isShort ? -intrinsic : intrinsic);
      }, 0);
    return Math.max(0, -Math.min(...prices.map(valueAt)));
  };
  const settleTogether = shorts.every(({ settlesAt }) => settlesAt === last);
  return settleTogether
    ? worst(legs)
    : worst(legs.filter(({ isCall }) => isCall)) + worst(legs.filter(({ isCall }) => !isCall));
}

/** All subsets of the remainder, with at least one of `first`, and none of its predecessors. */
function* parts(left: readonly number[], first: number): Generator<number[]> {
  const taken = left.map(() => 0);
  taken[first] = 1;
  for (;;) {
    yield [...taken];
    let i = left.length - 1;
    while (i >= first && taken[i] === left[i]) {
      taken[i] = i === first ? 1 : 0;
      i--;
    }
    if (i < first) return;
    taken[i] = (taken[i] ?? 0) + 1;
  }
}
