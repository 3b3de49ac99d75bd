import type { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';

/**
 * What an order can run into, when it is placed and later: the code, the figures, and a sentence where the code does not say it all.
 * An order that was acknowledged keeps it as its `rejectReason`.
 */
export type Refusal =
  | { readonly code: 'INSUFFICIENT_FUNDS'; readonly availableCash: Money; readonly requiredAmount: Money }
  | {
      readonly code: 'INSUFFICIENT_BUYING_POWER';
      readonly availableBuyingPower: Money;
      readonly requiredBuyingPower: Money;
    }
  | {
      readonly code: 'INSUFFICIENT_POSITION';
      readonly availableQuantity: Quantity;
      readonly requiredQuantity: Quantity;
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
    };

/** The sentence of a refusal, as a user reads it. */
export function refusalText(refusal: Refusal): string {
  switch (refusal.code) {
    case 'INSUFFICIENT_FUNDS':
      return 'Insufficient funds';
    case 'INSUFFICIENT_BUYING_POWER':
      return 'Insufficient buying power';
    case 'INSUFFICIENT_POSITION':
      return 'Insufficient position';
    case 'MARKET_CLOSED':
      return 'Market is closed';
    case 'INSTRUMENT_NOT_TRADABLE':
    case 'NOT_SHORTABLE':
    case 'POSITION_CONFLICT':
    case 'BROKER_RESTRICTION':
    case 'STALE_MARKET_DATA':
      return refusal.message;
  }
}
