/**
 * The format of a brokers file (`BROKERS_FILE`), as an operator writes it: dollars and fractions are decimal strings.
 *
 * `{ "includeBuiltIn": true, "brokers": [ … ] }`: entries are added to the built-in 22; one with the id of a built-in configuration
 * replaces it. `"includeBuiltIn": false` leaves only what the file lists.
 */
import {
  choice,
  closed,
  dayTradeRegimes,
  flag,
  integer,
  liquidations,
  list,
  optional,
  orderSessions,
  orderTypes,
  ruled,
  type Static,
  text,
  continuousTimesInForce,
} from '@sandpit/protocol';

/** Dollars in whole cents. */
const cents = () =>
  text({
    pattern: '^\\d{1,11}(\\.\\d{1,2}0*)?$',
    'x-expected': 'must be a decimal string of dollars with at most two decimals',
  });

/** Dollars per share or contract. */
const rate = () =>
  text({
    pattern: '^\\d{1,11}(\\.\\d{1,4}0*)?$',
    'x-expected': 'must be a decimal string of dollars with at most four decimals',
  });

const mustBeFraction = (least: string): string =>
  `must be a fraction from ${least} to 1 as a decimal string with at most four decimals`;

/** A fraction in whole basis points, `0.065` = 6.5 %; zero only if the minimum is zero. */
const fraction = (least = '0') =>
  text({
    pattern: `^${least === '0' ? '' : '(?!0(\\.0*)?$)'}(0(\\.\\d{1,4}0*)?|1(\\.0+)?)$`,
    'x-expected': mustBeFraction(least),
  });

/** A factor of at least 1, in whole basis points: `1.02`. */
const multiple = () =>
  text({
    pattern: '^[1-9](\\.\\d{1,4}0*)?$',
    'x-expected': 'must be a decimal string from 1 to 9.9999 with at most four decimals',
  });

const limits = {
  /** Dollars per order. Default 0. */
  perOrder: optional(cents()),
  /** Least dollars per order. */
  minimum: optional(cents()),
  /** Most dollars per order. */
  maximum: optional(cents()),
  /** Most as a fraction of the trade value. */
  maximumOfValue: optional(fraction('0.0001')),
};

const EquityCommissionEntry = closed('EquityCommissionEntry', { ...limits, perShare: optional(rate()) });
const ContractCommissionEntry = closed('ContractCommissionEntry', {
  ...limits,
  perContract: optional(rate()),
});
export type CommissionEntry = Static<typeof EquityCommissionEntry> & Static<typeof ContractCommissionEntry>;

/** FINRA Rule 4210(c): the minimum that any member may require (docs/rules/brokers.md). */
const FINRA_MAINTENANCE = { houseMaintenanceLong: '0.25', houseMaintenanceShort: '0.3' } as const;

const some = <Values extends string[]>(values: readonly [...Values]) =>
  list(choice(values), { min: 1, max: values.length, unique: true });

/** One configuration; what each field means is documented at `BrokerConfiguration`. */
export const BrokerEntry = ruled(
  closed('BrokerEntry', {
    id: text({
      pattern: '^[a-z0-9]+(?:[-_][a-z0-9]+)*$',
      'x-expected': 'must be lower-case letters and digits, joined by - or _',
    }),
    name: text(),
    equityCommission: EquityCommissionEntry,
    optionCommission: ContractCommissionEntry,
    futureCommission: ContractCommissionEntry,
    passesRegulatoryFees: flag(),
    orderTypes: some(orderTypes),
    timesInForce: some(continuousTimesInForce),
    /** Orders for the auctions of the open and the close; absent = no. */
    auctionOrders: optional(flag()),
    sessions: some(orderSessions),
    fractionalShares: flag(),
    shortSelling: flag(),
    optionLevel: integer(0, 4),
    spreadsInCashAccounts: optional(flag()),
    futures: flag(),
    queuesWhenClosed: flag(),
    marginInterestTiers: list(
      closed('MarginInterestTierEntry', {
        /** Dollars of loan from which the rate applies. */
        from: cents(),
        /** A year. */
        rateAnnual: fraction(),
      }),
      { min: 1, max: 100 },
    ),
    houseMaintenanceLong: fraction(FINRA_MAINTENANCE.houseMaintenanceLong),
    houseMaintenanceShort: fraction(FINRA_MAINTENANCE.houseMaintenanceShort),
    dayTradeRegime: optional(choice(dayTradeRegimes)),
    dayTradingLeverage: optional(flag()),
    liquidation: optional(choice(liquidations)),
    /** Factor on the cost to close; 1.02 is 102 %. */
    shortBoxCost: optional(multiple()),
    /** 1.15 is 15 % more than the engine requires. */
    portfolioMarginFactor: optional(multiple()),
    /** Fraction of the margin of futures, from the opening of their trade day to its settlement; 0.25 is a quarter. */
    futuresIntradayFraction: optional(fraction('0.0001')),
  }),
  (entry, report) => {
    if (Array.isArray(entry.sessions) && !entry.sessions.includes('REGULAR')) {
      report.field('sessions', 'must contain REGULAR');
    }
    const from = startsOf(entry.marginInterestTiers);
    if (from.length > 0 && from[0] !== 0) report.field('marginInterestTiers', 'must start from 0');
    if (from.some((start, i) => i > 0 && start <= (from[i - 1] ?? 0))) {
      report.field('marginInterestTiers', 'must rise from tier to tier');
    }
    for (const field of ['houseMaintenanceLong', 'houseMaintenanceShort'] as const) {
      const least = FINRA_MAINTENANCE[field];
      if (Number(entry[field]) < Number(least)) report.field(field, mustBeFraction(least));
    }
  },
);
export type BrokerEntry = Static<typeof BrokerEntry>;

/** Starts of the tiers; empty when one of them has no valid start, which its schema reports. */
function startsOf(tiers: unknown): number[] {
  if (!Array.isArray(tiers)) return [];
  const starts = (tiers as readonly unknown[]).map((tier) =>
    Number((tier as { from?: unknown } | null)?.from),
  );
  return starts.some(Number.isNaN) ? [] : starts;
}

export const BrokersFile = ruled(
  closed('BrokersFile', {
    /** Default true. */
    includeBuiltIn: optional(flag()),
    brokers: list(BrokerEntry, { min: 0, max: 1000 }),
  }),
  ({ brokers }, report) => {
    if (!Array.isArray(brokers)) return;
    const ids = (brokers as readonly unknown[]).map((entry) => (entry as { id?: unknown } | null)?.id);
    ids.forEach((id, i) => {
      const earlier = ids.indexOf(id);
      if (typeof id === 'string' && earlier < i) {
        report.sentence('brokers', `brokers.${i}.id repeats "${id}" of brokers.${earlier}`);
      }
    });
  },
);
export type BrokersFile = Static<typeof BrokersFile>;
