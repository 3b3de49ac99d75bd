import type { BrokerConfiguration } from '../brokers/broker.js';

/** The broker's own rates, which add to the rule books. */
export type HouseRates = Pick<
  BrokerConfiguration,
  | 'houseMaintenanceLongBps'
  | 'houseMaintenanceShortBps'
  | 'shortBoxCostBps'
  | 'portfolioMarginFactorBps'
  | 'futuresIntradayFractionBps'
>;
