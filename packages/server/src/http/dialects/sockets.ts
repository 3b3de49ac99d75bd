/** WebSockets, which only dialects have. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { clientOf, networkOf } from '../client-address.js';
import type { StreamFault } from '../stream/stream-fault.js';

/** A connection that has not logged in yet. */
export interface PendingLogin {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** True when this server speaks first. */
  readonly isGreeted: boolean;
  /** Makes room for another connection that has not logged in. */
  readonly loggedIn: () => void;
}

/** Handles a connection to one of its paths. */
export type SocketHandler = (visit: PendingLogin) => void;

/** A received message. */
export interface SocketMessage {
  readonly data: RawData;
  readonly isBinary: boolean;
}

/**
 * Passes a connection on to the node that serves a tenant, beginning with the message of the login. False = this server serves the tenant.
 */
export type PassOn = (visit: PendingLogin, tenantId: string, login: SocketMessage) => boolean;

const MAX_MESSAGE_BYTES = 65_536;
/** Maximum message before the login (D232). */
const MAX_BYTES_OF_STRANGER = 16_384;
const PING_MS = 30_000;
/** Maximum backlog of a reader that does not read; beyond it the connection ends. */
const MOST_BUFFERED_BYTES = 4_194_304;
/** Connections that may be open without a login, in all and of one address. */
const MOST_WAITING = 1000;
const MOST_WAITING_OF_ADDRESS = 100;

/** The WebSockets of a server, by path. */
export class Sockets {
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    autoPong: false,
  });
  readonly #handlers: {
    readonly path: RegExp;
    readonly handle: SocketHandler;
    readonly isGreeted: boolean;
  }[] = [];
  /** In a cluster; undefined = this server serves every tenant. */
  passOn: PassOn | undefined;
  /** Reads the latest key pairs of other nodes. Only in a cluster. */
  refresh: (() => Promise<unknown>) | undefined;
  #ping: NodeJS.Timeout | undefined;
  /** Addresses of the connections that have not logged in. */
  readonly #waiting = new Map<WebSocket, string>();

  constructor(app: FastifyInstance) {
    app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(app, request, socket, head),
    );
    app.addHook('preClose', (done) => {
      clearInterval(this.#ping);
      for (const socket of this.#server.clients) socket.close(1001, 'going away');
      this.#server.close();
      done();
    });
    app.addHook('onClose', () => {
      for (const socket of this.#server.clients) socket.terminate();
    });
  }

  on(path: RegExp, isGreeted: boolean, handle: SocketHandler): void {
    this.#handlers.push({ path, isGreeted, handle });
  }

  #upgrade(app: FastifyInstance, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      withoutUpgrade(app, request, socket, head);
      return;
    }
    const path = (request.url ?? '').split('?')[0] ?? '';
    const handler = this.#handlers.find((one) => one.path.test(path));
    if (handler === undefined) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const address = networkOf(clientOf(request));
    if (!this.#hasRoomFor(address)) {
      socket.end(
        'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 10\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
      );
      return;
    }
    const stranger = new StrangerBytes(socket);
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      stranger.connection = connection;
      this.#ping ??= this.#startPing();
      // An error of a connection ends only that connection.
      connection.on('error', () => connection.terminate());
      connection.on('ping', (data) => {
        if (!isStalled(connection)) connection.pong(data);
      });
      this.#waiting.set(connection, address);
      const loggedIn = (): void => {
        this.#waiting.delete(connection);
        stranger.end();
      };
      connection.on('close', loggedIn);
      handler.handle({ socket: connection, request, isGreeted: handler.isGreeted, loggedIn });
    });
  }

  #hasRoomFor(address: string): boolean {
    if (this.#waiting.size >= MOST_WAITING) return false;
    let count = 0;
    for (const one of this.#waiting.values()) if (one === address) count += 1;
    return count < MOST_WAITING_OF_ADDRESS;
  }

  #startPing(): NodeJS.Timeout {
    const timer = setInterval(() => {
      for (const socket of this.#server.clients)
        if (socket.readyState === socket.OPEN && !isStalled(socket)) socket.ping();
    }, PING_MS);
    timer.unref();
    return timer;
  }
}

/** Longest head of a frame. */
const FRAME_HEAD = 14;
/** A message is too long (RFC 6455, 7.4.1). */
const TOO_LONG = 1009;

/** Bytes of a connection before its login: beyond the limit it ends, before any of them is handled as a message. */
class StrangerBytes {
  readonly #socket: Duplex;
  #bytes = 0;
  connection: WebSocket | undefined;

  /** Listens to the socket before its messages are read. */
  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('data', this.#count);
  }

  readonly #count = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_BYTES_OF_STRANGER + FRAME_HEAD) return;
    this.end();
    const { connection } = this;
    if (connection === undefined) return void this.#socket.destroy();
    connection.removeAllListeners('message');
    connection.close(TOO_LONG, 'message too long');
    connection.terminate();
  };

  end(): void {
    this.#socket.off('data', this.#count);
  }
}

/** Faults of the streams of sockets (D177). */
const faults = new WeakMap<WebSocket, StreamFault>();

const isStalled = (socket: WebSocket): boolean => faults.get(socket)?.isStalled === true;

/** Lets a fault act on the socket from here on. */
export function strike(socket: WebSocket, fault: StreamFault): void {
  faults.set(socket, fault);
  if (fault.isCut) socket.terminate();
}

/** Sends a message, unless its reader has stopped reading. */
export function tell(socket: WebSocket, message: string | Uint8Array): void {
  if (!isStalled(socket)) send(socket, message);
}

/** Sends the messages of events, as far as a fault of the stream lets these pass. */
export function tellEvents<Event>(
  socket: WebSocket,
  events: readonly Event[],
  messagesOf: (passed: readonly Event[]) => readonly (string | Uint8Array)[],
): void {
  const fault = faults.get(socket);
  const passed = fault === undefined ? events : fault.repeat(events);
  if (passed.length > 0) for (const message of messagesOf(passed)) send(socket, message);
  if (fault?.isCut === true) socket.terminate();
}

function send(socket: WebSocket, message: string | Uint8Array): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > MOST_BUFFERED_BYTES) socket.terminate();
  else socket.send(message);
}

/** The bytes of a message, in any of their forms. */
export function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/**
 * A request that offers another protocol, HTTP/2 as a rule, is answered as if it had not: its head is read once more without the offer,
 * with what followed it.
 */
function withoutUpgrade(app: FastifyInstance, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method = 'GET', url = '/', rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (!/^(upgrade|connection|http2-settings)$/i.test(name))
      lines.push(`${name}: ${rawHeaders[i + 1] ?? ''}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  app.server.emit('connection', socket);
}
