/**
 * Rate limits (D38, D64): a number of requests in any minute. The window slides, in quarter seconds, so that a client can never send twice
 * the limit. A refused request does not count. Times are those of a monotonic clock.
 */
import type { LRUCache } from 'lru-cache';
import { boundedCache } from '../engine/bounded-cache.js';

const WINDOW_MS = 60_000;
const BUCKET_MS = 250;
const BUCKETS = WINDOW_MS / BUCKET_MS;

/** The requests of one client on one route in the last minute. */
export class SlidingWindow {
  readonly limit: number;
  readonly #counts = new Uint32Array(BUCKETS);
  /** Numbers of the oldest bucket in use and of the newest. */
  #tail = 0;
  #head = 0;
  #total = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Counts a request, or several at once, or refuses it. */
  take(nowMs: number, count = 1): boolean {
    this.#slideTo(Math.floor(nowMs / BUCKET_MS));
    if (this.#total + count > this.limit) return false;
    const place = this.#head % BUCKETS;
    this.#counts[place] = (this.#counts[place] ?? 0) + count;
    this.#total += count;
    return true;
  }

  get remaining(): number {
    return this.limit - this.#total;
  }

  /** Seconds until the oldest counted request leaves the window. */
  resetSeconds(nowMs: number): number {
    return this.#total === 0 ? 0 : secondsUntilGone(this.#tail, nowMs);
  }

  /** Seconds until this many requests are within the limit. */
  secondsUntilRoomFor(count: number, nowMs: number): number {
    let excess = this.#total + count - this.limit;
    for (let bucket = this.#tail; bucket <= this.#head && excess > 0; bucket++) {
      excess -= this.#counts[bucket % BUCKETS] ?? 0;
      if (excess <= 0) return secondsUntilGone(bucket, nowMs);
    }
    return 0;
  }

  #slideTo(bucket: number): void {
    this.#head = bucket;
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

/** Whole seconds until the requests of a bucket leave the window. */
const secondsUntilGone = (bucket: number, nowMs: number): number =>
  Math.max(1, Math.ceil(((bucket + BUCKETS) * BUCKET_MS - nowMs) / 1000));

/** Maximum number of tracked clients: with more, the least recently seen are forgotten. */
const WINDOWS_KEPT = 10_000;

/** All windows of a server, by tenant or by address. */
export class RateLimits {
  readonly #byTenant = boundedCache<SlidingWindow>(WINDOWS_KEPT);
  /** Separate from those of tenants, because many addresses are cheap. */
  readonly #byAddress = boundedCache<SlidingWindow>(WINDOWS_KEPT);

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
