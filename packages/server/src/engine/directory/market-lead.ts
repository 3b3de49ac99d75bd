import { setTimeout as later } from 'node:timers/promises';
import { actionIdOf, announcementOf, isUpcoming, symbolsTraded } from '@sandpit/core';
import type { Command } from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import { isLive, isRecording } from '../../feeds/live-feed.js';
import type { InterestRank, LiveHost, RelayQuestion } from '../../feeds/live-feed.js';
import { StoreUnavailable } from '../../store/journal.js';
import { MARKET_TENANT } from '../../store/ownership.js';
import type { SimulationEntry } from '../../store/registry.js';
import type { Store } from '../../store/store.js';
import type { ClockKeeper } from '../clocks/clock-keeper.js';
import type { SimulationConfig, WantedSimulation } from '../configuration/simulation-config.js';
import { commandsToMeet } from '../market/market-change.js';
import type { Simulation } from '../simulation/simulation.js';
import { MARKET } from '../values/cell-names.js';
import { withChance } from './creation.js';
import type { SimulationDirectory } from './directory.js';
import { configOf, register } from './entries.js';
import type { SimulationOpener } from './opener.js';
import { NoLiveSource } from './shared-dependencies.js';
import type { SharedDependencies } from './shared-dependencies.js';

/** Longest wait of a node of a new installation for the node that creates the market, ms. */
const MARKET_MADE_MS = 10_000;

/**
 * Opens the market of the installation, creating it at the first start. Its seed, ids and start never change; feed, clock and calendar are
 * those of the current settings.
 */
export async function openMarket(
  { store, mayLead }: SharedDependencies,
  opener: SimulationOpener,
  wanted: WantedSimulation,
): Promise<{ readonly market: Simulation; readonly config: SimulationConfig }> {
  const { registry, ownership } = store;
  const isReplica =
    ownership !== undefined &&
    (mayLead?.() === false || !(await ownership.acquire([MARKET_TENANT])).has(MARKET_TENANT));
  if (!isReplica && registry.simulation(MARKET) !== undefined) await store.acquireCell?.(MARKET);
  const entry = isReplica ? await registered(store, MARKET) : registry.simulation(MARKET);
  const before = entry === undefined ? undefined : configOf(entry);
  const { seed, idSecret, start } = before ?? withChance(wanted);
  const config = { ...wanted, seed, start, ...(idSecret !== undefined && { idSecret }) };
  const ready = await opener.feedAndRules(config);
  const { feed } = ready;
  // The wall clock of a delayed plan begins behind real time as well (D183).
  const delayMs = before === undefined && config.clock === 'wall' && isLive(feed) ? feed.delayMs : 0;
  const begun = { ...config, start: config.start - delayMs };
  const of = { id: MARKET, tenantId: null };
  const { rules } = before ?? (await register(registry, { ...of, config: begun }, ready.inForce));
  const market = await opener.open({ ...of, config: { ...begun, rules } }, ready, { isReplica });
  if (isReplica) followClock(market, opener.clocks);
  return { market, config: begun };
}

/** A simulation that another node registers. Rejects with `StoreUnavailable` when it does not. */
async function registered({ registry }: Store, id: string): Promise<SimulationEntry> {
  for (let waited = 0; waited < MARKET_MADE_MS; waited += 100) {
    const entry = registry.simulation(id);
    if (entry !== undefined) return entry;
    await later(100);
  }
  throw new StoreUnavailable('the node that owns the market does not open it');
}

/** The market's connection to a live source, and its lead among the nodes of a cluster: one node decides for it, the others follow. */
export class MarketLead {
  readonly #shared: Pick<SharedDependencies, 'store' | 'liveLead'>;
  readonly #market: Simulation;
  readonly #clocks: ClockKeeper;
  readonly #directory: SimulationDirectory;
  /** Record of another node's market up to which simulations on the live source have its listings. */
  #listingsMetAt = 0;

  constructor(
    shared: SharedDependencies,
    market: Simulation,
    clocks: ClockKeeper,
    directory: SimulationDirectory,
  ) {
    this.#shared = shared;
    this.#market = market;
    this.#clocks = clocks;
    this.#directory = directory;
  }

  /** Connects to a live source. Of the nodes of a cluster the node of the market alone does so, and the others follow it (D202). */
  connectLive(): void {
    const { feed, isReplica } = this.#market;
    if (!isLive(feed)) return;
    const { liveLead } = this.#shared;
    if (!isReplica) feed.start(this.#liveHost());
    else if (liveLead !== undefined) feed.follow(this.#liveHost(), liveLead);
  }

  /** Applies records of the market that another node has written (D202). Does nothing if this node owns the market. */
  async follow(): Promise<void> {
    if (!this.#market.isReplica) return;
    await this.#market.followJournal();
    followClock(this.#market, this.#clocks);
    if (isLive(this.#market.feed)) await this.#followLiveListings();
  }

  /** Repeats listings and corporate actions from a live source on simulations that follow no market. */
  async #followLiveListings(): Promise<void> {
    const { published } = this.#market;
    if (published <= this.#listingsMetAt) return;
    for (const simulation of this.#onSourceAlone())
      for (const command of commandsToMeet(this.#market.brokerage, simulation.brokerage, false))
        if (command.type === 'ListInstruments' || command.type === 'AnnounceActions')
          await simulation.submit(command);
    this.#listingsMetAt = published;
  }

  /** This node decides for the market from here on: the store has its cell. */
  async acquire(): Promise<void> {
    if (!this.#market.isReplica) return;
    await this.#shared.store.acquireCell?.(MARKET);
    followClock(this.#market, this.#clocks);
    await this.#market.takeLead();
    this.connectLive();
  }

  /** Another node owns the market from now on: this one follows it. All cells here have left memory. */
  async release(): Promise<void> {
    if (this.#market.isReplica) return;
    const { feed } = this.#market;
    // The next node can connect immediately: plans allow one connection.
    if (isLive(feed)) await feed.close();
    await this.#market.close();
    this.#market.follow();
  }

  /** Answers another node about the live source. Rejects if this node is not connected to it. */
  async answerOfSource(question: object): Promise<object> {
    const { feed, isReplica } = this.#market;
    if (!isLive(feed) || isReplica) throw new NoLiveSource();
    return feed.answer(question as RelayQuestion);
  }

  /** Callbacks of the live feed. */
  #liveHost(): LiveHost {
    const market = this.#market;
    return {
      now: () => market.now(),
      interest: () => this.#interest(),
      instrument: (symbol) => market.brokerage.instrument(symbol),
      list: (instruments) => this.#onLiveMarkets({ type: 'ListInstruments', instruments }),
      announce: async (actions) => {
        const { brokerage } = market;
        const upcoming = actions.filter(
          (action) =>
            isUpcoming(brokerage.rules.calendar, action, market.now()) &&
            brokerage.instrument(action.symbol) !== undefined &&
            !brokerage.state.actions.has(actionIdOf(action)),
        );
        // One by one: an action that cannot be announced keeps no other from it.
        for (const action of upcoming) await this.#onLiveMarkets(announcementOf([action]));
      },
    };
  }

  /**
   * Executes a command from a live source about instruments or corporate actions on the market, and on simulations that follow no market.
   */
  async #onLiveMarkets(command: Command): Promise<void> {
    await this.#market.submit(command);
    for (const simulation of this.#onSourceAlone()) await simulation.submit(command);
  }

  /** Simulations in memory on the source or its recording that follow no market. */
  *#onSourceAlone(): Generator<Simulation> {
    for (const opened of this.#directory.opened())
      if (this.#isOfSource(opened.feed) && opened.market === opened) yield opened;
  }

  /** True for the feed of the source, and for its recording. */
  #isOfSource(feed: Feed): boolean {
    return feed === this.#market.feed || isRecording(feed);
  }

  /** Symbols with orders, alerts and positions in the simulations in memory on the market's feed, with the underlyings of options. */
  *#interest(): Generator<readonly [string, InterestRank]> {
    for (const { feed, brokerage } of this.#directory.opened()) {
      if (feed !== this.#market.feed) continue;
      const { state } = brokerage;
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
}

function followClock(market: Simulation, clocks: ClockKeeper): void {
  if (market.clock().mode !== 'scaled') return;
  const line = clocks.lineOf(market.id);
  if (line !== undefined) market.followClock(line.now, line.speed);
}
