import { StoreUnavailable } from '../journal.js';
import { MARKET_TENANT } from '../ownership.js';
import type { Ownership } from '../ownership.js';
import { AlreadyExists, NotInRegistry } from '../registry.js';
import type { ApiKey, ForkBeginning, Registry, SimulationEntry, Tenant } from '../registry.js';
import type { Cell, Origin } from './cells.js';
import type { CommitQueue } from './commit-queue.js';
import { entryOf } from './registry-state.js';
import type { RegistryChange, RegistryState } from './registry-state.js';

const byAge = (a: { readonly createdAt: number }, b: { readonly createdAt: number }): number =>
  a.createdAt - b.createdAt;

/** The registry, in memory; its changes go through the commit queue. */
export class PostgresRegistry implements Registry {
  readonly #queue: CommitQueue;
  readonly #state: RegistryState;
  readonly #cells: Map<string, Cell>;
  readonly #onDeleted: (key: number) => void;
  readonly #ownership: Pick<Ownership, 'owned'> | undefined;

  /** `onDeleted` receives the key of a cell once its deletion is durable. */
  constructor(
    queue: CommitQueue,
    state: RegistryState,
    cells: Map<string, Cell>,
    onDeleted: (key: number) => void,
    ownership?: Pick<Ownership, 'owned'>,
  ) {
    this.#ownership = ownership;
    this.#queue = queue;
    this.#state = state;
    this.#cells = cells;
    this.#onDeleted = onDeleted;
  }

  #change(change: RegistryChange, cell?: Cell): Promise<void> {
    const refusal = this.#queue.refusal();
    return refusal === undefined ? this.#queue.change(change, cell) : Promise.reject(refusal);
  }

  createTenant(tenant: Tenant): Promise<void> {
    return this.#change({ change: 'create-tenant', tenant });
  }

  updateTenant(tenant: Tenant): Promise<void> {
    return this.#change({ change: 'update-tenant', tenant });
  }

  tenant(id: string): Tenant | undefined {
    return this.#state.tenants.get(id);
  }

  tenantByName(name: string): Tenant | undefined {
    for (const tenant of this.#state.tenants.values()) if (tenant.name === name) return tenant;
    return undefined;
  }

  tenants(): readonly Tenant[] {
    return [...this.#state.tenants.values()].sort(byAge);
  }

  createApiKey(key: ApiKey): Promise<void> {
    return this.#change({ change: 'create-api-key', key });
  }

  apiKey(hash: string): ApiKey | undefined {
    return this.#state.apiKeys.get(hash);
  }

  apiKeys(tenantId: string): readonly ApiKey[] {
    return [...this.#state.apiKeys.values()].filter((key) => key.tenantId === tenantId).sort(byAge);
  }

  revokeApiKey(hash: string, revokedAt: number): Promise<void> {
    return this.#change({ change: 'revoke-api-key', hash, revokedAt });
  }

  async createSimulation(
    simulation: Omit<SimulationEntry, 'deletedAt'>,
    begins?: ForkBeginning,
  ): Promise<void> {
    const { id } = simulation;
    if (this.#cells.has(id) || this.#state.cells.has(id))
      throw new AlreadyExists(`There is a simulation with the id ${id} already`);
    const refusal = this.#queue.refusal();
    if (refusal !== undefined) throw refusal;
    if (this.#ownership?.owned.has(simulation.tenantId ?? MARKET_TENANT) === false)
      throw new StoreUnavailable('the tenant is served elsewhere');
    const origin = begins === undefined ? undefined : this.#originFor(begins);
    const seq = origin?.seq ?? 0;
    // Records may follow immediately.
    const cell: Cell = {
      id,
      key: undefined,
      head: { epoch: 1, seq, hash: new Uint8Array() },
      lastSeq: seq,
      origin,
      losses: 0,
      isLost: false,
      told: undefined,
    };
    this.#cells.set(id, cell);
    try {
      await this.#queue.change(
        {
          change: 'create-simulation',
          cell: { ...simulation, ...(origin !== undefined && { origin }) },
        },
        cell,
      );
    } catch (error) {
      if (error instanceof AlreadyExists && this.#cells.get(id) === cell) this.#cells.delete(id);
      throw error;
    }
  }

  /** The cell with the record after which a fork begins. */
  #originFor({ simulationId, sequence }: ForkBeginning): Origin {
    const found = this.#cells.get(simulationId);
    if (found?.key === undefined) throw new NotInRegistry(`There is no simulation ${simulationId}`);
    if (sequence > found.head.seq) throw new Error(`Record ${sequence} of ${simulationId} is not durable`);
    let { key: parent, origin } = found;
    while (origin !== undefined && sequence <= origin.seq) {
      parent = origin.parent;
      origin = this.#state.originOf(parent);
    }
    return { parent, seq: sequence };
  }

  simulation(id: string): SimulationEntry | undefined {
    const cell = this.#state.cells.get(id);
    return cell === undefined ? undefined : entryOf(cell);
  }

  simulations(tenantId?: string | null): readonly SimulationEntry[] {
    const all =
      tenantId === undefined
        ? [...this.#state.cells.values()].filter(({ deletedAt }) => deletedAt === undefined)
        : [...this.#state.cellsOf(tenantId)];
    return all.sort((a, b) => a.key - b.key).map(entryOf);
  }

  async deleteSimulation(id: string, deletedAt: number): Promise<void> {
    const cell = this.#cells.get(id);
    this.#cells.delete(id);
    await this.#change({ change: 'delete-simulation', id, deletedAt }, cell);
    if (cell?.key !== undefined) this.#onDeleted(cell.key);
  }

  /** The rows of a deleted cell are removed; no fork needs them. */
  markPurged(key: number): Promise<void> {
    return this.#change({ change: 'mark-purged', key });
  }

  deleteTenant(id: string): Promise<void> {
    return this.#change({ change: 'delete-tenant', id });
  }

  setting(name: string): string | undefined {
    return this.#state.settings.get(name);
  }

  settings(prefix: string): readonly (readonly [name: string, value: string])[] {
    return this.#state.settingsFrom(prefix).toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  saveSetting(name: string, value: string): Promise<void> {
    return this.#change({ change: 'save-setting', name, value });
  }

  deleteSetting(name: string): Promise<void> {
    return this.#change({ change: 'delete-setting', name });
  }
}
