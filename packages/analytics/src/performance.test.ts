import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EquityPoint } from './linked-index.js';
import { moneyWeightedReturn } from './money-weighted.js';
import { type Performance, type PerformanceInput, performanceOf } from './performance.js';
import { roundTripsOf } from './round-trips.js';
import { traded } from './testing/events.js';

const DAY = 86_400_000;
const START = Date.parse('2026-01-05T14:30:00Z');
const dateOf = (day: number): string => new Date(START + day * DAY).toISOString().slice(0, 10);

const NO_LEDGER = {
  commissions: 0,
  fees: 0,
  interest: 0,
  borrowFees: 0,
  dividends: 0,
  realized: 0,
  bought: 0,
  sold: 0,
};

function performance(points: readonly EquityPoint[], more: Partial<PerformanceInput> = {}): Performance {
  return performanceOf({
    points,
    exposures: [],
    ledger: NO_LEDGER,
    trips: [],
    periodsPerYear: 252,
    endDate: dateOf(Math.floor(((points.at(-1)?.at ?? START) - START) / DAY)),
    ...more,
  });
}

/** A close a day, the first one on the day after the start. */
const closes = (start: number, ...equities: readonly number[]): EquityPoint[] => [
  { at: START, equity: start },
  ...equities.map((equity, day) => ({ at: START + (day + 1) * DAY, equity, closeOf: dateOf(day + 1) })),
];

/** Doubles that differ by rounding only. */
const near = (value: number): unknown => expect.closeTo(value, 12);

describe('time-weighted return', () => {
  it('excludes a deposit: 10 % before and 10 % after it are 21 %', () => {
    const points: EquityPoint[] = [
      { at: START, equity: 100 },
      { at: START + DAY, equity: 110, flow: 890 },
      { at: START + 2 * DAY, equity: 1100, closeOf: dateOf(2) },
    ];
    expect(performance(points)).toMatchObject({ timeWeightedReturn: near(0.21), pnl: 110, netFlows: 890 });
  });

  it('begins with the first money of an empty portfolio', () => {
    const points: EquityPoint[] = [
      { at: START, equity: 0, flow: 1000 },
      { at: START + DAY, equity: 1100, closeOf: dateOf(1) },
    ];
    expect(performance(points)).toMatchObject({ timeWeightedReturn: near(0.1), startEquity: 0, pnl: 100 });
  });

  it('ends when equity is not positive, and reports it', () => {
    const result = performance(closes(100, 50, -10, 40));
    expect(result).toMatchObject({ endedAt: START + 2 * DAY, reason: 'EQUITY_NOT_POSITIVE' });
    expect(result).not.toHaveProperty('timeWeightedReturn');
    expect(result).not.toHaveProperty('annualizedReturn');
    expect(result).toMatchObject({ maxDrawdown: { fraction: -1, amount: -110 }, worstDay: { return: -1 } });
  });

  it('property: a return is the product of the returns of its parts', () => {
    const equity = fc.integer({ min: 100, max: 1_000_000 }).map((cents) => cents / 100);
    fc.assert(
      fc.property(
        fc.array(equity, { minLength: 3, maxLength: 20 }),
        fc.nat(),
        ([first = 1, ...rest], cut) => {
          const points = closes(first, ...rest);
          const at = 1 + (cut % (points.length - 2 || 1));
          const growth = (part: readonly EquityPoint[]): number =>
            1 + (performance(part).timeWeightedReturn ?? 0);
          const whole = growth(points);
          expect(growth(points.slice(0, at + 1)) * growth(points.slice(at))).toBeCloseTo(whole, 9);
        },
      ),
    );
  });

  it('property: flows alone make no return', () => {
    const flow = fc.integer({ min: -5_000, max: 50_000 }).map((cents) => cents / 100);
    fc.assert(
      fc.property(fc.array(flow, { maxLength: 20 }), (flows) => {
        let equity = 10_000;
        const points: EquityPoint[] = [{ at: START, equity }];
        flows.forEach((amount, day) => {
          points.push({ at: START + (day + 1) * DAY, equity, flow: amount });
          equity = Math.round((equity + amount) * 100) / 100;
        });
        points.push({ at: START + (flows.length + 1) * DAY, equity, closeOf: dateOf(flows.length + 1) });
        const result = performance(points);
        expect(result.timeWeightedReturn).toBeCloseTo(0, 9);
        expect(result.pnl).toBeCloseTo(0, 9);
        expect(result.maxDrawdown?.fraction).toBeCloseTo(0, 9);
      }),
    );
  });
});

describe('breaks (D239)', () => {
  const at = (day: number, hours = 0): number => START + day * DAY + hours * 3_600_000;
  const close = (day: number, equity: number): EquityPoint => ({
    at: at(day, 6.5),
    equity,
    closeOf: dateOf(day),
  });

  it('a withdrawal of everything links: 10 % before it and 20 % after it are 32 %, and its days do not count', () => {
    const result = performance([
      { at: at(0), equity: 1000 },
      close(0, 1100),
      { at: at(1), equity: 1100, flow: -1100 },
      close(1, 0),
      close(2, 0),
      { at: at(7), equity: 0, flow: 5000 },
      close(7, 6000),
    ]);
    expect(result).toMatchObject({
      timeWeightedReturn: near(0.32),
      pnl: 1100,
      netFlows: 3900,
      breaks: [{ from: at(1), to: at(7), reason: 'FLOW' }],
      segments: [
        { from: at(0), to: at(1), timeWeightedReturn: near(0.1), maxDrawdown: { fraction: 0 } },
        { from: at(7), to: at(7, 6.5), timeWeightedReturn: near(0.2) },
      ],
      bestDay: { date: dateOf(7), return: near(0.2) },
    });
    expect(result).not.toHaveProperty('endedAt');
    expect(result).not.toHaveProperty('since');
    // Days: 10 % of the first, 0 of the withdrawal, 20 % of the deposit.
    const returns = [0.1, 0, 0.2];
    const deviation = Math.sqrt(returns.reduce((sum, one) => sum + (one - 0.1) ** 2, 0) / 2);
    expect(result.volatility).toBeCloseTo(deviation * Math.sqrt(252), 12);
    expect(result.series.map(({ equity, return: growth }) => [equity, growth])).toEqual([
      [1000, 0],
      [1100, near(0.1)],
      [1100, near(0.1)],
      [0, near(0.1)],
      [0, undefined],
      [0, undefined],
      [0, undefined],
      [5000, near(0.1)],
      [6000, near(0.32)],
    ]);
  });

  it('a loss of everything ends returns until a deposit: 1,000 to −200, 700 in, 600 are 20 % since then', () => {
    const lost = [{ at: at(0), equity: 1000 }, close(0, -200), close(1, -200)];
    expect(performance(lost)).toMatchObject({
      endedAt: at(0, 6.5),
      reason: 'EQUITY_NOT_POSITIVE',
      breaks: [{ from: at(0, 6.5), reason: 'EQUITY_NOT_POSITIVE' }],
      segments: [{ timeWeightedReturn: -1 }],
    });
    const result = performance([...lost, { at: at(2), equity: -200, flow: 700 }, close(2, 600)]);
    expect(result).toMatchObject({
      since: at(2),
      timeWeightedReturn: near(0.2),
      pnl: -1100,
      netFlows: 700,
      breaks: [{ from: at(0, 6.5), to: at(2), reason: 'EQUITY_NOT_POSITIVE' }],
      segments: [
        { timeWeightedReturn: -1, maxDrawdown: { fraction: -1, amount: -1200 } },
        { timeWeightedReturn: near(0.2) },
      ],
      maxDrawdown: { fraction: 0, peakAt: at(2) },
      bestDay: { date: dateOf(2), return: near(0.2) },
      negativeDays: 0,
    });
    expect(result).not.toHaveProperty('endedAt');
    // A gain does not end a loss.
    expect(performance([...lost, close(2, 300)])).toMatchObject({ endedAt: at(0, 6.5) });
  });

  it('a withdrawal and a deposit of one day are linked in it; a fee in between ends nothing', () => {
    const result = performance([
      { at: at(0), equity: 1000 },
      { at: at(0, 1.5), equity: 1020, flow: -1020 },
      { at: at(0, 4.5), equity: -3.21, flow: 5000 },
      close(0, 5096.7258),
    ]);
    expect(result).toMatchObject({
      pnl: 116.73,
      breaks: [{ from: at(0, 1.5), to: at(0, 4.5), reason: 'FLOW' }],
      positiveDays: 1,
      bestDay: { date: dateOf(0), return: near(1.02 * (5096.7258 / 4996.79) - 1) },
    });
    expect(result).not.toHaveProperty('endedAt');
  });

  it('any valuation above 0 ends a break by a withdrawal, and its day does not count', () => {
    const result = performance([
      { at: at(0), equity: 1000 },
      { at: at(0, 1), equity: 1000, flow: -1000 },
      close(0, 0),
      close(1, 37),
      close(2, 74),
    ]);
    expect(result).toMatchObject({
      breaks: [{ from: at(0, 1), to: at(1, 6.5), reason: 'FLOW' }],
      timeWeightedReturn: near(1),
      positiveDays: 1,
      pnl: 74,
    });
  });

  it('a period that starts in a break has returns from its end on', () => {
    const points = [{ at: at(0), equity: -50 }, { at: at(1), equity: -50, flow: 150 }, close(1, 110)];
    expect(performance(points, { startsIn: 'EQUITY_NOT_POSITIVE' })).toMatchObject({
      since: at(1),
      timeWeightedReturn: near(0.1),
      breaks: [{ from: at(0), to: at(1), reason: 'EQUITY_NOT_POSITIVE' }],
    });
  });
});

describe('P&L by cause (D241)', () => {
  it('adds up to the P&L, charges negative', () => {
    const ledger = { ...NO_LEDGER, realized: 200, dividends: 37, commissions: 2, fees: 0.06 };
    const { pnl, attribution } = performance(closes(10_000, 10_474.94), { ledger });
    expect(attribution).toEqual({
      realized: 200,
      unrealized: 240,
      dividends: 37,
      interest: 0,
      borrowFees: 0,
      commissions: -2,
      fees: -0.06,
      other: 0,
    });
    expect(pnl).toBe(474.94);
  });
});

describe('money-weighted return', () => {
  it('of one year without flows is the return', () => {
    const points = [
      { at: START, equity: 100 },
      { at: START + 365 * DAY, equity: 112 },
    ];
    expect(moneyWeightedReturn(points, 0.12)).toEqual({ rate: near(0.12), annualized: true });
  });

  it('of half a year is not annualized', () => {
    const points = [
      { at: START, equity: 100 },
      { at: START + 73 * DAY, equity: 104 },
    ];
    expect(moneyWeightedReturn(points, 0.04)).toEqual({ rate: near(0.04), annualized: false });
  });

  it('weighs a late deposit less: 100 for two years and 100 for one at 10 % are 231', () => {
    const points = [
      { at: START, equity: 100 },
      { at: START + 365 * DAY, equity: 110, flow: 100 },
      { at: START + 730 * DAY, equity: 231 },
    ];
    expect(moneyWeightedReturn(points, 0.21)?.rate).toBeCloseTo(0.1, 12);
  });

  it('is absent if no rate explains the end', () => {
    const points = [
      { at: START, equity: 100 },
      { at: START + 2 * DAY, equity: 1000 },
    ];
    expect(moneyWeightedReturn(points, 9)).toBeUndefined();
  });
});

describe('daily statistics', () => {
  // Returns 0.1, −0.1, 0.2, 0: by the definitions, worked out by hand.
  const result = performance(closes(100, 110, 99, 118.8, 118.8), { riskFreeRate: 0.0252 });
  const returns = [0.1, -0.1, 0.2, 0];
  const mean = 0.05;
  const deviation = Math.sqrt(returns.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 3);

  it('volatility is the sample deviation times the root of 252', () => {
    expect(result.volatility).toBeCloseTo(deviation * Math.sqrt(252), 12);
  });

  it('Sharpe ratio is the mean excess over the deviation', () => {
    expect(result.sharpe).toBeCloseTo(((mean - 0.0001) / deviation) * Math.sqrt(252), 12);
  });

  it('Sortino ratio has all days in its downside deviation', () => {
    const downside = Math.sqrt((0.1001 ** 2 + 0.0001 ** 2) / 4);
    expect(result.sortino).toBeCloseTo(((mean - 0.0001) / downside) * Math.sqrt(252), 10);
  });

  it('best and worst day are named by date', () => {
    expect(result.bestDay).toEqual({ date: dateOf(3), return: near(0.2) });
    expect(result.worstDay).toEqual({ date: dateOf(2), return: near(-0.1) });
    expect(result).toMatchObject({ positiveDays: 2, negativeDays: 1 });
  });

  it('fewer than two days have no ratios, fewer than 21 no yearly return', () => {
    expect(performance(closes(100, 110))).not.toHaveProperty('volatility');
    expect(result).not.toHaveProperty('annualizedReturn');
    expect(result).not.toHaveProperty('calmar');
  });

  it('no variation leaves the ratios out', () => {
    const flat = performance(closes(100, 100, 100));
    expect(flat).toMatchObject({ volatility: 0, positiveDays: 0 });
    expect(flat).not.toHaveProperty('sharpe');
    expect(flat).not.toHaveProperty('sortino');
  });

  it('21 days are annualized and marked as less than a year', () => {
    const equities = Array.from({ length: 21 }, (_, day) => (day === 10 ? 90 : 100 + day));
    const yearly = performance(closes(100, ...equities));
    expect(yearly).toMatchObject({ periodShorterThanYear: true });
    expect(yearly.annualizedReturn).toBeCloseTo(1.2 ** (252 / 21) - 1, 9);
    expect(yearly.calmar).toBeCloseTo((1.2 ** 12 - 1) / (1 - 90 / 109), 9);
  });

  it('the unfinished day counts in the return and its month, not in the daily statistics', () => {
    const points = [...closes(100, 110), { at: START + 1.5 * DAY, equity: 121 }];
    expect(performance(points)).toMatchObject({
      timeWeightedReturn: near(0.21),
      positiveDays: 1,
      monthly: [{ month: '2026-01', return: near(0.21) }],
    });
  });
});

describe('maximum drawdown', () => {
  it('is the deepest fall of the index, with its amount and recovery', () => {
    expect(performance(closes(100, 120, 90, 96, 120, 118)).maxDrawdown).toEqual({
      fraction: near(-0.25),
      amount: -30,
      peakAt: START + DAY,
      troughAt: START + 2 * DAY,
      recoveredAt: START + 4 * DAY,
    });
  });

  it('counts the start as the first peak and ignores withdrawals', () => {
    const points: EquityPoint[] = [
      { at: START, equity: 100, flow: -50 },
      { at: START + DAY, equity: 45, closeOf: dateOf(1) },
    ];
    expect(performance(points).maxDrawdown).toMatchObject({
      fraction: near(-0.1),
      amount: -5,
      peakAt: START,
    });
  });

  it('after a deposit is that of the index: −3 % of 205,000, not a gain (D242)', () => {
    const points: EquityPoint[] = [
      ...closes(100_000, 105_000),
      { at: START + 1.5 * DAY, equity: 105_000, flow: 100_000 },
      { at: START + 2 * DAY, equity: 198_850, closeOf: dateOf(2) },
    ];
    expect(performance(points)).toMatchObject({
      pnl: -1150,
      maxDrawdown: { fraction: near(-0.03), amount: -6150, peakAt: START + DAY },
    });
  });

  it('of equal ones is the earliest', () => {
    expect(performance(closes(100, 50, 100, 50)).maxDrawdown).toMatchObject({ troughAt: START + DAY });
  });
});

describe('benchmark', () => {
  const days = closes(100, 102, 101, 104);
  const benchmark = {
    symbol: 'SPY',
    closes: [
      { date: dateOf(0), close: 100 },
      { date: dateOf(1), close: 101 },
      { date: dateOf(2), close: 50, splitFactor: 2, cashDividend: 0.49 },
      { date: dateOf(3), close: 51 },
    ],
  };
  const own = [0.02, 101 / 102 - 1, 104 / 101 - 1];
  const other = [0.01, 100.49 / 101 - 1, 0.02];
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, one) => sum + one, 0) / values.length;
  const cov = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, one, index) => sum + (one - mean(a)) * ((b[index] ?? 0) - mean(b)), 0) / (a.length - 1);

  it('compares total returns of the days that both have', () => {
    const beta = cov(own, other) / cov(other, other);
    const active = own.map((one, index) => one - (other[index] ?? 0));
    expect(performance(days, { benchmark }).benchmark).toEqual({
      symbol: 'SPY',
      return: near(1.01 * (100.49 / 101) * 1.02 - 1),
      beta: expect.closeTo(beta, 9) as number,
      alpha: expect.closeTo((mean(own) - beta * mean(other)) * 252, 9) as number,
      correlation: expect.closeTo(
        cov(own, other) / Math.sqrt(cov(own, own) * cov(other, other)),
        9,
      ) as number,
      trackingError: near(Math.sqrt(cov(active, active) * 252)),
      informationRatio: expect.closeTo(
        (mean(active) / Math.sqrt(cov(active, active))) * Math.sqrt(252),
        9,
      ) as number,
    });
  });

  it('reports days without data', () => {
    expect(performance(days, { benchmark: { symbol: 'SPY', closes: [] } }).benchmark).toEqual({
      symbol: 'SPY',
      reason: 'NO_DATA',
    });
  });
});

describe('use of money and trades', () => {
  it('exposure, time in the market and turnover are means over closes', () => {
    const result = performance(closes(100, 100, 300), {
      exposures: [
        { date: dateOf(1), grossValue: 50, hasPosition: true },
        { date: dateOf(2), grossValue: 0, hasPosition: false },
      ],
      ledger: { ...NO_LEDGER, bought: 300, sold: 100 },
    });
    expect(result).toMatchObject({ exposure: 0.25, timeInMarket: 0.5, turnover: 1 });
  });

  it('trade statistics are of net profits', () => {
    const { trips } = roundTripsOf([
      traded('2026-01-05', 'BUY', 10, 10, { orderId: 'a' }),
      traded('2026-01-06', 'SELL', 10, 13, { orderId: 'b', commission: 10 }),
      traded('2026-01-07', 'BUY', 10, 10, { orderId: 'c' }),
      traded('2026-01-08', 'SELL', 10, 9, { orderId: 'd' }),
    ]);
    expect(performance(closes(100, 110), { trips }).trades).toEqual({
      count: 2,
      wins: 1,
      losses: 1,
      winRate: 0.5,
      profitFactor: 2,
      averageWin: 20,
      averageLoss: -10,
      expectancy: 5,
      averageHolding: 86_400,
    });
  });
});
