import type { Tier } from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { MAIN } from '../../engine/values/cell-names.js';
import { type Answer, refuseCoded, UNAUTHORIZED } from '../answer.js';
import type { Access } from '../../access/access.js';
import { addressOf, networkOf } from '../client-address.js';
import { countedAs, type Principal } from '../auth.js';
import type { HttpDeps } from '../settings.js';
import type { Tickets } from '../tickets.js';
import { isoOfMs } from '../translate/instants.js';
import { CatchUpScheduler } from './catch-up-scheduler.js';
import { Connection, frameOf } from './connection.js';
import { OrderFeed } from './order-feed.js';
import { type Followed, PortfolioFeed } from './portfolio-feed.js';
import { QuoteFeed } from './quote-feed.js';
import type { OrderFilter } from './order-messages.js';

/** Maximum number of open streams of a tenant. */
const STREAMS_OF_TIER: Readonly<Record<Tier, number>> = { BASIC: 100, PRO: 1000, ENTERPRISE: 10_000 };
const STREAMS_IN_ALL = 10_000;
const RETRY_AFTER_SECONDS = 10;
/** Maximum delay of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A connection that follows a simulation with the rights of a principal. */
export interface Follower {
  readonly simulation: Simulation;
  readonly principal: Principal;
  /** Ends it: 401 without access, 404 without its simulation, 503 if it may return. */
  readonly end: (status: 401 | 403 | 404 | 503, message: string) => void;
  readonly heartbeat?: (timestamp: string) => void;
}

/** A request for a stream, admitted and checked. */
export interface StreamRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly principal: Principal;
  readonly simulation: Simulation;
}

/** All open streams of a server. */
export class Streams {
  readonly #access: Pick<Access, 'isRevoked'>;
  readonly #clockMs: () => number;
  readonly #heartbeatMs: number;
  readonly #tickets: Tickets;
  readonly #open = new Set<Follower>();
  readonly #perTenant = new Map<string, number>();
  readonly #scheduler = new CatchUpScheduler();
  readonly #orders = new WeakMap<Simulation, OrderFeed>();
  readonly #portfolios = new WeakMap<Simulation, PortfolioFeed>();
  readonly #quotes = new WeakMap<Simulation, QuoteFeed>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(
    { access, clockMs, settings }: Pick<HttpDeps, 'access' | 'clockMs' | 'settings'>,
    tickets: Tickets,
  ) {
    this.#tickets = tickets;
    this.#access = access;
    this.#clockMs = clockMs;
    access.onRevocation(() => {
      for (const follower of this.#open) this.#endIfRevoked(follower);
    });
    this.#heartbeatMs = settings.streamHeartbeatMs;
  }

  /** Opens an order stream; a response if there are too many. */
  openOrders(of: StreamRequest, filter: OrderFilter, lastEventId: string | undefined): Answer | undefined {
    return this.#openStream(of, (connection) => {
      const { simulation } = of;
      const feed = this.#orders.get(simulation) ?? new OrderFeed(simulation, this.#clockMs, this.#scheduler);
      this.#orders.set(simulation, feed);
      return feed.follow(connection, filter, lastEventId);
    });
  }

  /** Opens a portfolio stream; a response if there are too many. */
  openPortfolios(of: StreamRequest, followed: Followed): Answer | undefined {
    return this.#openStream(of, (connection) => {
      const { simulation } = of;
      const feed = this.#portfolios.get(simulation) ?? new PortfolioFeed(simulation, this.#clockMs);
      this.#portfolios.set(simulation, feed);
      return feed.follow(connection, followed);
    });
  }

  /** Opens a stream of quotes; a response if there are too many. */
  openQuotes(of: StreamRequest, symbols: readonly string[]): Answer | undefined {
    return this.#openStream(of, (connection) => {
      const { simulation } = of;
      const feed = this.#quotes.get(simulation) ?? new QuoteFeed(simulation, this.#clockMs);
      this.#quotes.set(simulation, feed);
      return feed.follow(connection, symbols);
    });
  }

  /** Opens a stream that visitors without a token may read; a response if there are too many. */
  openPublic(
    of: Omit<StreamRequest, 'principal'> & { readonly principal: Principal | undefined },
    follow: (connection: Connection) => () => string,
  ): Answer | undefined {
    return this.#openStream(
      { ...of, principal: of.principal ?? visitorAt(networkOf(addressOf(of.request))) },
      follow,
    );
  }

  /** Does a step of a stream that receives missed events when it is its tenant's turn. Steps are short. */
  inTurn<T>({ tenantId, id }: Simulation, step: () => Promise<T>): Promise<T> {
    return this.#scheduler.take(tenantId ?? id, step);
  }

  /** Number of open streams. */
  get count(): number {
    return this.#open.size;
  }

  /** Ends the streams of a removed simulation. */
  endSimulation(simulationId: string): void {
    for (const { simulation, end } of this.#open)
      if (simulation.id === simulationId) end(404, 'Simulation not found');
  }

  /** Ends the streams of callers that may no longer read their simulation. */
  endRefused(isRefused: (principal: Principal) => boolean): void {
    for (const { principal, end } of [...this.#open]) if (isRefused(principal)) end(403, 'Forbidden');
  }

  /** Ends the streams of a tenant that another node acquires: they continue there. */
  endTenant(tenantId: string): void {
    for (const { simulation, principal, end } of [...this.#open])
      if ((simulation.tenantId ?? principal.tenantId) === tenantId) end(503, 'Service unavailable');
  }

  /** Ends all streams: their readers reconnect to the next server. */
  close(): void {
    for (const { end } of this.#open) end(503, 'Service unavailable');
  }

  /**
   * Counts a follower among the streams of its tenant, and ends it with its credentials, its simulation or the server. Returns a function
   * that releases it; undefined if there are too many.
   */
  hold(follower: Follower): (() => void) | undefined {
    const counted = countedAs(follower.principal);
    if (this.#isFull(follower.principal)) return undefined;
    this.#open.add(follower);
    this.#perTenant.set(counted, (this.#perTenant.get(counted) ?? 0) + 1);
    const stopExpiry = this.#endWithToken(follower);
    // The token may have been revoked since the request was authorized.
    this.#endIfRevoked(follower);
    this.#heartbeat ??= this.#startHeartbeat();
    return () => {
      stopExpiry();
      if (!this.#open.delete(follower)) return;
      const left = (this.#perTenant.get(counted) ?? 1) - 1;
      if (left === 0) this.#perTenant.delete(counted);
      else this.#perTenant.set(counted, left);
      if (this.#open.size > 0) return;
      clearInterval(this.#heartbeat);
      this.#heartbeat = undefined;
    };
  }

  #isFull(principal: Principal): boolean {
    const count = this.#perTenant.get(countedAs(principal)) ?? 0;
    return count >= STREAMS_OF_TIER[principal.tier] || this.#open.size >= STREAMS_IN_ALL;
  }

  #openStream(of: StreamRequest, follow: (connection: Connection) => () => string): Answer | undefined {
    if (this.#isFull(of.principal)) return tooManyStreams();
    const { ticket } = of.request;
    const stream = streamOf(of.request);
    if (ticket !== undefined && !this.#tickets.mayOpen(ticket, stream)) return UNAUTHORIZED;
    const connection = new Connection(of.request, of.reply);
    const { principal, simulation } = of;
    const presentId = follow(connection);
    const release = this.hold({
      simulation,
      principal,
      end: (status, message) => connection.end(presentId(), status, message),
      heartbeat: (timestamp) => connection.write(frameOf('heartbeat', presentId(), { timestamp }), presentId),
    });
    if (ticket !== undefined) {
      const end = (): void =>
        connection.end(presentId(), 409, 'Another connection took the place of this one');
      connection.onClose(this.#tickets.opened(ticket, stream, end));
    }
    if (release !== undefined) connection.onClose(release);
    return undefined;
  }

  #endIfRevoked({ principal, end }: Follower): void {
    if (this.#access.isRevoked(principal.origin)) end(401, 'Unauthorized');
  }

  /** A stream lasts no longer than the token that opened it. */
  #endWithToken({ end, principal: { expiresAtMs } }: Follower): () => void {
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const leftMs = expiresAtMs - this.#clockMs();
      if (leftMs <= 0) return end(401, 'Unauthorized');
      timer = setTimeout(wait, Math.min(leftMs, LONGEST_TIMER_MS));
      timer.unref();
    };
    wait();
    return () => clearTimeout(timer);
  }

  #startHeartbeat(): NodeJS.Timeout {
    const timer = setInterval(() => {
      const timestamp = isoOfMs(this.#clockMs());
      for (const { simulation, end, heartbeat } of this.#open) {
        if (simulation.isOutOfService) end(503, 'Service unavailable');
        heartbeat?.(timestamp);
      }
    }, this.#heartbeatMs);
    timer.unref();
    return timer;
  }
}

/** A reader without a token is counted by address. */
const visitorAt = (address: string): Principal => ({
  tenantId: `visitor ${address}`,
  tier: 'PRO',
  scopes: new Set(['read']),
  simulationId: MAIN,
  expiresAtMs: Infinity,
  origin: { keyId: undefined, tokenId: undefined, fromTokenIds: [] },
  by: { tier: 'PRO' },
});

/** The stream that a ticket is bound to: the operation and its query, except for the position to resume from. */
function streamOf({ operation, query }: FastifyRequest): string {
  const { accountId, portfolioId, portfolioIds, symbols } = query as Readonly<Record<string, unknown>>;
  return JSON.stringify([operation, accountId, portfolioId, symbols, portfolioIds]);
}

function tooManyStreams(): Answer {
  return refuseCoded(
    'RATE_LIMITED',
    'Too many open streams',
    { retryAfter: RETRY_AFTER_SECONDS },
    { 'retry-after': String(RETRY_AFTER_SECONDS) },
  );
}
