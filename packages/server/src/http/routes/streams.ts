import { accountKey } from '@sandpit/core';
import { ACCOUNT_NOT_FOUND, type Answer, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers, StreamId } from '../call.js';
import type { Streams } from '../stream/streams.js';
import { hasPortfolio } from './owned.js';

/** Live updates (D36, D37). */
export function streamHandlers(streams: Streams): Pick<Handlers, 'streamOrders' | 'streamPortfolios'> {
  return {
    async streamOrders(call) {
      const missing = await missingFilter(call);
      if (missing !== undefined) return missing;
      const { accountId, portfolioId, lastEventId } = call.query;
      const header = call.request.headers['last-event-id'];
      // What the browser adds by itself is newer than what the page once put into the address.
      const last = typeof header === 'string' && header !== '' ? header : lastEventId;
      return streams.openOrders(call, { accountId, portfolioId }, last);
    },

    async streamPortfolios(call) {
      const missing = await missingFilter(call);
      if (missing !== undefined) return missing;
      const { accountId, portfolioId } = call.query;
      if (portfolioId !== undefined) return streams.openPortfolios(call, { portfolioId });
      return accountId === undefined ? ACCOUNT_NOT_FOUND : streams.openPortfolios(call, { accountId });
    },
  };
}

/** The answer where a filter names what the tenant does not have. */
async function missingFilter({ simulation, principal, query }: Call<StreamId>): Promise<Answer | undefined> {
  const { accountId, portfolioId } = query;
  if (accountId !== undefined) {
    const key = accountKey(principal.tenantId, accountId);
    const isOwn = await simulation.read([principal], ({ state }) => state.accounts.has(key));
    if (!isOwn) return ACCOUNT_NOT_FOUND;
  }
  if (portfolioId === undefined) return undefined;
  return (await hasPortfolio({ simulation, principal, params: { portfolioId } }))
    ? undefined
    : PORTFOLIO_NOT_FOUND;
}
