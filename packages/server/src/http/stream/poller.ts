import type { DurableRecord } from '../../engine/records/records.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { Connection } from './connection.js';

/** Time of the next poll, ms from now. */
export interface NextPoll {
  /** Without an earlier event. */
  readonly inMs: number;
  /** Minimum interval, regardless of events. */
  readonly restMs: number;
}

interface Terms<Reader> {
  /** Delay after a record until the next poll, ms; undefined = no reader sees a difference. */
  readonly delayAfter: (record: DurableRecord) => number | undefined;
  /** Reads the data, and sends readers the changes. */
  readonly look: (readers: readonly Reader[]) => Promise<NextPoll>;
  /** Delay of the next poll after a failed one, ms. */
  readonly intervalMs: number;
}

/** Polls data that changes without notice, for all of its readers together: after an event, and at intervals. Stops without readers. */
export class Poller<Reader extends { readonly connection: Pick<Connection, 'onClose'> }> {
  readonly #simulation: Simulation;
  readonly #clockMs: () => number;
  readonly #terms: Terms<Reader>;
  readonly #readers = new Set<Reader>();
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Infinity;
  #restUntilMs = -Infinity;
  #isLooking = false;
  #events = 0;

  constructor(simulation: Simulation, clockMs: () => number, terms: Terms<Reader>) {
    this.#simulation = simulation;
    this.#clockMs = clockMs;
    this.#terms = terms;
  }

  /** Adds a reader, with an immediate poll for it. Returns the id of the present position. */
  add(reader: Reader): () => string {
    this.#unsubscribe ??= this.#simulation.subscribe((record) => {
      const delayMs = this.#terms.delayAfter(record);
      if (delayMs !== undefined) this.#lookIn(delayMs);
    });
    this.#readers.add(reader);
    reader.connection.onClose(() => {
      this.#readers.delete(reader);
      if (this.#readers.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
      clearTimeout(this.#timer);
      this.#timerAtMs = Infinity;
    });
    this.#lookIn(0);
    return () => this.presentId();
  }

  presentId(): string {
    return `${this.#simulation.published}-${this.#events}`;
  }

  /** Writes an event to a reader. */
  tell({ connection }: { readonly connection: Pick<Connection, 'write'> }, name: string, text: string): void {
    this.#events += 1;
    const id = this.presentId();
    connection.write(`id: ${id}\nevent: ${name}\ndata: ${text}\n\n`, () => id);
  }

  #lookIn(ms: number): void {
    const nowMs = this.#clockMs();
    const atMs = Math.max(nowMs + ms, this.#restUntilMs);
    if (atMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => void this.#look(), Math.max(0, atMs - nowMs));
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    this.#timerAtMs = Infinity;
    if (this.#isLooking || this.#readers.size === 0) return;
    this.#isLooking = true;
    let next: NextPoll = { inMs: this.#terms.intervalMs, restMs: 0 };
    try {
      next = await this.#terms.look([...this.#readers]);
    } catch {
      // Uncommitted data cannot be shown; the next poll follows soon.
    } finally {
      this.#isLooking = false;
    }
    this.#restUntilMs = this.#clockMs() + next.restMs;
    if (this.#readers.size > 0) this.#lookIn(next.inMs);
  }
}
