import { createHash } from 'node:crypto';
import { Ids } from '@sandpit/core';
import type { RulesInForce } from '@sandpit/core';
import { EVENT_TAGS, settingsOf } from '../../store/registry.js';
import type { ForkBeginning, Registry, SimulationEntry } from '../../store/registry.js';
import type { Store } from '../../store/store.js';
import type { ComparedStretch, ComparisonTask } from '../comparisons/comparison.js';
import { originOf } from '../configuration/simulation-config.js';
import type { KeptConfig, SimulationConfig, StreamTag } from '../configuration/simulation-config.js';
import type { Simulation } from '../simulation/simulation.js';
import type { ImportNote, Imports } from '../transfers/imports.js';
import { EVALUATION_CELLS, isUnnamed, MAIN, mainOf, MAINS, MARKET } from '../values/cell-names.js';
import type { OutOfService } from './out-of-service.js';
import type { SharedDependencies } from './shared-dependencies.js';

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

/** A simulation of a tenant in the registry. */
export interface StoredSimulation {
  readonly id: string;
  readonly tenantId: string;
  readonly config: KeptConfig;
}

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

/** The imported simulations of a tenant have brought as many lists of rules as they may. */
export class TooManyLists extends Error {
  override readonly name = 'TooManyLists';

  constructor() {
    super('the lists of rules of imported simulations have at most 64 MiB together: delete one of them');
  }
}

/** Characters of lists of rules that came with the imported simulations of a tenant. */
const MOST_LISTS = 64 * 1024 * 1024;

/** The entries of simulations in the registry: their configurations, and everything that is known without opening them. */
export class SimulationEntries {
  readonly #shared: Pick<SharedDependencies, 'store' | 'riskFreeRate' | 'recordings' | 'liveRecordings'>;
  readonly #market: Simulation;
  /** Current configuration of the market. */
  readonly #marketConfig: SimulationConfig;
  readonly #imports: Imports;
  readonly #outOfService: OutOfService;

  constructor(
    shared: SharedDependencies,
    market: Simulation,
    marketConfig: SimulationConfig,
    imports: Imports,
    outOfService: OutOfService,
  ) {
    this.#shared = shared;
    this.#market = market;
    this.#marketConfig = marketConfig;
    this.#imports = imports;
    this.#outOfService = outOfService;
  }

  get #registry(): Registry {
    return this.#shared.store.registry;
  }

  /** A simulation that the tenant may open. `id`: `MAIN`, or of one that the tenant created. */
  find(id: string, tenantId: string): StoredSimulation | undefined {
    const entry = this.#entryOf(id, tenantId);
    return entry && { id: entry.id, tenantId, config: this.#configOf(entry, tenantId) };
  }

  /** The cell of an evaluation of the tenant. */
  findEvaluation(id: string, tenantId: string): StoredSimulation | undefined {
    const entry = id.startsWith(EVALUATION_CELLS) ? this.#ownEntry(id, tenantId) : undefined;
    return entry && { id, tenantId, config: configOf(entry) };
  }

  #entryOf(id: string, tenantId: string): SimulationEntry | undefined {
    return isUnnamed(id) ? undefined : this.#ownEntry(id, tenantId);
  }

  #ownEntry(id: string, tenantId: string): SimulationEntry | undefined {
    const entry = this.#registry.simulation(id === MAIN ? mainOf(tenantId) : id);
    return entry?.tenantId === tenantId && entry.deletedAt === undefined ? entry : undefined;
  }

  #configOf(entry: SimulationEntry, tenantId: string): KeptConfig {
    if (!entry.id.startsWith(MAINS)) return configOf(entry);
    return { ...this.mainConfig(tenantId), ...mainOriginOf(entry) };
  }

  /** Configuration of an open simulation. */
  configOfOpen({ id, tenantId }: Simulation): KeptConfig {
    const entry = this.#registry.simulation(id);
    if (entry === undefined) throw new Error(`There is no simulation ${id}`);
    if (!id.startsWith(MAINS)) return configOf(entry);
    const pathSeed = this.#marketConfig.seed;
    return { ...this.mainConfig(tenantId ?? ''), pathSeed, ...mainOriginOf(entry) };
  }

  /** The market's configuration with the tenant's own ids and draws, which derive from the installation's secret without revealing it. */
  mainConfig(tenantId: string): SimulationConfig {
    const config = this.#marketConfig;
    const origin = config.idSecret ?? String(config.seed);
    const digest = createHash('sha256')
      .update(JSON.stringify([origin, tenantId]))
      .digest('hex');
    return { ...config, seed: Number.parseInt(digest.slice(0, 8), 16), idSecret: digest.slice(8, 40) };
  }

  info(id: string, tenantId: string): SimulationInfo | undefined {
    if (id === MAIN) {
      const createdAt =
        this.#registry.simulation(mainOf(tenantId))?.createdAt ??
        this.#registry.simulation(MARKET)?.createdAt ??
        0;
      const brokenBy = this.#outOfService.reasonOf(mainOf(tenantId));
      return {
        id,
        tenantId,
        config: this.#marketConfig,
        createdAt,
        ...(brokenBy !== undefined && { brokenBy }),
      };
    }
    const entry = this.#entryOf(id, tenantId);
    return entry && this.#infoOf(entry);
  }

  /** Simulations that a tenant created, oldest first. */
  list(tenantId: string): readonly SimulationInfo[] {
    const main = mainOf(tenantId);
    return this.#registry
      .simulations(tenantId)
      .filter(({ id }) => id !== main)
      .map((entry) => this.#infoOf(entry))
      .filter(({ config }) => config.competition === undefined);
  }

  #infoOf({ id, tenantId, createdAt, ...entry }: SimulationEntry): SimulationInfo {
    const brokenBy = this.#outOfService.reasonOf(id);
    const imported = this.#imports.noteOf(id);
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

  /** Simulations whose ids of portfolios include this one, oldest first; forks have the ids of their parents. */
  withPortfolio(portfolioId: string): readonly { readonly id: string; readonly tenantId: string }[] {
    return this.#registry.simulations().flatMap((entry) => {
      const { id, tenantId } = entry;
      if (tenantId === null) return [];
      const isMain = id === mainOf(tenantId);
      const { seed, idSecret } = originOf(this.#configOf(entry, tenantId));
      const ids = new Ids(idSecret ?? Ids.secretOf(seed));
      // After a loss of records the simulation itself knows its ids.
      const isOther =
        ids.numberOf('PORTFOLIO', portfolioId) === undefined && tagsOfLosses(this.#registry, id).length === 0;
      return isOther ? [] : [{ id: isMain ? MAIN : id, tenantId }];
    });
  }

  /** True for simulations of a competition: only its participants see their events. */
  isInCompetition(id: string): boolean {
    const entry = this.#registry.simulation(id);
    return entry !== undefined && configOf(entry).competition !== undefined;
  }

  /** Records of a simulation from elsewhere: imported ones, and those of a fork's ancestors. */
  inheritedRecords(id: string): number {
    const entry = this.#registry.simulation(id);
    const shared = entry === undefined ? 0 : (configOf(entry).fork?.sequence ?? 0);
    return Math.max(this.#imports.noteOf(id)?.records ?? 0, shared);
  }

  /** Lists of rules are in memory and belong to a simulation: their size is limited for each tenant. Throws `TooManyLists`. */
  requireRoomForLists(tenantId: string, characters: number): void {
    const all = this.#registry
      .simulations(tenantId)
      .reduce((sum, entry) => sum + (configOf(entry).ownLists ?? 0), characters);
    if (all > MOST_LISTS) throw new TooManyLists();
  }

  /**
   * Starting point of a comparison of a simulation. `id`: `MAIN`, or of one that the tenant created. A live market is compared on its
   * recording if this server records it.
   */
  comparedAs(id: string, tenantId: string): ComparedJournal | undefined {
    const isMain = id === MAIN;
    const config = this.find(id, tenantId)?.config;
    if (config === undefined) return undefined;
    const { riskFreeRate, liveRecordings } = this.#shared;
    const feed = isMain ? this.#marketConfig : config;
    const isLiveFeed = (feed.feed === 'live' || feed.liveRecording === true) && liveRecordings !== undefined;
    const recordings = isLiveFeed ? liveRecordings : this.#shared.recordings;
    const forked = config.fork?.stretches ?? [];
    const isImported = config.isFromFile === true;
    const marketSeq = isMain ? this.#market.published : forked.findLast((one) => one.marketSeq)?.marketSeq;
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
}

/** Configuration that reads the recording from its files. */
const replayOf = ({ liveRecording: _, ...config }: SimulationConfig): SimulationConfig => ({
  ...config,
  feed: 'replay',
});

export const configOf = (entry: Pick<SimulationEntry, 'config'>): KeptConfig =>
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

/** Enters a new simulation in the registry, with the rules that it begins under. */
export async function register(
  registry: Registry,
  of: { readonly id: string; readonly tenantId: string | null; readonly config: SimulationConfig },
  rules: RulesInForce,
  begins?: ForkBeginning,
): Promise<KeptConfig> {
  const config: KeptConfig = { ...of.config, rules };
  await registry.createSimulation({ ...of, config: JSON.stringify(config), createdAt: Date.now() }, begins);
  return config;
}

/** The registry of what outlives the process. */
export const durableOf = ({ ephemeral, registry }: Store): Registry => ephemeral?.durableRegistry ?? registry;

/** Tags of events after losses that an operator accepted, oldest first (D203). */
export const tagsOfLosses = (registry: Registry, id: string): readonly StreamTag[] =>
  JSON.parse(registry.setting(settingsOf(id) + EVENT_TAGS) ?? '[]') as readonly StreamTag[];
