import { Instant } from '@sandpit/core';
import type { Bar, Calendar, Quote } from '@sandpit/core';
import { BAR_MS, BarCollector, latest, MINUTE_MS, windowAt } from '../bar-window.js';
import type { BarQuery } from '../feed.js';
import { failureText, type LiveSource } from './source.js';

/** Lifetime of bars from the source. */
const KEPT_MS = 10_000;
const MOST_KEPT = 200;
/** Minute bars of the stream that are kept for a symbol. */
const MINUTES_KEPT = 1000;
const UNITS_PER_SHARE = 1e6;

/** Bars of a source: requested, and completed by the minutes received from its stream since (D184). */
export class BarCache {
  readonly #source: LiveSource;
  readonly #calendar: Calendar;
  readonly #note: (text: string) => void;
  readonly #minutes = new Map<string, Bar[]>();
  readonly #asked = new Map<string, { readonly atMs: number; readonly bars: Promise<readonly Bar[]> }>();

  constructor(source: LiveSource, calendar: Calendar, note: (text: string) => void) {
    this.#source = source;
    this.#calendar = calendar;
    this.#note = note;
  }

  /** A trade of the stream, which is the `last` of a quote. */
  note({ symbol, last, lastSize }: Quote, received: Instant): void {
    if (last === undefined) return;
    const start = Instant.ofMs(Math.floor(received / MINUTE_MS) * MINUTE_MS);
    const volume = Math.round((lastSize ?? 0) / UNITS_PER_SHARE);
    let minutes = this.#minutes.get(symbol);
    if (minutes === undefined) this.#minutes.set(symbol, (minutes = []));
    const running = minutes.at(-1);
    if (running?.at === start) {
      minutes[minutes.length - 1] = {
        ...running,
        high: last > running.high ? last : running.high,
        low: last < running.low ? last : running.low,
        close: last,
        volume: running.volume + volume,
      };
      return;
    }
    minutes.push({ symbol, at: start, open: last, high: last, low: last, close: last, volume });
    if (minutes.length > MINUTES_KEPT) minutes.splice(0, minutes.length - MINUTES_KEPT);
  }

  async bars(query: BarQuery): Promise<readonly Bar[]> {
    const told = await this.#ask(query);
    if (query.size === '1Day') {
      const complete = told.filter((bar) => {
        const day = windowAt('1Day', bar.at, this.#calendar);
        return day !== undefined && bar.at >= query.from && day.end <= query.until;
      });
      return latest(complete, query.limit);
    }
    const collector = new BarCollector(query, this.#calendar);
    for (const bar of told) collector.add(bar);
    const toldUntil = (told.at(-1)?.at ?? Instant.earliest) + BAR_MS[query.size];
    for (const bar of this.#minutes.get(query.symbol) ?? []) if (bar.at >= toldUntil) collector.add(bar);
    return collector.bars();
  }

  close(): void {
    this.#asked.clear();
  }

  /** Minute bars, or those of days. Empty if the source does not respond. */
  #ask(query: BarQuery): Promise<readonly Bar[]> {
    const until = Math.ceil(query.until / MINUTE_MS);
    const key = [query.symbol, query.size, query.from, until, query.limit].join(' ');
    const kept = this.#asked.get(key);
    const nowMs = performance.now();
    if (kept !== undefined && nowMs - kept.atMs < KEPT_MS) return kept.bars;
    for (const [other, { atMs }] of this.#asked)
      if (nowMs - atMs >= KEPT_MS || this.#asked.size > MOST_KEPT) this.#asked.delete(other);
    const bars = this.#source.bars(query).catch((error: unknown) => {
      this.#note(`No bars of ${query.symbol}: ${failureText(error)}`);
      return [];
    });
    this.#asked.set(key, { atMs: nowMs, bars });
    return bars;
  }
}
