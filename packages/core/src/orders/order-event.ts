import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { MarginExcess } from './margin-excess.js';
import type { BracketPart, OrderLeg, OrderProgress } from './order.js';
import type { OrderRequest } from './order-request.js';
import type { OrderScript } from './script.js';
import type { Tier } from './tier.js';

/** What happened to an order between its acceptance and its executions, as streams name it. */
export type OrderTransition =
  | 'QUEUED'
  /** Where it comes to nothing after all; else part of ACTIVATED. */
  | 'RESERVING'
  /** What it needs is set aside and it goes to work: RESERVING and ACTIVE, in one. */
  | 'ACTIVATED'
  /** It goes to work without setting anything aside: an exit of a bracket, an order whose cancel is on its way. */
  | 'STARTED'
  | 'TRIGGERED'
  | 'REPLACED'
  | 'RESIZED'
  | 'ADJUSTED'
  | 'CANCELING'
  | 'CANCELED'
  | 'EXPIRED'
  | 'REJECTED'
  /** It ends in status ERROR, which only a script orders (D175). */
  | 'FAILED'
  /** Internal: what was set aside is set right by a new price. Not streamed. */
  | 'RESERVED'
  /** Internal: the market is away from the net limit of an order of several legs. Not streamed. */
  | 'RESTED'
  /** Internal: a trailing stop followed the market. Not streamed. */
  | 'TRAILED'
  /** Internal: its script has come farther, stands still, or leaves it to the market. Not streamed. */
  | 'SCRIPTED'
  /** Internal: a short sale is offered above the bid (D179a). Not streamed. */
  | 'OFFERED'
  /** Internal: the bell has rung, and the source is still to tell the official close (D180). Not streamed. */
  | 'AWAITING_CLOSE';

/** A new order: what was asked for, and what the decision added to it. Everything else follows (`progress.ts`). */
export interface OrderAccepted {
  readonly type: 'OrderAccepted';
  readonly number: number;
  readonly tier: Tier;
  readonly request: OrderRequest;
  readonly bracket?: BracketPart;
  /** Absent = nothing. */
  readonly reserved?: Money;
  readonly takes?: MarginExcess;
  readonly cover?: Quantity;
  /** Of an option order: what the option is on. */
  readonly underlying?: string;
  /** When it reaches the market; absent = at once. */
  readonly marketAt?: number;
  /** Of a trailing stop: where it starts. */
  readonly mark?: Price;
  readonly stopPrice?: Price;
  readonly script?: OrderScript;
}

/** Fields of the progress that a move leaves different; null = not there any more. What follows from the transition is left out. */
export type ProgressChanges = {
  readonly [K in Exclude<keyof OrderProgress, 'status' | 'updatedAt'>]?: OrderProgress[K] | null;
};

/** A move of an order: its transition, and what of its progress is different. */
export interface OrderMoved {
  readonly type: 'OrderMoved';
  readonly order: number;
  readonly transition: OrderTransition;
  readonly changes?: ProgressChanges;
  /** Where a split has made another series of what it trades. */
  readonly renamed?: RenamedOrder;
}

/** What an order trades from now on: under its own symbol, or by its legs. */
export interface RenamedOrder {
  readonly symbol: string;
  readonly legs?: readonly OrderLeg[];
}
