/** Figures of the last minute, for the page of the operator: rates and percentiles without a monitoring system. */

const SLOTS = 60;
const SLOT_MS = 1000;
/** Upper bounds of the buckets grow by 10 % from 0.1 ms: the 110th is at 3.6 s, the last one has everything slower. */
const FIRST_MS = 0.1;
const GROWTH = 1.1;
const BUCKETS = 120;
const LOG_GROWTH = Math.log(GROWTH);

interface Slot {
  second: number;
  requests: number;
  /** Answers with a status of 500 or above. */
  failures: number;
  readonly buckets: Uint32Array;
}

export interface RecentFigures {
  /** Per second. */
  readonly requests: number;
  readonly failures: number;
  /** Milliseconds, at most 10 % above the exact value; undefined without requests. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

const bucketOf = (ms: number): number =>
  Math.min(BUCKETS - 1, Math.max(0, Math.ceil(Math.log(ms / FIRST_MS) / LOG_GROWTH)));

/** Counts answers by the second. Streams count by their heads. Times are those of a monotonic clock. */
export class RecentTraffic {
  readonly #slots: Slot[] = Array.from({ length: SLOTS }, () => ({
    second: -1,
    requests: 0,
    failures: 0,
    buckets: new Uint32Array(BUCKETS),
  }));
  readonly #beganSecond: number;

  constructor(nowMs: number) {
    this.#beganSecond = Math.floor(nowMs / SLOT_MS);
  }

  count(nowMs: number, status: number, ms: number): void {
    const second = Math.floor(nowMs / SLOT_MS);
    const slot = this.#slots[second % SLOTS] as Slot;
    if (slot.second !== second) {
      slot.second = second;
      slot.requests = 0;
      slot.failures = 0;
      slot.buckets.fill(0);
    }
    slot.requests += 1;
    if (status >= 500) slot.failures += 1;
    const bucket = bucketOf(ms);
    slot.buckets[bucket] = (slot.buckets[bucket] ?? 0) + 1;
  }

  /** Figures of the whole seconds before this one, at most 59. */
  figures(nowMs: number): RecentFigures {
    const now = Math.floor(nowMs / SLOT_MS);
    const recent = this.#slots.filter(({ second }) => second < now && second > now - SLOTS);
    const seconds = Math.min(SLOTS - 1, Math.max(1, now - this.#beganSecond));
    const sum = (of: (slot: Slot) => number): number => recent.reduce((total, slot) => total + of(slot), 0);
    const requests = sum(({ requests: own }) => own);
    const percentile = (part: number): number | undefined => {
      if (requests === 0) return undefined;
      let left = Math.ceil(requests * part);
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        left -= sum(({ buckets }) => buckets[bucket] ?? 0);
        if (left <= 0) return FIRST_MS * GROWTH ** bucket;
      }
      return undefined;
    };
    return {
      requests: requests / seconds,
      failures: sum(({ failures }) => failures) / seconds,
      p50Ms: percentile(0.5),
      p99Ms: percentile(0.99),
    };
  }
}
