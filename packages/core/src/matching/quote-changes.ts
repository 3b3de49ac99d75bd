/** What can be found again once its quote has changed. */
export interface Quoted {
  readonly symbol: string;
  /** When its quote changed last, counted in changes; 0 = it never did. */
  changedAt: number;
  /** Its neighbours in the order of changes. */
  changedBefore: Quoted | undefined;
  changedAfter: Quoted | undefined;
}

/**
 * Which quotes have changed since somebody looked: each symbol once, in the order of its latest change. To note one costs a handful of
 * assignments, however many follow it; who looks pays for what has changed since then.
 */
export class QuoteChanges {
  #latest: Quoted | undefined;
  #count = 0;

  /** Changes so far: what to ask `since` with later. */
  get count(): number {
    return this.#count;
  }

  note(quoted: Quoted): void {
    quoted.changedAt = ++this.#count;
    if (this.#latest === quoted) return;
    const { changedBefore: before, changedAfter: after } = quoted;
    if (before !== undefined) before.changedAfter = after;
    if (after !== undefined) after.changedBefore = before;
    quoted.changedBefore = this.#latest;
    quoted.changedAfter = undefined;
    if (this.#latest !== undefined) this.#latest.changedAfter = quoted;
    this.#latest = quoted;
  }

  /** The symbols whose quotes have changed since there were so many changes, the latest first. */
  *since(count: number): Iterable<string> {
    for (let at = this.#latest; at !== undefined && at.changedAt > count; at = at.changedBefore)
      yield at.symbol;
  }
}
