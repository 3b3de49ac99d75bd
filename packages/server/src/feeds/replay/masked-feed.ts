import type { Bar, CorporateAction, Equity, Instant, Listing, Quote } from '@sandpit/core';
import type { BarQuery, Feed, HaltNews, MarketEvent } from '../feed.js';
import { Mask, NotMaskable } from '../mask.js';
import type { MaskTerms } from '../mask.js';
import type { ReplayFeed } from './replay-feed.js';

/** A masked recording (D209): no byte of its results is a recorded ticker, date or price. */
export class MaskedFeed implements Feed {
  readonly kind = 'replay';
  readonly mask: Mask;
  readonly #recorded: ReplayFeed;
  readonly #listing: Listing;

  /** Throws `NotMaskable`. */
  constructor(recorded: ReplayFeed, terms: MaskTerms) {
    const { instruments, since } = recorded.listing();
    const equities: Equity[] = [];
    for (const instrument of instruments) {
      if (instrument.assetClass !== 'EQUITY') throw new NotMaskable();
      equities.push(instrument);
    }
    for (const { type } of recorded.corporateActions())
      if (type !== 'SPLIT' && type !== 'CASH_DIVIDEND')
        throw new NotMaskable(
          'A recording with corporate actions other than dividends and splits cannot be masked',
        );
    const mask = new Mask(
      terms,
      equities.map(({ symbol }) => symbol),
    );
    this.#recorded = recorded;
    this.mask = mask;
    this.#listing = {
      instruments: equities
        .map((equity) => mask.equity(equity))
        .sort((a, b) => (a.symbol < b.symbol ? -1 : 1)),
      ...(since !== undefined && {
        since: Object.fromEntries(
          Object.entries(since)
            .map(([symbol, date]) => [mask.masked(symbol), mask.date(date)] as const)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        ),
      }),
    };
  }

  get maxAgeMs(): number | undefined {
    return this.#recorded.maxAgeMs;
  }

  listing(): Listing {
    return this.#listing;
  }

  corporateActions(): readonly CorporateAction[] {
    return this.#recorded.corporateActions().map((action) => this.mask.action(action));
  }

  quoteAt(): undefined {
    return undefined;
  }

  quotedAt(): undefined {
    return undefined;
  }

  async *events(after: Instant, until: Instant): AsyncGenerator<MarketEvent> {
    const { dates } = this.mask;
    for await (const event of this.#recorded.events(dates.recorded(after), dates.recorded(until)))
      yield this.#event(event);
  }

  async *pastQuotes(
    after: Instant,
    until: Instant,
    symbols: ReadonlySet<string>,
  ): AsyncGenerator<Quote, void, undefined> {
    const { dates } = this.mask;
    const recorded = new Set([...symbols].flatMap((ticker) => this.mask.recorded(ticker) ?? []));
    for await (const quote of this.#recorded.pastQuotes(
      dates.recorded(after),
      dates.recorded(until),
      recorded,
    ))
      yield this.#quote(quote);
  }

  openInterest(): undefined {
    return undefined;
  }

  record(): void {
    return;
  }

  async bars(query: BarQuery): Promise<readonly Bar[]> {
    const { mask } = this;
    const symbol = mask.recorded(query.symbol);
    if (symbol === undefined) return [];
    const bars = await this.#recorded.bars({
      ...query,
      symbol,
      from: mask.dates.recorded(query.from),
      until: mask.dates.recorded(query.until),
    });
    return bars.map(({ at, open, high, low, close, volume, ...rest }) => ({
      ...rest,
      symbol: query.symbol,
      at: mask.at(at),
      open: mask.price(symbol, open),
      high: mask.price(symbol, high),
      low: mask.price(symbol, low),
      close: mask.price(symbol, close),
      volume: mask.volume(symbol, volume),
    }));
  }

  async close(): Promise<void> {
    await this.#recorded.close();
  }

  #event({ at, quotes, passed, halts }: MarketEvent): MarketEvent {
    const quote = (one: Quote): Quote => this.#quote(one);
    return {
      at: this.mask.at(at),
      quotes: inOrder(quotes.map(quote)),
      ...(passed !== undefined && {
        passed: { since: this.mask.at(passed.since), quotes: inOrder(passed.quotes.map(quote)) },
      }),
      ...(halts !== undefined && {
        halts: halts.map((halt): HaltNews => ({ ...halt, symbol: this.mask.masked(halt.symbol) })),
      }),
    };
  }

  #quote({
    symbol,
    at,
    bid,
    ask,
    bidSize,
    askSize,
    last,
    lastSize,
    open,
    close,
    freshUntil,
    usualDay,
    ...rest
  }: Quote): Quote {
    const { mask } = this;
    return {
      ...rest,
      symbol: mask.masked(symbol),
      ...mask.sides(symbol, bid, ask),
      ...(bidSize !== undefined && { bidSize: mask.size(symbol, bidSize) }),
      ...(askSize !== undefined && { askSize: mask.size(symbol, askSize) }),
      ...(last !== undefined && { last: mask.price(symbol, last) }),
      ...(lastSize !== undefined && { lastSize: mask.size(symbol, lastSize) }),
      ...(open !== undefined && { open: mask.price(symbol, open) }),
      ...(close !== undefined && { close: mask.price(symbol, close) }),
      ...(freshUntil !== undefined && { freshUntil: mask.at(freshUntil) }),
      ...(usualDay !== undefined && {
        usualDay: { ...usualDay, volume: mask.volume(symbol, usualDay.volume) },
      }),
      at: mask.at(at),
    };
  }
}

/** By ticker: the order of the recorded symbols would reveal them. Quotes of one symbol stay in their order. */
const inOrder = (quotes: readonly Quote[]): readonly Quote[] =>
  quotes.toSorted((a, b) => (a.symbol === b.symbol ? 0 : a.symbol < b.symbol ? -1 : 1));
