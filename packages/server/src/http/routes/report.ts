/** The report of a portfolio (D190). */
import { ExecutionQualityTally, type MeasuredOrder } from '@sandpit/analytics';
import { calendarById, Instant } from '@sandpit/core';
import { measureOrders } from '../analytics/measure-orders.js';
import { portfolioPerformance, recordOf } from '../analytics/portfolio-performance.js';
import { Answer, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers } from '../call.js';
import { sendFile } from '../reply.js';
import { reportPage } from '../report/report.js';
import { isoOf } from '../translate/instants.js';
import { quotesNow } from './execution-quality.js';
import { hasPortfolio, ownClosedPortfolio, ownPortfolio } from './owned.js';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

const NEW_YORK = calendarById('XNYS');

export const reportHandlers: Pick<Handlers, 'getReport'> = {
  async getReport(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, query, request, reply } = call;
    const found = await portfolioPerformance(call, await recordOf(call));
    if (found instanceof Answer) return found;
    const tally = new ExecutionQualityTally();
    const slippages: number[] = [];
    const { portfolioId } = call.params;
    await measureOrders(
      simulation,
      {
        isWanted: ({ request: asked }, at) =>
          asked.portfolioId === portfolioId && at >= found.from && at <= found.to,
        afterSeq: 0,
      },
      quotesNow(simulation),
      (order) => {
        tally.add(order);
        const slippage = slippageOf(order);
        if (slippage !== undefined) slippages.push(slippage);
      },
    );
    const page = reportPage({
      ...found,
      ...(await describe(call)),
      madeAt: isoOf(simulation.now()),
      quality: tally.result(),
      slippages,
      riskFreeRate: query.riskFreeRate ?? 0,
      newYork: (at) => NEW_YORK.format(Instant.ofMs(at)),
    });
    sendFile(request, reply, 200, page, HEADERS);
    return undefined;
  },
};

function slippageOf(order: MeasuredOrder): number | undefined {
  const tally = new ExecutionQualityTally();
  tally.add(order);
  return tally.result().slippageBps;
}

async function describe({
  simulation,
  principal,
  params,
}: Call<'getReport'>): Promise<{ readonly title: string; readonly about: readonly string[] }> {
  const { tenantId } = principal;
  const open = ownPortfolio(simulation.brokerage, tenantId, params.portfolioId);
  const closed =
    open === undefined ? await ownClosedPortfolio(simulation, tenantId, params.portfolioId) : undefined;
  const { terms, settings } = open ?? closed ?? {};
  const kind = settings?.portfolioType === 'MARGIN' ? 'Margin portfolio' : 'Cash portfolio';
  return {
    title: terms?.name ?? kind,
    about: [
      ...(terms?.name === undefined ? [] : [kind]),
      ...(terms === undefined ? [] : [terms.accountType.replaceAll('_', ' ')]),
      ...(settings === undefined ? [] : [`broker ${settings.brokerId}`]),
      params.portfolioId,
      ...(open === undefined ? ['closed'] : []),
    ],
  };
}
