/** Performance of a portfolio over a period (D186): its record, valued at closes and flows, through the analytics package. */
import {
  type BenchmarkClose,
  type EquityPoint,
  type Performance,
  performanceOf,
  type RoundTrip,
} from '@sandpit/analytics';
import { type Calendar, canonicalSymbol, type CorporateAction, Instant } from '@sandpit/core';
import { codedProblem, type PerformanceQuery } from '@sandpit/protocol';
import { payloadOf } from '../../engine/record-text.js';
import type { Simulation } from '../../engine/simulation.js';
import { Slice } from '../../engine/slice.js';
import type { History } from '../../store/history.js';
import { Answer, refuse } from '../answer.js';
import { equityAfterMinute } from '../routes/equity-curve.js';
import { holdingsOf, ownPortfolio, type PortfolioRequest } from '../routes/owned.js';
import { endOf, instantOf } from '../translate/instants.js';
import { moneyNumber, priceNumber } from '../translate/numbers.js';
import {
  cents,
  equityPoints,
  laterInMinute,
  minuteOf,
  type Valued,
  type ValuedFlow,
} from './equity-points.js';
import { lastSeqBefore } from './market-tape.js';
import type { Close, Epoch, PortfolioRecord, ReportedAccount } from './portfolio-record.js';
import { readRecord, roundTripsIn } from './read-record.js';

const EPOCH_NOT_FOUND = refuse(404, 'Epoch not found');
const FROM_NOT_BEFORE_TO = refuse(400, ['from must be before to']);

/** A request about the performance of a portfolio. */
export type PerformanceRequest = PortfolioRequest & { readonly query: PerformanceQuery };

/** A record with the history that it was read from. */
export interface RecordInHistory {
  readonly record: PortfolioRecord;
  readonly history: History;
}

/** The performance of a period, and what it was computed from. */
export interface PortfolioPerformance {
  readonly performance: Performance;
  readonly from: number;
  readonly to: number;
  readonly epoch: Epoch;
  readonly points: readonly EquityPoint[];
  /** Round trips closed in the period. */
  readonly trips: readonly RoundTrip[];
  readonly periodsPerYear: number;
}

/** The record of a portfolio that is there, as far as it is durable. */
export async function recordOf({
  simulation,
  principal,
  params,
}: PortfolioRequest): Promise<RecordInHistory> {
  const history = await simulation.past(principal);
  return { history, record: await readRecord(simulation, history, params.portfolioId) };
}

/** Computes the performance of a portfolio that is there, or says what of the query is wrong. */
export async function portfolioPerformance(
  call: PerformanceRequest,
  { record, history }: RecordInHistory,
): Promise<PortfolioPerformance | Answer> {
  const { simulation, query } = call;
  const { calendar } = simulation.brokerage.rules;
  const benchmark = query.benchmark === undefined ? undefined : canonicalSymbol(query.benchmark);
  if (benchmark !== undefined && simulation.brokerage.instrument(benchmark) === undefined)
    return unknownSymbol(benchmark);
  const epoch = record.epochs[(query.epoch ?? record.epochs.length) - 1];
  if (epoch === undefined) return EPOCH_NOT_FOUND;
  const period = periodOf(call, record, epoch);
  if (period === undefined) return FROM_NOT_BEFORE_TO;
  const { points, closes } = await pointsOf(call, record, history, epoch, period);
  const periodsPerYear = query.periodsPerYear ?? (calendar.id === 'always-open' ? 365 : 252);
  // What happens at the instant of the opening comes after it.
  const isInside = (at: number): boolean =>
    at <= period.to && (at > points.from || points.from === epoch.beganAt);
  const sums = new Map<ReportedAccount, number>();
  for (const { account, amount, epoch: number, at } of record.posted)
    if (number === epoch.number && isInside(at)) sums.set(account, (sums.get(account) ?? 0) + amount);
  const sum = (account: ReportedAccount): number => cents(sums.get(account) ?? 0);
  const traded = { BUY: 0, SELL: 0 };
  for (const event of record.events)
    if (
      event.type === 'TRADED' &&
      event.orderId !== undefined &&
      event.assetClass !== 'FUTURE' &&
      event.epoch === epoch.number &&
      isInside(event.at)
    )
      traded[event.side] += event.value;
  const trips = (await roundTripsIn(record)).filter(
    (trip) => trip.epoch === epoch.number && isInside(trip.closedAt),
  );
  const performance = performanceOf({
    points: points.points,
    exposures: closes,
    ledger: {
      commissions: sum('COMMISSIONS'),
      fees: sum('FEES'),
      interest: sum('INTEREST'),
      dividends: sum('DIVIDENDS'),
      bought: traded.BUY,
      sold: traded.SELL,
    },
    trips,
    periodsPerYear,
    ...(query.riskFreeRate !== undefined && { riskFreeRate: query.riskFreeRate }),
    ...(benchmark !== undefined && {
      benchmark: {
        symbol: benchmark,
        closes: await benchmarkCloses(simulation, benchmark, points.from, period.to),
      },
    }),
    endDate: calendar.dateOf(Instant.ofMs(period.to)),
    partialMonths: partialMonths(calendar, points.from, period.to),
  });
  const { from } = points;
  return { performance, from, to: period.to, epoch, points: points.points, trips, periodsPerYear };
}

function unknownSymbol(symbol: string): Answer {
  const body = codedProblem('UNKNOWN_SYMBOL', `Unknown symbol: ${symbol}`, { symbol });
  return Answer.json(404, { ...body, statusCode: 404 });
}

interface Period {
  readonly from: number;
  readonly to: number;
  /** Whether it ends with the market as it stands. */
  readonly isToNow: boolean;
}

/** The part of an epoch that is asked for; undefined where there is none. */
function periodOf(
  { simulation, query }: PerformanceRequest,
  { closedAt }: PortfolioRecord,
  epoch: Epoch,
): Period | undefined {
  const { calendar } = simulation.brokerage.rules;
  const end = epoch.endedAt ?? closedAt ?? simulation.now();
  const asked = query.to === undefined ? end : endOf(query.to, calendar);
  const to = Math.min(asked, end);
  const from =
    query.from === undefined ? epoch.beganAt : Math.max(instantOf(query.from, calendar), epoch.beganAt);
  const isReversed = query.from !== undefined && instantOf(query.from, calendar) >= asked;
  if (isReversed || from > to) return undefined;
  return { from, to, isToNow: to === end && epoch.endedAt === undefined && closedAt === undefined };
}

/** All valuations of a period; `from` is the instant of the first. */
async function pointsOf(
  call: PerformanceRequest,
  record: PortfolioRecord,
  history: History,
  epoch: Epoch,
  { from, to, isToNow }: Period,
): Promise<{
  readonly points: { readonly from: number; readonly points: readonly EquityPoint[] };
  readonly closes: readonly Close[];
}> {
  const { simulation } = call;
  const isInside = (one: { readonly at: number; readonly epoch: number }): boolean =>
    one.epoch === epoch.number && one.at <= to && (from === epoch.beganAt ? one.at >= from : one.at > from);
  const closes = record.closes.filter(isInside);
  const latest = simulation.now();
  const flows: ValuedFlow[] = [];
  for (const { later, ...flow } of laterInMinute(record.flows.filter(isInside))) {
    const minute = minuteOf(flow.at);
    // Of the minute in which an epoch ends, nothing of it is left.
    const isLastMinute = epoch.endedAt !== undefined && minuteOf(epoch.endedAt) === minute;
    const after = isLastMinute ? undefined : await valueAfter(call, history, minute, latest);
    flows.push({ ...flow, after: cents((after ?? epoch.initialCash + flow.amount + later) - later) });
  }
  const start: Valued =
    from === epoch.beganAt
      ? { at: from, equity: epoch.initialCash }
      : { at: from, equity: (await valueBefore(call, history, from)) ?? epoch.initialCash };
  const end = await endValue();
  return { points: { from, points: equityPoints(start, closes, flows, end) }, closes };

  async function endValue(): Promise<Valued | undefined> {
    if (record.closedAt !== undefined && to >= record.closedAt) {
      // The pay-out is the last point; a portfolio that had nothing to pay ends with nothing.
      return flows.some(({ at }) => at === to) ? undefined : { at: to, equity: 0 };
    }
    const equity = isToNow ? await valueNow(call) : await valueBefore(call, history, to);
    return { at: to, equity: equity ?? start.equity };
  }
}

async function valueAfter(
  { simulation, params }: PerformanceRequest,
  history: History,
  minute: number,
  latest: number,
): Promise<number | undefined> {
  const value = await equityAfterMinute(simulation, history, params.portfolioId, minute, latest);
  return value === undefined ? undefined : moneyNumber(value);
}

/** The value at an instant, by what the last whole minute before it left. */
const valueBefore = (call: PerformanceRequest, history: History, at: number): Promise<number | undefined> =>
  valueAfter(call, history, minuteOf(at - 1), at - 1);

async function valueNow({ simulation, principal, params }: PerformanceRequest): Promise<number | undefined> {
  const { tenantId } = principal;
  const { portfolioId } = params;
  return simulation.read(
    [principal],
    (brokerage) => {
      const portfolio = ownPortfolio(brokerage, tenantId, portfolioId);
      return portfolio === undefined ? undefined : moneyNumber(brokerage.worthOf(portfolio).totalEquity);
    },
    holdingsOf([ownPortfolio(simulation.brokerage, tenantId, portfolioId)]),
  );
}

const DAY_MS = 86_400_000;
/** How far before a period the close of the day before it may lie. */
const LOOK_BACK_MS = 7 * DAY_MS;

/** Daily closes of a benchmark, with the splits and dividends that took effect; the prices of a synthetic feed ignore those. */
async function benchmarkCloses(
  simulation: Simulation,
  symbol: string,
  from: number,
  to: number,
): Promise<readonly BenchmarkClose[]> {
  const { brokerage, feed } = simulation;
  const { calendar } = brokerage.rules;
  const bars = await feed.bars({
    symbol,
    size: '1Day',
    from: Instant.ofMs(from - LOOK_BACK_MS),
    until: Instant.ofMs(to),
    limit: Number.MAX_SAFE_INTEGER,
  });
  const actions = feed.kind === 'synthetic' ? [] : await actionsOn(simulation, symbol, from, to);
  return bars.map(({ at, close }) => {
    const date = calendar.dateOf(at);
    let splitFactor = 1;
    let cashDividend = 0;
    for (const action of actions) {
      if (action.exDate !== date) continue;
      if (action.type === 'SPLIT') splitFactor *= action.ratio.new / action.ratio.old;
      else cashDividend += priceNumber(action.amountPerShare);
    }
    return { date, close: priceNumber(close), splitFactor, cashDividend };
  });
}

/** The corporate actions on a symbol that took effect in a period: the state forgets them, the journal of the market does not. */
async function actionsOn(
  { journal, market }: Simulation,
  symbol: string,
  from: number,
  to: number,
): Promise<readonly CorporateAction[]> {
  const slice = new Slice();
  const actions: CorporateAction[] = [];
  const before = await lastSeqBefore(journal, market.id, from - LOOK_BACK_MS);
  for await (const record of journal.read(market.id, before)) {
    if (record.at > to) break;
    if (record.payload.includes('"ActionDone"'))
      for (const event of payloadOf(record).events)
        if (event.type === 'ActionDone' && event.action.symbol === symbol) actions.push(event.action);
    await slice.breathe();
  }
  return actions;
}

/** Months of which a period lacks sessions at its beginning or end. */
function partialMonths(calendar: Calendar, from: number, to: number): ReadonlySet<string> {
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
