import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Access } from '../access/access.js';
import type { Principal } from './auth.js';

const TTL_MS = 30_000;
const TICKETS_KEPT = 10_000;

/** Tickets that open one stream from a browser, which cannot send a bearer with an `EventSource` (D5). */
export class Tickets {
  readonly ttlSeconds = TTL_MS / 1000;
  readonly #access: Pick<Access, 'isRevoked'>;
  readonly #clockMs: () => number;
  readonly #open = new LRUCache<string, { readonly principal: Principal; readonly expiresAtMs: number }>({
    max: TICKETS_KEPT,
  });

  constructor(access: Pick<Access, 'isRevoked'>, clockMs: () => number) {
    this.#access = access;
    this.#clockMs = clockMs;
  }

  issue(principal: Principal): { readonly ticket: string; readonly expiresAtMs: number } {
    const ticket = randomBytes(32).toString('base64url');
    const expiresAtMs = this.#clockMs() + TTL_MS;
    this.#open.set(ticket, { principal, expiresAtMs });
    return { ticket, expiresAtMs };
  }

  /** Uses a ticket up. */
  take(ticket: string): Principal | undefined {
    const found = this.#open.get(ticket);
    this.#open.delete(ticket);
    const nowMs = this.#clockMs();
    if (found === undefined || found.expiresAtMs <= nowMs || found.principal.expiresAtMs <= nowMs)
      return undefined;
    return this.#access.isRevoked(found.principal.origin) ? undefined : found.principal;
  }
}
