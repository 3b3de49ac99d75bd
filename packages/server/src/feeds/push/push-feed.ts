import { Instant, markOf } from '@sandpit/core';
import type { Bar, Calendar, CorporateAction, Listing, Quote } from '@sandpit/core';
import { BarCollector, latest, latestRegularSession, windowAt } from '../bar-window.js';
import { CATALOG } from '../catalog.js';
import type { BarQuery, Feed, MarketEvent } from '../feed.js';
import { BarRing } from './bar-ring.js';

export interface PushFeedOptions {
  /** Defines trading days. */
  readonly calendar: Calendar;
}

const LISTING: Listing = { instruments: CATALOG.map((entry) => entry.equity) };
/** Two days around the clock; with hourly pushes much longer. */
const MINUTES_KEPT = 2880;
/** Two years. */
const DAYS_KEPT = 504;
const UNITS_PER_SHARE = 1e6;

/** A feed without quotes of its own: quotes are pushed through the API. */
export class PushFeed implements Feed {
  readonly kind = 'push';
  private readonly calendar: Calendar;
  private readonly minutes = new Map<string, BarRing>();
  private readonly days = new Map<string, BarRing>();

  constructor(options: PushFeedOptions) {
    this.calendar = options.calendar;
  }

  listing(): Listing {
    return LISTING;
  }

  corporateActions(): readonly CorporateAction[] {
    return [];
  }

  /** The latest quote pushed is the one in force, and the engine has it. */
  quoteAt(): undefined {
    return undefined;
  }

  quotedAt(): undefined {
    return undefined;
  }

  events(): readonly MarketEvent[] {
    return [];
  }

  /** A pushed market has no open interest. */
  openInterest(): undefined {
    return undefined;
  }

  /** Volumes of the day's bars of pushed quotes. */
  contractVolumes(at: Instant): Promise<(symbol: string) => number | undefined> {
    const { start } = latestRegularSession(at, this.calendar);
    return Promise.resolve(
      (symbol) =>
        this.days
          .get(symbol)
          ?.list()
          .findLast((bar) => bar.at === start)?.volume,
    );
  }

  /** Adds quotes to the bars: at the last trade if a quote has one, otherwise at its mark and without volume. */
  record(quotes: readonly Quote[]): void {
    for (const quote of quotes) {
      const price = markOf(quote);
      if (price === undefined) continue;
      const traded = quote.last ?? price;
      const volume = quote.last === undefined ? 0 : Math.round((quote.lastSize ?? 0) / UNITS_PER_SHARE);
      const minute = windowAt('1Min', quote.at, this.calendar);
      if (minute) ringOf(this.minutes, quote.symbol, MINUTES_KEPT).add(quote.symbol, minute, traded, volume);
      const day = windowAt('1Day', quote.at, this.calendar);
      if (day) ringOf(this.days, quote.symbol, DAYS_KEPT).add(quote.symbol, day, traded, volume);
    }
  }

  bars(query: BarQuery): Promise<readonly Bar[]> {
    if (query.limit <= 0) return Promise.resolve([]);
    if (query.size === '1Day') {
      const days = this.days.get(query.symbol)?.list() ?? [];
      return Promise.resolve(
        latest(
          days.filter((bar) => this.isAskedFor(bar, query)),
          query.limit,
        ),
      );
    }
    const collector = new BarCollector(query, this.calendar);
    for (const bar of this.minutes.get(query.symbol)?.list() ?? []) collector.add(bar);
    return Promise.resolve(collector.bars());
  }

  close(): Promise<void> {
    this.minutes.clear();
    this.days.clear();
    return Promise.resolve();
  }

  private isAskedFor(bar: Bar, query: BarQuery): boolean {
    const end = windowAt('1Day', bar.at, this.calendar)?.end ?? Instant.ofMs(Number.POSITIVE_INFINITY);
    return bar.at >= query.from && end <= query.until;
  }
}

function ringOf(rings: Map<string, BarRing>, symbol: string, capacity: number): BarRing {
  let ring = rings.get(symbol);
  if (!ring) rings.set(symbol, (ring = new BarRing(capacity)));
  return ring;
}
