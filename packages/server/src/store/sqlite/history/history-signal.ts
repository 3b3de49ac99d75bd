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

  /** Sleeps for this time, unless `hurry` is called. */
  pause(ms: number): void {
    Atomics.wait(this.numbers, URGENT, 0, ms);
  }
}

const NEWS = 0;
const URGENT = 1;
const COMMITTED = 2;
