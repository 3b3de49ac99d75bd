import type { Feed } from '../../feeds/feed.js';
import { isLive } from '../../feeds/live-feed.js';
import { RecordsMissing, StoreUnavailable } from '../../store/journal.js';
import type { Registry } from '../../store/registry.js';
import { originOf } from '../configuration/simulation-config.js';
import type { RecentPoints } from '../forks/fork-points.js';
import type { Snapshots } from '../forks/snapshots.js';
import { commandsToMeet } from '../market/market-change.js';
import type { Simulation } from '../simulation/simulation.js';
import type { Imports } from '../transfers/imports.js';
import { atStakeOf, isUnnamed, MAIN, MAINS, MARKET } from '../values/cell-names.js';
import type { SimulationEntries, StoredSimulation } from './entries.js';
import { Lifetimes } from './lifetimes.js';
import type { FeedAndRules, SimulationOpener } from './opener.js';
import type { OutOfService } from './out-of-service.js';
import type { SharedDependencies } from './shared-dependencies.js';

/** Maximum delay of a timer. */
const LONGEST_TIMER_MS = 3_600_000;

/** Maximum number of unused forks in memory. */
const MOST_UNUSED = 16;

/** Time for which the checkpoint of a simulation may delay the handover of its tenant; the next owner reads more records without it. */
const HANDED_OVER_MS = 250;

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

interface OpenSimulation {
  readonly simulation: Promise<Simulation>;
  /** Once it is. */
  opened?: Simulation;
  /** On the monotonic clock. */
  usedAt: number;
  /** True for a fork without requests since its creation. */
  isUnused?: boolean;
}

interface DirectoryParts {
  readonly shared: SharedDependencies;
  readonly market: Simulation;
  readonly opener: SimulationOpener;
  readonly entries: SimulationEntries;
  readonly outOfService: OutOfService;
  readonly imports: Imports;
  readonly snapshots: Snapshots;
  readonly points: RecentPoints;
}

/** The simulations in memory: opens them on first use, closes those that are idle, and removes them. The market is none of them. */
export class SimulationDirectory {
  readonly #shared: SharedDependencies;
  readonly #market: Simulation;
  readonly #opener: SimulationOpener;
  readonly #entries: SimulationEntries;
  readonly #outOfService: OutOfService;
  readonly #imports: Imports;
  readonly #snapshots: Snapshots;
  readonly #points: RecentPoints;
  readonly lifetimes: Lifetimes;
  readonly #open = new Map<string, OpenSimulation>();
  /** Every `main` that is open, by tenant. */
  readonly #mains = new Map<string, Simulation>();
  /** On their way out of memory. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Feeds of simulations that have left memory: they alone contain pushed bars. */
  readonly #restingFeeds = new Map<string, Feed>();
  /** Forks in the order of creation, some of them unused. */
  readonly #unused: string[] = [];
  readonly #sweep: NodeJS.Timeout;
  #watcher: SimulationWatcher | undefined;
  /** Receives each cell of an evaluation that comes into memory. */
  onCellOpened: ((simulation: Simulation) => void) | undefined;
  /** Receives the id of a simulation that is about to be removed. */
  onRemoved: (id: string) => Promise<void> = () => Promise.resolve();

  constructor(parts: DirectoryParts) {
    const { shared } = parts;
    this.#shared = shared;
    this.#market = parts.market;
    this.#opener = parts.opener;
    this.#entries = parts.entries;
    this.#outOfService = parts.outOfService;
    this.#imports = parts.imports;
    this.#snapshots = parts.snapshots;
    this.#points = parts.points;
    this.lifetimes = new Lifetimes(
      shared.store.registry,
      async (id) => (await this.#settled(id))?.isFollowed === true,
      (id, tenantId) => this.remove(id, tenantId),
      shared.store.ownership !== undefined,
    );
    const every = Math.min(LONGEST_TIMER_MS, shared.idleMs / 4);
    this.#sweep = setInterval(() => void this.#restIdle(), Math.max(1, every)).unref();
  }

  get #registry(): Registry {
    return this.#shared.store.registry;
  }

  /** The simulation of this id that the tenant may see; for `MAIN`, the tenant's own if it exists. */
  async find(id: string, tenantId: string): Promise<Simulation | undefined> {
    const there = this.inMemory(id, tenantId);
    if (there !== undefined) return there;
    const of = this.#entries.find(id, tenantId);
    if (of === undefined) return undefined;
    this.lifetimes.asked(of.id);
    return this.open(of);
  }

  /** The cell of an evaluation of the tenant. */
  async findEvaluation(id: string, tenantId: string): Promise<Simulation | undefined> {
    const of = this.#entries.findEvaluation(id, tenantId);
    return of && this.open(of);
  }

  /** A simulation that the tenant created, if it is open already: synchronous, without reading the registry. */
  inMemory(id: string, tenantId: string): Simulation | undefined {
    const open = this.#open.get(id);
    if (open?.opened?.tenantId !== tenantId || isUnnamed(id) || this.#outOfService.has(id)) return undefined;
    open.usedAt = performance.now();
    this.lifetimes.asked(id);
    return open.opened;
  }

  /** The `main` of a tenant if it is open already, synchronously. */
  openMain(tenantId: string): Simulation | undefined {
    const main = this.#mains.get(tenantId);
    if (main === undefined) return undefined;
    const open = this.#open.get(main.id);
    if (open !== undefined) open.usedAt = performance.now();
    return main;
  }

  /** All simulations that are open. */
  *opened(): Generator<Simulation> {
    for (const { opened } of this.#open.values()) if (opened !== undefined) yield opened;
  }

  /** A simulation once it is open; undefined if it is neither open nor being opened. */
  async #settled(id: string): Promise<Simulation | undefined> {
    return this.#open.get(id)?.simulation.catch(() => undefined);
  }

  /** Resolves when the records that a simulation in memory has accepted are durable. */
  async durable(id: string): Promise<void> {
    await (await this.#open.get(id)?.simulation)?.durable();
  }

  /** Numbers of simulations in memory and of their open orders. */
  async figures(): Promise<{ readonly count: number; readonly openOrders: number }> {
    const found = await this.#allSettled();
    const openOrders = found.reduce((sum, { brokerage }) => sum + brokerage.state.orders.size, 0);
    return { count: found.length, openOrders };
  }

  async #allSettled(): Promise<readonly Simulation[]> {
    const all = await Promise.all(
      [...this.#open.values()].map(({ simulation }) => simulation.catch(() => undefined)),
    );
    return all.filter((one) => one !== undefined);
  }

  /** Reports the simulations in memory to a watcher, and later ones when they open. There is at most one watcher. */
  watch(watcher: SimulationWatcher): void {
    this.#watcher = watcher;
    for (const [id, { simulation }] of this.#open)
      simulation.then(
        (one) => {
          if (!this.#entries.isInCompetition(id) && !one.isEphemeral) watcher.opened(one);
        },
        () => undefined,
      );
  }

  /** Opens a stored simulation, with its feed and rules if these are open already. Rejects with `StoreUnavailable` if it cannot be used. */
  open(of: StoredSimulation, ready?: FeedAndRules): Promise<Simulation> {
    if (this.#outOfService.has(of.id))
      return Promise.reject(new StoreUnavailable('the simulation is out of service'));
    let open = this.#open.get(of.id);
    if (open === undefined) {
      const imported = this.#imports.noteOf(of.id);
      if (imported !== undefined && imported.status !== 'READY')
        return Promise.reject(new StoreUnavailable('the simulation is not imported'));
      const opening: OpenSimulation = { simulation: this.#openNow(of, ready), usedAt: 0 };
      open = opening;
      this.#open.set(of.id, open);
      open.simulation.then(
        (simulation) => {
          opening.opened = simulation;
          if (of.id.startsWith(MAINS)) this.#mains.set(of.tenantId, simulation);
          if (of.config.competition === undefined && !simulation.isEphemeral)
            this.#watcher?.opened(simulation);
          if (of.config.competition?.role === 'CELL') this.onCellOpened?.(simulation);
          this.#snapshots.resume(simulation, originOf(of.config));
        },
        () => {
          if (this.#open.get(of.id) === opening) this.#open.delete(of.id);
        },
      );
    }
    open.usedAt = performance.now();
    open.isUnused = false;
    return open.simulation;
  }

  async #openNow(of: StoredSimulation, ready?: FeedAndRules): Promise<Simulation> {
    const { store } = this.#shared;
    await this.#closing.get(of.id);
    try {
      await store.acquireCell?.(of.id);
      this.#outOfService.foundRecords(of.id);
    } catch (error) {
      if (error instanceof RecordsMissing) this.#outOfService.addLacking(of.id, error.message);
      throw error;
    }
    const feed = this.#restingFeeds.get(of.id);
    this.#restingFeeds.delete(of.id);
    try {
      const market = await this.#marketFor(of);
      if (market !== undefined)
        return await this.#opener.open(of, await this.#opener.followingMarket(market, of.config, feed), {
          market,
        });
      return await this.#openOnOwnMarket(of, ready ?? (await this.#opener.feedAndRules(of.config, feed)));
    } catch (error) {
      store.ownership?.noteWakeUp(of.id, undefined);
      if (!(error instanceof Error) || isPassing(error)) throw error;
      this.#outOfService.add(of.id, error.message);
      this.#outOfService.log(of.id, error.message);
      throw new StoreUnavailable('the simulation is out of service', { cause: error });
    }
  }

  /** The market that a simulation follows: that of the installation for a `main`, that of its competition for an entry. */
  async #marketFor({ id, tenantId, config }: StoredSimulation): Promise<Simulation | undefined> {
    if (id.startsWith(MAINS)) return this.#market;
    if (config.competition?.role !== 'ENTRY') return undefined;
    const market = await this.find(config.competition.marketId, tenantId);
    if (market === undefined) throw new StoreUnavailable('the market of the competition is gone');
    return market;
  }

  async #openOnOwnMarket(of: StoredSimulation, ready: FeedAndRules): Promise<Simulation> {
    const { fork } = of.config;
    // Only a fork that was made here has a parent here (D233).
    const point = fork?.parentId === undefined ? undefined : this.#points.find(fork.parentId, fork.sequence);
    const simulation = await this.#opener.open(of, ready, {
      // On a live feed there is one clock.
      sharedClock: isLive(ready.feed) ? this.#market.sharedClock : undefined,
      known: point && fork && { seq: fork.sequence, saved: point.saved },
    });
    if (isLive(ready.feed))
      // Instruments that the source has and its list did not.
      for (const command of commandsToMeet(this.#market.brokerage, simulation.brokerage, false))
        await simulation.submit(command);
    return simulation;
  }

  /** Enters a new fork that is being opened. */
  addFork(id: string, simulation: Promise<Simulation>): void {
    this.#open.set(id, { simulation, usedAt: performance.now(), isUnused: true });
    simulation.catch(() => this.#open.delete(id));
  }

  /** A new fork is open. Closes the oldest of the unused forks while there are too many. */
  forkOpened(simulation: Simulation): void {
    const open = this.#open.get(simulation.id);
    if (open !== undefined) open.opened = simulation;
    if (!simulation.isEphemeral) this.#watcher?.opened(simulation);
    this.#unused.push(simulation.id);
    while (this.#unused.length > MOST_UNUSED) {
      const id = this.#unused.shift() ?? '';
      const { opened, isUnused } = this.#open.get(id) ?? {};
      if (
        opened !== undefined &&
        isUnused === true &&
        opened.canRest() &&
        this.#watcher?.keeps(opened) !== true
      )
        void this.#restNow(id, opened);
    }
  }

  /** Closes simulations that have been idle for too long. */
  async #restIdle(): Promise<void> {
    const before = performance.now() - this.#shared.idleMs;
    for (const [id, { simulation, usedAt }] of this.#open) {
      if (usedAt > before) continue;
      const idle = await simulation.catch(() => undefined);
      const current = this.#open.get(id);
      if (idle === undefined || current === undefined || current.usedAt > before || !idle.canRest()) continue;
      if (this.#watcher?.keeps(idle) === true) continue;
      await this.#restNow(id, idle);
    }
  }

  async #restNow(id: string, simulation: Simulation): Promise<void> {
    this.#forget(id, simulation);
    if (this.#ownsFeed(simulation)) this.#restingFeeds.set(id, simulation.feed);
    const closing = this.#rest(simulation).catch(this.#shared.onError);
    this.#closing.set(id, closing);
    await closing;
    this.#closing.delete(id);
  }

  /** Closes a simulation that leaves memory. Such a `main` has no open orders. */
  async #rest(simulation: Simulation): Promise<void> {
    if (simulation.market !== simulation)
      await this.#registry.saveSetting(atStakeOf(simulation.tenantId ?? ''), '');
    await simulation.close();
    simulation.retire();
  }

  #forget(id: string, simulation: Simulation): void {
    const { tenantId } = simulation;
    this.#open.delete(id);
    this.#watcher?.closed(simulation);
    if (tenantId !== null && this.#mains.get(tenantId)?.id === id) this.#mains.delete(tenantId);
  }

  /** False when the tenant has no such simulation. `main` cannot be removed. */
  async remove(id: string, tenantId: string): Promise<boolean> {
    const of = this.#entries.find(id, tenantId) ?? this.#entries.findEvaluation(id, tenantId);
    if (id === MAIN || of === undefined) return false;
    this.#imports.cancel(id);
    await this.#closing.get(id);
    const open = this.#open.get(id);
    this.#open.delete(id);
    const simulation = await open?.simulation.catch(() => undefined);
    const isFollowed = this.#shared.store.ephemeral?.has(id) !== true;
    if (simulation !== undefined) {
      if (isFollowed) this.#watcher?.closed(simulation);
      await this.#closeWithOwnFeed(simulation);
    }
    await this.#closeRestingFeed(id);
    await this.#registry.deleteSimulation(id, Date.now());
    this.#outOfService.removed(id);
    if (isFollowed) this.#watcher?.removed(id);
    await this.lifetimes.ended(id);
    await this.onRemoved(id);
    return true;
  }

  /** Closes the simulations of a tenant that are in memory. Their state is not used again. */
  async closeAllOf(tenantId: string): Promise<void> {
    const own = this.#registry.simulations(tenantId).map(({ id }) => id);
    // Followers of a market are removed before it.
    for (const id of own.toReversed()) {
      await this.#closing.get(id);
      const simulation = await this.#settled(id);
      if (simulation !== undefined) {
        this.#forget(id, simulation);
        await this.#closeWithOwnFeed(simulation, HANDED_OVER_MS).catch((error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
        });
        // A late request must not continue from this state.
        simulation.retire();
      }
      await this.#closeRestingFeed(id);
      this.#outOfService.left(id);
    }
  }

  /** Ends all simulations of a tenant whose data is about to be deleted; their requests under way get 503. */
  async retireAllOf(tenantId: string): Promise<void> {
    const own = [...this.#registry.simulations(tenantId)];
    // Followers of a market are removed before it.
    for (const { id } of own.toReversed()) {
      this.#imports.cancel(id);
      await this.#closing.get(id);
      const simulation = await this.#settled(id);
      if (simulation !== undefined) {
        simulation.retire();
        this.#forget(id, simulation);
        await this.#closeWithOwnFeed(simulation);
      }
      this.#open.delete(id);
      await this.#closeRestingFeed(id);
      this.#outOfService.removed(id);
    }
  }

  /** The watcher writes no more data of a tenant once this has resolved. */
  async erasing(tenantId: string): Promise<void> {
    await this.#watcher?.erasing(tenantId);
  }

  /** Takes a simulation with a damaged journal out of service until a restart. */
  takeOutOfService(id: string, reason: string): void {
    if (id === MARKET) return this.#market.takeOutOfService(reason);
    if (this.#outOfService.has(id)) return;
    this.#outOfService.add(id, reason);
    const open = this.#open.get(id);
    if (open === undefined) return this.#outOfService.log(id, reason);
    open.simulation.then(
      (simulation) => simulation.takeOutOfService(reason),
      () => undefined,
    );
  }

  /** Drops a simulation whose state in memory is invalid. Every acknowledged record is durable. */
  dropLost(id: string): void {
    if (id === MARKET) {
      const { onMarketLost, onError } = this.#shared;
      if (onMarketLost !== undefined) return onMarketLost();
      return onError(new StoreUnavailable('the market of this installation is served elsewhere'));
    }
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.simulation
      .then(
        (simulation) => {
          if (this.#open.get(id) !== open) return undefined;
          simulation.retire();
          for (const follower of simulation.followers) this.dropLost(follower.id);
          this.#forget(id, simulation);
          const isOwnFeed = simulation.feed !== this.#market.feed;
          return simulation.close().then(() => (isOwnFeed ? simulation.feed.close() : undefined));
        },
        () => undefined,
      )
      .catch(this.#shared.onError);
  }

  /** Closes all simulations, and the market after them. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    this.lifetimes.close();
    await Promise.all(this.#closing.values());
    const open = await this.#allSettled();
    // Followers of a market are removed before it.
    for (const one of open.toSorted((a, b) => Number(b.market !== b) - Number(a.market !== a)))
      await this.#closeWithOwnFeed(one);
    await closeWithFeed(this.#market);
    for (const feed of this.#restingFeeds.values()) await feed.close();
  }

  async #closeWithOwnFeed(simulation: Simulation, checkpointMs?: number): Promise<void> {
    if (this.#ownsFeed(simulation)) await closeWithFeed(simulation, checkpointMs);
    else await simulation.close(checkpointMs);
  }

  async #closeRestingFeed(id: string): Promise<void> {
    await this.#restingFeeds.get(id)?.close();
    this.#restingFeeds.delete(id);
  }

  /** True when the feed of a simulation is its own, and not that of a market that it follows. */
  #ownsFeed(simulation: Simulation): boolean {
    const { feed, market } = simulation;
    return feed !== this.#market.feed && (market === simulation || feed !== market.feed);
  }
}

/** True for errors that another attempt may avoid: a store that does not commit now, a file that could not be opened. */
const isPassing = (error: Error): boolean => error instanceof StoreUnavailable || 'syscall' in error;

async function closeWithFeed(simulation: Simulation, checkpointMs?: number): Promise<void> {
  await simulation.close(checkpointMs);
  await simulation.feed.close();
}
