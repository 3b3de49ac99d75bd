import type { StoredAnswer } from './journal.js';

/** Expired answers that are removed when one is added. */
const REMOVED_AT_ONCE = 4;

/** Answers in memory, by what they are found by. */
export class MemoryAnswers {
  /** In the order in which they were added, which is nearly that in which they expire. */
  readonly #answers = new Map<string, StoredAnswer>();
  /** Lookups of the answers that end with a simulation. */
  readonly #owned = new Map<string, Set<string>>();
  readonly #onRemoved: (answer: StoredAnswer) => void;

  /** `onRemoved` receives each answer that is removed or replaced. */
  constructor(onRemoved: (answer: StoredAnswer) => void = () => undefined) {
    this.#onRemoved = onRemoved;
  }

  /** `nowMs`: wall-clock; answers that have expired by then are removed, a few at a time. */
  save(answer: StoredAnswer, nowMs: number): void {
    const lookup = lookupOf(answer.tenantId, answer.simulationId, answer.route, answer.key);
    this.#remove(lookup);
    this.#answers.set(lookup, answer);
    const { endsWith } = answer;
    if (endsWith !== undefined) {
      const owned = this.#owned.get(endsWith) ?? new Set();
      this.#owned.set(endsWith, owned.add(lookup));
    }
    let removed = 0;
    for (const [oldest, { expiresAt }] of this.#answers) {
      if (expiresAt > nowMs || removed === REMOVED_AT_ONCE) return;
      this.#remove(oldest);
      removed += 1;
    }
  }

  find(
    tenantId: string,
    simulationId: string,
    route: string,
    key: string,
    nowMs: number,
  ): StoredAnswer | undefined {
    if (this.#answers.size === 0) return undefined;
    const found = this.#answers.get(lookupOf(tenantId, simulationId, route, key));
    return found === undefined || found.expiresAt <= nowMs ? undefined : found;
  }

  /** Removes those that end with a simulation. */
  endSimulation(simulationId: string): void {
    for (const lookup of this.#owned.get(simulationId) ?? []) this.#remove(lookup);
    this.#owned.delete(simulationId);
  }

  deleteOf(tenantId: string): void {
    for (const [lookup, answer] of this.#answers) if (answer.tenantId === tenantId) this.#remove(lookup);
  }

  #remove(lookup: string): void {
    const answer = this.#answers.get(lookup);
    if (answer === undefined) return;
    this.#answers.delete(lookup);
    if (answer.endsWith !== undefined) this.#owned.get(answer.endsWith)?.delete(lookup);
    this.#onRemoved(answer);
  }
}

const lookupOf = (...parts: readonly string[]): string => JSON.stringify(parts);
