import { ACCOUNT_NOT_FOUND, type Answer, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers, StreamId } from '../call.js';
import { symbolIn } from '../listed.js';
import type { Streams } from '../stream/streams.js';
import { hasPortfolio } from '../owned.js';

/** Live updates (D36, D37). */
export function streamHandlers(streams: Streams): Pick<Handlers, Exclude<StreamId, 'streamLeaderboard'>> {
  return {
    async streamOrders(call) {
      const missing = await missingFilter(call);
      if (missing !== undefined) return missing;
      const { accountId, portfolioId, lastEventId } = call.query;
      const header = call.request.headers['last-event-id'];
      // The browser's own header is newer than the parameter in the address.
      const last = typeof header === 'string' && header !== '' ? header : lastEventId;
      return streams.openOrders(call, { accountId, portfolioId }, last);
    },

    async streamPortfolios(call) {
      const missing = await missingFilter(call);
      if (missing !== undefined) return missing;
      const { accountId, portfolioId, portfolioIds } = call.query;
      if (portfolioIds !== undefined) return openSeveral(streams, call, idsIn(portfolioIds));
      if (portfolioId !== undefined)
        return streams.openPortfolios(call, { portfolioIds: new Set([portfolioId]) });
      return accountId === undefined ? ACCOUNT_NOT_FOUND : streams.openPortfolios(call, { accountId });
    },

    async streamQuotes(call) {
      const { simulation, query } = call;
      const symbols = query.symbols.split(',').map((symbol) => symbolIn(simulation, symbol.trim()));
      // A failure to read is reported before the stream begins.
      await simulation.read([], () => undefined, symbols);
      return streams.openQuotes(call, symbols);
    },
  };
}

/** Lowercase, each once. */
const idsIn = (list: string): ReadonlySet<string> => new Set(list.toLowerCase().split(','));

/** Opens a stream of several portfolios; a response if one of them is not the tenant's. */
async function openSeveral(
  streams: Streams,
  call: Call<'streamPortfolios'>,
  portfolioIds: ReadonlySet<string>,
): Promise<Answer | undefined> {
  const { simulation, principal } = call;
  const own = await Promise.all(
    [...portfolioIds].map((portfolioId) => hasPortfolio({ simulation, principal, params: { portfolioId } })),
  );
  return own.includes(false) ? PORTFOLIO_NOT_FOUND : streams.openPortfolios(call, { portfolioIds });
}

/** The response if a filter names an unknown item. */
async function missingFilter({
  simulation,
  principal,
  query,
}: Call<'streamOrders' | 'streamPortfolios'>): Promise<Answer | undefined> {
  const { accountId, portfolioId } = query;
  if (accountId !== undefined) {
    const isOwn = await simulation.read([principal], ({ state }) => state.accounts.has(accountId));
    if (!isOwn) return ACCOUNT_NOT_FOUND;
  }
  if (portfolioId === undefined) return undefined;
  return (await hasPortfolio({ simulation, principal, params: { portfolioId } }))
    ? undefined
    : PORTFOLIO_NOT_FOUND;
}
