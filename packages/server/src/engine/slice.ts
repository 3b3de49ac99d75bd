/** Maximum time that long work occupies the event loop before it yields. */
const SLICE_MS = 5;

/** Pieces of work that wait for their next slice, in the order in which they ended the one before. */
const waiting: (() => void)[] = [];

/** Resolves when it is the turn of this piece of work: connections and commands have theirs between any two slices. */
function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveOne);
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
