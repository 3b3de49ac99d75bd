/** Sessions of streams: a token gets the id of one, with which it opens a stream on another connection. In memory, for five minutes. */
import { randomUUID } from 'node:crypto';
import { boundedCache } from '../../engine/values/bounded-cache.js';
import type { Principal } from '../auth.js';

const LASTS_MS = 5 * 60_000;
const MOST_SESSIONS = 100_000;

interface Session {
  readonly principal: Principal;
  readonly purpose: string;
  readonly expiresAtMs: number;
}

export class Sessions {
  readonly #clockMs: () => number;
  readonly #sessions = boundedCache<Session>(MOST_SESSIONS);
  /** The last session of a token for a purpose: a new one ends it. */
  readonly #latest = boundedCache<{ readonly id: string }>(MOST_SESSIONS);

  constructor(clockMs: () => number) {
    this.#clockMs = clockMs;
  }

  /** Returns the id of a new session. It names the tenant, so that any node of a cluster knows where to pass it on. */
  open(principal: Principal, purpose: string): string {
    const { tenantId, simulationId, origin } = principal;
    const id = `${Buffer.from(tenantId).toString('base64url')}.${randomUUID()}`;
    const owner = JSON.stringify([purpose, tenantId, simulationId, origin.keyId, origin.tokenId]);
    const former = this.#latest.get(owner);
    if (former !== undefined) this.#sessions.delete(former.id);
    this.#latest.set(owner, { id });
    this.#sessions.set(id, { principal, purpose, expiresAtMs: this.#clockMs() + LASTS_MS });
    return id;
  }

  /** The principal of a session, which this ends; undefined for an id that is unknown, used or late. */
  take(id: string, purpose: string): Principal | undefined {
    const session = this.#sessions.get(id);
    if (session?.purpose !== purpose) return undefined;
    this.#sessions.delete(id);
    const isLate = Math.min(session.expiresAtMs, session.principal.expiresAtMs) <= this.#clockMs();
    return isLate ? undefined : session.principal;
  }
}

/** The tenant that an id of a session names. */
export function tenantOfSession(id: string): string | undefined {
  const [, tenant] = /^([A-Za-z0-9_-]{1,400})\.[0-9a-f-]{36}$/.exec(id) ?? [];
  return tenant === undefined ? undefined : Buffer.from(tenant, 'base64url').toString();
}
