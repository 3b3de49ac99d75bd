import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';

/**
 * A refusal of an order, when it is placed or later: the code, the figures, and a sentence if the code does not say it all.
 * An acknowledged order keeps it as its `rejectReason`.
 */
export type Refusal =
  | InsufficientFunds
  | {
      readonly code: 'INSUFFICIENT_POSITION';
      readonly availableQuantity: Quantity;
      readonly requiredQuantity: Quantity;
    }
  | {
      readonly code: 'OPTION_LEVEL';
      readonly message: string;
      readonly currentLevel: number;
      readonly requiredLevel: number;
    }
  | ScriptedRefusal
  /** `nextOpen` is ISO 8601 in exchange time with its offset. */
  | { readonly code: 'MARKET_CLOSED'; readonly nextOpen: string }
  | {
      readonly code:
        | 'INSTRUMENT_NOT_TRADABLE'
        | 'NOT_SHORTABLE'
        | 'POSITION_CONFLICT'
        | 'BROKER_RESTRICTION'
        | 'STALE_MARKET_DATA';
      readonly message: string;
      /** The affected leg of a multi-leg order. */
      readonly symbol?: string;
    };

/** The refusals of orders that a script may give (D31, D152). */
export const SCRIPTED_CODES = [
  'INSUFFICIENT_FUNDS',
  'INSUFFICIENT_POSITION',
  'MARKET_CLOSED',
  'TRADING_HALTED',
  'AUCTION_CLOSED',
  'UNKNOWN_SYMBOL',
  'INSTRUMENT_NOT_TRADABLE',
  'NOT_SHORTABLE',
  'POSITION_CONFLICT',
  'OPTION_LEVEL',
  'DAY_TRADE_RESTRICTED',
  'MARGIN_CALL_ACTIVE',
  'ACCOUNT_FROZEN',
  'BROKER_RESTRICTION',
  'STALE_MARKET_DATA',
  'DUPLICATE_CLIENT_ORDER_ID',
] as const;
export type ScriptedCode = (typeof SCRIPTED_CODES)[number];

/** A refusal by a script (D175). It is shown under the code that the script names. */
export interface ScriptedRefusal {
  readonly code: 'SCRIPTED';
  readonly shownAs: ScriptedCode | 'SCRIPTED_ERROR';
  /** Absent = the sentence of the code. */
  readonly message?: string;
  /** Details as the API shows them, by their names. */
  readonly figures?: Readonly<Record<string, string | number>>;
}

const SCRIPTED_TEXTS: Readonly<Record<ScriptedRefusal['shownAs'], string>> = {
  INSUFFICIENT_FUNDS: 'Insufficient funds',
  INSUFFICIENT_POSITION: 'Insufficient position',
  MARKET_CLOSED: 'Market is closed',
  TRADING_HALTED: 'Trading is halted',
  AUCTION_CLOSED: 'The auction accepts no more orders',
  UNKNOWN_SYMBOL: 'Unknown symbol',
  INSTRUMENT_NOT_TRADABLE: 'The instrument cannot be traded',
  NOT_SHORTABLE: 'The instrument cannot be sold short',
  POSITION_CONFLICT: 'The portfolio holds the opposite position',
  OPTION_LEVEL: 'The option level does not allow the order',
  DAY_TRADE_RESTRICTED: 'Day-trading rules forbid the order',
  MARGIN_CALL_ACTIVE: 'The portfolio has an open margin call',
  ACCOUNT_FROZEN: 'The account is frozen: new orders are not accepted',
  BROKER_RESTRICTION: 'The broker does not offer the order',
  STALE_MARKET_DATA: 'The latest quote is too old',
  DUPLICATE_CLIENT_ORDER_ID: 'clientOrderId is already used by another order of this portfolio',
  SCRIPTED_ERROR: 'The order failed',
};

/** Insufficient cash or buying power (D152). */
export interface InsufficientFunds {
  readonly code: 'INSUFFICIENT_FUNDS';
  /** Amount that may be spent without borrowing. */
  readonly availableCash: Money;
  /** Worst cost of the order, charges included. */
  readonly requiredAmount: Money;
  /** Orders in MARGIN portfolios only, with the next field. */
  readonly availableBuyingPower?: Money;
  readonly requiredBuyingPower?: Money;
  /** Rolls only: the contracts that the order closes (D269). */
  readonly closingLegs?: readonly string[];
}

/** The refusal of a request that requires more cash than there is. The available amount is never shown below 0. */
export const cashRefusal = (available: Money, requiredAmount: Money): InsufficientFunds => ({
  code: 'INSUFFICIENT_FUNDS',
  availableCash: Money.max(available, Money.zero),
  requiredAmount: Money.bounded(requiredAmount),
});

/** The refusal of a request that requires a higher option level (D80). */
export const levelRefusal = (currentLevel: number, requiredLevel: number): Refusal => ({
  code: 'OPTION_LEVEL',
  message: `Option level ${requiredLevel} is required, the portfolio has level ${currentLevel}`,
  currentLevel,
  requiredLevel,
});

/** The sentence of a refusal, as a user reads it. */
export function refusalText(refusal: Refusal): string {
  switch (refusal.code) {
    case 'INSUFFICIENT_FUNDS':
      return 'Insufficient funds';
    case 'INSUFFICIENT_POSITION':
      return 'Insufficient position';
    case 'MARKET_CLOSED':
      return 'Market is closed';
    case 'SCRIPTED':
      return refusal.message ?? SCRIPTED_TEXTS[refusal.shownAs];
    case 'OPTION_LEVEL':
    case 'INSTRUMENT_NOT_TRADABLE':
    case 'NOT_SHORTABLE':
    case 'POSITION_CONFLICT':
    case 'BROKER_RESTRICTION':
    case 'STALE_MARKET_DATA':
      return refusal.message;
  }
}
