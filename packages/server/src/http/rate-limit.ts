/**
 * Rate limits (D38, D64): so many requests in any minute. The minute slides, in quarter seconds, so that there is no moment at which
 * a client may send twice the limit at once. A refused request does not count.
 */
import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
const BUCKET_MS = 250;
const BUCKETS = WINDOW_MS / BUCKET_MS;

/** The requests of one client on one route in the last minute. */
export class SlidingWindow {
  readonly limit: number;
  readonly #counts = new Uint32Array(BUCKETS);
  /** Number of the oldest bucket that may hold anything, and of the newest. */
  #tail = 0;
  #head = 0;
  #total = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Counts a request, or refuses it. */
  take(nowMs: number): boolean {
    this.#slideTo(Math.floor(nowMs / BUCKET_MS));
    if (this.#total >= this.limit) return false;
    const place = this.#head % BUCKETS;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#total += 1;
    return true;
  }

  get remaining(): number {
    return this.limit - this.#total;
  }

  /** Seconds until the oldest counted request leaves the window. */
  resetSeconds(nowMs: number): number {
    if (this.#total === 0) return 0;
    return Math.max(1, Math.ceil(((this.#tail + BUCKETS) * BUCKET_MS - nowMs) / 1000));
  }

  #slideTo(bucket: number): void {
    // A clock that was set back must not stop everything: time then stands until it is caught up.
    if (bucket > this.#head) this.#head = bucket;
    if (this.#total === 0) {
      this.#tail = this.#head;
      return;
    }
    const first = this.#head - BUCKETS + 1;
    while (this.#tail < this.#head && (this.#tail < first || this.#counts[this.#tail % BUCKETS] === 0)) {
      const place = this.#tail % BUCKETS;
      this.#total -= this.#counts[place] ?? 0;
      this.#counts[place] = 0;
      if (this.#total === 0) {
        this.#tail = this.#head;
        return;
      }
      this.#tail += 1;
    }
  }
}

/** More clients at once than this share what is left: those unseen for longest are forgotten. */
const WINDOWS_KEPT = 10_000;

/** All windows of a server, by tenant or by address. */
export class RateLimits {
  readonly #byTenant = new LRUCache<string, SlidingWindow>({ max: WINDOWS_KEPT });
  /** Apart from those of tenants: addresses are cheap to have many of. */
  readonly #byAddress = new LRUCache<string, SlidingWindow>({ max: WINDOWS_KEPT });

  ofTenant(route: string, tenantId: string, limit: number): SlidingWindow {
    return windowIn(this.#byTenant, `${route} ${tenantId}`, limit);
  }

  ofAddress(route: string, address: string, limit: number): SlidingWindow {
    return windowIn(this.#byAddress, `${route} ${address}`, limit);
  }
}

function windowIn(windows: LRUCache<string, SlidingWindow>, key: string, limit: number): SlidingWindow {
  let window = windows.get(key);
  if (window === undefined) {
    window = new SlidingWindow(limit);
    windows.set(key, window);
  }
  return window;
}
