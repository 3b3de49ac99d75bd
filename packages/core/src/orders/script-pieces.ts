import { Quantity } from '../values/quantity.js';
import type { OrderProgress, OrderTerms } from './order.js';
import type { ScriptPiece } from './script.js';

const ALL: readonly ScriptPiece[] = [{}];
const NONE: readonly ScriptPiece[] = [];

/** The executions that the script of an order has, or that a cancel of it brings. */
export function piecesOf({ script }: Pick<OrderTerms, 'script'>): readonly ScriptPiece[] {
  if (script?.script.type === 'FILL') return script.script.pieces;
  return script?.script.type === 'ON_CANCEL' ? ALL : NONE;
}

/** Whether an order has a script that keeps it from the market once it is at work. */
export const isKeptFromMarket = ({ script }: Pick<OrderTerms, 'script'>): boolean =>
  script?.script.type === 'FILL' || script?.script.type === 'HOLD';

const WHOLE_PERCENT = 1_000_000n;

/**
 * The quantity of a piece, rounded down to what the order trades in; the piece that completes the order takes what is left.
 * `isFractional`: parts of a share. 0 = the piece comes to nothing.
 */
export function pieceQuantity(
  { quantity, filledQuantity }: Pick<OrderProgress, 'quantity' | 'filledQuantity'>,
  pieces: readonly ScriptPiece[],
  index: number,
  isFractional: boolean,
): Quantity {
  const left = Quantity.subtract(quantity, filledQuantity);
  const piece = pieces[index];
  if (piece === undefined) return Quantity.zero;
  const total = BigInt(quantity);
  let covered = 0n;
  for (const { quantity: fixed, percent } of pieces.slice(0, index + 1))
    covered +=
      fixed === undefined
        ? total * (percent === undefined ? WHOLE_PERCENT : BigInt(percent))
        : BigInt(fixed) * WHOLE_PERCENT;
  if (covered >= total * WHOLE_PERCENT) return left;
  const part =
    piece.quantity ?? Quantity.ofUnits(Number((total * BigInt(piece.percent ?? 0)) / WHOLE_PERCENT));
  return Quantity.min(isFractional ? part : Quantity.wholePart(part), left);
}
