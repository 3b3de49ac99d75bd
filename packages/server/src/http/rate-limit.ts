/**
 * Rate limits: a number of requests in any minute (D38, D64), a number of bytes in any ten seconds (D232). The window slides, in quarter
 * seconds, so that a client can never send twice the limit. A refused request does not count. Times are those of a monotonic clock.
 */
import type { LRUCache } from 'lru-cache';
import { boundedCache } from '../engine/values/bounded-cache.js';

const WINDOW_MS = 60_000;
const BYTES_WINDOW_MS = 10_000;
const BUCKET_MS = 250;

/** The requests of one client on one route in the last minute; or its bytes in the last ten seconds. */
export class SlidingWindow {
  readonly limit: number;
  readonly #counts: Uint32Array;
  /** Numbers of the oldest bucket in use and of the newest. */
  #tail = 0;
  #head = 0;
  #total = 0;

  /** At most 2³² at a time. */
  constructor(limit: number, windowMs = WINDOW_MS) {
    this.limit = limit;
    this.#counts = new Uint32Array(windowMs / BUCKET_MS);
  }

  /** Counts a request, or several at once, or refuses it. */
  take(nowMs: number, count = 1): boolean {
    this.#slideTo(Math.floor(nowMs / BUCKET_MS));
    if (this.#total + count > this.limit) return false;
    const place = this.#head % this.#counts.length;
    this.#counts[place] = (this.#counts[place] ?? 0) + count;
    this.#total += count;
    return true;
  }

  get remaining(): number {
    return this.limit - this.#total;
  }

  /** Seconds until the oldest counted request leaves the window. */
  resetSeconds(nowMs: number): number {
    return this.#total === 0 ? 0 : this.#secondsUntilGone(this.#tail, nowMs);
  }

  /** Seconds until this many requests are within the limit. */
  secondsUntilRoomFor(count: number, nowMs: number): number {
    let excess = this.#total + count - this.limit;
    for (let bucket = this.#tail; bucket <= this.#head && excess > 0; bucket++) {
      excess -= this.#counts[bucket % this.#counts.length] ?? 0;
      if (excess <= 0) return this.#secondsUntilGone(bucket, nowMs);
    }
    return 0;
  }

  #slideTo(bucket: number): void {
    const buckets = this.#counts.length;
    this.#head = bucket;
    if (this.#total === 0) {
      this.#tail = this.#head;
      return;
    }
    const first = this.#head - buckets + 1;
    while (this.#tail < this.#head && (this.#tail < first || this.#counts[this.#tail % buckets] === 0)) {
      const place = this.#tail % buckets;
      this.#total -= this.#counts[place] ?? 0;
      this.#counts[place] = 0;
      if (this.#total === 0) {
        this.#tail = this.#head;
        return;
      }
      this.#tail += 1;
    }
  }

  /** Whole seconds until the requests of a bucket leave the window. */
  #secondsUntilGone(bucket: number, nowMs: number): number {
    return Math.max(1, Math.ceil(((bucket + this.#counts.length) * BUCKET_MS - nowMs) / 1000));
  }
}

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

/** Windows of the bytes of bodies, by owner. */
export class ByteLimits {
  readonly #windows = boundedCache<SlidingWindow>(WINDOWS_KEPT);

  of(owner: string, limit: number): SlidingWindow {
    return windowIn(this.#windows, owner, limit, BYTES_WINDOW_MS);
  }
}

function windowIn(
  windows: LRUCache<string, SlidingWindow>,
  key: string,
  limit: number,
  windowMs?: number,
): SlidingWindow {
  let window = windows.get(key);
  if (window === undefined) {
    window = new SlidingWindow(limit, windowMs);
    windows.set(key, window);
  }
  return window;
}
