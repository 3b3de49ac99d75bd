import type { Money } from './values/money.js';
import type { Quantity } from './values/quantity.js';

export type Tier = 'BASIC' | 'PRO' | 'ENTERPRISE';

/**
 * A refusal: data, not an exception. `submit-order.ts` lists the checks in their order of precedence; the first
 * that fails is the answer.
 */
export type Rejection =
  /** What was sent does not make sense, one message per rule. */
  | { readonly code: 'INVALID'; readonly messages: readonly string[] }
  | {
      readonly code: 'NOT_FOUND';
      readonly what: 'Account' | 'Portfolio' | 'Order' | 'Instrument' | 'Corporate action';
    }
  | { readonly code: 'CONFLICT'; readonly message: string }
  | {
      readonly code: 'FEATURE_NOT_AVAILABLE';
      readonly message: string;
      readonly currentTier: Tier;
      readonly requiredTier: Tier;
    }
  | { readonly code: 'BROKER_NOT_ALLOWED'; readonly allowed: readonly string[] }
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
  | { readonly code: 'DUPLICATE_CLIENT_ORDER_ID'; readonly message: string; readonly orderId: string }
  | { readonly code: 'MARGIN_NOT_ELIGIBLE'; readonly message: string; readonly reasons: readonly string[] }
  | { readonly code: 'ACCOUNT_FROZEN'; readonly message: string; readonly accountId?: string }
  | {
      readonly code:
        | 'UNKNOWN_SYMBOL'
        | 'INSTRUMENT_NOT_TRADABLE'
        | 'NOT_SHORTABLE'
        | 'POSITION_CONFLICT'
        | 'BROKER_RESTRICTION'
        | 'ORDER_NOT_UPDATABLE'
        | 'STALE_MARKET_DATA';
      readonly message: string;
    };

/** The sentence of a rejection, as a user reads it. */
export function rejectionText(rejection: Rejection): string {
  switch (rejection.code) {
    case 'INVALID':
      return rejection.messages.join('; ');
    case 'NOT_FOUND':
      return `${rejection.what} not found`;
    case 'BROKER_NOT_ALLOWED':
      return `brokerId must be one of ${rejection.allowed.join(', ')}`;
    case 'INSUFFICIENT_FUNDS':
      return 'Insufficient funds';
    case 'INSUFFICIENT_BUYING_POWER':
      return 'Insufficient buying power';
    case 'INSUFFICIENT_POSITION':
      return 'Insufficient position';
    case 'MARKET_CLOSED':
      return 'Market is closed';
    default:
      return rejection.message;
  }
}
