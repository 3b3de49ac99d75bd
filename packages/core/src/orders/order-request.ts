import type { AssetClass } from '../instruments/instrument.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type {
  BracketConfig,
  GoodTill,
  LatencyProfile,
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
  readonly quantity: Quantity;
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
  readonly bracketConfig?: BracketConfig;
  readonly strategy?: string;
  readonly legs?: readonly OrderLeg[];
  /** Of an order that nobody placed: why the broker did. */
  readonly origin?: 'LIQUIDATION';
  /** The agent whose token placed it, where one did. */
  readonly agent?: string;
}
