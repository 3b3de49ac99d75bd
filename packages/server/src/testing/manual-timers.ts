import type { Timers } from '../webhooks/timers.js';

interface PendingCall {
  readonly atMs: number;
  readonly call: () => void;
}

/** Real time that passes when told. */
export class ManualTimers implements Timers {
  #nowMs: number;
  readonly #pending = new Set<PendingCall>();

  constructor(nowMs = Date.parse('2026-01-05T15:00:00Z')) {
    this.#nowMs = nowMs;
  }

  nowMs = (): number => this.#nowMs;

  after = (ms: number, call: () => void): (() => void) => {
    const pending = { atMs: this.#nowMs + ms, call };
    this.#pending.add(pending);
    return () => this.#pending.delete(pending);
  };

  /** Lets time pass, and calls everything that is due on the way, in order. */
  advance(ms: number): void {
    const until = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#pending].filter(({ atMs }) => atMs <= until).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#pending.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.call();
    }
    this.#nowMs = until;
  }
}
