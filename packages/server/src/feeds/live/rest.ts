import { setTimeout as after } from 'node:timers/promises';
import { SourceFailure } from './source.js';

const TIMEOUT_MS = 10_000;
const MINUTE_MS = 60_000;
/** Requests are kept within this part of the rate of a plan (D182). */
const SHARE = 0.75;
const MOST_TRIES = 3;
/** Longest wait for a place in the queue. */
const LONGEST_WAIT_MS = 30_000;

export interface RestOptions {
  /** The origin, such as `https://data.alpaca.markets`. */
  readonly origin: string;
  /** Name that operators know it by. */
  readonly name: string;
  /** With the key: never part of an error. */
  readonly headers: Readonly<Record<string, string>>;
  /** Requests a minute that the plan allows. */
  readonly perMinute: number;
  /** The failure of a response; undefined = by its status. */
  readonly failureOf?: (status: number, body: string) => SourceFailure | undefined;
  readonly fetch?: typeof fetch;
}

/** JSON requests to a source, within the rate of its plan. */
export class Rest {
  readonly #options: RestOptions;
  readonly #abort = new AbortController();
  /** Times of the latest requests, on the monotonic clock. */
  #sent: number[] = [];
  #pausedUntil = 0;

  constructor(options: RestOptions) {
    this.#options = options;
  }

  /** Parameters that are undefined are left out. Throws `SourceFailure`. */
  async get(
    path: string,
    params: Readonly<Record<string, string | number | undefined>> = {},
  ): Promise<unknown> {
    const given = Object.entries(params).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    return this.#send('GET', query.size === 0 ? path : `${path}?${query.toString()}`);
  }

  async post(path: string, params: Readonly<Record<string, string>> = {}): Promise<unknown> {
    return this.#send('POST', path, new URLSearchParams(params));
  }

  close(): void {
    this.#abort.abort();
  }

  async #send(method: string, path: string, body?: URLSearchParams): Promise<unknown> {
    const { origin, headers, name } = this.#options;
    for (let tries = 1; ; tries++) {
      await this.#place();
      let response: Response;
      try {
        response = await (this.#options.fetch ?? fetch)(new URL(path, origin), {
          method,
          headers: { accept: 'application/json', ...headers },
          ...(body !== undefined && { body }),
          redirect: 'error',
          signal: AbortSignal.any([this.#abort.signal, AbortSignal.timeout(TIMEOUT_MS)]),
        });
        const text = await response.text();
        if (response.ok) return JSON.parse(text) as unknown;
        if (response.status === 429 && tries < MOST_TRIES) {
          this.#pause(response.headers);
          continue;
        }
        throw this.#failureOf(response.status, text);
      } catch (error) {
        if (error instanceof SourceFailure) throw error;
        // The network's own message may name hosts, but no headers.
        const reason = error instanceof SyntaxError ? 'the answer is not JSON' : 'no answer';
        throw new SourceFailure('RETRY', `${name} cannot be reached: ${reason}`);
      }
    }
  }

  #failureOf(status: number, body: string): SourceFailure {
    const { name, failureOf } = this.#options;
    const known = failureOf?.(status, body);
    if (known !== undefined) return known;
    if (status === 401 || status === 403)
      return new SourceFailure('REFUSED', `${name} refuses the key (HTTP ${status}); check it and the plan`);
    if (status === 429) return new SourceFailure('RETRY', `${name} is asked too often (HTTP 429)`);
    return new SourceFailure('RETRY', `${name} answered HTTP ${status}`);
  }

  /** Resolves when the rate allows another request. */
  async #place(): Promise<void> {
    const most = Math.max(1, Math.floor(this.#options.perMinute * SHARE));
    const deadline = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const now = performance.now();
      this.#sent = this.#sent.filter((at) => now - at < MINUTE_MS);
      const [oldest = now] = this.#sent;
      const waitMs = Math.max(
        this.#pausedUntil - now,
        this.#sent.length >= most ? oldest + MINUTE_MS - now : 0,
      );
      if (waitMs <= 0) {
        this.#sent.push(now);
        return;
      }
      if (now + waitMs > deadline)
        throw new SourceFailure('RETRY', `${this.#options.name} allows no more requests for now`);
      await after(waitMs, undefined, { ref: false, signal: this.#abort.signal }).catch(() => {
        throw new SourceFailure('RETRY', `${this.#options.name} is not asked any more`);
      });
    }
  }

  /** `Retry-After` in seconds, or Alpaca's `X-RateLimit-Reset` in Unix seconds; a second without either. */
  #pause(headers: Headers): void {
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    const resetAt = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
    const ms = Number.isFinite(seconds)
      ? seconds * 1000
      : Number.isFinite(resetAt)
        ? resetAt * 1000 - Date.now()
        : 1000;
    this.#pausedUntil = performance.now() + Math.min(MINUTE_MS, Math.max(100, ms));
  }
}
