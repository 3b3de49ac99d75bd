import type { SharesOf } from '../instruments/shares-of.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { MarginExcess } from './margin-excess.js';
import type { BracketPart, OrderLeg, OrderProgress } from './order.js';
import type { OrderRejection } from './order-rejection.js';
import type { OrderRequest } from './order-request.js';
import type { OrderScript } from './script.js';
import type { Tier } from './tier.js';

/** Change of an order between its acceptance and its executions, as streams name it. */
export type OrderTransition =
  | 'QUEUED'
  /** Only for orders that end while reserving; else part of ACTIVATED. */
  | 'RESERVING'
  /** Reserves the order's requirement and activates it: RESERVING and ACTIVE in one event. */
  | 'ACTIVATED'
  /** Activates an order without a reservation: an exit of a bracket, or an order with a pending cancel. */
  | 'STARTED'
  | 'TRIGGERED'
  | 'REPLACED'
  | 'RESIZED'
  | 'ADJUSTED'
  /** The prices of its exits, which its `bracketConfig` or `ocoConfig` shows, changed. */
  | 'EXITS_CHANGED'
  | 'CANCELING'
  | 'CANCELED'
  | 'EXPIRED'
  | 'REJECTED'
  /** Ends an order in status ERROR, by a script only (D175). */
  | 'FAILED'
  /** Internal: a new price has corrected the reservation. Not streamed. */
  | 'RESERVED'
  /** Internal: the market is away from the net limit of a multi-leg order. Not streamed. */
  | 'RESTED'
  /** Internal: a trailing stop followed the market. Not streamed. */
  | 'TRAILED'
  /** Internal: its script has advanced, paused, or released it to the market. Not streamed. */
  | 'SCRIPTED'
  /** Internal: a short sale is offered above the bid (D179a). Not streamed. */
  | 'OFFERED'
  /** Internal: the auction time has passed, and the official close is still to come (D180). Not streamed. */
  | 'AWAITING_CLOSE'
  /** Internal: an announcement has changed the hours that it waits for (D209). Not streamed. */
  | 'RESCHEDULED';

/** A new order: the request, and what the decision added to it. The rest follows (`progress.ts`). */
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
  readonly coverOthers?: readonly SharesOf[];
  /** Options only: symbol of the underlying. */
  readonly underlying?: string;
  /** Arrival at the market; absent = at once. */
  readonly marketAt?: number;
  /** Trailing stops only: the initial mark. */
  readonly mark?: Price;
  readonly stopPrice?: Price;
  readonly script?: OrderScript;
}

/** A new order that was refused, and is recorded at the request's wish (D276). It is over at once and was never open. */
export interface OrderRejected {
  readonly type: 'OrderRejected';
  readonly number: number;
  readonly tier: Tier;
  /** With its quantity, if it is for an amount of money and there was a price; else the quantity is 0. */
  readonly request: OrderRequest;
  /** Options only: symbol of the underlying. */
  readonly underlying?: string;
  readonly rejection: OrderRejection;
}

/** The event that an order begins with. */
export type OrderPlaced = OrderAccepted | OrderRejected;

/** Fields of the progress that a move changes; null = removed. Fields that follow from the transition are left out. */
export type ProgressChanges = {
  readonly [K in Exclude<keyof OrderProgress, 'status' | 'updatedAt'>]?: OrderProgress[K] | null;
};

/** A move of an order: its transition, and the changes of its progress. */
export interface OrderMoved {
  readonly type: 'OrderMoved';
  readonly order: number;
  readonly transition: OrderTransition;
  readonly changes?: ProgressChanges;
  /** New symbols, if a corporate action has replaced the order's shares or series. */
  readonly renamed?: RenamedOrder;
  /** Remaining script of the order, restated for a split (D248). */
  readonly script?: OrderScript;
}

/** The new symbols of an order: its own, or those of its legs. */
export interface RenamedOrder {
  readonly symbol: string;
  readonly legs?: readonly OrderLeg[];
  /** Symbol of the new underlying of an order in options; absent = as before. */
  readonly underlying?: string;
}
