import { readFile } from 'node:fs/promises';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import {
  feesOwedBeyond,
  saleFees,
  SEC_FEE_RATES,
  TRADING_ACTIVITY_FEE_RATES,
  type FeeCharge,
} from './regulatory.js';

const sale = (date: string, quantity: string, value: string): Record<string, string> =>
  Object.fromEntries(
    saleFees({
      side: 'SELL',
      tradeDate: TradingDate.of(date),
      cumulativeQuantity: Quantity.parse(quantity)!,
      cumulativeValue: Money.parse(value)!,
    }).map((fee) => [fee.name, Money.format(fee.amount)]),
  );

describe('saleFees', () => {
  test('2026: $20.60 per million and $0.000195 a share, each up to the next cent', () => {
    expect(sale('2026-06-01', '100', '18750')).toEqual({ SEC: '0.39', TAF: '0.02' }); // 0.38625, 0.0195
    expect(sale('2026-06-01', '1', '1')).toEqual({ SEC: '0.01', TAF: '0.01' });
  });

  test('an amount that is whole cents already is not raised', () => {
    expect(sale('2026-06-01', '10000', '1000000')).toEqual({ SEC: '20.6', TAF: '1.95' });
  });

  test('the SEC fee changes on the day its advisory names', () => {
    expect(sale('2025-05-13', '100', '10000')).toEqual({ SEC: '0.28', TAF: '0.02' });
    expect(sale('2025-05-14', '100', '10000')).toEqual({ TAF: '0.02' });
    expect(sale('2026-04-03', '100', '10000')).toEqual({ TAF: '0.02' });
    expect(sale('2026-04-04', '100', '10000')).toEqual({ SEC: '0.21', TAF: '0.02' });
  });

  test('the TAF stops at its maximum', () => {
    expect(sale('2025-12-31', '1000000', '1000')['TAF']).toBe('8.3');
    expect(sale('2026-01-01', '1000000', '1000')['TAF']).toBe('9.79');
    expect(sale('2026-01-01', '50205', '1000')['TAF']).toBe('9.79');
    expect(sale('2026-01-01', '50153', '1000')['TAF']).toBe('9.78');
  });

  test('before the tables begin nothing is charged', () => {
    expect(sale('1998-01-02', '100', '10000')).toEqual({});
  });

  test('purchases are exempt', () => {
    const order = {
      tradeDate: TradingDate.of('2026-06-01'),
      cumulativeQuantity: Quantity.of(100),
      cumulativeValue: Money.ofDollars(10_000),
    };
    expect(saleFees({ ...order, side: 'BUY' })).toEqual([]);
  });

  test('the tables are in the order of their dates', () => {
    for (const table of [SEC_FEE_RATES, TRADING_ACTIVITY_FEE_RATES]) {
      const dates = table.map((rate) => rate.effectiveFrom);
      expect(dates).toEqual([...new Set(dates)].sort());
    }
  });
});

test('docs/rules/fees.md shows both tables unchanged', async () => {
  const page = await readFile(new URL('../../../../docs/rules/fees.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (\d{4}-\d\d-\d\d) \|([\d. |]+)\|/gm)].map(([, date, figures]) => [
    date,
    ...(figures ?? '').split('|').map((figure) => figure.trim()),
  ]);
  expect(rows).toEqual([
    ...SEC_FEE_RATES.map((rate) => [rate.effectiveFrom, (rate.centsPerMillion / 100).toFixed(2)]),
    ...TRADING_ACTIVITY_FEE_RATES.map((rate) => [
      rate.effectiveFrom,
      new Decimal(rate.microDollarsPerShare).div(1e6).toFixed(),
      new Decimal(rate.cap).div(1e4).toFixed(2),
    ]),
  ]);
});

const dates = fc
  .integer({ min: 0, max: 8000 })
  .map((n) => TradingDate.plusDays(TradingDate.of('2006-01-01'), n));
const totalOf = (fees: readonly FeeCharge[]): Money =>
  fees.reduce((sum, fee) => Money.add(sum, fee.amount), Money.zero);

describe('saleFees, properties', () => {
  test('splitting a sale into executions on one day never changes its fees, and no charge is negative', () => {
    const fills = fc.array(
      fc.record({
        quantity: fc.integer({ min: 1, max: 1e11 }).map(Quantity.ofUnits),
        value: fc.integer({ min: 0, max: 1e12 }).map(Money.ofUnits),
      }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(dates, fills, (tradeDate, parts) => {
        const order = { side: 'SELL', tradeDate } as const;
        let cumulativeQuantity = Quantity.zero;
        let cumulativeValue = Money.zero;
        const charged: FeeCharge[] = [];
        for (const part of parts) {
          cumulativeQuantity = Quantity.add(cumulativeQuantity, part.quantity);
          cumulativeValue = Money.add(cumulativeValue, part.value);
          const due = saleFees({ ...order, cumulativeQuantity, cumulativeValue });
          const charges = feesOwedBeyond(charged, due);
          for (const charge of charges) expect(charge.amount).toBeGreaterThan(0);
          charged.push(...charges);
        }
        const whole = saleFees({ ...order, cumulativeQuantity, cumulativeValue });
        expect(totalOf(charged)).toBe(totalOf(whole));
        expect(feesOwedBeyond(charged, whole)).toEqual([]);
      }),
    );
  });

  test('agrees with decimal arithmetic rounded up once', () => {
    fc.assert(
      fc.property(
        dates,
        fc.integer({ min: 1, max: 1e13 }),
        fc.integer({ min: 1, max: 1e14 }),
        (date, q, v) => {
          const latest = <Rate extends { effectiveFrom: TradingDate }>(
            table: readonly Rate[],
          ): Rate | undefined => table.filter((rate) => rate.effectiveFrom <= date).at(-1);
          const sec = latest(SEC_FEE_RATES);
          const taf = latest(TRADING_ACTIVITY_FEE_RATES)!;
          const up = (amount: Decimal): Decimal => amount.toDecimalPlaces(2, Decimal.ROUND_UP);
          const expected = {
            SEC: up(
              new Decimal(v)
                .div(1e4)
                .times(sec?.centsPerMillion ?? 0)
                .div(1e8),
            ),
            TAF: Decimal.min(
              up(new Decimal(q).div(1e6).times(taf.microDollarsPerShare).div(1e6)),
              new Decimal(taf.cap).div(1e4),
            ),
          };
          const fees = saleFees({
            side: 'SELL',
            tradeDate: date,
            cumulativeQuantity: Quantity.ofUnits(q),
            cumulativeValue: Money.ofUnits(v),
          });
          const amountOf = (name: string): string =>
            Money.format(fees.find((fee) => fee.name === name)?.amount ?? Money.zero);
          expect(amountOf('SEC')).toBe(expected.SEC.toFixed());
          expect(amountOf('TAF')).toBe(expected.TAF.toFixed());
        },
      ),
    );
  });
});
