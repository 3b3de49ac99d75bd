import { LONG_WORK } from './long-work.js';
import type { OpenRequests } from './long-work.js';

/** Work that yields to others regularly. */
export interface Pace {
  /** Yields the event loop when its slice is over. */
  breathe(): Promise<void>;
}

/** A long piece of work, cut into slices. */
export class Slice implements Pace {
  readonly #startedMs = performance.now();
  readonly #own: OpenRequests | undefined;
  #began = this.#startedMs;

  /** `own`: the requests that it belongs to; absent = one, which began before it. */
  constructor(own?: OpenRequests) {
    this.#own = own;
  }

  /** Yields the event loop when its slice is over. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#began >= LONG_WORK.sliceMs) await this.yield();
  }

  /** Yields the event loop now, for a step that needs its own slice. */
  async yield(): Promise<void> {
    await LONG_WORK.next(this.#startedMs, this.#own);
    this.#began = performance.now();
  }
}

/** Results of `show` for all items, one after the other. Yields the event loop between them. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  show: (item: Item) => Result | Promise<Result>,
): Promise<Result[]> {
  const slice = new Slice();
  const shown: Result[] = [];
  for (const item of items) {
    shown.push(await show(item));
    await slice.breathe();
  }
  return shown;
}

/** Result of work in pieces. Yields the event loop between them. */
export async function inSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  const slice = new Slice();
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await slice.breathe();
  }
}
