import type { MarketChange } from './market-change.js';
import { Slice } from '../scheduling/slice.js';

/** Quotes of a change from which on its processing does not begin in the turn of its decision. */
const LONG_CHANGE = 100;

/** A cell, as the market that it follows knows it. */
export interface Follower {
  readonly isOutOfService: boolean;
  /** Queues a change that the follower processes before it decides or shows anything else. */
  offer(change: MarketChange): void;
  /** Resolves when it has processed its queue, durably. */
  apply(): Promise<void>;
  /** The clock runs at another speed. */
  clockChanged(): void;
}

/** Cells that follow a market. */
export class Followers<F extends Follower> {
  readonly #followers = new Set<F>();
  #applied: Promise<void> = Promise.resolve();

  add(follower: F): void {
    this.#followers.add(follower);
  }

  delete(follower: F): void {
    this.#followers.delete(follower);
  }

  /** Passes a change to all followers in the turn in which the market recorded it. Its processing starts then, or a slice later. */
  hand(change: MarketChange): void {
    if (this.#followers.size === 0) return;
    const followers = [...this.#followers];
    for (const follower of followers) follower.offer(change);
    this.#applied = applyAll(followers, change.quotes.length >= LONG_CHANGE);
    this.#applied.catch(() => undefined);
  }

  clockChanged(): void {
    for (const follower of this.#followers) follower.clockChanged();
  }

  /** Resolves when all followers have processed all changes so far; those that could not are asked again. Rejects with `StoreUnavailable`. */
  applied(): Promise<void> {
    return this.#applied.catch(() => (this.#applied = applyAll([...this.#followers])));
  }

  get size(): number {
    return this.#followers.size;
  }

  get all(): Iterable<F> {
    return this.#followers;
  }
}

async function applyAll(followers: readonly Follower[], isLong = false): Promise<void> {
  const slice = new Slice();
  if (isLong) await slice.yield();
  const durable: Promise<void>[] = [];
  for (const follower of followers) {
    if (follower.isOutOfService) continue;
    const applied = follower.apply();
    applied.catch(() => undefined);
    durable.push(applied);
    await slice.breathe();
  }
  const failed = (await Promise.allSettled(durable)).find(
    (one, index) => one.status === 'rejected' && followers[index]?.isOutOfService !== true,
  );
  if (failed?.status === 'rejected') throw failed.reason;
}
