import { expect, test } from 'vitest';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import type { BrokerConfiguration } from './broker.js';
import { orderCharges } from './order-charges.js';

const perShare: BrokerConfiguration = {
  id: 'test',
  name: 'Test',
  equityCommission: { perOrder: Money.zero, perUnit: Money.parse('0.0035')! },
  optionCommission: { perOrder: Money.zero, perUnit: Money.parse('0.35')! },
  futureCommission: { perOrder: Money.zero, perUnit: Money.zero },
  passesRegulatoryFees: true,
  orderTypes: ['MARKET'],
  timesInForce: ['DAY'],
  sessions: ['REGULAR'],
  fractionalShares: false,
  shortSelling: true,
  optionLevel: 4,
  futures: false,
  queuesWhenClosed: true,
  marginInterestTiers: [{ from: Money.zero, rateAnnualBps: 0 }],
  houseMaintenanceLongBps: 2500,
  houseMaintenanceShortBps: 3000,
};
const sale = {
  side: 'SELL',
  feeClass: 'SHARES',
  tradeDate: TradingDate.of('2026-06-01'),
  cumulativeQuantity: Quantity.of(1000),
  cumulativeValue: Money.ofDollars(50_000),
} as const;

test('a sale costs its commission and both fees', () => {
  expect(orderCharges(perShare, sale)).toEqual({
    commission: Money.parse('3.50'),
    fees: [
      { name: 'SEC', amount: Money.parse('1.03') },
      { name: 'TAF', amount: Money.parse('0.20') },
    ],
    total: Money.parse('4.73'),
  });
});

test('a purchase costs its commission alone', () => {
  expect(orderCharges(perShare, { ...sale, side: 'BUY' })).toMatchObject({
    fees: [],
    total: Money.parse('3.50'),
  });
});

test('a broker that does not pass the fees on bears them', () => {
  const bearing = { ...perShare, passesRegulatoryFees: false };
  expect(orderCharges(bearing, sale)).toMatchObject({ fees: [], total: Money.parse('3.50') });
});
