import { Instant, TradingDate } from '@sandpit/core';
import type { Price, UsualDay } from '@sandpit/core';

/** Recorded days of which figures are the average. */
const DAYS = 20;
/** Returns needed for a volatility. */
const LEAST_RETURNS = 5;
/** Larger moves of a day are splits, which recorded prices are not adjusted for. */
const LARGEST_RETURN = 0.4;
const DAY_MS = 86_400_000;
/** From midnight UTC of a date to its night in New York, between two sessions. */
const NIGHT_MS = 6 * 3_600_000;
/** Decimals of a volatility: journals carry it. */
const VOLATILITY_PARTS = 1e6;

interface Stretch extends UsualDay {
  /** The night after the last day that the figures include. */
  readonly from: Instant;
}

/**
 * Average volume and volatility of one symbol over each 20 recorded days. They are in force from the next day until those of the next 20
 * days are, so that no simulation knows its future (D209).
 */
export class UsualDays {
  readonly #stretches: Stretch[] = [];
  #date = '';
  #days = 0;
  #volume = 0;
  #returns = 0;
  #squares = 0;
  #close: Price | undefined;
  #latest: (() => Price | undefined) | undefined;

  /**
   * Adds a row of trades; dates must not go back, and rows of an earlier one are ignored. `close` returns its closing price, and is called
   * for the last row of a day only.
   */
  add(date: string, volume: number, close: () => Price | undefined): void {
    if (date < this.#date) return;
    if (date > this.#date) this.#begin(date);
    this.#volume += volume;
    this.#latest = close;
  }

  /** The figures in force; undefined until there are 20 days before. */
  at(at: Instant): UsualDay | undefined {
    const stretches = this.#stretches;
    let low = 0;
    let high = stretches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((stretches[middle]?.from ?? Infinity) <= at) low = middle + 1;
      else high = middle;
    }
    const found = stretches[low - 1];
    return found && { volume: found.volume, volatility: found.volatility };
  }

  #begin(date: string): void {
    this.#endDay();
    this.#date = date;
    if (this.#days < DAYS) return;
    const volume = Math.round(this.#volume / this.#days);
    const volatility =
      this.#returns < LEAST_RETURNS
        ? 0
        : Math.round(Math.sqrt(this.#squares / this.#returns) * VOLATILITY_PARTS) / VOLATILITY_PARTS;
    const day = TradingDate.parse(date);
    if (volume > 0 && volatility > 0 && day !== undefined)
      this.#stretches.push({
        from: Instant.ofMs(TradingDate.dayOf(day) * DAY_MS + NIGHT_MS),
        volume,
        volatility,
      });
    this.#days = this.#volume = this.#returns = this.#squares = 0;
  }

  #endDay(): void {
    if (this.#date === '') return;
    this.#days += 1;
    const before = this.#close;
    const close = this.#latest?.();
    this.#close = close;
    if (before === undefined || close === undefined) return;
    const change = Math.log(close / before);
    if (Math.abs(change) > LARGEST_RETURN) return;
    this.#returns += 1;
    this.#squares += change * change;
  }
}
