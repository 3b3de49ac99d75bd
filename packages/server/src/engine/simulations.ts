import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { calendarById, Instant, KnownInstruments } from '@sandpit/core';
import type {
  BrokerConfiguration,
  Calendar,
  EarlyAssignment,
  Instruments,
  Listing,
  Money,
  Rules,
  RulesInForce,
} from '@sandpit/core';
import type { Feed } from '../feeds/feed.js';
import { DamagedJournal, StoreUnavailable } from '../store/journal.js';
import type { Registry, SimulationEntry } from '../store/registry.js';
import type { Store } from '../store/store.js';
import { ClockKeeper } from './clock-keeper.js';
import { ManualClock, ScaledClock, WallClock } from './clock.js';
import type { Clock, ClockMode } from './clock.js';
import { ImplausibleClock } from './machine-time.js';
import type { MachineTime } from './machine-time.js';
import { recover } from './recovery.js';
import { keepRules, sameRules } from './rules-in-force.js';
import type { DurableRecord } from './records.js';
import { Simulation } from './simulation.js';

/** What a simulation is made of. Kept in the registry, so that it is the same after a restart. */
export interface SimulationConfig {
  readonly name?: string;
  /** The agent that made it, where one did. */
  readonly madeBy?: string;
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
  /** Which short options are assigned before they expire (D89); absent = none. */
  readonly earlyAssignment?: EarlyAssignment;
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
  readonly riskFreeRate: number;
  readonly quoteMaxAgeMs: number | undefined;
  readonly openFeed: (config: SimulationConfig, calendar: Calendar) => Promise<Feed>;
  readonly onError: (error: unknown) => void;
  /** Tells the operator, in one line. */
  readonly note: (text: string) => void;
  /** Hears of every record of every simulation once it is durable; absent = nobody does. */
  readonly tell?: ((record: DurableRecord) => void) | undefined;
  readonly time: MachineTime;
  /** Simulations that nobody has asked for this long leave memory. */
  readonly idleMs: number;
}

export const MAIN = 'main';

/** Timers take no more. */
const LONGEST_TIMER_MS = 3_600_000;

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

/** The tenant has as many simulations as it may. */
export class TooManySimulations extends Error {
  override readonly name = 'TooManySimulations';
}

/** Lists of feeds, indexed. */
type Listings = WeakMap<Listing, Instruments>;

/** All simulations of a server: `main`, and those that tenants create. Opened when they are first asked for. */
export class Simulations {
  readonly main: Simulation;
  private readonly ground: Ground;
  private readonly open = new Map<string, Open>();
  /** How many of a tenant's are being created. */
  private readonly creating = new Map<string, number>();
  /** On their way out of memory. */
  private readonly closing = new Map<string, Promise<void>>();
  /** Pushed bars are nowhere else: the feeds of simulations that have left memory. */
  private readonly restingFeeds = new Map<string, Feed>();
  /** Those that could not be opened, and will not be until the server is started again. */
  private readonly broken = new Set<string>();
  private readonly sweep: NodeJS.Timeout;
  /** Lists of feeds that are the same for many simulations, indexed once. */
  private readonly listings: Listings;
  private readonly clocks: ClockKeeper;

  private constructor(ground: Ground, main: Simulation, listings: Listings, clocks: ClockKeeper) {
    this.ground = ground;
    this.main = main;
    this.listings = listings;
    this.clocks = clocks;
    this.open.set(MAIN, { simulation: Promise.resolve(main), usedAt: Infinity });
    const every = Math.min(LONGEST_TIMER_MS, ground.idleMs / 4);
    this.sweep = setInterval(() => void this.restIdle(), Math.max(1, every)).unref();
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
    await ground.time.remember();
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

  /** Throws `TooManySimulations` where the tenant has as many as it may, `NotRecorded` for symbols that the recording does not have. */
  async create(tenantId: string, config: WantedSimulation, allowed = Infinity): Promise<Simulation> {
    const underWay = this.creating.get(tenantId) ?? 0;
    if (this.registry.simulations(tenantId).length + underWay >= allowed) throw new TooManySimulations();
    this.creating.set(tenantId, underWay + 1);
    try {
      return await this.createNow(tenantId, config);
    } finally {
      const left = (this.creating.get(tenantId) ?? 1) - 1;
      if (left === 0) this.creating.delete(tenantId);
      else this.creating.set(tenantId, left);
    }
  }

  private async createNow(tenantId: string, config: WantedSimulation): Promise<Simulation> {
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
    await this.closing.get(id);
    const open = this.open.get(id);
    this.open.delete(id);
    if (open !== undefined) await closeWithFeed(await open.simulation);
    await this.restingFeeds.get(id)?.close();
    this.restingFeeds.delete(id);
    await this.registry.deleteSimulation(id, Date.now());
    return true;
  }

  /** Its journal was found damaged behind everything else: it is not served any more, until the server is started again. */
  takeOutOfService(id: string, reason: string): void {
    if (this.broken.has(id)) return;
    this.broken.add(id);
    const open = this.open.get(id);
    if (open === undefined) return noteOutOfService(this.ground, id, reason);
    open.simulation.then(
      (simulation) => simulation.takeOutOfService(reason),
      () => undefined,
    );
  }

  /** Lets those leave memory that nobody has asked for in a while. */
  private async restIdle(): Promise<void> {
    const before = performance.now() - this.ground.idleMs;
    for (const [id, { simulation, usedAt }] of this.open) {
      if (usedAt > before) continue;
      const idle = await simulation.catch(() => undefined);
      const current = this.open.get(id);
      if (idle === undefined || current === undefined || current.usedAt > before || !idle.canRest()) continue;
      this.open.delete(id);
      this.restingFeeds.set(id, idle.feed);
      const closing = idle.close().catch(this.ground.onError);
      this.closing.set(id, closing);
      await closing;
      this.closing.delete(id);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    await Promise.all(this.closing.values());
    for (const { simulation } of this.open.values()) await closeWithFeed(await simulation);
    for (const feed of this.restingFeeds.values()) await feed.close();
    await this.ground.time.close();
  }

  private get registry(): Registry {
    return this.ground.store.registry;
  }

  private opened(of: Kept, furnished?: Furnished): Promise<Simulation> {
    if (this.broken.has(of.id))
      return Promise.reject(new StoreUnavailable('the simulation is out of service'));
    let open = this.open.get(of.id);
    if (open === undefined) {
      open = { simulation: this.openNow(of, furnished), usedAt: 0 };
      this.open.set(of.id, open);
      open.simulation.catch(() => this.open.delete(of.id));
    }
    open.usedAt = performance.now();
    return open.simulation;
  }

  private async openNow(of: Kept, furnished?: Furnished): Promise<Simulation> {
    const { ground, listings, clocks } = this;
    await this.closing.get(of.id);
    const feed = this.restingFeeds.get(of.id);
    this.restingFeeds.delete(of.id);
    try {
      const ready = furnished ?? (await furnish(ground, listings, of.config, feed));
      return await openSimulation(ground, of, ready, clocks);
    } catch (error) {
      if (!(error instanceof DamagedJournal || error instanceof ImplausibleClock)) throw error;
      this.broken.add(of.id);
      noteOutOfService(ground, of.id, error.message);
      throw new StoreUnavailable('the simulation is out of service', { cause: error });
    }
  }
}

const noteOutOfService = ({ note }: Ground, id: string, reason: string): void =>
  note(`Simulation ${id} is out of service until the server is started again: ${reason}`);

interface Open {
  readonly simulation: Promise<Simulation>;
  /** On the monotonic clock. */
  usedAt: number;
}

async function closeWithFeed(simulation: Simulation): Promise<void> {
  await simulation.close();
  await simulation.feed.close();
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

async function furnish(
  ground: Ground,
  listings: Listings,
  config: SimulationConfig,
  resting?: Feed,
): Promise<Furnished> {
  const calendar = calendarById(config.calendar);
  const feed = resting ?? (await ground.openFeed(config, calendar));
  const rules = rulesFor(ground, feed, calendar, listings, config.earlyAssignment);
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
  const { store, onError, time } = ground;
  const { brokerage, seq, checkpointSeq } = recover(store, id, rules, config);
  const { state } = brokerage;
  if (config.clock === 'wall') time.check(seq > 0 ? state.now : undefined);
  const now = Instant.max(state.clock ?? Instant.ofMs(config.start), state.now);
  const isChanged = !sameRules(state.rules ?? config.rules, inForce);
  const simulation = new Simulation({
    id,
    tenantId,
    brokerage,
    feed,
    clock: clockOf(config, now, clocks.lastOf(id, config.speed), time),
    clocks,
    store,
    seq,
    checkpointSeq,
    ...(isChanged && { changedRules: inForce }),
    onError,
    onOutOfService: (reason) => noteOutOfService(ground, id, reason),
    tell: ground.tell,
  });
  await simulation.start();
  return simulation;
}

/** The rules a simulation goes by: today's brokers and settings, the feed's instruments. */
function rulesFor(
  ground: Ground,
  feed: Feed,
  calendar: Calendar,
  listings: Listings,
  earlyAssignment: EarlyAssignment | undefined,
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
    quoteMaxAgeMs: ground.quoteMaxAgeMs ?? (feed.kind === 'replay' ? RECORDING_HOLE_MS : undefined),
    marketCollarBps: ground.marketCollarBps,
    portfolioMarginEquity: ground.portfolioMarginEquity,
    riskFreeRate: ground.riskFreeRate,
    ...(earlyAssignment !== undefined && { earlyAssignment }),
  };
}

/** A clock that is at `now` or later: a scaled one where it stood last, with the speed it had. */
function clockOf(
  config: SimulationConfig,
  now: Instant,
  last: ReturnType<ClockKeeper['lastOf']>,
  time: MachineTime,
): Clock {
  switch (config.clock) {
    case 'wall':
      return new WallClock(() => time.now());
    case 'manual':
      return new ManualClock(now);
    case 'scaled':
      return new ScaledClock(Instant.max(last?.now ?? now, now), config.speed, last?.speed);
  }
}
