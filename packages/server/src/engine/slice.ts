/**
 * Maximum time that long work occupies the event loop before it yields, ms. An order passes the loop about four times from its arrival to
 * the response, and each time it may meet a slice.
 */
const SLICE_MS = 2;

/** Pieces of work that wait for their next slice, in the order in which they ended the one before. */
const waiting: (() => void)[] = [];

/** Resolves when it is the turn of this piece of work: connections and commands have theirs between any two slices. */
function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    // An immediate of the phase in which connections are read runs before they are read again; one that it sets runs after that.
    if (waiting.length === 1) setImmediate(() => setImmediate(giveOne));
  });
}

function giveOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveOne);
}

/** A long piece of work, cut into slices. */
export class Slice {
  #began = performance.now();

  /** Yields the event loop when its slice is over. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await nextSlice();
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
