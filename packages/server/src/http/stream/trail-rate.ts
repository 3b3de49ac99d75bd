import type { OrderTerms } from '@sandpit/core';

const SECOND_MS = 1000;
/** Updates of trailing stops in a second, of all orders of a portfolio. */
const MOST_OF_PORTFOLIO = 100;

/** Limits the rate of trailing-stop updates: once a second an order, 100 times a second a portfolio (D215). */
export class TrailRate {
  #second = Number.NEGATIVE_INFINITY;
  /** Times of the latest updates, by order. */
  #orders = new Map<number, number>();
  /** Updates in this second, by portfolio. */
  readonly #portfolios = new Map<string, number>();

  /** Counts an update; true if it may be sent. */
  admit({ number, portfolioId }: Pick<OrderTerms, 'number' | 'portfolioId'>, nowMs: number): boolean {
    this.#forget(nowMs);
    const told = this.#portfolios.get(portfolioId) ?? 0;
    const last = this.#orders.get(number);
    if (told >= MOST_OF_PORTFOLIO || (last !== undefined && nowMs - last < SECOND_MS)) return false;
    this.#portfolios.set(portfolioId, told + 1);
    this.#orders.set(number, nowMs);
    return true;
  }

  /** Starts a new second. A clock that was set back starts one as well. */
  #forget(nowMs: number): void {
    if (nowMs >= this.#second && nowMs - this.#second < SECOND_MS) return;
    this.#second = nowMs;
    this.#portfolios.clear();
    this.#orders = new Map([...this.#orders].filter(([, at]) => at <= nowMs && nowMs - at < SECOND_MS));
  }
}
