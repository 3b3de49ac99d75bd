/** What trading returned, trade by trade, and for taxes (D186, D187, D189): the history of a portfolio through the analytics package. */
import {
  gainTotals,
  type performanceOf,
  type RealizedGain,
  type RoundTrip,
  taxBooksOf,
  type TaxBooks,
  type YearEnd,
} from '@sandpit/analytics';
import { Instant } from '@sandpit/core';
import type {
  Performance,
  RealizedGain as ShownGain,
  RoundTrip as ShownTrip,
  TaxLot as ShownLot,
} from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation.js';
import type { History } from '../../store/history.js';
import { cents } from '../analytics/equity-points.js';
import { portfolioPerformance, recordOf } from '../analytics/portfolio-performance.js';
import type { Close, Epoch, PortfolioRecord, ReportedAccount } from '../analytics/portfolio-record.js';
import { roundTripsIn } from '../analytics/read-record.js';
import { Answer, PORTFOLIO_NOT_FOUND, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { type Columns, sendCsv, wantsCsv } from '../csv.js';
import { endOf, instantOf, isoOfMs } from '../translate/instants.js';
import { moneyNumber } from '../translate/numbers.js';
import { pageOfAll } from '../translate/pages.js';
import { contractValueAt } from './equity-curve.js';
import { hasPortfolio, ownClosedPortfolio, ownPortfolio, type PortfolioRequest } from './owned.js';

type AnalyticsHandlers = Pick<
  Handlers,
  'listTrades' | 'getPerformance' | 'listTaxLots' | 'listRealizedGains'
>;

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
    const trips = (await roundTripsIn(record))
      .filter(
        ({ closedAt, epoch }) =>
          closedAt >= from && closedAt < to && (query.epoch === undefined || epoch === query.epoch),
      )
      .toReversed();
    return pageOfAll(trips, query, ({ tradeId }) => tradeId, tradeOf);
  },

  async getPerformance(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const found = await portfolioPerformance(call, await recordOf(call));
    if (found instanceof Answer) return found;
    const { performance, from, to, epoch } = found;
    return shownPerformance(performance, from, to, epoch, call.query.series === true);
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
async function taxesOf(call: PortfolioRequest, method: 'FIFO' | 'LIFO' | 'HIFO'): Promise<Taxes> {
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
