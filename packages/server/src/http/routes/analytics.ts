/** What trading returned, trade by trade, and for taxes (D186, D187, D189): the history of a portfolio through the analytics package. */
import {
  type BenchmarkClose,
  type EquityPoint,
  gainTotals,
  performanceOf,
  type RealizedGain,
  type RoundTrip,
  roundTripsOf,
  taxBooksOf,
  type TaxBooks,
  type YearEnd,
} from '@sandpit/analytics';
import { type Calendar, canonicalSymbol, effectiveAt, Instant } from '@sandpit/core';
import {
  codedProblem,
  type Performance,
  type RealizedGain as ShownGain,
  type RoundTrip as ShownTrip,
  type TaxLot as ShownLot,
} from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation.js';
import type { History } from '../../store/history.js';
import {
  cents,
  equityPoints,
  laterInMinute,
  minuteOf,
  type Valued,
  type ValuedFlow,
} from '../analytics/equity-points.js';
import type { Close, Epoch, PortfolioRecord, ReportedAccount } from '../analytics/portfolio-record.js';
import { readRecord } from '../analytics/read-record.js';
import { Answer, PORTFOLIO_NOT_FOUND, refuse } from '../answer.js';
import type { Call, Handlers } from '../call.js';
import { type Columns, sendCsv, wantsCsv } from '../csv.js';
import { endOf, instantOf, isoOfMs } from '../translate/instants.js';
import { moneyNumber, priceNumber } from '../translate/numbers.js';
import { pageOfAll } from '../translate/pages.js';
import { contractValueAt, equityAfterMinute } from './equity-curve.js';
import { hasPortfolio, holdingsOf, ownClosedPortfolio, ownPortfolio } from './owned.js';

type AnalyticsHandlers = Pick<
  Handlers,
  'listTrades' | 'getPerformance' | 'listTaxLots' | 'listRealizedGains'
>;

const EPOCH_NOT_FOUND = refuse(404, 'Epoch not found');
const FROM_NOT_BEFORE_TO = refuse(400, ['from must be before to']);

export const analyticsHandlers: AnalyticsHandlers = {
  async listTrades(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { query } = call;
    const { calendar } = call.simulation.brokerage.rules;
    const from = query.from === undefined ? -Infinity : instantOf(query.from, calendar);
    const to = query.to === undefined ? Infinity : endOf(query.to, calendar);
    if (from >= to) return FROM_NOT_BEFORE_TO;
    const { record } = await recordOf(call);
    const trips = roundTripsOf(record.events)
      .trips.filter(
        ({ closedAt, epoch }) =>
          closedAt >= from && closedAt < to && (query.epoch === undefined || epoch === query.epoch),
      )
      .toReversed();
    return pageOfAll(trips, query, ({ tradeId }) => tradeId, tradeOf);
  },

  async getPerformance(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, query } = call;
    const { calendar } = simulation.brokerage.rules;
    const benchmark = query.benchmark === undefined ? undefined : canonicalSymbol(query.benchmark);
    if (benchmark !== undefined && simulation.brokerage.instrument(benchmark) === undefined)
      return unknownSymbol(benchmark);
    const { record, history } = await recordOf(call);
    const epoch = record.epochs[(query.epoch ?? record.epochs.length) - 1];
    if (epoch === undefined) return EPOCH_NOT_FOUND;
    const period = periodOf(call, record, epoch);
    if (period === undefined) return FROM_NOT_BEFORE_TO;
    const { points, closes } = await pointsOf(call, record, history, epoch, period);
    const periods = query.periodsPerYear ?? (calendar.id === 'always-open' ? 365 : 252);
    // What happens at the instant of the opening comes after it.
    const isInside = (at: number): boolean =>
      at <= period.to && (at > points.from || points.from === epoch.beganAt);
    const sum = (account: ReportedAccount): number =>
      cents(
        record.posted
          .filter((one) => one.account === account && one.epoch === epoch.number && isInside(one.at))
          .reduce((total, { amount }) => total + amount, 0),
      );
    const traded = (side: 'BUY' | 'SELL'): number =>
      record.events.reduce(
        (total, event) =>
          event.type === 'TRADED' &&
          event.orderId !== undefined &&
          event.assetClass !== 'FUTURE' &&
          event.side === side &&
          event.epoch === epoch.number &&
          isInside(event.at)
            ? total + event.value
            : total,
        0,
      );
    const performance = performanceOf({
      points: points.points,
      exposures: closes,
      ledger: {
        commissions: sum('COMMISSIONS'),
        fees: sum('FEES'),
        interest: sum('INTEREST'),
        dividends: sum('DIVIDENDS'),
        bought: traded('BUY'),
        sold: traded('SELL'),
      },
      trips: roundTripsOf(record.events).trips.filter(
        (trip) => trip.epoch === epoch.number && isInside(trip.closedAt),
      ),
      periodsPerYear: periods,
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
    return shownPerformance(performance, points.from, period.to, epoch, query.series === true);
  },

  async listTaxLots(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { method = 'FIFO' } = call.query;
    const { books, isRetirement } = await taxesOf(call, method);
    return {
      method,
      lots: books.lots.map(({ washSaleDisallowed, orderIds, ...lot }): ShownLot => ({
        ...lot,
        ...(!isRetirement && { washSaleDisallowed }),
        orderIds: [...orderIds],
      })),
    };
  },

  async listRealizedGains(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, query } = call;
    const { method = 'FIFO' } = query;
    const today = simulation.brokerage.rules.calendar.dateOf(simulation.now());
    const year = query.year ?? Number(today.slice(0, 4));
    const { record, books, isRetirement } = await taxesOf(call, method);
    const isOfYear = (date: string): boolean => Number(date.slice(0, 4)) === year;
    const gains = books.gains.filter(({ soldAt }) => isOfYear(soldAt));
    const rows = gains.map((gain, index) => ({ gain, number: index + 1 })).reverse();
    if (wantsCsv(call.request)) {
      const is6781 = query.form === '6781';
      return sendCsv(
        call,
        is6781 ? FORM_6781 : FORM_8949,
        rows.map(({ gain }) => gain).filter(({ term }) => (term === 'SECTION_1256') === is6781),
      );
    }
    const page = pageOfAll(
      rows,
      query,
      ({ number }) => number,
      ({ gain }) => shownGain(gain, isRetirement),
    );
    return {
      year,
      method,
      ...page,
      ...(!isRetirement && { totals: gainTotals(gains), income: incomeOf(record, isOfYear) }),
    };
  },
};

type PortfolioCall = Call<'listTrades' | 'getPerformance' | 'listTaxLots' | 'listRealizedGains'>;

/** The record of a portfolio that is there, as far as it is durable. */
async function recordOf({
  simulation,
  principal,
  params,
}: Pick<PortfolioCall, 'simulation' | 'principal' | 'params'>): Promise<{
  readonly record: PortfolioRecord;
  readonly history: History;
}> {
  const history = await simulation.past(principal);
  return { history, record: await readRecord(simulation, history, params.portfolioId) };
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
  { simulation, query }: Call<'getPerformance'>,
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
  call: Call<'getPerformance'>,
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
  { simulation, params }: Call<'getPerformance'>,
  history: History,
  minute: number,
  latest: number,
): Promise<number | undefined> {
  const value = await equityAfterMinute(simulation, history, params.portfolioId, minute, latest);
  return value === undefined ? undefined : moneyNumber(value);
}

/** The value at an instant, by what the last whole minute before it left. */
const valueBefore = (
  call: Call<'getPerformance'>,
  history: History,
  at: number,
): Promise<number | undefined> => valueAfter(call, history, minuteOf(at - 1), at - 1);

async function valueNow({
  simulation,
  principal,
  params,
}: Call<'getPerformance'>): Promise<number | undefined> {
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
  { brokerage, feed }: Simulation,
  symbol: string,
  from: number,
  to: number,
): Promise<readonly BenchmarkClose[]> {
  const { calendar } = brokerage.rules;
  const bars = await feed.bars({
    symbol,
    size: '1Day',
    from: Instant.ofMs(from - LOOK_BACK_MS),
    until: Instant.ofMs(to),
    limit: Number.MAX_SAFE_INTEGER,
  });
  const actions =
    feed.kind === 'synthetic'
      ? []
      : [...brokerage.state.actions.values()].filter(
          ({ action, status }) =>
            action.symbol === symbol && status === 'EFFECTIVE' && effectiveAt(calendar, action) <= to,
        );
  return bars.map(({ at, close }) => {
    const date = calendar.dateOf(at);
    let splitFactor = 1;
    let cashDividend = 0;
    for (const { action } of actions) {
      if (action.exDate !== date) continue;
      if (action.type === 'SPLIT') splitFactor *= action.ratio.new / action.ratio.old;
      else cashDividend += priceNumber(action.amountPerShare);
    }
    return { date, close: priceNumber(close), splitFactor, cashDividend };
  });
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

function shownPerformance(
  { maxDrawdown, endedAt, monthly, series, ...rest }: ReturnType<typeof performanceOf>,
  from: number,
  to: number,
  epoch: Epoch,
  withSeries: boolean,
): Performance {
  return {
    from: isoOfMs(from),
    to: isoOfMs(to),
    epoch: epoch.number,
    ...rest,
    ...(maxDrawdown !== undefined && {
      maxDrawdown: {
        fraction: maxDrawdown.fraction,
        amount: cents(maxDrawdown.amount),
        peakAt: isoOfMs(maxDrawdown.peakAt),
        troughAt: isoOfMs(maxDrawdown.troughAt),
        ...(maxDrawdown.recoveredAt !== undefined && { recoveredAt: isoOfMs(maxDrawdown.recoveredAt) }),
      },
    }),
    monthly: [...monthly],
    ...(withSeries && { series: series.map((point) => ({ ...point, at: isoOfMs(point.at) })) }),
    ...(endedAt !== undefined && { endedAt: isoOfMs(endedAt) }),
  };
}

const tradeOf = (trip: RoundTrip): ShownTrip => ({
  ...trip,
  openedAt: isoOfMs(trip.openedAt),
  closedAt: isoOfMs(trip.closedAt),
});

interface Taxes {
  readonly record: PortfolioRecord;
  readonly books: TaxBooks;
  readonly isRetirement: boolean;
}

/** Tax books of the present epoch. */
async function taxesOf(
  call: Pick<PortfolioCall, 'simulation' | 'principal' | 'params'>,
  method: 'FIFO' | 'LIFO' | 'HIFO',
): Promise<Taxes> {
  const { simulation, principal, params } = call;
  const { record, history } = await recordOf(call);
  const epoch = record.epochs.length;
  const terms =
    ownPortfolio(simulation.brokerage, principal.tenantId, params.portfolioId)?.terms ??
    (await ownClosedPortfolio(simulation, principal.tenantId, params.portfolioId))?.terms;
  const isRetirement = terms?.accountType !== 'INDIVIDUAL';
  const books = taxBooksOf({
    events: record.events.filter((event) => event.epoch === epoch),
    method,
    yearEnds: isRetirement ? [] : await yearEnds(simulation, history, record, epoch),
    washSales: !isRetirement,
  });
  return { record, books, isRetirement };
}

/** The last closes of the finished years, with marks of the Section 1256 contracts held then. */
async function yearEnds(
  simulation: Simulation,
  history: History,
  { closes }: PortfolioRecord,
  epoch: number,
): Promise<readonly YearEnd[]> {
  const { calendar } = simulation.brokerage.rules;
  const thisYear = calendar.dateOf(simulation.now()).slice(0, 4);
  const lastOf = new Map<string, Close>();
  for (const close of closes)
    if (close.epoch === epoch && close.date.slice(0, 4) < thisYear) lastOf.set(close.date.slice(0, 4), close);
  const ends: YearEnd[] = [];
  for (const { at, date, section1256 } of lastOf.values()) {
    const marks: Record<string, number> = {};
    for (const { symbol, price } of section1256) {
      const contract = simulation.brokerage.instrument(symbol, Instant.ofMs(at));
      if (price !== undefined) marks[symbol] = price;
      else if (contract?.assetClass === 'OPTION')
        marks[symbol] =
          moneyNumber(await contractValueAt(simulation, history, symbol, at)) / contract.multiplier;
    }
    ends.push({ at, date, marks });
  }
  return ends;
}

function shownGain(
  { washSaleDisallowed, term, washSale, code, orderIds, ...gain }: RealizedGain,
  isRetirement: boolean,
): ShownGain {
  return {
    ...gain,
    ...(!isRetirement && { washSaleDisallowed, term, washSale, ...(code !== undefined && { code }) }),
    orderIds: [...orderIds],
  };
}

function incomeOf(
  { posted, epochs }: PortfolioRecord,
  isOfYear: (date: string) => boolean,
): { dividends: number; paymentsInLieu: number; marginInterest: number; borrowFees: number } {
  const sum = (account: ReportedAccount, sign: 1 | -1 = 1): number =>
    cents(
      posted
        .filter((one) => one.account === account && one.epoch === epochs.length && isOfYear(one.date))
        .reduce(
          (total, { amount }) => total + (account === 'DIVIDENDS' ? Math.max(0, sign * amount) : amount),
          0,
        ),
    );
  return {
    dividends: sum('DIVIDENDS'),
    paymentsInLieu: sum('DIVIDENDS', -1),
    marginInterest: sum('INTEREST'),
    borrowFees: sum('BORROW_FEES'),
  };
}

/** Columns (a) to (h) of Form 8949. */
const FORM_8949: Columns<RealizedGain> = {
  'Description of property': ({ quantity, symbol }) => `${quantity} ${symbol}`,
  'Date acquired': (row) => row.acquiredAt,
  'Date sold or disposed of': (row) => row.soldAt,
  Proceeds: (row) => row.proceeds,
  'Cost or other basis': (row) => row.costBasis,
  'Code(s)': (row) => row.code,
  'Amount of adjustment': (row) => (row.washSaleDisallowed > 0 ? row.washSaleDisallowed : undefined),
  'Gain or (loss)': (row) => row.gain,
};

/** Columns (a) to (c) of part I of Form 6781. */
const FORM_6781: Columns<RealizedGain> = {
  'Identification of account': ({ quantity, symbol }) => `${quantity} ${symbol}`,
  '(Loss)': ({ gain }) => (gain < 0 ? -gain : undefined),
  Gain: ({ gain }) => (gain < 0 ? undefined : gain),
};
