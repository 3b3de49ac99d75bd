import { isForShares } from '../instruments/instrument.js';
import type { AssetClass } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { Queued } from '../values/priority-queue.js';
import { greatestCommonDivisor } from '../values/scaled.js';
import { MarginExcess } from './margin-excess.js';
import type { Refusal } from './refusal.js';
import type { OrderScript, ScriptRun } from './script.js';
import type { Tier } from './tier.js';
import type { TradingDate } from '../values/trading-date.js';

export type OrderType = 'MARKET' | 'LIMIT' | 'STOP' | 'STOP_LIMIT' | 'TRAILING_STOP' | 'TRAILING_STOP_LIMIT';
export type PositionIntent = 'BUY_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_OPEN' | 'SELL_TO_CLOSE';
export type Side = 'BUY' | 'SELL';
export type TimeInForce = 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'GTD' | 'OPG' | 'CLS';
/** Which hours an order works in; EXTENDED includes the regular session. */
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

/** Why the house placed an order: a margin call, or the end of an entry of a competition. */
export type HouseOrigin = 'LIQUIDATION' | 'COMPETITION';

/** What a bracket asks for beside its entry (D27). At least one of the two exits is there. */
export interface BracketConfig {
  readonly profitTarget?: { readonly orderType: 'LIMIT'; readonly limitPrice: Price };
  readonly stopLoss?: {
    readonly orderType: 'STOP' | 'STOP_LIMIT';
    readonly stopPrice: Price;
    readonly limitPrice?: Price;
  };
  /** Of the exits; absent = GTC. */
  readonly timeInForce?: 'DAY' | 'GTC';
}

/** What a closing LIMIT order brings as its other half (D167): whichever executes takes it from the other, and ends with it. */
export interface OcoConfig {
  readonly stopLoss: {
    readonly orderType: 'STOP' | 'STOP_LIMIT';
    readonly stopPrice: Price;
    readonly limitPrice?: Price;
  };
}

/** One leg of an order of several options, as it was sent. */
export interface OrderLeg {
  readonly optionSymbol: string;
  readonly positionIntent: PositionIntent;
  readonly quantity: Quantity;
}

/** When a GTD order ends, and the words that the user said it in: those are shown. */
export interface GoodTill {
  /** A New York date, which means its close, or an instant. */
  readonly until: TradingDate | Instant;
  readonly text: string;
}

/** The part of an order that does not change, but for what splits make of the symbols of options. */
export interface OrderTerms {
  /** Running number of the order in its simulation: its identity inside, and the order of creation. Outside it has an id (`values/ids.ts`). */
  readonly number: number;
  readonly tenantId: string;
  readonly accountId: string;
  readonly portfolioId: string;
  readonly tier: Tier;
  readonly symbol: string;
  readonly assetClass: AssetClass;
  /** Of an option order: the symbol of what the option is on. */
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
  /** Of an order for an amount of money (D168): its quantity is what that is worth at the price it meets. */
  readonly notional: Money | undefined;
  readonly strategy: string | undefined;
  readonly legs: readonly OrderLeg[] | undefined;
  /** Of an order that nobody placed: why the broker did (D120). */
  readonly origin: HouseOrigin | undefined;
  /** The agent whose token placed it. */
  readonly agent: string | undefined;
  /** What a test has ordered of it (D175). */
  readonly script: OrderScript | undefined;
  readonly createdAt: Instant;
}

/**
 * What an order is in a bracket: its entry, with what it asks for and the numbers of its exits, or one of the exits. Of two closing orders that
 * cancel each other, without an entry: the limit order that leads, or the stop that came with it.
 */
export type BracketPart =
  | { readonly part: 'ENTRY'; readonly config: BracketConfig; readonly exits: readonly number[] }
  | { readonly part: 'PROFIT_TARGET' | 'STOP_LOSS'; readonly entry: number; readonly sibling?: number }
  | { readonly part: 'OCO_LIMIT'; readonly config: OcoConfig; readonly sibling: number }
  | { readonly part: 'OCO_STOP'; readonly sibling: number };

/** The order that one was created with, and goes to work with: of an exit its entry, of the stop of a pair the limit. */
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

/** What an order executed on one trade date, and the fees charged for it: of shares what was sold, of contracts both sides. */
export interface FeeDay {
  readonly date: TradingDate;
  readonly quantity: Quantity;
  readonly value: Money;
  /** Of an order of several legs: the part of it that was sold. */
  readonly sold?: { readonly quantity: Quantity; readonly value: Money };
  readonly fees: readonly Fee[];
}

/**
 * The part of an order that changes. Every field is always there, so that all orders have one hidden class: a copy that gained a field
 * would be slow to make and slow to read for everybody after.
 */
export interface OrderProgress {
  readonly status: OrderStatus;
  readonly quantity: Quantity;
  readonly limitPrice: Price | undefined;
  /** For a trailing stop: where it stands now. */
  readonly stopPrice: Price | undefined;
  readonly timeInForce: TimeInForce;
  /** Of a GTD order; `expiresAt` is what it comes to. */
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
  /** Of an order that goes on and whose fees add up: what executed on its latest trade date. Regulatory fees count from there, anew each date. */
  readonly feeDay: FeeDay | undefined;
  /** Cash set aside for what is still to be bought. */
  readonly reserved: Money;
  /** What the rest of an opening order takes of the headroom of a MARGIN portfolio. */
  readonly takes: MarginExcess;
  /** Shares or contracts set aside for a closing order. */
  readonly reservedQuantity: Quantity;
  /** Shares of the underlying set aside under the calls that it sells (D81). */
  readonly cover: Quantity;
  readonly updatedAt: Instant;
  /** When a queued order is let go to the market. */
  readonly releaseAt: Instant | undefined;
  /** When the order reaches (or reached) the market. */
  readonly marketAt: Instant | undefined;
  /** When a cancel on its way reaches the market. */
  readonly cancelAt: Instant | undefined;
  readonly expiresAt: Instant | undefined;
  /** Place in the queue of those that reached the market at the same price. */
  readonly arrival: number | undefined;
  /** A stop that has been set off. */
  readonly triggered: true | undefined;
  /** When the market was first seen away from its limit: from then until its session ends it fills at its limit, not at the touch (D128). */
  readonly restingSince: Instant | undefined;
  /** The best last price since acceptance that a trailing stop follows. */
  readonly mark: Price | undefined;
  /** A trailing stop's distance, where a split has changed it from what the terms say. */
  readonly trailingAmount: Price | undefined;
  /** Where a short sale stands that may not execute at the bid (D179a). */
  readonly offer: Price | undefined;
  /** How far its script has come, while that keeps it from the market. */
  readonly scriptRun: ScriptRun | undefined;
  /** How often it has been replaced; undefined = never. */
  readonly replacements: number | undefined;
  /** When the last of it executed. */
  readonly executedAt: Instant | undefined;
  readonly canceledAt: Instant | undefined;
  readonly cancelReason: CancelReason | undefined;
  readonly rejectReason: Refusal | undefined;
}

/** What an open order sets aside beside shares. */
export type SetAside = Pick<OrderProgress, 'reserved' | 'takes' | 'cover'>;

export const NOTHING_SET_ASIDE: SetAside = {
  reserved: Money.zero,
  takes: MarginExcess.none,
  cover: Quantity.zero,
};

export const isSetAside = ({ reserved, takes, cover }: SetAside): boolean =>
  reserved !== 0 || cover !== 0 || !MarginExcess.isNone(takes);

/** For code that puts an `OrderProgress` together piece by piece: far cheaper than merging objects on the hot path. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** An order that is still open. Closed orders live in history only. */
export interface Order {
  /** The symbols in it change where a split renames what it trades; nothing else of it does. */
  terms: OrderTerms;
  progress: OrderProgress;
  /** Derived: the timer of what the order waits for next (see `state.ts`). */
  timer: (Queued & object) | undefined;
  /** Derived: where it stands in the book of its symbol while it is at work (see `matching/book.ts`). */
  places: readonly object[] | undefined;
  /** Derived: its places among the open orders of its portfolio and of its symbol (see `open-orders.ts`). */
  inPortfolio: number;
  inBook: number;
}

/** An order that is about to be entered among the open ones. */
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

/** The instruments that an order trades: its own, or those of its legs. */
export const symbolsTraded = ({ symbol, legs }: Pick<OrderTerms, 'symbol' | 'legs'>): readonly string[] =>
  legs === undefined ? [symbol] : legs.map(({ optionSymbol }) => optionSymbol);

/** Whether an order closes something: all of it, or some of its legs. */
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
    // An order in contracts may need nothing: what it sells is covered.
    (isForShares(assetClass) || (progress.limitPrice === undefined && progress.stopPrice === undefined))) ||
  (isTrailing(orderType) && progress.mark === undefined);
