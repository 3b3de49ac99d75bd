import { Instant, isUsable } from '@sandpit/core';
import type { Quote } from '@sandpit/core';
import { describe, expect, test } from 'vitest';
import { BAR_MS } from './bar-window.js';
import type { BarSize, Feed, MarketEvent } from './feed.js';

/** A feed and its data for the suite that every feed must pass. */
export interface FeedCase {
  readonly name: string;
  /** A new feed, as another process would make it; the same each time. */
  open(): Promise<Feed>;
  /** A span with something to report, on one grid with its halves. */
  readonly after: Instant;
  readonly until: Instant;
  readonly symbols: readonly string[];
  /** A bar size that the span has several of, and the position of events within a bar. */
  readonly bars: {
    readonly size: Exclude<BarSize, '1Day'>;
    readonly eventsLie: 'before its end' | 'up to its end';
  };
  /** For a push feed: its quotes, in (after, until]. Recorded before the bars are requested. */
  readonly pushed?: readonly Quote[];
}

export function feedContract(feedCase: FeedCase): void {
  const { after, until, symbols } = feedCase;
  const interest = new Set(symbols);
  const middle = Instant.ofMs(Math.floor((after + until) / 2 / 1000) * 1000);

  async function told(feed: Feed, from = after, to = until): Promise<MarketEvent[]> {
    const events: MarketEvent[] = [];
    for await (const event of feed.events(from, to, interest)) events.push(event);
    return events;
  }

  async function opened<T>(use: (feed: Feed) => Promise<T>): Promise<T> {
    const feed = await feedCase.open();
    try {
      feed.record(feedCase.pushed ?? []);
      return await use(feed);
    } finally {
      await feed.close();
    }
  }

  describe(`${feedCase.name}: the contract of feeds`, () => {
    test('lists each symbol once, including every symbol of its events', async () => {
      await opened((feed) => {
        const listed = feed.listing().instruments.map(({ symbol }) => symbol);
        expect(new Set(listed).size).toBe(listed.length);
        expect(listed).toEqual(expect.arrayContaining([...symbols]));
        return Promise.resolve();
      });
    });

    test('gives the same answer to the same question, in another process as well', async () => {
      const first = await opened(told);
      expect(await opened(told)).toEqual(first);
      if (!feedCase.pushed) expect(first.length).toBeGreaterThan(2);
    });

    test('reports events in (after, until], in order, with usable quotes', async () => {
      const events = await opened(told);
      const instants = events.map(({ at }) => at);
      expect(instants.filter((at, index) => at <= (instants[index - 1] ?? after) || at > until)).toEqual([]);
      expect(events.filter(({ quotes }) => quotes.length === 0)).toEqual([]);
      // A minute is known at its end and describes its last millisecond.
      const isOf = (quote: Quote, at: Instant): boolean =>
        quote.at <= at && at - quote.at <= 1 && isUsable(quote);
      expect(events.flatMap(({ at, quotes }) => quotes.filter((quote) => !isOf(quote, at)))).toEqual([]);
    });

    test('gives the same quotes in two halves as in one, continued or restarted', async () => {
      const whole = await opened(told);
      const halves = await opened(async (feed) => [
        ...(await told(feed, after, middle)),
        ...(await told(feed, middle, until)),
      ]);
      expect(halves).toEqual(whole);
      const second = await opened((feed) => told(feed, middle, until));
      expect(second).toEqual(whole.filter(({ at }) => at > middle));
    });

    test('continues after an interrupted read of a span', async () => {
      const whole = await opened(told);
      const parts = await opened(async (feed) => {
        const seen: MarketEvent[] = [];
        for await (const event of feed.events(after, until, interest)) {
          seen.push(event);
          if (seen.length === 2) break;
        }
        return [...seen, ...(await told(feed, seen.at(-1)?.at ?? after, until))];
      });
      expect(parts).toEqual(whole);
    });

    test('reports nothing for an empty span', async () => {
      expect(await opened((feed) => told(feed, middle, middle))).toEqual([]);
    });

    test('quotes in force, if it can compute them, are the latest reported ones', async () => {
      await opened(async (feed) => {
        const reported = (await told(feed)).flatMap(({ at, quotes }) =>
          quotes.map((quote) => ({ at, quote })),
        );
        const computed = reported.map(({ at, quote }) => feed.quoteAt(quote.symbol, at));
        expect(computed).toEqual(reported.map(({ quote }, index) => computed[index] && quote));
        const times = reported.map(({ at, quote }) => feed.quotedAt(quote.symbol, at));
        expect(times).toEqual(computed.map((quote) => quote?.at));
      });
    });

    test('builds bars from its reported quotes and trades', async () => {
      const { size, eventsLie } = feedCase.bars;
      const length = BAR_MS[size];
      await opened(async (feed) => {
        const quotes = feedCase.pushed ?? (await told(feed)).flatMap(inForce);
        for (const symbol of symbols) {
          const bars = await feed.bars({ symbol, size, from: after, until, limit: 1000 });
          expect(bars.length).toBeGreaterThan(2);
          for (const bar of bars) {
            const inside = quotes.filter((quote) => {
              const offset = quote.at - bar.at - (eventsLie === 'up to its end' ? 1 : 0);
              return quote.symbol === symbol && offset >= 0 && offset < length;
            });
            const trades = inside.map(({ last }) => last).filter((last) => last !== undefined);
            expect(trades.at(-1)).toBe(bar.close);
            expect(Math.max(...trades)).toBeLessThanOrEqual(bar.high);
            expect(Math.min(...trades)).toBeGreaterThanOrEqual(bar.low);
            expect(bar.volume).toBeGreaterThanOrEqual(0);
          }
        }
      });
    });

    test('bars are aligned, complete, ordered, and the latest ones with a limit', async () => {
      const { size } = feedCase.bars;
      const [symbol = ''] = symbols;
      await opened(async (feed) => {
        const all = await feed.bars({ symbol, size, from: after, until, limit: 1000 });
        all.forEach((bar, index) => {
          expect(bar.at % BAR_MS[size]).toBe(0);
          expect(bar.at).toBeGreaterThanOrEqual(after);
          expect(bar.at + BAR_MS[size]).toBeLessThanOrEqual(until);
          expect(bar.at).toBeGreaterThan(all[index - 1]?.at ?? 0);
        });
        expect(await feed.bars({ symbol, size, from: after, until, limit: 2 })).toEqual(all.slice(-2));
        expect(await feed.bars({ symbol, size, from: after, until, limit: 0 })).toEqual([]);
        const last = all.at(-1)!;
        const unfinished = Instant.ofMs(last.at + BAR_MS[size] - 1);
        expect(await feed.bars({ symbol, size, from: after, until: unfinished, limit: 1000 })).toEqual(
          all.slice(0, -1),
        );
      });
    });

    test('has no quotes for an unlisted symbol', async () => {
      await opened(async (feed) => {
        expect(feed.quoteAt('NOT.LISTED', until)).toBeUndefined();
        expect(feed.quotedAt('NOT.LISTED', until)).toBeUndefined();
        expect(
          await feed.bars({ symbol: 'NOT.LISTED', size: '1Min', from: after, until, limit: 10 }),
        ).toEqual([]);
      });
    });

    test('corporate actions come by ex-date', async () => {
      await opened((feed) => {
        const dates = feed.corporateActions().map(({ exDate }) => exDate);
        expect(dates).toEqual([...dates].sort());
        return Promise.resolve();
      });
    });
  });
}

/** The last quote of each symbol in an event: earlier ones were never in force. */
function inForce(event: MarketEvent): readonly Quote[] {
  return [...new Map(event.quotes.map((quote) => [quote.symbol, quote])).values()];
}
