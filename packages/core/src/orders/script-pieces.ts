import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { OrderProgress, OrderTerms } from './order.js';
import type { ScriptPiece } from './script.js';

const ALL: readonly ScriptPiece[] = [{}];
const NONE: readonly ScriptPiece[] = [];

/** The executions of an order's script, or those that a cancel of it causes. */
export function piecesOf({ script }: Pick<OrderTerms, 'script'>): readonly ScriptPiece[] {
  if (script?.script.type === 'FILL') return script.script.pieces;
  return script?.script.type === 'ON_CANCEL' ? ALL : NONE;
}

/** True when an order has a script that keeps it from the market once it is at work. */
export const isKeptFromMarket = ({ script }: Pick<OrderTerms, 'script'>): boolean =>
  script?.script.type === 'FILL' || script?.script.type === 'HOLD';

const WHOLE_PERCENT = 1_000_000n;

/**
 * The quantity of a piece, rounded down to the order's increment; the piece that completes the order uses the remainder.
 * `isFractional`: parts of a share. 0 = the piece rounds to nothing.
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
  const { percent = 0, fixed = 0 } = sumsOf(pieces)[index] ?? {};
  const covered = total * BigInt(percent) + BigInt(fixed) * WHOLE_PERCENT;
  if (covered >= total * WHOLE_PERCENT) return left;
  const part =
    piece.quantity ?? Quantity.ofUnits(Number((total * BigInt(piece.percent ?? 0)) / WHOLE_PERCENT));
  return Quantity.min(isFractional ? part : Quantity.wholePart(part), left);
}

/**
 * The pieces from `next` on after a split (D248): totals up to each piece by `units`, which rounds down; the piece that completes the order
 * takes the rest. Prices by `price`.
 */
export function restatedPieces(
  order: Pick<OrderProgress, 'quantity' | 'filledQuantity'>,
  pieces: readonly ScriptPiece[],
  next: number,
  isFractional: boolean,
  {
    units,
    price,
  }: { readonly units: (value: Quantity) => Quantity; readonly price: (value: Price) => Price },
): readonly ScriptPiece[] {
  const { quantity } = order;
  let { filledQuantity } = order;
  const restated: ScriptPiece[] = [];
  for (let index = next; index < pieces.length && filledQuantity < quantity; index++) {
    const before = units(filledQuantity);
    const size = pieceQuantity({ quantity, filledQuantity }, pieces, index, isFractional);
    filledQuantity = Quantity.add(filledQuantity, size);
    const { price: own, after } = pieces[index] ?? {};
    restated.push({
      ...(filledQuantity < quantity && { quantity: Quantity.subtract(units(filledQuantity), before) }),
      ...(own !== undefined && { price: price(own) }),
      ...(after !== undefined && { after }),
    });
  }
  return restated;
}

/** Script time at which a piece is due: never before that of the preceding piece. */
export const delayUntil = (pieces: readonly ScriptPiece[], index: number): number =>
  sumsOf(pieces)[index]?.delayMs ?? 0;

/** Sums over the pieces of a script up to each of them. */
interface PieceSums {
  readonly percent: number;
  readonly fixed: number;
  readonly delayMs: number;
}

/** Sums of scripts in use, so that an order of a thousand pieces is not summed up a thousand times. */
const knownSums = new WeakMap<readonly ScriptPiece[], readonly PieceSums[]>();

function sumsOf(pieces: readonly ScriptPiece[]): readonly PieceSums[] {
  const known = knownSums.get(pieces);
  if (known !== undefined) return known;
  let sum: PieceSums = { percent: 0, fixed: 0, delayMs: 0 };
  const sums = pieces.map(({ quantity, percent, after }) => {
    // A piece without a size is the whole remainder.
    const share = quantity === undefined ? (percent ?? Number(WHOLE_PERCENT)) : 0;
    const delayMs = Math.max(sum.delayMs, after?.ms ?? 0);
    sum = { percent: sum.percent + share, fixed: sum.fixed + (quantity ?? 0), delayMs };
    return sum;
  });
  knownSums.set(pieces, sums);
  return sums;
}
