import { refuse } from '../answer.js';
import { issueToken } from '../auth.js';
import type { Handlers, Issuers } from '../call.js';
import type { HttpDeps } from '../settings.js';
import type { Tickets } from '../tickets.js';
import { isoOfMs } from '../translate/instants.js';

const INVALID_API_KEY = refuse(401, 'Invalid API Key');

/** Token exchange (D2) and stream tickets (D5). */
export function authHandlers({
  access,
  settings,
  clockMs,
}: Pick<HttpDeps, 'access' | 'settings' | 'clockMs'>): Pick<
  Handlers,
  'exchangeToken' | 'createStreamTicket'
> {
  return {
    async exchangeToken({ body }) {
      const key = access.keyFor(body.apiKey);
      if (key === undefined) return INVALID_API_KEY;
      const { id: keyId, tenantId, tier, scope } = key;
      const issued = await issueToken(settings, { tenantId, tier, scope, keyId }, clockMs());
      // Where tokens come from an identity provider, no key buys one here.
      if (issued === undefined) return INVALID_API_KEY;
      const { token, tokenId, issuedAtMs, expiresAtMs } = issued;
      const createdAt = isoOfMs(issuedAtMs);
      return {
        token,
        tokenId,
        tokenType: 'Bearer',
        expiresIn: (expiresAtMs - issuedAtMs) / 1000,
        expiresAt: isoOfMs(expiresAtMs),
        createdAt,
        updatedAt: createdAt,
      };
    },

    // All of it is issued.
    createStreamTicket: () => ({}),
  };
}

export const ticketIssuer = (tickets: Tickets): Pick<Issuers, 'createStreamTicket'> => ({
  createStreamTicket({ principal }) {
    const { ticket, expiresAtMs } = tickets.issue(principal);
    return { ticket, expiresIn: tickets.ttlSeconds, expiresAt: isoOfMs(expiresAtMs) };
  },
});
