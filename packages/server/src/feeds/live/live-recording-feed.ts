import { setImmediate as nextTurn } from 'node:timers/promises';
import { Instant } from '@sandpit/core';
import type { Bar, Calendar, CorporateAction, Listing, Quote } from '@sandpit/core';
import type { BarQuery, MarketEvent } from '../feed.js';
import type { LiveFeed, RecordingFeed } from '../live-feed.js';
import type { OpenReaders } from '../open-readers.js';
import { TickMarkets } from '../tick-markets.js';
import type { TickRow } from '../tick-file.js';
import { hourOf } from './recorder.js';
import { recordedHours, RecordingReader } from './recording-reader.js';

export interface LiveRecordingOptions {
  readonly directory: string;
  readonly calendar: Calendar;
  readonly listing: Listing;
  /** Age from which on quotes fill nothing, ms. */
  readonly maxAgeMs: number;
  /** The feed that writes the recording. */
  readonly live: LiveFeed;
  /** The dividends and splits of the recording. */
  readonly readActions: () => Promise<readonly CorporateAction[]>;
  readonly openReaders: OpenReaders;
}

/** Quotes that are older than a long weekend are not looked for. */
const READ_BACK_MS = 4 * 86_400_000;
/** Rows after which others have the event loop. */
const MANY_ROWS = 1024;

/** The recording that a server makes of its live source, for the forks of live simulations (D172). It grows while it is read. */
export class LiveRecordingFeed implements RecordingFeed {
  readonly kind = 'replay';
  readonly maxAgeMs: number;
  readonly #options: LiveRecordingOptions;
  #markets: TickMarkets;
  #reader: RecordingReader | undefined;
  /** Rows up to here have been read. */
  #through: Instant = Instant.earliest;
  #actions: readonly CorporateAction[] = [];
  #isListed: (symbol: string) => boolean = () => true;

  constructor(options: LiveRecordingOptions) {
    this.#options = options;
    this.maxAgeMs = options.maxAgeMs;
    this.#markets = new TickMarkets(options.calendar);
  }

  listing(): Listing {
    return this.#options.listing;
  }

  corporateActions(): readonly CorporateAction[] {
    return this.#actions;
  }

  quoteAt(): undefined {
    return undefined;
  }

  quotedAt(): undefined {
    return undefined;
  }

  startWith(quotes: Iterable<Quote>, at: Instant): void {
    for (const quote of quotes) this.#markets.resume(quote);
    this.#through = at;
  }

  quotesInForce(): readonly Quote[] {
    return this.#markets.inForce(this.#through);
  }

  async resumeAt(
    at: Instant,
    symbols: ReadonlySet<string>,
    isListed: (symbol: string) => boolean,
  ): Promise<readonly Quote[]> {
    this.#isListed = isListed;
    this.#actions = await this.#options.readActions();
    if (this.#through !== at) {
      await this.close();
      this.#complete(at);
      this.#markets = await this.#readBack(at, symbols);
      this.#through = at;
    }
    return this.#markets.inForce(at).filter(({ symbol }) => isListed(symbol));
  }

  async *events(after: Instant, until: Instant): AsyncGenerator<MarketEvent> {
    if (until <= after) return;
    const end = this.#complete(until);
    const { openReaders } = this.#options;
    const reader = await this.#readerAt();
    openReaders.use(reader);
    try {
      for (
        let row = await reader.peek();
        row !== undefined && row.received <= until;
        row = await reader.peek()
      ) {
        const at = row.received;
        const rows: TickRow[] = [];
        for (let next: TickRow | undefined = row; next?.received === at; next = await reader.peek()) {
          rows.push(next);
          reader.skip();
        }
        this.#through = Instant.max(this.#through, at);
        const event = this.#markets.apply(at, rows);
        if (event !== undefined && at > after) yield this.#ofListed(event);
      }
      this.#through = Instant.max(this.#through, until);
      if (end >= until) return;
      // The recording ends here: quotes age until it continues.
      const quotes = this.#markets.age(end, until).filter(({ symbol }) => this.#isListed(symbol));
      if (quotes.length > 0)
        yield { at: Instant.min(until, Instant.plusMs(Instant.max(after, end), 1)), quotes };
    } finally {
      await openReaders.keep(reader);
    }
  }

  async *pastQuotes(
    after: Instant,
    until: Instant,
    symbols: ReadonlySet<string>,
  ): AsyncGenerator<Quote, void, undefined> {
    this.#complete(until);
    const markets = new TickMarkets(this.#options.calendar);
    for await (const row of this.#rowsAfter(after, until)) {
      if (row.symbol !== '*' && !symbols.has(row.symbol)) continue;
      for (const quote of markets.apply(row.received, [row])?.quotes ?? [])
        if (symbols.has(quote.symbol)) yield quote;
    }
  }

  /** Does nothing: what this feed shows is a recording already. */
  record(): void {
    return;
  }

  openInterest(): undefined {
    return undefined;
  }

  /** Bars of the source, which begin before the recording does. */
  bars(query: BarQuery): Promise<readonly Bar[]> {
    return this.#options.live.bars(query);
  }

  async close(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) await this.#options.openReaders.drop(reader);
  }

  /** Has everything up to an instant written. Returns the instant up to which the recording is complete. */
  #complete(until: Instant): Instant {
    return this.#options.live.completeRecording(until);
  }

  async #readerAt(): Promise<RecordingReader> {
    if (this.#reader === undefined) {
      const reader = new RecordingReader(this.#options.directory, this.#through);
      await reader.skipTo(this.#through);
      this.#reader = reader;
    }
    return this.#reader;
  }

  /** Quotes of contracts that the simulation does not know are left out. */
  #ofListed(event: MarketEvent): MarketEvent {
    const quotes = event.quotes.filter(({ symbol }) => this.#isListed(symbol));
    return quotes.length === event.quotes.length ? event : { ...event, quotes };
  }

  async *#rowsAfter(after: Instant, until: Instant): AsyncGenerator<TickRow> {
    const reader = new RecordingReader(this.#options.directory, after);
    try {
      await reader.skipTo(after);
      let rows = 0;
      for (
        let row = await reader.peek();
        row !== undefined && row.received <= until;
        row = await reader.peek()
      ) {
        reader.skip();
        yield row;
        if (++rows % MANY_ROWS === 0) await nextTurn();
      }
    } finally {
      await reader.close();
    }
  }

  /** The market at an instant: hour by hour backwards, until the quotes of these symbols are known. */
  async #readBack(at: Instant, symbols: ReadonlySet<string>): Promise<TickMarkets> {
    const { directory, calendar } = this.#options;
    const markets = new TickMarkets(calendar);
    const latest = hourOf(at);
    const first = hourOf(Instant.plusMs(at, -READ_BACK_MS));
    const hours = (await recordedHours(directory)).filter((hour) => hour <= latest && hour >= first);
    for (const hour of hours.toReversed()) {
      const earlier = new TickMarkets(calendar);
      const reader = new RecordingReader(directory, hour);
      let rows = 0;
      try {
        for (
          let row = await reader.peek();
          row !== undefined && row.received <= at;
          row = await reader.peek()
        ) {
          if (reader.hour !== hour) break;
          earlier.apply(row.received, [row]);
          reader.skip();
          if (++rows % MANY_ROWS === 0) await nextTurn();
        }
      } finally {
        await reader.close();
      }
      markets.addEarlier(earlier);
      if ([...symbols].every((symbol) => markets.has(symbol))) break;
    }
    return markets;
  }
}
