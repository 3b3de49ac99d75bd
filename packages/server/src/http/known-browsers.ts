import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const NAME = 'sandpit-browser';
const TTL_SECONDS = 43_200;
const BROWSERS_KEPT = 100;
const IN_COOKIES = new RegExp(`(?:^|;\\s*)${NAME}=([A-Za-z0-9_-]{43})(?:;|$)`);

/** Browsers that have opened a login link, by a cookie that scripts cannot read. Forgotten when the server ends. */
export class KnownBrowsers {
  readonly #monotonicMs: () => number;
  readonly #until = new LRUCache<string, number>({ max: BROWSERS_KEPT });

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** The `Set-Cookie` header by which a browser is known from now on. */
  remember(): string {
    const secret = randomBytes(32).toString('base64url');
    this.#until.set(secret, this.#monotonicMs() + TTL_SECONDS * 1000);
    return `${NAME}=${secret}; Path=/docs; Max-Age=${TTL_SECONDS}; HttpOnly; SameSite=Strict`;
  }

  /** True when a `Cookie` header is that of a known browser. */
  knows(cookies: string | undefined): boolean {
    const secret = IN_COOKIES.exec(cookies ?? '')?.[1];
    return secret !== undefined && (this.#until.get(secret) ?? -Infinity) > this.#monotonicMs();
  }
}
