import { expect, test } from 'vitest';
import { CATALOG, catalogEntry } from './catalog.js';

test('catalog: lists at least 64 instruments, each once, with plausible figures', () => {
  expect(CATALOG.length).toBeGreaterThanOrEqual(64);
  expect(new Set(CATALOG.map(({ equity }) => equity.symbol)).size).toBe(CATALOG.length);
  for (const { equity, basePrice, typicalSpread, typicalLots } of CATALOG) {
    expect(equity.symbol).toMatch(/^[A-Z]{1,5}(\.[A-Z])?$/);
    expect(equity.dailyVolatility).toBeGreaterThan(0.002);
    expect(equity.dailyVolatility).toBeLessThan(0.08);
    expect(equity.averageDailyVolume).toBeGreaterThan(1_000_000);
    expect(equity.borrowRateAnnual).toBeGreaterThan(0);
    expect(typicalSpread / basePrice).toBeLessThan(0.006);
    expect(Number.isInteger(typicalLots) && typicalLots >= 1).toBe(true);
  }
});

test('catalog: has leveraged and inverse funds, shares below five dollars and below one, and some that cannot be shorted', () => {
  expect(catalogEntry('TQQQ')?.equity.leverageFactor).toBe(3);
  expect(catalogEntry('SQQQ')?.equity.leverageFactor).toBe(-3);
  expect(catalogEntry('UPRO')?.equity.leverageFactor).toBe(3);
  expect(CATALOG.filter(({ basePrice }) => basePrice < 5).length).toBeGreaterThanOrEqual(3);
  expect(CATALOG.filter(({ basePrice }) => basePrice < 1).length).toBeGreaterThanOrEqual(1);
  expect(CATALOG.filter(({ equity }) => !equity.shortable).length).toBeGreaterThanOrEqual(1);
});

test('catalogEntry: returns undefined for an unknown symbol', () => {
  expect(catalogEntry('NOPE')).toBeUndefined();
});
