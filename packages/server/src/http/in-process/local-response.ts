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
  /** A list that `writeHead` received as the only headers, name and value in turn. */
  #list: readonly string[] | undefined;
  #headers: Map<string, HeaderValue> | undefined;
  #isBegun = false;
  #isOver = false;
  /** It ended in one piece. */
  #isWhole = false;

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
    return this.#isOver || this.writableEnded;
  }

  /** The headers, for the caller. */
  toHeaders(): Headers {
    const headers = new Headers();
    for (const [name, value] of this.#map)
      if (Array.isArray(value)) for (const one of value as readonly string[]) headers.append(name, one);
      else headers.append(name, String(value));
    return headers;
  }

  /** By names in lower case. */
  get #map(): Map<string, HeaderValue> {
    if (this.#headers !== undefined) return this.#headers;
    const list = this.#list ?? [];
    this.#list = undefined;
    this.#headers = new Map();
    for (let i = 0; i + 1 < list.length; i += 2) this.#add(list[i] ?? '', list[i + 1] ?? '');
    return this.#headers;
  }

  setHeader(name: string, value: HeaderValue): this {
    this.#map.set(name.toLowerCase(), value);
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
    return this.#map.get(name.toLowerCase());
  }

  getHeaders(): Record<string, HeaderValue> {
    return Object.fromEntries(this.#map);
  }

  getHeaderNames(): string[] {
    return [...this.#map.keys()];
  }

  hasHeader(name: string): boolean {
    return this.#map.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#map.delete(name.toLowerCase());
  }

  writeHead(status: number, ...more: readonly unknown[]): this {
    this.statusCode = status;
    const headers = more.find((one) => typeof one === 'object' && one !== null);
    if (this.#headers === undefined && isTextList(headers)) this.#list = headers;
    else if (Array.isArray(headers)) {
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
    return this.req.method !== 'HEAD' && !WITHOUT_BODY.has(this.statusCode);
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
    if (this.#isWhole) return this;
    if (this.#isBegun || this.#isOver || this.writableLength > 0) {
      if (body === undefined || body === null) super.end(after);
      else super.end(body, after);
      return this;
    }
    // Nothing was written before: it is in one piece.
    this.#isOver = true;
    this.#isWhole = true;
    this.headersSent = true;
    this.#sink.whole(this, this.#hasBody ? (body ?? undefined) : undefined);
    process.nextTick(ended, this, after);
    return this;
  }

  override _write(chunk: Uint8Array, _: string, done: (error?: Error) => void): void {
    if (this.#isWhole) return done();
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

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const isTextList = (headers: unknown): headers is readonly string[] =>
  Array.isArray(headers) && headers.every((one) => typeof one === 'string');

/** The end of a response in one piece. */
function ended(response: LocalResponse, after: (() => void) | undefined): void {
  after?.();
  response.emit('finish');
  response.destroy();
}
