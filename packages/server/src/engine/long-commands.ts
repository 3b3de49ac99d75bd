import { LONG_WORK } from './long-work.js';
import { Slice } from './slice.js';

/** Duration of a command that is long work, ms: as long as several slices. */
const LONG_MS = 3;

/**
 * Commands of one simulation that may occupy the event loop for long: a portfolio with many options, for example. A decision cannot be cut
 * into slices, so after a long one the next is a slice of long work, as a whole. Commands stay in their order.
 */
export class LongCommands {
  #isLong = false;
  #waiting = 0;

  /** Undefined = the next command may be executed now. Otherwise resolves when it may. */
  next(): Promise<void> | undefined {
    return this.#isLong || this.#waiting > 0 ? this.#wait() : undefined;
  }

  async #wait(): Promise<void> {
    this.#waiting += 1;
    await new Slice().yield();
    this.#waiting -= 1;
  }

  /** A command was executed, in this many ms. */
  took(ms: number): void {
    this.#isLong = ms >= LONG_MS;
    if (this.#isLong) LONG_WORK.endSlice();
  }
}
