import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { Instant } from '../values/instant.js';
import type { ScriptedRefusal } from './refusal.js';

/** A length of time, with the text in which it was given. */
export interface Delay {
  readonly ms: number;
  readonly text: string;
}

/** An execution of a script. Neither `quantity` nor `percent` = the whole remainder. */
export interface ScriptPiece {
  readonly quantity?: Quantity;
  /** Part of the whole order, in 1/10,000 of a percent: 1,000,000 is all of it. */
  readonly percent?: number;
  /** Absent = the touch. */
  readonly price?: Price;
  /** Open time since the order reached the market; absent = at once. */
  readonly after?: Delay;
}

/** Fate of the remainder after the pieces: it continues as an ordinary order, stays ACTIVE without fills, or is canceled. */
type ScriptRest = 'MARKET' | 'HOLD' | 'CANCEL';

/** The scripted behavior of an order (D175). */
export type Script =
  /** The create is refused. */
  | { readonly type: 'REJECT'; readonly refusal: ScriptedRefusal }
  /** Accepts the order, then rejects it. */
  | { readonly type: 'REJECT_LATER'; readonly refusal: ScriptedRefusal; readonly after?: Delay }
  /** `rest`: absent = MARKET. */
  | { readonly type: 'FILL'; readonly pieces: readonly ScriptPiece[]; readonly rest?: ScriptRest }
  /** Time for which it is active without fills; absent = until its rule is deleted. */
  | { readonly type: 'HOLD'; readonly lasts?: Delay }
  /** The effect of a cancel by a client. */
  | { readonly type: 'ON_CANCEL'; readonly effect: 'FILL' | 'IGNORE' | 'REJECT' }
  /** Accepts the order, then ends it with status ERROR. */
  | { readonly type: 'ERROR'; readonly message?: string };

/** The script of an order, and its origin. */
export interface OrderScript {
  readonly script: Script;
  /** The number of the outcome rule; absent = the client order id of the order. */
  readonly outcome?: number;
}

/** Progress of the script of an order at work. */
export interface ScriptRun {
  /** The next piece, counted from 0; the number of pieces = the rest is held. */
  readonly next: number;
  /** Milliseconds of script time by `since`. */
  readonly elapsed: number;
  /** Start of the running script time; absent while trading is halted. */
  readonly since?: Instant;
  /** Due time of the next piece or the end of a hold; absent if neither is to come, or while waiting for a price. */
  readonly due?: Instant;
}
