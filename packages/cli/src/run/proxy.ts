/**
 * The proxy of a run (D271): it serves the listed hosts from a Sandpit, refuses every other broker's host, and blocks everything else unless configured.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, request as requestHttps } from 'node:https';
import { type AddressInfo, connect, type Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getExtensionData, NonTlsError, readTlsClientHello } from 'read-tls-client-hello';
import type { RunCertificate } from './authority.js';
import { isBrokerHost } from './broker-hosts.js';
import { authorityOf, hostOf, isLoopback } from './host-name.js';
import type { ServedBroker } from './served-brokers.js';

const HEAD_WITHIN_MS = 10_000;
/** Clients with long cookies and tokens exist. */
const MOST_HEADER_BYTES = 65_536;
/** A refusal is read up to here. */
const MOST_BODY_BYTES = 16_384;
/** Hosts and reasons that are counted separately. */
const MOST_NAMES = 1000;

export interface ProxyOptions {
  readonly brokers: readonly ServedBroker[];
  readonly certificate: Pick<RunCertificate, 'cert' | 'key'>;
  /** The Sandpit. */
  readonly target: URL;
  readonly allowNetwork: boolean;
  /** False where the command must reach nothing of this machine but the Sandpit. */
  readonly allowLoopback: boolean;
  /** Receives a line about each host that was refused, once. */
  readonly onRefused: (line: string) => void;
  /** Time within which a client sends a whole head, or begins TLS; default 10 s. */
  readonly headWithinMs?: number;
}

export type Tally = ReadonlyMap<string, number>;

type Verdict =
  | { readonly type: 'SERVED' }
  | { readonly type: 'TUNNELED' }
  | { readonly type: 'REFUSED'; readonly line: string };

export class RunProxy {
  readonly #options: ProxyOptions;
  readonly #served: ReadonlyMap<string, ServedBroker>;
  readonly #front: Server;
  readonly #brokers: Server;
  readonly #headWithinMs: number;
  readonly #sockets = new Set<Duplex>();
  readonly #requests = new Map<string, number>();
  readonly #blocked = new Map<string, number>();
  readonly #refusals = new Map<string, number>();

  private constructor(options: ProxyOptions) {
    this.#options = options;
    this.#served = new Map(
      options.brokers.flatMap((broker) => broker.hosts.map((host) => [host, broker] as const)),
    );
    this.#headWithinMs = options.headWithinMs ?? HEAD_WITHIN_MS;
    const limits = {
      headersTimeout: this.#headWithinMs,
      connectionsCheckingInterval: this.#headWithinMs / 10,
      maxHeaderSize: MOST_HEADER_BYTES,
    };
    this.#front = createServer(limits, (request, response) => this.#forwardPlain(request, response));
    this.#front.on('connect', (request, socket, head) => this.#connect(request, socket, head));
    const { cert, key } = options.certificate;
    this.#brokers = createTlsServer({
      ...limits,
      cert,
      key,
      handshakeTimeout: this.#headWithinMs,
      SNICallback: (name, done) => {
        const isServed = this.#served.has(hostOf(name) ?? '');
        // Without its own context the certificate above is used.
        done(isServed ? null : new Error(`${name} is not served`));
      },
    });
    this.#brokers.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#serve(request, response),
    );
    this.#brokers.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
    // A client that does not trust the certificate, or sends something else.
    for (const event of ['tlsClientError', 'clientError'])
      this.#brokers.on(event, (_error: Error, socket: Duplex) => socket.destroy());
    for (const server of [this.#front, this.#brokers])
      server.on('connection', (socket: Socket) => this.#keep(socket));
  }

  static async open(options: ProxyOptions): Promise<RunProxy> {
    const proxy = new RunProxy(options);
    for (const server of [proxy.#front, proxy.#brokers]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    return proxy;
  }

  /** Port of the HTTP proxy. */
  get port(): number {
    return portOf(this.#front);
  }

  /** Port at which the served hosts answer TLS directly. */
  get tlsPort(): number {
    return portOf(this.#brokers);
  }

  /** Requests by host. */
  get requests(): Tally {
    return this.#requests;
  }

  /** Refused connections by host. */
  get blocked(): Tally {
    return this.#blocked;
  }

  /** Orders that were answered with an error, by its message. */
  get refusals(): Tally {
    return this.#refusals;
  }

  async close(): Promise<void> {
    const ended = [this.#front, this.#brokers].map((server) => once(server, 'close'));
    for (const server of [this.#front, this.#brokers]) server.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(ended);
  }

  /** Ends a socket with the proxy, and survives its errors. */
  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #verdictOn(host: string): Verdict {
    if (this.#served.has(host)) return { type: 'SERVED' };
    if (isBrokerHost(host)) return this.#refuse(host, blockedLine(host));
    const { allowLoopback, allowNetwork } = this.#options;
    if (isLoopback(host) && (allowLoopback || this.#isTarget(host))) return { type: 'TUNNELED' };
    if (allowNetwork && !isLoopback(host)) return { type: 'TUNNELED' };
    return this.#refuse(host, `refused: ${host} (--allow-network lets the command reach it)`);
  }

  #isTarget(host: string): boolean {
    return host === hostOf(this.#options.target.hostname);
  }

  #refuse(host: string, line: string): Verdict {
    if (!this.#blocked.has(host)) this.#options.onRefused(line);
    count(this.#blocked, host);
    return { type: 'REFUSED', line };
  }

  #connect(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const authority = authorityOf(request.url ?? '');
    if (authority === undefined) return endWith(socket, 400, 'malformed CONNECT');
    const { host, port } = authority;
    const verdict = this.#verdictOn(host);
    if (verdict.type === 'REFUSED') return endWith(socket, 403, verdict.line);
    const targetPort = Number(this.#options.target.port || 80);
    if (isLoopback(host) && !this.#options.allowLoopback && port !== targetPort)
      return endWith(socket, 403, `refused: ${host}:${port}`);
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    if (verdict.type === 'SERVED') this.#brokers.emit('connection', socket);
    else if (socket instanceof Socket) void this.#tunnel(socket, host, port);
    else socket.destroy();
  }

  /** Passes bytes on, unless TLS in it names a broker: the name in CONNECT may be another one, or an address. */
  async #tunnel(client: Socket, host: string, port: number): Promise<void> {
    client.setTimeout(this.#headWithinMs, () => client.destroy());
    try {
      const named = isLoopback(host) ? undefined : await serverNameOf(client);
      if (named !== undefined && isBrokerHost(named)) {
        this.#refuse(named, blockedLine(named));
        client.destroy();
        return;
      }
    } catch {
      client.destroy();
      return;
    }
    client.setTimeout(0);
    const upstream = connect(port, host);
    this.#keep(upstream);
    upstream.once('connect', () => client.pipe(upstream).pipe(client));
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
  }

  /** A request for a whole URL: an `http:` one, or an `https:` one of a client that does not know CONNECT. */
  #forwardPlain(request: IncomingMessage, response: ServerResponse): void {
    const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
    const host = /^https?:$/.test(url?.protocol ?? '') ? hostOf(url?.hostname ?? '') : undefined;
    if (url === undefined || host === undefined)
      return answer(response, 400, 'This is the proxy of sandpit run');
    const verdict = this.#verdictOn(host);
    if (verdict.type === 'REFUSED') return answer(response, 403, verdict.line);
    if (verdict.type === 'SERVED') {
      request.url = url.pathname + url.search;
      return this.#serve(request, response, host);
    }
    const isLocal = isLoopback(host);
    if (isLocal && !this.#options.allowLoopback && url.port !== this.#options.target.port)
      return answer(response, 403, `refused: ${url.host}`);
    // An address in the URL, a broker in the header.
    const named = hostIn(request);
    if (named !== undefined && isBrokerHost(named)) {
      this.#refuse(named, blockedLine(named));
      return answer(response, 403, blockedLine(named));
    }
    const headers = { ...request.headers };
    delete headers['proxy-connection'];
    const ask = url.protocol === 'https:' ? requestHttps : requestHttp;
    this.#pass(request, response, ask(url, { method: request.method, headers }));
  }

  /** A request to a listed host: the same request at the dialect of its broker. */
  #serve(request: IncomingMessage, response: ServerResponse, named = hostIn(request)): void {
    const place = this.#placeOf(named);
    // A connection for one host must not carry requests for another one.
    if (place === undefined) return answer(response, 421, 'This host is not served here');
    const forwarded = this.#forwarded(request, place.broker);
    const isOrder = request.method !== 'GET' && /order/i.test(request.url ?? '');
    if (isOrder)
      forwarded.once('response', (reply: IncomingMessage) => {
        if (isRefusal(reply.statusCode ?? 0)) this.#noteRefusal(reply);
      });
    this.#pass(request, response, forwarded);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const place = this.#placeOf(hostIn(request));
    if (place === undefined) return endWith(socket, 421, 'This host is not served here');
    this.#keep(socket);
    const forwarded = this.#forwarded(request, place.broker);
    forwarded.on('upgrade', (reply: IncomingMessage, upstream: Socket, first: Buffer) => {
      this.#keep(upstream);
      socket.write(headOf(reply));
      if (first.length > 0) socket.write(first);
      if (head.length > 0) upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
      upstream.once('close', () => socket.destroy());
      socket.once('close', () => upstream.destroy());
    });
    forwarded.on('response', (reply: IncomingMessage) => {
      socket.write(headOf(reply));
      reply.pipe(socket);
    });
    forwarded.on('error', () => endWith(socket, 502, 'The Sandpit does not answer'));
    forwarded.end();
  }

  #placeOf(host: string | undefined): { readonly broker: ServedBroker } | undefined {
    const broker = this.#served.get(host ?? '');
    if (broker === undefined || host === undefined) return undefined;
    count(this.#requests, host);
    return { broker };
  }

  #forwarded(request: IncomingMessage, { prefix }: ServedBroker): ReturnType<typeof requestHttp> {
    const { target } = this.#options;
    const path = pathOf(request.url ?? '/');
    const base = target.pathname.replace(/\/$/, '');
    // Marks requests of a run: simulated logins need no click there.
    const headers = { ...request.headers, host: target.host, 'x-sandpit-run': '1' };
    const ask = target.protocol === 'https:' ? requestHttps : requestHttp;
    return ask({
      host: target.hostname.replace(/^\[|\]$/g, ''),
      port: target.port,
      method: request.method,
      path: base + prefix + path,
      headers,
    });
  }

  #pass(request: IncomingMessage, response: ServerResponse, forwarded: ReturnType<typeof requestHttp>): void {
    forwarded.once('response', (reply: IncomingMessage) => {
      response.writeHead(reply.statusCode ?? 502, reply.statusMessage, reply.rawHeaders);
      // Streams of events begin with their head.
      response.flushHeaders();
      reply.pipe(response);
      reply.once('error', () => response.destroy());
    });
    forwarded.once('error', () => {
      if (response.headersSent) response.destroy();
      else answer(response, 502, 'The Sandpit does not answer');
    });
    response.once('close', () => forwarded.destroy());
    request.pipe(forwarded);
  }

  #noteRefusal(reply: IncomingMessage): void {
    let text = '';
    reply.on('data', (chunk: Buffer) => {
      if (text.length < MOST_BODY_BYTES) text += chunk.toString('utf8');
    });
    reply.once('end', () => count(this.#refusals, messageIn(text) ?? `HTTP ${reply.statusCode ?? 0}`));
  }
}

const blockedLine = (host: string): string =>
  `blocked: ${host} is a broker's host that Sandpit does not serve`;

const portOf = (server: NetServer): number => (server.address() as AddressInfo).port;

/** Numbers of names; further names are counted together. */
function count(tally: Map<string, number>, name: string): void {
  const key = tally.has(name) || tally.size < MOST_NAMES ? name : 'others';
  tally.set(key, (tally.get(key) ?? 0) + 1);
}

/** Path and query of a request. Old clients send a whole URL, also over TLS. */
function pathOf(url: string): string {
  if (url.startsWith('/') || !URL.canParse(url)) return url.startsWith('/') ? url : `/${url}`;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Host of a request, without its port. */
const hostIn = ({ headers }: IncomingMessage): string | undefined =>
  hostOf((headers.host ?? '').replace(/:\d*$/, ''));

/** The server name of a TLS connection that begins here; undefined without one, and where no TLS begins. */
async function serverNameOf(client: Socket): Promise<string | undefined> {
  try {
    const name = getExtensionData(await readTlsClientHello(client), 'server_name')?.serverName;
    return name === undefined ? undefined : hostOf(name);
  } catch (error) {
    if (error instanceof NonTlsError) return undefined;
    throw error;
  }
}

const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 401 && status !== 404 && status !== 429;

/** The sentence of an error in the words of any dialect. */
function messageIn(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as {
      readonly message?: unknown;
      readonly errors?: { readonly error?: unknown };
    };
    const said = [body.message ?? body.errors?.error].flat()[0];
    return typeof said === 'string' ? said.slice(0, 200) : undefined;
  } catch {
    return undefined;
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  421: 'Misdirected Request',
  502: 'Bad Gateway',
};

function endWith(socket: Duplex, status: number, message: string): void {
  socket.on('error', () => socket.destroy());
  const head = `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(message) + 1}\r\nConnection: close\r\n\r\n`;
  socket.end(`${head}${message}\n`);
}

function answer(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
  response.end(`${message}\n`);
}

/** Status line and headers of a reply, as they arrived. */
function headOf({ statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let i = 0; i < rawHeaders.length; i += 2)
    lines.push(`${rawHeaders[i] ?? ''}: ${rawHeaders[i + 1] ?? ''}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
