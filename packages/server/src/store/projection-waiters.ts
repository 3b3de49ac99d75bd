import type { HistoryHealth } from './history.js';
import { StoreUnavailable } from './journal.js';

/** Maximum time that a read of the past waits for history to catch up. */
const LONGEST_WAIT_MS = 4_000;

interface ProjectionWaiter {
  readonly seq: number;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Callers that wait until history includes a record, by the keys of their simulations. */
export class ProjectionWaiters {
  readonly #waiting = new Map<number, Set<ProjectionWaiter>>();
  #count = 0;
  #totalMs = 0;
  #longestMs = 0;

  add(simulation: number, seq: number): Promise<void> {
    const all = this.#waiting.get(simulation) ?? new Set();
    this.#waiting.set(simulation, all);
    return new Promise((resolve, reject) => {
      const waiting: ProjectionWaiter = {
        seq,
        since: performance.now(),
        timer: setTimeout(() => {
          this.#end(simulation, waiting);
          reject(new StoreUnavailable('The history does not keep up'));
        }, LONGEST_WAIT_MS),
        resolve,
        reject,
      };
      all.add(waiting);
    });
  }

  reached(simulation: number, seq: number): void {
    for (const waiting of this.#waiting.get(simulation) ?? []) {
      if (waiting.seq > seq) continue;
      this.#end(simulation, waiting);
      waiting.resolve();
    }
  }

  rejectAll(error: StoreUnavailable): void {
    for (const [simulation, all] of this.#waiting) {
      for (const waiting of all) {
        this.#end(simulation, waiting);
        waiting.reject(error);
      }
    }
  }

  #end(simulation: number, waiting: ProjectionWaiter): void {
    clearTimeout(waiting.timer);
    const all = this.#waiting.get(simulation);
    all?.delete(waiting);
    if (all?.size === 0) this.#waiting.delete(simulation);
    const ms = performance.now() - waiting.since;
    this.#count += 1;
    this.#totalMs += ms;
    this.#longestMs = Math.max(this.#longestMs, ms);
  }

  get measured(): HistoryHealth['waits'] {
    return { count: this.#count, totalMs: this.#totalMs, longestMs: this.#longestMs };
  }
}
