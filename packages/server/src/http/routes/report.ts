/** The report of a portfolio (D190). */
import type { Analytics } from '../analytics/analytics.js';
import { periodInput } from '../analytics/portfolio-performance.js';
import { Answer, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers } from '../call.js';
import { sendFile } from '../reply.js';
import { isoOf } from '../translate/instants.js';
import { nameOfClosed, nameOfPortfolio } from '../translate/portfolios.js';
import { hasPortfolio, ownClosedPortfolio, ownPortfolio } from '../owned.js';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

export const reportHandlers = (analytics: Analytics): Pick<Handlers, 'getReport'> => ({
  async getReport(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, request, reply } = call;
    const input = await periodInput(analytics, call);
    if (input instanceof Answer) return input;
    const words = { ...(await describe(call)), madeAt: isoOf(simulation.now()) };
    sendFile(request, reply, 200, await analytics.study('report', call, { ...input, ...words }), HEADERS);
    return undefined;
  },
});

async function describe({
  simulation,
  params,
}: Call<'getReport'>): Promise<{ readonly title: string; readonly about: readonly string[] }> {
  const open = ownPortfolio(simulation.brokerage, params.portfolioId);
  const closed = open === undefined ? await ownClosedPortfolio(simulation, params.portfolioId) : undefined;
  const { terms, settings } = open ?? closed ?? {};
  const { brokerage } = simulation;
  const name =
    open === undefined
      ? closed === undefined
        ? undefined
        : nameOfClosed(brokerage, closed)
      : nameOfPortfolio(open);
  const kind = settings?.portfolioType === 'MARGIN' ? 'Margin portfolio' : 'Cash portfolio';
  return {
    title: name ?? kind,
    about: [
      ...(name === undefined ? [] : [kind]),
      ...(terms === undefined ? [] : [terms.accountType.replaceAll('_', ' ')]),
      ...(settings === undefined ? [] : [`broker ${settings.brokerId}`]),
      params.portfolioId,
      ...(open === undefined ? ['closed'] : []),
    ],
  };
}
