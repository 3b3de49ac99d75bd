import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pace } from './slice.js';

/** Maximum time that steps hold the event loop before other work has a turn, ms. */
const SLICE_MS = 2;

/** A turn of a tenant. Exactly one is under way. */
export interface Turn extends Pace {
  /** Must be called. */
  end(): void;
}

/**
 * Turns of tenants whose requests are not rate limited: round robin, so that a tenant with a hundred requests gets no more than one with a
 * single request, and a bounded share of each turn of the event loop.
 */
export class TenantTurns {
  /** Waiting callers by tenant; the next tenant comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTaken = false;
  #beganMs = 0;

  /** Resolves when it is the tenant's turn. */
  async take(tenantId: string): Promise<Turn> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      this.#beganMs = performance.now();
    } else await this.#wait(tenantId);
    return {
      breathe: async () => {
        if (performance.now() - this.#beganMs < SLICE_MS) return;
        if (this.#waiting.size > 0) {
          const again = this.#wait(tenantId);
          this.#passOn();
          await again;
          return;
        }
        await nextTurn();
        this.#beganMs = performance.now();
      },
      end: () => this.#passOn(),
    };
  }

  #wait(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      const others = this.#waiting.get(tenantId) ?? [];
      this.#waiting.set(tenantId, others);
      others.push(resolve);
    });
  }

  #passOn(): void {
    const next = this.#next();
    if (next === undefined) {
      this.#isTaken = false;
      return;
    }
    if (performance.now() - this.#beganMs < SLICE_MS) {
      next();
      return;
    }
    setImmediate(() => {
      this.#beganMs = performance.now();
      next();
    });
  }

  #next(): (() => void) | undefined {
    for (const [tenantId, waiting] of this.#waiting) {
      this.#waiting.delete(tenantId);
      const next = waiting.shift();
      // After all others.
      if (waiting.length > 0) this.#waiting.set(tenantId, waiting);
      return next;
    }
    return undefined;
  }
}
