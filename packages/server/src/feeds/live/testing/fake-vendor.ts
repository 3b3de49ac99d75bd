import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** An answer of a fake REST service. */
export interface FakeAnswer {
  readonly status?: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server on loopback that speaks WebSocket and REST as a vendor does. What is common to all vendors. */
export abstract class FakeVendor {
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  /** Connections that are open, by path. */
  readonly connections = new Map<WebSocket, string>();
  /** Every REST request, as `GET /path?query`. */
  readonly requests: string[] = [];
  /** Answers that go before the vendor's own, by path; each is given once. */
  readonly prepared = new Map<string, FakeAnswer[]>();
  /** Accepts connections, or refuses them like a server that is down. */
  isDown = false;
  /** The key of the server is not good any more. */
  isExpired = false;
  /** Hangs up as soon as a connection could be used. */
  hangsUp = false;
  /** Bars by symbol, for any requested span and size. */
  readonly toldBars = new Map<string, readonly ToldBar[]>();
  /** Answers pings. */
  answersPings = true;
  /** Keeps REST answers back until it is called. */
  heldAnswers: Promise<void> | undefined;

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#sockets = new WebSocketServer({ noServer: true, autoPong: false });
    this.#server.on('upgrade', (request, socket, head) => {
      if (this.isDown) {
        socket.destroy();
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (connection) => {
        this.connections.set(connection, new URL(request.url ?? '/', 'http://fake').pathname);
        connection.on('close', () => this.connections.delete(connection));
        connection.on('ping', (data: Buffer) => {
          if (this.answersPings) connection.pong(data);
        });
        connection.on('message', (data: Buffer, isBinary) => this.heard(connection, data, isBinary));
        this.connected(connection, request);
      });
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    for (const connection of this.connections.keys()) connection.terminate();
    this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get socketOrigin(): string {
    return this.origin.replace('http', 'ws');
  }

  /** Cuts every connection, as a network does. */
  cut(): void {
    for (const connection of this.connections.keys()) connection.terminate();
  }

  /** Gives an answer once, before the vendor's own. */
  prepare(path: string, answer: FakeAnswer): void {
    this.prepared.set(path, [...(this.prepared.get(path) ?? []), answer]);
  }

  protected abstract connected(connection: WebSocket, request: IncomingMessage): void;
  protected abstract heard(connection: WebSocket, data: Buffer, isBinary: boolean): void;
  protected abstract answer(url: URL, request: IncomingMessage): FakeAnswer;

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake');
    request.resume();
    this.requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    await this.heldAnswers;
    if (this.isDown) {
      request.socket.destroy();
      return;
    }
    const {
      status = 200,
      body,
      headers = {},
    } = this.prepared.get(url.pathname)?.shift() ?? this.answer(url, request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}

/** A bar as a fake answers it. */
export interface ToldBar {
  readonly atMs: number;
  readonly o: number;
  readonly h: number;
  readonly l: number;
  readonly c: number;
  readonly v: number;
}

/** Data that a test has a fake vendor send, for any vendor. */
interface Told {
  readonly symbol: string;
  readonly atMs: number;
}
export interface ToldQuote extends Told {
  readonly bid?: number;
  readonly ask?: number;
  readonly bidSize?: number;
  readonly askSize?: number;
}
export interface ToldTrade extends Told {
  readonly price: number;
  readonly size?: number;
  readonly id?: string;
  /** A trade that must not move the last sale. */
  readonly isOddLot?: boolean;
}

/** A fake vendor as the suite of sources drives it. */
export interface FakeSource {
  readonly vendor: FakeVendor;
  /** Sets the answer of the REST service for a symbol from here on. */
  setSnapshot(quote: ToldQuote): void;
  quote(...quotes: readonly ToldQuote[]): void;
  trade(trade: ToldTrade): void;
  /** The symbols that are subscribed on the stock stream. */
  subscribed(): ReadonlySet<string>;
}
