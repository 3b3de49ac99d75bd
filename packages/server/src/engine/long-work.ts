/** Requests are counted for one to two of these periods, ms. Older ones are streams, or long themselves. */
const PERIOD_MS = 50;

/** Pause of long work before a slice while requests wait for their answers, ms: as long as a slice, so that they have half of the time. */
const PAUSE_MS = 2;

/** Time and the event loop: tests have their own. */
export interface LongWorkSurroundings {
  readonly nowMs: () => number;
  /** Calls back after the connections had a turn. */
  readonly afterConnections: (then: () => void) => void;
  readonly later: (ms: number, then: () => void) => void;
}

const ON_THIS_LOOP: LongWorkSurroundings = {
  nowMs: () => performance.now(),
  // An immediate of the phase in which connections are read runs before they are read again; one that it sets runs after that.
  afterConnections: (then) => void setImmediate(() => setImmediate(then)),
  later: (ms, then) => void setTimeout(then, ms),
};

interface Piece {
  readonly startedMs: number;
  readonly go: () => void;
}

/**
 * The order in which slices of long work are executed (D169): one at a time, in turns, with a turn for connections and commands between any
 * two. While a request waits for its answer, other than those of the waiting pieces of work, each slice is preceded by a pause as long as a
 * slice: the request passes the event loop several times, and threads that it needs have the processor meanwhile.
 */
export class LongWork {
  readonly #surroundings: LongWorkSurroundings;
  /** In the order in which they ended the slice before. */
  readonly #waiting: Piece[] = [];
  #isDue = false;
  /** Number of the current period, and requests without an answer that began in it and in the one before. */
  #period = 0;
  #open = 0;
  #openBefore = 0;

  constructor(surroundings: LongWorkSurroundings = ON_THIS_LOOP) {
    this.#surroundings = surroundings;
  }

  /** Resolves when it is the turn of a piece of work that started then. */
  next(startedMs: number): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ startedMs, go });
      if (!this.#isDue) this.#schedule();
    });
  }

  /** Notes a request. */
  began(ms: number): void {
    this.#enter(periodOf(ms));
    this.#open += 1;
  }

  /** Notes the answer to the request that began then. */
  ended(beganMs: number): void {
    const period = periodOf(beganMs);
    if (period === this.#period) this.#open -= 1;
    else if (period === this.#period - 1) this.#openBefore -= 1;
  }

  #schedule(): void {
    this.#isDue = true;
    const { nowMs, afterConnections, later } = this.#surroundings;
    const give = (): void => this.#give();
    this.#enter(periodOf(nowMs()));
    if (this.#hasOthers()) later(PAUSE_MS, give);
    else afterConnections(give);
  }

  /** True when a request waits that no waiting piece of work belongs to. The request of a piece began before it, and is counted as long. */
  #hasOthers(): boolean {
    let others = this.#open + this.#openBefore;
    for (const { startedMs } of this.#waiting) if (periodOf(startedMs) >= this.#period - 1) others -= 1;
    return others > 0;
  }

  #give(): void {
    this.#isDue = false;
    this.#waiting.shift()?.go();
    if (this.#waiting.length > 0) this.#schedule();
  }

  #enter(period: number): void {
    if (period === this.#period) return;
    this.#openBefore = period === this.#period + 1 ? this.#open : 0;
    this.#open = 0;
    this.#period = period;
  }
}

const periodOf = (ms: number): number => Math.floor(ms / PERIOD_MS);

/** The long work of this process. */
export const LONG_WORK = new LongWork();
