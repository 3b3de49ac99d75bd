/** The broker configurations, as clients compare them (D148, D162). */
import type { Static } from 'typebox';
import { dayTradeRegimes, liquidations, orderSessions, orderTypes, timesInForce } from './enums.js';
import { anyText, choice, closed, count, flag, listOf, number, optional } from './fields.js';

const CommissionSchedule = closed('CommissionSchedule', {
  perOrder: optional(number({ description: 'Dollars per order.' })),
  perUnit: optional(number({ description: 'Dollars per share or contract.' })),
  minimum: optional(number({ description: 'Minimum commission of an executed order, dollars.' })),
  maximum: optional(number({ description: 'Maximum commission of an order, dollars.' })),
});

const MarginInterestTier = closed('MarginInterestTier', {
  from: number({ description: 'Loan balance at which this rate starts, dollars.' }),
  rateAnnual: number({ description: 'Annual rate as a fraction: 0.065 is 6.5 %.' }),
});

export const Broker = closed('Broker', {
  brokerId: anyText(),
  name: anyText(),
  equityCommission: CommissionSchedule,
  optionCommission: CommissionSchedule,
  futureCommission: CommissionSchedule,
  passesRegulatoryFees: flag({ description: 'True if the broker charges SEC and FINRA fees.' }),
  orderTypes: listOf(choice(orderTypes)),
  timesInForce: listOf(choice(timesInForce)),
  auctionOrders: flag({ description: 'True if the broker accepts OPG and CLS orders for the auctions.' }),
  sessions: listOf(choice(orderSessions)),
  fractionalShares: flag(),
  shortSelling: flag(),
  futures: flag(),
  optionLevel: count({ description: 'Highest option level: 0 = no options, 4 = uncovered options.' }),
  spreadsInCashAccounts: flag(),
  queuesWhenClosed: flag({
    description:
      'True if an order placed while the market is closed waits for the open; otherwise it is rejected.',
  }),
  marginInterestTiers: listOf(MarginInterestTier),
  houseMaintenanceLong: number({ description: 'Fraction of the market value: 0.25 is 25 %.' }),
  houseMaintenanceShort: number({ description: 'Fraction of the market value.' }),
  dayTradeRegime: optional(choice(dayTradeRegimes)),
  dayTradingLeverage: flag({
    description: 'True if equity orders are checked against day-trading buying power.',
  }),
  liquidation: choice(liquidations),
});
export type Broker = Static<typeof Broker>;

export const Brokers = closed(
  'Brokers',
  { data: listOf(Broker) },
  { description: 'All broker configurations.' },
);
export type Brokers = Static<typeof Brokers>;
