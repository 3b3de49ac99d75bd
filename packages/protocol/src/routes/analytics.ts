import {
  Performance,
  PerformanceQuery,
  RealizedGainPage,
  RealizedGainsQuery,
  TaxLots,
  TaxLotsQuery,
  TradePage,
  TradesQuery,
} from '../analytics.js';
import { PortfolioParams } from '../ids.js';
import { table } from './route.js';

export const analyticsRoutes = table({
  listTrades: {
    method: 'GET',
    path: '/v1/accounts/portfolios/:portfolioId/trades',
    tag: 'Portfolios',
    summary: 'List round trips',
    description:
      'Lists what each opening order or event made when a closing one ended it, first in, first out, newest first, with profit and charges in dollars. `Accept: text/csv` returns the whole filtered list as CSV.',
    auth: 'bearer',
    scope: 'read',
    params: PortfolioParams,
    query: TradesQuery,
    responses: { 200: TradePage },
    csv: true,
    errors: [404],
  },
  getPerformance: {
    method: 'GET',
    path: '/v1/accounts/portfolios/:portfolioId/performance',
    tag: 'Portfolios',
    summary: 'Get return and risk',
    description:
      'Returns time-weighted and money-weighted return, risk, drawdown, trade statistics and a comparison with a benchmark, from equity at every session close and around every external flow. Figures that cannot be computed are absent. A `from` that is not before `to` is refused with 400; an epoch that the portfolio does not have with 404.',
    auth: 'bearer',
    scope: 'read',
    params: PortfolioParams,
    query: PerformanceQuery,
    responses: { 200: Performance },
    errors: [404],
    codes: ['UNKNOWN_SYMBOL'],
  },
  listTaxLots: {
    method: 'GET',
    path: '/v1/accounts/portfolios/:portfolioId/tax-lots',
    tag: 'Portfolios',
    summary: 'List open tax lots',
    description:
      'Lists the open lots of the present epoch with their adjusted basis in dollars, as if `method` had been the standing instruction from the first day. Not tax advice.',
    auth: 'bearer',
    scope: 'read',
    params: PortfolioParams,
    query: TaxLotsQuery,
    responses: { 200: TaxLots },
    errors: [404],
  },
  listRealizedGains: {
    method: 'GET',
    path: '/v1/accounts/portfolios/:portfolioId/realized-gains',
    tag: 'Portfolios',
    summary: 'List realized gains of a tax year',
    description:
      'Lists the sales of a tax year in the present epoch with basis, term and wash sales, newest first, with totals by term and income in dollars. `Accept: text/csv` returns columns (a) to (h) of Form 8949, or with `form=6781` the Section 1256 contracts. Retirement accounts have rows without term, wash sales, totals and income. Not tax advice.',
    auth: 'bearer',
    scope: 'read',
    params: PortfolioParams,
    query: RealizedGainsQuery,
    responses: { 200: RealizedGainPage },
    csv: true,
    errors: [404],
  },
});
