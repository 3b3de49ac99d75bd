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

/** What a user asks for with a new order, with every number already exact. */
export interface OrderRequest {
  readonly portfolioId: string;
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly orderType: OrderType;
  readonly positionIntent: PositionIntent;
  /** 0 where `notional` is there: what that is worth is found out when the order is planned. */
  readonly quantity: Quantity;
  /** What a MARKET order is to buy, or to sell, for; whole cents. */
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
  /** Why it is placed, in the words of whoever places it (D207). */
  readonly notes?: string;
  readonly bracketConfig?: BracketConfig;
  readonly ocoConfig?: OcoConfig;
  readonly strategy?: string;
  readonly legs?: readonly OrderLeg[];
  /** Of an order that nobody placed: why the broker did. */
  readonly origin?: HouseOrigin;
  /** The agent whose token placed it, where one did. */
  readonly agent?: string;
}
