/** Strategies of multi-leg orders, recognized from their legs. */
import { optionParts } from './option-symbols.js';

/** Strategy formed by the legs of an order; `FREEFORM` if it has no name. */
export type LegShape =
  | 'SPREAD'
  | 'CALENDAR'
  | 'DIAGONAL'
  | 'STRADDLE'
  | 'STRANGLE'
  | 'BUTTERFLY'
  | 'CONDOR'
  | 'COLLAR'
  | 'FREEFORM';

export interface ShapedLeg {
  readonly symbol: string;
  readonly isBuy: boolean;
  /** Contracts in a unit. */
  readonly ratio: number;
}

export function shapeOf(legs: readonly ShapedLeg[]): LegShape {
  const parts = legs.map((leg) => ({ ...leg, ...optionParts(leg.symbol) }));
  const strikes = new Set(parts.map(({ strike }) => strike)).size;
  const isOneDate = new Set(parts.map(({ expiration }) => expiration)).size === 1;
  const types = new Set(parts.map(({ optionType }) => optionType)).size;
  const bought = parts.filter(({ isBuy }) => isBuy).length;
  const isEven = parts.every(({ ratio }) => ratio === parts[0]?.ratio);
  if (legs.length === 2 && isEven) {
    if (types === 2 && isOneDate && bought !== 1) return strikes === 1 ? 'STRADDLE' : 'STRANGLE';
    if (types === 2) return isOneDate ? 'COLLAR' : 'FREEFORM';
    if (bought !== 1) return 'FREEFORM';
    if (isOneDate) return 'SPREAD';
    return strikes === 1 ? 'CALENDAR' : 'DIAGONAL';
  }
  if (!isOneDate) return 'FREEFORM';
  if (legs.length === 4 && bought === 2 && isEven && strikes >= 3)
    return strikes === 3 ? 'BUTTERFLY' : 'CONDOR';
  return legs.length === 3 && strikes === 3 && types === 1 && bought !== 0 ? 'BUTTERFLY' : 'FREEFORM';
}
