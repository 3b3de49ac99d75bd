/** Requests are counted for one to two of these periods, ms. Older ones are streams, or long themselves. */
const PERIOD_MS = 50;

/**
 * Pause of long work before a slice while requests wait for their answers, ms: as long as the slice before, so that they have at least half
 * of the time, within these limits.
 */
const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 20;

/**
 * Limits of the time that long work occupies the event loop before it yields, ms. An order passes the loop about four times from its arrival
 * to the response, and each time it may meet a slice. Within the limits a slice is a tenth of the time since the one before: a loop that is
 * full of other requests has one slice in several turns.
 */
const SHORTEST_SLICE_MS = 1;
const LONGEST_SLICE_MS = 5;
const SHARE = 0.1;

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

/** Requests of the last 50 to 100 ms without an answer. */
export class OpenRequests {
  /** Number of the current period, and requests that began in it and in the one before. */
  #period = 0;
  #open = 0;
  #openBefore = 0;

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

  /** Their number at this instant. */
  count(ms: number): number {
    this.#enter(periodOf(ms));
    return this.#open + this.#openBefore;
  }

  #enter(period: number): void {
    if (period === this.#period) return;
    this.#openBefore = period === this.#period + 1 ? this.#open : 0;
    this.#open = 0;
    this.#period = period;
  }
}

interface Piece {
  readonly startedMs: number;
  /** The requests that it belongs to, if it knows them. */
  readonly own: OpenRequests | undefined;
  readonly go: () => void;
}

/**
 * The order in which slices of long work are executed (D169): one at a time, in turns, with a turn for connections and commands between any
 * two. While a request waits for its answer, other than those of the waiting pieces of work, each slice is preceded by a pause as long as the
 * slice before it: the request passes the event loop several times, and threads that it needs have the processor meanwhile.
 */
export class LongWork {
  readonly #surroundings: LongWorkSurroundings;
  /** In the order in which they ended the slice before. */
  readonly #waiting: Piece[] = [];
  #isDue = false;
  /** Start of the current slice; undefined once its end is known, or connections had a turn. */
  #beganMs: number | undefined;
  /** Start of the wait for the next slice. */
  #sinceMs = 0;
  /** Length of the current slice, ms. */
  #lengthMs = SHORTEST_SLICE_MS;
  /** End of the pause after the last slice. */
  #restUntilMs = 0;
  readonly #requests = new OpenRequests();

  constructor(surroundings: LongWorkSurroundings = ON_THIS_LOOP) {
    this.#surroundings = surroundings;
  }

  /**
   * Ends the slice of a piece of work that started then. Resolves when it is its turn again. `own`: the requests that it belongs to; absent =
   * one, which began before it.
   */
  next(startedMs: number, own?: OpenRequests): Promise<void> {
    this.endSlice();
    return new Promise((go) => {
      this.#waiting.push({ startedMs, own, go });
      if (this.#isDue) return;
      this.#sinceMs = this.#surroundings.nowMs();
      this.#afterConnections();
    });
  }

  /** Length of the current slice, ms. */
  get sliceMs(): number {
    return this.#lengthMs;
  }

  /** Ends a slice without a next one. */
  endSlice(): void {
    if (this.#beganMs === undefined) return;
    const nowMs = this.#surroundings.nowMs();
    this.#restUntilMs = nowMs + Math.min(nowMs - this.#beganMs, LONGEST_PAUSE_MS);
    this.#sinceMs = nowMs;
    this.#beganMs = undefined;
  }

  /** Notes a request. */
  began(ms: number): void {
    this.#requests.began(ms);
  }

  /** Notes the answer to the request that began then. */
  ended(beganMs: number): void {
    this.#requests.ended(beganMs);
  }

  #afterConnections(): void {
    this.#isDue = true;
    this.#surroundings.afterConnections(() => this.#look());
  }

  /** Gives the next slice, now or after a pause. */
  #look(): void {
    this.#beganMs = undefined;
    this.#isDue = this.#waiting.length > 0;
    if (!this.#isDue) return;
    const nowMs = this.#surroundings.nowMs();
    const pauseMs = Math.max(this.#restUntilMs - nowMs, SHORTEST_PAUSE_MS);
    if (this.#hasOthers(nowMs)) this.#surroundings.later(pauseMs, () => this.#give());
    else this.#give();
  }

  /** True when a request waits that no waiting piece of work belongs to. */
  #hasOthers(nowMs: number): boolean {
    let others = this.#requests.count(nowMs);
    for (const { startedMs, own } of this.#waiting)
      others -= own?.count(nowMs) ?? (periodOf(startedMs) >= periodOf(nowMs) - 1 ? 1 : 0);
    return others > 0;
  }

  #give(): void {
    const nowMs = this.#surroundings.nowMs();
    this.#lengthMs = Math.min(Math.max((nowMs - this.#sinceMs) * SHARE, SHORTEST_SLICE_MS), LONGEST_SLICE_MS);
    this.#sinceMs = nowMs;
    this.#beganMs = nowMs;
    this.#waiting.shift()?.go();
    this.#afterConnections();
  }
}

const periodOf = (ms: number): number => Math.floor(ms / PERIOD_MS);

/** The long work of this process. */
export const LONG_WORK = new LongWork();
