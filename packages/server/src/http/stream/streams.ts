import type { Tier } from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Simulation } from '../../engine/simulation.js';
import { type Answer, refuseCoded, UNAUTHORIZED } from '../answer.js';
import type { Access } from '../../access/access.js';
import type { Principal } from '../auth.js';
import type { HttpDeps } from '../settings.js';
import type { Tickets } from '../tickets.js';
import { isoOfMs } from '../translate/instants.js';
import { CatchUpTurns } from './catch-up-turns.js';
import { Connection, frameOf } from './connection.js';
import { OrderFeed } from './order-feed.js';
import { type Followed, PortfolioFeed } from './portfolio-feed.js';
import { QuoteFeed } from './quote-feed.js';
import type { OrderFilter } from './told.js';

/** Streams that a tenant may have open at once. */
const STREAMS_OF_TIER: Readonly<Record<Tier, number>> = { BASIC: 100, PRO: 1000, ENTERPRISE: 10_000 };
const STREAMS_IN_ALL = 10_000;
const RETRY_AFTER_SECONDS = 10;
/** Timers take no more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Open {
  readonly connection: Connection;
  readonly simulation: Simulation;
  readonly principal: Principal;
  readonly presentId: () => string;
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
  readonly #open = new Set<Open>();
  readonly #perTenant = new Map<string, number>();
  readonly #turns = new CatchUpTurns();
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
      for (const open of this.#open) this.#endIfRevoked(open);
    });
    this.#heartbeatMs = settings.streamHeartbeatMs;
  }

  /** Opens an order stream; an answer where there are too many. */
  openOrders(of: StreamRequest, filter: OrderFilter, lastEventId: string | undefined): Answer | undefined {
    return this.#openStream(of, (connection) => {
      const { simulation } = of;
      const feed = this.#orders.get(simulation) ?? new OrderFeed(simulation, this.#clockMs, this.#turns);
      this.#orders.set(simulation, feed);
      return feed.follow(connection, of.principal.tenantId, filter, lastEventId);
    });
  }

  /** Opens a portfolio stream; an answer where there are too many. */
  openPortfolios(of: StreamRequest, followed: Followed): Answer | undefined {
    return this.#openStream(of, (connection) => {
      const { simulation } = of;
      const feed = this.#portfolios.get(simulation) ?? new PortfolioFeed(simulation, this.#clockMs);
      this.#portfolios.set(simulation, feed);
      return feed.follow(connection, of.principal.tenantId, followed);
    });
  }

  /** Opens a stream of quotes; an answer where there are too many. */
  openQuotes(of: StreamRequest, symbols: readonly string[]): Answer | undefined {
    return this.#openStream(of, (connection) => {
      const { simulation } = of;
      const feed = this.#quotes.get(simulation) ?? new QuoteFeed(simulation, this.#clockMs);
      this.#quotes.set(simulation, feed);
      return feed.follow(connection, symbols);
    });
  }

  /** Ends the streams of a simulation that is gone. */
  endSimulation(simulationId: string): void {
    for (const { connection, simulation, presentId } of this.#open) {
      if (simulation.id === simulationId) connection.end(presentId(), 404, 'Simulation not found');
    }
  }

  /** Ends all streams: their readers come back to whoever serves next. */
  close(): void {
    for (const { connection, presentId } of this.#open)
      connection.end(presentId(), 503, 'Service unavailable');
  }

  #openStream(of: StreamRequest, follow: (connection: Connection) => () => string): Answer | undefined {
    const { tenantId, tier } = of.principal;
    const count = this.#perTenant.get(tenantId) ?? 0;
    if (count >= STREAMS_OF_TIER[tier] || this.#open.size >= STREAMS_IN_ALL) return tooManyStreams();
    const { ticket } = of.request;
    const stream = streamOf(of.request);
    if (ticket !== undefined && !this.#tickets.mayOpen(ticket, stream)) return UNAUTHORIZED;
    const connection = new Connection(of.request, of.reply);
    this.#perTenant.set(tenantId, count + 1);
    const { principal, simulation } = of;
    const open: Open = { connection, simulation, principal, presentId: follow(connection) };
    this.#open.add(open);
    if (ticket !== undefined) {
      const end = (): void =>
        connection.end(open.presentId(), 409, 'Another connection took the place of this one');
      connection.onClose(this.#tickets.opened(ticket, stream, end));
    }
    const stopExpiry = this.#endWithToken(open);
    // The token may have been taken back since the request was let in.
    this.#endIfRevoked(open);
    this.#heartbeat ??= this.#startHeartbeat();
    connection.onClose(() => {
      stopExpiry();
      this.#open.delete(open);
      const left = (this.#perTenant.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#perTenant.delete(tenantId);
      else this.#perTenant.set(tenantId, left);
      if (this.#open.size > 0) return;
      clearInterval(this.#heartbeat);
      this.#heartbeat = undefined;
    });
    return undefined;
  }

  #endIfRevoked({ connection, presentId, principal }: Open): void {
    if (this.#access.isRevoked(principal.origin)) connection.end(presentId(), 401, 'Unauthorized');
  }

  /** A stream lasts no longer than the token that opened it. */
  #endWithToken({ connection, presentId, principal: { expiresAtMs } }: Open): () => void {
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const leftMs = expiresAtMs - this.#clockMs();
      if (leftMs <= 0) return connection.end(presentId(), 401, 'Unauthorized');
      timer = setTimeout(wait, Math.min(leftMs, LONGEST_TIMER_MS));
      timer.unref();
    };
    wait();
    return () => clearTimeout(timer);
  }

  #startHeartbeat(): NodeJS.Timeout {
    const timer = setInterval(() => {
      const timestamp = isoOfMs(this.#clockMs());
      for (const { connection, simulation, presentId } of this.#open) {
        if (simulation.isOutOfService) connection.end(presentId(), 503, 'Service unavailable');
        connection.write(frameOf('heartbeat', presentId(), { timestamp }), presentId);
      }
    }, this.#heartbeatMs);
    timer.unref();
    return timer;
  }
}

/** What a ticket is bound to: the stream and its query, but for where it goes on. */
function streamOf({ operation, query }: FastifyRequest): string {
  const { accountId, portfolioId, symbols } = query as Readonly<Record<string, unknown>>;
  return JSON.stringify([operation, accountId, portfolioId, symbols]);
}

function tooManyStreams(): Answer {
  return refuseCoded(
    'RATE_LIMITED',
    'Too many open streams',
    { retryAfter: RETRY_AFTER_SECONDS },
    { 'retry-after': String(RETRY_AFTER_SECONDS) },
  );
}
