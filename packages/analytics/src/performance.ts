/**
 * Return and risk of a portfolio from its valuations (D186). Figures that cannot be computed are absent: too few days, no variation,
 * equity that was not positive. All arithmetic is in doubles, from exact cents, in order of time.
 */
import {
  type BenchmarkClose,
  type BenchmarkComparison,
  benchmarkReturns,
  compareWithBenchmark,
  type MissingBenchmark,
} from './benchmark.js';
import { type Drawdown, drawdownsOf, maxDrawdownOf } from './drawdown.js';
import { type EquityPoint, type IndexPoint, linkReturns } from './linked-index.js';
import { moneyWeightedReturn } from './money-weighted.js';
import type { TripOutcome } from './round-trips.js';
import { downsideDeviation, mean, ratio, sampleDeviation, sum } from './statistics.js';

/** Minimum number of finished days for an annualized return. */
const LEAST_DAYS_TO_ANNUALIZE = 21;

/** Exposure of a portfolio at a session close. */
export interface CloseExposure {
  /** New York date of the session. */
  readonly date: string;
  /** Long market value + short market value + absolute notional of futures, dollars. */
  readonly grossValue: number;
  readonly hasPosition: boolean;
}

/** Ledger sums of the period, dollars: charges are positive as paid, dividends as received. */
export interface LedgerSums {
  readonly commissions: number;
  readonly fees: number;
  readonly interest: number;
  readonly dividends: number;
  /** Trade value of equities and options bought, and sold. */
  readonly bought: number;
  readonly sold: number;
}

export interface PerformanceInput {
  /** In order of time: the start, every session close, every external flow, the end. The first is the start and the last the end. */
  readonly points: readonly EquityPoint[];
  readonly exposures: readonly CloseExposure[];
  readonly ledger: LedgerSums;
  /** Round trips that were closed in the period. */
  readonly trips: readonly TripOutcome[];
  /** Yearly risk-free rate as a fraction; default 0. */
  readonly riskFreeRate?: number;
  /** Days a year that returns are annualized by: 252 for exchanges, 365 for markets that never close. */
  readonly periodsPerYear: number;
  readonly benchmark?: { readonly symbol: string; readonly closes: readonly BenchmarkClose[] };
  /** New York date of the last point: names the unfinished day's month. */
  readonly endDate: string;
  /** Months of which the period has only a part. */
  readonly partialMonths?: ReadonlySet<string>;
}

export interface DayReturn {
  readonly date: string;
  readonly return: number;
}

export interface MonthReturn {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly return: number;
  readonly partial?: true;
}

export interface TradeStatistics {
  readonly count: number;
  readonly wins: number;
  readonly losses: number;
  /** Wins as a fraction of `count`. */
  readonly winRate?: number;
  /** Sum of wins over the absolute sum of losses; absent without losses. */
  readonly profitFactor?: number;
  readonly averageWin?: number;
  readonly averageLoss?: number;
  /** Mean net profit of a trade, dollars. */
  readonly expectancy?: number;
  /** Seconds. */
  readonly averageHolding?: number;
}

export interface SeriesPoint {
  readonly at: number;
  readonly equity: number;
  /** Since the start, without flows. */
  readonly return: number;
  /** Below the running maximum, 0 or negative. */
  readonly drawdown: number;
}

export interface Performance {
  readonly startEquity: number;
  readonly endEquity: number;
  readonly netFlows: number;
  readonly pnl: number;
  readonly timeWeightedReturn?: number;
  readonly moneyWeightedReturn?: number;
  /** True when the money-weighted return is a yearly rate. */
  readonly annualized?: boolean;
  readonly annualizedReturn?: number;
  readonly volatility?: number;
  readonly sharpe?: number;
  readonly sortino?: number;
  readonly calmar?: number;
  /** Present if annualized figures are of less than a year. */
  readonly periodShorterThanYear?: true;
  readonly maxDrawdown?: Drawdown;
  readonly bestDay?: DayReturn;
  readonly worstDay?: DayReturn;
  readonly positiveDays: number;
  readonly negativeDays: number;
  readonly exposure?: number;
  readonly timeInMarket?: number;
  readonly turnover?: number;
  readonly commissions: number;
  readonly fees: number;
  readonly interest: number;
  readonly dividends: number;
  readonly trades: TradeStatistics;
  readonly benchmark?: BenchmarkComparison | MissingBenchmark;
  readonly monthly: readonly MonthReturn[];
  readonly series: readonly SeriesPoint[];
  /** Instant at which equity ceased to be positive: there are no returns after it. */
  readonly endedAt?: number;
  readonly reason?: 'EQUITY_NOT_POSITIVE';
}

export function performanceOf(input: PerformanceInput): Performance {
  const { points, ledger, periodsPerYear, riskFreeRate = 0 } = input;
  const { points: linked, endedAt } = linkReturns(points);
  const days = daysOf(linked);
  const start = points[0]?.equity ?? 0;
  const last = points.at(-1);
  const end = last === undefined ? 0 : last.equity + (last.flow ?? 0);
  const netFlows = toCents(sum(points.map(({ flow = 0 }) => flow)));
  const total = linked.at(-1);
  const timeWeighted = total === undefined || endedAt !== undefined ? undefined : total.index - 1;
  const weighted = timeWeighted === undefined ? undefined : moneyWeightedReturn(points, timeWeighted);
  const maxDrawdown = maxDrawdownOf(linked);
  return {
    startEquity: start,
    endEquity: end,
    netFlows,
    pnl: toCents(end - start - netFlows),
    ...(timeWeighted !== undefined && { timeWeightedReturn: timeWeighted }),
    ...(weighted !== undefined && { moneyWeightedReturn: weighted.rate, annualized: weighted.annualized }),
    ...(endedAt === undefined && yearlyFigures(linked, days.length, periodsPerYear, maxDrawdown)),
    ...ratiosOf(
      days.map((day) => day.return),
      riskFreeRate / periodsPerYear,
      periodsPerYear,
    ),
    ...(maxDrawdown !== undefined && { maxDrawdown }),
    ...extremesOf(days),
    positiveDays: days.filter((day) => day.return > 0).length,
    negativeDays: days.filter((day) => day.return < 0).length,
    ...usageOf(input, linked),
    commissions: ledger.commissions,
    fees: ledger.fees,
    interest: ledger.interest,
    dividends: ledger.dividends,
    trades: tradeStatistics(input.trips),
    ...(input.benchmark !== undefined && {
      benchmark: compareWithBenchmark(
        input.benchmark.symbol,
        days,
        benchmarkReturns(input.benchmark.closes),
        riskFreeRate / periodsPerYear,
        periodsPerYear,
      ),
    }),
    monthly: monthsOf(linked, input),
    series: seriesOf(linked),
    ...(endedAt !== undefined && { endedAt, reason: 'EQUITY_NOT_POSITIVE' as const }),
  };
}

/** Binary sums of cents, back to the cent. */
const toCents = (dollars: number): number => Math.round(dollars * 100) / 100;

/** Returns of the finished days, by the date of their close. The first day counts from the start, however short it is. */
export function daysOf(linked: readonly IndexPoint[]): readonly DayReturn[] {
  const days: DayReturn[] = [];
  let previous = linked[0]?.index ?? 1;
  for (const { closeOf, index } of linked.slice(1)) {
    if (closeOf === undefined) continue;
    days.push({ date: closeOf, return: index / previous - 1 });
    previous = index;
  }
  return days;
}

function yearlyFigures(
  linked: readonly IndexPoint[],
  days: number,
  periods: number,
  drawdown: Drawdown | undefined,
): Pick<Performance, 'annualizedReturn' | 'calmar' | 'periodShorterThanYear'> {
  const lastClose = linked.findLast(({ closeOf }) => closeOf !== undefined);
  if (days < LEAST_DAYS_TO_ANNUALIZE || lastClose === undefined) return {};
  const annualizedReturn = lastClose.index ** (periods / days) - 1;
  const calmar = drawdown === undefined ? undefined : ratio(annualizedReturn, Math.abs(drawdown.fraction));
  return {
    annualizedReturn,
    ...(calmar !== undefined && { calmar }),
    ...(days < periods && { periodShorterThanYear: true as const }),
  };
}

/** Volatility, Sharpe and Sortino ratio of daily returns, yearly. */
export function ratiosOf(
  returns: readonly number[],
  dailyRiskFree: number,
  periods: number,
): Pick<Performance, 'volatility' | 'sharpe' | 'sortino'> {
  if (returns.length < 2) return {};
  const excess = returns.map((one) => one - dailyRiskFree);
  const yearly = Math.sqrt(periods);
  const sharpe = ratio(mean(excess), sampleDeviation(excess));
  const sortino = ratio(mean(excess), downsideDeviation(excess));
  return {
    volatility: sampleDeviation(returns) * yearly,
    ...(sharpe !== undefined && { sharpe: sharpe * yearly }),
    ...(sortino !== undefined && { sortino: sortino * yearly }),
  };
}

function extremesOf(days: readonly DayReturn[]): Pick<Performance, 'bestDay' | 'worstDay'> {
  const [first] = days;
  if (first === undefined) return {};
  return {
    bestDay: days.reduce((best, day) => (day.return > best.return ? day : best), first),
    worstDay: days.reduce((worst, day) => (day.return < worst.return ? day : worst), first),
  };
}

/** Average exposure of the equity, and its turnover. */
function usageOf(
  { exposures, ledger }: PerformanceInput,
  linked: readonly IndexPoint[],
): Pick<Performance, 'exposure' | 'timeInMarket' | 'turnover'> {
  const equityAt = new Map(
    linked.flatMap(({ closeOf, equity }) => (closeOf === undefined ? [] : [[closeOf, equity] as const])),
  );
  const closes = exposures.flatMap((close) => {
    const equity = equityAt.get(close.date);
    return equity === undefined || equity <= 0 ? [] : [{ ...close, equity }];
  });
  if (closes.length === 0) return {};
  return {
    exposure: mean(closes.map(({ grossValue, equity }) => grossValue / equity)),
    timeInMarket: closes.filter(({ hasPosition }) => hasPosition).length / closes.length,
    turnover: (ledger.bought + ledger.sold) / 2 / mean(closes.map(({ equity }) => equity)),
  };
}

export function tradeStatistics(trips: readonly TripOutcome[]): TradeStatistics {
  // Contracts that became shares have neither won nor lost: their premium is in the price of the shares. Positions that a reset removed
  // have not either.
  const counted = trips.filter(({ exitPrice }) => exitPrice !== undefined);
  const wins = counted.filter(({ netPnl }) => netPnl > 0).map(({ netPnl }) => netPnl);
  const losses = counted.filter(({ netPnl }) => netPnl < 0).map(({ netPnl }) => netPnl);
  const profitFactor = losses.length === 0 ? undefined : sum(wins) / Math.abs(sum(losses));
  return {
    count: counted.length,
    wins: wins.length,
    losses: losses.length,
    ...(counted.length > 0 && {
      winRate: wins.length / counted.length,
      expectancy: mean(counted.map(({ netPnl }) => netPnl)),
      averageHolding: mean(counted.map(({ holding }) => holding)),
    }),
    ...(profitFactor !== undefined && { profitFactor }),
    ...(wins.length > 0 && { averageWin: mean(wins) }),
    ...(losses.length > 0 && { averageLoss: mean(losses) }),
  };
}

/** Returns by month; the unfinished day is in its month, so that all months linked are the whole return. */
function monthsOf(
  linked: readonly IndexPoint[],
  { endDate, partialMonths }: PerformanceInput,
): readonly MonthReturn[] {
  const ends = new Map<string, number>();
  for (const { closeOf, index } of linked) if (closeOf !== undefined) ends.set(closeOf.slice(0, 7), index);
  const last = linked.at(-1);
  if (last !== undefined && linked.length > 1) ends.set(endDate.slice(0, 7), last.index);
  let previous = linked[0]?.index ?? 1;
  return [...ends].map(([month, index]) => {
    const growth = index / previous;
    previous = index;
    return {
      month,
      return: growth - 1,
      ...(partialMonths?.has(month) === true && { partial: true as const }),
    };
  });
}

/** All valuations; of a flow the one before it and the one after it. */
function seriesOf(linked: readonly IndexPoint[]): readonly SeriesPoint[] {
  const drawdowns = drawdownsOf(linked);
  return linked.flatMap(({ at, equity, flow = 0, index }, position) => {
    const growth = { return: index - 1, drawdown: drawdowns[position] ?? 0 };
    const after = { at, equity: equity + flow, ...growth };
    return flow === 0 ? [after] : [{ at, equity, ...growth }, after];
  });
}
