import type { CompetitionNotRunning } from './competitions/competition.js';
import type { OrderRejection } from './orders/order-rejection.js';
import { refusalText } from './orders/refusal.js';
import type { OrderStatus } from './orders/order.js';
import type { Money } from './values/money.js';
import type { TradingDate } from './values/trading-date.js';

/** An obstacle to closing a portfolio (D212). */
export type CloseObstacle =
  | { readonly code: 'POSITIONS' | 'OPEN_ORDERS'; readonly count: number }
  /** `settlesOn`: the last settlement date; absent if the next daily settlement of futures pays it. */
  | { readonly code: 'UNSETTLED_CASH'; readonly amount: Money; readonly settlesOn?: TradingDate }
  /** Symbols with shares to be delivered or received. */
  | { readonly code: 'UNDELIVERED'; readonly count: number; readonly settlesOn: TradingDate }
  | { readonly code: 'LOAN'; readonly amount: Money }
  | { readonly code: 'MARGIN_CALL'; readonly count: number; readonly amount: Money }
  /** Interest and borrow fees that the settled cash does not pay. */
  | { readonly code: 'ACCRUALS'; readonly amount: Money; readonly availableCash: Money };

/**
 * A refusal: data, not an exception. `commands/orders/plan-order.ts` lists the checks of an order in their precedence; the first
 * that fails is the answer.
 */
export type Rejection =
  /** An invalid request, one message per violated rule. */
  | { readonly code: 'INVALID'; readonly messages: readonly string[] }
  | {
      readonly code: 'NOT_FOUND';
      readonly what:
        'Account' | 'Portfolio' | 'Order' | 'Instrument' | 'Corporate action' | 'Halt' | 'Outcome' | 'Alert';
    }
  | { readonly code: 'CONFLICT'; readonly message: string }
  | { readonly code: 'PORTFOLIO_NOT_EMPTY'; readonly reasons: readonly CloseObstacle[] }
  | { readonly code: 'BROKER_NOT_ALLOWED'; readonly allowed: readonly string[] }
  | { readonly code: 'DUPLICATE_CLIENT_ORDER_ID'; readonly message: string; readonly order: number }
  | { readonly code: 'MARGIN_NOT_ELIGIBLE'; readonly message: string; readonly reasons: readonly string[] }
  | { readonly code: 'ORDER_NOT_UPDATABLE'; readonly message: string; readonly status: OrderStatus }
  /** `symbol`: the unknown leg of a multi-leg order. */
  | { readonly code: 'UNKNOWN_SYMBOL'; readonly message: string; readonly symbol?: string }
  /** An adjusted contract that is not listed: its symbol does not determine its deliverable (D245). */
  | { readonly code: 'UNKNOWN_DELIVERABLE'; readonly message: string; readonly symbol: string }
  | CompetitionNotRunning
  | OrderRejection;

/** The sentence of a rejection, as a user reads it. */
export function rejectionText(rejection: Rejection): string {
  switch (rejection.code) {
    case 'INVALID':
      return rejection.messages.join('; ');
    case 'NOT_FOUND':
      return `${rejection.what} not found`;
    case 'BROKER_NOT_ALLOWED':
      return `brokerId must be one of ${rejection.allowed.join(', ')}`;
    case 'PORTFOLIO_NOT_EMPTY':
      return `The portfolio cannot be closed: ${rejection.reasons.map(({ code }) => OBSTACLES[code]).join(', ')}`;
    case 'DUPLICATE_CLIENT_ORDER_ID':
    case 'MARGIN_NOT_ELIGIBLE':
    case 'ORDER_NOT_UPDATABLE':
    case 'UNKNOWN_SYMBOL':
    case 'UNKNOWN_DELIVERABLE':
    case 'MARGIN_CALL_ACTIVE':
    case 'DAY_TRADE_RESTRICTED':
    case 'TRADING_HALTED':
    case 'AUCTION_CLOSED':
    case 'ACCOUNT_FROZEN':
    case 'FEATURE_NOT_AVAILABLE':
    case 'CONFLICT':
    case 'CAP_EXCEEDED':
    case 'COMPETITION_RULE':
    case 'COMPETITION_NOT_RUNNING':
      return rejection.message;
    default:
      return refusalText(rejection);
  }
}

const OBSTACLES: Readonly<Record<CloseObstacle['code'], string>> = {
  POSITIONS: 'it holds positions',
  OPEN_ORDERS: 'it has open orders',
  UNSETTLED_CASH: 'cash has not settled',
  UNDELIVERED: 'shares are not delivered yet',
  LOAN: 'it owes a loan',
  MARGIN_CALL: 'a margin call is open',
  ACCRUALS: 'its cash does not pay the accrued interest and fees',
};
