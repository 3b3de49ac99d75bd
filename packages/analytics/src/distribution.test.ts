import { describe, expect, it } from 'vitest';
import { dailyReturnsOf, histogramOf, rollingSharpeOf, roundStep } from './distribution.js';

const day = (index: number): string => new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10);

describe('dailyReturnsOf', () => {
  const tenth: unknown = expect.closeTo(0.1, 12);

  it('excludes cash flows and the unfinished day', () => {
    const days = dailyReturnsOf([
      { at: 0, equity: 100 },
      { at: 1, equity: 110, closeOf: day(0) },
      { at: 2, equity: 110, flow: 90 },
      { at: 3, equity: 220, closeOf: day(1) },
      { at: 4, equity: 500 },
    ]);
    expect(days).toEqual([
      { date: day(0), return: tenth },
      { date: day(1), return: tenth },
    ]);
  });
});

describe('rollingSharpeOf', () => {
  it('is the Sharpe ratio of each window, by its definition', () => {
    const returns = [0.01, -0.02, 0.015, 0.003, -0.001];
    const days = returns.map((value, index) => ({ date: day(index), return: value }));
    const rolling = rollingSharpeOf(days, 3, 0.0001, 252);
    expect(rolling.map(({ date }) => date)).toEqual([day(2), day(3), day(4)]);
    for (const [index, { sharpe }] of rolling.entries()) {
      const window = returns.slice(index, index + 3).map((value) => value - 0.0001);
      const mean = window.reduce((sum, value) => sum + value, 0) / 3;
      const deviation = Math.sqrt(window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2);
      expect(sharpe).toBeCloseTo((mean / deviation) * Math.sqrt(252), 10);
    }
  });

  it('leaves out windows without variation, and is empty for too few days', () => {
    const flat = Array.from({ length: 5 }, (_, index) => ({ date: day(index), return: 0 }));
    expect(rollingSharpeOf(flat, 3, 0, 252)).toEqual([]);
    expect(rollingSharpeOf(flat, 63, 0, 252)).toEqual([]);
  });
});

describe('histogramOf', () => {
  it('counts every value once, with a bound at 0', () => {
    const values = [-0.031, -0.01, 0, 0.004, 0.011, 0.02];
    const bins = histogramOf(values, 5);
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
    expect(bins.some(({ from }) => from === 0)).toBe(true);
    for (const { from, to } of bins) expect(from < 0 && to > 0).toBe(false);
  });

  it('has one range for one value, and none for none', () => {
    expect(histogramOf([], 10)).toEqual([]);
    expect(histogramOf([0, 0], 10)).toEqual([{ from: 0, to: 1, count: 2 }]);
    expect(histogramOf([-3], 10)).toHaveLength(1);
  });
});

it('roundStep gives a round number at or above', () => {
  expect([0.011, 0.02, 0.3, 1, 7, 24].map(roundStep)).toEqual([0.02, 0.02, 0.5, 1, 10, 25]);
});
