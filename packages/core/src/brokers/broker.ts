import type { OrderSession, OrderType, TimeInForce } from '../orders/order.js';
import type { Money } from '../values/money.js';

/**
 * A broker configuration: the costs and permissions of a portfolio, as data (docs/rules/brokers.md).
 *
 * No code in the brokerage branches on a broker's id: every difference between brokers is a field here.
 */

/**
 * Option strategies that customers may open. Each level includes those below it.
 *
 * 0 none · 1 covered calls and cash-secured puts · 2 long calls and puts · 3 spreads of defined risk · 4 uncovered
 * short options.
 */
export type OptionLevel = 0 | 1 | 2 | 3 | 4;

/** Day-trade rule: the pattern-day-trader rule, or the intraday margin rule that replaced it. */
export type DayTradeRegime = 'LEGACY_PDT' | 'INTRADAY_MARGIN';

/**
 * Commission of one order: `perOrder + perUnit × quantity`, then at least `minimum`, then at most the smaller of the
 * maxima. A maximum overrides the minimum, so that a tiny order never costs more than the firm's cap.
 */
export interface CommissionSchedule {
  /** Dollars per order, charged with its first execution. */
  readonly perOrder: Money;
  /** Dollars per share or per contract; a rate such as 0.0045 is exact in `Money`. */
  readonly perUnit: Money;
  /** Least dollars per order that executes at all. */
  readonly minimum?: Money;
  /** Most dollars per order. */
  readonly maximum?: Money;
  /** Most of the order's trade value, in basis points (100 = 1 %). */
  readonly maximumOfValueBps?: number;
}

/** The yearly rate on the part of a margin loan that lies above `from`, up to the next tier's `from`. */
export interface MarginInterestTier {
  readonly from: Money;
  /** Basis points a year (650 = 6.5 %); interest accrues on 360 days. */
  readonly rateAnnualBps: number;
}

/** Time at which a broker liquidates for an unmet margin call (D120). */
type Liquidation = 'NEVER' | 'WHEN_DUE' | 'AT_ONCE';

export interface BrokerConfiguration {
  /** The broker's name in the API, kebab-case or as in the contract's table. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** `perUnit` is per share. */
  readonly equityCommission: CommissionSchedule;
  /** `perUnit` is per contract, each leg of a multi-leg order counted. */
  readonly optionCommission: CommissionSchedule;
  /** `perUnit` is per contract and side. */
  readonly futureCommission: CommissionSchedule;
  /** True when the customer pays the SEC and FINRA fees on sales (see `regulatory.ts`), false when the firm bears them. */
  readonly passesRegulatoryFees: boolean;
  readonly orderTypes: readonly OrderType[];
  readonly timesInForce: readonly TimeInForce[];
  /** True when it accepts orders for the opening and closing auctions (D180); absent = no. */
  readonly auctionOrders?: boolean;
  /** The hours it gives access to; EXTENDED adds pre-market and after-hours trading to the regular session. */
  readonly sessions: readonly OrderSession[];
  readonly fractionalShares: boolean;
  readonly shortSelling: boolean;
  readonly optionLevel: OptionLevel;
  /** True when CASH and IRA portfolios may hold spreads against their maximum loss (D80); absent = no. */
  readonly spreadsInCashAccounts?: boolean;
  readonly futures: boolean;
  /** True when an order placed while the market is closed waits for the open (D26); otherwise it is refused. */
  readonly queuesWhenClosed: boolean;
  /** Ascending by `from`; the first starts at zero. */
  readonly marginInterestTiers: readonly MarginInterestTier[];
  /** House maintenance on long stock, basis points of market value; never below FINRA's 2500. */
  readonly houseMaintenanceLongBps: number;
  /** House maintenance on short stock, basis points of market value; never below FINRA's 3000. */
  readonly houseMaintenanceShortBps: number;
  /** Share of the cost to close that a short box of European cash-settled options requires if that exceeds its width (D105); absent = its width. */
  readonly shortBoxCostBps?: number;
  /** Multiplier of portfolio margin requirements (D114); absent = 10,000, the engine's own figure. */
  readonly portfolioMarginFactorBps?: number;
  /** Share of a future's margin from the opening of its trade day to its settlement (D94); absent = 10,000, all of it. */
  readonly futuresIntradayFractionBps?: number;
  /** Overrides the regime that the date would give (D45): firms may keep the old rule per account until 2027-10-20. */
  readonly dayTradeRegime?: DayTradeRegime;
  /** True when day-trading buying power gates orders in stock (D110); absent = no. */
  readonly dayTradingLeverage?: boolean;
  /** Absent = WHEN_DUE. */
  readonly liquidation?: Liquidation;
}
