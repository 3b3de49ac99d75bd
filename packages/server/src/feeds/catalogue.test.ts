import { expect, test } from 'vitest';
import { CATALOGUE, catalogueEntry } from './catalogue.js';

test('catalogue: lists at least 64 instruments, each once, with plausible figures', () => {
  expect(CATALOGUE.length).toBeGreaterThanOrEqual(64);
  expect(new Set(CATALOGUE.map(({ equity }) => equity.symbol)).size).toBe(CATALOGUE.length);
  for (const { equity, basePrice, typicalSpread, typicalLots } of CATALOGUE) {
    expect(equity.symbol).toMatch(/^[A-Z]{1,5}(\.[A-Z])?$/);
    expect(equity.dailyVolatility).toBeGreaterThan(0.002);
    expect(equity.dailyVolatility).toBeLessThan(0.08);
    expect(equity.averageDailyVolume).toBeGreaterThan(1_000_000);
    expect(equity.borrowRateAnnual).toBeGreaterThan(0);
    expect(typicalSpread / basePrice).toBeLessThan(0.006);
    expect(Number.isInteger(typicalLots) && typicalLots >= 1).toBe(true);
  }
});

test('catalogue: has leveraged and inverse funds, shares below five dollars and below one, and some that cannot be shorted', () => {
  expect(catalogueEntry('TQQQ')?.equity.leverageFactor).toBe(3);
  expect(catalogueEntry('SQQQ')?.equity.leverageFactor).toBe(-3);
  expect(catalogueEntry('UPRO')?.equity.leverageFactor).toBe(3);
  expect(CATALOGUE.filter(({ basePrice }) => basePrice < 5).length).toBeGreaterThanOrEqual(3);
  expect(CATALOGUE.filter(({ basePrice }) => basePrice < 1).length).toBeGreaterThanOrEqual(1);
  expect(CATALOGUE.filter(({ equity }) => !equity.shortable).length).toBeGreaterThanOrEqual(1);
});

test('catalogueEntry: returns undefined for an unknown symbol', () => {
  expect(catalogueEntry('NOPE')).toBeUndefined();
});
