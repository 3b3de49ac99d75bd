import { StoreUnavailable } from '../store/journal.js';
import type { WebhookChange, WebhookCursor, WebhookStore } from '../store/webhooks.js';
import type { Timers } from './timers.js';

/** Delay before changes that the store refused are written again. */
const RETRY_MS = 1000;
/** A cursor that has moved past events of no interest is saved within this time. */
const LAZY_MS = 10_000;
/** Maximum number of changes waiting for the store; with more, sending pauses until it has caught up. */
const MOST_WAITING = 2000;

interface QueuedChange {
  readonly change: WebhookChange;
  readonly onSaved?: (() => void) | undefined;
}

/** Its cursor is read when it is written. */
interface Cursored {
  readonly cursor: WebhookCursor;
}

/** Saves the results of tries, and the cursors behind them: together with the next commit of the store, or at most ten times a second. */
export class ResultWriter {
  readonly #store: WebhookStore;
  readonly #timers: Timers;
  readonly #onRoom: () => void;
  #changes: QueuedChange[] = [];
  #moved = new Set<Cursored>();
  /** Writes are sequential: a refused one is repeated before the next. */
  #last: Promise<void> = Promise.resolve();
  #isScheduled = false;
  #callOffLazy: (() => void) | undefined;

  /** `onRoom` is called when changes were written and more may be sent. */
  constructor(store: WebhookStore, timers: Timers, onRoom: () => void) {
    this.#store = store;
    this.#timers = timers;
    this.#onRoom = onRoom;
  }

  get isFull(): boolean {
    return this.#changes.length >= MOST_WAITING;
  }

  /** `onSaved` is called once the change is durable. */
  add(change: WebhookChange, onSaved?: () => void): void {
    this.#changes.push({ change, onSaved });
    this.#schedule();
  }

  /** The cursor of a follower has moved; it is saved with the next change, or a little later. */
  moved(follower: Cursored): void {
    this.#moved.add(follower);
    this.#callOffLazy ??= this.#timers.after(LAZY_MS, () => this.#schedule());
  }

  /** The cursor of a follower is no longer saved. */
  forget(follower: Cursored): void {
    this.#moved.delete(follower);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#last = this.#last.then(() => this.#write((take) => this.#store.applySoon(take)));
  }

  /** Saves everything so far, now. What the store refuses stays queued. */
  flush(): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#changes.length > 0 || this.#moved.size > 0)
        await this.#write((take) => this.#store.apply(take()));
    });
    return this.#last;
  }

  async #write(apply: (take: () => readonly WebhookChange[]) => Promise<void>): Promise<void> {
    let batch: readonly QueuedChange[] = [];
    const wasFull = this.isFull;
    try {
      await apply(() => {
        batch = this.#take();
        return batch.map(({ change }) => change);
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#changes = [...batch, ...this.#changes];
      this.#isScheduled = true;
      this.#timers.after(RETRY_MS, () => {
        this.#isScheduled = false;
        this.#schedule();
      });
      return;
    }
    for (const { onSaved } of batch) onSaved?.();
    if (wasFull) this.#onRoom();
  }

  #take(): readonly QueuedChange[] {
    this.#isScheduled = false;
    this.#callOffLazy?.();
    this.#callOffLazy = undefined;
    const cursors = [...this.#moved].map(({ cursor }): QueuedChange => ({
      change: { change: 'save-cursor', cursor },
    }));
    const batch = [...this.#changes, ...cursors];
    this.#moved = new Set();
    this.#changes = [];
    return batch;
  }
}
