/** Regimes of synthetic markets (D210): what each promises, over many seeds. */
import { calendarById, exp, hash32, Instant, TradingDate } from '@sandpit/core';
import { describe, expect, it } from 'vitest';
import { catalogEntry } from '../catalog.js';
import type { CatalogEntry } from '../catalog.js';
import { variancePerSecond } from './factor-draws.js';
import { LARGEST_NORMAL_DRAW, normalDraw } from './normal-draw.js';
import { PriceModel } from './price-model.js';
import type { Regime } from '../regime.js';
import { RegimePath } from './regime-path.js';
import { SyntheticFeed } from './synthetic-feed.js';

const calendar = calendarById('XNYS');
const at = (date: string, hour: number, minute = 0): Instant =>
  calendar.instantOf(TradingDate.of(date), hour, minute);
const START = at('2026-01-05', 9, 30);
const second = (instant: Instant): number => instant / 1000;
const entryOf = (symbol: string): CatalogEntry => catalogEntry(symbol) as CatalogEntry;
const regime = (more: Partial<Regime> = {}): Regime => ({ start: START, drift: 0, ...more });
const YEAR = 365.25 * 86_400;

/** Mean and its standard error. */
function meanOf(values: readonly number[]): { readonly mean: number; readonly error: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, error: Math.sqrt(variance / values.length) };
}

/** True if a mean is compatible with a value: 4.5 standard errors are exceeded by chance once in 150,000 times. */
const isMean = (values: readonly number[], expected: number): boolean => {
  const { mean, error } = meanOf(values);
  return Math.abs(mean - expected) < 4.5 * error;
};

const seedsUpTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const pathOf = (seed: number, symbol: string, terms: Regime): RegimePath =>
  new RegimePath(seed, entryOf(symbol), terms, calendar);

describe('no-edge', () => {
  it('has a martingale in the middle: over 10,000 seeds no rule on the past earns anything', () => {
    const day = second(at('2026-01-06', 10));
    const week = second(at('2026-01-12', 10));
    const month = second(at('2026-02-05', 10));
    const profits: Record<string, number[]> = {
      buy: [],
      momentum: [],
      reversal: [],
      'cross momentum': [],
      'far from the base price': [],
    };
    for (const seed of seedsUpTo(10_000)) {
      const path = pathOf(seed, 'AAPL', regime());
      const other = pathOf(seed, 'MSFT', regime());
      const [now, then, end] = [day, week, month].map((one) => exp(path.at(one))) as [number, number, number];
      const gain = (end - then) / then;
      const moved = Math.log(then / now);
      profits['buy']?.push(end - 1);
      profits['momentum']?.push(Math.sign(moved) * gain);
      profits['reversal']?.push(-moved * gain * 100);
      profits['cross momentum']?.push(Math.sign(other.at(week) - other.at(day)) * gain);
      profits['far from the base price']?.push(Math.sign(then - 1) * gain);
    }
    const earning = Object.entries(profits).filter(([, values]) => !isMean(values, 0));
    expect(earning.map(([name, values]) => [name, meanOf(values)])).toEqual([]);
  });

  it('the usual market has an edge: far from its base price it returns', () => {
    const gains = seedsUpTo(2000).map((seed) => {
      const model = new PriceModel({ seed, calendar }, entryOf('AAPL'));
      const [then, end] = [model.middleAt(second(START)), model.middleAt(second(START) + YEAR / 2)];
      return -Math.sign(then - entryOf('AAPL').basePrice) * (end / then - 1);
    });
    expect(isMean(gains, 0)).toBe(false);
    expect(meanOf(gains).mean).toBeGreaterThan(0.05);
  });

  it('costs remain: bid ≤ middle < ask in every quote, so that a round trip costs the spread on average', () => {
    const costs = seedsUpTo(4000).map((seed) => {
      const symbol = ['AAPL', 'INTC', 'PLUG', 'MULN'][seed % 4] as string;
      const model = new PriceModel({ seed, calendar, regime: regime() }, entryOf(symbol));
      const [buy, sell] = [0, 1].map((turn) => second(START) + (hash32(seed, 7, turn) % 100_000)) as [
        number,
        number,
      ];
      for (const one of [buy, sell]) {
        const { bid, ask } = model.quoteAt(one);
        const middle = model.middleAt(one) * 1e8;
        if (bid === undefined || ask === undefined || bid > middle * (1 + 1e-12) || ask <= middle)
          throw new Error(`${symbol} ${seed}: ${bid} ${middle} ${ask}`);
      }
      const { ask = 0 } = model.quoteAt(buy);
      const { bid = 0 } = model.quoteAt(sell);
      const cost = ask / 1e8 - model.middleAt(buy) + model.middleAt(sell) - bid / 1e8;
      return { cost, profit: (buy < sell ? 1 : -1) * ((bid - ask) / 1e8 + cost) };
    });
    expect(
      isMean(
        costs.map(({ profit }) => profit),
        0,
      ),
    ).toBe(true);
    expect(meanOf(costs.map(({ cost }) => cost)).mean).toBeGreaterThan(0.005);
  });

  it('increments over seconds, nights and blocks of the path are independent', () => {
    // Squares too: a sum of bytes instead of normal draws would show there.
    const pairs = seedsUpTo(10_000).map((seed) => {
      const path = pathOf(seed, 'KO', regime());
      const block = Math.ceil(second(START) / 2 ** 24) * 2 ** 24;
      const [a, b, c] = [block - 1, block, block + 1].map((one) => path.at(one)) as [number, number, number];
      const [d, e, f] = [2, 3, 4].map((one) => path.at(second(START) + one)) as [number, number, number];
      const unit = 1e6;
      return [
        (b - a) * (c - b) * unit ** 2,
        (e - d) * (f - e) * unit ** 2,
        ((e - d) * unit) ** 3 * (f - e) * unit,
      ];
    });
    for (const place of [0, 1, 2])
      expect(
        isMean(
          pairs.map((one) => one[place] as number),
          0,
        ),
      ).toBe(true);
  });
});

describe('regimes', () => {
  const yearOf = (terms: Regime, symbol = 'SPY', count = 600): number[] =>
    seedsUpTo(count).map((seed) => pathOf(seed, symbol, terms).at(second(START) + YEAR));
  const deviation = (values: readonly number[]): number => meanOf(values).error * Math.sqrt(values.length);

  it('drift is the expected return of the price, jumps and gaps included', () => {
    const spy = new RegimePath(1, entryOf('SPY'), regime(), calendar);
    expect(spy.at(second(START))).toBe(0);
    for (const drift of [-0.4, 0.25])
      for (const more of [{}, { jumps: { perYear: 30, size: 0.05 } }, { gap: 0.01 }]) {
        const prices = yearOf(regime({ drift, volatility: 0.2, ...more }), 'SPY', 1500).map(exp);
        expect([drift, more, isMean(prices, exp(drift))]).toEqual([drift, more, true]);
        expect(isMean(prices, exp(-drift))).toBe(false);
      }
    // Twice the exposure, twice the drift.
    expect(isMean(yearOf(regime({ drift: 0.2 }), 'SSO').map(exp), exp(0.4))).toBe(true);
  });

  it('volatility, jumps and gaps add up to the variance that they say', () => {
    const usual = deviation(yearOf(regime()));
    expect(deviation(yearOf(regime({ volatility: 2 * 0.009 * Math.sqrt(252) }))) / usual).toBeCloseTo(2, 1);
    const quiet = { volatility: 0.01 };
    const jumping = deviation(yearOf(regime({ ...quiet, jumps: { perYear: 25, size: 0.04 } }), 'KO'));
    expect(jumping / (0.04 * Math.sqrt(25))).toBeCloseTo(1, 1);
    const gapping = deviation(yearOf(regime({ ...quiet, gap: 0.02 }), 'SPY', 1500));
    expect(gapping / (0.02 * Math.sqrt(251))).toBeCloseTo(1, 1);
  });

  it('a gap lies between two trading days, a jump anywhere', () => {
    const path = pathOf(3, 'SPY', regime({ volatility: 0.001, gap: 0.05 }));
    const open = second(at('2026-01-06', 4));
    expect(Math.abs(path.at(open) - path.at(open - 1))).toBeGreaterThan(0.001);
    expect(Math.abs(path.at(open - 1) - path.at(second(at('2026-01-05', 20))))).toBeLessThan(0.0005);
    expect(
      Math.abs(path.at(second(at('2026-01-11', 12))) - path.at(second(at('2026-01-10', 12)))),
    ).toBeLessThan(0.0005);
  });

  it('bars have the extremes of all seconds; a leveraged fund follows its fund; quotes do not depend on the order of questions', async () => {
    const terms = regime({ drift: 1, volatility: 0.4, jumps: { perYear: 250, size: 0.1 }, gap: 0.05 });
    const open = (): SyntheticFeed =>
      new SyntheticFeed({ seed: 5, regime: terms, calendar, riskFreeRate: 0.04 });
    for (const [symbol, date] of [
      ['TQQQ', '2026-01-05'],
      ['TQQQ', '2025-11-03'],
    ] as const) {
      const feed = open();
      const [bar] = await feed.bars({
        symbol,
        size: '1Hour',
        from: at(date, 11),
        until: at(date, 12),
        limit: 1,
      });
      const lasts = Array.from(
        { length: 3600 },
        (_, index) => feed.quoteAt(symbol, Instant.plusMs(at(date, 11), index * 1000))?.last ?? 0,
      );
      expect(bar).toMatchObject({ high: Math.max(...lasts), low: Math.min(...lasts), close: lasts.at(-1) });
      expect(open().quoteAt(symbol, at(date, 11, 30))).toEqual(feed.quoteAt(symbol, at(date, 11, 30)));
    }
    const later = 40 * 86_400;
    const [fund, leveraged] = ['QQQ', 'TQQQ'].map((symbol) =>
      pathOf(5, symbol, regime()).at(second(START) + later),
    ) as [number, number];
    // Three times the logarithm, less what keeps both martingales.
    expect(leveraged).toBeCloseTo(3 * fund - 3 * variancePerSecond(entryOf('QQQ')) * later, 10);
  });

  it('the volatility index and option values follow the volatility', () => {
    const ivOf = (volatility: number): number => {
      const terms = regime({ volatility });
      const feed = new SyntheticFeed({ seed: 5, regime: terms, calendar, riskFreeRate: 0.04 });
      return feed.quoteAt('VIX', START)?.last ?? 0;
    };
    expect(ivOf(0.4) / ivOf(0.2)).toBeCloseTo(2, 2);
  });
});

describe('normalDraw', () => {
  it.each([
    [0x80000000, 0],
    [Math.round(0.975 * 2 ** 32), 1.959963984540054],
    [Math.round(0.99 * 2 ** 32), 2.3263478740408408],
    [Math.round(0.999 * 2 ** 32), 3.090232306167813],
  ])('of hash %i is the quantile of the normal distribution', (hash, quantile) => {
    expect(normalDraw(hash)).toBeCloseTo(quantile, 6);
    expect(normalDraw(0xffffffff - hash)).toBe(-normalDraw(hash));
  });

  it('is bounded, monotonic and has variance 1', () => {
    const draws = Array.from({ length: 65_536 }, (_, index) => normalDraw(index * 65_536 + 32_768));
    expect(draws.every((draw, index) => index === 0 || draw > (draws[index - 1] as number))).toBe(true);
    expect(draws.reduce((sum, draw) => sum + draw * draw, 0) / draws.length).toBeCloseTo(1, 3);
    expect(LARGEST_NORMAL_DRAW).toBeCloseTo(6.34, 1);
    expect(normalDraw(0)).toBe(-LARGEST_NORMAL_DRAW);
  });
});
