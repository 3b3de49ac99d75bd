import { Instant, TradingDate } from '@sandpit/core';
import type { Bar, CorporateAction, Listing, Quote } from '@sandpit/core';
import type { BarQuery, Feed, MarketEvent } from '../feed.js';
import type { ReplayArchive } from './archive.js';
import { replayBars } from './replay-bars.js';
import { ReplayReader } from './replay-reader.js';

/** Maximum age of quotes, as on the recorded live feed (D47). */
const TICKS_MAX_AGE_MS = 60_000;

export interface ReplayFeedOptions {
  /** Opened once, shared by every simulation that replays the same directory. */
  readonly archive: ReplayArchive;
  /** Replay and list these alone, and the options on them; absent = all. */
  readonly symbols?: readonly string[];
  /** Start of the replay; earlier rows are ignored. */
  readonly from?: Instant;
}

/** Recorded market data, delivered at the instants at which it became known. */
export class ReplayFeed implements Feed {
  readonly kind = 'replay';
  private readonly archive: ReplayArchive;
  private readonly symbols: ReadonlySet<string> | undefined;
  private readonly wanted: (symbol: string) => boolean;
  private readonly from: Instant;
  private reader: ReplayReader | undefined;

  constructor(options: ReplayFeedOptions) {
    const { archive } = options;
    const symbols = options.symbols && new Set(options.symbols);
    const withUnderlying = symbols && archive.contractsOn(symbols);
    this.archive = archive;
    this.symbols = symbols;
    this.wanted = (symbol) =>
      symbols === undefined || symbols.has(symbol) || withUnderlying?.has(symbol) === true;
    this.from = options.from ?? Instant.ofMs(Number.NEGATIVE_INFINITY);
  }

  get maxAgeMs(): number | undefined {
    return this.archive.hasTicks ? TICKS_MAX_AGE_MS : undefined;
  }

  listing(): Listing {
    const { listing } = this.archive;
    const { symbols } = this;
    if (symbols === undefined) return listing;
    const wanted = listing.instruments.filter(({ symbol }) => this.wanted(symbol));
    // The underlying of a listed option is listed with it.
    const underlyings = new Set(
      wanted.flatMap((instrument) => (instrument.assetClass === 'OPTION' ? [instrument.underlying] : [])),
    );
    const instruments = listing.instruments.filter(
      ({ symbol }) => this.wanted(symbol) || underlyings.has(symbol),
    );
    return { ...listing, instruments };
  }

  corporateActions(): readonly CorporateAction[] {
    return this.archive.corporateActions.filter(({ symbol }) => this.wanted(symbol));
  }

  firstSession(): TradingDate | undefined {
    let first: string | undefined;
    for (const [symbol, { firstDate }] of this.archive.facts)
      if (this.wanted(symbol) && firstDate !== undefined && (first === undefined || firstDate < first))
        first = firstDate;
    const date = first === undefined ? undefined : TradingDate.parse(first);
    return date && this.archive.calendar.plusBusinessDays(date, 0);
  }

  /** The recording only streams: the latest event of a symbol is its quote in force. */
  quoteAt(): undefined {
    return undefined;
  }

  quotedAt(): undefined {
    return undefined;
  }

  async *events(after: Instant, until: Instant): AsyncGenerator<MarketEvent> {
    // `from` itself is replayed.
    const start = Instant.max(after, Instant.plusMs(this.from, -1));
    if (until <= start) return;
    const reader = await this.readerAt(start);
    let isSound = true;
    try {
      for (let event = await reader.next(start, until); event; event = await reader.next(start, until))
        yield event;
    } catch (error) {
      isSound = false;
      throw error;
    } finally {
      // Also when the caller stops early: the reader continues after the last event read.
      await (isSound ? this.archive.openReaders.keep(reader) : this.archive.openReaders.drop(reader));
    }
  }

  async *pastQuotes(
    after: Instant,
    until: Instant,
    symbols: ReadonlySet<string>,
  ): AsyncGenerator<Quote, void, undefined> {
    const start = Instant.max(after, Instant.plusMs(this.from, -1));
    if (until <= start) return;
    const reader = new ReplayReader(
      this.archive,
      start,
      (symbol) => symbols.has(symbol) && this.wanted(symbol),
    );
    try {
      for (let event = await reader.next(start, until); event; event = await reader.next(start, until))
        yield* event.quotes;
    } finally {
      await reader.close();
    }
  }

  openInterest(symbol: string, at: Instant): number | undefined {
    return this.archive.openInterest.of(symbol, at);
  }

  contractVolumes(at: Instant): Promise<(symbol: string) => number | undefined> {
    return this.archive.contractVolumes.at(at);
  }

  /** Ignored: the recording has quotes of its own. */
  record(): void {
    return;
  }

  async bars(query: BarQuery): Promise<readonly Bar[]> {
    return this.wanted(query.symbol) ? replayBars(this.archive, query) : [];
  }

  async close(): Promise<void> {
    if (this.reader) await this.archive.openReaders.drop(this.reader);
    this.reader = undefined;
  }

  private async readerAt(after: Instant): Promise<ReplayReader> {
    const { reader } = this;
    if (reader?.canContinueFrom(after)) {
      this.archive.openReaders.use(reader);
      return reader;
    }
    if (reader) await this.archive.openReaders.drop(reader);
    return (this.reader = new ReplayReader(this.archive, after, this.wanted));
  }
}
