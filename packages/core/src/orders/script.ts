import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
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
type ScriptRest = 'MARKET' | 'HOLD' | 'CANCEL';

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
