import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as later } from 'node:timers/promises';
import {
  Brokerage,
  actionIdOf,
  calendarById,
  Ids,
  Instant,
  isIdle,
  announcementOf,
  isUpcoming,
  KnownInstruments,
  symbolsTraded,
} from '@sandpit/core';
import type {
  BrokerConfiguration,
  Calendar,
  Command,
  Instrument,
  Instruments,
  Listing,
  Money,
  Quote,
  Rules,
  RulesInForce,
} from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import { isLive, isRecording } from '../../feeds/live-feed.js';
import type { InterestRank, LiveHost, LiveLead, RelayQuestion } from '../../feeds/live-feed.js';
import { RecordsMissing, StoreUnavailable } from '../../store/journal.js';
import type { JournalRecord } from '../../store/journal.js';
import { EVENT_TAGS, settingsOf } from '../../store/registry.js';
import type { ForkBeginning, Registry, SimulationEntry } from '../../store/registry.js';
import { MARKET_TENANT } from '../../store/ownership.js';
import type { Store } from '../../store/store.js';
import { NO_CHECKPOINTS } from '../../store/checkpoints.js';
import { WORTH_A_CHECKPOINT } from '../recovery/checkpoint-schedule.js';
import { ClockKeeper, NO_NOTES } from '../clocks/clock-keeper.js';
import { commandsToMeet } from '../market/market-change.js';
import { maskedConfig } from '../configuration/masked-config.js';
import { ManualClock, ScaledClock, WallClock } from '../clocks/clock.js';
import type { Clock } from '../clocks/clock.js';
import { atStakeOf, AT_STAKE, EVALUATION_CELLS, MAIN, mainOf, MAINS, MARKET } from '../values/cell-names.js';
import { eraseTenant } from '../transfers/erasure.js';
import { exportSimulation } from '../transfers/export.js';
import { travelingSettings } from '../transfers/traveling-settings.js';
import { Imports } from '../transfers/imports.js';
import type { ImportNote } from '../transfers/imports.js';
import type { ImportFolder } from '../transfers/import-folder.js';
import { ImportRefused } from '../transfers/import-refused.js';
import { ImplausibleClock } from '../clocks/machine-time.js';
import type { MachineTime } from '../clocks/machine-time.js';
import { pointInPast, pointNow, RecentPoints } from '../forks/fork-points.js';
import { forkConfigOf, MOST_GENERATIONS } from '../forks/forks.js';
import type { WantedFork } from '../forks/forks.js';
import { firstRecords } from '../recovery/first-records.js';
import type { FirstRecords } from '../recovery/first-records.js';
import { Lifetimes } from './lifetimes.js';
import { brokerageAt, recover } from '../recovery/recovery.js';
import type { KnownStart, Recovered } from '../recovery/recovery.js';
import {
  charactersOwned,
  keepRules,
  optionsOf,
  ownLists,
  sameRules,
} from '../configuration/rules-in-force.js';
import type { ComparedStretch, ComparisonTask } from '../comparisons/comparison.js';
import type { DurableRecord } from '../records/records.js';
import { importedConfig, originOf } from '../configuration/simulation-config.js';
import type {
  KeptConfig,
  SimulationConfig,
  StreamTag,
  WantedSimulation,
} from '../configuration/simulation-config.js';
import { Simulation } from '../simulation/simulation.js';
import type { ForkStart } from '../simulation/simulation.js';
import { inSlices } from '../scheduling/slice.js';
import { recordingDigest } from '../configuration/recording-digest.js';
import { Snapshots } from '../forks/snapshots.js';
import type { Snapshot } from '../forks/snapshots.js';
import { acceptsQuotes, isRecorded } from '../../feeds/feed.js';
import { NotMaskable } from '../../feeds/mask.js';

export type { KeptConfig, SimulationConfig, WantedSimulation } from '../configuration/simulation-config.js';

export interface SimulationInfo {
  readonly id: string;
  readonly tenantId: string | null;
  readonly config: SimulationConfig;
  /** Real time, ms. */
  readonly createdAt: number;
  /** Why it cannot be used until the server is started again; absent = it can. */
  readonly brokenBy?: string;
  /** For an imported simulation. */
  readonly imported?: ImportNote;
}

/** Dependencies shared by all simulations of a server. */
export interface SharedDependencies {
  readonly store: Store;
  readonly brokers: ReadonlyMap<string, BrokerConfiguration>;
  readonly portfolioMarginEquity: Money;
  readonly marketCollarBps: number;
  readonly riskFreeRate: number;
  readonly quoteMaxAgeMs: number | undefined;
  readonly openFeed: (config: SimulationConfig, calendar: Calendar) => Promise<Feed>;
  readonly onError: (error: unknown) => void;
  /** Logs one line for the operator. */
  readonly note: (text: string) => void;
  /** Receives every record of every simulation once it is durable; absent = no receiver. */
  readonly tell?: ((record: DurableRecord) => void) | undefined;
  readonly time: MachineTime;
  /** Idle time after which a simulation leaves memory, ms. */
  readonly idleMs: number;
  /** Directory of the recordings, if configured. */
  readonly recordings?: string;
  /** Directory of the server's recordings of a live source. */
  readonly liveRecordings?: string;
  /** Incoming files. */
  readonly importFolder: ImportFolder;
  /** Everything is done on this thread (D256). */
  readonly isInProcess?: boolean;
  /** Resolves when the other nodes of the cluster have applied the market's records. */
  readonly onMarketRecorded?: (() => Promise<void>) | undefined;
  /** Reasons of other nodes against another class of instruments of the market. */
  readonly classesInUseElsewhere?:
    ((instruments: readonly Instrument[]) => Promise<readonly string[]>) | undefined;
  /** The node that is connected to the live source; absent = this one is. */
  readonly liveLead?: LiveLead | undefined;
  /** This node has lost the market to another node: simulations in memory follow the wrong one. Only in a cluster. */
  readonly onMarketLost?: (() => void) | undefined;
  /** True when this node may acquire the market at its start; absent = there is no other node. */
  readonly mayLead?: (() => boolean) | undefined;
}

export { MAIN, mainOf, MARKET } from '../values/cell-names.js';

/** Maximum delay of a timer. */
const LONGEST_TIMER_MS = 3_600_000;

/** Maximum number of unused forks in memory. */
const MOST_UNUSED = 16;

/** Characters of lists of rules that came with the imported simulations of a tenant. */
const MOST_LISTS = 64 * 1024 * 1024;
/** Maximum number of symbols in a message. */
const MOST_NAMED = 10;

/** Four days: a long weekend. A longer gap in a recording is missing data (D131). */
const RECORDING_HOLE_MS = 4 * 86_400_000;

/** Time for which the checkpoint of a simulation may delay the handover of its tenant; the next owner reads more records without it. */
const HANDED_OVER_MS = 250;

/** A journal, as comparisons read it. */
export interface ComparedJournal extends Pick<
  ComparisonTask,
  'config' | 'feed' | 'riskFreeRate' | 'recordings'
> {
  readonly stretches: readonly (ComparedStretch & {
    /** The market was live and is not recorded. */
    readonly isLive: boolean;
  })[];
  /** The last record of the market that it followed. */
  readonly marketSeq?: number;
  /** The market that its first records followed may be another installation's. */
  readonly isImported: boolean;
}

/** Follows which simulations are in memory. The market is none of them. */
export interface SimulationWatcher {
  readonly opened: (simulation: Simulation) => void;
  readonly closed: (simulation: Simulation) => void;
  /** Called when a simulation is deleted. */
  readonly removed: (id: string) => void;
  /** All data of a tenant is about to be deleted: writes no more of it once this has resolved. */
  readonly erasing: (tenantId: string) => Promise<void>;
  /** True when a simulation that could leave memory has to stay. */
  readonly keeps: (simulation: Simulation) => boolean;
}

/** Age after which quotes of a live source no longer count as a market (D47). */
export const LIVE_MAX_AGE_MS = 60_000;

/** The recording does not have these symbols. */
export class NotRecorded extends Error {
  override readonly name = 'NotRecorded';
  readonly symbols: readonly string[];

  constructor(symbols: readonly string[]) {
    super(`not recorded: ${symbols.join(', ')}`);
    this.symbols = symbols;
  }
}

/** This server has no source of live market data. */
export class NoLiveSource extends Error {
  override readonly name = 'NoLiveSource';

  constructor() {
    super('This server has no source of live market data');
  }
}

/** A fork of a live simulation reads the recording of the source, and this server has none. */
export class NoLiveRecording extends Error {
  override readonly name = 'NoLiveRecording';

  constructor() {
    super('Its market is the recording of a live source: start with MARKET_FEED=live and RECORD_DIR');
  }
}

/** A fork of a fork of a fork …: its parent is as many generations from a simulation that is none as there may be. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

/** The imported simulations of a tenant have brought as many lists of rules as they may. */
export class TooManyLists extends Error {
  override readonly name = 'TooManyLists';

  constructor() {
    super('the lists of rules of imported simulations have at most 64 MiB together: delete one of them');
  }
}

/** The tenant has as many simulations as it may. */
export class TooManySimulations extends Error {
  override readonly name = 'TooManySimulations';
}

/** Lists of feeds, indexed. */
type Listings = WeakMap<Listing, Instruments>;

/**
 * All simulations of a server. Each belongs to one tenant: its `main`, which follows the market of the installation and is stored from its
 * first change, and those that it creates. Opened on first use.
 */
export class Simulations {
  /** The market that every `main` follows. It has no portfolios: it stands in for a `main` that has not been saved yet. */
  readonly market: Simulation;
  private readonly ground: SharedDependencies;
  /** Current configuration of the market. */
  private readonly marketConfig: SimulationConfig;
  private readonly open = new Map<string, OpenSimulation>();
  /** Every `main` that is open, by tenant. */
  private readonly mains = new Map<string, Simulation>();
  /** On their way into the registry, by tenant. */
  private readonly keeping = new Map<string, Promise<Simulation>>();
  /** Number of simulations being created, by tenant. */
  private readonly creating = new Map<string, number>();
  /** On their way out of memory. */
  private readonly closing = new Map<string, Promise<void>>();
  /** Feeds of simulations that have left memory: they alone contain pushed bars. */
  private readonly restingFeeds = new Map<string, Feed>();
  /** Simulations that stay closed until the next start, with the reason. */
  private readonly broken = new Map<string, string>();
  /** Simulations whose last opening has failed because the database lacks acknowledged records, with the message. */
  private readonly lacking = new Map<string, string>();
  /** Record of another node's market up to which simulations on the live source have its listings. */
  private listingsMetAt = 0;
  private watcher: SimulationWatcher | undefined;
  private readonly sweep: NodeJS.Timeout;
  /** Lists of feeds that are the same for many simulations, indexed once. */
  private readonly listings: Listings;
  private readonly clocks: ClockKeeper;
  private readonly ephemeralClocks = new ClockKeeper(NO_NOTES);
  readonly imports: Imports;
  readonly snapshots: Snapshots;
  private readonly lifetimes: Lifetimes;
  private readonly points = new RecentPoints();
  /** Forks in the order of creation, some of them unused. */
  private readonly unused: string[] = [];
  /** Receives each cell of an evaluation that comes into memory. */
  onCellOpened: ((simulation: Simulation) => void) | undefined;
  /** Receives the id of a simulation that is about to be removed. */
  onRemoved: (id: string) => Promise<void> = () => Promise.resolve();

  private constructor(
    ground: SharedDependencies,
    market: Simulation,
    config: SimulationConfig,
    listings: Listings,
    clocks: ClockKeeper,
  ) {
    this.ground = ground;
    this.marketConfig = config;
    this.market = market;
    this.listings = listings;
    this.clocks = clocks;
    this.imports = new Imports(ground.store, ground.importFolder, ground.note, ground.isInProcess);
    this.snapshots = new Snapshots(ground.store);
    this.lifetimes = new Lifetimes(
      ground.store.registry,
      async (id) => (await this.open.get(id)?.simulation.catch(() => undefined))?.isFollowed === true,
      (id, tenantId) => this.remove(id, tenantId),
      ground.store.ownership !== undefined,
    );
    const every = Math.min(LONGEST_TIMER_MS, ground.idleMs / 4);
    this.sweep = setInterval(() => void this.restIdle(), Math.max(1, every)).unref();
  }

  /**
   * Opens the market, creating it at the first start, and every `main` that was not idle. The seed, the ids and the start of the
   * market never change; feed, clock and calendar are those of the current settings.
   */
  static async start(ground: SharedDependencies, wanted: WantedSimulation): Promise<Simulations> {
    const { registry, ownership } = ground.store;
    const isReplica =
      ownership !== undefined &&
      (ground.mayLead?.() === false || !(await ownership.take([MARKET_TENANT])).has(MARKET_TENANT));
    if (!isReplica && registry.simulation(MARKET) !== undefined) await ground.store.takeCell?.(MARKET);
    const entry = isReplica ? await registered(ground.store, MARKET) : registry.simulation(MARKET);
    const before = entry === undefined ? undefined : configOf(entry);
    const { seed, idSecret, start } = before ?? withChance(wanted);
    const config = { ...wanted, seed, start, ...(idSecret !== undefined && { idSecret }) };
    const listings: Listings = new WeakMap();
    const clocks = new ClockKeeper(registry, ownership && (() => ownership.nowMs()));
    const furnished = await openFeedAndRules(ground, listings, config);
    const { feed } = furnished;
    // The wall clock of a delayed plan begins behind real time as well (D183).
    const delayMs = before === undefined && config.clock === 'wall' && isLive(feed) ? feed.delayMs : 0;
    const begun = { ...config, start: config.start - delayMs };
    const kept =
      before ?? (await register(registry, { id: MARKET, tenantId: null, config: begun }, furnished));
    const market = await openSimulation(
      ground,
      { id: MARKET, tenantId: null, config: { ...begun, rules: kept.rules } },
      furnished,
      clocks,
      undefined,
      undefined,
      undefined,
      undefined,
      isReplica,
    );
    if (isReplica) followClock(market, clocks);
    await ground.time.remember();
    const simulations = new Simulations(ground, market, begun, listings, clocks);
    await simulations.imports.resume();
    simulations.connectLive();
    await simulations.openAtStake();
    return simulations;
  }

  /** Applies records of the market that another node has written (D202). Does nothing if this node owns the market. */
  async followMarket(): Promise<void> {
    if (!this.market.isReplica) return;
    await this.market.followJournal();
    followClock(this.market, this.clocks);
    if (isLive(this.market.feed)) await this.followLiveListings();
  }

  /** Repeats listings and corporate actions from a live source on simulations that follow no market. */
  private async followLiveListings(): Promise<void> {
    const { published } = this.market;
    if (published <= this.listingsMetAt) return;
    for (const simulation of this.onSourceAlone())
      for (const command of commandsToMeet(this.market.brokerage, simulation.brokerage, false))
        if (command.type === 'ListInstruments' || command.type === 'AnnounceActions')
          await simulation.submit(command);
    this.listingsMetAt = published;
  }

  /** This node decides for the market from here on: the store has its cell. */
  async leadMarket(): Promise<void> {
    if (!this.market.isReplica) return;
    await this.ground.store.takeCell?.(MARKET);
    followClock(this.market, this.clocks);
    await this.market.takeLead();
    this.connectLive();
  }

  /** Another node owns the market from now on: this one follows it. All cells here have left memory. */
  async yieldMarket(): Promise<void> {
    if (this.market.isReplica) return;
    const { feed } = this.market;
    // The next node can connect immediately: plans allow one connection.
    if (isLive(feed)) await feed.close();
    await this.market.close();
    this.market.follow();
  }

  /** This node has acquired a tenant: opens its `main` unless that was idle, and continues its imports. */
  async enterTenant(tenantId: string): Promise<void> {
    // A late request may have opened one after the tenant had left: another node has gone on since.
    await this.closeAllOf(tenantId);
    this.lifetimes.enter(tenantId);
    await this.imports.enterTenant(tenantId);
    if ((this.registry.setting(atStakeOf(tenantId)) ?? '') !== '')
      // The failure of one that is out of service was logged when it was found.
      await this.findMain(tenantId).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
      });
  }

  /** Opens a simulation whose timers are due, without a request (D201). One that cannot be opened now stays closed. */
  async wake(id: string): Promise<void> {
    const entry = this.registry.simulation(id);
    if (
      entry === undefined ||
      entry.deletedAt !== undefined ||
      entry.tenantId === null ||
      this.broken.has(id)
    )
      return;
    const { tenantId } = entry;
    const opened = id.startsWith(MAINS)
      ? this.findMain(tenantId)
      : this.opened({ id, tenantId, config: configOf(entry) });
    await opened.catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
  }

  /** Another node acquires a tenant: all its data leaves memory, durably. None of its requests may be running. */
  async leaveTenant(tenantId: string): Promise<void> {
    this.imports.leaveTenant(tenantId);
    await this.endEphemeral(tenantId);
    this.lifetimes.leave(tenantId);
    await this.closeAllOf(tenantId);
  }

  /** Ephemeral simulations live at the owner of their tenant, and end when it moves. */
  private async endEphemeral(tenantId: string): Promise<void> {
    for (const id of this.ground.store.ephemeral?.idsOf(tenantId) ?? []) await this.remove(id, tenantId);
  }

  /** Closes the simulations of a tenant that are in memory. Their state is not used again. */
  private async closeAllOf(tenantId: string): Promise<void> {
    const own = this.registry.simulations(tenantId).map(({ id }) => id);
    // Followers of a market are removed before it.
    for (const id of own.toReversed()) {
      await this.closing.get(id);
      const simulation = await this.open.get(id)?.simulation.catch(() => undefined);
      if (simulation !== undefined) {
        this.forget(id, simulation);
        await this.closeWithOwnFeed(simulation, HANDED_OVER_MS).catch((error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
        });
        // A late request must not continue from this state.
        simulation.retire();
      }
      await this.restingFeeds.get(id)?.close();
      this.restingFeeds.delete(id);
      this.broken.delete(id);
      this.lacking.delete(id);
    }
  }

  /** Discards all simulations in memory, because other nodes own them now. Writes nothing. */
  async abandon(): Promise<void> {
    for (const { opened } of this.open.values()) opened?.retire();
    this.market.retire();
    await this.close();
  }

  /** Connects to a live source. Of the nodes of a cluster the node of the market alone does so, and the others follow it (D202). */
  private connectLive(): void {
    const { feed, isReplica } = this.market;
    if (!isLive(feed)) return;
    const { liveLead } = this.ground;
    if (!isReplica) feed.start(this.liveHost());
    else if (liveLead !== undefined) feed.follow(this.liveHost(), liveLead);
  }

  /** Answers another node about the live source. Rejects if this node is not connected to it. */
  async answerOfSource(question: object): Promise<object> {
    const { feed, isReplica } = this.market;
    if (!isLive(feed) || isReplica) throw new NoLiveSource();
    return feed.answer(question as RelayQuestion);
  }

  /** Callbacks of the live feed. */
  private liveHost(): LiveHost {
    const { market } = this;
    return {
      now: () => market.now(),
      interest: () => this.interest(),
      instrument: (symbol) => market.brokerage.instrument(symbol),
      list: (instruments) => this.onLiveMarkets({ type: 'ListInstruments', instruments }),
      announce: async (actions) => {
        const { brokerage } = market;
        const upcoming = actions.filter(
          (action) =>
            isUpcoming(brokerage.rules.calendar, action, market.now()) &&
            brokerage.instrument(action.symbol) !== undefined &&
            !brokerage.state.actions.has(actionIdOf(action)),
        );
        // One by one: an action that cannot be announced keeps no other from it.
        for (const action of upcoming) await this.onLiveMarkets(announcementOf([action]));
      },
    };
  }

  /**
   * Executes a command from a live source about instruments or corporate actions on the market, and on simulations that follow no market.
   */
  private async onLiveMarkets(command: Command): Promise<void> {
    await this.market.submit(command);
    for (const simulation of this.onSourceAlone()) await simulation.submit(command);
  }

  /** Simulations in memory on the source or its recording that follow no market. */
  private *onSourceAlone(): Generator<Simulation> {
    for (const { opened } of this.open.values())
      if (opened !== undefined && this.isOfSource(opened.feed) && opened.market === opened) yield opened;
  }

  /** True for the feed of the source, and for its recording. */
  private isOfSource(feed: Feed): boolean {
    return feed === this.market.feed || isRecording(feed);
  }

  /** Symbols with orders, alerts and positions in the simulations in memory on the market's feed, with the underlyings of options. */
  private *interest(): Generator<readonly [string, InterestRank]> {
    for (const { state } of this.onFeed()) {
      for (const { terms } of state.orders.values()) {
        for (const symbol of symbolsTraded(terms)) yield [symbol, 'ORDER'];
        if (terms.underlying !== undefined) yield [terms.underlying, 'ORDER'];
      }
      for (const symbol of state.alertsOn.keys()) yield [symbol, 'ORDER'];
      for (const [symbol, holders] of state.holders) if (holders.size > 0) yield [symbol, 'POSITION'];
      for (const [underlying, holders] of state.optionHolders)
        if (holders.size > 0) yield [underlying, 'POSITION'];
    }
  }

  private *onFeed(): Generator<Brokerage> {
    for (const { opened } of this.open.values())
      if (opened?.feed === this.market.feed) yield opened.brokerage;
  }

  private async openAtStake(): Promise<void> {
    for (const [name, value] of this.registry.settings(AT_STAKE)) {
      if (value === '') continue;
      try {
        await this.findMain(name.slice(AT_STAKE.length));
      } catch (error) {
        // Noted, and out of service; the others are not concerned.
        if (!(error instanceof StoreUnavailable)) throw error;
        if (error.cause instanceof ImplausibleClock) throw error.cause;
      }
    }
  }

  /** The simulation of this id that the tenant may see; for `MAIN`, the tenant's own if it exists. */
  async find(id: string, tenantId: string): Promise<Simulation | undefined> {
    if (id === MAIN) return this.findMain(tenantId);
    const there = this.inMemory(id, tenantId);
    if (there !== undefined) return there;
    const entry = this.entryOf(id, tenantId);
    if (entry === undefined) return undefined;
    this.lifetimes.asked(id);
    return this.opened({ id, tenantId, config: configOf(entry) });
  }

  /** A simulation that the tenant created, if it is open already: synchronous, without reading the registry. */
  inMemory(id: string, tenantId: string): Simulation | undefined {
    const open = this.open.get(id);
    if (open?.opened?.tenantId !== tenantId || isUnnamed(id) || this.broken.has(id)) return undefined;
    open.usedAt = performance.now();
    this.lifetimes.asked(id);
    return open.opened;
  }

  /** Simulations whose ids of portfolios include this one, oldest first; forks have the ids of their parents. Opens none. */
  withPortfolio(portfolioId: string): readonly { readonly id: string; readonly tenantId: string }[] {
    return this.registry.simulations().flatMap((entry) => {
      const { id, tenantId } = entry;
      if (tenantId === null) return [];
      const isMain = id === mainOf(tenantId);
      const config = isMain ? { ...this.mainConfig(tenantId), ...mainOriginOf(entry) } : configOf(entry);
      const { seed, idSecret } = originOf(config);
      const ids = new Ids(idSecret ?? Ids.secretOf(seed));
      // After a loss of records the simulation itself knows its ids.
      const isOther =
        ids.numberOf('PORTFOLIO', portfolioId) === undefined && tagsOfLosses(this.registry, id).length === 0;
      return isOther ? [] : [{ id: isMain ? MAIN : id, tenantId }];
    });
  }

  /** Reports the simulations in memory to a watcher, and later ones when they open. There is at most one watcher. */
  watch(watcher: SimulationWatcher): void {
    this.watcher = watcher;
    for (const [id, { simulation }] of this.open)
      simulation.then(
        (one) => {
          if (!this.isInCompetition(id) && !one.isEphemeral) watcher.opened(one);
        },
        () => undefined,
      );
  }

  /** The `main` of a tenant if it is open already, synchronously. */
  openMain(tenantId: string): Simulation | undefined {
    const main = this.mains.get(tenantId);
    if (main === undefined) return undefined;
    const open = this.open.get(main.id);
    if (open !== undefined) open.usedAt = performance.now();
    return main;
  }

  private async findMain(tenantId: string): Promise<Simulation | undefined> {
    const id = mainOf(tenantId);
    const entry = this.registry.simulation(id);
    if (entry === undefined || entry.deletedAt !== undefined) return undefined;
    return this.opened({ id, tenantId, config: { ...this.mainConfig(tenantId), ...mainOriginOf(entry) } });
  }

  /** The `main` of a tenant, stored from now on. */
  async keepMain(tenantId: string): Promise<Simulation> {
    const found = await this.findMain(tenantId);
    if (found !== undefined) return found;
    let keeping = this.keeping.get(tenantId);
    if (keeping === undefined) {
      keeping = this.keepNow(tenantId).finally(() => this.keeping.delete(tenantId));
      this.keeping.set(tenantId, keeping);
    }
    return keeping;
  }

  private async keepNow(tenantId: string): Promise<Simulation> {
    const { feed, brokerage } = this.market;
    const config = { ...this.mainConfig(tenantId), start: this.market.now() };
    const inForce = await keepRules(this.durableRegistry, brokerage.rules);
    const of = { id: mainOf(tenantId), tenantId, config };
    const kept = await register(this.registry, of, { feed, rules: brokerage.rules, inForce });
    return this.opened({ ...of, config: kept });
  }

  /** The market's configuration with the tenant's own ids and draws, which derive from the installation's secret without revealing it. */
  private mainConfig(tenantId: string): SimulationConfig {
    const { marketConfig: config } = this;
    const origin = config.idSecret ?? String(config.seed);
    const digest = createHash('sha256')
      .update(JSON.stringify([origin, tenantId]))
      .digest('hex');
    return { ...config, seed: Number.parseInt(digest.slice(0, 8), 16), idSecret: digest.slice(8, 40) };
  }

  /**
   * Starting point of a comparison of a simulation. `id`: `MAIN`, or of one that the tenant created. A live market is compared on its
   * recording if this server records it.
   */
  comparedAs(id: string, tenantId: string): ComparedJournal | undefined {
    const isMain = id === MAIN;
    const entry = isMain ? this.registry.simulation(mainOf(tenantId)) : this.entryOf(id, tenantId);
    if (entry === undefined || entry.deletedAt !== undefined) return undefined;
    const config = isMain ? { ...this.mainConfig(tenantId), ...mainOriginOf(entry) } : configOf(entry);
    const { riskFreeRate, liveRecordings } = this.ground;
    const feed = isMain ? this.marketConfig : config;
    const isLiveFeed = (feed.feed === 'live' || feed.liveRecording === true) && liveRecordings !== undefined;
    const recordings = isLiveFeed ? liveRecordings : this.ground.recordings;
    const forked = config.fork?.stretches ?? [];
    const isImported = config.isFromFile === true;
    const marketSeq = isMain ? this.market.published : forked.findLast((one) => one.marketSeq)?.marketSeq;
    return {
      config,
      feed: isLiveFeed ? replayOf(feed) : feed,
      stretches: [
        ...forked.map((one) => ({
          upTo: one.upTo,
          isManual: one.clock === 'manual',
          followsMarket: one.marketSeq !== undefined,
          isLive: one.feed === 'live' && !isLiveFeed,
        })),
        {
          upTo: Infinity,
          isManual: feed.clock === 'manual',
          followsMarket: isMain,
          isLive: feed.feed === 'live' && !isLiveFeed,
        },
      ],
      ...(marketSeq !== undefined && { marketSeq }),
      isImported,
      riskFreeRate,
      ...(recordings !== undefined && { recordings }),
    };
  }

  /** The cell of an evaluation of the tenant. */
  async findEvaluation(id: string, tenantId: string): Promise<Simulation | undefined> {
    const entry = this.storedOf(id, tenantId);
    return entry && this.opened({ id, tenantId, config: configOf(entry) });
  }

  /** The entry of a simulation that the tenant created. */
  private entryOf(id: string, tenantId: string): SimulationEntry | undefined {
    return isUnnamed(id) ? undefined : this.storedOf(id, tenantId);
  }

  private storedOf(id: string, tenantId: string): SimulationEntry | undefined {
    const entry = this.registry.simulation(id);
    return entry?.tenantId === tenantId && entry.deletedAt === undefined ? entry : undefined;
  }

  info(id: string, tenantId: string): SimulationInfo | undefined {
    if (id === MAIN) {
      const createdAt =
        this.registry.simulation(mainOf(tenantId))?.createdAt ??
        this.registry.simulation(MARKET)?.createdAt ??
        0;
      const brokenBy = this.broken.get(mainOf(tenantId));
      return {
        id,
        tenantId,
        config: this.marketConfig,
        createdAt,
        ...(brokenBy !== undefined && { brokenBy }),
      };
    }
    const entry = this.entryOf(id, tenantId);
    return entry && this.infoOf(entry);
  }

  /** Simulations that are out of service, with the reasons: damaged ones, and those that lack acknowledged records. */
  outOfService(): readonly (readonly [id: string, reason: string])[] {
    return [...this.broken, ...this.lacking];
  }

  /** Records of a simulation from elsewhere: imported ones, and those of a fork's ancestors. */
  inheritedRecords(id: string): number {
    const entry = this.registry.simulation(id);
    const shared = entry === undefined ? 0 : (configOf(entry).fork?.sequence ?? 0);
    return Math.max(this.imports.noteOf(id)?.records ?? 0, shared);
  }

  /** Simulations that a tenant created, oldest first. */
  list(tenantId: string): readonly SimulationInfo[] {
    const main = mainOf(tenantId);
    return this.registry
      .simulations(tenantId)
      .filter(({ id }) => id !== main)
      .map((entry) => this.infoOf(entry))
      .filter(({ config }) => config.competition === undefined);
  }

  /** Throws `TooManySimulations` when the tenant has as many as it may, `NotRecorded` for symbols that the recording does not have. */
  create(tenantId: string, config: WantedSimulation, allowed = Infinity): Promise<Simulation> {
    return this.counted(tenantId, allowed, () => this.createNow(tenantId, config));
  }

  /**
   * Receives the file of a simulation and creates a simulation of it, which can be used once the file is verified and entered. Rejects with
   * `TooManySimulations`, and as `Imports.receive` does; then there is no simulation. `madeBy`: the requesting agent.
   */
  import(
    tenantId: string,
    chunks: AsyncIterable<Uint8Array>,
    limits: {
      readonly allowed: number;
      readonly mostBytes: number;
      /** Throws if the tenant may not have such a simulation. */
      readonly check?: (config: SimulationConfig) => void;
    },
    madeBy?: string,
  ): Promise<SimulationInfo | undefined> {
    return this.counted(tenantId, limits.allowed, async () => {
      const { imports, registry } = this;
      const { id, simulation } = await imports.receive(tenantId, chunks, limits.mostBytes);
      const config = importedConfig(simulation.config);
      try {
        limits.check?.(config);
        if (config.clock === 'wall' && simulation.at > this.ground.time.now())
          throw new ImportRefused('the last record is after now, and the clock is the wall’s');
        await this.requireFeed(config, simulation.symbols);
        const kept: KeptConfig = {
          ...config,
          ...(madeBy !== undefined && { madeBy }),
          ...this.ownListsIn(tenantId, simulation.lists),
        };
        // Both in one turn, which is one commit.
        await Promise.all([
          registry.createSimulation({ id, tenantId, config: JSON.stringify(kept), createdAt: Date.now() }),
          imports.noteImporting(id),
        ]);
      } catch (error) {
        imports.discard(id);
        throw error;
      }
      imports.begin(id);
      return this.info(id, tenantId);
    });
  }

  /** Rejects with `ImportRefused` where this server does not have the recording that a simulation of a file replays. */
  private async requireFeed(config: KeptConfig, symbols: readonly string[]): Promise<void> {
    if (config.feed !== 'replay') return;
    const { openFeed } = this.ground;
    const feed = await openFeed(config, calendarById(config.calendar)).catch((error: unknown) => {
      const isMissing = error instanceof NoLiveRecording || error instanceof NotMaskable;
      throw isMissing ? new ImportRefused(`feed replay: ${error.message}`) : error;
    });
    const listed = new Set(feed.listing().instruments.map(({ symbol }) => symbol));
    const replayed = config.replay?.symbols?.map((symbol) => feed.mask?.masked(symbol) ?? symbol) ?? [];
    await feed.close();
    const missing = [...new Set([...replayed, ...symbols])].filter((symbol) => !listed.has(symbol));
    if (missing.length > 0)
      throw new ImportRefused(
        `feed replay: the recording of this server does not have ${missing.slice(0, MOST_NAMED).join(', ')}`,
      );
  }

  /** Size of the lists of rules in a file that are not those of this installation. Throws `ImportRefused` if the tenant has too many. */
  private ownListsIn(
    tenantId: string,
    lists: readonly (readonly [digest: string, length: number])[],
  ): Pick<KeptConfig, 'ownLists'> {
    const ownLists = charactersOwned(this.durableRegistry, lists);
    if (ownLists === 0) return {};
    this.requireRoomForLists(tenantId, ownLists);
    return { ownLists };
  }

  private get durableRegistry(): Registry {
    return durableOf(this.ground.store);
  }

  /** Lists of rules are in memory and belong to a simulation: their size is limited for each tenant. */
  private requireRoomForLists(tenantId: string, characters: number): void {
    const all = this.registry
      .simulations(tenantId)
      .reduce((sum, entry) => sum + (configOf(entry).ownLists ?? 0), characters);
    if (all > MOST_LISTS) throw new TooManyLists();
  }

  /**
   * The file of a simulation that the tenant created, up to its last durable record; undefined if there is none. Throws `StoreUnavailable`
   * if the record is not durable yet.
   */
  async export(id: string, tenantId: string): Promise<AsyncGenerator<string> | undefined> {
    const { store } = this.ground;
    const entry = this.entryOf(id, tenantId);
    if (entry === undefined) return undefined;
    const note = this.imports.noteOf(id);
    if (note !== undefined && note.status !== 'READY') throw new StoreUnavailable('the import is under way');
    await (await this.open.get(id)?.simulation)?.durable();
    const upTo = store.journal.lastSeq(id);
    const settings = travelingSettings(store.registry, id);
    return exportSimulation(store, { id, shownId: id, config: configOf(entry), upTo, settings });
  }

  /**
   * A simulation that continues from a point in another's journal (D172). Throws `NoSuchPoint`, `TooDeep` and `TooManySimulations`;
   * undefined if the tenant has no such parent.
   */
  async fork(
    parentId: string,
    tenantId: string,
    wanted: WantedFork,
    allowed = Infinity,
  ): Promise<{ readonly simulation: Simulation; readonly stateHash: string } | undefined> {
    const parent = await this.findOrKeep(parentId, tenantId);
    if (parent === undefined) return undefined;
    // A fork is independent, even of a competition of its parent.
    const { competition: _, ...before } = this.configOfOpen(parent);
    if ((before.fork?.depth ?? 0) >= MOST_GENERATIONS) throw new TooDeep();
    return this.counted(tenantId, allowed, async () => {
      const point =
        wanted.from === undefined
          ? await pointNow(parent, this.points)
          : await pointInPast(
              this.ground.store,
              this.points,
              parent,
              originOf(before),
              wanted.from,
              (snapshotId) => this.snapshots.find(parent.id, snapshotId),
            );
      const { sequence, stateHash } = point;
      if (before.ownLists !== undefined) this.requireRoomForLists(tenantId, before.ownLists);
      const id = randomUUID();
      const shownSeed = this.info(parentId, tenantId)?.config.seed ?? before.seed;
      const isRecorded = isLive(parent.feed) && (await parent.feed.hasRecorded(point.at));
      const config = forkConfigOf(id, parentId, before, wanted, point, shownSeed, parent.tags, isRecorded);
      const furnished = await openFeedAndRules(this.ground, this.listings, config);
      if (isRecording(furnished.feed) && wanted.from === undefined)
        furnished.feed.startWith(quotesInForce(parent.feed, point.at), point.at);
      const brokerage = await inSlices(Brokerage.restoring(furnished.rules, point.saved));
      brokerage.resume();
      const commands = await this.commandsToPart(
        parent,
        brokerage,
        point.at,
        wanted.from === undefined,
        isRecorded,
      );
      const letGoOfAncestors = await this.ancestorsFor(config, parent.id, tenantId, sequence);
      // In one turn, and so in one commit: a fork that is there has its first record.
      const registered = register(this.registry, { id, tenantId, config }, furnished, {
        simulationId: parent.id,
        sequence,
      }).finally(letGoOfAncestors);
      // Records of ancestors name these lists, and the parent may be deleted.
      const lists = ownLists(this.registry, parent.id).map(([name, text]) =>
        this.registry.saveSetting(settingsOf(id) + name, text),
      );
      const opened = openSimulation(
        this.ground,
        { id, tenantId, config: { ...config, rules: furnished.inForce } },
        furnished,
        this.clocksFor(config),
        undefined,
        undefined,
        // A start from its ancestors' checkpoints reads little more than one from its own would.
        { brokerage, seq: sequence, checkpointSeq: sequence, commands },
      );
      this.open.set(id, { simulation: opened, usedAt: performance.now(), isUnused: true });
      opened.catch(() => this.open.delete(id));
      const living = config.ttl === undefined ? undefined : this.lifetimes.begin(id, tenantId, config.ttl.ms);
      await Promise.all([registered, ...lists]);
      await living;
      const simulation = await opened;
      const open = this.open.get(id);
      if (open !== undefined) open.opened = simulation;
      if (!simulation.isEphemeral) this.watcher?.opened(simulation);
      this.unused.push(id);
      this.restUnused();
      return { simulation, stateHash };
    });
  }

  /** Brings what an ephemeral fork has in common with its parent into memory. Returns what is called once the fork is registered. */
  private async ancestorsFor(
    { ephemeral }: SimulationConfig,
    parentId: string,
    tenantId: string,
    sequence: number,
  ): Promise<() => void> {
    const part = this.ground.store.ephemeral;
    if (ephemeral !== true || part === undefined) return () => undefined;
    part.requireRoom(tenantId);
    return part.copyAncestors(parentId, tenantId, sequence);
  }

  /** Closes the oldest of the unused forks while there are too many. */
  private restUnused(): void {
    while (this.unused.length > MOST_UNUSED) {
      const id = this.unused.shift() ?? '';
      const { opened, isUnused } = this.open.get(id) ?? {};
      if (
        opened !== undefined &&
        isUnused === true &&
        opened.canRest() &&
        this.watcher?.keeps(opened) !== true
      )
        void this.restNow(id, opened);
    }
  }

  /** Takes a snapshot (D171). Rejects as `Snapshots.take` does; undefined if the tenant has no such simulation. */
  async takeSnapshot(id: string, tenantId: string, name?: string): Promise<Snapshot | undefined> {
    const simulation = await this.findOrKeep(id, tenantId);
    if (simulation === undefined) return undefined;
    return this.snapshots.take(simulation, originOf(this.configOfOpen(simulation)), name);
  }

  private findOrKeep(id: string, tenantId: string): Promise<Simulation | undefined> {
    return id === MAIN ? this.keepMain(tenantId) : this.find(id, tenantId);
  }

  /** Configuration of an open simulation, from the registry. */
  private configOfOpen({ id, tenantId }: Simulation): KeptConfig {
    const entry = this.registry.simulation(id);
    if (entry === undefined) throw new Error(`There is no simulation ${id}`);
    if (!id.startsWith(MAINS)) return configOf(entry);
    const pathSeed = this.marketConfig.seed;
    return { ...this.mainConfig(tenantId ?? ''), pathSeed, ...mainOriginOf(entry) };
  }

  /**
   * Commands that give a fork its parent's market at a point, as far as the journal does not contain it: that of the installation, and data
   * from a live source.
   */
  private async commandsToPart(
    parent: Simulation,
    fork: Brokerage,
    at: Instant,
    isNow: boolean,
    isRecorded: boolean,
  ): Promise<readonly Command[]> {
    const { market } = parent;
    const isOfSource = isLive(parent.feed);
    if (market === parent && !(isOfSource && isNow)) return [];
    const then = isNow && isOfSource ? market.brokerage : await this.marketAt(market, at);
    const hasQuotes = (isOfSource && !isRecorded) || acceptsQuotes(parent.feed);
    const commands = commandsToMeet(then, fork, hasQuotes).map((command) =>
      // The fork's journal has no other record of them.
      command.type === 'UpdateMarket' ? { ...command, pushed: true } : command,
    );
    if (!isOfSource) return commands;
    const symbols = [...fork.state.holders.keys(), ...fork.state.alertsOn.keys(), ...then.state.books.keys()];
    for (const { terms } of fork.state.orders.values()) symbols.push(...symbolsTraded(terms));
    const instruments = [...new Set(symbols)].flatMap((symbol) =>
      fork.instrument(symbol) === undefined ? (parent.brokerage.instrument(symbol) ?? []) : [],
    );
    return instruments.length === 0 ? commands : [{ type: 'ListInstruments', instruments }, ...commands];
  }

  /** A market that others follow, as its journal has it at an instant. */
  private async marketAt(market: Simulation, at: Instant): Promise<Brokerage> {
    await market.durable();
    const entry = this.registry.simulation(market.id);
    if (entry === undefined) throw new Error('There is no market');
    const { store } = this.ground;
    const sequence = await market.journal.lastAt(market.id, at);
    return brokerageAt(store, market.id, market.brokerage.rules, originOf(configOf(entry)), sequence);
  }

  /** A configuration behind its mask. Throws `NotMaskable`. */
  private async masked(wanted: WantedSimulation): Promise<WantedSimulation> {
    const { hides, ...config } = wanted;
    if (hides === undefined) return config;
    const feed = await this.ground.openFeed({ ...config, seed: 0 }, calendarById(config.calendar));
    const firstSession = feed.firstSession?.();
    await feed.close();
    if (firstSession === undefined) throw new NotMaskable();
    return maskedConfig(config, hides, firstSession);
  }

  private async counted<T>(tenantId: string, allowed: number, work: () => Promise<T>): Promise<T> {
    const underWay = this.creating.get(tenantId) ?? 0;
    // Tenants without a limit may have thousands, which need not be read.
    if (allowed !== Infinity) {
      const main = mainOf(tenantId);
      const made = this.registry
        .simulations(tenantId)
        .filter((entry) => entry.id !== main && configOf(entry).competition === undefined).length;
      if (made + underWay >= allowed) throw new TooManySimulations();
    }
    this.creating.set(tenantId, underWay + 1);
    try {
      return await work();
    } finally {
      const left = (this.creating.get(tenantId) ?? 1) - 1;
      if (left === 0) this.creating.delete(tenantId);
      else this.creating.set(tenantId, left);
    }
  }

  /**
   * Creates the market of a competition, the cell of an evaluation, or one of its runs. It belongs to the organizer and does not count toward the organizer's
   * limit. `begin` gives its first commands, and its `alongside` is called in the turn, which is the commit, of its registration.
   */
  createCompetitionMarket(
    tenantId: string,
    config: WantedSimulation & Pick<SimulationConfig, 'idSecret'>,
    id: string,
    begin?: (feed: Feed) => SimulationBeginning,
  ): Promise<Simulation> {
    return this.createNow(tenantId, config, id, begin);
  }

  /**
   * Prepares the simulation of an entry, which follows the market of its competition: the same feed, clock and rules, with ids and draws of its
   * own. `register` enters it with the records of its first commands in the turn, which is the commit, of the call.
   */
  async prepareEntry(
    market: Simulation,
    origin: Pick<SimulationConfig, 'seed' | 'idSecret'>,
    id: string,
    commands: () => readonly Command[],
  ): Promise<FirstRecords & { readonly register: () => Promise<unknown> }> {
    const { tenantId } = market;
    const before = this.configOfOpen(market);
    if (tenantId === null || before.competition === undefined)
      throw new Error('It is no market of a competition');
    const inForce = await keepRules(this.durableRegistry, market.brokerage.rules);
    const { rules: _, ...shared } = before;
    const config: SimulationConfig = {
      ...shared,
      ...origin,
      start: market.now(),
      competition: { id: before.competition.id, role: 'ENTRY', marketId: market.id },
    };
    const { feed, brokerage } = market;
    const furnished = { feed, rules: brokerage.rules, inForce };
    const first = firstRecords(id, furnished.rules, originOf({ ...config, rules: inForce }), commands());
    const register = (): Promise<unknown> =>
      this.registerWith({ id, tenantId, config }, furnished, first.records);
    return { ...first, register };
  }

  /** Registers a simulation with its first records, all in this turn. */
  private registerWith(
    of: Parameters<typeof register>[1],
    furnished: FeedAndRules,
    records: readonly JournalRecord[],
  ): Promise<KeptConfig> {
    const { journal } = this.ground.store;
    const registered = register(this.registry, of, furnished);
    const appended = records.map((record) => journal.append(record));
    return Promise.all([registered, ...appended]).then(([kept]) => kept);
  }

  /** Only the participants of a competition see its events. */
  private isInCompetition(id: string): boolean {
    const entry = this.registry.simulation(id);
    return entry !== undefined && configOf(entry).competition !== undefined;
  }

  private async createNow(
    tenantId: string,
    wanted: WantedSimulation,
    id = randomUUID() as string,
    begin?: (feed: Feed) => SimulationBeginning,
  ): Promise<Simulation> {
    const config = await this.masked(wanted);
    if (config.feed === 'live' && !isLive(this.market.feed)) throw new NoLiveSource();
    // On a live feed there is one clock, which a delayed plan sets behind real time (D183).
    const start =
      config.feed === 'live' ? Instant.min(Instant.ofMs(config.start), this.market.now()) : config.start;
    const whole = withChance({ ...config, start });
    if (config.ephemeral === true) this.ground.store.ephemeral?.requireRoom(tenantId);
    const furnished = await openFeedAndRules(this.ground, this.listings, whole);
    requireRecorded(config, furnished);
    const of = { id, tenantId, config: whole };
    let beginning: SimulationBeginning | undefined;
    let records: readonly JournalRecord[] = [];
    try {
      beginning = begin?.(furnished.feed);
      const origin = originOf({ ...whole, rules: furnished.inForce });
      if (beginning !== undefined)
        ({ records } = firstRecords(id, furnished.rules, origin, beginning.commands));
    } catch (error) {
      await furnished.feed.close();
      throw error;
    }
    const registered = this.registerWith(of, furnished, records);
    const alongside = beginning?.alongside();
    const living =
      config.ttl === undefined ? undefined : this.lifetimes.begin(of.id, tenantId, config.ttl.ms);
    const kept = await registered;
    await living;
    await alongside;
    return this.opened({ ...of, config: kept }, furnished);
  }

  /** Rejects as a creation does if the recording does not allow a simulation of this configuration. Creates nothing. */
  async check(config: WantedSimulation): Promise<void> {
    const whole = withChance(await this.masked(config));
    const furnished = await openFeedAndRules(this.ground, this.listings, whole);
    try {
      requireRecorded(config, furnished);
    } finally {
      await furnished.feed.close();
    }
  }

  /** SHA-256, in hex, over the files of the recordings; undefined = there are none. */
  async recordingDigest(): Promise<string | undefined> {
    const { recordings } = this.ground;
    return recordings === undefined ? undefined : recordingDigest(recordings);
  }

  /** False when the tenant has no such simulation. `main` cannot be removed. */
  async remove(id: string, tenantId: string): Promise<boolean> {
    if (id.startsWith(MAINS) || this.storedOf(id, tenantId) === undefined) return false;
    this.imports.cancel(id);
    await this.closing.get(id);
    const open = this.open.get(id);
    this.open.delete(id);
    const simulation = await open?.simulation.catch(() => undefined);
    const isFollowed = this.ground.store.ephemeral?.has(id) !== true;
    if (simulation !== undefined) {
      if (isFollowed) this.watcher?.closed(simulation);
      await this.closeWithOwnFeed(simulation);
    }
    await this.restingFeeds.get(id)?.close();
    this.restingFeeds.delete(id);
    await this.registry.deleteSimulation(id, Date.now());
    this.broken.delete(id);
    if (isFollowed) this.watcher?.removed(id);
    await this.lifetimes.ended(id);
    await this.onRemoved(id);
    return true;
  }

  /** Deletes all data of a tenant, including `main`; its requests under way get 503. Can be repeated when it did not finish. */
  async eraseTenant(tenantId: string): Promise<void> {
    await this.watcher?.erasing(tenantId);
    await this.keeping.get(tenantId)?.catch(() => undefined);
    const { store } = this.ground;
    const own = [...store.registry.simulations(tenantId)];
    // Followers of a market are removed before it.
    for (const { id } of own.toReversed()) {
      this.imports.cancel(id);
      await this.closing.get(id);
      const simulation = await this.open.get(id)?.simulation.catch(() => undefined);
      if (simulation !== undefined) {
        simulation.retire();
        this.forget(id, simulation);
        await simulation.close();
        if (this.ownsFeed(simulation)) await simulation.feed.close();
      }
      this.open.delete(id);
      await this.restingFeeds.get(id)?.close();
      this.restingFeeds.delete(id);
      this.broken.delete(id);
    }
    await eraseTenant(store, tenantId);
  }

  /** Takes a simulation with a damaged journal out of service until a restart. */
  takeOutOfService(id: string, reason: string): void {
    if (id === MARKET) return this.market.takeOutOfService(reason);
    if (this.broken.has(id)) return;
    this.broken.set(id, reason);
    const open = this.open.get(id);
    if (open === undefined) return noteOutOfService(this.ground, id, reason);
    open.simulation.then(
      (simulation) => simulation.takeOutOfService(reason),
      () => undefined,
    );
  }

  /** Drops a simulation whose state in memory is invalid. Every acknowledged record is durable. */
  dropLost(id: string): void {
    if (id === MARKET) {
      const { onMarketLost, onError } = this.ground;
      if (onMarketLost !== undefined) return onMarketLost();
      return onError(new StoreUnavailable('the market of this installation is served elsewhere'));
    }
    const open = this.open.get(id);
    if (open === undefined) return;
    open.simulation
      .then(
        (simulation) => {
          if (this.open.get(id) !== open) return undefined;
          simulation.retire();
          for (const follower of simulation.followers) this.dropLost(follower.id);
          this.forget(id, simulation);
          const isOwnFeed = simulation.feed !== this.market.feed;
          return simulation.close().then(() => (isOwnFeed ? simulation.feed.close() : undefined));
        },
        () => undefined,
      )
      .catch(this.ground.onError);
  }

  /** Closes simulations that have been idle for too long. */
  private async restIdle(): Promise<void> {
    const before = performance.now() - this.ground.idleMs;
    for (const [id, { simulation, usedAt }] of this.open) {
      if (usedAt > before) continue;
      const idle = await simulation.catch(() => undefined);
      const current = this.open.get(id);
      if (idle === undefined || current === undefined || current.usedAt > before || !idle.canRest()) continue;
      if (this.watcher?.keeps(idle) === true) continue;
      await this.restNow(id, idle);
    }
  }

  private async restNow(id: string, simulation: Simulation): Promise<void> {
    this.forget(id, simulation);
    if (this.ownsFeed(simulation)) this.restingFeeds.set(id, simulation.feed);
    const closing = this.rest(simulation).catch(this.ground.onError);
    this.closing.set(id, closing);
    await closing;
    this.closing.delete(id);
  }

  /** The market, and every `main` in memory that follows it. */
  get onMarket(): readonly Simulation[] {
    return [this.market, ...this.market.followers];
  }

  /** Numbers of simulations in memory and of their open orders. */
  async figures(): Promise<{ readonly count: number; readonly openOrders: number }> {
    const open = await Promise.all(
      [...this.open.values()].map(({ simulation }) => simulation.catch(() => undefined)),
    );
    const found = open.filter((simulation) => simulation !== undefined);
    const openOrders = found.reduce((sum, { brokerage }) => sum + brokerage.state.orders.size, 0);
    return { count: found.length, openOrders };
  }

  /** Closes a simulation that leaves memory. Such a `main` has no open orders. */
  private async rest(simulation: Simulation): Promise<void> {
    if (simulation.market !== simulation) await this.registry.saveSetting(atStake(simulation), '');
    await simulation.close();
    simulation.retire();
  }

  private forget(id: string, simulation: Simulation): void {
    const { tenantId } = simulation;
    this.open.delete(id);
    this.watcher?.closed(simulation);
    if (tenantId !== null && this.mains.get(tenantId)?.id === id) this.mains.delete(tenantId);
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    this.imports.close();
    this.lifetimes.close();
    await Promise.all(this.closing.values());
    const all = await Promise.all(
      [...this.open.values()].map(({ simulation }) => simulation.catch(() => undefined)),
    );
    const open = all.filter((one) => one !== undefined);
    // Followers of a market are removed before it.
    for (const one of open.toSorted((a, b) => Number(b.market !== b) - Number(a.market !== a))) {
      await one.close();
      if (this.ownsFeed(one)) await one.feed.close();
    }
    await closeWithFeed(this.market);
    for (const feed of this.restingFeeds.values()) await feed.close();
    await this.ground.time.close();
  }

  private async closeWithOwnFeed(simulation: Simulation, checkpointMs?: number): Promise<void> {
    if (this.ownsFeed(simulation)) await closeWithFeed(simulation, checkpointMs);
    else await simulation.close(checkpointMs);
  }

  private infoOf({ id, tenantId, createdAt, ...entry }: SimulationEntry): SimulationInfo {
    const brokenBy = this.broken.get(id);
    const imported = this.imports.noteOf(id);
    const config = configOf(entry);
    return {
      id,
      tenantId,
      config,
      createdAt,
      ...(brokenBy !== undefined && { brokenBy }),
      ...(imported !== undefined && { imported }),
    };
  }

  private get registry(): Registry {
    return this.ground.store.registry;
  }

  private opened(of: StoredSimulation, furnished?: FeedAndRules): Promise<Simulation> {
    if (this.broken.has(of.id))
      return Promise.reject(new StoreUnavailable('the simulation is out of service'));
    let open = this.open.get(of.id);
    if (open === undefined) {
      const imported = this.imports.noteOf(of.id);
      if (imported !== undefined && imported.status !== 'READY')
        return Promise.reject(new StoreUnavailable('the simulation is not imported'));
      const opening: OpenSimulation = { simulation: this.openNow(of, furnished), usedAt: 0 };
      open = opening;
      this.open.set(of.id, open);
      open.simulation.then(
        (simulation) => {
          opening.opened = simulation;
          if (of.id.startsWith(MAINS)) this.mains.set(of.tenantId, simulation);
          if (of.config.competition === undefined && !simulation.isEphemeral)
            this.watcher?.opened(simulation);
          if (of.config.competition?.role === 'CELL') this.onCellOpened?.(simulation);
          this.snapshots.resume(simulation, originOf(of.config));
        },
        () => {
          if (this.open.get(of.id) === opening) this.open.delete(of.id);
        },
      );
    }
    open.usedAt = performance.now();
    open.isUnused = false;
    return open.simulation;
  }

  private async openNow(of: StoredSimulation, furnished?: FeedAndRules): Promise<Simulation> {
    const { ground, listings } = this;
    const clocks = this.clocksFor(of.config);
    await this.closing.get(of.id);
    try {
      await ground.store.takeCell?.(of.id);
      this.lacking.delete(of.id);
    } catch (error) {
      if (error instanceof RecordsMissing) this.lacking.set(of.id, error.message);
      throw error;
    }
    const feed = this.restingFeeds.get(of.id);
    this.restingFeeds.delete(of.id);
    try {
      if (of.id.startsWith(MAINS)) return await this.openMainNow(of, feed);
      if (of.config.competition?.role === 'ENTRY')
        return await this.openEntryNow(of, of.config.competition.marketId, feed);
      const ready = furnished ?? (await openFeedAndRules(ground, listings, of.config, feed));
      // On a live feed there is one clock.
      const clock = isLive(ready.feed) ? this.market.sharedClock : undefined;
      const { fork } = of.config;
      // Only a fork that was made here has a parent here (D233).
      const point = fork?.parentId === undefined ? undefined : this.points.find(fork.parentId, fork.sequence);
      const known = point && fork && { seq: fork.sequence, saved: point.saved };
      const simulation = await openSimulation(ground, of, ready, clocks, undefined, clock, undefined, known);
      if (isLive(ready.feed))
        // Instruments that the source has and its list did not.
        for (const command of commandsToMeet(this.market.brokerage, simulation.brokerage, false))
          await simulation.submit(command);
      return simulation;
    } catch (error) {
      ground.store.ownership?.noteWakeUp(of.id, undefined);
      if (!(error instanceof Error) || isPassing(error)) throw error;
      this.broken.set(of.id, error.message);
      noteOutOfService(ground, of.id, error.message);
      throw new StoreUnavailable('the simulation is out of service', { cause: error });
    }
  }

  private clocksFor({ ephemeral }: SimulationConfig): ClockKeeper {
    return ephemeral === true ? this.ephemeralClocks : this.clocks;
  }

  /** An entry of a competition goes by the rules and the clock of its market, and shares its quotes as a `main` does. */
  private async openEntryNow(
    of: StoredSimulation,
    marketId: string,
    resting: Feed | undefined,
  ): Promise<Simulation> {
    const { ground, clocks, durableRegistry } = this;
    const market = await this.find(marketId, of.tenantId);
    if (market === undefined) throw new StoreUnavailable('the market of the competition is gone');
    const { rules } = market.brokerage;
    const feed = isRecorded(market.feed)
      ? (resting ?? (await ground.openFeed(of.config, calendarById(rules.calendar.id))))
      : market.feed;
    const inForce = await keepRules(durableRegistry, rules);
    return openSimulation(ground, of, { feed, rules, inForce }, clocks, market);
  }

  /** True when the feed of a simulation is its own, and not that of a market that it follows. */
  private ownsFeed(simulation: Simulation): boolean {
    const { feed, market } = simulation;
    return feed !== this.market.feed && (market === simulation || feed !== market.feed);
  }

  /** A `main` goes by the rules and the clock of the market. Its quotes it shares too, but for a recording, which it reads for itself. */
  private async openMainNow(of: StoredSimulation, resting: Feed | undefined): Promise<Simulation> {
    const { ground, market, clocks, durableRegistry } = this;
    const { rules } = market.brokerage;
    const feed = isRecorded(market.feed)
      ? (resting ?? (await ground.openFeed(of.config, calendarById(rules.calendar.id))))
      : market.feed;
    const inForce = await keepRules(durableRegistry, rules);
    return openSimulation(ground, of, { feed, rules, inForce }, clocks, market);
  }
}

/** First commands of a simulation, and the writes of the same commit. */
export interface SimulationBeginning {
  readonly commands: readonly Command[];
  readonly alongside: () => Promise<unknown>;
}

/** Longest wait of a node of a new installation for the node that creates the market, ms. */
const MARKET_MADE_MS = 10_000;

/** A simulation that another node registers. Rejects with `StoreUnavailable` when it does not. */
async function registered({ registry }: Store, id: string): Promise<SimulationEntry> {
  for (let waited = 0; waited < MARKET_MADE_MS; waited += 100) {
    const entry = registry.simulation(id);
    if (entry !== undefined) return entry;
    await later(100);
  }
  throw new StoreUnavailable('the node that owns the market does not open it');
}

/** Configuration that reads the recording from its files. */
const replayOf = ({ liveRecording: _, ...config }: SimulationConfig): SimulationConfig => ({
  ...config,
  feed: 'replay',
});

/** The quotes in force of all symbols that a source or its recording has told of. */
function quotesInForce(feed: Feed, at: Instant): readonly Quote[] {
  if (isRecording(feed)) return feed.quotesInForce();
  if (!isLive(feed)) return [];
  const latest = new Map<string, Quote>();
  for (const { quotes } of feed.take(Instant.earliest, at, () => true))
    for (const quote of quotes) latest.set(quote.symbol, quote);
  return [...latest.values()];
}

function followClock(market: Simulation, clocks: ClockKeeper): void {
  if (market.clock().mode !== 'scaled') return;
  const line = clocks.lineOf(market.id);
  if (line !== undefined) market.followClock(line.now, line.speed);
}

/** True for errors that another attempt may avoid: a store that does not commit now, a file that could not be opened. */
const isPassing = (error: Error): boolean => error instanceof StoreUnavailable || 'syscall' in error;

const noteOutOfService = ({ note }: SharedDependencies, id: string, reason: string): void =>
  note(`Simulation ${id} is out of service until the server is started again: ${reason}`);

/** True for ids that no tenant can name. */
const isUnnamed = (id: string): boolean => id.startsWith(MAINS) || id.startsWith(EVALUATION_CELLS);

const atStake = ({ tenantId }: Pick<Simulation, 'tenantId'>): string => atStakeOf(tenantId ?? '');

interface OpenSimulation {
  readonly simulation: Promise<Simulation>;
  /** Once it is. */
  opened?: Simulation;
  /** On the monotonic clock. */
  usedAt: number;
  /** True for a fork without requests since its creation. */
  isUnused?: boolean;
}

async function closeWithFeed(simulation: Simulation, checkpointMs?: number): Promise<void> {
  await simulation.close(checkpointMs);
  await simulation.feed.close();
}

const withChance = (wanted: WantedSimulation): SimulationConfig =>
  wanted.seed === undefined
    ? { ...wanted, seed: randomInt(2 ** 32), idSecret: randomBytes(16).toString('hex') }
    : { ...wanted, seed: wanted.seed };

const configOf = (entry: Pick<SimulationEntry, 'config'>): KeptConfig =>
  JSON.parse(entry.config) as KeptConfig;

/** Parts of a `main`'s registered configuration that never change: its start, its rules, and the source of its ids. */
const mainOriginOf = (
  entry: SimulationEntry,
): Pick<KeptConfig, 'rules' | 'start' | 'seed' | 'joined' | 'isFromFile' | 'ownLists'> => {
  const { rules, start, seed, idSecret, joined, isFromFile, ownLists } = configOf(entry);
  return {
    rules,
    start,
    seed,
    ...(idSecret !== undefined && { idSecret }),
    ...(joined !== undefined && { joined }),
    ...(isFromFile !== undefined && { isFromFile }),
    ...(ownLists !== undefined && { ownLists }),
  };
};

interface StoredSimulation {
  readonly id: string;
  readonly tenantId: string;
  readonly config: KeptConfig;
}

/** Current feed and rules of a simulation. */
interface FeedAndRules {
  readonly feed: Feed;
  readonly rules: Rules;
  readonly inForce: RulesInForce;
}

async function openFeedAndRules(
  ground: SharedDependencies,
  listings: Listings,
  config: SimulationConfig,
  resting?: Feed,
): Promise<FeedAndRules> {
  const calendar = calendarById(config.calendar);
  const feed = resting ?? (await ground.openFeed(config, calendar));
  const rules = rulesFor(ground, feed, calendar, listings, config);
  const { ephemeral } = ground.store;
  const lists =
    config.ephemeral === true && ephemeral !== undefined ? ephemeral.lists : durableOf(ground.store);
  return { feed, rules, inForce: await keepRules(lists, rules) };
}

/** The registry of what outlives the process. */
const durableOf = ({ ephemeral, registry }: Store): Registry => ephemeral?.durableRegistry ?? registry;

/** Throws `NotRecorded` if a recording lacks symbols to replay. */
function requireRecorded({ replay }: WantedSimulation, { feed, rules }: FeedAndRules): void {
  const listed = new Set(rules.instruments.listing.instruments.map(({ symbol }) => symbol));
  const missing = replay?.symbols?.filter((symbol) => !listed.has(feed.mask?.masked(symbol) ?? symbol)) ?? [];
  if (missing.length > 0) throw new NotRecorded(missing);
}

/** Enters a new simulation in the registry, with the rules that it begins under. */
async function register(
  registry: Registry,
  of: { readonly id: string; readonly tenantId: string | null; readonly config: SimulationConfig },
  { inForce }: FeedAndRules,
  begins?: ForkBeginning,
): Promise<KeptConfig> {
  const config: KeptConfig = { ...of.config, rules: inForce };
  await registry.createSimulation({ ...of, config: JSON.stringify(config), createdAt: Date.now() }, begins);
  return config;
}

/** The store without checkpoints for a short journal, which is read from its beginning: thousands are opened when a node is lost. */
function readFrom({ journal, checkpoints }: Store, id: string): Pick<Store, 'journal' | 'checkpoints'> {
  const last = journal.lastSeq(id);
  // 0 also if another node owns the simulation.
  const isShort = last > 0 && last < WORTH_A_CHECKPOINT;
  return { journal, checkpoints: isShort ? NO_CHECKPOINTS : checkpoints };
}

async function openSimulation(
  ground: SharedDependencies,
  { id, tenantId, config }: Omit<StoredSimulation, 'tenantId'> & Pick<SimulationInfo, 'tenantId'>,
  { feed, rules, inForce }: FeedAndRules,
  clocks: ClockKeeper,
  market?: Simulation,
  sharedClock?: Clock,
  forked?: Recovered & Pick<ForkStart, 'commands'>,
  known?: KnownStart,
  isReplica = false,
): Promise<Simulation> {
  const { onError, time } = ground;
  const store = ground.store.ephemeral?.storeOf(id) ?? ground.store;
  if (config.start < Instant.first || config.start > Instant.last)
    throw new RangeError(`it begins at ${config.start} ms, outside of 1970-01-01 to 2199-12-31`);
  const origin = originOf(config);
  const { brokerage, seq, checkpointSeq } =
    forked ?? (await recover(readFrom(store, id), id, rules, origin, known));
  const { state } = brokerage;
  const { fork } = config;
  const isBeginning = fork?.sequence === seq;
  if (config.clock === 'wall') time.check(seq > 0 ? state.now : undefined);
  await market?.resumeFrom(state.now);
  const clockAt = isBeginning ? undefined : state.clock;
  const now = Instant.max(clockAt ?? Instant.ofMs(config.start), state.now);
  const isChanged = !sameRules(state.rules ?? origin.rules, inForce);
  const simulation = new Simulation({
    id,
    tenantId,
    brokerage,
    feed,
    clock: market?.sharedClock ?? sharedClock ?? clockOf(config, now, lastOf(clocks, id, config), time, feed),
    ...(market !== undefined && {
      market,
      joinsAt: config.joined?.seq === seq ? config.joined.marketSeq : undefined,
      // Competitions are opened at a start by themselves.
      ...(config.competition === undefined &&
        store.registry.setting(atStake({ tenantId })) !== '1' && {
          onStake: () => void store.registry.saveSetting(atStake({ tenantId }), '1').catch(() => undefined),
          hasStake: !isIdle(state),
        }),
    }),
    clocks,
    store,
    seq,
    checkpointSeq,
    tags: [...(fork?.tags ?? []), ...tagsOfLosses(store.registry, id)],
    lossTags: tagsOfLosses(store.registry, id).map(({ tag }) => tag),
    isEphemeral: config.ephemeral === true,
    ...(isBeginning && {
      begins: {
        now,
        ...(fork.seed !== undefined && { seed: fork.seed }),
        commands: forked?.commands ?? [],
      },
    }),
    ...(isChanged && { changedRules: inForce }),
    onError,
    onOutOfService: (reason) => noteOutOfService(ground, id, reason),
    tell: ground.tell,
    ...(id === MARKET && {
      isReplica,
      onRecorded: ground.onMarketRecorded,
      classesInUseElsewhere: ground.classesInUseElsewhere,
    }),
  });
  try {
    await simulation.start();
  } catch (error) {
    // Another opening begins from the journal. This one must neither follow the market nor append to it.
    simulation.retire();
    await simulation.close().catch(() => undefined);
    throw error;
  }
  return simulation;
}

/** Tags of events after losses that an operator accepted, oldest first (D203). */
const tagsOfLosses = (registry: Registry, id: string): readonly StreamTag[] =>
  JSON.parse(registry.setting(settingsOf(id) + EVENT_TAGS) ?? '[]') as readonly StreamTag[];

/** Default age in ms from which a quote no longer fills orders (D47). */
function maxAgeOf(feed: Feed): number | undefined {
  if (feed.maxAgeMs !== undefined) return feed.maxAgeMs;
  if (isLive(feed)) return LIVE_MAX_AGE_MS;
  return isRecorded(feed) ? RECORDING_HOLE_MS : undefined;
}

/** The rules a simulation goes by: today's brokers and settings, the feed's instruments. */
function rulesFor(
  ground: SharedDependencies,
  feed: Feed,
  calendar: Calendar,
  listings: Listings,
  config: SimulationConfig,
): Rules {
  const listing = feed.listing();
  let instruments = listings.get(listing);
  if (instruments === undefined) {
    instruments = new KnownInstruments(listing);
    listings.set(listing, instruments);
  }
  return {
    calendar,
    brokers: ground.brokers,
    instruments,
    quoteMaxAgeMs: ground.quoteMaxAgeMs ?? maxAgeOf(feed),
    marketCollarBps: ground.marketCollarBps,
    portfolioMarginEquity: ground.portfolioMarginEquity,
    riskFreeRate: ground.riskFreeRate,
    ...optionsOf(config),
    components: true,
  };
}

/** Last position of a scaled clock. The clock of a competition is stopped until trading begins. */
const lastOf = (
  clocks: ClockKeeper,
  id: string,
  { competition, speed, start }: SimulationConfig,
): ReturnType<ClockKeeper['lastOf']> =>
  clocks.lastOf(id, speed) ??
  (competition === undefined ? undefined : { now: Instant.ofMs(start), speed: 0 });

/** A clock at `now` or later: a scaled clock resumes at its last instant and speed. */
function clockOf(
  config: SimulationConfig,
  now: Instant,
  last: ReturnType<ClockKeeper['lastOf']>,
  time: MachineTime,
  feed: Feed,
): Clock {
  // A delayed source reports past prices: the clock runs behind by the same delay (D183).
  const delayMs = isLive(feed) ? feed.delayMs : 0;
  switch (config.clock) {
    case 'wall':
      return new WallClock(() => Instant.plusMs(time.now(), -delayMs));
    case 'manual':
      return new ManualClock(now);
    case 'scaled':
      return new ScaledClock(Instant.max(last?.now ?? now, now), config.speed, last?.speed);
  }
}
