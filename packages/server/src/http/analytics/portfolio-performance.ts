/** Periods of a portfolio, valued at their beginning, end and flows (D186): the input of a performance study. */
import type { BenchmarkClose } from '@sandpit/analytics';
import { type Bar, type Calendar, canonicalSymbol, Instant, isDividend, splitOf } from '@sandpit/core';
import { codedProblem, type PerformanceQuery } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { Answer, refuse } from '../answer.js';
import { pushedMarks } from './equity-curve.js';
import { holdingsOf, ownPortfolio, type PortfolioRequest } from '../owned.js';
import { endOf, instantOf } from '../translate/instants.js';
import { moneyNumber, priceNumber } from '../translate/numbers.js';
import type { Analytics } from './analytics.js';
import { equityAt } from './equity-at.js';
import type { Epoch } from './portfolio-record.js';
import { pushedCloses } from './pushed-closes.js';
import type { Outline, PeriodInput, Valued } from './study.js';
import { acceptsQuotes, computesQuotes } from '../../feeds/feed.js';

const EPOCH_NOT_FOUND = refuse(404, 'Epoch not found');
const FROM_NOT_BEFORE_TO = refuse(400, ['from must be before to']);

/** A request about the performance of a portfolio. */
export type PerformanceRequest = PortfolioRequest & { readonly query: PerformanceQuery };

/** Performance of a portfolio over the requested period, or the errors of the query. */
export async function periodInput(
  analytics: Analytics,
  call: PerformanceRequest,
): Promise<PeriodInput | Answer> {
  const { simulation, query, params } = call;
  const { calendar } = simulation.brokerage.rules;
  const benchmark = query.benchmark === undefined ? undefined : canonicalSymbol(query.benchmark);
  if (benchmark !== undefined && simulation.brokerage.instrument(benchmark) === undefined)
    return unknownSymbol(benchmark);
  const outline = await analytics.study('outline', call, { portfolioId: params.portfolioId });
  const epoch = outline.epochs[(query.epoch ?? outline.epochs.length) - 1];
  if (epoch === undefined) return EPOCH_NOT_FOUND;
  const period = periodOf(call, outline, epoch);
  if (period === undefined) return FROM_NOT_BEFORE_TO;
  const { from, to } = period;
  return {
    portfolioId: params.portfolioId,
    epoch: epoch.number,
    from,
    to,
    isFromOpening: period.isFromOpening,
    ...(await valuedIn(call, outline, epoch, period)),
    periodsPerYear: query.periodsPerYear ?? (calendar.id === 'always-open' ? 365 : 252),
    ...(query.riskFreeRate !== undefined && { riskFreeRate: query.riskFreeRate }),
    ...(benchmark !== undefined && {
      benchmark: {
        symbol: benchmark,
        closes: await benchmarkCloses(analytics, call, benchmark, from, to),
      },
    }),
    endDate: calendar.dateOf(Instant.ofMs(to)),
    partialMonths: [...partialMonths(calendar, from, to)],
  };
}

function unknownSymbol(symbol: string): Answer {
  const body = codedProblem('UNKNOWN_SYMBOL', `Unknown symbol: ${symbol}`, { symbol });
  return Answer.json(404, { ...body, statusCode: 404 });
}

interface Period {
  readonly from: number;
  readonly to: number;
  /** True when it begins before everything at the opening; otherwise it begins after everything at `from`. */
  readonly isFromOpening: boolean;
  /** True when it ends at the current market. */
  readonly isToNow: boolean;
}

/** The requested part of an epoch; undefined if there is none. */
function periodOf(
  { simulation, query }: PerformanceRequest,
  { closedAt }: Outline,
  epoch: Epoch,
): Period | undefined {
  const { calendar } = simulation.brokerage.rules;
  const end = epoch.endedAt ?? closedAt ?? simulation.now();
  const asked = query.to === undefined ? end : endOf(query.to, calendar);
  const to = Math.min(asked, end);
  const begin = query.from === undefined ? -Infinity : instantOf(query.from, calendar);
  const from = Math.max(begin, epoch.beganAt);
  if (begin >= asked || from > to) return undefined;
  const isFromOpening = begin < epoch.beganAt;
  return {
    from,
    to,
    isFromOpening,
    isToNow: to === end && epoch.endedAt === undefined && closedAt === undefined,
  };
}

/** The valuations of a period in addition to its session closes. */
async function valuedIn(
  call: PerformanceRequest,
  outline: Outline,
  epoch: Epoch,
  { from, to, isFromOpening, isToNow }: Period,
): Promise<Pick<PeriodInput, 'start' | 'flows' | 'end'>> {
  const isInside = (one: { readonly at: number; readonly epoch: number }): boolean =>
    one.epoch === epoch.number && one.at <= to && (isFromOpening || one.at > from);
  const flows = outline.flows.filter(isInside);
  const start: Valued = {
    at: from,
    equity: (isFromOpening ? undefined : await valueAt(call, from)) ?? epoch.initialCash,
  };
  const end = await endValue();
  return { start, flows, end };

  async function endValue(): Promise<Valued> {
    if (outline.closedAt !== undefined && to >= outline.closedAt) {
      // The pay-out takes it there.
      return { at: to, equity: 0 };
    }
    if (to === epoch.endedAt && epoch.endEquity !== undefined) return { at: to, equity: epoch.endEquity };
    const equity = isToNow ? await valueNow(call) : await valueAt(call, to);
    return { at: to, equity: equity ?? start.equity };
  }
}

async function valueAt({ simulation, params }: PerformanceRequest, at: number): Promise<number | undefined> {
  const value = await equityAt(simulation, simulation.history, params.portfolioId, at);
  return value === undefined ? undefined : moneyNumber(value);
}

async function valueNow({ simulation, principal, params }: PerformanceRequest): Promise<number | undefined> {
  const { portfolioId } = params;
  return simulation.read(
    [principal],
    (brokerage) => {
      const portfolio = ownPortfolio(brokerage, portfolioId);
      return portfolio === undefined ? undefined : moneyNumber(brokerage.worthOf(portfolio).totalEquity);
    },
    holdingsOf([ownPortfolio(simulation.brokerage, portfolioId)]),
  );
}

const DAY_MS = 86_400_000;
/** Maximum time between the previous day's close and the start of a period. */
const LOOK_BACK_MS = 7 * DAY_MS;

/** Daily closes of a benchmark, with the splits and dividends that took effect; the prices of a synthetic feed ignore them. */
async function benchmarkCloses(
  analytics: Analytics,
  call: PerformanceRequest,
  symbol: string,
  from: number,
  to: number,
): Promise<readonly BenchmarkClose[]> {
  const { brokerage, feed }: Simulation = call.simulation;
  const { calendar } = brokerage.rules;
  const days = await dailyCloses(call.simulation, symbol, { from: from - LOOK_BACK_MS, to });
  // The state forgets them, the journal of the market does not.
  const actions = computesQuotes(feed)
    ? []
    : await analytics.study('actions', call, { symbol, from: from - LOOK_BACK_MS, to });
  return days.map(({ at, close }) => {
    const date = calendar.dateOf(at);
    let splitFactor = 1;
    let cashDividend = 0;
    for (const action of actions) {
      if (action.exDate !== date) continue;
      const split = splitOf(action);
      if (split !== undefined) splitFactor *= split.ratio.new / split.ratio.old;
      else if (isDividend(action)) cashDividend += priceNumber(action.amountPerShare);
    }
    return { date, close: priceNumber(close), splitFactor, cashDividend };
  });
}

/** Daily closes, those of a pushed market from its history: the feed has neither those before a restart nor those of a fork's parent. */
async function dailyCloses(
  simulation: Simulation,
  symbol: string,
  period: { readonly from: number; readonly to: number },
): Promise<readonly Pick<Bar, 'at' | 'close'>[]> {
  const { feed, history, brokerage } = simulation;
  if (acceptsQuotes(feed))
    return pushedCloses(
      (minutes) => pushedMarks(simulation, history, symbol, minutes),
      brokerage.rules.calendar,
      period,
    );
  return feed.bars({
    symbol,
    size: '1Day',
    from: Instant.ofMs(period.from),
    until: Instant.ofMs(period.to),
    limit: Number.MAX_SAFE_INTEGER,
  });
}

/** Months of which a period lacks sessions at its beginning or end. */
export function partialMonths(calendar: Calendar, from: number, to: number): ReadonlySet<string> {
  const partial = new Set<string>();
  const monthOf = (at: number): string => calendar.dateOf(Instant.ofMs(at)).slice(0, 7);
  const first = calendar.dateOf(Instant.ofMs(from));
  const opened = calendar.tradingDay(first)?.regularOpen;
  const before = calendar.previousTradingDay(first);
  if (before.slice(0, 7) === monthOf(from) || (opened !== undefined && opened < from))
    partial.add(monthOf(from));
  const last = calendar.dateOf(Instant.ofMs(to));
  const closes = calendar.tradingDay(last)?.regularClose;
  const following = calendar.plusBusinessDays(last, closes === undefined ? 0 : 1);
  if ((closes !== undefined && to < closes) || following.slice(0, 7) === monthOf(to))
    partial.add(monthOf(to));
  return partial;
}
