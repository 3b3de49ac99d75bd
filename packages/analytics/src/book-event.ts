/** Events of a portfolio's positions, in order of time: the input of round trips and of taxes. */

/** Cause that opened a lot. */
export type OpenedBy = 'TRADE' | 'EXERCISE' | 'ASSIGNMENT' | 'IMPORT' | 'ACTION';

/** Cause that closed a lot, or a part of it. */
export type ClosedBy =
  | 'TRADE'
  | 'EXPIRATION'
  | 'EXERCISE'
  | 'ASSIGNMENT'
  | 'SETTLEMENT'
  | 'LIQUIDATION'
  | 'BUY_IN'
  | 'CASH_IN_LIEU'
  | 'MERGER'
  | 'DELISTING'
  | 'RESET';

export type AssetClass = 'EQUITY' | 'OPTION' | 'FUTURE';

interface Happening {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** New York trade date, `YYYY-MM-DD`. */
  readonly date: string;
  /** Counted from 1; a reset begins the next one. */
  readonly epoch: number;
  /** Names the order, or the event without an order: pieces with one key belong together. */
  readonly key: string;
}

interface Transaction {
  /**
   * Names a purchase or sale for wash sales, which may consist of several events. Absent = the events of one key on one date.
   */
  readonly transaction?: string;
}

interface Contract {
  readonly symbol: string;
  readonly assetClass: AssetClass;
  /** Dollars of value for each dollar of price: 1 for shares, 100 for most options. */
  readonly multiplier: number;
  /** Under Section 1256 of the tax code: futures and options on an index. */
  readonly isSection1256?: boolean;
}

interface Charges {
  /** Dollars, 0 or more. */
  readonly commission: number;
  readonly fees: number;
}

/**
 * A purchase or sale, and everything that closes a position at a price: expiry at 0, settlement, cash in lieu. An opposite position is
 * closed first; the rest opens a lot.
 */
export interface Traded extends Happening, Transaction, Contract, Charges {
  readonly type: 'TRADED';
  readonly by: ClosedBy | OpenedBy;
  readonly side: 'BUY' | 'SELL';
  /** Positive. */
  readonly quantity: number;
  /** Dollars a unit. */
  readonly price: number;
  /** Dollars, exact to four decimals: price × quantity × multiplier as the ledger has it. */
  readonly value: number;
  readonly orderId?: string;
  /** New York date on which it settles; absent = the trade date. */
  readonly settlementDate?: string;
  /** For an import: the date of acquisition. */
  readonly acquiredDate?: string;
}

/** Contracts became shares: the contracts have no gain, the premium of each lot is in the price of its shares (D87, D244). */
export interface Converted extends Happening, Transaction, Contract, Charges {
  readonly type: 'CONVERTED';
  readonly by: 'EXERCISE' | 'ASSIGNMENT';
  /** Contracts removed, positive. */
  readonly quantity: number;
  readonly shares: {
    readonly symbol: string;
    readonly side: 'BUY' | 'SELL';
    readonly quantity: number;
    /** Paid or received at the strike, dollars, positive. */
    readonly cash: number;
    readonly settlementDate?: string;
  };
}

/** Each old unit is `numerator / denominator` new ones, under the same or another symbol. */
export interface Restated extends Happening {
  readonly type: 'RESTATED';
  readonly symbol: string;
  readonly numerator: number;
  readonly denominator: number;
  /** New symbol, of an adjusted option series or of renamed or merged shares; absent = the same symbol. */
  readonly to?: string;
  /** Multiplier of the adjusted series; absent = unchanged. */
  readonly multiplier?: number;
}

/**
 * Shares give, or become, shares of another symbol, and a part of their cost does not pass to these: it stays with old shares (spin-off), or
 * cash replaces it (merger for shares and cash). Shares that are merely replaced are restated.
 */
export interface Exchanged extends Happening {
  readonly type: 'EXCHANGED';
  readonly symbol: string;
  readonly to: string;
  readonly numerator: number;
  readonly denominator: number;
  readonly exchange:
    | {
        readonly kind: 'SPIN_OFF';
        /** Part of the cost that passes to the new shares. */
        readonly passed: number;
      }
    | {
        readonly kind: 'MERGER';
        /** Cash for all shares, dollars, positive. */
        readonly cash: number;
        /** Value of the new shares for one old share, dollars; absent = unknown. */
        readonly worth?: number;
        readonly settlementDate?: string;
      };
}

/** A reset closes all lots at their marks. */
export interface Discarded extends Happening {
  readonly type: 'DISCARDED';
  /** Values of the positions at their marks by symbol, dollars, positive; without one, lots close without a price. */
  readonly values?: Readonly<Record<string, number>>;
}

export type BookEvent = Traded | Converted | Restated | Exchanged | Discarded;
