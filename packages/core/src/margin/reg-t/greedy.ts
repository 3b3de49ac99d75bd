import type { Contract, Micros, RegTTerms } from './contracts.js';
import { aimedAt, aloneOf, combosOf, maximumLoss, savings } from './model.js';
import type { Chain, Combo } from './model.js';

/** A division as `partition.ts` has it, with what it changes of the first objective against everything alone. */
export interface QuickDivision {
  readonly combos: readonly { readonly combo: Combo; readonly count: number }[];
  readonly straddles: readonly never[];
  readonly spreads: readonly { readonly legs: ReadonlyMap<number, number>; readonly loss: Micros }[];
  readonly first: Micros;
}

/**
 * A quick division for chains that are too large to search to the end: each short with the long that covers it for least, all pairs
 * whose shorts settle together as one group, then calls and puts with stock. Rarely the least, always allowed.
 */
export function greedyPartition(chain: Chain, terms: RegTTerms): QuickDivision {
  const { contracts } = chain;
  const left = contracts.map(({ count }) => count);
  const groups = new Map<string, Map<number, number>>();
  for (const short of shortsByNeed(contracts)) {
    const mine = of(contracts, short);
    const longs = longsFor(contracts, short);
    for (const long of longs) {
      const count = Math.min(left[short] ?? 0, left[long] ?? 0);
      if (count <= 0 || widthOf(mine, of(contracts, long)) >= mine.naked) continue;
      const key = `${mine.style} ${mine.multiplier} ${mine.deliverable} ${mine.settlesAt}`;
      const group = groups.get(key) ?? new Map<number, number>();
      groups.set(key, group);
      for (const leg of [short, long]) {
        group.set(leg, (group.get(leg) ?? 0) + count);
        left[leg] = (left[leg] ?? 0) - count;
      }
    }
  }
  let first = 0;
  const spreads: { legs: ReadonlyMap<number, number>; loss: Micros }[] = [];
  for (const legs of groups.values()) {
    const loss = maximumLoss(contracts, legs);
    first += loss;
    for (const [leg, count] of legs)
      first -= count * aimedAt(aloneOf(of(contracts, leg), terms), of(contracts, leg));
    spreads.push({ legs, loss });
  }
  const combos: { combo: Combo; count: number }[] = [];
  let shares = Math.abs(chain.shares);
  const byGain = combosOf(chain, terms)
    .map((combo) => ({ combo, gain: savings(combo, contracts, terms)[0] }))
    .sort((a, b) => a.gain - b.gain);
  for (const { combo, gain } of byGain) {
    const taken = Math.abs(combo.shares);
    const count = Math.min(Math.floor(shares / taken), ...combo.legs.map((leg) => left[leg] ?? 0));
    if (count <= 0 || gain >= 0) continue;
    shares -= count * taken;
    for (const leg of combo.legs) left[leg] = (left[leg] ?? 0) - count;
    combos.push({ combo, count });
    first += gain * count;
  }
  return { combos, straddles: [], spreads, first };
}

function of(contracts: readonly Contract[], place: number): Contract {
  const contract = contracts[place];
  if (contract === undefined) throw new RangeError('no such contract');
  return contract;
}

/** The dearest shorts first. */
const shortsByNeed = (contracts: readonly Contract[]): number[] =>
  contracts
    .flatMap(({ isShort }, i) => (isShort ? [i] : []))
    .sort((a, b) => of(contracts, b).naked - of(contracts, a).naked || a - b);

/** The longs that may cover a short, the narrowest first. */
function longsFor(contracts: readonly Contract[], short: number): number[] {
  const mine = of(contracts, short);
  return contracts
    .flatMap((other, i) =>
      !other.isShort &&
      other.isCall === mine.isCall &&
      other.style === mine.style &&
      other.multiplier === mine.multiplier &&
      other.deliverable === mine.deliverable &&
      other.settlesAt >= mine.settlesAt
        ? [i]
        : [],
    )
    .sort((a, b) => widthOf(mine, of(contracts, a)) - widthOf(mine, of(contracts, b)) || a - b);
}

/** What a vertical of the two can lose. */
const widthOf = (short: Contract, long: Contract): Micros =>
  Math.max(0, short.isCall ? long.strike - short.strike : short.strike - long.strike);
