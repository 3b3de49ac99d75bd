import { expect, test } from 'vitest';
import { plainEquity } from '../instruments/equity.js';
import { futureContract } from '../instruments/future-contract.js';
import { optionContract } from '../instruments/option-roots.js';
import { parseOsi } from '../instruments/osi.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import type { BrokerConfiguration } from '../brokers/broker.js';
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
  instrument: plainEquity('ACME'),
  tradeDate: TradingDate.of('2026-06-01'),
} as const;
const executed = { quantity: Quantity.of(1000), value: Money.ofDollars(50_000) };

test('a sale costs its commission and both fees', () => {
  expect(orderCharges(perShare, sale, executed)).toEqual({
    commission: Money.parse('3.50'),
    fees: [
      { name: 'SEC', amount: Money.parse('1.03') },
      { name: 'TAF', amount: Money.parse('0.20') },
    ],
    total: Money.parse('4.73'),
  });
});

test('a purchase costs its commission alone', () => {
  expect(orderCharges(perShare, { ...sale, side: 'BUY' }, executed)).toMatchObject({
    fees: [],
    total: Money.parse('3.50'),
  });
});

test('a broker that does not pass the fees on bears them', () => {
  const bearing = { ...perShare, passesRegulatoryFees: false };
  expect(orderCharges(bearing, sale, executed)).toMatchObject({ fees: [], total: Money.parse('3.50') });
});

/** Fees of an order in contracts, at a broker that passes them on. */
function fees(symbol: string, side: 'BUY' | 'SELL', contracts: number, dollars: string, date = '2026-06-01') {
  const named = parseOsi(symbol);
  const instrument =
    named === undefined
      ? futureContract({ root: symbol, year: 2026, month: 6 })!
      : optionContract(named, {}, () => undefined)!;
  const order = { side, instrument, tradeDate: TradingDate.of(date) };
  const value = { quantity: Quantity.of(contracts), value: Money.parse(dollars)! };
  const charged = orderCharges(perShare, order, value).fees;
  return Object.fromEntries(charged.map(({ name, amount }) => [name, Money.format(amount)]));
}

test('options cost clearing and the regulatory fee on both sides, and SEC and TAF fees on a sale (D82)', () => {
  expect(fees('AAPL260717C00150000', 'BUY', 10, '5000')).toEqual({ OCC: '0.25', ORF: '0.2' });
  // 5,000 × 20.60 a million = 0.103; 10 × 0.00329 = 0.0329: each up to the next cent.
  expect(fees('AAPL260717C00150000', 'SELL', 10, '5000')).toEqual({
    SEC: '0.11',
    TAF: '0.04',
    OCC: '0.25',
    ORF: '0.2',
  });
  // Before 2025-02-14: 0.02 a contract, 55 an order at most.
  expect(fees('AAPL250717C00150000', 'BUY', 5000, '5000', '2025-01-06')).toEqual({ OCC: '55', ORF: '100' });
});

test('options on a broad index are exempt from the SEC fee and pay the exchange fee by premium', () => {
  expect(fees('SPXW260717C06000000', 'SELL', 2, '180')).toEqual({ OCC: '0.05', ORF: '0.04', EXCHANGE: '1' });
  expect(fees('SPX260717C06000000', 'BUY', 2, '2000')).toEqual({
    OCC: '0.05',
    ORF: '0.04',
    EXCHANGE: '1.32',
  });
  expect(fees('XSP260717C00600000', 'BUY', 9, '2000')).toEqual({ OCC: '0.23', ORF: '0.18' });
});

test('futures cost the exchange and NFA on both sides', () => {
  expect(fees('ES', 'BUY', 3, '900000')).toEqual({ EXCHANGE: '4.14', NFA: '0.06' });
  expect(fees('MES', 'SELL', 1, '30000')).toEqual({ EXCHANGE: '0.35', NFA: '0.02' });
  expect(fees('MGC', 'BUY', 2, '80000')).toEqual({ EXCHANGE: '1.5', NFA: '0.04' });
  expect(fees('SIL', 'BUY', 1, '50000')).toEqual({ EXCHANGE: '1', NFA: '0.02' });
  expect(fees('MCL', 'BUY', 1, '6000')).toEqual({ EXCHANGE: '0.5', NFA: '0.02' });
  expect(fees('GC', 'SELL', 1, '400000')).toEqual({ EXCHANGE: '1.6', NFA: '0.02' });
});

test('the exchange fee of index options changes at the premiums of the schedule, and XSP costs from ten contracts on', () => {
  const exchangeFee = (symbol: string, contracts: number, dollars: string): string | undefined =>
    fees(symbol, 'BUY', contracts, dollars).EXCHANGE;
  expect(exchangeFee('SPX260717C06000000', 1, '99')).toBe('0.57');
  expect(exchangeFee('SPX260717C06000000', 1, '100')).toBe('0.66');
  expect(exchangeFee('VIX260722C00020000', 1, '10')).toBe('0.1');
  expect(exchangeFee('VIXW260715C00020000', 1, '11')).toBe('0.25');
  expect(exchangeFee('VIX260722C00020000', 1, '100')).toBe('0.4');
  expect(exchangeFee('VIXW260715C00020000', 1, '200')).toBe('0.45');
  expect(exchangeFee('NDXP260717C20000000', 4, '200')).toBe('1');
  expect(exchangeFee('RUT260717C02000000', 4, '200')).toBeUndefined();
  expect(exchangeFee('XSP260717C00600000', 10, '2000')).toBe('0.7');
});

test('clearing and trading activity fees of options change on the dates of their schedules', () => {
  const option = 'AAPL260717C00150000';
  expect(fees(option, 'BUY', 3000, '5000', '2025-02-13').OCC).toBe('55');
  expect(fees(option, 'BUY', 3000, '5000', '2025-02-14').OCC).toBe('75');
  // 40 × 0.00279 = 0.1116 and 40 × 0.00329 = 0.1316, each up to the next cent.
  expect(fees(option, 'SELL', 40, '0', '2025-12-31').TAF).toBe('0.12');
  expect(fees(option, 'SELL', 40, '0', '2026-01-01').TAF).toBe('0.14');
});
