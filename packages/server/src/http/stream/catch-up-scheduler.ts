import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum time that catching up may use in a turn of the event loop, for all streams together. Other requests wait about as long. */
const SLICE_MS = 2;

type CatchUpStep = () => Promise<void>;

/**
 * Schedules the streams of a server that receive missed events: one step at a time, tenant by tenant, so that a tenant with a hundred
 * streams gets no more time than one with a single stream, and all together get a small part of each turn of the event loop.
 */
export class CatchUpScheduler {
  /** Waiting steps by tenant; the next tenant comes first. */
  readonly #waiting = new Map<string, CatchUpStep[]>();
  #isWorking = false;

  /** Does a step when it is the tenant's turn. Steps are short. */
  take<T>(tenantId: string, step: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const steps = this.#waiting.get(tenantId) ?? [];
      this.#waiting.set(tenantId, steps);
      steps.push(async () => {
        try {
          resolve(await step());
        } catch (error) {
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- passed on unchanged
          reject(error);
        }
      });
      if (!this.#isWorking) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    // Never in the turn of the caller: a stream that reconnects at once must not bypass its slice.
    await nextTurn();
    let beganMs = performance.now();
    for (let step = this.#next(); step !== undefined; step = this.#next()) {
      await step();
      if (performance.now() - beganMs < SLICE_MS) continue;
      await nextTurn();
      beganMs = performance.now();
    }
    this.#isWorking = false;
  }

  #next(): CatchUpStep | undefined {
    for (const [tenantId, steps] of this.#waiting) {
      this.#waiting.delete(tenantId);
      const step = steps.shift();
      // After all others.
      if (steps.length > 0) this.#waiting.set(tenantId, steps);
      return step;
    }
    return undefined;
  }
}
