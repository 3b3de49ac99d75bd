/**
 * The shape of a brokers file (`BROKERS_FILE`): what an operator writes, in dollars and fractions as decimal strings.
 *
 * `{ "includeBuiltIn": true, "brokers": [ … ] }`: entries are added to the built-in 22; one with the id of a built-in
 * configuration takes its place. `"includeBuiltIn": false` leaves only what the file lists.
 */
export interface BrokersFile {
  /** Default true. */
  readonly includeBuiltIn?: boolean;
  readonly brokers: readonly BrokerEntry[];
}

/** Limits of a commission. Dollars; fraction of the trade value. */
export interface CommissionEntry {
  /** Dollars per order, whole cents. Default 0. */
  readonly perOrder?: string;
  /** Least dollars per order, whole cents. */
  readonly minimum?: string;
  /** Most dollars per order, whole cents. */
  readonly maximum?: string;
  /** Most as a fraction of the trade value, in whole basis points: `0.01` = 1 %. */
  readonly maximumOfValue?: string;
}

export interface EquityCommissionEntry extends CommissionEntry {
  /** Dollars per share, up to four decimals. Default 0. */
  readonly perShare?: string;
}

export interface ContractCommissionEntry extends CommissionEntry {
  /** Dollars per contract, up to four decimals. Default 0. */
  readonly perContract?: string;
}

export interface MarginInterestTierEntry {
  /** Dollars of loan from which the rate applies. */
  readonly from: string;
  /** Fraction a year in whole basis points: `0.065` = 6.5 %. */
  readonly rateAnnual: string;
}

/** One configuration; what each field means is documented at `BrokerConfiguration`. */
export interface BrokerEntry {
  readonly id: string;
  readonly name: string;
  readonly equityCommission: EquityCommissionEntry;
  readonly optionCommission: ContractCommissionEntry;
  readonly futureCommission: ContractCommissionEntry;
  readonly passesRegulatoryFees: boolean;
  readonly orderTypes: readonly string[];
  readonly timesInForce: readonly string[];
  readonly sessions: readonly string[];
  readonly fractionalShares: boolean;
  readonly shortSelling: boolean;
  readonly optionLevel: number;
  readonly futures: boolean;
  readonly queuesWhenClosed: boolean;
  readonly marginInterestTiers: readonly MarginInterestTierEntry[];
  /** Fraction of market value in whole basis points, at least 0.25. */
  readonly houseMaintenanceLong: string;
  /** Fraction of market value in whole basis points, at least 0.30. */
  readonly houseMaintenanceShort: string;
  readonly dayTradeRegime?: string;
}
