import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerBrokenRequest, trackResponses } from '../client-error.js';
import { NOT_OWNER } from './forwarding.js';

/** An address that this machine cannot listen on: it is not its own, or its name is not known yet. */
const ELSEWHERE: ReadonlySet<string | undefined> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

/** Time for the head of a request, and how often it is checked, ms. */
type HeadLimits = Required<Pick<ServerOptions, 'headersTimeout' | 'connectionsCheckingInterval'>>;

/** Answers requests of other nodes. */
export interface NodeHandlers {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/**
 * The listener for requests of other nodes (D235). It stays open while the node begins again under another incarnation, so that its URL
 * stays the same.
 */
export class NodeListener {
  readonly #server: Server;
  #handlers: NodeHandlers | undefined;

  private constructor(limits: HeadLimits) {
    this.#server = createServer(
      { ...limits, requestTimeout: 20_000, keepAliveTimeout: 65_000 },
      (request, response) => {
        if (this.#handlers !== undefined) return this.#handlers.request(request, response);
        // The request had no effect: the other node sends it again.
        response.writeHead(421, { [NOT_OWNER]: '1', connection: 'close' }).end();
      },
    );
    trackResponses(this.#server);
    this.#server.on('clientError', answerBrokenRequest);
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (this.#handlers !== undefined) this.#handlers.upgrade(request, socket, head);
      else socket.destroy();
    });
  }

  /** Listens on `host`, or on `fallback` if this machine does not have that address. Rejects if the port is in use. */
  static async open(
    port: number,
    host: string,
    fallback: string,
    limits: HeadLimits = { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
  ): Promise<NodeListener> {
    const listener = new NodeListener(limits);
    await listener.#listen(port, host).catch((error: unknown) => {
      if (!ELSEWHERE.has((error as NodeJS.ErrnoException).code)) throw error;
      return listener.#listen(port, fallback);
    });
    return listener;
  }

  #listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From here on an incarnation answers. */
  attach(handlers: NodeHandlers): void {
    this.#handlers = handlers;
  }

  /** Ends all requests: the incarnation that answered them was removed. */
  detach(): void {
    this.#handlers = undefined;
    this.#server.closeAllConnections();
  }

  /** Resolves when the last request is answered. */
  async close(): Promise<void> {
    this.#server.keepAliveTimeout = 1;
    this.#server.prependListener('request', (_request, response: ServerResponse) =>
      response.setHeader('connection', 'close'),
    );
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
