import { Writable } from 'node:stream';
import type { LocalRequest, LocalSocket } from './local-request.js';

type HeaderValue = string | number | readonly string[];

/** Receives the parts of a response. */
export interface ResponseSink {
  /** The head and the whole text of a response. */
  whole(response: LocalResponse, body: string | Uint8Array | undefined): void;
  /** The head of a response whose body follows. */
  begin(response: LocalResponse): void;
  /** A piece of the body; `taken` is called when its reader wants more. */
  piece(chunk: Uint8Array, taken: () => void): void;
  end(): void;
  /** The connection ended before the response did. */
  broken(): void;
}

/** The response to a request from this process: the methods of Node's own that the service and its libraries use. */
export class LocalResponse extends Writable {
  readonly req: LocalRequest;
  readonly socket: LocalSocket;
  statusCode = 200;
  statusMessage = '';
  headersSent = false;
  sendDate = false;
  shouldKeepAlive = true;
  chunkedEncoding = false;
  readonly #sink: ResponseSink;
  readonly #headers = new Map<string, HeaderValue>();
  #isBegun = false;
  #isOver = false;

  constructor(request: LocalRequest, sink: ResponseSink) {
    super({ decodeStrings: true });
    this.req = request;
    this.socket = request.socket;
    this.#sink = sink;
  }

  get connection(): LocalSocket {
    return this.socket;
  }

  get finished(): boolean {
    return this.writableEnded;
  }

  /** Names in lower case. */
  get headers(): ReadonlyMap<string, HeaderValue> {
    return this.#headers;
  }

  setHeader(name: string, value: HeaderValue): this {
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }

  setHeaders(headers: Iterable<readonly [string, HeaderValue]>): this {
    for (const [name, value] of headers) this.setHeader(name, value);
    return this;
  }

  appendHeader(name: string, value: HeaderValue): this {
    const before = this.getHeader(name);
    return this.setHeader(name, before === undefined ? value : [before, value].flat().map(String));
  }

  getHeader(name: string): HeaderValue | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  getHeaders(): Record<string, HeaderValue> {
    return Object.fromEntries(this.#headers);
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  writeHead(status: number, ...more: readonly unknown[]): this {
    this.statusCode = status;
    const headers = more.find((one) => typeof one === 'object' && one !== null);
    if (Array.isArray(headers)) {
      const flat = headers as readonly HeaderValue[];
      for (let i = 0; i + 1 < flat.length; i += 2) this.#add(String(flat[i]), flat[i + 1] ?? '');
    } else if (headers !== undefined) {
      for (const [name, value] of Object.entries(headers as Record<string, HeaderValue | undefined>))
        if (value !== undefined) this.setHeader(name, value);
    }
    this.headersSent = true;
    return this;
  }

  /** A list of headers may name one several times. */
  #add(name: string, value: HeaderValue): void {
    if (name.toLowerCase() === 'set-cookie') this.appendHeader(name, value);
    else this.setHeader(name, value);
  }

  flushHeaders(): void {
    this.headersSent = true;
    this.#begin();
  }

  writeContinue(): void {
    // The body is on its way already.
  }

  writeProcessing(): void {
    // The caller waits anyway.
  }

  writeEarlyHints(): void {
    // The caller has no use for them.
  }

  assignSocket(): void {
    // It has one.
  }

  addTrailers(): void {
    // A response of `fetch` has none.
  }

  setTimeout(): this {
    return this;
  }

  get #hasBody(): boolean {
    return this.req.method !== 'HEAD' && ![204, 205, 304].includes(this.statusCode);
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.headersSent = true;
    this.#sink.begin(this);
  }

  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    const after = [chunk, encoding, done].find((one) => typeof one === 'function') as
      (() => void) | undefined;
    const body = typeof chunk === 'function' ? undefined : (chunk as string | Uint8Array | undefined | null);
    if (this.#isBegun || this.#isOver || this.writableLength > 0) {
      if (body === undefined || body === null) super.end(after);
      else super.end(body, after);
      return this;
    }
    // Nothing was written before: it is in one piece.
    this.#isOver = true;
    this.headersSent = true;
    this.#sink.whole(this, this.#hasBody ? (body ?? undefined) : undefined);
    super.end(after);
    return this;
  }

  override _write(chunk: Uint8Array, _: string, done: (error?: Error) => void): void {
    this.#begin();
    if (this.#hasBody) this.#sink.piece(chunk, () => done());
    else done();
  }

  override _final(done: (error?: Error) => void): void {
    if (!this.#isOver) {
      this.#begin();
      this.#isOver = true;
      this.#sink.end();
    }
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#sink.broken();
    }
    done(error);
    this.req.destroy();
  }
}
