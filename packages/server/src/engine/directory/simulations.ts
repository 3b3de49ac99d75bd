import type { WantedSimulation } from '../configuration/simulation-config.js';
import { RecentPoints } from '../forks/fork-points.js';
import { Snapshots } from '../forks/snapshots.js';
import type { Simulation } from '../simulation/simulation.js';
import { Imports } from '../transfers/imports.js';
import { SimulationCreation } from './creation.js';
import { SimulationDirectory } from './directory.js';
import { SimulationEntries } from './entries.js';
import { SimulationForking } from './forking.js';
import { MarketLead, openMarket } from './market-lead.js';
import { SimulationOpener } from './opener.js';
import { OutOfService } from './out-of-service.js';
import type { SharedDependencies } from './shared-dependencies.js';
import { TenantCells } from './tenant-cells.js';
import { SimulationTransfers } from './transfers.js';

/**
 * All simulations of a server, by what is done with them. Each belongs to one tenant: its `main`, which follows the market of the
 * installation and is stored from its first change, and those that it creates.
 */
export class Simulations {
  /** The market that every `main` follows. It has no portfolios: it stands in for a `main` that has not been saved yet. */
  readonly market: Simulation;
  readonly outOfService: OutOfService;
  readonly imports: Imports;
  readonly snapshots: Snapshots;
  readonly entries: SimulationEntries;
  readonly directory: SimulationDirectory;
  readonly creation: SimulationCreation;
  readonly forking: SimulationForking;
  readonly transfers: SimulationTransfers;
  readonly tenants: TenantCells;
  readonly lead: MarketLead;
  readonly #shared: SharedDependencies;

  private constructor(
    shared: SharedDependencies,
    opener: SimulationOpener,
    outOfService: OutOfService,
    { market, config }: Awaited<ReturnType<typeof openMarket>>,
  ) {
    const { store } = shared;
    const points = new RecentPoints();
    const imports = new Imports(store, shared.importFolder, shared.note, shared.isInProcess);
    const snapshots = new Snapshots(store);
    const entries = new SimulationEntries(shared, market, config, imports, outOfService);
    const parts = { shared, market, opener, entries, outOfService, imports, snapshots, points };
    const directory = new SimulationDirectory(parts);
    const creation = new SimulationCreation(shared, market, opener, entries, directory);
    this.#shared = shared;
    this.market = market;
    this.outOfService = outOfService;
    this.imports = imports;
    this.snapshots = snapshots;
    this.entries = entries;
    this.directory = directory;
    this.creation = creation;
    this.forking = new SimulationForking({ ...parts, directory, creation });
    this.transfers = new SimulationTransfers(shared, entries, directory, creation, imports);
    this.tenants = new TenantCells(store, entries, directory, creation, imports);
    this.lead = new MarketLead(shared, market, opener.clocks, directory);
  }

  /** Opens the market, creating it at the first start, and every `main` that was not idle. */
  static async start(shared: SharedDependencies, wanted: WantedSimulation): Promise<Simulations> {
    const outOfService = new OutOfService(shared.note);
    const opener = new SimulationOpener(shared, outOfService);
    const opened = await openMarket(shared, opener, wanted);
    await shared.time.remember();
    const simulations = new Simulations(shared, opener, outOfService, opened);
    await simulations.imports.resume();
    simulations.lead.connectLive();
    await simulations.tenants.openAtStake();
    return simulations;
  }

  /** The market, and every `main` in memory that follows it. */
  get onMarket(): readonly Simulation[] {
    return [this.market, ...this.market.followers];
  }

  /** Discards all simulations in memory, because other nodes own them now. Writes nothing. */
  async abandon(): Promise<void> {
    for (const opened of this.directory.opened()) opened.retire();
    this.market.retire();
    await this.close();
  }

  async close(): Promise<void> {
    this.imports.close();
    await this.directory.close();
    await this.#shared.time.close();
  }
}
