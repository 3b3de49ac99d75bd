import type { Contract, RegTTerms } from './contracts.js';
import { shortStraddle } from './groups.js';
import { combosOf, maximumLoss, sameTerms, sharesSpreads } from './model.js';
import type { UnderlyingPositions, Partition } from './model.js';

const UNDIVIDED: Partition = { combos: [], straddles: [], spreads: [], isApproximate: false };

/**
 * The least partition for at most one series with stock, or two without, which needs no search: there is one kind of group, and as many of
 * them as possible are optimal if one requires less than its parts. Undefined for other positions.
 */
export function partitionOfFew(positions: UnderlyingPositions, terms: RegTTerms): Partition | undefined {
  const { contracts, shares } = positions;
  const [a, b] = contracts;
  if (a === undefined) return UNDIVIDED;
  if (b === undefined) return shares === 0 ? UNDIVIDED : withStock(positions, a, terms);
  if (contracts.length > 2 || shares !== 0) return undefined;
  if (a.isShort && b.isShort) return a.isCall ? straddle(a, b, 0, 1) : straddle(b, a, 1, 0);
  if (!a.isShort && !b.isShort) return UNDIVIDED;
  return a.isShort ? vertical(contracts, 0, 1) : vertical(contracts, 1, 0);
}

function withStock(positions: UnderlyingPositions, option: Contract, terms: RegTTerms): Partition {
  const [combo] = combosOf(positions, terms);
  if (combo === undefined) return UNDIVIDED;
  const lots = Math.floor(Math.abs(positions.shares) / Math.abs(combo.shares));
  return { ...UNDIVIDED, combos: [{ combo, count: Math.min(option.count, lots) }] };
}

function straddle(call: Contract, put: Contract, callAt: number, putAt: number): Partition {
  const isOne = call.isCall && !put.isCall && sameTerms(call, put);
  if (!isOne || shortStraddle(call, put).maintenance >= call.naked + put.naked) return UNDIVIDED;
  const count = Math.min(call.count, put.count);
  return { ...UNDIVIDED, straddles: [{ call: callAt, put: putAt, count }] };
}

/** A short and a long: each covered contract loses the width of the strikes. Undefined if the long counts alone. */
function vertical(contracts: readonly Contract[], shortAt: number, longAt: number): Partition | undefined {
  const [short, long] = [contracts[shortAt], contracts[longAt]];
  if (short === undefined || long === undefined || long.isLongDated) return undefined;
  const covers =
    short.isCall === long.isCall && sharesSpreads(short, long) && long.settlesAt >= short.settlesAt;
  const width = short.isCall ? long.strike - short.strike : short.strike - long.strike;
  if (!covers || Math.max(0, width) >= short.naked) return UNDIVIDED;
  const legs = new Map([
    [shortAt, Math.min(short.count, long.count)],
    [longAt, long.count],
  ]);
  return { ...UNDIVIDED, spreads: [{ legs, loss: maximumLoss(contracts, legs) }] };
}
