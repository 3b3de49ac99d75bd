import type { Event, Instant, OrderSnapshot } from '@sandpit/core';
import type { JournalRecord, StoredAnswer } from '../store/journal.js';
import type { Store } from '../store/store.js';

/** A record as streams see it: after it became durable. */
export interface DurableRecord {
  readonly seq: number;
  readonly at: Instant;
  readonly events: readonly Event[];
  /** For each event the order it is about, as the event left it; undefined for events about none. */
  readonly orders: readonly (OrderSnapshot | undefined)[];
}

/** The records of one simulation on their way: appended, durable, published. */
export class Records {
  readonly #simulationId: string;
  readonly #store: Store;
  readonly #listeners = new Set<(record: DurableRecord) => void>();
  /** Appended, oldest first, and not known to be durable. */
  readonly #unpublished: DurableRecord[] = [];
  #seq: number;
  /** Settles when everything appended so far is durable. */
  #lastAppend: Promise<void> | undefined;
  /** Set when the store could not say in time what became of the last append (a full disk): it waits, in its place. */
  #isInDoubt = false;

  constructor(simulationId: string, store: Store, seq: number) {
    this.#simulationId = simulationId;
    this.#store = store;
    this.#seq = seq;
  }

  /** Of the last record, durable or not. */
  get seq(): number {
    return this.#seq;
  }

  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  isAccepting(): boolean {
    return this.#store.health().status === 'ok';
  }

  /** Appends the next record. Settles when it is durable. */
  append(
    record: Omit<DurableRecord, 'seq'>,
    payload: JournalRecord['payload'],
    answer: StoredAnswer | undefined,
  ): Promise<void> {
    const seq = ++this.#seq;
    const { at, events, orders } = record;
    const appended = this.#store.journal.append(
      { simulationId: this.#simulationId, seq, at, payload },
      answer,
    );
    this.#unpublished.push({ seq, at, events, orders });
    this.#remember(appended.then(() => this.#publishUntil(seq)));
    return appended;
  }

  /** Keeps an answer to what left no record. */
  saveAnswer(answer: StoredAnswer): void {
    this.#remember(this.#store.journal.saveAnswer(answer));
  }

  /** Every record once it is durable, in order. Returns how to stop. */
  subscribe(listener: (record: DurableRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when everything that was decided so far is durable. */
  durable(): Promise<void> {
    return this.#isInDoubt ? this.#resolveDoubt() : (this.#lastAppend ?? Promise.resolve());
  }

  /** A store that commits again has committed first what waited: then it is shown after all. */
  async #resolveDoubt(): Promise<void> {
    if (!this.isAccepting()) return this.#lastAppend;
    const seq = this.#seq;
    const lastAppend = this.#lastAppend;
    await this.#store.probe();
    this.#publishUntil(seq);
    if (this.#lastAppend !== lastAppend) return this.durable();
    this.#lastAppend = undefined;
    this.#isInDoubt = false;
  }

  #remember(appended: Promise<void>): void {
    this.#lastAppend = appended;
    this.#isInDoubt = false;
    // Whoever waits hears of a failure; a record nobody waits for must not bring the process down.
    appended.catch(() => {
      if (this.#lastAppend === appended) this.#isInDoubt = true;
    });
  }

  /** Records become durable in order: when one is, those before it are, too. */
  #publishUntil(seq: number): void {
    while ((this.#unpublished[0]?.seq ?? Infinity) <= seq) {
      const record = this.#unpublished.shift();
      if (record !== undefined) for (const listener of this.#listeners) listener(record);
    }
  }
}
