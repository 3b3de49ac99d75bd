import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { calendarById, Instant, KnownInstruments } from '@sandpit/core';
import type {
  BrokerConfiguration,
  Calendar,
  Instruments,
  Listing,
  Money,
  Rules,
  RulesInForce,
} from '@sandpit/core';
import type { Feed } from '../feeds/feed.js';
import type { Registry, SimulationEntry } from '../store/registry.js';
import type { Store } from '../store/store.js';
import { ClockKeeper } from './clock-keeper.js';
import { ManualClock, ScaledClock, WallClock } from './clock.js';
import type { Clock, ClockMode } from './clock.js';
import { recover } from './recovery.js';
import { keepRules, sameRules } from './rules-in-force.js';
import { Simulation } from './simulation.js';

/** What a simulation is made of. Kept in the registry, so that it is the same after a restart. */
export interface SimulationConfig {
  readonly name?: string;
  readonly feed: Feed['kind'];
  readonly clock: ClockMode;
  readonly calendar: Calendar['id'];
  /** Simulated instant it began at, ms. */
  readonly start: number;
  /** Of a scaled clock. */
  readonly speed: number;
  /** 32-bit. */
  readonly seed: number;
  /** What its ids are made with, 32 hexadecimal digits: never shown. Absent where the seed was given: then they follow from it. */
  readonly idSecret?: string;
  /** What of the server's recordings to replay; absent = all. */
  readonly replay?: { readonly symbols?: readonly string[]; readonly from?: number };
}

/** A simulation to be: without a seed, its chance and its ids are nobody's to foretell. */
export type WantedSimulation = Omit<SimulationConfig, 'seed' | 'idSecret'> & { readonly seed?: number };

/** As the registry has it: with the rules that the simulation began under. */
export interface KeptConfig extends SimulationConfig {
  readonly rules: RulesInForce;
}

export interface SimulationInfo {
  readonly id: string;
  readonly tenantId: string | null;
  readonly config: SimulationConfig;
  /** Real time, ms. */
  readonly createdAt: number;
}

/** What all simulations of a server share. */
export interface Ground {
  readonly store: Store;
  readonly brokers: ReadonlyMap<string, BrokerConfiguration>;
  readonly portfolioMarginEquity: Money;
  readonly marketCollarBps: number;
  readonly quoteMaxAgeMs: number | undefined;
  readonly openFeed: (config: SimulationConfig, calendar: Calendar) => Promise<Feed>;
  readonly onError: (error: unknown) => void;
}

export const MAIN = 'main';

/** Four days: a long weekend. What a recording has nothing newer of is a hole, not a market (D131). */
const RECORDING_HOLE_MS = 4 * 86_400_000;

/** The recording has nothing of these symbols. */
export class NotRecorded extends Error {
  override readonly name = 'NotRecorded';
  readonly symbols: readonly string[];

  constructor(symbols: readonly string[]) {
    super(`not recorded: ${symbols.join(', ')}`);
    this.symbols = symbols;
  }
}

/** Lists of feeds, indexed. */
type Listings = WeakMap<Listing, Instruments>;

/** All simulations of a server: `main`, and those that tenants create. Opened when they are first asked for. */
export class Simulations {
  readonly main: Simulation;
  private readonly ground: Ground;
  private readonly open = new Map<string, Promise<Simulation>>();
  /** Lists of feeds that are the same for many simulations, indexed once. */
  private readonly listings: Listings;
  private readonly clocks: ClockKeeper;

  private constructor(ground: Ground, main: Simulation, listings: Listings, clocks: ClockKeeper) {
    this.ground = ground;
    this.main = main;
    this.listings = listings;
    this.clocks = clocks;
    this.open.set(MAIN, Promise.resolve(main));
  }

  /**
   * Opens `main`, creating it at the first start. Its seed, its ids and its beginning stay what they were then; feed, clock and
   * calendar are today's settings.
   */
  static async start(ground: Ground, wanted: WantedSimulation): Promise<Simulations> {
    const { registry } = ground.store;
    const entry = registry.simulation(MAIN);
    const before = entry === undefined ? undefined : configOf(entry);
    const { seed, idSecret, start } = before ?? withChance(wanted);
    const config = { ...wanted, seed, start, ...(idSecret !== undefined && { idSecret }) };
    const listings: Listings = new WeakMap();
    const clocks = new ClockKeeper(registry);
    const furnished = await furnish(ground, listings, config);
    const kept = before ?? (await register(registry, { id: MAIN, tenantId: null, config }, furnished));
    const main = await openSimulation(
      ground,
      { id: MAIN, tenantId: null, config: { ...config, rules: kept.rules } },
      furnished,
      clocks,
    );
    return new Simulations(ground, main, listings, clocks);
  }

  /** The simulation of this id that the tenant may see. */
  async find(id: string, tenantId: string): Promise<Simulation | undefined> {
    if (id === MAIN) return this.main;
    const entry = this.registry.simulation(id);
    if (entry?.tenantId !== tenantId || entry.deletedAt !== undefined) return undefined;
    return this.opened({ id, tenantId, config: configOf(entry) });
  }

  info(id: string, tenantId: string): SimulationInfo | undefined {
    const entry = this.registry.simulation(id);
    if (entry === undefined || entry.deletedAt !== undefined) return undefined;
    if (id !== MAIN && entry.tenantId !== tenantId) return undefined;
    return infoOf(entry);
  }

  /** Those of a tenant, oldest first. */
  list(tenantId: string): readonly SimulationInfo[] {
    return this.registry.simulations(tenantId).map(infoOf);
  }

  /** Throws `NotRecorded` for symbols that the recording does not have. */
  async create(tenantId: string, config: WantedSimulation): Promise<Simulation> {
    const whole = withChance(config);
    const furnished = await furnish(this.ground, this.listings, whole);
    const listed = new Set(furnished.rules.instruments.listing.instruments.map(({ symbol }) => symbol));
    const missing = config.replay?.symbols?.filter((symbol) => !listed.has(symbol)) ?? [];
    if (missing.length > 0) throw new NotRecorded(missing);
    const of = { id: randomUUID(), tenantId, config: whole };
    const kept = await register(this.registry, of, furnished);
    return this.opened({ ...of, config: kept }, furnished);
  }

  /** False where the tenant has no such simulation. `main` cannot be removed. */
  async remove(id: string, tenantId: string): Promise<boolean> {
    const entry = this.registry.simulation(id);
    if (id === MAIN || entry?.tenantId !== tenantId || entry.deletedAt !== undefined) return false;
    const simulation = this.open.get(id);
    this.open.delete(id);
    if (simulation !== undefined) await (await simulation).close();
    await this.registry.deleteSimulation(id, Date.now());
    return true;
  }

  async close(): Promise<void> {
    for (const simulation of this.open.values()) await (await simulation).close();
  }

  private get registry(): Registry {
    return this.ground.store.registry;
  }

  private opened(of: Kept, furnished?: Furnished): Promise<Simulation> {
    let opening = this.open.get(of.id);
    if (opening === undefined) {
      opening = this.openNow(of, furnished);
      this.open.set(of.id, opening);
      opening.catch(() => this.open.delete(of.id));
    }
    return opening;
  }

  private async openNow(of: Kept, furnished?: Furnished): Promise<Simulation> {
    const { ground, listings, clocks } = this;
    return openSimulation(ground, of, furnished ?? (await furnish(ground, listings, of.config)), clocks);
  }
}

const withChance = (wanted: WantedSimulation): SimulationConfig =>
  wanted.seed === undefined
    ? { ...wanted, seed: randomInt(2 ** 32), idSecret: randomBytes(16).toString('hex') }
    : { ...wanted, seed: wanted.seed };

const configOf = (entry: SimulationEntry): KeptConfig => JSON.parse(entry.config) as KeptConfig;

const infoOf = (entry: SimulationEntry): SimulationInfo => ({
  id: entry.id,
  tenantId: entry.tenantId,
  config: configOf(entry),
  createdAt: entry.createdAt,
});

interface Kept {
  readonly id: string;
  readonly tenantId: string | null;
  readonly config: KeptConfig;
}

/** What a simulation goes by today. */
interface Furnished {
  readonly feed: Feed;
  readonly rules: Rules;
  readonly inForce: RulesInForce;
}

async function furnish(ground: Ground, listings: Listings, config: SimulationConfig): Promise<Furnished> {
  const calendar = calendarById(config.calendar);
  const feed = await ground.openFeed(config, calendar);
  const rules = rulesFor(ground, feed, calendar, listings);
  return { feed, rules, inForce: await keepRules(ground.store.registry, rules) };
}

/** Enters a new simulation in the registry, with the rules that it begins under. */
async function register(
  registry: Registry,
  of: { readonly id: string; readonly tenantId: string | null; readonly config: SimulationConfig },
  { inForce }: Furnished,
): Promise<KeptConfig> {
  const config: KeptConfig = { ...of.config, rules: inForce };
  await registry.createSimulation({ ...of, config: JSON.stringify(config), createdAt: Date.now() });
  return config;
}

async function openSimulation(
  ground: Ground,
  { id, tenantId, config }: Kept,
  { feed, rules, inForce }: Furnished,
  clocks: ClockKeeper,
): Promise<Simulation> {
  const { store, onError } = ground;
  const { brokerage, seq, checkpointSeq } = recover(store, id, rules, config);
  const { state } = brokerage;
  const now = Instant.max(state.clock ?? Instant.ofMs(config.start), state.now);
  const isChanged = !sameRules(state.rules ?? config.rules, inForce);
  const simulation = new Simulation({
    id,
    tenantId,
    brokerage,
    feed,
    clock: clockOf(config, now, clocks.lastOf(id, config.speed)),
    clocks,
    store,
    seq,
    checkpointSeq,
    ...(isChanged && { changedRules: inForce }),
    onError,
  });
  await simulation.start();
  return simulation;
}

/** The rules a simulation goes by: today's brokers and settings, the feed's instruments. */
function rulesFor(ground: Ground, feed: Feed, calendar: Calendar, listings: Listings): Rules {
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
    quoteMaxAgeMs: ground.quoteMaxAgeMs ?? (feed.kind === 'replay' ? RECORDING_HOLE_MS : undefined),
    marketCollarBps: ground.marketCollarBps,
    portfolioMarginEquity: ground.portfolioMarginEquity,
  };
}

/** A clock that is at `now` or later: a scaled one where it stood last, with the speed it had. */
function clockOf(config: SimulationConfig, now: Instant, last: ReturnType<ClockKeeper['lastOf']>): Clock {
  switch (config.clock) {
    case 'wall':
      return new WallClock();
    case 'manual':
      return new ManualClock(now);
    case 'scaled':
      return new ScaledClock(Instant.max(last?.now ?? now, now), config.speed, last?.speed);
  }
}
