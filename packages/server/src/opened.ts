/** Time for which the end of one part may delay those of the others. */
const CLOSE_MS = 5_000;

/** Parts that a start has opened so far. They are closed, the last one first, when a later step fails (D225). */
export class Opened {
  readonly #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
      const closed = Promise.resolve()
        .then(close)
        .catch(() => undefined);
      await Promise.race([closed, late]);
      clearTimeout(timer);
    }
  }
}
