import { describe, expect, it } from 'vitest';
import { curveOf, flowsOf, gainSinceClose, sinceCloseOf } from './returns.ts';

const at = (hour: number): string => new Date(hour * 3_600_000).toISOString();
const atMs = (hour: number): number => hour * 3_600_000;

const closeTo = (value: number): unknown => expect.closeTo(value, 12);

describe('curveOf', () => {
  it('begins with the opening: a fall of 72 % is a drawdown of 72 %', () => {
    const series = [
      { at: at(1), equity: 100_000, return: 0, drawdown: 0 },
      { at: at(3), equity: 28_000, return: -0.72, drawdown: -0.72 },
    ];
    const curve = curveOf(series, [{ atMs: atMs(2), value: 60_000 }]);
    expect(curve.equity.map(({ value }) => value)).toEqual([100_000, 60_000, 28_000]);
    expect(curve.drawdown.map(({ value }) => value)).toEqual([0, expect.closeTo(-0.4, 12), -0.72]);
  });

  it('has no gain by a deposit: 100,000, a close at 105,000, 100,000 in, 198,850', () => {
    const series = [
      { at: at(1), equity: 100_000, return: 0, drawdown: 0 },
      { at: at(2), equity: 105_000, return: 0.05, drawdown: 0 },
      { at: at(3), equity: 105_000, return: 0.05, drawdown: 0 },
      { at: at(3), equity: 205_000, return: 0.05, drawdown: 0 },
    ];
    const { equity, returns, drawdown } = curveOf(series, [
      { atMs: atMs(0), value: 7 },
      { atMs: atMs(3), value: 105_000 },
      { atMs: atMs(4), value: 198_850 },
    ]);
    expect(equity.map(({ value }) => value)).toEqual([100_000, 105_000, 105_000, 105_000, 205_000, 198_850]);
    expect(returns.at(-1)).toEqual({ atMs: atMs(4), value: closeTo(1.05 * 0.97 - 1) });
    expect(drawdown.at(-1)).toEqual({ atMs: atMs(4), value: closeTo(-0.03) });
  });

  it('has equity alone while equity is not positive', () => {
    const series = [
      { at: at(1), equity: 1000, return: 0, drawdown: 0 },
      { at: at(2), equity: -200, return: -1, drawdown: -1 },
      { at: at(4), equity: -200 },
      { at: at(4), equity: 500, return: 0, drawdown: 0 },
    ];
    const { equity, returns } = curveOf(series, [
      { atMs: atMs(3), value: -250 },
      { atMs: atMs(5), value: 600 },
    ]);
    expect(equity.map(({ value }) => value)).toEqual([1000, -200, -250, -200, 500, 600]);
    expect(returns.map(({ value }) => value)).toEqual([0, -1, 0, closeTo(0.2)]);
  });
});

describe('gain since the last close', () => {
  const close = { at: at(16), totalEquity: 105_000 };

  it('leaves a deposit out: −6,150, not +93,850', () => {
    const base = sinceCloseOf(close, { from: at(15.9), startEquity: 104_000, netFlows: 100_000 });
    expect(gainSinceClose([{ ...base, equity: 198_850 }])).toEqual({
      pnl: -6150,
      fraction: closeTo(-0.03),
    });
  });

  it('counts from the opening of a portfolio that was reset after the close', () => {
    const base = sinceCloseOf(close, { from: at(20), startEquity: 50_000, netFlows: 0 });
    expect(gainSinceClose([{ ...base, equity: 50_100 }])).toEqual({ pnl: 100, fraction: 0.002 });
  });

  it('of several portfolios is the sum; of none it has no fraction', () => {
    const one = { base: 100, netFlows: 0, equity: 110 };
    expect(gainSinceClose([one, { base: 100, netFlows: -50, equity: 40 }])).toEqual({
      pnl: 0,
      fraction: 0,
    });
    expect(gainSinceClose([])).toEqual({ pnl: 0, fraction: undefined });
  });
});

describe('Flows of a portfolio', () => {
  it('are two valuations at one instant with the same return, without fees and fills at a close', () => {
    const series = [
      { at: at(0), equity: 100_000, return: 0, drawdown: 0 },
      { at: at(16), equity: 105_000, return: 0.05, drawdown: 0 },
      { at: at(16), equity: 104_990, return: 0.0499, drawdown: -0.0001 },
      { at: at(20), equity: 104_990, return: 0.0499, drawdown: -0.0001 },
      { at: at(20), equity: 204_990, return: 0.0499, drawdown: -0.0001 },
      { at: at(40), equity: 198_850, return: 0.02, drawdown: -0.03 },
      { at: at(40), equity: 198_350, return: 0.02, drawdown: -0.03 },
    ];
    expect(flowsOf(series)).toEqual([
      { atMs: atMs(20), amount: 100_000 },
      { atMs: atMs(40), amount: -500 },
    ]);
    expect(flowsOf([])).toEqual([]);
  });
});
