import { StoreUnavailable } from '../store/journal.js';
import type { WebhookChange, WebhookCursor, WebhookStore } from '../store/webhooks.js';
import type { Timers } from './timers.js';

/** Delay before a batch that the store refused is retried. */
const RETRY_MS = 1000;
/** A cursor that has moved past events of no interest is saved within this time. */
const LAZY_MS = 2000;
/** Maximum number of changes waiting for the store; with more, sending pauses until it has caught up. */
const MOST_WAITING = 2000;

interface QueuedChange {
  readonly change: WebhookChange;
  readonly onSaved: (() => void) | undefined;
}

/** Cursor of a follower, read when the batch is written. */
export interface Cursored {
  readonly cursor: () => WebhookCursor;
}

/** Saves the results of deliveries in successive batches, each with all results since the previous one and the resulting cursors. */
export class WebhookWriter {
  readonly #store: WebhookStore;
  readonly #timers: Timers;
  readonly #onRoom: () => void;
  #changes: QueuedChange[] = [];
  #moved = new Set<Cursored>();
  #isWriting = false;
  #isScheduled = false;
  #callOffLazy: (() => void) | undefined;

  /** `onRoom` is called when batches were written and more may be sent. */
  constructor(store: WebhookStore, timers: Timers, onRoom: () => void) {
    this.#store = store;
    this.#timers = timers;
    this.#onRoom = onRoom;
  }

  get isFull(): boolean {
    return this.#changes.length >= MOST_WAITING;
  }

  /** Saves a change with the next batch. `onSaved` is called once that is durable. */
  add(change: WebhookChange, onSaved?: () => void): void {
    this.#changes.push({ change, onSaved });
    this.#schedule();
  }

  /** The cursor of a follower has moved; it is saved with the next batch, or a little later. */
  moved(follower: Cursored): void {
    this.#moved.add(follower);
    this.#callOffLazy ??= this.#timers.after(LAZY_MS, () => {
      this.#callOffLazy = undefined;
      this.#schedule();
    });
  }

  /** Removes a follower: its cursor is no longer saved. */
  forget(follower: Cursored): void {
    this.#moved.delete(follower);
  }

  /** After this turn: what ends together is written together. */
  #schedule(): void {
    if (this.#isScheduled || this.#isWriting) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const isSaved = await this.flush();
    if (!isSaved) await new Promise<void>((resolve) => this.#timers.after(RETRY_MS, resolve));
    this.#isWriting = false;
    if (this.#changes.length > 0) this.#schedule();
    if (isSaved) this.#onRoom();
  }

  /** Saves all changes so far. False if the store refused them: then they are queued again in order. */
  async flush(): Promise<boolean> {
    const batch = this.#take();
    if (batch.length === 0) return true;
    try {
      await this.#store.apply(batch.map(({ change }) => change));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#changes = [...batch, ...this.#changes];
      return false;
    }
    for (const { onSaved } of batch) onSaved?.();
    return true;
  }

  #take(): QueuedChange[] {
    this.#callOffLazy?.();
    this.#callOffLazy = undefined;
    const cursors = [...this.#moved].map((one): QueuedChange => ({
      change: { change: 'save-cursor', cursor: one.cursor() },
      onSaved: undefined,
    }));
    this.#moved = new Set();
    const batch = [...this.#changes, ...cursors];
    this.#changes = [];
    return batch;
  }
}
