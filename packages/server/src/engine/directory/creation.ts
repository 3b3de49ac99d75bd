import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { calendarById, Instant } from '@sandpit/core';
import type { Command } from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import { isLive } from '../../feeds/live-feed.js';
import { NotMaskable } from '../../feeds/mask.js';
import type { JournalRecord } from '../../store/journal.js';
import { maskedConfig } from '../configuration/masked-config.js';
import { recordingDigest } from '../configuration/recording-digest.js';
import { keepRules } from '../configuration/rules-in-force.js';
import { originOf } from '../configuration/simulation-config.js';
import type { KeptConfig, SimulationConfig, WantedSimulation } from '../configuration/simulation-config.js';
import { firstRecords } from '../recovery/first-records.js';
import type { FirstRecords } from '../recovery/first-records.js';
import type { Simulation } from '../simulation/simulation.js';
import { MAIN, mainOf } from '../values/cell-names.js';
import type { SimulationDirectory } from './directory.js';
import { configOf, durableOf, register } from './entries.js';
import type { SimulationEntries } from './entries.js';
import type { FeedAndRules, SimulationOpener } from './opener.js';
import { NoLiveSource } from './shared-dependencies.js';
import type { SharedDependencies } from './shared-dependencies.js';

/** The recording does not have these symbols. */
export class NotRecorded extends Error {
  override readonly name = 'NotRecorded';
  readonly symbols: readonly string[];

  constructor(symbols: readonly string[]) {
    super(`not recorded: ${symbols.join(', ')}`);
    this.symbols = symbols;
  }
}

/** The tenant has as many simulations as it may. */
export class TooManySimulations extends Error {
  override readonly name = 'TooManySimulations';
}

/** First commands of a simulation, and the writes of the same commit. */
export interface SimulationBeginning {
  readonly commands: readonly Command[];
  readonly alongside: () => Promise<unknown>;
}

/** Creates simulations: those that tenants request, every `main` at its first change, and those of competitions and evaluations. */
export class SimulationCreation {
  readonly #shared: Pick<SharedDependencies, 'store' | 'openFeed' | 'recordings'>;
  readonly #market: Simulation;
  readonly #opener: SimulationOpener;
  readonly #entries: SimulationEntries;
  readonly #directory: SimulationDirectory;
  /** Number of simulations being created, by tenant. */
  readonly #creating = new Map<string, number>();
  /** Each `main` that is being stored, by tenant. */
  readonly #keeping = new Map<string, Promise<Simulation>>();

  constructor(
    shared: SharedDependencies,
    market: Simulation,
    opener: SimulationOpener,
    entries: SimulationEntries,
    directory: SimulationDirectory,
  ) {
    this.#shared = shared;
    this.#market = market;
    this.#opener = opener;
    this.#entries = entries;
    this.#directory = directory;
  }

  /** The `main` of a tenant, stored from now on. */
  async keepMain(tenantId: string): Promise<Simulation> {
    const found = await this.#directory.find(MAIN, tenantId);
    if (found !== undefined) return found;
    let keeping = this.#keeping.get(tenantId);
    if (keeping === undefined) {
      keeping = this.#keepNow(tenantId).finally(() => this.#keeping.delete(tenantId));
      this.#keeping.set(tenantId, keeping);
    }
    return keeping;
  }

  async #keepNow(tenantId: string): Promise<Simulation> {
    const { store } = this.#shared;
    const config = { ...this.#entries.mainConfig(tenantId), start: this.#market.now() };
    const inForce = await keepRules(durableOf(store), this.#market.brokerage.rules);
    const of = { id: mainOf(tenantId), tenantId, config };
    const kept = await register(store.registry, of, inForce);
    return this.#directory.open({ ...of, config: kept });
  }

  /** Resolves when no `main` of the tenant is being stored. */
  async settled(tenantId: string): Promise<void> {
    await this.#keeping.get(tenantId)?.catch(() => undefined);
  }

  /** `id`: `MAIN`, which is stored then, or of a simulation that the tenant created. */
  findOrKeep(id: string, tenantId: string): Promise<Simulation | undefined> {
    return id === MAIN ? this.keepMain(tenantId) : this.#directory.find(id, tenantId);
  }

  /** Throws `TooManySimulations` when the tenant has as many as it may, `NotRecorded` for symbols that the recording does not have. */
  create(tenantId: string, config: WantedSimulation, allowed = Infinity): Promise<Simulation> {
    return this.counted(tenantId, allowed, () => this.#createNow(tenantId, config));
  }

  /** Does `work`, which creates a simulation. Throws `TooManySimulations` when the tenant has as many as it may. */
  async counted<T>(tenantId: string, allowed: number, work: () => Promise<T>): Promise<T> {
    const underWay = this.#creating.get(tenantId) ?? 0;
    // Tenants without a limit may have thousands, which need not be read.
    if (allowed !== Infinity) {
      const main = mainOf(tenantId);
      const made = this.#shared.store.registry
        .simulations(tenantId)
        .filter((entry) => entry.id !== main && configOf(entry).competition === undefined).length;
      if (made + underWay >= allowed) throw new TooManySimulations();
    }
    this.#creating.set(tenantId, underWay + 1);
    try {
      return await work();
    } finally {
      const left = (this.#creating.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#creating.delete(tenantId);
      else this.#creating.set(tenantId, left);
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
    return this.#createNow(tenantId, config, id, begin);
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
    const before = this.#entries.configOfOpen(market);
    if (tenantId === null || before.competition === undefined)
      throw new Error('It is no market of a competition');
    const { rules } = market.brokerage;
    const inForce = await keepRules(durableOf(this.#shared.store), rules);
    const { rules: _, ...shared } = before;
    const config: SimulationConfig = {
      ...shared,
      ...origin,
      start: market.now(),
      competition: { id: before.competition.id, role: 'ENTRY', marketId: market.id },
    };
    const of = { id, tenantId, config };
    const first = firstRecords(id, rules, originOf({ ...config, rules: inForce }), commands());
    return { ...first, register: () => this.#registerWith(of, inForce, first.records) };
  }

  /** Registers a simulation with its first records, all in this turn. */
  #registerWith(
    of: Parameters<typeof register>[1],
    inForce: FeedAndRules['inForce'],
    records: readonly JournalRecord[],
  ): Promise<KeptConfig> {
    const { registry, journal } = this.#shared.store;
    const registered = register(registry, of, inForce);
    const appended = records.map((record) => journal.append(record));
    return Promise.all([registered, ...appended]).then(([kept]) => kept);
  }

  async #createNow(
    tenantId: string,
    wanted: WantedSimulation,
    id = randomUUID() as string,
    begin?: (feed: Feed) => SimulationBeginning,
  ): Promise<Simulation> {
    const config = await this.#masked(wanted);
    if (config.feed === 'live' && !isLive(this.#market.feed)) throw new NoLiveSource();
    // On a live feed there is one clock, which a delayed plan sets behind real time (D183).
    const start =
      config.feed === 'live' ? Instant.min(Instant.ofMs(config.start), this.#market.now()) : config.start;
    const whole = withChance({ ...config, start });
    if (config.ephemeral === true) this.#shared.store.ephemeral?.requireRoom(tenantId);
    const ready = await this.#opener.feedAndRules(whole);
    requireRecorded(config, ready);
    const of = { id, tenantId, config: whole };
    let beginning: SimulationBeginning | undefined;
    let records: readonly JournalRecord[] = [];
    try {
      beginning = begin?.(ready.feed);
      const origin = originOf({ ...whole, rules: ready.inForce });
      if (beginning !== undefined) ({ records } = firstRecords(id, ready.rules, origin, beginning.commands));
    } catch (error) {
      await ready.feed.close();
      throw error;
    }
    const registered = this.#registerWith(of, ready.inForce, records);
    const alongside = beginning?.alongside();
    const living =
      config.ttl === undefined ? undefined : this.#directory.lifetimes.begin(of.id, tenantId, config.ttl.ms);
    const kept = await registered;
    await living;
    await alongside;
    return this.#directory.open({ ...of, config: kept }, ready);
  }

  /** Rejects as a creation does if the recording does not allow a simulation of this configuration. Creates nothing. */
  async check(config: WantedSimulation): Promise<void> {
    const whole = withChance(await this.#masked(config));
    const ready = await this.#opener.feedAndRules(whole);
    try {
      requireRecorded(config, ready);
    } finally {
      await ready.feed.close();
    }
  }

  /** A configuration behind its mask. Throws `NotMaskable`. */
  async #masked(wanted: WantedSimulation): Promise<WantedSimulation> {
    const { hides, ...config } = wanted;
    if (hides === undefined) return config;
    const feed = await this.#shared.openFeed({ ...config, seed: 0 }, calendarById(config.calendar));
    const firstSession = feed.firstSession?.();
    await feed.close();
    if (firstSession === undefined) throw new NotMaskable();
    return maskedConfig(config, hides, firstSession);
  }

  /** SHA-256, in hex, over the files of the recordings; undefined = there are none. */
  async recordingDigest(): Promise<string | undefined> {
    const { recordings } = this.#shared;
    return recordings === undefined ? undefined : recordingDigest(recordings);
  }
}

/** A configuration with a random seed and a secret for its ids, unless the seed is given. */
export const withChance = (wanted: WantedSimulation): SimulationConfig =>
  wanted.seed === undefined
    ? { ...wanted, seed: randomInt(2 ** 32), idSecret: randomBytes(16).toString('hex') }
    : { ...wanted, seed: wanted.seed };

/** Throws `NotRecorded` if a recording lacks symbols to replay. */
function requireRecorded({ replay }: WantedSimulation, { feed, rules }: FeedAndRules): void {
  const listed = new Set(rules.instruments.listing.instruments.map(({ symbol }) => symbol));
  const missing = replay?.symbols?.filter((symbol) => !listed.has(feed.mask?.masked(symbol) ?? symbol)) ?? [];
  if (missing.length > 0) throw new NotRecorded(missing);
}
