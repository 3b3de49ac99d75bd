import type { Quote } from '@sandpit/protocol';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { PerFrame } from '../load.ts';
import { followStream } from './stream.ts';

/** Quotes that components subscribe to individually, so that a quote redraws only its own components. */
export class QuoteFeed {
  readonly #latest = new Map<string, Quote>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #changed = new Set<string>();
  readonly #show = new PerFrame(() => {
    const symbols = [...this.#changed];
    this.#changed.clear();
    for (const symbol of symbols) for (const listener of this.#listeners.get(symbol) ?? []) listener();
  });

  get(symbol: string): Quote | undefined {
    return this.#latest.get(symbol);
  }

  take(quote: Quote): void {
    this.#latest.set(quote.symbol, quote);
    this.#changed.add(quote.symbol);
    this.#show.ask();
  }

  /** Calls after changes of a symbol, at most twenty times a second. */
  on(symbol: string, listener: () => void): () => void {
    const all = this.#listeners.get(symbol) ?? new Set();
    this.#listeners.set(symbol, all);
    all.add(listener);
    return () => all.delete(listener);
  }
}

/** One stream for these symbols; the feed stays the same while they change. */
export function useQuoteFeed(symbols: readonly string[]): QuoteFeed {
  const broker = useBroker();
  const feed = useMemo(() => new QuoteFeed(), [broker]);
  const asked = [...new Set(symbols)]
    .filter((one) => one !== '')
    .sort()
    .join(',');
  useEffect(() => {
    if (asked === '') return undefined;
    return followStream('quotes', (options) => broker.quoteEvents(asked.split(','), options), {
      onEvent: ({ eventId: _eventId, ...quote }) => feed.take(quote),
    });
  }, [feed, asked]);
  return feed;
}

/** The latest quote of a symbol. */
export function useQuote(feed: QuoteFeed, symbol: string): Quote | undefined {
  const [, redraw] = useState(0);
  useEffect(() => feed.on(symbol, () => redraw((count) => count + 1)), [feed, symbol]);
  return feed.get(symbol);
}

/** Follows the quotes of several symbols, such as the legs of a spread. */
export function useQuotesOf(feed: QuoteFeed, symbols: readonly string[]): readonly (Quote | undefined)[] {
  const [, redraw] = useState(0);
  const key = symbols.join(',');
  useEffect(() => {
    const ends = symbols.map((symbol) => feed.on(symbol, () => redraw((count) => count + 1)));
    return () => {
      for (const end of ends) end();
    };
  }, [feed, key]);
  return symbols.map((symbol) => feed.get(symbol));
}
