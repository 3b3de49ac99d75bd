import { AccessRefused } from '../../access/access.js';
import type { KeyPair, KeyPairs } from '../../access/key-pairs.js';
import { type Answer, PORTFOLIO_NOT_FOUND, refuse } from '../answer.js';
import type { Handlers, Issuers } from '../call.js';
import { isoOfMs } from '../translate/instants.js';
import { hasPortfolio, ownPortfolio, type PortfolioRequest } from '../owned.js';

const KEY_PAIR_NOT_FOUND = refuse(404, 'Key pair not found');
const PORTFOLIO_CLOSED = refuse(409, 'Portfolio is closed');

/** Maximum scopes of a pair: it trades and reads, and cannot control the market. */
const SCOPES = ['trade', 'read'] as const;

const shown = ({ keyId, portfolioId, scope, createdAt, expiresAtMs }: KeyPair) => ({
  keyId,
  portfolioId,
  scope,
  createdAt: isoOfMs(createdAt),
  ...(expiresAtMs !== undefined && { expiresAt: isoOfMs(expiresAtMs) }),
});

const isOpen = ({ simulation, principal, params }: PortfolioRequest): Promise<boolean> =>
  simulation.read([principal], (brokerage) => ownPortfolio(brokerage, params.portfolioId) !== undefined);

/** Why a portfolio that is not open gets no pair: it is closed (D142), or it never was. */
const refusedOf = async (call: PortfolioRequest): Promise<Answer> =>
  (await hasPortfolio(call)) ? PORTFOLIO_CLOSED : PORTFOLIO_NOT_FOUND;

/** Key pairs of portfolios, for the clients of dialects. */
export function keyPairHandlers(
  pairs: KeyPairs,
): Pick<Handlers, 'createKeyPair' | 'listKeyPairs' | 'revokeKeyPair'> {
  return {
    // All else is issued.
    async createKeyPair(call) {
      const { portfolioId } = call.params;
      return (await isOpen(call)) ? { portfolioId } : refusedOf(call);
    },

    async listKeyPairs(call) {
      if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
      return pairs.of(call.principal.simulationId, call.params.portfolioId).map(shown);
    },

    async revokeKeyPair(call) {
      if (!(await isOpen(call))) return refusedOf(call);
      const { portfolioId, keyId } = call.params;
      const pair = pairs.of(call.principal.simulationId, portfolioId).find((one) => one.keyId === keyId);
      if (pair === undefined) return KEY_PAIR_NOT_FOUND;
      await pairs.revoke(keyId);
      return { keyId, status: 'REVOKED' };
    },
  };
}

/** Creates the pair: only this response contains the secret; it is not stored. */
export const keyPairIssuer = (pairs: KeyPairs): Pick<Issuers, 'createKeyPair'> => ({
  async createKeyPair({ principal }, { portfolioId }) {
    const { tenantId, tier, scopes, origin, expiresAtMs, isEntry } = principal;
    try {
      const { pair, secretKey } = await pairs.create({
        tenantId,
        tier,
        scope: SCOPES.filter((scope) => scopes.has(scope)).join(' '),
        simulationId: principal.simulationId,
        portfolioId,
        origin,
        // An expiring right stays limited when passed on; that of an API key does not expire.
        ...(origin.keyId === undefined && { expiresAtMs }),
        ...(isEntry === true && { isEntry }),
      });
      return { ...shown(pair), secretKey };
    } catch (error) {
      if (error instanceof AccessRefused) return refuse(409, error.message);
      throw error;
    }
  },
});
