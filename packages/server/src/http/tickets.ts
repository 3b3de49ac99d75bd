import { hash, randomBytes } from 'node:crypto';
import type { Scope } from '@sandpit/protocol';
import { boundedCache } from '../engine/values/bounded-cache.js';
import type { Access } from '../access/access.js';
import type { TicketRow, TicketStore } from '../store/tickets.js';
import type { Principal } from './auth.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's ticket, if it has no bearer token. */
    ticket: string | undefined;
  }
}

/** Before its first use. */
const TTL_MS = 30_000;
/** After the stream that it opened: a browser reconnects automatically. */
const GRACE_MS = 60_000;
const TICKETS_KEPT = 10_000;

interface Ticket {
  readonly principal: Principal;
  /** Undefined while its stream is open. */
  expiresAtMs: number | undefined;
  /** The stream and query that its first use bound it to. */
  stream: string | undefined;
  /** Ends its open stream. */
  end: (() => void) | undefined;
}

/** A ticket as its row has it. */
interface SavedTicket {
  readonly principal: Omit<Principal, 'scopes'> & { readonly scopes: readonly Scope[] };
  readonly stream?: string;
}

/** Tickets that open a stream from a browser, which cannot send a bearer with an `EventSource` (D5, D145, D163). */
export class Tickets {
  readonly ttlSeconds = TTL_MS / 1000;
  readonly #access: Pick<Access, 'isRevoked'>;
  readonly #clockMs: () => number;
  readonly #rows: TicketStore | undefined;
  /** Used and expired tickets: new ones displace the oldest. */
  readonly #waiting = boundedCache<Ticket>(TICKETS_KEPT);
  /** Tickets of open streams, one each. */
  readonly #streaming = new Map<string, Ticket>();

  /** `rows`: of a cluster. A ticket then names its tenant, so that any node finds the owner, which may be another than issued it. */
  constructor(access: Pick<Access, 'isRevoked'>, clockMs: () => number, rows?: TicketStore) {
    this.#rows = rows;
    this.#access = access;
    this.#clockMs = clockMs;
  }

  async issue(principal: Principal): Promise<{ readonly ticket: string; readonly expiresAtMs: number }> {
    const drawn = randomBytes(32).toString('base64url');
    const ticket = this.#rows ? `${drawn}.${Buffer.from(principal.tenantId).toString('base64url')}` : drawn;
    const expiresAtMs = this.#clockMs() + TTL_MS;
    const issued = { principal, expiresAtMs, stream: undefined, end: undefined };
    if (this.#rows === undefined) this.#waiting.set(ticket, issued);
    else await this.#rows.save(digestOf(ticket), rowOf(issued, expiresAtMs, ''));
    return { ticket, expiresAtMs };
  }

  /** The owner of a valid ticket. */
  principalOf(ticket: string): Principal | undefined | Promise<Principal | undefined> {
    if (this.#rows === undefined || this.#streaming.has(ticket)) return this.#known(ticket);
    return tenantOfTicket(ticket) === undefined
      ? undefined
      : this.#load(ticket, this.#rows).then(() => this.#known(ticket));
  }

  /** Another node may have used it since it was in memory here. */
  async #load(ticket: string, rows: TicketStore): Promise<void> {
    const row = await rows.find(digestOf(ticket));
    if (this.#streaming.has(ticket)) return;
    if (row === undefined) return void this.#waiting.delete(ticket);
    const { principal, stream } = JSON.parse(row.value) as SavedTicket;
    this.#waiting.set(ticket, {
      principal: { ...principal, scopes: new Set(principal.scopes) },
      expiresAtMs: row.expiresAt,
      stream,
      end: undefined,
    });
  }

  #known(ticket: string): Principal | undefined {
    const found = this.#streaming.get(ticket) ?? this.#waiting.get(ticket);
    const nowMs = this.#clockMs();
    if (found === undefined || found.principal.expiresAtMs <= nowMs) return undefined;
    if (found.expiresAtMs !== undefined && found.expiresAtMs <= nowMs) return undefined;
    return this.#access.isRevoked(found.principal.origin) ? undefined : found.principal;
  }

  /** True when the ticket may open this stream: its first stream, with its query, is the only one. */
  mayOpen(ticket: string, stream: string): boolean {
    const bound = (this.#streaming.get(ticket) ?? this.#waiting.get(ticket))?.stream;
    return bound === undefined || bound === stream;
  }

  /** Notes a stream opened by it, which replaces its previous one. Call the result when the stream ends. */
  opened(ticket: string, stream: string, end: () => void): () => void {
    const found = this.#streaming.get(ticket) ?? this.#waiting.get(ticket);
    if (found === undefined) return () => undefined;
    found.end?.();
    this.#waiting.delete(ticket);
    this.#streaming.set(ticket, found);
    Object.assign(found, { stream, end, expiresAtMs: undefined });
    const [digest, use] = [digestOf(ticket), randomBytes(8).toString('hex')];
    // During the stream it is valid on another node, which continues the stream if this node is lost.
    this.#rows?.save(digest, rowOf(found, found.principal.expiresAtMs, use)).catch(() => undefined);
    return () => {
      this.#rows?.release(digest, use, this.#clockMs() + GRACE_MS).catch(() => undefined);
      // Ignore the end of a replaced stream.
      if (found.end !== end) return;
      found.end = undefined;
      found.expiresAtMs = this.#clockMs() + GRACE_MS;
      this.#streaming.delete(ticket);
      this.#waiting.set(ticket, found);
    };
  }
}

const digestOf = (ticket: string): string => hash('sha256', ticket);

function rowOf({ principal, stream }: Ticket, expiresAt: number, use: string): TicketRow {
  const saved: SavedTicket = {
    principal: { ...principal, scopes: [...principal.scopes] },
    ...(stream !== undefined && { stream }),
  };
  return { value: JSON.stringify(saved), expiresAt, use };
}

/** The tenant that a ticket of a cluster names; whether it is one of that tenant's its node knows. */
function tenantOfTicket(ticket: string): string | undefined {
  const named = /^[\w-]{43}\.([\w-]+)$/.exec(ticket)?.[1];
  return named === undefined ? undefined : Buffer.from(named, 'base64url').toString();
}
