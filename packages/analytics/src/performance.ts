/**
 * Return and risk of a portfolio from its valuations (D186, D239, D241). Figures that cannot be computed are absent: too few days, no
 * variation, equity that was not positive. All arithmetic is in doubles, from exact cents, in order of time.
 */
import {
  type BenchmarkClose,
  type BenchmarkComparison,
  benchmarkReturns,
  compareWithBenchmark,
  type MissingBenchmark,
} from './benchmark.js';
import { type Drawdown, maxDrawdownOf } from './drawdown.js';
import {
  type Break,
  type BreakReason,
  type EquityPoint,
  type IndexedDay,
  type IndexPoint,
  type LinkedIndex,
  linkReturns,
} from './linked-index.js';
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

/** Ledger sums of the period, dollars: charges are positive as paid, dividends and gains as received. */
export interface LedgerSums {
  readonly commissions: number;
  readonly fees: number;
  readonly interest: number;
  readonly borrowFees: number;
  readonly dividends: number;
  /** Realized gains before charges; lots of an import count from their mark. */
  readonly realized: number;
  /** Trade value of equities and options bought, and sold. */
  readonly bought: number;
  readonly sold: number;
}

export interface PerformanceInput {
  /** In order of time: the start, every session close, every external flow, the end. The first is the start and the last the end. */
  readonly points: readonly EquityPoint[];
  /** Reason of a break in which the period starts; absent = it starts outside one. */
  readonly startsIn?: BreakReason;
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
  /** Since the start, or since the end of the last loss of all equity, without flows. Absent in a break. */
  readonly return?: number;
  /** Below the running maximum, 0 or negative. Absent in a break. */
  readonly drawdown?: number;
}

/** P&L by cause, dollars, each as it changed equity: what was paid is negative. The sum is the P&L (D241). */
export interface Attribution {
  readonly realized: number;
  readonly unrealized: number;
  readonly dividends: number;
  readonly interest: number;
  readonly borrowFees: number;
  readonly commissions: number;
  readonly fees: number;
  readonly other: number;
}

/** A time between two breaks. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  readonly timeWeightedReturn: number;
  readonly maxDrawdown: Drawdown;
}

export interface Performance {
  readonly startEquity: number;
  readonly endEquity: number;
  readonly netFlows: number;
  readonly pnl: number;
  readonly attribution: Attribution;
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
  /** Times in which equity was not positive, oldest first. */
  readonly breaks: readonly Break[];
  /** Times between breaks, oldest first. */
  readonly segments: readonly Segment[];
  /** Start of returns, ratios and drawdown if a loss of all equity precedes them. */
  readonly since?: number;
  /** Instant at which equity ceased to be positive by a loss: there are no returns after it. */
  readonly endedAt?: number;
  readonly reason?: 'EQUITY_NOT_POSITIVE';
}

export function performanceOf(input: PerformanceInput): Performance {
  const { points, ledger, periodsPerYear, riskFreeRate = 0 } = input;
  const linked = linkReturns(points, input.startsIn);
  const { endedAt, since } = linked;
  const days = daysOf(linked.days);
  const start = points[0]?.equity ?? 0;
  const last = points.at(-1);
  const end = last === undefined ? 0 : last.equity + (last.flow ?? 0);
  const netFlows = toCents(sum(points.map(({ flow = 0 }) => toCents(flow))));
  // By cents, so that adjoining periods add up.
  const pnl = toCents(toCents(end) - toCents(start) - netFlows);
  const total = linked.points.at(-1);
  const timeWeighted = total === undefined || endedAt !== undefined ? undefined : total.index - 1;
  const weighted = moneyWeightedReturn(points, timeWeighted ?? -1);
  const maxDrawdown = maxDrawdownOf(linked.points);
  return {
    startEquity: start,
    endEquity: end,
    netFlows,
    pnl,
    attribution: attributionOf(pnl, ledger),
    ...(timeWeighted !== undefined && { timeWeightedReturn: timeWeighted }),
    ...(weighted !== undefined && { moneyWeightedReturn: weighted.rate, annualized: weighted.annualized }),
    ...(endedAt === undefined && yearlyFigures(linked.days, periodsPerYear, maxDrawdown)),
    ...ratiosOf(
      days.map((day) => day.return),
      riskFreeRate / periodsPerYear,
      periodsPerYear,
    ),
    ...(maxDrawdown !== undefined && { maxDrawdown }),
    ...extremesOf(days),
    positiveDays: days.filter((day) => day.return > 0).length,
    negativeDays: days.filter((day) => day.return < 0).length,
    ...usageOf(input, linked.days),
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
    series: linked.rows.map(({ at, equity, index, drawdown }) => ({
      at,
      equity,
      ...(index !== undefined && { return: index - 1 }),
      ...(drawdown !== undefined && { drawdown }),
    })),
    breaks: linked.breaks,
    segments: linked.segments.flatMap(segmentOf),
    ...(since !== undefined && { since }),
    ...(endedAt !== undefined && { endedAt, reason: 'EQUITY_NOT_POSITIVE' as const }),
  };
}

/** Binary sums of cents, back to the cent. */
const toCents = (dollars: number): number => Math.round(dollars * 100) / 100;

/** Never −0. */
const paid = (dollars: number): number => 0 - toCents(dollars);

/** P&L by cause. What no account of the books explains is the change of the positions' value. */
function attributionOf(pnl: number, ledger: LedgerSums): Attribution {
  const booked = {
    realized: toCents(ledger.realized),
    dividends: toCents(ledger.dividends),
    interest: paid(ledger.interest),
    borrowFees: paid(ledger.borrowFees),
    commissions: paid(ledger.commissions),
    fees: paid(ledger.fees),
    // Accruals are no part of equity before they are posted, so that those a closing drops cost nothing.
    other: 0,
  };
  return { ...booked, unrealized: toCents(pnl - sum(Object.values(booked))) };
}

function segmentOf(points: readonly IndexPoint[]): readonly Segment[] {
  const [first] = points;
  const last = points.at(-1);
  const maxDrawdown = maxDrawdownOf(points);
  if (first === undefined || last === undefined || maxDrawdown === undefined) return [];
  return [{ from: first.at, to: last.at, timeWeightedReturn: last.index / first.index - 1, maxDrawdown }];
}

/** Returns of finished days. The first day counts from the start, however short it is. */
export function daysOf(days: readonly IndexedDay[]): readonly DayReturn[] {
  let previous = 1;
  return days.map(({ date, index }) => {
    const growth = index / previous;
    previous = index;
    return { date, return: growth - 1 };
  });
}

function yearlyFigures(
  days: readonly IndexedDay[],
  periods: number,
  drawdown: Drawdown | undefined,
): Pick<Performance, 'annualizedReturn' | 'calmar' | 'periodShorterThanYear'> {
  const last = days.at(-1);
  if (days.length < LEAST_DAYS_TO_ANNUALIZE || last === undefined) return {};
  const annualizedReturn = last.index ** (periods / days.length) - 1;
  const calmar = drawdown === undefined ? undefined : ratio(annualizedReturn, Math.abs(drawdown.fraction));
  return {
    annualizedReturn,
    ...(calmar !== undefined && { calmar }),
    ...(days.length < periods && { periodShorterThanYear: true as const }),
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

/** Average exposure of the equity, and its turnover, over days with a sub-period. */
function usageOf(
  { exposures, ledger }: PerformanceInput,
  days: readonly IndexedDay[],
): Pick<Performance, 'exposure' | 'timeInMarket' | 'turnover'> {
  const equityAt = new Map(days.map(({ date, equity }) => [date, equity]));
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
  { points, days, hasUnfinishedDay }: LinkedIndex,
  { endDate, partialMonths }: PerformanceInput,
): readonly MonthReturn[] {
  const ends = new Map(days.map(({ date, index }) => [date.slice(0, 7), index]));
  const last = points.at(-1);
  if (last !== undefined && hasUnfinishedDay) ends.set(endDate.slice(0, 7), last.index);
  let previous = 1;
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
