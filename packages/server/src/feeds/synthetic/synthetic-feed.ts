import { setImmediate as nextTurn } from 'node:timers/promises';
import { Instant } from '@sandpit/core';
import type { Bar, Calendar, CorporateAction, Listing, Quote, TradingDay } from '@sandpit/core';
import { MINUTE_MS } from '../bar-window.js';
import { CATALOGUE, catalogueEntry } from '../catalogue.js';
import type { BarQuery, Feed, MarketEvent } from '../feed.js';
import { SECOND_MS, daysBetween, lastOpenSecond } from '../open-hours.js';
import { PriceModel } from './price-model.js';
import { syntheticBars } from './synthetic-bars.js';
import { VolumeProfile } from './volume-profile.js';

export interface SyntheticFeedOptions {
  /** A 32-bit integer. */
  readonly seed: number;
  /** When there are quotes at all. */
  readonly calendar: Calendar;
}

const index = (symbol: string, name: string) => ({ assetClass: 'INDEX', symbol, name }) as const;

/** D126. */
const LISTING: Listing = {
  instruments: [
    ...CATALOGUE.map((entry) => entry.equity),
    index('SPX', 'S&P 500'),
    index('XSP', 'Mini S&P 500'),
    index('NDX', 'Nasdaq-100'),
    index('RUT', 'Russell 2000'),
    index('VIX', 'Cboe Volatility Index'),
  ],
  hasOptions: true,
  futures: ['ES', 'MES', 'NQ', 'MNQ', 'RTY', 'M2K', 'YM', 'MYM', 'CL', 'GC', 'ZN'],
};

/** Longer spans are told by the minute. */
const LONGEST_SPAN_BY_THE_SECOND_MS = 3_600_000;
/** Events between two turns of the event loop, so that a long walk does not keep requests waiting. */
const EVENTS_PER_TURN = 512;

/**
 * Made-up quotes: a pure function of (seed, symbol, second). Nothing has to be stored or walked through, so any
 * instant can be asked at any time, and a simulation nobody looks at costs nothing.
 */
export class SyntheticFeed implements Feed {
  readonly kind = 'synthetic';
  private readonly seed: number;
  private readonly calendar: Calendar;
  /** Made when a symbol is first asked for: a model remembers its place on the path. */
  private readonly models = new Map<string, PriceModel>();

  constructor(options: SyntheticFeedOptions) {
    this.seed = options.seed | 0;
    this.calendar = options.calendar;
  }

  listing(): Listing {
    return LISTING;
  }

  corporateActions(): readonly CorporateAction[] {
    return [];
  }

  /** Outside the sessions: the last quote before the close, with the instant it had. */
  quoteAt(symbol: string, at: Instant): Quote | undefined {
    const model = this.modelOf(symbol);
    return model && this.quoteOf(model, lastOpenSecond(this.calendar, at));
  }

  /** At the close of a regular session the quote has the official close, that of the day's bar: the last price of its last second. */
  private quoteOf(model: PriceModel, at: Instant): Quote {
    const quote = model.quoteAt(at / SECOND_MS);
    if (!this.isRegularClose(at)) return quote;
    const { last } = model.quoteAt(at / SECOND_MS - 1);
    return last === undefined ? quote : { ...quote, close: last };
  }

  private isRegularClose(at: Instant): boolean {
    // Sessions end at full minutes: most seconds need no calendar.
    if (at % MINUTE_MS !== 0) return false;
    const date = this.calendar.dateOf(Instant.plusMs(at, -1));
    return this.calendar.tradingDay(date)?.regularClose === at;
  }

  /**
   * A span of up to an hour has an event at each second of (after, until] in which a session is open. A longer one
   * has one at each full minute, and at the last second of each regular and each extended session, so that the
   * closing quote is never missing.
   */
  async *events(after: Instant, until: Instant, symbols: ReadonlySet<string>): AsyncGenerator<MarketEvent> {
    const models = [...symbols]
      .sort()
      .map((symbol) => this.modelOf(symbol))
      .filter((model) => model !== undefined);
    if (models.length === 0) return;
    let count = 0;
    for (const at of instants(this.calendar, after, until)) {
      yield { at, quotes: models.map((model) => this.quoteOf(model, at)) };
      if (++count % EVENTS_PER_TURN === 0) await nextTurn();
    }
  }

  /** Quotes of its own: nothing to record. */
  record(): void {
    return;
  }

  async bars(query: BarQuery): Promise<readonly Bar[]> {
    const entry = catalogueEntry(query.symbol);
    if (!entry) return [];
    // A model of its own: the one that `events` walks keeps its place.
    const volumes = new VolumeProfile(this.seed, query.symbol, entry.equity.averageDailyVolume);
    return syntheticBars(query, new PriceModel(this.seed, entry), volumes, this.calendar);
  }

  close(): Promise<void> {
    this.models.clear();
    return Promise.resolve();
  }

  private modelOf(symbol: string): PriceModel | undefined {
    const known = this.models.get(symbol);
    if (known) return known;
    const entry = catalogueEntry(symbol);
    if (!entry) return undefined;
    const model = new PriceModel(this.seed, entry);
    this.models.set(symbol, model);
    return model;
  }
}

function* instants(calendar: Calendar, after: Instant, until: Instant): Generator<Instant> {
  const step = until - after <= LONGEST_SPAN_BY_THE_SECOND_MS ? SECOND_MS : MINUTE_MS;
  const from = Instant.plusMs(after, 1);
  const end = Instant.plusMs(until, 1);
  for (const day of daysBetween(calendar, from, end)) {
    const first = Math.ceil(Math.max(from, day.extendedOpen) / step) * step;
    const last = Math.min(end, day.extendedClose);
    for (let at = first; at < last; at += step) {
      yield Instant.ofMs(at);
      if (step > SECOND_MS) yield* lastSeconds(day, at, Math.min(at + step, last));
    }
    // The span may begin in the last minute of a session.
    if (step > SECOND_MS)
      yield* lastSeconds(day, Math.max(from, day.extendedOpen) - 1, Math.min(first, last));
  }
}

/** The last seconds of the sessions of `day` that lie strictly between two instants. */
function* lastSeconds(day: TradingDay, after: number, before: number): Generator<Instant> {
  const regular = day.regularClose - SECOND_MS;
  const extended = day.extendedClose - SECOND_MS;
  if (regular > after && regular < before) yield Instant.ofMs(regular);
  if (extended !== regular && extended > after && extended < before) yield Instant.ofMs(extended);
}
