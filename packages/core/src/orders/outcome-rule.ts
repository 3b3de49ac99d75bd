import type { AssetClass } from '../instruments/instrument.js';
import type { Quantity } from '../values/quantity.js';
import type { OrderType, PositionIntent } from './order.js';
import type { Script } from './script.js';

/** Conditions on orders; all of the given ones must hold. */
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

/** A rule by which orders of a simulation are scripted, with its counts so far (D175). */
export interface OutcomeRule {
  readonly number: number;
  readonly match: OutcomeMatch;
  /** Matching orders that it skips first. */
  readonly skip: number;
  /** Orders that it then scripts; 0 = no limit. */
  readonly times: number;
  readonly script: Script;
  /** Orders that it has skipped. */
  readonly passed: number;
  /** Orders that it has scripted. */
  readonly used: number;
}

/** More than a test suite needs; each order is checked against all of them. */
export const MOST_OUTCOMES = 1000;

/** True when a rule can still script orders. */
export const isLive = ({ times, used }: OutcomeRule): boolean => times === 0 || used < times;

/** True when a rule matches an order. */
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
