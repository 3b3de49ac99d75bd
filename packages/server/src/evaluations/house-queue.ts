/** Work of the house: cells that it plays and walks to their end, a few at a time. */
export class HouseQueue {
  static readonly #AT_ONCE = 2;
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #idle: (() => void)[] = [];
  #running = 0;

  /** Adds work that handles its own errors. */
  add(work: () => Promise<void>): void {
    this.#waiting.push(work);
    this.#next();
  }

  /** Resolves when there is nothing to do. */
  async idle(): Promise<void> {
    if (this.#running > 0 || this.#waiting.length > 0)
      await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #next(): void {
    while (this.#running < HouseQueue.#AT_ONCE) {
      const work = this.#waiting.shift();
      if (work === undefined) break;
      this.#running += 1;
      void work().finally(() => {
        this.#running -= 1;
        this.#next();
      });
    }
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
