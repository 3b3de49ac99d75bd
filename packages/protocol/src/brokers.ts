/** The broker configurations, as clients compare them (D148, D162). */
import type { Static } from 'typebox';
import { dayTradeRegimes, liquidations, orderSessions, orderTypes, timesInForce } from './enums.js';
import { anyText, choice, closed, count, flag, listOf, number, optional } from './fields.js';

const CommissionSchedule = closed('CommissionSchedule', {
  perOrder: optional(number({ description: 'Dollars an order.' })),
  perUnit: optional(number({ description: 'Dollars a share or contract.' })),
  minimum: optional(number({ description: 'Least dollars of an order that executes.' })),
  maximum: optional(number({ description: 'Most dollars of an order.' })),
});

const MarginInterestTier = closed('MarginInterestTier', {
  from: number({ description: 'Dollars of the loan from which on the rate holds.' }),
  rateAnnual: number({ description: 'A year: 0.065 is 6.5 %.' }),
});

export const Broker = closed('Broker', {
  brokerId: anyText(),
  name: anyText(),
  equityCommission: CommissionSchedule,
  optionCommission: CommissionSchedule,
  futureCommission: CommissionSchedule,
  passesRegulatoryFees: flag({ description: 'Whether fees of the SEC and FINRA are charged on.' }),
  orderTypes: listOf(choice(orderTypes)),
  timesInForce: listOf(choice(timesInForce)),
  auctionOrders: flag({ description: 'Whether it takes orders OPG and CLS, for the auctions.' }),
  sessions: listOf(choice(orderSessions)),
  fractionalShares: flag(),
  shortSelling: flag(),
  futures: flag(),
  optionLevel: count({ description: '0 none to 4 uncovered.' }),
  spreadsInCashAccounts: flag(),
  queuesWhenClosed: flag({ description: 'Whether an order waits for the open; else it is refused.' }),
  marginInterestTiers: listOf(MarginInterestTier),
  houseMaintenanceLong: number({ description: 'Of the market value: 0.25 is 25 %.' }),
  houseMaintenanceShort: number({ description: 'Of the market value.' }),
  dayTradeRegime: optional(choice(dayTradeRegimes)),
  dayTradingLeverage: flag({ description: 'Whether day-trading buying power gates orders in stock.' }),
  liquidation: choice(liquidations),
});
export type Broker = Static<typeof Broker>;

export const Brokers = closed(
  'Brokers',
  { data: listOf(Broker) },
  { description: 'All broker configurations.' },
);
export type Brokers = Static<typeof Brokers>;
