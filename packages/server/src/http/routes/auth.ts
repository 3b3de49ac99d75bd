import { randomUUID } from 'node:crypto';
import { SCOPES_OF_LEVELS } from '../agents/levels.js';
import { refuse } from '../answer.js';
import { MAIN } from '../../engine/values/cell-names.js';
import { issueToken, lineageOf, TOO_MANY_GENERATIONS } from '../auth.js';
import type { Handlers, Issuers } from '../call.js';
import type { HttpDeps } from '../settings.js';
import type { Tickets } from '../tickets.js';
import { isoOfMs } from '../translate/instants.js';

const INVALID_API_KEY = refuse(401, 'Invalid API Key');

const NO_TOKENS = refuse(409, 'This server does not issue tokens: they come from its identity provider');

/** Token exchange (D2) and stream tickets (D5). */
export function authHandlers({
  access,
  settings,
  clockMs,
}: Pick<HttpDeps, 'access' | 'settings' | 'clockMs'>): Pick<
  Handlers,
  'exchangeToken' | 'createStreamTicket' | 'createAgentToken'
> {
  return {
    async exchangeToken({ body }) {
      const key = access.keyFor(body.apiKey);
      if (key === undefined) return INVALID_API_KEY;
      const { id: keyId, tenantId, tier, scope } = key;
      const issued = await issueToken(settings, { tenantId, tier, scope, keyId }, clockMs());
      // When tokens come from an identity provider, no API key can be exchanged for one.
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

    // All of these is issued.
    createStreamTicket: () => ({}),
    createAgentToken: ({ body }) =>
      settings.jwtSecret === undefined
        ? NO_TOKENS
        : {
            level: body.level,
            ...(body.caps !== undefined && { caps: body.caps }),
            tokenType: 'Bearer',
          },
  };
}

export const ticketIssuer = (tickets: Tickets): Pick<Issuers, 'createStreamTicket'> => ({
  async createStreamTicket({ principal }) {
    const { ticket, expiresAtMs } = await tickets.issue(principal);
    return { ticket, expiresIn: tickets.ttlSeconds, expiresAt: isoOfMs(expiresAtMs) };
  },
});

/** Tokens for agents: never with more rights or a longer life than the requesting token. */
export const agentTokenIssuer = ({
  settings,
  clockMs,
}: Pick<HttpDeps, 'settings' | 'clockMs'>): Pick<Issuers, 'createAgentToken'> => ({
  async createAgentToken({ principal, body }, kept) {
    const { tenantId, tier, scopes, expiresAtMs, origin } = principal;
    const { level, caps, expiresIn = Infinity } = body;
    const fromTokenIds = lineageOf(origin);
    if (fromTokenIds === undefined) return TOO_MANY_GENERATIONS;
    const issued = await issueToken(
      settings,
      {
        tenantId,
        tier,
        scope: SCOPES_OF_LEVELS[level].filter((scope) => scopes.has(scope)).join(' '),
        ...(principal.simulationId !== MAIN && { simulationId: principal.simulationId }),
        notAfterMs: Math.min(expiresAtMs, clockMs() + expiresIn * 1000),
        keyId: origin.keyId,
        fromTokenIds,
        agent: { agentId: randomUUID(), level, ...(caps !== undefined && { caps }) },
      },
      clockMs(),
    );
    if (issued === undefined) return NO_TOKENS;
    const { token, issuedAtMs, expiresAtMs: endsAtMs } = issued;
    return { ...kept, token, expiresIn: (endsAtMs - issuedAtMs) / 1000, expiresAt: isoOfMs(endsAtMs) };
  },
});
