import type { Readable } from 'node:stream';

/** Bytes that are received in one turn of the event loop. */
const MOST_OF_TURN = 1_048_576;
/** Bytes that one connection delivers at once. */
const OF_CONNECTION = 65_536;

/**
 * Paces the receipt of bodies: connections that deliver more than a turn of the event loop receives wait for later turns, in the order in
 * which they began to wait. The event loop alone would read two megabytes of each connection at once.
 */
export class Intake {
  #left = MOST_OF_TURN;
  readonly #waiting = new Set<Readable>();
  #isScheduled = false;

  /** Counts bytes of a body; beyond those of this turn its stream waits. */
  count(payload: Readable, bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) {
      payload.pause();
      this.#waiting.add(payload);
    }
    this.#schedule();
  }

  /** The body is received, or refused. */
  end(payload: Readable): void {
    this.#waiting.delete(payload);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#left = MOST_OF_TURN;
      let bytes = 0;
      for (const payload of this.#waiting) {
        if (bytes >= MOST_OF_TURN) break;
        bytes += OF_CONNECTION;
        this.#waiting.delete(payload);
        payload.resume();
      }
      if (this.#waiting.size > 0) this.#schedule();
    });
  }
}
