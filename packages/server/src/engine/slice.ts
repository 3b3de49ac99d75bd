import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a long piece of work keeps the event loop before it lets others have a turn. */
const SLICE_MS = 8;

/** A long piece of work, cut into slices. */
export class Slice {
  #began = performance.now();

  /** Lets others have the event loop when it is time for that. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await nextTurn();
    this.#began = performance.now();
  }
}
