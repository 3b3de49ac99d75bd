import { randomUUID } from 'node:crypto';
import { signToken } from '../packages/server/src/testing/test-app.js';

/** Signing secret of servers under test, for rigs that must not depend on files that they destroy. */
export const JWT_SECRET = 'a secret of the rigs, of more than 32 bytes';

export const TENANT = 'demo';

/** A token that is good for a day; for `main` unless a simulation is given. */
export function tokenOf(
  tenantId = TENANT,
  secret = JWT_SECRET,
  simulationId?: string,
  scope = 'trade read simulate admin operator',
): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { sub: tenantId, tier: 'PRO', scope };
  const simulation = simulationId === undefined ? {} : { sim: simulationId };
  const times = { iat, exp: iat + 86_400, jti: randomUUID(), iss: 'sandpit', aud: 'sandpit' };
  return signToken({ ...claims, ...simulation, ...times }, undefined, secret);
}
