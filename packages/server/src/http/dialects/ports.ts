/** Ports of dialects: connections of plain bytes, each to the portfolio of its port. There is no login: the operator opens the ports. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Book, Dialect, PortConnection, PortRefusal } from '@sandpit/dialect-port';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyBaseLogger } from 'fastify';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { TenantPlacement } from '../../cluster/tenant-placement.js';
import { countedAs, type Principal } from '../auth.js';
import type { Faults } from '../faults.js';
import { RateLimits } from '../rate-limit.js';
import { ownPortfolio } from '../owned.js';
import type { StreamFault } from '../stream/stream-fault.js';
import type { Streams } from '../stream/streams.js';
import { PortfolioBook } from './desks.js';
import type { EntryDeps } from './entry.js';

/** A port, and the portfolio that it belongs to. */
interface OpenPort {
  readonly port: number;
  readonly portfolioId: string;
}

/** Tells whether this node serves a tenant, and whether it still owns it, so that it sends no stale state. */
export type Placement = Pick<TenantPlacement, 'serves' | 'owns'>;

interface PortDeps extends EntryDeps {
  readonly streams: Streams;
  readonly faults: Pick<Faults, 'ofSocket'>;
  readonly log?: FastifyBaseLogger | undefined;
  /** In a cluster. */
  readonly placement?: Placement | undefined;
}

/** Maximum backlog of a reader that does not read; beyond it the connection ends. */
const MOST_BUFFERED_BYTES = 4_194_304;
const MOST_CONNECTIONS = 64;
const KEEP_ALIVE_MS = 30_000;

/** The listening ports of a server. */
export class DialectPorts {
  readonly #deps: PortDeps;
  readonly #limits = new RateLimits();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(deps: PortDeps) {
    this.#deps = deps;
  }

  /** Listens on a port; 0 = any free one. Resolves with its number. */
  async listen(dialect: Dialect, { port, portfolioId }: OpenPort, host: string): Promise<number> {
    const { listener } = dialect;
    if (listener === undefined) throw new Error(`${dialect.name} has no ports`);
    const server = createServer(
      { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, noDelay: true },
      (socket) => {
        this.#sockets.add(socket);
        socket.once('close', () => this.#sockets.delete(socket));
        listener(new SocketConnection(socket, portfolioId, dialect, this.#limits, this.#deps));
      },
    );
    server.maxConnections = MOST_CONNECTIONS;
    this.#servers.push(server);
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Ends all connections. */
  close(): void {
    for (const server of this.#servers.splice(0)) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

class SocketConnection implements PortConnection {
  readonly #socket: Socket;
  readonly #portfolioId: string;
  readonly #dialect: Dialect;
  readonly #limits: RateLimits;
  readonly #deps: PortDeps;
  #principal: Principal | undefined;
  #fault: StreamFault | undefined;

  constructor(socket: Socket, portfolioId: string, dialect: Dialect, limits: RateLimits, deps: PortDeps) {
    this.#socket = socket;
    this.#portfolioId = portfolioId;
    this.#dialect = dialect;
    this.#limits = limits;
    this.#deps = deps;
    // An error of a connection ends only that connection.
    socket.on('error', () => socket.destroy());
  }

  onBytes(listener: (bytes: Uint8Array) => void): void {
    this.#socket.on('data', listener);
  }

  onClose(listener: () => void): void {
    if (this.#socket.closed) listener();
    else this.#socket.once('close', listener);
  }

  async open(): Promise<Book | PortRefusal> {
    const { simulations, isDraining, placement } = this.#deps;
    if (isDraining()) return 'unavailable';
    try {
      for (const { id, tenantId } of simulations.entries.withPortfolio(this.#portfolioId)) {
        if (placement !== undefined && !(await placement.serves(tenantId))) return 'elsewhere';
        const simulation = await simulations.directory.find(id, tenantId);
        if (simulation === undefined) continue;
        if (simulation.isOutOfService) return 'unavailable';
        if (ownPortfolio(simulation.brokerage, this.#portfolioId) !== undefined)
          return this.#enter(simulation, this.#principalOf(id, tenantId));
      }
      return 'unknown';
    } catch (error) {
      this.report(error);
      return 'unavailable';
    }
  }

  /** The owner of the port, with the rights to read and to trade. */
  #principalOf(simulationId: string, tenantId: string): Principal {
    const { tier = 'PRO' } = this.#deps.registry.tenant(tenantId) ?? {};
    return {
      tenantId,
      tier,
      scopes: new Set(['read', 'trade']),
      simulationId,
      expiresAtMs: Infinity,
      origin: { keyId: undefined, tokenId: undefined, fromTokenIds: [] },
      by: { tier },
    };
  }

  #enter(simulation: Simulation, principal: Principal): Book | PortRefusal {
    const { streams, faults } = this.#deps;
    const release = streams.hold({ simulation, principal, end: () => this.end() });
    if (release === undefined) return 'too-many';
    this.onClose(release);
    this.#principal = principal;
    this.#fault = faults.ofSocket(simulation, principal.tenantId, this.#dialect.prefix);
    // Operations of a connection have no request of their own.
    const request = { raw: this.#socket, headers: {}, method: 'GET' } as unknown as FastifyRequest;
    const caller = { principal, simulation, request, reply: {} as FastifyReply };
    return new PortfolioBook(this.#portfolioId, caller, this.#deps);
  }

  write(bytes: Uint8Array): void {
    const socket = this.#socket;
    // The tenant may have another owner by now, and this state is old.
    if (this.#principal !== undefined && this.#deps.placement?.owns(this.#principal.tenantId) === false)
      return void socket.destroy();
    if (socket.destroyed || !socket.writable || this.#fault?.isStalled === true) return;
    const times = this.#fault?.repeat([bytes]).length ?? 1;
    for (let i = 0; i < times; i++) socket.write(bytes);
    if (this.#fault?.isCut === true || socket.writableLength > MOST_BUFFERED_BYTES) socket.destroy();
  }

  count(kind: string): boolean {
    const { settings, monotonicMs } = this.#deps;
    if (this.#principal === undefined) return true;
    const route = `${this.#dialect.prefix} ${kind}`;
    return this.#limits
      .ofTenant(route, countedAs(this.#principal), settings.rateLimitDefault)
      .take(monotonicMs());
  }

  end(): void {
    this.#socket.end();
    this.#socket.destroySoon();
  }

  report(error: unknown): void {
    this.#deps.log?.error({ err: error, port: this.#socket.localPort }, 'request failed');
  }
}
