import type { AssetClass } from '../instruments/instrument.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type {
  BracketConfig,
  GoodTill,
  HouseOrigin,
  LatencyProfile,
  OcoConfig,
  OrderLeg,
  OrderSession,
  OrderType,
  PositionIntent,
  TimeInForce,
} from './order.js';

/** A user's request for a new order, with all numbers exact. */
export interface OrderRequest {
  readonly portfolioId: string;
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly orderType: OrderType;
  readonly positionIntent: PositionIntent;
  /** 0 if `notional` is set: planning the order then determines the quantity. */
  readonly quantity: Quantity;
  /** Amount that a MARKET order is to buy or sell for; whole cents. */
  readonly notional?: Money;
  readonly timeInForce: TimeInForce;
  /** Absent = REGULAR. */
  readonly session?: OrderSession;
  readonly limitPrice?: Price;
  readonly stopPrice?: Price;
  readonly trailingAmount?: Price;
  readonly trailingPercent?: number;
  readonly latencyProfile?: LatencyProfile;
  readonly latencyMs?: number;
  readonly goodTillDate?: GoodTill;
  readonly clientOrderId?: string;
  /** Reason for the order, in the client's words (D207). */
  readonly notes?: string;
  readonly bracketConfig?: BracketConfig;
  readonly ocoConfig?: OcoConfig;
  readonly strategy?: string;
  readonly legs?: readonly OrderLeg[];
  /** House orders only: why the broker placed it. */
  readonly origin?: HouseOrigin;
  /** The agent whose token placed it, if one did. */
  readonly agent?: string;
}

/** Number of orders that are created together with an order: the exits of its bracket, or the stop of its pair. */
export const attachedCount = ({ bracketConfig, ocoConfig }: OrderRequest): number =>
  [bracketConfig?.profitTarget, bracketConfig?.stopLoss, ocoConfig].filter((part) => part !== undefined)
    .length;
