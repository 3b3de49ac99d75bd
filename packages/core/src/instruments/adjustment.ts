import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { OptionContract } from './option.js';
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

/** n new shares for one: contracts are multiplied as shares are. */
export const isWhole = (ratio: SplitRatio): boolean => ratio.old === 1;

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
  if (isWhole(ratio)) {
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
