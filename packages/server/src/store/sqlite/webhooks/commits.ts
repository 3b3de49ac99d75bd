import { StoreUnavailable } from '../../journal.js';

/**
 * Simulates the disk: additions take effect together, in order, after the current turn of the event loop. So users of this store cannot
 * depend on their own writes being visible immediately.
 */
export class Commits {
  #work: (() => void)[] = [];
  #pending: Promise<void> | undefined;
  #isClosed = false;

  /** Rejects with what `work` throws. */
  add(work: () => void): Promise<void> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('The store is closed'));
    this.#pending ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#commit());
    let failure: Error | undefined;
    this.#work.push(() => {
      try {
        work();
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
      }
    });
    return this.#pending.then(() => {
      if (failure !== undefined) throw failure;
    });
  }

  #commit(): void {
    const work = this.#work;
    this.#work = [];
    this.#pending = undefined;
    for (const step of work) step();
  }

  get waiting(): number {
    return this.#work.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pending;
  }
}
