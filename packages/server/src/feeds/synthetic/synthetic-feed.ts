import { setImmediate as nextTurn } from 'node:timers/promises';
import { Instant } from '@sandpit/core';
import type { Bar, CorporateAction, Listing, Quote } from '@sandpit/core';
import { MINUTE_MS } from '../bar-window.js';
import { catalogEntry } from '../catalog.js';
import type { BarQuery, Feed, MarketEvent } from '../feed.js';
import { SECOND_MS, daysBackwards, tradeDaysBackwards } from '../open-hours.js';
import { SYNTHETIC_LISTING } from './listing.js';
import { PriceModel } from './price-model.js';
import { groupsOf, nextOf, secondInForce } from './quoted.js';
import type { HoursGroup } from './quoted.js';
import { syntheticBars } from './synthetic-bars.js';
import { SyntheticMarket } from './synthetic-market.js';
import type { MarketTerms } from './synthetic-market.js';
import { VolumeProfile } from './volume-profile.js';

export interface SyntheticFeedOptions {
  readonly seed: MarketTerms['seed'];
  /** Points where forks continue with another seed. */
  readonly reseeded?: MarketTerms['reseeded'];
  /** Behavior of the market; absent = the usual one. */
  readonly regime?: MarketTerms['regime'];
  /** Calendar of the days with quotes. */
  readonly calendar: MarketTerms['calendar'];
  /** Rate at which options and futures are valued: continuous, a year. */
  readonly riskFreeRate: MarketTerms['riskFreeRate'];
}

/** Longer spans have quotes by the minute. */
const LONGEST_SPAN_BY_THE_SECOND_MS = 3_600_000;
/** Quotes between two turns of the event loop, so that a long advance does not delay requests. */
const QUOTES_PER_TURN = 512;

/**
 * Synthetic quotes: a pure function of (seed, symbol, second). There is no state to store or to iterate, so any instant can be computed at
 * any time, and an idle simulation costs nothing.
 */
export class SyntheticFeed implements Feed {
  readonly kind = 'synthetic';
  private readonly terms: MarketTerms;
  private market: SyntheticMarket;

  constructor({ seed, reseeded, regime, calendar, riskFreeRate }: SyntheticFeedOptions) {
    this.terms = {
      seed: typeof seed === 'number' ? seed | 0 : seed,
      ...(reseeded !== undefined && { reseeded }),
      ...(regime !== undefined && { regime }),
      calendar,
      riskFreeRate,
    };
    this.market = new SyntheticMarket(this.terms);
  }

  listing(): Listing {
    return SYNTHETIC_LISTING;
  }

  corporateActions(): readonly CorporateAction[] {
    return [];
  }

  /** Outside the sessions: the last quote before the close, with the instant it had. */
  quoteAt(symbol: string, at: Instant): Quote | undefined {
    const quoted = this.market.find(symbol, at);
    return quoted?.quoteAt(secondInForce(quoted, at));
  }

  quotedAt(symbol: string, at: Instant): Instant | undefined {
    const quoted = this.market.find(symbol, at);
    return quoted && Instant.ofMs(secondInForce(quoted, at) * SECOND_MS);
  }

  /**
   * A span of up to an hour has an event at each second of (after, until] in which a session is open. A longer one
   * has one at each full minute, and at the last second of each regular and each extended session, so that the
   * closing quote is never missing.
   */
  async *events(
    after: Instant,
    until: Instant,
    symbols: ReadonlySet<string>,
    since = after,
  ): AsyncGenerator<MarketEvent> {
    const all = [...symbols]
      .sort()
      .map((symbol) => this.market.find(symbol, until))
      .filter((quoted) => quoted !== undefined);
    const stepMs = until - since <= LONGEST_SPAN_BY_THE_SECOND_MS ? SECOND_MS : MINUTE_MS;
    const groups = groupsOf(all, after, until, stepMs);
    const eventsPerTurn = Math.max(1, Math.floor(QUOTES_PER_TURN / all.length));
    for (let count = 1; ; count++) {
      const told = earliest(groups);
      const at = told[0]?.next;
      if (at === undefined) return;
      const quotes: Quote[] = [];
      for (const group of told) {
        for (const one of group.members) {
          if (one.endsAt === undefined || at < one.endsAt) quotes.push(one.quoteAt(at / SECOND_MS));
        }
        group.next = nextOf(group.instants);
      }
      if (told.length > 1) quotes.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
      if (quotes.length > 0) yield { at, quotes };
      if (count % eventsPerTurn === 0) await nextTurn();
    }
  }

  /** A synthetic feed has no open interest. */
  openInterest(): undefined {
    return undefined;
  }

  /** Ignored: it has quotes of its own. */
  record(): void {
    return;
  }

  /** Shares, indices and futures have bars; options have quotes alone. */
  async bars(query: BarQuery): Promise<readonly Bar[]> {
    const { symbol } = query;
    const { seed, calendar } = this.terms;
    const entry = catalogEntry(symbol);
    // Separate models: those that `events` uses keep their positions.
    if (entry !== undefined) {
      const volumes = new VolumeProfile(seed, symbol, entry.equity.averageDailyVolume);
      return syntheticBars(query, new PriceModel(this.terms, entry), volumes, (from, until) =>
        daysBackwards(calendar, from, until),
      );
    }
    const traded = new SyntheticMarket(this.terms).pathOfDerived(symbol, query.until);
    if (traded === undefined) return [];
    const until = traded.endsAt === undefined ? query.until : Instant.min(query.until, traded.endsAt);
    const volumes = new VolumeProfile(seed, symbol, traded.dailyVolume);
    return syntheticBars({ ...query, until }, traded, volumes, (from, end) =>
      // A market that never closes has the days of the calendar.
      calendar.id === 'always-open'
        ? daysBackwards(calendar, from, end)
        : tradeDaysBackwards(traded.hours, from, end),
    );
  }

  close(): Promise<void> {
    this.market = new SyntheticMarket(this.terms);
    return Promise.resolve();
  }
}

/** Paths with the earliest next instant; a single path needs no comparison. */
function earliest(groups: readonly HoursGroup[]): readonly HoursGroup[] {
  if (groups.length === 1) return groups;
  const at = groups.reduce((least, { next }) => Math.min(least, next ?? Infinity), Infinity);
  return groups.filter(({ next }) => next === at);
}
