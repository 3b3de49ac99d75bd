/** Figures that entries of a competition are ranked by (D194). */
import { maxDrawdownOf } from './drawdown.js';
import { type EquityPoint, linkReturns } from './linked-index.js';
import { downsideDeviation, mean, ratio, sampleDeviation } from './statistics.js';

export interface CompetitionFigures {
  /** Time-weighted return since the first point; 0.05 = 5 %. */
  readonly totalReturn: number;
  /** Mean return over its sample deviation; not annualized, risk-free rate 0. Absent: fewer than two returns, or no deviation. */
  readonly sharpe?: number;
  /** Mean return over its downside deviation. Absent: fewer than two returns, or none negative. */
  readonly sortino?: number;
  /** Total return over the size of the maximum drawdown. Absent: fewer than two returns, or no drawdown. */
  readonly calmar?: number;
  /** Deepest fall below an earlier high: −0.2 = 20 %; 0 where there was none. */
  readonly maxDrawdown: number;
}

/** Computes the figures of one entry from its equity at the instants that count, oldest first. */
export function competitionFigures(points: readonly EquityPoint[]): CompetitionFigures {
  const linked = linkReturns(points).points;
  const returns = linked.slice(1).map(({ index }, place) => index / (linked[place]?.index ?? NaN) - 1);
  const totalReturn = (linked.at(-1)?.index ?? 1) - 1;
  const maxDrawdown = maxDrawdownOf(linked)?.fraction ?? 0;
  if (returns.length < 2) return { totalReturn, maxDrawdown };
  const sharpe = ratio(mean(returns), sampleDeviation(returns));
  const sortino = ratio(mean(returns), downsideDeviation(returns));
  const calmar = ratio(totalReturn, Math.abs(maxDrawdown));
  return {
    totalReturn,
    maxDrawdown,
    ...(sharpe !== undefined && { sharpe }),
    ...(sortino !== undefined && { sortino }),
    ...(calmar !== undefined && { calmar }),
  };
}
