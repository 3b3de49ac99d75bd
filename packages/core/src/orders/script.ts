import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { OrderProgress, OrderTerms, OrderType, PositionIntent } from './order.js';
import type { AssetClass } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import type { ScriptedRefusal } from './refusal.js';

/** A length of time, with the words in which it was given. */
export interface Delay {
  readonly ms: number;
  readonly text: string;
}

/** An execution of a script. Neither `quantity` nor `percent` = all that is left. */
export interface ScriptPiece {
  readonly quantity?: Quantity;
  /** Of the whole order, in 1/10,000 of a percent: 1,000,000 is all of it. */
  readonly percent?: number;
  /** Absent = the touch. */
  readonly price?: Price;
  /** Open time since the order reached the market; absent = at once. */
  readonly after?: Delay;
}

/** What becomes of what the pieces leave: it goes on as any order, stays ACTIVE and fills nothing, or is canceled. */
export type ScriptRest = 'MARKET' | 'HOLD' | 'CANCEL';

/** What a script makes of an order (D175). */
export type Script =
  /** The create is refused. */
  | { readonly type: 'REJECT'; readonly refusal: ScriptedRefusal }
  /** It is accepted and then REJECTED. */
  | { readonly type: 'REJECT_LATER'; readonly refusal: ScriptedRefusal; readonly after?: Delay }
  /** `rest`: absent = MARKET. */
  | { readonly type: 'FILL'; readonly pieces: readonly ScriptPiece[]; readonly rest?: ScriptRest }
  /** It is at work and fills nothing for this long; absent = until its rule is deleted. */
  | { readonly type: 'HOLD'; readonly lasts?: Delay }
  /** What a cancel by a client does. */
  | { readonly type: 'ON_CANCEL'; readonly effect: 'FILL' | 'IGNORE' | 'REJECT' }
  /** It is accepted and then ends in status ERROR. */
  | { readonly type: 'ERROR'; readonly message?: string };

/** The script of an order, and where it comes from. */
export interface OrderScript {
  readonly script: Script;
  /** The number of the outcome rule; absent = the client order id of the order. */
  readonly outcome?: number;
}

/** How far the script of an order at work has come. */
export interface ScriptRun {
  /** The piece that is next, counted from 0; as many as there are = the rest is held. */
  readonly next: number;
  /** Milliseconds of script time by `since`. */
  readonly elapsed: number;
  /** Since when script time runs; absent while trading is halted. */
  readonly since?: Instant;
  /** When the next piece, or the end of a hold, is due; absent where nothing is to come, or a price is waited for. */
  readonly due?: Instant;
}

/** The orders that an outcome rule is about: all that is given must hold. */
export interface OutcomeMatch {
  readonly portfolioId?: string;
  readonly symbol?: string;
  readonly assetClass?: AssetClass;
  readonly orderType?: OrderType;
  readonly positionIntent?: PositionIntent;
  readonly quantity?: Quantity;
  /** Exact, or a prefix that ends in `*`. */
  readonly clientOrderId?: string;
}

/** A rule by which orders of a simulation are scripted, with what it has done so far (D175). */
export interface OutcomeRule {
  readonly number: number;
  readonly match: OutcomeMatch;
  /** Matching orders that it passes over first. */
  readonly skip: number;
  /** Orders that it then scripts; 0 = no end. */
  readonly times: number;
  readonly script: Script;
  /** Orders that it has passed over. */
  readonly passed: number;
  /** Orders that it has scripted. */
  readonly used: number;
}

/** More than a test suite needs; each order is held against all of them. */
export const MOST_OUTCOMES = 1000;

/** Whether a rule has something left to do. */
export const isLive = ({ times, used }: OutcomeRule): boolean => times === 0 || used < times;

/** Whether a rule is about an order. */
export function matchesOrder(
  match: OutcomeMatch,
  order: Omit<OutcomeMatch, 'clientOrderId'> & Pick<OutcomeMatch, 'clientOrderId'>,
): boolean {
  const { clientOrderId: wanted } = match;
  const id = order.clientOrderId;
  if (wanted !== undefined) {
    const isMatch = wanted.endsWith('*') ? id?.startsWith(wanted.slice(0, -1)) === true : id === wanted;
    if (!isMatch) return false;
  }
  return (
    (match.portfolioId === undefined || match.portfolioId === order.portfolioId) &&
    (match.symbol === undefined || match.symbol === order.symbol) &&
    (match.assetClass === undefined || match.assetClass === order.assetClass) &&
    (match.orderType === undefined || match.orderType === order.orderType) &&
    (match.positionIntent === undefined || match.positionIntent === order.positionIntent) &&
    (match.quantity === undefined || match.quantity === order.quantity)
  );
}

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
