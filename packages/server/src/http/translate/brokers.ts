import type { BrokerConfiguration, CommissionSchedule } from '@sandpit/core';
import type { Broker } from '@sandpit/protocol';
import { moneyNumber } from './numbers.js';

const rateOf = (bps: number): number => bps / 10_000;

/** A broker configuration as it travels (D162). */
export function brokerOf(broker: BrokerConfiguration): Broker {
  return {
    brokerId: broker.id,
    name: broker.name,
    equityCommission: commissionOf(broker.equityCommission),
    optionCommission: commissionOf(broker.optionCommission),
    futureCommission: commissionOf(broker.futureCommission),
    passesRegulatoryFees: broker.passesRegulatoryFees,
    orderTypes: [...broker.orderTypes],
    timesInForce: [...broker.timesInForce],
    auctionOrders: broker.auctionOrders ?? false,
    sessions: [...broker.sessions],
    fractionalShares: broker.fractionalShares,
    shortSelling: broker.shortSelling,
    futures: broker.futures,
    optionLevel: broker.optionLevel,
    spreadsInCashAccounts: broker.spreadsInCashAccounts ?? false,
    queuesWhenClosed: broker.queuesWhenClosed,
    marginInterestTiers: broker.marginInterestTiers.map(({ from, rateAnnualBps }) => ({
      from: moneyNumber(from),
      rateAnnual: rateOf(rateAnnualBps),
    })),
    houseMaintenanceLong: rateOf(broker.houseMaintenanceLongBps),
    houseMaintenanceShort: rateOf(broker.houseMaintenanceShortBps),
    ...(broker.dayTradeRegime !== undefined && { dayTradeRegime: broker.dayTradeRegime }),
    dayTradingLeverage: broker.dayTradingLeverage ?? false,
    liquidation: broker.liquidation ?? 'WHEN_DUE',
  };
}

function commissionOf({
  perOrder,
  perUnit,
  minimum,
  maximum,
}: CommissionSchedule): Broker['equityCommission'] {
  return {
    perOrder: moneyNumber(perOrder),
    perUnit: moneyNumber(perUnit),
    ...(minimum !== undefined && { minimum: moneyNumber(minimum) }),
    ...(maximum !== undefined && { maximum: moneyNumber(maximum) }),
  };
}
