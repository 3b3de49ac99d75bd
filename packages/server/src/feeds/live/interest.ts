import { INTEREST_RANKS, type InterestRank } from '../live-feed.js';

/** Time for which a query keeps a symbol subscribed (D182). */
const QUESTION_MS = 600_000;
/** An open stream queries ten times a second, and an order is found at the next check: after this time a symbol has neither. */
const HIGHER_MS = 5_000;

interface Wanted {
  rank: number;
  /** On the monotonic clock, ms: the first question and the latest. */
  readonly since: number;
  askedAt: number;
}

const rankOf = (rank: InterestRank): number => INTEREST_RANKS.indexOf(rank);
const QUESTION = rankOf('QUESTION');

/**
 * The requested symbols of one stream, ranked, within the limit of a plan (D182). A symbol beyond the limit replaces one of lower rank;
 * among equals the first one stays.
 */
export class Interest {
  readonly #wanted = new Map<string, Wanted>();
  #standing: ReadonlyMap<string, number> = new Map();
  #limit: number;

  constructor(limit = Infinity) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  /** The source allows fewer than was thought. */
  lower(limit: number): void {
    this.#limit = Math.max(0, Math.min(this.#limit, limit));
  }

  /** Replaces the symbols with orders and positions. */
  stand(standing: Iterable<readonly [string, InterestRank]>): void {
    const ranks = new Map<string, number>();
    for (const [symbol, rank] of standing)
      ranks.set(symbol, Math.min(rankOf(rank), ranks.get(symbol) ?? QUESTION));
    this.#standing = ranks;
  }

  /** Adds a question. False when every symbol of the plan is needed at least as much. */
  ask(symbol: string, rank: InterestRank, nowMs: number): boolean {
    const asked = rankOf(rank);
    const before = this.#wanted.get(symbol);
    if (before === undefined) this.#wanted.set(symbol, { rank: asked, since: nowMs, askedAt: nowMs });
    else {
      before.rank = Math.min(before.rank, asked);
      before.askedAt = nowMs;
    }
    if (this.#isWithinLimit()) return true;
    if (this.chosen(nowMs).has(symbol)) return true;
    this.#wanted.delete(symbol);
    return false;
  }

  /** The symbols to subscribe, at most the limit. */
  chosen(nowMs: number): ReadonlySet<string> {
    this.#forget(nowMs);
    const all = new Set([...this.#standing.keys(), ...this.#wanted.keys()]);
    if (all.size <= this.#limit) return all;
    const ranked = [...all].sort((a, b) => this.#rank(a) - this.#rank(b) || this.#since(a) - this.#since(b));
    return new Set(ranked.slice(0, this.#limit));
  }

  #isWithinLimit(): boolean {
    if (this.#limit === Infinity) return true;
    let size = this.#standing.size;
    for (const symbol of this.#wanted.keys()) if (!this.#standing.has(symbol)) size += 1;
    return size <= this.#limit;
  }

  #rank(symbol: string): number {
    return Math.min(this.#standing.get(symbol) ?? QUESTION, this.#wanted.get(symbol)?.rank ?? QUESTION);
  }

  #since(symbol: string): number {
    return this.#wanted.get(symbol)?.since ?? 0;
  }

  #forget(nowMs: number): void {
    for (const [symbol, wanted] of this.#wanted) {
      const sinceAsked = nowMs - wanted.askedAt;
      if (sinceAsked > QUESTION_MS) this.#wanted.delete(symbol);
      else if (sinceAsked > HIGHER_MS) wanted.rank = QUESTION;
    }
  }
}
