import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { BrokerConfiguration, CommissionSchedule } from '../brokers/broker.js';
import { commissionDue } from './commission.js';

const free: CommissionSchedule = { perOrder: Money.zero, perUnit: Money.zero };

function brokerWith(equityCommission: CommissionSchedule): BrokerConfiguration {
  return {
    id: 'test',
    name: 'Test',
    equityCommission,
    optionCommission: { perOrder: Money.zero, perUnit: Money.parse('0.65')! },
    futureCommission: { perOrder: Money.zero, perUnit: Money.parse('2.25')! },
    passesRegulatoryFees: true,
    orderTypes: ['MARKET', 'LIMIT'],
    timesInForce: ['DAY'],
    sessions: ['REGULAR'],
    fractionalShares: true,
    shortSelling: true,
    optionLevel: 4,
    futures: true,
    queuesWhenClosed: true,
    marginInterestTiers: [{ from: Money.zero, rateAnnualBps: 600 }],
    houseMaintenanceLongBps: 2500,
    houseMaintenanceShortBps: 3000,
  };
}

const perShare = (rate: string): CommissionSchedule => ({
  perOrder: Money.zero,
  perUnit: Money.parse(rate)!,
});
const equity = (schedule: CommissionSchedule, quantity: string, value = '1000000'): string =>
  Money.format(commissionDue(brokerWith(schedule), 'SHARES', Quantity.parse(quantity)!, Money.parse(value)!));

describe('commissionDue', () => {
  test.each([
    ['0.0045', '100', '0.45'],
    ['0.0045', '1', '0'], // 0.45 cents
    ['0.0045', '10', '0.05'], // 4.5 cents: the half goes up
    ['0.0035', '3', '0.01'], // 1.05 cents
    ['0.005', '1', '0.01'], // half a cent goes up
    ['0.003', '0.5', '0'],
    ['0.005', '1000000', '5000'],
  ])('%s a share on %s shares is %s', (rate, quantity, expected) => {
    expect(equity(perShare(rate), quantity)).toBe(expected);
  });

  test('a commission per order is owed once, from the first share on', () => {
    const schedule = { perOrder: Money.parse('4.95')!, perUnit: Money.zero };
    expect(equity(schedule, '0')).toBe('0');
    expect(equity(schedule, '0.000001')).toBe('4.95');
    expect(equity(schedule, '5000')).toBe('4.95');
  });

  test('the minimum lifts, the maxima cut, and a maximum wins over the minimum', () => {
    const schedule = {
      ...perShare('0.005'),
      minimum: Money.parse('1')!,
      maximum: Money.parse('50')!,
      maximumOfValueBps: 100,
    };
    expect(equity(schedule, '100')).toBe('1');
    expect(equity(schedule, '20000')).toBe('50');
    expect(equity(schedule, '100', '25')).toBe('0.25');
  });

  test('options and futures are charged by their own schedules, per contract', () => {
    const broker = brokerWith(free);
    const ten = Quantity.of(10);
    expect(Money.format(commissionDue(broker, 'SHARE_OPTIONS', ten, Money.ofDollars(5000)))).toBe('6.5');
    expect(Money.format(commissionDue(broker, 'FUTURES', ten, Money.ofDollars(5000)))).toBe('22.5');
  });
});

const cents = fc.integer({ min: 0, max: 10_000 }).map((n) => Money.ofUnits(n * 100));
const schedules: fc.Arbitrary<CommissionSchedule> = fc.record(
  {
    perOrder: cents,
    perUnit: fc.integer({ min: 0, max: 30_000 }).map(Money.ofUnits),
    minimum: cents,
    maximum: cents,
    maximumOfValueBps: fc.integer({ min: 1, max: 500 }),
  },
  { requiredKeys: ['perOrder', 'perUnit'] },
);
const fills = fc.array(
  fc.record({
    quantity: fc.integer({ min: 1, max: 1e12 }).map(Quantity.ofUnits),
    value: fc.integer({ min: 0, max: 1e12 }).map(Money.ofUnits),
  }),
  { minLength: 1, maxLength: 20 },
);

describe('commissionDue, properties', () => {
  test('splitting an order into executions never changes its commission, and no charge is negative', () => {
    fc.assert(
      fc.property(schedules, fills, (schedule, parts) => {
        const broker = brokerWith(schedule);
        let quantity = Quantity.zero;
        let value = Money.zero;
        let charged = Money.zero;
        for (const part of parts) {
          quantity = Quantity.add(quantity, part.quantity);
          value = Money.add(value, part.value);
          const charge = Money.subtract(commissionDue(broker, 'SHARES', quantity, value), charged);
          expect(charge).toBeGreaterThanOrEqual(0);
          charged = Money.add(charged, charge);
        }
        expect(charged).toBe(commissionDue(broker, 'SHARES', quantity, value));
      }),
    );
  });

  test('agrees with decimal arithmetic rounded half up once', () => {
    fc.assert(
      fc.property(
        schedules,
        fc.integer({ min: 1, max: 1e13 }),
        fc.integer({ min: 0, max: 1e14 }),
        (s, q, v) => {
          const dollars = (money: Money): Decimal => new Decimal(money).div(1e4);
          const toCents = (amount: Decimal): Decimal => amount.toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
          const raw = dollars(s.perOrder).plus(dollars(s.perUnit).times(new Decimal(q).div(1e6)));
          let expected = toCents(raw);
          if (s.minimum !== undefined) expected = Decimal.max(expected, dollars(s.minimum));
          if (s.maximum !== undefined) expected = Decimal.min(expected, dollars(s.maximum));
          if (s.maximumOfValueBps !== undefined) {
            const cap = toCents(new Decimal(v).div(1e4).times(s.maximumOfValueBps).div(1e4));
            expected = Decimal.min(expected, cap);
          }
          const due = commissionDue(brokerWith(s), 'SHARES', Quantity.ofUnits(q), Money.ofUnits(v));
          expect(Money.format(due)).toBe(expected.toFixed());
        },
      ),
    );
  });
});

test('commissionDue: a cap by value is rounded half up to the cent', () => {
  const broker = brokerWith({ perOrder: Money.ofDollars(5), perUnit: Money.zero, maximumOfValueBps: 100 });
  const due = (value: string): Money => commissionDue(broker, 'SHARES', Quantity.of(1), Money.parse(value)!);
  expect([due('0.49'), due('0.50'), due('1.49'), due('1.50')]).toEqual(
    ['0', '0.01', '0.01', '0.02'].map((dollars) => Money.parse(dollars)!),
  );
});
