import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { TradingDate } from '../values/trading-date.js';

export type AssetClass = 'EQUITY' | 'OPTION' | 'FUTURE';

/** A stock or an exchange-traded fund. */
export interface Equity {
  readonly assetClass: 'EQUITY';
  readonly symbol: string;
  readonly name: string;
  /** Minimum price increment; absent = Rule 612 (0.01 from one dollar, 0.0001 below). */
  readonly tickSize?: Price;
  /** 1 for a plain stock, 2 or 3 (negative for inverse) for a leveraged fund. */
  readonly leverageFactor: number;
  readonly shortable: boolean;
  /** Yearly rate a short seller pays to borrow, as a fraction (0.003 = 0.3 %). */
  readonly borrowRateAnnual: number;
  /** Shares traded on an ordinary day; scales the modelled book of the `depth` fill model. */
  readonly averageDailyVolume: number;
  /** Standard deviation of a day's return, as a fraction; used with `averageDailyVolume`. */
  readonly dailyVolatility: number;
}

/** A listed option series. Carried by the domain model; its orders are not accepted yet. */
export interface OptionContract {
  readonly assetClass: 'OPTION';
  /** OSI symbol without blanks. */
  readonly symbol: string;
  readonly underlying: string;
  readonly optionType: 'CALL' | 'PUT';
  readonly strike: Price;
  readonly expiration: TradingDate;
  readonly multiplier: number;
  readonly style: 'AMERICAN' | 'EUROPEAN';
  readonly settlement: 'PHYSICAL' | 'CASH';
}

/** One delivery month of a future. Carried by the domain model; its orders are not accepted yet. */
export interface FutureContract {
  readonly assetClass: 'FUTURE';
  readonly symbol: string;
  readonly root: string;
  readonly multiplier: number;
  readonly tickSize: Price;
  readonly lastTradeDate: TradingDate;
  readonly initialMargin: Money;
  readonly maintenanceMargin: Money;
}

export type Instrument = Equity | OptionContract | FutureContract;
