/** Curves without external flows, from the valuations of a performance (D242). Pure. */
import type { EquityPoint, Performance } from '@sandpit/protocol';
import type { Point } from '../chart-data.ts';

type Valuation = NonNullable<Performance['series']>[number];

export interface Curve {
  /** Equity, oldest first; two points at a flow. */
  readonly equity: readonly Point[];
  /** Return since the opening without flows, a fraction; none while equity is not positive. */
  readonly returns: readonly Point[];
  /** Fraction below the highest valuation, 0 or negative. */
  readonly drawdown: readonly Point[];
}

/**
 * Joins the valuations of a portfolio with points between them, which have the equity just before their instants. Points before the first
 * valuation are of an earlier life of the portfolio and left out.
 */
export function curveOf(series: readonly Valuation[], between: readonly Point[]): Curve {
  const equity: Point[] = [];
  const returns: Point[] = [];
  const drawdown: Point[] = [];
  const valuations = series.map((one) => ({ ...one, atMs: Date.parse(one.at) }));
  const add = (last: Valuation, { atMs, value }: Point): void => {
    equity.push({ atMs, value });
    const { return: growth, drawdown: below } = last;
    if (growth === undefined || below === undefined || below <= -1 || last.equity <= 0) return;
    const index = (1 + growth) * (value / last.equity);
    returns.push({ atMs, value: index - 1 });
    drawdown.push({ atMs, value: Math.min(0, (index / (1 + growth)) * (1 + below) - 1) });
  };
  let next = 0;
  valuations.forEach((valuation, place) => {
    const { atMs } = valuation;
    for (; (between[next]?.atMs ?? Infinity) <= atMs; next += 1) {
      const point = between[next];
      const last = valuations[place - 1];
      if (point !== undefined && last !== undefined && last.atMs < point.atMs) add(last, point);
    }
    equity.push({ atMs, value: valuation.equity });
    if (valuation.return !== undefined) returns.push({ atMs, value: valuation.return });
    if (valuation.drawdown !== undefined) drawdown.push({ atMs, value: valuation.drawdown });
  });
  const last = valuations.at(-1);
  for (const point of between.slice(next)) if (last !== undefined) add(last, point);
  return { equity, returns, drawdown };
}

/** Deposits and withdrawals: two valuations at one instant, before and after, with the same return. */
export function flowsOf(
  series: readonly Valuation[],
): readonly { readonly atMs: number; readonly amount: number }[] {
  return series.flatMap((after, index) => {
    const before = series[index - 1];
    if (before?.at !== after.at || before.return !== after.return) return [];
    const amount = Math.round((after.equity - before.equity) * 100) / 100;
    return amount === 0 ? [] : [{ atMs: Date.parse(after.at), amount }];
  });
}

/** The base of the P&L since the last close. */
export interface SinceClose {
  /** Equity at the close, or at the opening of the portfolio if that was later. */
  readonly base: number;
  /** External flows since then. */
  readonly netFlows: number;
}

/** `performance`: from just before the close on. */
export const sinceCloseOf = (
  { at, totalEquity }: Pick<EquityPoint, 'at' | 'totalEquity'>,
  { from, startEquity, netFlows }: Pick<Performance, 'from' | 'startEquity' | 'netFlows'>,
): SinceClose => ({ base: Date.parse(from) > Date.parse(at) ? startEquity : totalEquity, netFlows });

/** P&L of portfolios since their last closes, without flows, and as a fraction of their equity then with the flows. */
export function gainSinceClose(portfolios: readonly (SinceClose & { readonly equity: number })[]): {
  readonly pnl: number;
  readonly fraction: number | undefined;
} {
  const invested = portfolios.reduce((sum, { base, netFlows }) => sum + base + netFlows, 0);
  const pnl = portfolios.reduce((sum, { equity }) => sum + equity, 0) - invested;
  return { pnl: Math.round(pnl * 100) / 100, fraction: invested > 0 ? pnl / invested : undefined };
}
