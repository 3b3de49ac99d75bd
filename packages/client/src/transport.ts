import {
  ConflictError,
  EphemeralFullError,
  errorOf,
  SandpitError,
  UnauthorizedError,
  UnreachableError,
} from './errors.js';

/** Address of a server, and the token for it. */
export interface Access {
  readonly url: string;
  readonly token?: string;
  /** Is changed into a token, and into another one when that has expired. */
  readonly apiKey?: string;
}

export interface TransportOptions {
  /** Time for which a request is retried after network errors, 429 and 503; default 30,000 ms. 0 = never: POSTs have no key then. */
  readonly retryForMs?: number;
  readonly fetch?: typeof globalThis.fetch;
}

/** A request before it is one. */
export interface RequestInput {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** Text of a CSV file, instead of `body`. */
  readonly csv?: string;
  /** Idempotency key of a POST; drawn when absent, if the request may be retried. All tries use the same one. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** The text of a file, or a stream of it. */
export type NdjsonFile = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;

export interface Reply {
  readonly body: unknown;
  /** The `cursor` of the next page of a list. */
  readonly nextCursor: string | undefined;
}

const UNDER_WAY = 'A request with this Idempotency-Key is under way';
const notSandpit = (url: string, status: number): string =>
  `${url} answers, but not as a Sandpit does (HTTP ${status}): is that its address?`;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

/** Requests that are retried without a second effect. */
export class Transport {
  readonly baseUrl: string;
  readonly #access: Access;
  readonly #retryForMs: number;
  readonly #fetch: typeof globalThis.fetch;
  #token: Promise<string> | undefined;

  constructor(access: Access, { retryForMs = 30_000, fetch = globalThis.fetch }: TransportOptions = {}) {
    if (!/^https?:\/\//i.test(access.url))
      throw new SandpitError(`${access.url} is no URL of a server: http://HOST:PORT is`);
    this.#access = access;
    this.baseUrl = access.url.replace(/\/+(v1\/?)?$/, '');
    this.#retryForMs = retryForMs;
    this.#fetch = (...asked) => fetch(...asked);
  }

  /** Throws what `errors.ts` has. */
  async send(wanted: RequestInput): Promise<Reply> {
    const isPost = wanted.method === 'POST';
    // A request that is sent once needs no key.
    const key = wanted.idempotencyKey ?? (this.#retryForMs > 0 ? globalThis.crypto.randomUUID() : undefined);
    const headers: Record<string, string> = {};
    if (wanted.body !== undefined) headers['content-type'] = 'application/json';
    else if (wanted.csv !== undefined) headers['content-type'] = 'text/csv';
    if (isPost && key !== undefined) headers['idempotency-key'] = key;
    const body = wanted.body === undefined ? wanted.csv : JSON.stringify(wanted.body);
    const response = await this.open(wanted.method, this.urlOf(wanted), headers, body, wanted.signal);
    const text = await response.text();
    return {
      body: text === '' ? undefined : this.#jsonIn(text, response.status),
      // Of lists only.
      nextCursor: wanted.method === 'GET' ? (response.headers.get('x-next-cursor') ?? undefined) : undefined,
    };
  }

  /** Sends a file of lines of JSON, once: a stream cannot be sent again. Throws what `errors.ts` has. */
  async upload(path: string, file: NdjsonFile, signal?: AbortSignal): Promise<unknown> {
    const url = this.baseUrl + path;
    const outcome = await this.#once('POST', url, { 'content-type': 'application/x-ndjson' }, file, signal);
    if (outcome instanceof SandpitError) throw outcome;
    if (!outcome.ok) throw await this.#errorOf(outcome);
    return this.#jsonIn(await outcome.text(), outcome.status);
  }

  /** An answer that is none of an error, its body unread. */
  async open(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const giveUpAt = Date.now() + this.#retryForMs;
    let mayRenew = this.#access.apiKey !== undefined;
    for (let tries = 0; ; tries += 1) {
      const outcome = await this.#once(method, url, headers, body, signal);
      if (!(outcome instanceof SandpitError) && outcome.ok) return outcome;
      signal?.throwIfAborted();
      const error = outcome instanceof SandpitError ? outcome : await this.#errorOf(outcome);
      if (error instanceof UnauthorizedError && mayRenew) {
        mayRenew = false;
        this.#token = undefined;
        continue;
      }
      const pauseMs = this.#pauseMs(outcome, error, tries);
      if (pauseMs === undefined || Date.now() + pauseMs > giveUpAt) throw error;
      await pause(pauseMs, signal);
    }
  }

  async #once(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: NdjsonFile | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Response | SandpitError> {
    try {
      const token = this.#access.apiKey === undefined ? this.#access.token : await this.#bearer();
      return await this.#fetch(url, {
        method,
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        ...(body !== undefined && { body }),
        ...(body instanceof ReadableStream && { duplex: 'half' }),
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      if (error instanceof SandpitError) return error;
      return new UnreachableError(
        `No Sandpit answers at ${this.baseUrl}: ${reasonOf(error)}. Is it running (sandpit up)?`,
        { cause: error },
      );
    }
  }

  /** Pause before the next try, ms; undefined = do not retry. */
  #pauseMs(outcome: Response | SandpitError, error: SandpitError, tries: number): number | undefined {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
    // The first try, whose answer was lost, is not over yet.
    if (error instanceof ConflictError && error.message === UNDER_WAY) return pauseMs;
    if (outcome instanceof UnreachableError) return pauseMs;
    // Waiting frees no memory.
    if (error instanceof EphemeralFullError) return undefined;
    if (outcome instanceof SandpitError || (outcome.status !== 429 && outcome.status !== 503))
      return undefined;
    const seconds = Number(outcome.headers.get('retry-after') ?? Number.NaN);
    return Number.isFinite(seconds) ? Math.max(seconds * 1000, pauseMs) : pauseMs;
  }

  async #errorOf(response: Response): Promise<SandpitError> {
    const text = await response.text().catch(() => '');
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return new SandpitError(notSandpit(this.baseUrl, response.status));
    }
    return errorOf(response.status, body, response.headers.get('x-request-id') ?? undefined, this.baseUrl);
  }

  #jsonIn(text: string, status: number): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new SandpitError(notSandpit(this.baseUrl, status));
    }
  }

  /** The bearer token of requests; undefined without credentials. */
  token(): Promise<string | undefined> {
    return this.#bearer();
  }

  async #bearer(): Promise<string | undefined> {
    const { token, apiKey } = this.#access;
    if (apiKey === undefined) return token;
    this.#token ??= this.#exchange(apiKey);
    try {
      return await this.#token;
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
  }

  async #exchange(apiKey: string): Promise<string> {
    const response = await this.#fetch(`${this.baseUrl}/v1/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiKey }),
    });
    if (!response.ok) throw await this.#errorOf(response);
    return ((await response.json()) as { readonly token: string }).token;
  }

  /** The whole URL of a request. */
  urlOf({ path, query = {} }: Pick<RequestInput, 'path' | 'query'>): string {
    if (Object.keys(query).length === 0) return this.baseUrl + path;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) parameters.set(name, String(value));
    const text = parameters.toString();
    return `${this.baseUrl}${path}${text === '' ? '' : `?${text}`}`;
  }
}

function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  const inner = cause instanceof Error ? cause : error;
  const { code } = inner as { readonly code?: unknown };
  if (typeof code === 'string') return code;
  return inner instanceof Error ? inner.message : String(inner);
}

/** Resolves after a delay; rejects if the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new SandpitError('aborted'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
