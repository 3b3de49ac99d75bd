import { isForShares } from '../instruments/instrument.js';
import type { AssetClass } from '../instruments/instrument.js';
import type { SharesOf } from '../instruments/shares-of.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { Queued } from '../values/priority-queue.js';
import { greatestCommonDivisor } from '../values/scaled.js';
import { MarginExcess } from './margin-excess.js';
import type { OrderRejection } from './order-rejection.js';
import type { Refusal } from './refusal.js';
import type { OrderScript, ScriptRun } from './script.js';
import type { Tier } from './tier.js';
import type { TradingDate } from '../values/trading-date.js';

export type OrderType = 'MARKET' | 'LIMIT' | 'STOP' | 'STOP_LIMIT' | 'TRAILING_STOP' | 'TRAILING_STOP_LIMIT';
export type PositionIntent = 'BUY_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_OPEN' | 'SELL_TO_CLOSE';
export type Side = 'BUY' | 'SELL';
export type TimeInForce = 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'GTD' | 'OPG' | 'CLS';
/** Trading hours of an order; EXTENDED includes the regular session. */
export type OrderSession = 'REGULAR' | 'EXTENDED';
export type LatencyProfile = 'RETAIL' | 'INSTITUTIONAL' | 'COLOCATED' | 'CUSTOM';

export type OrderStatus =
  | 'CREATED'
  | 'PENDING'
  | 'PENDING_MARKET_OPEN'
  | 'RESERVING'
  | 'ACTIVE'
  | 'FILLED'
  | 'CANCELING'
  | 'CANCELED'
  | 'REJECTED'
  | 'ERROR';

export type CancelReason =
  | 'USER'
  | 'EXPIRED'
  | 'IOC_REMAINDER'
  | 'FOK_NOT_FILLABLE'
  | 'OCO'
  | 'RESET'
  | 'MARGIN_CALL'
  | 'BROKER'
  | 'CORPORATE_ACTION'
  | 'INSUFFICIENT_FUNDS'
  | 'STALE_MARKET_DATA'
  | 'TRADING_HALTED'
  | 'SCRIPTED'
  | 'COMPETITION'
  | 'INSTRUMENT_EXPIRED';

/** Reason for a house order: a margin call, or the end of a competition entry. */
export type HouseOrigin = 'LIQUIDATION' | 'COMPETITION';

/** Exits of a bracket order (D27). At least one of the two is set. */
export interface BracketConfig {
  readonly profitTarget?: { readonly orderType: 'LIMIT'; readonly limitPrice: Price };
  readonly stopLoss?: {
    readonly orderType: 'STOP' | 'STOP_LIMIT';
    readonly stopPrice: Price;
    readonly limitPrice?: Price;
  };
  /** Time in force of the exits; absent = GTC. */
  readonly timeInForce?: 'DAY' | 'GTC';
}

/** The second order of a pair that a closing LIMIT order leads (D167). An execution of one reduces the other, and both end together. */
export interface OcoConfig {
  readonly stopLoss: {
    readonly orderType: 'STOP' | 'STOP_LIMIT';
    readonly stopPrice: Price;
    readonly limitPrice?: Price;
  };
}

/** One leg of a multi-leg order, as it was sent. */
export interface OrderLeg {
  readonly optionSymbol: string;
  readonly positionIntent: PositionIntent;
  readonly quantity: Quantity;
}

/** End of a GTD order, with the user's text, which is shown. */
export interface GoodTill {
  /** A New York date, meaning its close, or an instant. */
  readonly until: TradingDate | Instant;
  readonly text: string;
}

/** The part of an order that does not change, except option symbols after splits. */
export interface OrderTerms {
  /** Running number of the order in its simulation: its identity inside, and the order of creation. Outside it has an id (`values/ids.ts`). */
  readonly number: number;
  readonly accountId: string;
  readonly portfolioId: string;
  readonly tier: Tier;
  readonly symbol: string;
  readonly assetClass: AssetClass;
  /** Options only: symbol of the underlying. */
  readonly underlying: string | undefined;
  readonly orderType: OrderType;
  readonly positionIntent: PositionIntent;
  readonly session: OrderSession;
  /** Distance of a trailing stop from its mark, in price. */
  readonly trailingAmount: Price | undefined;
  /** Distance of a trailing stop from its mark, in 1/10,000 of a percent (5 % = 50,000). */
  readonly trailingPercent: number | undefined;
  readonly latencyProfile: LatencyProfile | undefined;
  readonly latencyMs: number | undefined;
  readonly clientOrderId: string | undefined;
  /** Why it was placed (D207). */
  readonly notes: string | undefined;
  readonly bracket: BracketPart | undefined;
  /** Orders for an amount only (D168): their quantity follows from the execution price. */
  readonly notional: Money | undefined;
  readonly strategy: string | undefined;
  readonly legs: readonly OrderLeg[] | undefined;
  /** House orders only: why the broker placed it (D120). */
  readonly origin: HouseOrigin | undefined;
  /** The agent whose token placed it. */
  readonly agent: string | undefined;
  /** Script that a test has set for the order (D175). */
  readonly script: OrderScript | undefined;
  readonly createdAt: Instant;
}

/**
 * Role of an order in a bracket: the entry, with its configuration and the numbers of its exits, or one of the exits. In a pair of closing
 * orders without an entry: the limit order that leads, or the stop that came with it.
 */
export type BracketPart =
  | { readonly part: 'ENTRY'; readonly config: BracketConfig; readonly exits: readonly number[] }
  | { readonly part: 'PROFIT_TARGET' | 'STOP_LOSS'; readonly entry: number; readonly sibling?: number }
  /** Without a sibling if it was refused. */
  | { readonly part: 'OCO_LIMIT'; readonly config: OcoConfig; readonly sibling?: number }
  | { readonly part: 'OCO_STOP'; readonly sibling: number };

/** The order that an order was created with and becomes active with: for an exit its entry, for the stop of a pair the limit. */
export function leaderOf(bracket: BracketPart | undefined): number | undefined {
  switch (bracket?.part) {
    case 'PROFIT_TARGET':
    case 'STOP_LOSS':
      return bracket.entry;
    case 'OCO_STOP':
      return bracket.sibling;
    case 'ENTRY':
    case 'OCO_LIMIT':
    case undefined:
      return undefined;
  }
}

/** A regulatory fee, in whole cents. */
export interface Fee {
  readonly name: string;
  readonly amount: Money;
}

/** Executions of an order on one trade date and the fees charged for them. Shares: sales only. Contracts: both sides. */
export interface FeeDay {
  readonly date: TradingDate;
  readonly quantity: Quantity;
  readonly value: Money;
  /** Multi-leg orders only: the sold part. */
  readonly sold?: { readonly quantity: Quantity; readonly value: Money };
  readonly fees: readonly Fee[];
}

/**
 * The part of an order that changes. Every field is always present, so that all orders have one hidden class: a copy that gained a field
 * would be slow to create and would slow down all later reads.
 */
export interface OrderProgress {
  readonly status: OrderStatus;
  readonly quantity: Quantity;
  readonly limitPrice: Price | undefined;
  /** Trailing stops: the current stop. */
  readonly stopPrice: Price | undefined;
  readonly timeInForce: TimeInForce;
  /** GTD orders only; `expiresAt` is the resulting instant. */
  readonly goodTillDate: GoodTill | undefined;
  readonly filledQuantity: Quantity;
  /** Average over all executions, rounded half up to 10^-8. */
  readonly averagePrice: Price | undefined;
  /** Exact Σ price × quantity (10^-14 dollars, decimal text), once there are executions at different prices. */
  readonly notionalSum: string | undefined;
  /** Σ of the values of all executions. */
  readonly filledValue: Money;
  /** Commission charged so far. */
  readonly commission: Money;
  /** Regulatory fees charged so far, by name. */
  readonly fees: readonly Fee[];
  /** Open orders with cumulative fees only: executions on the latest trade date. Regulatory fees accumulate per trade date. */
  readonly feeDay: FeeDay | undefined;
  /** Cash reserved for the unfilled part of a purchase. */
  readonly reserved: Money;
  /** Margin impact of the rest of an opening order in a MARGIN portfolio. */
  readonly takes: MarginExcess;
  /** Shares or contracts reserved for a closing order. */
  readonly reservedQuantity: Quantity;
  /** Shares of the underlying reserved as collateral of the calls that it sells (D81). */
  readonly cover: Quantity;
  /** Shares of other symbols that these calls deliver too, by symbol (D208); undefined = none. */
  readonly coverOthers: readonly SharesOf[] | undefined;
  readonly updatedAt: Instant;
  /** Release of a queued order to the market. */
  readonly releaseAt: Instant | undefined;
  /** Arrival of the order at the market. */
  readonly marketAt: Instant | undefined;
  /** Arrival of a pending cancel at the market. */
  readonly cancelAt: Instant | undefined;
  readonly expiresAt: Instant | undefined;
  /** Position in the queue of orders that reached the market at the same price. */
  readonly arrival: number | undefined;
  /** True after a stop was triggered. */
  readonly triggered: true | undefined;
  /**
   * Time at which the market was first away from its limit: from then until its session ends it fills at its limit, not at the touch
   * (D128).
   */
  readonly restingSince: Instant | undefined;
  /** The best last price since acceptance that a trailing stop follows. */
  readonly mark: Price | undefined;
  /** A trailing stop's distance, if a split has changed it from that of the terms. */
  readonly trailingAmount: Price | undefined;
  /** Price of a short sale that may not execute at the bid (D179a). */
  readonly offer: Price | undefined;
  /** Progress of its script while that keeps it from the market. */
  readonly scriptRun: ScriptRun | undefined;
  /** Number of replacements; undefined = none. */
  readonly replacements: number | undefined;
  /** Time of the last execution of a filled order. */
  readonly executedAt: Instant | undefined;
  readonly canceledAt: Instant | undefined;
  readonly cancelReason: CancelReason | undefined;
  readonly rejectReason: Refusal | undefined;
  /** Reason for which it was never accepted (D276). */
  readonly rejection: OrderRejection | undefined;
}

/** Reservations of an open order, except shares. */
export type SetAside = Pick<OrderProgress, 'reserved' | 'takes' | 'cover' | 'coverOthers'>;

export const NOTHING_SET_ASIDE: SetAside = {
  reserved: Money.zero,
  takes: MarginExcess.none,
  cover: Quantity.zero,
  coverOthers: undefined,
};

export const isSetAside = ({ reserved, takes, cover, coverOthers }: SetAside): boolean =>
  reserved !== 0 || cover !== 0 || coverOthers !== undefined || !MarginExcess.isNone(takes);

/** For code that builds an `OrderProgress` field by field: far cheaper than merging objects on the hot path. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** An order that is still open. Closed orders live in history only. */
export interface Order {
  /** Immutable except for symbols that a split renames. */
  terms: OrderTerms;
  progress: OrderProgress;
  /** Derived: the timer of the order's next due time (see `state.ts`). */
  timer: (Queued & object) | undefined;
  /** Derived: its entries in the book of its symbol while it is at work (see `matching/book.ts`). */
  places: readonly object[] | undefined;
  /** Derived: its places among the open orders of its portfolio and of its symbol (see `open-orders.ts`). */
  inPortfolio: number;
  inBook: number;
}

/** An order that is to be added to the open ones. */
export const newOrder = (terms: OrderTerms, progress: OrderProgress): Order => ({
  terms,
  progress,
  timer: undefined,
  places: undefined,
  inPortfolio: -1,
  inBook: -1,
});

export const sideOf = (intent: PositionIntent): Side =>
  intent === 'BUY_TO_OPEN' || intent === 'BUY_TO_CLOSE' ? 'BUY' : 'SELL';

export const isOpening = (intent: PositionIntent): boolean =>
  intent === 'BUY_TO_OPEN' || intent === 'SELL_TO_OPEN';

/** The symbols of an order: its own, or those of its legs. */
export const symbolsTraded = ({ symbol, legs }: Pick<OrderTerms, 'symbol' | 'legs'>): readonly string[] =>
  legs === undefined ? [symbol] : legs.map(({ optionSymbol }) => optionSymbol);

/** True when an order closes a position, with at least one leg. */
export const closesAny = ({ positionIntent, legs }: Pick<OrderTerms, 'positionIntent' | 'legs'>): boolean =>
  legs === undefined ? !isOpening(positionIntent) : legs.some((leg) => !isOpening(leg.positionIntent));

/** Contracts of each leg in a unit: their quantities in lowest terms (D75). */
export function legRatios(legs: readonly OrderLeg[]): readonly number[] {
  const common = legs.reduce((divisor, { quantity }) => greatestCommonDivisor(divisor, quantity), 0);
  return legs.map(({ quantity }) => quantity / common);
}

export const remainingOf = (progress: Pick<OrderProgress, 'quantity' | 'filledQuantity'>): Quantity =>
  (progress.quantity - progress.filledQuantity) as Quantity;

export const isTrailing = (type: OrderType): boolean =>
  type === 'TRAILING_STOP' || type === 'TRAILING_STOP_LIMIT';

/** True when an order of this type waits for a trigger before it can trade. */
export const isStop = (type: OrderType): boolean =>
  type === 'STOP' || type === 'STOP_LIMIT' || isTrailing(type);

/** True when an order waits for its first quote (D133): an opening order without a reservation, or a trailing stop without a mark. */
export const awaitsPrice = (
  { orderType, positionIntent, assetClass }: OrderTerms,
  progress: OrderProgress,
): boolean =>
  (isOpening(positionIntent) &&
    progress.filledQuantity === 0 &&
    !isSetAside(progress) &&
    // An order in contracts may require nothing, if its sales are covered.
    (isForShares(assetClass) || (progress.limitPrice === undefined && progress.stopPrice === undefined))) ||
  (isTrailing(orderType) && progress.mark === undefined);
