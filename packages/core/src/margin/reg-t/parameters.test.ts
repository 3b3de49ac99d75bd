import { expect, it } from 'vitest';
import { TradingDate } from '../../values/trading-date.js';
import { stockRates } from './contracts.js';
import { isLongDated, regTParametersOn } from './parameters.js';

const on = (date: string): TradingDate => TradingDate.of(date);

it.each([
  ['2026-10-05', false],
  ['2026-10-06', true],
  ['2026-09-30', false],
  ['2026-11-01', true],
])('nine calendar months from 2026-01-05: %s is more (D99): %s', (expiration, isMore) => {
  expect(isLongDated(on(expiration), on('2026-01-05'), 9)).toBe(isMore);
});

it('the rates of stock grow with a factor, and end at all of its value (D100)', () => {
  const asOf = on('2026-01-05');
  const rates = (long: number, short: number, factor: number) =>
    stockRates(
      {
        parameters: regTParametersOn(asOf),
        house: { houseMaintenanceLongBps: long, houseMaintenanceShortBps: short },
        asOf,
      },
      factor,
    );
  expect(rates(2500, 3000, 3)).toEqual({ long: 7500, short: 9000 });
  expect(rates(3000, 3500, 2)).toEqual({ long: 6000, short: 7000 });
  expect(rates(4000, 4000, 3)).toEqual({ long: 10_000, short: 10_000 });
  expect(rates(0, 0, 1)).toEqual({ long: 2500, short: 3000 });
});
