import type { StreamListener, StreamTimings } from './socket-stream.js';
import { SourceFailure } from './source.js';
import type { PolledStream } from './source.js';

/** A polled source. It counts as alive while it responds. */
export class PollingStream {
  readonly #stream: PolledStream;
  readonly #listener: StreamListener;
  readonly #timings: StreamTimings;
  #symbols: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #isReady = false;
  #isOver = false;
  #failures = 0;
  #aliveAt = 0;
  /** On the real clock, ms. */
  lastMessageAtMs: number | undefined;

  constructor(stream: PolledStream, listener: StreamListener, timings: StreamTimings) {
    this.#stream = stream;
    this.#listener = listener;
    this.#timings = timings;
  }

  start(): void {
    void this.#poll();
  }

  subscribe(symbols: ReadonlySet<string>): void {
    this.#symbols = symbols;
    if (this.#isReady) this.#listener.confirmed(symbols);
  }

  stop(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    return Promise.resolve();
  }

  async #poll(): Promise<void> {
    const begunAt = performance.now();
    try {
      await this.#stream.poll(this.#symbols, this.#listener.sink);
      if (this.#isOver) return;
      this.lastMessageAtMs = Date.now();
      this.#failures = 0;
      this.#aliveAt = performance.now();
      if (!this.#isReady) {
        this.#isReady = true;
        this.#listener.ready();
        this.#listener.confirmed(this.#symbols);
      }
    } catch (error) {
      if (this.#isOver) return;
      const failure =
        error instanceof SourceFailure
          ? error
          : new SourceFailure('RETRY', `${this.#stream.name} cannot be reached`);
      this.#failures += 1;
      const isDead = performance.now() - this.#aliveAt > this.#timings.silentMs;
      if (this.#isReady && (isDead || failure.kind === 'REFUSED')) {
        this.#isReady = false;
        this.#listener.lost(this.#aliveAt);
      }
      this.#listener.failed(failure);
      if (failure.kind === 'REFUSED') return;
    }
    const { backoffMs, longestBackoffMs } = this.#timings;
    const restMs =
      this.#failures === 0
        ? this.#stream.everyMs - (performance.now() - begunAt)
        : Math.min(longestBackoffMs, backoffMs * 2 ** Math.min(20, this.#failures - 1)) *
          (0.5 + Math.random());
    this.#timer = setTimeout(() => void this.#poll(), Math.max(0, restMs)).unref();
  }
}
