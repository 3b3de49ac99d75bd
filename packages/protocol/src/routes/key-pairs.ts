import { KeyPairParams, PortfolioParams } from '../ids.js';
import { CreatedKeyPair, KeyPairs, RevokedKeyPair } from '../key-pairs.js';
import { table } from './route.js';

export const keyPairRoutes = table({
  createKeyPair: {
    method: 'POST',
    path: '/v1/accounts/portfolios/:portfolioId/key-pairs',
    tag: 'Portfolios',
    summary: 'Create a key pair for a portfolio',
    description:
      'For clients that sign in with `APCA-API-KEY-ID` and `APCA-API-SECRET-KEY` at `/alpaca`. It gives access to this portfolio only, until it or the API key behind the requesting token is revoked. The secret is shown once.',
    auth: 'bearer',
    access: { about: 'simulation', contest: 'entry', agents: 'never', isAudited: true },
    scope: 'trade',
    params: PortfolioParams,
    responses: { 201: CreatedKeyPair },
    errors: [404, 409],
  },
  listKeyPairs: {
    method: 'GET',
    path: '/v1/accounts/portfolios/:portfolioId/key-pairs',
    tag: 'Portfolios',
    summary: 'List the key pairs of a portfolio',
    description: 'Lists valid key pairs without their secrets, oldest first.',
    auth: 'bearer',
    access: { about: 'simulation', contest: 'entry', agents: 'byScope' },
    scope: 'read',
    params: PortfolioParams,
    responses: { 200: KeyPairs },
    csv: true,
    errors: [404],
  },
  revokeKeyPair: {
    method: 'DELETE',
    path: '/v1/accounts/portfolios/:portfolioId/key-pairs/:keyId',
    tag: 'Portfolios',
    summary: 'Revoke a key pair',
    description: 'Revokes a key pair at once. Its streams end.',
    auth: 'bearer',
    access: { about: 'simulation', contest: 'entry', agents: 'never', isAudited: true },
    scope: 'trade',
    params: KeyPairParams,
    responses: { 200: RevokedKeyPair },
    errors: [404, 409],
  },
});
