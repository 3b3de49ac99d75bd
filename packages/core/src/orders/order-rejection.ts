import type { Instant } from '../values/instant.js';
import type { Money } from '../values/money.js';
import type { TradingDate } from '../values/trading-date.js';
import type { CapExceeded } from './agent-caps.js';
import type { Refusal } from './refusal.js';
import type { Tier } from './tier.js';

/** Rules of a competition that may refuse an order or eliminate an entry, by their names in the API (D194, D195). */
export type CompetitionRule =
  | 'assetClasses'
  | 'symbols'
  | 'shortSelling'
  | 'optionLevel'
  | 'minPrice'
  | 'maxPositionPercent'
  | 'maxOrdersPerMinute'
  | 'maxDailyLossPercent'
  | 'trailingDrawdownPercent';

/** The refusal of an order by a rule of its competition. */
export interface CompetitionRuleBroken {
  readonly code: 'COMPETITION_RULE';
  readonly message: string;
  readonly rule: CompetitionRule;
  /** Percent, dollars or orders. */
  readonly allowed?: number;
  readonly asked?: number;
  readonly symbols?: readonly string[];
}

/**
 * A refusal of a new order by the brokerage: its rules, the market, the portfolio's funds, or limits set for the requester. An order so refused
 * is recorded on request (D276). Invalid requests are not among them.
 */
export type OrderRejection =
  | {
      readonly code: 'FEATURE_NOT_AVAILABLE';
      readonly message: string;
      readonly currentTier: Tier;
      readonly requiredTier: Tier;
    }
  | { readonly code: 'ACCOUNT_FROZEN'; readonly message: string; readonly accountId?: string }
  | {
      readonly code: 'MARGIN_CALL_ACTIVE';
      readonly message: string;
      readonly callAmount: Money;
      /** Rolls only: the contracts that the order closes (D269). */
      readonly closingLegs?: readonly string[];
    }
  /** The order cannot wait for the end of a halt (D178). */
  | {
      readonly code: 'TRADING_HALTED';
      readonly message: string;
      readonly reason: string;
      readonly until?: Instant;
    }
  /** The order's auction accepts no orders now (D180). Both are ISO 8601 in exchange time. */
  | {
      readonly code: 'AUCTION_CLOSED';
      readonly message: string;
      readonly cutoff: string;
      readonly opensAt: string;
    }
  | {
      readonly code: 'DAY_TRADE_RESTRICTED';
      readonly message: string;
      readonly dayTradeCount: number;
      /** The first session in which fewer are left. */
      readonly restrictedUntil: TradingDate;
      /** Rolls only: the contracts that the order closes (D269). */
      readonly closingLegs?: readonly string[];
    }
  | CapExceeded
  | CompetitionRuleBroken
  | Refusal;

/** Every code of an `OrderRejection`; the type of the table keeps it complete. */
const RECORDED: Readonly<Record<OrderRejection['code'], true>> = {
  FEATURE_NOT_AVAILABLE: true,
  ACCOUNT_FROZEN: true,
  MARGIN_CALL_ACTIVE: true,
  TRADING_HALTED: true,
  AUCTION_CLOSED: true,
  DAY_TRADE_RESTRICTED: true,
  CAP_EXCEEDED: true,
  COMPETITION_RULE: true,
  INSUFFICIENT_FUNDS: true,
  INSUFFICIENT_POSITION: true,
  OPTION_LEVEL: true,
  SCRIPTED: true,
  MARKET_CLOSED: true,
  INSTRUMENT_NOT_TRADABLE: true,
  NOT_SHORTABLE: true,
  POSITION_CONFLICT: true,
  BROKER_RESTRICTION: true,
  STALE_MARKET_DATA: true,
};

/** True when an order that is refused so can be recorded. A script refuses as the code that it shows does. */
export const isOrderRejection = (rejection: { readonly code: string }): rejection is OrderRejection =>
  Object.hasOwn(RECORDED, rejection.code) &&
  !(rejection.code === 'SCRIPTED' && 'shownAs' in rejection && isAboutRequest(rejection.shownAs));

/** Codes of scripts that mean the request, not the order. */
const isAboutRequest = (code: unknown): boolean =>
  code === 'UNKNOWN_SYMBOL' || code === 'DUPLICATE_CLIENT_ORDER_ID';
