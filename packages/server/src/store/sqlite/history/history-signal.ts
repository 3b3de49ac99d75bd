/**
 * Shared numbers through which the main thread and the projector signal each other without a message. The projector sleeps on these
 * numbers, and wakes in less than a microsecond. See history-projector.ts.
 */
export class HistorySignal {
  readonly numbers: Int32Array;

  constructor(numbers: Int32Array = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))) {
    this.numbers = numbers;
  }

  /** Records have become durable. */
  committed(records: number): void {
    Atomics.add(this.numbers, COMMITTED, records);
    this.#wake();
  }

  /** Wakes the projector immediately: a caller waits, or there is a message. */
  hurry(): void {
    Atomics.store(this.numbers, URGENT, 1);
    Atomics.notify(this.numbers, URGENT);
    this.#wake();
  }

  #wake(): void {
    Atomics.add(this.numbers, NEWS, 1);
    Atomics.notify(this.numbers, NEWS);
  }

  /** Records that have become durable since the start, modulo 2³². */
  get committedRecords(): number {
    return Atomics.load(this.numbers, COMMITTED);
  }

  get news(): number {
    return Atomics.load(this.numbers, NEWS);
  }

  noHurry(): void {
    Atomics.store(this.numbers, URGENT, 0);
  }

  /** Sleeps until there is newer data than this, or for a maximum time. */
  awaitNews(news: number, ms: number): void {
    Atomics.wait(this.numbers, NEWS, news, ms);
  }

  /**
   * Sleeps until this many more records than `since` have become durable, at most for this time, unless `hurry` is called. Records are
   * counted every tenth of a second, so that commits need not wake the thread.
   */
  awaitRecords(records: number, since: number, ms: number): void {
    for (let left = ms; left > 0 && ((this.committedRecords - since) | 0) < records; left -= COUNT_EVERY_MS)
      this.pause(Math.min(left, COUNT_EVERY_MS));
  }

  /** Sleeps for this time, unless `hurry` is called. */
  pause(ms: number): void {
    Atomics.wait(this.numbers, URGENT, 0, ms);
  }
}

const COUNT_EVERY_MS = 100;

const NEWS = 0;
const URGENT = 1;
const COMMITTED = 2;
