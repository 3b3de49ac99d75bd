/** Returns of trading, trade by trade, and for taxes (D186, D187, D189): studies of the history of a portfolio. */
import {
  gainTotals,
  type Performance as Measured,
  type RealizedGain,
  type TaxBooks,
  type YearEnd,
} from '@sandpit/analytics';
import { Instant } from '@sandpit/core';
import type { Performance, RealizedGain as ShownGain, TaxLot as ShownLot } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation.js';
import { cents } from '../analytics/equity-points.js';
import type { Analytics } from '../analytics/analytics.js';
import { periodInput } from '../analytics/portfolio-performance.js';
import type { ReportedAccount } from '../analytics/portfolio-record.js';
import type { Outline, PeriodInput, TaxPosting } from '../analytics/study.js';
import { Answer, PORTFOLIO_NOT_FOUND, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { type Columns, sendCsv, wantsCsv } from '../csv.js';
import { endOf, instantOf, isoOfMs } from '../translate/instants.js';
import { moneyNumber } from '../translate/numbers.js';
import { ALL_LINES, cursorKey, pageFound, pageOfAll } from '../translate/pages.js';
import { contractValueAt } from './equity-curve.js';
import { hasPortfolio, ownClosedPortfolio, ownPortfolio, type PortfolioRequest } from './owned.js';

type AnalyticsHandlers = Pick<
  Handlers,
  'listTrades' | 'getPerformance' | 'listTaxLots' | 'listRealizedGains'
>;

const FROM_NOT_BEFORE_TO = refuse(400, ['from must be before to']);

export const analyticsHandlers = (analytics: Analytics): AnalyticsHandlers => ({
  async listTrades(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { query, params } = call;
    const { calendar } = call.simulation.brokerage.rules;
    const from = query.from === undefined ? -Infinity : instantOf(query.from, calendar);
    const to = query.to === undefined ? Infinity : endOf(query.to, calendar);
    if (from >= to) return FROM_NOT_BEFORE_TO;
    const filter = {
      portfolioId: params.portfolioId,
      from,
      to,
      ...(query.epoch !== undefined && { epoch: query.epoch }),
    };
    const { page, limit, cursor } = query;
    const before = cursor === undefined ? undefined : cursorKey(cursor);
    const offset = cursor === undefined ? (page - 1) * limit : 0;
    const window = { offset, limit, ...(before !== undefined && { before }) };
    const { data, total, left } = await analytics.study('trades', call, { ...filter, ...window });
    const found = pageFound([...data], total, left, query, ({ tradeId }) => tradeId);
    found[ALL_LINES] = async (emit) => {
      await analytics.study('rows', call, { operation: 'listTrades', ...filter }, emit);
    };
    return found;
  },

  async getPerformance(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const input = await periodInput(analytics, call);
    if (input instanceof Answer) return input;
    const performance = await analytics.study('performance', call, input);
    return shownPerformance(performance, input, call.query.series === true);
  },

  async listTaxLots(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { method = 'FIFO' } = call.query;
    const { books, isRetirement } = await taxesOf(analytics, call, method, yearOf(call.simulation));
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
    const year = query.year ?? yearOf(simulation);
    const { books, isRetirement } = await taxesOf(analytics, call, method, year);
    const gains = books.gains.filter(({ soldAt }) => Number(soldAt.slice(0, 4)) === year);
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
      ...(!isRetirement && { totals: gainTotals(gains), income: incomeOf(books.posted) }),
    };
  },
});

/** The year of a simulation in New York. */
const yearOf = (simulation: Simulation): number =>
  Number(simulation.brokerage.rules.calendar.dateOf(simulation.now()).slice(0, 4));

function shownPerformance(
  { maxDrawdown, endedAt, monthly, series, ...rest }: Measured,
  { from, to, epoch }: PeriodInput,
  withSeries: boolean,
): Performance {
  return {
    from: isoOfMs(from),
    to: isoOfMs(to),
    epoch,
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

interface Taxes {
  readonly books: TaxBooks & { readonly posted: readonly TaxPosting[] };
  readonly isRetirement: boolean;
}

/** Tax books of the present epoch, and the postings of a year. */
async function taxesOf(
  analytics: Analytics,
  call: PortfolioRequest,
  method: 'FIFO' | 'LIFO' | 'HIFO',
  year: number,
): Promise<Taxes> {
  const { simulation, principal, params } = call;
  const { portfolioId } = params;
  const terms =
    ownPortfolio(simulation.brokerage, principal.tenantId, portfolioId)?.terms ??
    (await ownClosedPortfolio(simulation, principal.tenantId, portfolioId))?.terms;
  const isRetirement = terms?.accountType !== 'INDIVIDUAL';
  const marked = isRetirement
    ? []
    : await yearEnds(simulation, await analytics.study('outline', call, { portfolioId }));
  const question = { portfolioId, method, yearEnds: marked, washSales: !isRetirement, year };
  return { books: await analytics.study('taxes', call, question), isRetirement };
}

/** The last closes of the finished years, with marks of the Section 1256 contracts held then. */
async function yearEnds(simulation: Simulation, outline: Outline): Promise<readonly YearEnd[]> {
  const ends: YearEnd[] = [];
  for (const { at, date, section1256 } of outline.yearEnds) {
    const marks: Record<string, number> = {};
    for (const { symbol, price } of section1256) {
      const contract = simulation.brokerage.instrument(symbol, Instant.ofMs(at));
      if (price !== undefined) marks[symbol] = price;
      else if (contract?.assetClass === 'OPTION')
        marks[symbol] =
          moneyNumber(await contractValueAt(simulation, simulation.history, symbol, at)) /
          contract.multiplier;
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

function incomeOf(posted: readonly TaxPosting[]): {
  dividends: number;
  paymentsInLieu: number;
  marginInterest: number;
  borrowFees: number;
} {
  const sum = (account: ReportedAccount, sign: 1 | -1 = 1): number =>
    cents(
      posted
        .filter((one) => one.account === account)
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
