import { setTimeout as after } from 'node:timers/promises';
import { Instant, isLongAsOsi, optionContract, parseOsi, plainEquity } from '@sandpit/core';
import type { Bar, Calendar, CorporateAction, Instrument, Listing, Quote, TradingDate } from '@sandpit/core';
import type { BarQuery, MarketEvent } from '../feed.js';
import {
  type FeedStatus,
  type InterestRank,
  type LiveFeed,
  type LiveHost,
  MarketDataLimit,
  type UnsupportedAction,
} from '../live-feed.js';
import type { AssetCache } from './asset-cache.js';
import { BarCache } from './bar-cache.js';
import { QuoteBook } from './quote-book.js';
import type { TickRecorder } from './recorder.js';
import { STREAM_TIMINGS, type StreamTimings } from './socket-stream.js';
import { SourceFailure } from './source.js';
import type { LiveSource, SourceAsset } from './source.js';
import { Subscription } from './subscription.js';
import { type Tick, TickTape } from './tick-tape.js';

export interface LiveFeedOptions {
  readonly source: LiveSource;
  readonly calendar: Calendar;
  /** Quotes older than this fill nothing (D47), ms. */
  readonly maxAgeMs: number;
  /** Symbols at once; absent = what the plan allows. */
  readonly maxSymbols?: number;
  readonly assets: AssetCache;
  /** Tells the operator, in one line. */
  readonly note: (text: string) => void;
  /** Hears every tick, in order. */
  readonly recorder?: TickRecorder;
  readonly timings?: Partial<StreamTimings>;
}

/** How often what is ordered and held is looked at. */
const LOOK_MS = 1000;
/** A first question waits so long for a quote (D182). */
const PATIENCE_MS = 2000;
/** How long a chain is good (D182). */
const CHAIN_MS = 15_000;
/** Assets are asked for again (D184). */
const ASSETS_MS = 86_400_000;
const ACTIONS_AT_ONCE = 50;
/** What the source does not know is not asked for again for so long. */
const UNKNOWN_MS = 60_000;
const MOST_UNKNOWN = 10_000;

/** The market of a source, by its streams and its REST service. Shared by every simulation on it. */
export class LiveMarketFeed implements LiveFeed {
  readonly kind = 'live';
  readonly delayMs: number;
  readonly #options: LiveFeedOptions;
  readonly #source: LiveSource;
  readonly #tape: TickTape;
  readonly #book: QuoteBook;
  readonly #bars: BarCache;
  readonly #stocks: Subscription;
  readonly #optionsStream: Subscription | undefined;
  readonly #listing: Listing;
  readonly #actions: CorporateAction[] = [];
  #unsupported: UnsupportedAction[] = [];
  /** Symbols whose corporate actions have been asked for since the last 03:00. */
  readonly #actionsAsked = new Set<string>();
  #actionsDate: TradingDate | undefined;
  readonly #chains = new Map<
    string,
    { readonly atMs: number; readonly done: Promise<readonly TradingDate[] | undefined> }
  >();
  readonly #openInterest = new Map<string, number>();
  /** Contracts that the source does not have, with when it was asked, on the monotonic clock. */
  readonly #unknown = new Map<string, number>();
  #host: LiveHost | undefined;
  #timers: NodeJS.Timeout[] = [];
  #refusedBy: string | undefined;
  #refusedSinceMs = 0;
  #assetsAtMs: number;
  #onNasdaq: ReadonlySet<string>;

  private constructor(options: LiveFeedOptions, assets: readonly SourceAsset[], assetsAtMs: number) {
    this.#options = options;
    this.#source = options.source;
    this.#assetsAtMs = assetsAtMs;
    this.#onNasdaq = nasdaqOf(assets);
    const { source, calendar } = options;
    this.delayMs = source.delayMs;
    this.#listing = { instruments: instrumentsOf(assets) };
    this.#tape = new TickTape(() => this.#now(), options.recorder?.seq);
    this.#book = new QuoteBook(
      this.#tape,
      {
        isDelayed: source.delayMs > 0,
        hasOfficialPrices: source.hasOfficialPrices,
        haltsOf: (symbol) =>
          source.halts !== 'nasdaq' ? source.halts : this.#onNasdaq.has(symbol) ? 'full' : 'none',
        isIndicative: (symbol) => source.hasIndicativeOptions && isLongAsOsi(symbol),
        maxAgeMs: options.maxAgeMs,
        sessionAt: (at) => sessionAt(calendar, at),
      },
      (tick) => this.#onTick(tick),
    );
    this.#bars = new BarCache(source, calendar, options.note);
    const timings = { ...STREAM_TIMINGS, ...options.timings };
    const parts = {
      source,
      book: this.#book,
      timings,
      note: options.note,
      instantAt: (monotonicMs: number) =>
        Instant.plusMs(this.#now(), -Math.round(performance.now() - monotonicMs)),
      onRefused: (reason: string) => this.#refuse(reason),
    };
    this.#stocks = new Subscription({ ...parts, stream: source.stocks, maxSymbols: options.maxSymbols });
    this.#optionsStream =
      source.options === undefined ? undefined : new Subscription({ ...parts, stream: source.options });
  }

  /** Lists what the source lists: as it is remembered for a day, else asked for now. Never fails: what is not known is listed later. */
  static async open(options: LiveFeedOptions): Promise<LiveMarketFeed> {
    const kept = await options.assets.load(ASSETS_MS);
    if (kept !== undefined) return new LiveMarketFeed(options, kept.assets, kept.atMs);
    try {
      const assets = await options.source.assets();
      await options.assets.save(assets);
      return new LiveMarketFeed(options, assets, Date.now());
    } catch (error) {
      const old = await options.assets.load(Infinity);
      const feed = new LiveMarketFeed(options, old?.assets ?? [], 0);
      if (error instanceof SourceFailure && error.kind === 'REFUSED') feed.#refuse(error.message);
      else options.note(`The list of assets could not be read: ${messageOf(error)}`);
      return feed;
    }
  }

  start(host: LiveHost): void {
    this.#host = host;
    if (this.#refusedBy === undefined) {
      this.#stocks.start();
      this.#optionsStream?.start();
    }
    this.#timers = [setInterval(() => this.#look(), LOOK_MS).unref()];
    this.#look();
  }

  listing(): Listing {
    return this.#listing;
  }

  corporateActions(): readonly CorporateAction[] {
    return this.#actions;
  }

  quoteAt(symbol: string, at: Instant): Quote | undefined {
    return this.#tape.quoteAt(symbol, at);
  }

  quotedAt(symbol: string, at: Instant): Instant | undefined {
    return this.#tape.quoteAt(symbol, at)?.at;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous; this feed has all its events in memory
  async *events(after: Instant, until: Instant, symbols: ReadonlySet<string>): AsyncGenerator<MarketEvent> {
    yield* this.take(after, until, (symbol) => symbols.has(symbol));
  }

  take(after: Instant, until: Instant, isOfInterest: (symbol: string) => boolean): readonly MarketEvent[] {
    return this.#tape.take(after, until, isOfInterest);
  }

  /** It has quotes of its own: nothing to record. */
  record(): void {
    return;
  }

  openInterest(symbol: string): number | undefined {
    return this.#openInterest.get(symbol);
  }

  bars(query: BarQuery): Promise<readonly Bar[]> {
    return this.#host?.instrument(query.symbol) === undefined || query.limit <= 0
      ? Promise.resolve([])
      : this.#bars.bars(query);
  }

  async want(symbols: Iterable<string>, rank: InterestRank, isNeeded: boolean): Promise<void> {
    const host = this.#host;
    if (host === undefined) return;
    const fresh: Promise<void>[] = [];
    for (const symbol of symbols) {
      const subscription = this.#subscriptionOf(symbol);
      if (subscription === undefined) continue;
      if (host.instrument(symbol) === undefined) {
        if (contractNamed(symbol, host) === undefined) continue;
        // It takes a place in the plan once the source has it.
        fresh.push(
          this.#listContract(symbol).then(() =>
            host.instrument(symbol) !== undefined && subscription.ask(symbol, rank)
              ? subscription.first(symbol)
              : undefined,
          ),
        );
        continue;
      }
      if (!subscription.ask(symbol, rank)) {
        if (isNeeded && !this.#book.has(symbol)) throw new MarketDataLimit(subscription.limit);
        continue;
      }
      if (!this.#book.has(symbol)) fresh.push(subscription.first(symbol));
      this.#askForActions([symbol]);
    }
    if (fresh.length === 0) return;
    await withinPatience(Promise.all(fresh));
    await this.#untilReceived();
  }

  wantChain(underlying: string, expiration?: TradingDate): Promise<readonly TradingDate[] | undefined> {
    const key = `${underlying} ${expiration ?? ''}`;
    const kept = this.#chains.get(key);
    const nowMs = performance.now();
    if (kept !== undefined && nowMs - kept.atMs < CHAIN_MS) return kept.done;
    for (const [other, { atMs }] of this.#chains) if (nowMs - atMs >= CHAIN_MS) this.#chains.delete(other);
    const done = this.#readChain(underlying, expiration).catch((error: unknown) => {
      this.#options.note(`Options on ${underlying}: ${messageOf(error)}`);
      return undefined;
    });
    this.#chains.set(key, { atMs: nowMs, done });
    return done;
  }

  status(): FeedStatus {
    const { source } = this.#options;
    const parts = [this.#stocks, ...(this.#optionsStream === undefined ? [] : [this.#optionsStream])];
    const worst = parts.find(({ isConnected }) => !isConnected) ?? this.#stocks;
    const isRefused = this.#refusedBy !== undefined;
    const reason = this.#refusedBy ?? worst.reason;
    const lastMessageAtMs = Math.max(0, ...parts.map((part) => part.lastMessageAtMs ?? 0));
    const { limit } = this.#stocks;
    return {
      source: source.name,
      status: isRefused ? 'refused' : worst.isConnected ? 'connected' : 'reconnecting',
      sinceMs: isRefused ? this.#refusedSinceMs : worst.sinceMs,
      ...(lastMessageAtMs > 0 && { lastMessageAtMs }),
      symbols: parts.reduce((sum, part) => sum + part.subscribed, 0),
      ...(limit !== Infinity && { limit }),
      delayedBy: source.delayMs / 1000,
      halts: source.halts,
      ...(reason !== undefined && { reason }),
      counts: {
        ...this.#book.counts,
        reconnections: parts.reduce((sum, part) => sum + part.reconnections, 0),
      },
    };
  }

  unsupportedActions(): readonly UnsupportedAction[] {
    return this.#unsupported;
  }

  saveRecording(): void {
    this.#options.recorder?.save();
  }

  close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#stocks.stop();
    this.#optionsStream?.stop();
    this.#bars.close();
    return this.#options.recorder?.close() ?? Promise.resolve();
  }

  #now(): Instant {
    return this.#host?.now() ?? Instant.ofMs(Date.now() - this.delayMs);
  }

  #onTick(tick: Tick): void {
    this.#options.recorder?.add(tick);
    if (tick.kind === 'T' && tick.quote !== undefined) this.#bars.note(tick.quote, tick.received);
    const subscription = this.#subscriptionOf(tick.symbol);
    if (tick.quote !== undefined) subscription?.heard(tick.symbol);
  }

  #subscriptionOf(symbol: string): Subscription | undefined {
    if (!isLongAsOsi(symbol)) return this.#stocks;
    return this.#source.hasOptionsAmongStocks === true ? this.#stocks : this.#optionsStream;
  }

  /** What has been told by now may be dated a millisecond ahead: resolves when the clock is there. */
  async #untilReceived(): Promise<void> {
    const received = this.#tape.latestReceived;
    for (let tries = 0; tries < 20 && this.#now() < received; tries++) await after(1);
  }

  #refuse(reason: string): void {
    if (this.#refusedBy !== undefined) return;
    this.#refusedBy = reason;
    this.#refusedSinceMs = Date.now();
    this.#options.note(`The market data source refuses: ${reason}`);
    this.#stocks.stop();
    this.#optionsStream?.stop();
  }

  /** What is ordered and held now is subscribed; corporate actions and assets are asked for again when it is time. */
  #look(): void {
    const host = this.#host;
    if (host === undefined || this.#refusedBy !== undefined) return;
    const stocks: [string, InterestRank][] = [];
    const options: [string, InterestRank][] = [];
    for (const [symbol, rank] of host.interest())
      (this.#subscriptionOf(symbol) === this.#stocks ? stocks : options).push([symbol, rank]);
    this.#stocks.stand(stocks);
    this.#optionsStream?.stand(options);
    const { calendar } = this.#options;
    // Actions are asked for again at 03:00 New York (D184).
    const today = calendar.dateOf(Instant.plusMs(host.now(), -3 * 3_600_000));
    if (this.#actionsDate !== today) {
      this.#actionsDate = today;
      this.#actionsAsked.clear();
      this.#askForActions([...this.#stocks.symbols]);
    } else this.#askForActions(stocks.map(([symbol]) => symbol));
    if (Date.now() - this.#assetsAtMs >= ASSETS_MS) this.#refreshAssets(host);
  }

  #refreshAssets(host: LiveHost): void {
    // Not again before a minute has passed, whatever comes of it.
    this.#assetsAtMs = Date.now() - ASSETS_MS + 60_000;
    this.#source
      .assets()
      .then(async (assets) => {
        this.#assetsAtMs = Date.now();
        this.#onNasdaq = nasdaqOf(assets);
        await this.#options.assets.save(assets);
        const changed = instrumentsOf(assets).filter(
          (instrument) => JSON.stringify(host.instrument(instrument.symbol)) !== JSON.stringify(instrument),
        );
        if (changed.length > 0) await host.list(changed);
      })
      .catch((error: unknown) => this.#failed('The list of assets could not be read', error));
  }

  #failed(what: string, error: unknown): void {
    if (error instanceof SourceFailure && error.kind === 'REFUSED') this.#refuse(error.message);
    else this.#options.note(`${what}: ${messageOf(error)}`);
  }

  #askForActions(symbols: readonly string[]): void {
    const host = this.#host;
    const fresh = symbols.filter((symbol) => !isLongAsOsi(symbol) && !this.#actionsAsked.has(symbol));
    if (host === undefined || fresh.length === 0) return;
    for (const symbol of fresh) this.#actionsAsked.add(symbol);
    const from = this.#options.calendar.dateOf(host.now());
    for (let i = 0; i < fresh.length; i += ACTIONS_AT_ONCE) {
      const some = fresh.slice(i, i + ACTIONS_AT_ONCE);
      this.#source
        .actions(some, from)
        .then(async ({ actions, unsupported }) => {
          this.#unsupported = [
            ...this.#unsupported.filter(({ symbol }) => !some.includes(symbol)),
            ...unsupported,
          ];
          for (const { symbol, type } of unsupported)
            this.#options.note(`${symbol}: a corporate action of type ${type} is not simulated`);
          if (actions.length > 0) await host.announce(actions);
        })
        .catch((error: unknown) => {
          // They are asked for again with the next question.
          for (const symbol of some) this.#actionsAsked.delete(symbol);
          this.#options.note(`Corporate actions could not be read: ${messageOf(error)}`);
        });
    }
  }

  /** A contract that the source has a market of is listed. */
  async #listContract(symbol: string): Promise<void> {
    const nowMs = performance.now();
    const asked = this.#unknown.get(symbol);
    if (asked !== undefined && nowMs - asked < UNKNOWN_MS) return;
    const found = await this.#source.snapshots([symbol]).catch(() => undefined);
    if (found?.get(symbol) !== undefined) {
      await this.#list([symbol]);
      return;
    }
    for (const [other, atMs] of this.#unknown) if (nowMs - atMs >= UNKNOWN_MS) this.#unknown.delete(other);
    if (this.#unknown.size < MOST_UNKNOWN) this.#unknown.set(symbol, nowMs);
  }

  async #list(symbols: readonly string[]): Promise<void> {
    const host = this.#host;
    if (host === undefined) return;
    const contracts = symbols.flatMap((symbol): readonly Instrument[] => {
      const contract = host.instrument(symbol) === undefined ? contractNamed(symbol, host) : undefined;
      return contract === undefined ? [] : [contract];
    });
    if (contracts.length > 0) await host.list(contracts);
  }

  async #readChain(
    underlying: string,
    expiration: TradingDate | undefined,
  ): Promise<readonly TradingDate[] | undefined> {
    if (this.#optionsStream === undefined && this.#source.hasOptionsAmongStocks !== true) return undefined;
    if (expiration === undefined) return this.#source.expirations?.(underlying);
    const chain = await this.#source.chain?.(underlying, expiration);
    if (chain === undefined) return undefined;
    await this.#list([...chain.keys()]);
    for (const [symbol, { quote, trade, openInterest }] of chain) {
      if (openInterest !== undefined) this.#openInterest.set(symbol, openInterest);
      if (trade !== undefined) this.#book.trade(trade);
      if (quote !== undefined) this.#book.quote(quote);
    }
    await this.#untilReceived();
    return [expiration];
  }
}

/** The contract that a symbol names, where it is on something that is listed. */
function contractNamed(symbol: string, host: LiveHost): Instrument | undefined {
  const named = parseOsi(symbol);
  const contract = named && optionContract(named, {}, () => false);
  return contract !== undefined && host.instrument(contract.underlying) !== undefined ? contract : undefined;
}

const messageOf = (error: unknown): string =>
  error instanceof SourceFailure ? error.message : 'something unexpected happened';

function instrumentsOf(assets: readonly SourceAsset[]): readonly Instrument[] {
  const bySymbol = new Map(assets.map((asset) => [asset.symbol, asset]));
  return [...bySymbol.values()]
    .sort((a, b) => (a.symbol < b.symbol ? -1 : 1))
    .map(({ symbol, name, isTradable, shortable, fractionable }) => ({
      ...plainEquity(symbol),
      name,
      ...(!isTradable && { tradable: false as const }),
      ...(shortable !== undefined && { shortable }),
      ...(fractionable === false && { fractionable }),
    }));
}

const nasdaqOf = (assets: readonly SourceAsset[]): ReadonlySet<string> =>
  new Set(assets.flatMap(({ symbol, isOnNasdaq }) => (isOnNasdaq === true ? [symbol] : [])));

function sessionAt(
  calendar: Calendar,
  at: Instant,
): { readonly open: Instant; readonly close: Instant } | undefined {
  const day = calendar.tradingDay(calendar.dateOf(at));
  return day === undefined || at < day.regularOpen || at >= day.regularClose
    ? undefined
    : { open: day.regularOpen, close: day.regularClose };
}

/** Resolves with the work, or after two seconds without it. */
async function withinPatience(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
  await Promise.race([work.catch(() => undefined), patience]);
  clearTimeout(timer);
}
