interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Work that is done for many items at a time, never twice at a time: items that arrive while it is under way share the next one. If it fails,
 * it fails for all of its items.
 */
export class Together<Item, Result> {
  /** Returns a result for each item, in their order. */
  readonly #work: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #most: number;
  #waiting: Waiting<Item, Result>[] = [];
  #isBusy = false;

  /** `most`: items at a time. */
  constructor(work: (items: readonly Item[]) => Promise<readonly Result[]>, most = Infinity) {
    this.#work = work;
    this.#most = most;
  }

  add(item: Item): Promise<Result> {
    const done = new Promise<Result>((resolve, reject) => this.#waiting.push({ item, resolve, reject }));
    if (!this.#isBusy) void this.#run();
    return done;
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    // Items of the same turn of the event loop share the first one, too.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const shared = this.#waiting.slice(0, this.#most);
      this.#waiting = this.#waiting.slice(shared.length);
      try {
        const results = await this.#work(shared.map(({ item }) => item));
        for (const [index, { resolve }] of shared.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of shared) reject(error);
      }
    }
    this.#isBusy = false;
  }
}
