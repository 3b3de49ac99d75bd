import { WebSocket } from 'ws';
import type { Conversation, StreamProtocol, StreamSink } from './source.js';
import { SourceFailure } from './source.js';

/** Timeouts and intervals, ms. */
export interface StreamTimings {
  /** From the attempt to connect until symbols can be subscribed. */
  readonly handshakeMs: number;
  readonly pingMs: number;
  /** Time without a pong after which the connection counts as dead (D183). */
  readonly silentMs: number;
  /** The first wait before another attempt, and the longest; it doubles until a connection has lived as long as the longest. */
  readonly backoffMs: number;
  readonly longestBackoffMs: number;
  /** Delay before another attempt when the source reports another open connection. */
  readonly connectionLimitMs: number;
}

export const STREAM_TIMINGS: StreamTimings = {
  handshakeMs: 15_000,
  pingMs: 5_000,
  silentMs: 20_000,
  backoffMs: 1_000,
  longestBackoffMs: 30_000,
  connectionLimitMs: 30_000,
};

const MOST_FRAME_BYTES = 64 * 1024 * 1024;

/** Listener of a stream. */
export interface StreamListener {
  readonly sink: StreamSink;
  /** Symbols can be subscribed. */
  ready(): void;
  confirmed(symbols: ReadonlySet<string>): void;
  /** Reports the loss of the connection, with the last time of life on the monotonic clock. */
  lost(aliveAt: number): void;
  failed(failure: SourceFailure): void;
}

/** A connection to a stream of a source, reconnected whenever it is lost. */
export class SocketStream {
  readonly #protocol: StreamProtocol;
  readonly #listener: StreamListener;
  readonly #timings: StreamTimings;
  #socket: WebSocket | undefined;
  #conversation: Conversation | undefined;
  #symbols: ReadonlySet<string> = new Set();
  #isReady = false;
  #isOver = false;
  #attempts = 0;
  #timer: NodeJS.Timeout | undefined;
  #heart: NodeJS.Timeout | undefined;
  #aliveAt = 0;
  /** Time at which symbols could be subscribed, on the monotonic clock. */
  #readyAt = 0;
  /** On the real clock, ms. */
  lastMessageAtMs: number | undefined;

  constructor(protocol: StreamProtocol, listener: StreamListener, timings: StreamTimings) {
    this.#protocol = protocol;
    this.#listener = listener;
    this.#timings = timings;
  }

  start(): void {
    void this.#connect();
  }

  /** Subscribes exactly these symbols, now and after every reconnection. */
  subscribe(symbols: ReadonlySet<string>): void {
    this.#symbols = symbols;
    if (this.#isReady) this.#conversation?.subscribe(symbols);
  }

  /** Resolves when the connection is closed, a second later at the latest. */
  async stop(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#end();
  }

  async #connect(): Promise<void> {
    this.#attempts += 1;
    const begunAt = this.#attempts;
    let address: Awaited<ReturnType<StreamProtocol['connect']>>;
    try {
      address = await this.#protocol.connect();
    } catch (error) {
      this.#fail(error instanceof SourceFailure ? error : new SourceFailure('RETRY', this.#unreachable));
      return;
    }
    if (this.#isOver || begunAt !== this.#attempts) return;
    const socket = new WebSocket(address.url, {
      ...(address.headers !== undefined && { headers: address.headers }),
      handshakeTimeout: this.#timings.handshakeMs,
      maxPayload: MOST_FRAME_BYTES,
      followRedirects: false,
    });
    this.#socket = socket;
    const isCurrent = (): boolean => this.#socket === socket;
    this.#conversation = this.#protocol.begin({
      send: (message) => {
        if (isCurrent() && socket.readyState === WebSocket.OPEN) socket.send(message);
      },
      sink: this.#listener.sink,
      ready: () => {
        if (isCurrent()) this.#ready();
      },
      confirmed: (symbols) => {
        if (isCurrent()) this.#listener.confirmed(symbols);
      },
      failed: (failure) => {
        if (isCurrent()) this.#fail(failure);
      },
    });
    this.#timer = setTimeout(
      () => this.#fail(new SourceFailure('RETRY', `${this.#protocol.name} does not finish its handshake`)),
      this.#timings.handshakeMs,
    ).unref();
    socket.on('open', () => {
      if (isCurrent()) this.#conversation?.opened?.();
    });
    socket.on('message', (data, isBinary) => {
      if (!isCurrent()) return;
      this.lastMessageAtMs = Date.now();
      this.#conversation?.receive(data as Buffer, isBinary);
    });
    socket.on('pong', () => {
      if (isCurrent()) this.#aliveAt = performance.now();
    });
    socket.on('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0;
      response.resume();
      const isRefused = status === 401 || status === 403;
      if (isCurrent())
        this.#fail(
          new SourceFailure(
            isRefused ? 'REFUSED' : 'RETRY',
            `${this.#protocol.name} answered the connection with HTTP ${status}`,
          ),
        );
    });
    socket.on('error', () => {
      if (isCurrent()) this.#fail(new SourceFailure('RETRY', this.#unreachable));
    });
    socket.on('close', () => {
      if (isCurrent()) this.#fail(new SourceFailure('RETRY', `${this.#protocol.name} closed the connection`));
    });
  }

  get #unreachable(): string {
    return `${this.#protocol.name} cannot be reached`;
  }

  #ready(): void {
    clearTimeout(this.#timer);
    this.#isReady = true;
    this.#aliveAt = this.#readyAt = performance.now();
    clearInterval(this.#heart);
    this.#heart = setInterval(() => this.#beat(), this.#timings.pingMs).unref();
    this.#listener.ready();
    this.#conversation?.subscribe(this.#symbols);
  }

  #beat(): void {
    if (performance.now() - this.#aliveAt > this.#timings.silentMs) {
      this.#fail(new SourceFailure('RETRY', `${this.#protocol.name} does not answer pings`));
      return;
    }
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  #fail(failure: SourceFailure): void {
    const isPassing = failure.kind === 'SYMBOL_LIMIT' || failure.kind === 'DEFECT';
    if (isPassing) {
      this.#listener.failed(failure);
      return;
    }
    const wasReady = this.#isReady;
    // A source that hangs up on every new connection is not stormed.
    if (wasReady && performance.now() - this.#readyAt >= this.#timings.longestBackoffMs) this.#attempts = 0;
    const aliveAt = this.#aliveAt;
    void this.#end();
    if (wasReady) this.#listener.lost(aliveAt);
    this.#listener.failed(failure);
    if (this.#isOver || failure.kind === 'REFUSED') return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), this.#backoff(failure)).unref();
  }

  /** Doubling, from a second to thirty, each ±50 %; without the backoff if another connection must end first. */
  #backoff({ kind }: SourceFailure): number {
    const { backoffMs, longestBackoffMs, connectionLimitMs } = this.#timings;
    if (kind === 'CONNECTION_LIMIT') return connectionLimitMs;
    const ms = Math.min(longestBackoffMs, backoffMs * 2 ** Math.min(20, Math.max(0, this.#attempts - 1)));
    return ms * (0.5 + Math.random());
  }

  #end(): Promise<void> {
    clearTimeout(this.#timer);
    clearInterval(this.#heart);
    this.#isReady = false;
    this.#conversation = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return Promise.resolve();
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
    else {
      socket.close();
      setTimeout(() => socket.terminate(), 1000).unref();
    }
    return closed;
  }
}
