import { calendarById } from '@sandpit/core';
import { NotMaskable } from '../../feeds/mask.js';
import { StoreUnavailable } from '../../store/journal.js';
import { charactersOwned } from '../configuration/rules-in-force.js';
import { importedConfig } from '../configuration/simulation-config.js';
import type { KeptConfig, SimulationConfig } from '../configuration/simulation-config.js';
import { exportSimulation } from '../transfers/export.js';
import { ImportRefused } from '../transfers/import-refused.js';
import type { Imports } from '../transfers/imports.js';
import { travelingSettings } from '../transfers/traveling-settings.js';
import { MAIN } from '../values/cell-names.js';
import type { SimulationCreation } from './creation.js';
import type { SimulationDirectory } from './directory.js';
import { durableOf } from './entries.js';
import type { SimulationEntries, SimulationInfo } from './entries.js';
import { NoLiveRecording } from './shared-dependencies.js';
import type { SharedDependencies } from './shared-dependencies.js';

/** Maximum number of symbols in a message. */
const MOST_NAMED = 10;

/** Files of single simulations: writes them, and creates simulations from them. */
export class SimulationTransfers {
  readonly #shared: Pick<SharedDependencies, 'store' | 'openFeed' | 'time'>;
  readonly #entries: SimulationEntries;
  readonly #directory: SimulationDirectory;
  readonly #creation: SimulationCreation;
  readonly #imports: Imports;

  constructor(
    shared: SharedDependencies,
    entries: SimulationEntries,
    directory: SimulationDirectory,
    creation: SimulationCreation,
    imports: Imports,
  ) {
    this.#shared = shared;
    this.#entries = entries;
    this.#directory = directory;
    this.#creation = creation;
    this.#imports = imports;
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
    return this.#creation.counted(tenantId, limits.allowed, async () => {
      const imports = this.#imports;
      const { id, simulation } = await imports.receive(tenantId, chunks, limits.mostBytes);
      const config = importedConfig(simulation.config);
      try {
        limits.check?.(config);
        if (config.clock === 'wall' && simulation.at > this.#shared.time.now())
          throw new ImportRefused('the last record is after now, and the clock is the wall’s');
        await this.#requireFeed(config, simulation.symbols);
        const kept: KeptConfig = {
          ...config,
          ...(madeBy !== undefined && { madeBy }),
          ...this.#ownListsIn(tenantId, simulation.lists),
        };
        const entry = { id, tenantId, config: JSON.stringify(kept), createdAt: Date.now() };
        // Both in one turn, which is one commit.
        await Promise.all([this.#shared.store.registry.createSimulation(entry), imports.noteImporting(id)]);
      } catch (error) {
        imports.discard(id);
        throw error;
      }
      imports.begin(id);
      return this.#entries.info(id, tenantId);
    });
  }

  /** Rejects with `ImportRefused` where this server does not have the recording that a simulation of a file replays. */
  async #requireFeed(config: KeptConfig, symbols: readonly string[]): Promise<void> {
    if (config.feed !== 'replay') return;
    const { openFeed } = this.#shared;
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

  /** Size of the lists of rules in a file that are not those of this installation. Throws `TooManyLists`. */
  #ownListsIn(
    tenantId: string,
    lists: readonly (readonly [digest: string, length: number])[],
  ): Pick<KeptConfig, 'ownLists'> {
    const ownLists = charactersOwned(durableOf(this.#shared.store), lists);
    if (ownLists === 0) return {};
    this.#entries.requireRoomForLists(tenantId, ownLists);
    return { ownLists };
  }

  /**
   * The file of a simulation that the tenant created, up to its last durable record; undefined if there is none. Throws `StoreUnavailable`
   * if the record is not durable yet.
   */
  async export(id: string, tenantId: string): Promise<AsyncGenerator<string> | undefined> {
    const { store } = this.#shared;
    const of = id === MAIN ? undefined : this.#entries.find(id, tenantId);
    if (of === undefined) return undefined;
    const note = this.#imports.noteOf(id);
    if (note !== undefined && note.status !== 'READY') throw new StoreUnavailable('the import is under way');
    await this.#directory.durable(id);
    const upTo = store.journal.lastSeq(id);
    const settings = travelingSettings(store.registry, id);
    return exportSimulation(store, { id, shownId: id, config: of.config, upTo, settings });
  }
}
