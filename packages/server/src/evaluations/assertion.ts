/** The grammar of tasks (D211), as admission has validated it: figures are dollars, shares and contracts. */
import type { AssetClass, OrderType, PositionIntent } from '@sandpit/core';

export interface AmountBounds {
  readonly min?: number;
  readonly max?: number;
}

/** Positions in a symbol, in options on an underlying and futures of a root, or all. */
export interface WhichPositions {
  readonly symbol?: string;
  readonly underlying?: string;
}

interface PositionCondition extends WhichPositions, AmountBounds {
  readonly assetClass?: AssetClass;
  readonly quantity?: number;
}

export interface OrderMatch {
  readonly portfolioId?: string;
  readonly symbol?: string;
  readonly assetClass?: AssetClass;
  readonly orderType?: OrderType;
  readonly positionIntent?: PositionIntent;
  readonly quantity?: number;
  readonly clientOrderId?: string;
}

interface OrderCondition extends AmountBounds {
  readonly match: OrderMatch;
  readonly count?: number;
}

/** Exactly one field is present. */
export interface Condition {
  readonly position?: PositionCondition;
  readonly noPosition?: WhichPositions;
  readonly order?: OrderCondition;
  readonly cash?: AmountBounds;
  readonly equity?: AmountBounds;
  readonly realizedPnl?: AmountBounds;
  readonly marginCall?: { readonly open?: boolean; readonly met?: true };
}

/** A condition, or several of which one must hold, and when. */
export interface Assertion extends Condition {
  readonly when: 'end' | 'always' | 'ever';
  /** ISO 8601, by the recording; absent = start and end of the market. */
  readonly from?: string;
  readonly until?: string;
  /** Number of the portfolio in the order of opening; absent = all. */
  readonly portfolio?: number;
  readonly anyOf?: readonly Condition[];
}

export interface Task {
  readonly name: string;
  readonly instructions: string;
  readonly assert: readonly Assertion[];
}
