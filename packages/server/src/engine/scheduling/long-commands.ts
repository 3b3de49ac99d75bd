import { LONG_WORK, OpenRequests } from './long-work.js';
import { Slice } from './slice.js';

/** Average duration of the last commands from which the next one is long work, ms: as long as several slices. */
const LONG_MS = 2;
/** Weight of the last command in the average. A single one that is long because garbage was collected in it changes nothing. */
const WEIGHT = 0.25;

/**
 * Commands of one simulation that may occupy the event loop for long: those of a portfolio with many options, for example. A decision cannot
 * be cut into slices, so after long ones the next is a slice of long work, as a whole. Once a command is short, all waiting ones may be
 * executed. Commands stay in their order.
 */
export class LongCommands {
  #averageMs = 0;
  readonly #underWay = new OpenRequests();
  /** Commands that wait for a slice, oldest first. */
  #waiting: (() => void)[] = [];
  /** Number of delayed commands that have not continued yet. */
  #delayed = 0;
  #isGiving = false;

  /** Notes a command. */
  began(ms: number): void {
    this.#underWay.began(ms);
  }

  /** The effects of the command that began then are durable, or it failed. */
  ended(beganMs: number): void {
    this.#underWay.ended(beganMs);
  }

  /** Undefined = the next command may be executed now. Otherwise resolves when it may. */
  next(): Promise<void> | undefined {
    if (!this.#isLong && this.#delayed === 0) return undefined;
    this.#delayed += 1;
    // A resolved promise continues after the commands that were released before it.
    const turn = this.#isLong || this.#waiting.length > 0 ? this.#slice() : Promise.resolve();
    void turn.then(() => (this.#delayed -= 1));
    return turn;
  }

  #slice(): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push(go);
      if (!this.#isGiving) void this.#giveSlices();
    });
  }

  async #giveSlices(): Promise<void> {
    this.#isGiving = true;
    const slice = new Slice(this.#underWay);
    do {
      await slice.yield();
      this.#waiting.shift()?.();
    } while (this.#waiting.length > 0);
    this.#isGiving = false;
  }

  /** A command was executed, in this many ms. */
  took(ms: number): void {
    this.#averageMs += (ms - this.#averageMs) * WEIGHT;
    if (this.#isLong) {
      LONG_WORK.endSlice();
      return;
    }
    if (this.#waiting.length === 0) return;
    const released = this.#waiting;
    this.#waiting = [];
    for (const go of released) go();
  }

  get #isLong(): boolean {
    return this.#averageMs >= LONG_MS;
  }
}
