import { setTimeout as after } from 'node:timers/promises';
import { Instant, isLongAsOsi } from '@sandpit/core';
import type { Bar, Calendar, CorporateAction, Listing, Quote, TradingDate } from '@sandpit/core';
import type { BarQuery, MarketEvent } from '../feed.js';
import {
  type FeedStatus,
  type InterestRank,
  type LiveFeed,
  type LiveHost,
  type LiveLead,
  MarketDataLimit,
  type RelayAnswers,
  type RelayQuestion,
  type UnsupportedAction,
} from '../live-feed.js';
import { ActionReader } from './action-reader.js';
import type { AssetList } from './asset-list.js';
import { BarCache } from './bar-cache.js';
import { OptionContracts } from './option-contracts.js';
import { QuoteBook } from './quote-book.js';
import { QuoteRelay } from './quote-relay.js';
import type { TickRecorder } from './recorder.js';
import { covers } from './recording-reader.js';
import { RelayedMarket } from './relayed-market.js';
import { Sessions } from './sessions.js';
import { STREAM_TIMINGS, type StreamTimings } from './socket-stream.js';
import { failureText, SourceFailure } from './source.js';
import type { LiveSource } from './source.js';
import { Subscription } from './subscription.js';
import { type Tick, TickTape } from './tick-tape.js';

export interface LiveFeedOptions {
  readonly source: LiveSource;
  readonly calendar: Calendar;
  /** Age from which quotes fill no orders (D47), ms. */
  readonly maxAgeMs: number;
  /** Maximum number of symbols; absent = the plan's limit. */
  readonly maxSymbols?: number;
  readonly assets: AssetList;
  /** Logs one line for the operator. */
  readonly note: (text: string) => void;
  /** Receives every tick, in order, and every corporate action. */
  readonly recorder?: TickRecorder;
  readonly timings?: Partial<StreamTimings>;
}

/** Interval at which orders and positions are checked for symbols to subscribe. */
const LOOK_MS = 1000;
/** Maximum wait of a first query for a quote (D182). */
const PATIENCE_MS = 2000;

/** Reason of a node of a cluster that is not connected. */
const ELSEWHERE = 'the node of the market has the connection';

/** The parts that need to know the simulations. */
interface Hosted {
  readonly host: LiveHost;
  readonly actions: ActionReader;
  readonly contracts: OptionContracts;
}

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
  readonly #relay: QuoteRelay;
  /** Absent until it is started. */
  #hosted: Hosted | undefined;
  /** Present on a node of a cluster that follows the connected one. */
  #relayed: RelayedMarket | undefined;
  /** Present once it follows or is started. */
  #host: LiveHost | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
  #refusedBy: string | undefined;
  #refusedSinceMs = 0;

  private constructor(options: LiveFeedOptions) {
    this.#options = options;
    this.#source = options.source;
    const { source, calendar, assets } = options;
    const sessions = new Sessions(calendar);
    this.delayMs = source.delayMs;
    this.#listing = { instruments: assets.instruments() };
    this.#tape = new TickTape(() => this.#now(), options.recorder?.seq);
    this.#relay = new QuoteRelay(this.#tape, this, (underlying) =>
      this.#hosted?.contracts.openInterestOf(underlying),
    );
    this.#book = new QuoteBook(
      this.#tape,
      {
        isDelayed: source.delayMs > 0,
        hasOfficialPrices: source.hasOfficialPrices,
        haltsOf: (symbol) =>
          source.halts !== 'nasdaq' ? source.halts : assets.isOnNasdaq(symbol) ? 'full' : 'none',
        isIndicative: (symbol) => source.hasIndicativeOptions && isLongAsOsi(symbol),
        maxAgeMs: options.maxAgeMs,
        sessionOf: (at) => sessions.of(at),
      },
      (tick) => this.#onTick(tick),
    );
    this.#bars = new BarCache(source, calendar, options.note);
    const parts = {
      source,
      book: this.#book,
      timings: { ...STREAM_TIMINGS, ...options.timings },
      note: options.note,
      instantAt: (monotonicMs: number) =>
        Instant.plusMs(this.#now(), -Math.round(performance.now() - monotonicMs)),
      onRefused: (reason: string) => this.#refuse(reason),
    };
    this.#stocks = new Subscription({ ...parts, stream: source.stocks, maxSymbols: options.maxSymbols });
    this.#optionsStream =
      source.options === undefined ? undefined : new Subscription({ ...parts, stream: source.options });
  }

  /**
   * Lists the instruments of the source: as remembered for a day, else requested now. Never fails: unknown instruments are listed later.
   */
  static async open(options: LiveFeedOptions): Promise<LiveMarketFeed> {
    const { assets, source } = options;
    let failure: unknown;
    await assets.open(() => source.assets()).catch((error: unknown) => (failure = error));
    const feed = new LiveMarketFeed(options);
    if (failure !== undefined) feed.#assetsFailed(failure);
    return feed;
  }

  start(host: LiveHost): void {
    if (this.#hosted !== undefined) return;
    this.#relayed?.stop();
    this.#relayed = undefined;
    this.#host = host;
    const { calendar, note, recorder } = this.#options;
    const source = this.#source;
    const onActions = recorder && ((actions: readonly CorporateAction[]) => recorder.noteActions(actions));
    if (recorder !== undefined) this.#tape.continueAfter(recorder.lastReceived(host.now()));
    this.#hosted = {
      host,
      actions: new ActionReader({ source, calendar, host, note, onActions }),
      contracts: new OptionContracts({
        source,
        book: this.#book,
        host,
        note,
        untilReceived: () => this.#untilReceived(),
      }),
    };
    if (this.#refusedBy === undefined) {
      this.#stocks.start();
      this.#optionsStream?.start();
    }
    this.#lookTimer = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#look();
  }

  follow(host: LiveHost, lead: LiveLead): void {
    // Forks read the recording of the connected node, where the tenants are.
    if (this.#host !== undefined || this.#options.recorder !== undefined) return;
    this.#host = host;
    const [tape, relay] = [this.#tape, this.#relay];
    this.#relayed = new RelayedMarket({ tape, relay, host, lead, onTick: (tick) => this.#onTick(tick) });
  }

  answer(question: RelayQuestion): Promise<RelayAnswers[RelayQuestion['ask']]> {
    return this.#relay.answer(question);
  }

  listing(): Listing {
    return this.#listing;
  }

  /** Corporate actions are announced when the source reports them. */
  corporateActions(): readonly CorporateAction[] {
    return [];
  }

  quoteAt(symbol: string, at: Instant): Quote | undefined {
    return this.#tape.quoteAt(symbol, at);
  }

  quotedAt(symbol: string, at: Instant): Instant | undefined {
    return this.#tape.quoteAt(symbol, at)?.at;
  }

  events(after: Instant, until: Instant, symbols: ReadonlySet<string>): readonly MarketEvent[] {
    return this.take(after, until, (symbol) => symbols.has(symbol));
  }

  take(after: Instant, until: Instant, isOfInterest: (symbol: string) => boolean): readonly MarketEvent[] {
    return this.#tape.take(after, until, isOfInterest);
  }

  /** Ignored: it has quotes of its own. */
  record(): void {
    return;
  }

  openInterest(symbol: string): number | undefined {
    return this.#relayed?.openInterest(symbol) ?? this.#hosted?.contracts.openInterest(symbol);
  }

  bars(query: BarQuery): Promise<readonly Bar[]> {
    return this.#host?.instrument(query.symbol) === undefined || query.limit <= 0
      ? Promise.resolve([])
      : this.#bars.bars(query);
  }

  async want(symbols: Iterable<string>, rank: InterestRank, isNeeded: boolean): Promise<void> {
    if (this.#relayed !== undefined) {
      await this.#relayed.want(symbols, rank, isNeeded);
      await this.#untilReceived();
    }
    if (this.#hosted === undefined) return;
    const { host, contracts, actions } = this.#hosted;
    const fresh: Promise<void>[] = [];
    for (const symbol of symbols) {
      const subscription = this.#subscriptionOf(symbol);
      if (subscription === undefined) continue;
      if (host.instrument(symbol) === undefined) {
        if (!contracts.isNamed(symbol)) continue;
        // The symbol counts toward the plan once the source has it.
        fresh.push(
          contracts
            .list(symbol)
            .then(() =>
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
      actions.ask([symbol]);
    }
    if (fresh.length === 0) return;
    await withinPatience(Promise.all(fresh));
    await this.#untilReceived();
  }

  wantChain(underlying: string, expiration?: TradingDate): Promise<readonly TradingDate[] | undefined> {
    if (this.#relayed !== undefined) return this.#relayed.chain(underlying, expiration);
    const hasOptions = this.#optionsStream !== undefined || this.#source.hasOptionsAmongStocks === true;
    return hasOptions && this.#hosted !== undefined
      ? this.#hosted.contracts.chain(underlying, expiration)
      : Promise.resolve(undefined);
  }

  status(): FeedStatus {
    const relayed = this.#relayed?.status;
    if (relayed !== undefined) return { ...relayed, counts: { ...this.#book.counts } };
    const source = this.#source;
    const parts = [this.#stocks, ...(this.#optionsStream === undefined ? [] : [this.#optionsStream])];
    const worst = parts.find(({ isConnected }) => !isConnected) ?? this.#stocks;
    const isRefused = this.#refusedBy !== undefined;
    const reason = this.#refusedBy ?? (this.#hosted === undefined ? ELSEWHERE : worst.reason);
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
    return this.#relayed?.unsupported ?? this.#hosted?.actions.unsupported ?? [];
  }

  saveRecording(): void {
    this.#options.recorder?.save();
  }

  completeRecording(until: Instant): Instant {
    const end = Instant.min(until, this.#now());
    this.#tape.take(end, end, () => false);
    this.#options.recorder?.save(false);
    return end;
  }

  hasRecorded(at: Instant): Promise<boolean> {
    const { recorder, calendar } = this.#options;
    if (recorder === undefined) return Promise.resolve(false);
    this.completeRecording(at);
    return covers(recorder.directory, calendar, at);
  }

  async close(): Promise<void> {
    clearInterval(this.#lookTimer);
    this.#relayed?.stop();
    this.#relay.close();
    this.#bars.close();
    await Promise.all([this.#stocks.stop(), this.#optionsStream?.stop(), this.#options.recorder?.close()]);
  }

  #now(): Instant {
    return this.#host?.now() ?? Instant.ofMs(Date.now() - this.delayMs);
  }

  #onTick(tick: Tick): void {
    this.#relay.note(tick);
    this.#options.recorder?.add(tick);
    if (tick.kind === 'T' && tick.quote !== undefined) this.#bars.note(tick.quote, tick.received);
    if (tick.quote !== undefined) this.#subscriptionOf(tick.symbol)?.heard(tick.symbol);
  }

  #subscriptionOf(symbol: string): Subscription | undefined {
    if (!isLongAsOsi(symbol)) return this.#stocks;
    return this.#source.hasOptionsAmongStocks === true ? this.#stocks : this.#optionsStream;
  }

  /** The latest data may be dated a millisecond ahead. Resolves when the clock has reached it. */
  async #untilReceived(): Promise<void> {
    const received = this.#tape.latestReceived;
    for (let tries = 0; tries < 20 && this.#now() < received; tries++) await after(1);
  }

  #refuse(reason: string): void {
    if (this.#refusedBy !== undefined) return;
    this.#refusedBy = reason;
    this.#refusedSinceMs = Date.now();
    this.#options.note(`The market data source refuses: ${reason}`);
    void this.#stocks.stop();
    void this.#optionsStream?.stop();
  }

  /** Subscribes to symbols with orders and positions, and refreshes corporate actions and assets when due. */
  #look(): void {
    if (this.#hosted === undefined || this.#refusedBy !== undefined) return;
    const { host, actions } = this.#hosted;
    const stocks: [string, InterestRank][] = [];
    const options: [string, InterestRank][] = [];
    for (const [symbol, rank] of [...host.interest(), ...this.#relay.interest()])
      (this.#subscriptionOf(symbol) === this.#stocks ? stocks : options).push([symbol, rank]);
    this.#stocks.stand(stocks);
    this.#optionsStream?.stand(options);
    actions.look(this.#stocks.symbols);
    this.#book.tellMissingCloses();
    this.#refreshAssets(host).catch((error: unknown) => this.#assetsFailed(error));
  }

  async #refreshAssets(host: LiveHost): Promise<void> {
    const { assets } = this.#options;
    if (!(await assets.refreshIfDue(() => this.#source.assets()))) return;
    const changed = assets
      .instruments()
      .filter(
        (instrument) => JSON.stringify(host.instrument(instrument.symbol)) !== JSON.stringify(instrument),
      );
    if (changed.length > 0) await host.list(changed);
  }

  #assetsFailed(error: unknown): void {
    if (error instanceof SourceFailure && error.kind === 'REFUSED') this.#refuse(error.message);
    else this.#options.note(`The list of assets could not be read: ${failureText(error)}`);
  }
}

/** Resolves with the work, or after two seconds without it. */
async function withinPatience(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
  await Promise.race([work.catch(() => undefined), patience]);
  clearTimeout(timer);
}
