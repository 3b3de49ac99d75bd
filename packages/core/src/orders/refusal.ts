import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';

/**
 * What an order can run into, when it is placed and later: the code, the figures, and a sentence where the code does not say it all.
 * An order that was acknowledged keeps it as its `rejectReason`.
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
      /** The leg that it is about, of an order of several legs. */
      readonly symbol?: string;
    };

/** Whatever is short (D152). */
export interface InsufficientFunds {
  readonly code: 'INSUFFICIENT_FUNDS';
  /** What may be spent without borrowing. */
  readonly availableCash: Money;
  /** Of an order: its worst cost, charges included. */
  readonly requiredAmount: Money;
  /** Of orders in MARGIN portfolios, with the next. */
  readonly availableBuyingPower?: Money;
  readonly requiredBuyingPower?: Money;
}

/** The refusal of what needs more cash than there is. Never shown as less than nothing. */
export const cashRefusal = (available: Money, requiredAmount: Money): InsufficientFunds => ({
  code: 'INSUFFICIENT_FUNDS',
  availableCash: Money.max(available, Money.zero),
  requiredAmount: Money.bounded(requiredAmount),
});

/** The refusal of what takes a higher option level (D80). */
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
    case 'OPTION_LEVEL':
    case 'INSTRUMENT_NOT_TRADABLE':
    case 'NOT_SHORTABLE':
    case 'POSITION_CONFLICT':
    case 'BROKER_RESTRICTION':
    case 'STALE_MARKET_DATA':
      return refusal.message;
  }
}
