import { isIdle } from '@sandpit/core';
import type { Brokerage } from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import type { Clock } from './clock.js';
import { isRecorded } from '../../feeds/feed.js';
import { isLive } from '../../feeds/live-feed.js';

/** Real time between two readings of the market while orders are open. */
const TICK_MS = 250;
/** Interval on a live feed without orders and positions, where only halts matter, ms. */
const LIVE_TICK_MS = 50;
const LIVE_REST_MS = 1000;
/** Maximum delay of a timer, after which it is checked again. */
const LONGEST_SLEEP_MS = 3_600_000;

/** Wakes a simulation for its next due work. One with a manual clock has no timer. */
export class WakeUp {
  readonly #brokerage: Brokerage;
  readonly #feed: Feed;
  readonly #clock: Clock;
  readonly #nextDue: () => number | undefined;
  readonly #now: () => number;
  readonly #wake: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  /** On the monotonic clock. */
  #wakesAt = 0;
  #isOver = false;

  /** `wake` must not reject; after it the next time is set. */
  constructor(
    brokerage: Brokerage,
    feed: Feed,
    clock: Clock,
    nextDue: () => number | undefined,
    now: () => number,
    wake: () => Promise<void>,
  ) {
    this.#brokerage = brokerage;
    this.#feed = feed;
    this.#clock = clock;
    this.#nextDue = nextDue;
    this.#now = now;
    this.#wake = wake;
  }

  /** Sets the timer for the next due work. */
  set(): void {
    clearTimeout(this.#timer);
    if (this.#isOver || this.#clock.mode === 'manual') return;
    const ms = this.#sleepMs();
    this.#wakesAt = performance.now() + ms;
    this.#timer = setTimeout(() => void this.#wake().then(() => this.set()), ms);
    this.#timer.unref();
  }

  /** After a command: a new order or timer may require an earlier wake-up. */
  setEarlier(): void {
    if (this.#clock.mode !== 'manual' && performance.now() + this.#sleepMs() < this.#wakesAt) this.set();
  }

  /**
   * Real time of the next thing to do, ms; 0 = at any moment: orders are open, or the clock would stop if the simulation were closed. Undefined = nothing is at stake, or the clock does not run.
   */
  nextAt(realMs: number): number | undefined {
    const { mode, speed } = this.#clock;
    const { state } = this.#brokerage;
    if (mode === 'manual' || speed === 0 || isIdle(state)) return undefined;
    if (mode === 'scaled' || state.orders.size > 0) return 0;
    const due = this.#nextDue();
    return due === undefined ? undefined : realMs + Math.max(0, due - this.#now());
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #sleepMs(): number {
    if (isLive(this.#feed)) return isIdle(this.#brokerage.state) ? LIVE_REST_MS : LIVE_TICK_MS;
    if (this.#brokerage.state.orders.size > 0 || isRecorded(this.#feed)) return TICK_MS;
    const due = this.#nextDue();
    if (due === undefined) return LONGEST_SLEEP_MS;
    return Math.min(
      LONGEST_SLEEP_MS,
      Math.max(1, Math.ceil((due - this.#now()) / Math.max(this.#clock.speed, 1e-6))),
    );
  }
}
