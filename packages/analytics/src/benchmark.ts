import { mean, ratio, sampleCovariance, sampleDeviation } from './statistics.js';

/** A daily close of a benchmark, as traded. */
export interface BenchmarkClose {
  /** New York date. */
  readonly date: string;
  /** Dollars a share. */
  readonly close: number;
  /** New shares for one old share, of a split with this ex-date; default 1. */
  readonly splitFactor?: number;
  /** Cash dividends with this ex-date, dollars a share; default 0. */
  readonly cashDividend?: number;
}

export interface BenchmarkComparison {
  readonly symbol: string;
  /** Return of the benchmark over the days that both have. */
  readonly return: number;
  /** Arithmetic, yearly (Jensen). */
  readonly alpha?: number;
  readonly beta?: number;
  readonly correlation?: number;
  /** Yearly deviation of the daily differences. */
  readonly trackingError?: number;
  readonly informationRatio?: number;
}

export interface MissingBenchmark {
  readonly symbol: string;
  readonly reason: 'NO_DATA';
}

/** Total return of each day by its date, dividends and splits of the day counted; the first close has none. */
export function benchmarkReturns(closes: readonly BenchmarkClose[]): ReadonlyMap<string, number> {
  const returns = new Map<string, number>();
  closes.forEach(({ date, close, splitFactor = 1, cashDividend = 0 }, index) => {
    const previous = closes[index - 1];
    if (previous !== undefined && previous.close > 0)
      returns.set(date, (close * splitFactor + cashDividend) / previous.close - 1);
  });
  return returns;
}

/**
 * Compares daily returns with those of a benchmark on the days that both have; fewer than two: no data.
 * `dailyRiskFree` is the risk-free rate of one period, `periods` the number of periods a year.
 */
export function compareWithBenchmark(
  symbol: string,
  days: readonly { readonly date: string; readonly return: number }[],
  benchmark: ReadonlyMap<string, number>,
  dailyRiskFree: number,
  periods: number,
): BenchmarkComparison | MissingBenchmark {
  const pairs = days.flatMap(({ date, return: own }) => {
    const other = benchmark.get(date);
    return other === undefined ? [] : [{ own, other }];
  });
  if (pairs.length < 2) return { symbol, reason: 'NO_DATA' };
  const own = pairs.map((pair) => pair.own);
  const other = pairs.map((pair) => pair.other);
  const differences = pairs.map((pair) => pair.own - pair.other);
  const slope = ratio(sampleCovariance(own, other), sampleDeviation(other));
  const beta = slope === undefined ? undefined : ratio(slope, sampleDeviation(other));
  const correlation = slope === undefined ? undefined : ratio(slope, sampleDeviation(own));
  const deviation = sampleDeviation(differences);
  const information = ratio(mean(differences), deviation);
  const alpha =
    beta === undefined
      ? undefined
      : mean(pairs.map((pair) => pair.own - dailyRiskFree - beta * (pair.other - dailyRiskFree))) * periods;
  return {
    symbol,
    return: other.reduce((product, one) => product * (1 + one), 1) - 1,
    ...(alpha !== undefined && { alpha }),
    ...(beta !== undefined && { beta }),
    ...(correlation !== undefined && { correlation }),
    trackingError: deviation * Math.sqrt(periods),
    ...(information !== undefined && { informationRatio: information * Math.sqrt(periods) }),
  };
}
