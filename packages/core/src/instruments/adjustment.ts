import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { OptionContract } from './option.js';
import { formatOsi, rootOfOsi } from './osi.js';

/** What a split makes of a series (D89). */
export interface Adjustment {
  /** The series that takes its place, with a symbol of its own. */
  readonly contract: OptionContract;
  /** So many contracts of it for each one that there was. */
  readonly contracts: number;
}

const CENT = Price.of('0.01');

/**
 * A split of `ratio.new` whole shares for `ratio.old` (without a common divisor). Whole ratios n:1 make n contracts of one, at the n-th part of
 * the strike, to the cent half up. Any other leaves contracts, strike and multiplier and changes what is delivered; the root gets the
 * first digit behind it that is not taken. `undefined` where no symbol can name what comes of it.
 */
export function adjustedBySplit(
  contract: OptionContract,
  ratio: { readonly new: number; readonly old: number },
  isTaken: (root: string) => boolean,
): Adjustment | undefined {
  const root = rootOfOsi(contract.symbol);
  if (ratio.old === 1) {
    const cents = Price.scale(Price.ofUnits(contract.strike / CENT), 1, ratio.new);
    const strike = Price.ofUnits(Math.max(1, cents) * CENT);
    const symbol = formatOsi({ ...contract, root, strike });
    return symbol === undefined
      ? undefined
      : { contract: { ...contract, symbol, strike }, contracts: ratio.new };
  }
  const freeRoot = nextRoot(root, isTaken);
  const symbol = freeRoot === undefined ? undefined : formatOsi({ ...contract, root: freeRoot });
  if (symbol === undefined) return undefined;
  const { deliverable, inLieu = Quantity.zero, ...terms } = contract;
  // Both parts of a delivery are split; what is not a whole share of the outcome is paid in cash.
  const units = Math.floor(((Quantity.of(deliverable) + inLieu) * ratio.new) / ratio.old);
  const shares = Math.floor(units / Quantity.of(1));
  const rest = Quantity.ofUnits(units - Quantity.of(shares));
  return {
    contract: { ...terms, symbol, deliverable: shares, ...(rest > 0 && { inLieu: rest }) },
    contracts: 1,
  };
}

/** `XYZ1` for `XYZ`, `XYZ2` for `XYZ1`. */
function nextRoot(root: string, isTaken: (root: string) => boolean): string | undefined {
  const stem = root.replace(/(?<=[^\d])\d$/, '');
  for (let digit = 1; digit <= 9; digit++) {
    const candidate = `${stem}${digit}`;
    if (candidate !== root && !isTaken(candidate)) return candidate;
  }
  return undefined;
}
