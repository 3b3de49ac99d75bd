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
  /** Deepest fall below an earlier high: −0.2 = 20 %; 0 if there was none. */
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

/**
 * Figures of an entry at the present, for as long as the instants that count stay the same: what follows from these alone is computed once.
 * Entries have no flows.
 */
export class PresentFigures {
  readonly #noted: readonly EquityPoint[];
  readonly #ratios: Pick<CompetitionFigures, 'sharpe' | 'sortino'>;
  readonly #first: number;
  readonly #highest: number;
  readonly #deepest: number;

  /** `noted`: equity at the instants that count, oldest first. */
  constructor(noted: readonly EquityPoint[]) {
    const { sharpe, sortino, maxDrawdown } = competitionFigures(noted);
    this.#noted = noted;
    this.#ratios = { ...(sharpe !== undefined && { sharpe }), ...(sortino !== undefined && { sortino }) };
    this.#first = noted[0]?.equity ?? 0;
    this.#highest = Math.max(...noted.map(({ equity }) => equity));
    this.#deepest = maxDrawdown;
  }

  /** Ratios use the recorded instants; return and drawdown include the present. */
  at(present: EquityPoint): CompetitionFigures {
    if (this.#noted.some(({ equity }) => equity <= 0)) {
      const { totalReturn, maxDrawdown, calmar } = competitionFigures([...this.#noted, present]);
      return { totalReturn, maxDrawdown, ...this.#ratios, ...(calmar !== undefined && { calmar }) };
    }
    const totalReturn = present.equity / this.#first - 1;
    const maxDrawdown = Math.min(this.#deepest, present.equity / this.#highest - 1);
    const calmar = this.#noted.length < 2 ? undefined : ratio(totalReturn, Math.abs(maxDrawdown));
    return { totalReturn, maxDrawdown, ...this.#ratios, ...(calmar !== undefined && { calmar }) };
  }
}
