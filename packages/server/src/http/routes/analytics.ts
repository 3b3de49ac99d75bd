/** Returns of trading, trade by trade, and for taxes (D186, D187, D189): studies of the history of a portfolio. */
import type { LotMethod, TaxSplit, YearEnd } from '@sandpit/analytics';
import { effectiveAt, Instant, newSymbolOf, splitOf } from '@sandpit/core';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { Analytics } from '../analytics/analytics.js';
import { periodInput } from '../analytics/portfolio-performance.js';
import type { Outline, TaxQuestion } from '../analytics/study.js';
import { formHeadings } from '../analytics/tax-studies.js';
import { Answer, PORTFOLIO_NOT_FOUND, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { sendCsvLines, wantsCsv } from '../csv.js';
import { endOf, instantOf } from '../translate/instants.js';
import { moneyNumber } from '../translate/numbers.js';
import { ALL_LINES, listWindow, pageFound } from '../translate/pages.js';
import { shownPerformance } from '../translate/performance.js';
import { contractValueAt } from '../analytics/equity-curve.js';
import { hasPortfolio, ownClosedPortfolio, ownPortfolio, type PortfolioRequest } from '../owned.js';

type AnalyticsHandlers = Pick<
  Handlers,
  'listTrades' | 'getPerformance' | 'listTaxLots' | 'listRealizedGains'
>;

const FROM_NOT_BEFORE_TO = refuse(400, ['from must be before to']);

const NO_TERM = refuse(400, ['term is not available: sales in retirement accounts have none']);

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
    const window = listWindow(query);
    const { data, total, left } = await analytics.study('trades', call, { ...filter, window });
    const found = pageFound([...data], { total, left, lastKey: data.at(-1)?.tradeId }, query);
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
    const { query } = call;
    const { method = 'FIFO' } = query;
    const question = await taxQuestion(analytics, call, method);
    const window = listWindow(query);
    const { data, total, left, lastNumber } = await analytics.study('lots', call, { ...question, window });
    const page = pageFound([...data], { total, left, lastKey: lastNumber }, query);
    page[ALL_LINES] = async (emit) => {
      await analytics.study('rows', call, { operation: 'listTaxLots', ...question }, emit);
    };
    return { method, ...page };
  },

  async listRealizedGains(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, query } = call;
    const { method = 'FIFO', form = '8949', year = yearOf(simulation), term } = query;
    const asked = await taxQuestion(analytics, call, method);
    if (term !== undefined && asked.isRetirement) return NO_TERM;
    const question = { ...asked, year, ...(term !== undefined && { term }) };
    if (wantsCsv(call.request))
      return sendCsvLines(call, formHeadings(form), (emit) =>
        analytics.study('rows', call, { operation: 'listRealizedGains', form, ...question }, emit),
      );
    const { data, total, left, lastNumber, totals, income } = await analytics.study('gains', call, {
      ...question,
      window: listWindow(query),
    });
    const page = pageFound([...data], { total, left, lastKey: lastNumber }, query);
    return {
      year,
      method,
      ...page,
      ...(totals !== undefined && income !== undefined && { totals, income }),
    };
  },
});

/** The year of a simulation in New York. */
const yearOf = (simulation: Simulation): number =>
  Number(simulation.brokerage.rules.calendar.dateOf(simulation.now()).slice(0, 4));

/** The tax books that a request is about. */
async function taxQuestion(
  analytics: Analytics,
  call: PortfolioRequest,
  method: LotMethod,
): Promise<TaxQuestion> {
  const { simulation, params } = call;
  const { portfolioId } = params;
  const terms =
    ownPortfolio(simulation.brokerage, portfolioId)?.terms ??
    (await ownClosedPortfolio(simulation, portfolioId))?.terms;
  const isRetirement = terms?.accountType !== 'INDIVIDUAL';
  const marked = isRetirement
    ? []
    : await yearEnds(simulation, await analytics.study('outline', call, { portfolioId }));
  return { portfolioId, method, yearEnds: marked, splits: splitsIn(simulation), isRetirement };
}

const ONE_FOR_ONE = { new: 1, old: 1 };

/** Splits, stock dividends and changes of symbols that have been applied, in order of time. */
const splitsIn = ({ brokerage: { state, rules } }: Simulation): readonly TaxSplit[] =>
  [...state.actions.values()]
    .flatMap(({ action, status }) => {
      const ratio = action.type === 'SYMBOL_CHANGE' ? ONE_FOR_ONE : splitOf(action)?.ratio;
      if (ratio === undefined || status !== 'EFFECTIVE') return [];
      const to = newSymbolOf(action);
      return [
        {
          at: effectiveAt(rules.calendar, action),
          symbol: action.symbol,
          numerator: ratio.new,
          denominator: ratio.old,
          ...(to !== undefined && { to }),
        },
      ];
    })
    .sort((a, b) => a.at - b.at);

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
