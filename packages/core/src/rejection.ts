import type { Refusal } from './orders/refusal.js';
import { refusalText } from './orders/refusal.js';
import type { OrderStatus } from './orders/order.js';
import type { Tier } from './orders/tier.js';
import type { Money } from './values/money.js';
import type { TradingDate } from './values/trading-date.js';

/**
 * A refusal: data, not an exception. `commands/plan-order.ts` lists the checks of an order in their precedence; the first
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
  | { readonly code: 'DUPLICATE_CLIENT_ORDER_ID'; readonly message: string; readonly order: number }
  | { readonly code: 'MARGIN_NOT_ELIGIBLE'; readonly message: string; readonly reasons: readonly string[] }
  | { readonly code: 'ORDER_NOT_UPDATABLE'; readonly message: string; readonly status: OrderStatus }
  | { readonly code: 'ACCOUNT_FROZEN'; readonly message: string; readonly accountId?: string }
  /** `symbol`: the leg that nobody lists, of an order of several legs. */
  | { readonly code: 'UNKNOWN_SYMBOL'; readonly message: string; readonly symbol?: string }
  | { readonly code: 'MARGIN_CALL_ACTIVE'; readonly message: string; readonly callAmount: Money }
  | {
      readonly code: 'DAY_TRADE_RESTRICTED';
      readonly message: string;
      readonly dayTradeCount: number;
      /** The first session in which fewer are left. */
      readonly restrictedUntil: TradingDate;
    }
  | Refusal;

/** The sentence of a rejection, as a user reads it. */
export function rejectionText(rejection: Rejection): string {
  switch (rejection.code) {
    case 'INVALID':
      return rejection.messages.join('; ');
    case 'NOT_FOUND':
      return `${rejection.what} not found`;
    case 'BROKER_NOT_ALLOWED':
      return `brokerId must be one of ${rejection.allowed.join(', ')}`;
    case 'DUPLICATE_CLIENT_ORDER_ID':
    case 'MARGIN_NOT_ELIGIBLE':
    case 'ORDER_NOT_UPDATABLE':
    case 'UNKNOWN_SYMBOL':
    case 'MARGIN_CALL_ACTIVE':
    case 'DAY_TRADE_RESTRICTED':
    case 'ACCOUNT_FROZEN':
    case 'FEATURE_NOT_AVAILABLE':
    case 'CONFLICT':
      return rejection.message;
    default:
      return refusalText(rejection);
  }
}
