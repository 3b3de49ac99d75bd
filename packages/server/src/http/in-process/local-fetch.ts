import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type LocalRequest, type LocalRequestParts, localRequestOf, LocalSocket } from './local-request.js';
import { LocalResponse, type ResponseSink } from './local-response.js';
import { WholeResponse } from './whole-response.js';

type Fetch = typeof globalThis.fetch;

/** Time for which calls may follow each other without a turn for timers and connections, ms. */
const LONGEST_RUN_MS = 5;
/** Calls under way when the service is closed may take this long, ms. */
const CLOSING_MS = 2000;
const MOST_REDIRECTS = 20;
/** Longer than any process: the timer only keeps it alive. */
const NEVER_MS = 2 ** 30;

/** The service is closed. */
class BrokerClosed extends Error {
  override readonly name = 'BrokerClosed';

  constructor() {
    super('The broker is closed');
  }
}

/** `fetch` in front of a service in this process: any origin leads to it, and no port is opened. */
export class LocalFetch {
  readonly #server: Server;
  readonly #calls = new Set<LocalCall>();
  #awaited = 0;
  #keepAlive: NodeJS.Timeout | undefined;
  #turnAtMs = performance.now();
  #isClosed = false;
  #onIdle: (() => void) | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  readonly fetch: Fetch = async (input, init) => {
    const { parts, signal, redirect, base } = partsOf(input, init);
    let response = await this.#answer(parts, signal);
    for (let followed = 0; redirect !== 'manual' && isRedirect(response); followed += 1) {
      if (redirect === 'error' || followed === MOST_REDIRECTS)
        throw new TypeError('fetch failed: a redirect');
      const to = new URL(response.headers.get('location') ?? '', base);
      const isSame = response.status === 307 || response.status === 308;
      const body = isSame && parts.body instanceof Buffer ? parts.body : undefined;
      const method = isSame || parts.method === 'HEAD' ? parts.method : 'GET';
      const { 'content-length': _, 'content-type': __, ...headers } = parts.headers;
      response = await this.#answer(
        { method, url: to.pathname + to.search, headers: body === undefined ? headers : parts.headers, body },
        signal,
      );
    }
    return response;
  };

  async #answer(parts: LocalRequestParts, signal: AbortSignal | undefined): Promise<Response> {
    if (this.#isClosed) throw new BrokerClosed();
    signal?.throwIfAborted();
    const call = new LocalCall(parts, {
      awaits: (isAwaited) => this.#awaits(isAwaited),
      ended: () => this.#ended(call),
    });
    this.#calls.add(call);
    if (signal !== undefined) {
      const onAbort = (): void => call.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      call.onEnd = () => signal.removeEventListener('abort', onAbort);
    }
    const { request, response } = call;
    this.#server.emit(
      'request',
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse,
    );
    const answer = await call.answer;
    const nowMs = performance.now();
    if (nowMs - this.#turnAtMs > LONGEST_RUN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#turnAtMs = performance.now();
    }
    return answer;
  }

  /** A caller waits for an answer, or for the next piece of one: that keeps the process alive, and nothing else does. */
  #awaits(isAwaited: boolean): void {
    this.#awaited += isAwaited ? 1 : -1;
    if (this.#awaited > 0) {
      this.#keepAlive ??= setInterval(() => undefined, NEVER_MS);
      if (isAwaited && this.#awaited === 1) this.#keepAlive.ref();
    } else this.#keepAlive?.unref();
  }

  #ended(call: LocalCall): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#onIdle?.();
  }

  /** Rejects further calls. */
  refuse(): void {
    this.#isClosed = true;
  }

  /** Resolves when the calls under way are over; those that are not after a while are rejected. */
  async drained(): Promise<void> {
    for (const call of this.#calls) call.flush();
    if (this.#calls.size > 0) {
      let late: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        late = setTimeout(resolve, CLOSING_MS);
      });
      clearTimeout(late);
    }
    for (const call of [...this.#calls]) call.abort(new BrokerClosed());
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
  }
}

interface CallSurroundings {
  readonly awaits: (isAwaited: boolean) => void;
  readonly ended: () => void;
}

/** One request, its response, and who reads it. */
class LocalCall implements ResponseSink {
  readonly request: LocalRequest;
  readonly response: LocalResponse;
  readonly answer: Promise<Response>;
  onEnd: () => void = () => undefined;
  readonly #surroundings: CallSurroundings;
  #resolve: (response: Response) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;
  /** Set once the body is a stream. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** A piece that no reader has wanted yet. */
  #waiting: { readonly chunk: Uint8Array; readonly taken: () => void } | undefined;
  #onWaiting: (() => void) | undefined;
  #isAwaited = false;
  #isFlushing = false;
  /** Its reader has canceled the stream. */
  #isCanceled = false;
  #isOver = false;
  #reason: unknown;

  constructor(parts: LocalRequestParts, surroundings: CallSurroundings) {
    this.#surroundings = surroundings;
    const socket = new LocalSocket(() => this.response.destroy());
    this.request = localRequestOf(parts, socket);
    this.response = new LocalResponse(this.request, this);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.request.on('error', () => undefined);
    this.response.on('error', () => undefined);
    this.#await(true);
  }

  #await(isAwaited: boolean): void {
    if (this.#isAwaited === isAwaited) return;
    this.#isAwaited = isAwaited;
    this.#surroundings.awaits(isAwaited);
  }

  whole(response: LocalResponse, body: string | Uint8Array | undefined): void {
    const whole: unknown = new WholeResponse(response, body);
    this.#resolve(whole as Response);
    this.#over();
  }

  begin(response: LocalResponse): void {
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#pull(),
        cancel: (reason) => {
          this.#isCanceled = true;
          this.abort(reason);
        },
      },
      { highWaterMark: 0 },
    );
    const hasBody = ![204, 205, 304].includes(response.statusCode) && response.req.method !== 'HEAD';
    const head = { status: response.statusCode, headers: response.toHeaders() };
    this.#resolve(new Response(hasBody ? stream : null, head));
    this.#await(false);
  }

  /** Resolves when the reader has a piece, or the body is over. */
  async #pull(): Promise<void> {
    if (this.#waiting === undefined && !this.#isOver) {
      this.#await(true);
      await new Promise<void>((resolve) => (this.#onWaiting = resolve));
      this.#await(false);
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    this.#controller?.enqueue(waiting.chunk);
    waiting.taken();
  }

  piece(chunk: Uint8Array, taken: () => void): void {
    this.#waiting = { chunk, taken };
    if (this.#isFlushing) this.flush();
    else this.#wake();
  }

  /** From here on the body does not wait for its reader, who may read what is there after the end of the service. */
  flush(): void {
    this.#isFlushing = true;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#controller?.enqueue(waiting.chunk);
    this.#wake();
    waiting?.taken();
  }

  #wake(): void {
    const wake = this.#onWaiting;
    this.#onWaiting = undefined;
    wake?.();
  }

  end(): void {
    this.#controller?.close();
    this.#over();
  }

  broken(): void {
    const reason = this.#reason ?? new TypeError('fetch failed: the service ended the connection');
    if (this.#controller === undefined) this.#reject(reason);
    else if (!this.#isCanceled) this.#controller.error(reason);
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    this.#await(false);
    this.onEnd();
    this.#surroundings.ended();
  }

  /** The caller wants no more of it. */
  abort(reason: unknown): void {
    if (this.#isOver) return;
    this.#reason = reason ?? new DOMException('This operation was aborted', 'AbortError');
    this.request.aborted = true;
    this.request.socket.destroy();
  }
}

const isRedirect = (response: Response): boolean =>
  REDIRECTS.has(response.status) && response.headers.has('location');

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface Asked {
  readonly parts: LocalRequestParts;
  /** URL against which a redirect's `Location` is resolved. */
  readonly base: string | URL;
  readonly signal: AbortSignal | undefined;
  readonly redirect: RequestInit['redirect'];
}

/** The parts of a request. The usual forms of a client are read directly: making a `Request` of them costs more than a small request does. */
function partsOf(input: Parameters<Fetch>[0], init: RequestInit = {}): Asked {
  const { method = 'GET', headers = {}, body, signal, redirect } = init;
  const isPlain =
    !(input instanceof Request) &&
    (body === undefined || body === null || typeof body === 'string') &&
    isPlainRecord(headers) &&
    PLAIN_METHODS.has(method);
  if (!isPlain || ((body ?? undefined) !== undefined && (method === 'GET' || method === 'HEAD')))
    return partsOfRequest(new Request(input, init));
  const { host, path } = addressOf(input);
  const own: Record<string, string> = { host };
  for (const name in headers) own[name.toLowerCase()] = headers[name] ?? '';
  let bytes: Buffer | undefined;
  if (typeof body === 'string') {
    bytes = Buffer.from(body);
    own['content-type'] ??= 'text/plain;charset=UTF-8';
  }
  if (bytes !== undefined || method === 'POST' || method === 'PUT')
    own['content-length'] = String(bytes?.length ?? 0);
  return {
    parts: { method, url: path, headers: own, body: bytes },
    base: input,
    signal: signal ?? undefined,
    redirect,
  };
}

const PLAIN_METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'DELETE', 'HEAD']);

/** URLs that have one spelling only: parsing one changes nothing. */
const PLAIN_URL = /^http:\/\/([a-z](?:[a-z0-9.-]*[a-z])?)(\/[\w/-]*(?:\?[\w=&-]*)?)$/;

/** Host, and path with query. */
function addressOf(input: string | URL): { readonly host: string; readonly path: string } {
  const plain = typeof input === 'string' ? PLAIN_URL.exec(input) : null;
  if (plain !== null) return { host: plain[1] ?? '', path: plain[2] ?? '' };
  const url = new URL(input);
  return { host: url.host, path: url.pathname + url.search };
}

function isPlainRecord(headers: NonNullable<RequestInit['headers']>): headers is Record<string, string> {
  if (headers instanceof Headers || Array.isArray(headers)) return false;
  for (const name in headers) if (typeof headers[name] !== 'string') return false;
  return true;
}

function partsOfRequest(request: Request): Asked {
  const url = new URL(request.url);
  const headers: Record<string, string> = { ...Object.fromEntries(request.headers), host: url.host };
  const { body, method } = request;
  // A file is read as it comes; its length is unknown.
  if (body !== null) headers['transfer-encoding'] = 'chunked';
  return {
    parts: { method, url: url.pathname + url.search, headers, body: body ?? undefined },
    base: url,
    signal: request.signal,
    redirect: request.redirect,
  };
}
