import { randomInt, randomUUID } from 'node:crypto';
import { calendarById, Instant } from '@sandpit/core';
import type { BrokerConfiguration, Calendar, Instrument, Money, Rules } from '@sandpit/core';
import type { Feed } from '../feeds/feed.js';
import type { Registry, SimulationEntry } from '../store/registry.js';
import type { Store } from '../store/store.js';
import { ManualClock, ScaledClock, WallClock } from './clock.js';
import type { Clock, ClockMode } from './clock.js';
import { recover } from './recovery.js';
import { Simulation } from './simulation.js';

/** What a simulation is made of. Kept in the registry, so that it is the same after a restart. */
export interface SimulationConfig {
  readonly name?: string;
  readonly feed: 'synthetic' | 'push' | 'replay';
  readonly clock: ClockMode;
  readonly calendar: Calendar['id'];
  /** Simulated instant it began at, ms. */
  readonly start: number;
  /** Of a scaled clock. */
  readonly speed: number;
  /** 32-bit. */
  readonly seed: number;
  /** What of the server's recordings to replay; absent = all. */
  readonly replay?: { readonly symbols?: readonly string[]; readonly from?: number };
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

/** All simulations of a server: `main`, and those that tenants create. Opened when they are first asked for. */
export class Simulations {
  readonly main: Simulation;
  private readonly ground: Ground;
  private readonly open = new Map<string, Promise<Simulation>>();
  /** Lists of feeds that are the same for many simulations, indexed once. */
  private readonly listings: WeakMap<object, ReadonlyMap<string, Instrument>>;

  private constructor(
    ground: Ground,
    main: Simulation,
    listings: WeakMap<object, ReadonlyMap<string, Instrument>>,
  ) {
    this.ground = ground;
    this.main = main;
    this.listings = listings;
    this.open.set(MAIN, Promise.resolve(main));
  }

  /**
   * Opens `main`, creating it at the first start. Its seed and its beginning stay what they were then; feed, clock and
   * calendar are today's settings.
   */
  static async start(
    ground: Ground,
    wanted: Omit<SimulationConfig, 'seed'> & { readonly seed?: number },
  ): Promise<Simulations> {
    const { registry } = ground.store;
    const kept = registry.simulation(MAIN);
    const first: SimulationConfig = { ...wanted, seed: wanted.seed ?? randomInt(2 ** 32) };
    if (kept === undefined) {
      await registry.createSimulation({
        id: MAIN,
        tenantId: null,
        config: JSON.stringify(first),
        createdAt: Date.now(),
      });
    }
    const before = kept === undefined ? first : configOf(kept);
    const config: SimulationConfig = { ...first, seed: before.seed, start: before.start };
    const listings = new WeakMap<object, ReadonlyMap<string, Instrument>>();
    const main = await openSimulation(ground, listings, { id: MAIN, tenantId: null, config });
    return new Simulations(ground, main, listings);
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

  async create(
    tenantId: string,
    config: Omit<SimulationConfig, 'seed'> & { readonly seed?: number },
  ): Promise<Simulation> {
    const id = randomUUID();
    const whole: SimulationConfig = { ...config, seed: config.seed ?? randomInt(2 ** 32) };
    await this.registry.createSimulation({
      id,
      tenantId,
      config: JSON.stringify(whole),
      createdAt: Date.now(),
    });
    return this.opened({ id, tenantId, config: whole });
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

  private opened(of: { id: string; tenantId: string | null; config: SimulationConfig }): Promise<Simulation> {
    let opening = this.open.get(of.id);
    if (opening === undefined) {
      opening = openSimulation(this.ground, this.listings, of);
      this.open.set(of.id, opening);
      opening.catch(() => this.open.delete(of.id));
    }
    return opening;
  }
}

const configOf = (entry: SimulationEntry): SimulationConfig => JSON.parse(entry.config) as SimulationConfig;

const infoOf = (entry: SimulationEntry): SimulationInfo => ({
  id: entry.id,
  tenantId: entry.tenantId,
  config: configOf(entry),
  createdAt: entry.createdAt,
});

async function openSimulation(
  ground: Ground,
  listings: WeakMap<object, ReadonlyMap<string, Instrument>>,
  of: { readonly id: string; readonly tenantId: string | null; readonly config: SimulationConfig },
): Promise<Simulation> {
  const { config } = of;
  const calendar = calendarById(config.calendar);
  const feed = await ground.openFeed(config, calendar);
  const rules = rulesFor(ground, feed, calendar, listings);
  const start = Instant.ofMs(config.start);
  const { brokerage, seq } = recover(ground.store.journal, of.id, rules, { seed: config.seed, start });
  const simulation = new Simulation({
    id: of.id,
    tenantId: of.tenantId,
    brokerage,
    feed,
    clock: clockOf(config, Instant.max(brokerage.state.clock ?? start, brokerage.state.now)),
    store: ground.store,
    seq,
    onError: ground.onError,
  });
  await simulation.start();
  return simulation;
}

/** The rules a simulation goes by: today's brokers and settings, the feed's instruments. */
export function rulesFor(
  ground: Pick<Ground, 'brokers' | 'portfolioMarginEquity' | 'marketCollarBps' | 'quoteMaxAgeMs'>,
  feed: Feed,
  calendar: Calendar,
  listings: WeakMap<object, ReadonlyMap<string, Instrument>> = new WeakMap(),
): Rules {
  const list = feed.instruments();
  let instruments = listings.get(list);
  if (instruments === undefined) {
    instruments = new Map(list.map((instrument) => [instrument.symbol, instrument]));
    listings.set(list, instruments);
  }
  return {
    calendar,
    brokers: ground.brokers,
    instruments,
    quoteMaxAgeMs: ground.quoteMaxAgeMs,
    marketCollarBps: ground.marketCollarBps,
    portfolioMarginEquity: ground.portfolioMarginEquity,
  };
}

function clockOf(config: SimulationConfig, now: Instant): Clock {
  switch (config.clock) {
    case 'wall':
      return new WallClock();
    case 'manual':
      return new ManualClock(now);
    case 'scaled':
      return new ScaledClock(now, config.speed);
  }
}
