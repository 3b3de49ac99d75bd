import { AlreadyExists, NotInRegistry } from '../../registry.js';
import type { ApiKey, ForkBeginning, Registry, SimulationEntry, Tenant } from '../../registry.js';
import type { Operation } from '../journal/batch.js';
import type { ForkOrigin } from '../journal/fork-origin.js';
import type { JournalBlocks } from '../journal/journal-blocks.js';
import type { RegistryQueries } from './registry-tables.js';
import type { SimulationKeys } from '../journal/simulation-keys.js';
import type { WriteQueue } from '../journal/write-queue.js';

export class SqliteRegistry implements Registry {
  readonly #queue: WriteQueue;
  readonly #queries: RegistryQueries;
  readonly #keys: SimulationKeys;
  readonly #blocks: JournalBlocks;
  readonly #onDeleted: (simulation: number) => void;

  /** `onDeleted` receives the key of a simulation once its deletion is durable. */
  constructor(
    queue: WriteQueue,
    queries: RegistryQueries,
    keys: SimulationKeys,
    blocks: JournalBlocks,
    onDeleted: (simulation: number) => void,
  ) {
    this.#queue = queue;
    this.#queries = queries;
    this.#keys = keys;
    this.#blocks = blocks;
    this.#onDeleted = onDeleted;
  }

  createTenant(tenant: Tenant): Promise<void> {
    return this.#write({ kind: 'create-tenant', tenant });
  }

  updateTenant(tenant: Tenant): Promise<void> {
    return this.#write({ kind: 'update-tenant', tenant });
  }

  tenant(id: string): Tenant | undefined {
    return this.#queries.tenants('id = ?', id)[0];
  }

  tenantByName(name: string): Tenant | undefined {
    return this.#queries.tenants('name = ?', name)[0];
  }

  tenants(): readonly Tenant[] {
    return this.#queries.tenants('true');
  }

  createApiKey(key: ApiKey): Promise<void> {
    return this.#write({ kind: 'create-api-key', key });
  }

  apiKey(hash: string): ApiKey | undefined {
    return this.#queries.apiKeys('hash = ?', hash)[0];
  }

  apiKeys(tenantId: string): readonly ApiKey[] {
    return this.#queries.apiKeys('tenant = ?', tenantId);
  }

  revokeApiKey(hash: string, revokedAt: number): Promise<void> {
    return this.#write({ kind: 'revoke-api-key', hash, revokedAt });
  }

  async createSimulation(
    simulation: Omit<SimulationEntry, 'deletedAt'>,
    begins?: ForkBeginning,
  ): Promise<void> {
    const { id } = simulation;
    if (this.#keys.find(id) !== undefined || this.simulation(id) !== undefined) {
      throw new AlreadyExists(`There is a simulation with the id ${id} already`);
    }
    const refusal = this.#queue.refusal();
    if (refusal !== undefined) throw refusal;
    // The key is assigned here, so that records may follow immediately.
    const origin = begins === undefined ? undefined : this.#originFor(begins);
    const key = this.#keys.add(id, origin?.seq);
    await this.#queue.submit({
      kind: 'create-simulation',
      key,
      simulation,
      ...(origin !== undefined && { origin }),
    });
  }

  /** The simulation with the record after which a fork begins. */
  #originFor({ simulationId, sequence }: ForkBeginning): ForkOrigin {
    const found = this.#keys.find(simulationId);
    if (found === undefined) throw new NotInRegistry(`There is no simulation ${simulationId}`);
    if (sequence > this.#blocks.tail(found.key).seq)
      throw new Error(`Record ${sequence} of ${simulationId} is not durable`);
    let parent = found.key;
    for (let origin = this.#blocks.originOf(parent); origin !== undefined && sequence <= origin.seq;) {
      parent = origin.parent;
      origin = this.#blocks.originOf(parent);
    }
    return { parent, seq: sequence };
  }

  simulation(id: string): SimulationEntry | undefined {
    return this.#queries.simulations('id = ?', id)[0];
  }

  simulations(tenantId?: string | null): readonly SimulationEntry[] {
    if (tenantId === undefined) return this.#queries.simulations('deleted_at IS NULL');
    return this.#queries.simulations('tenant IS ? AND deleted_at IS NULL', tenantId);
  }

  async deleteSimulation(id: string, deletedAt: number): Promise<void> {
    const refusal = this.#queue.refusal();
    if (refusal !== undefined) throw refusal;
    const key = this.#keys.find(id)?.key;
    if (key === undefined) return;
    this.#keys.deleting(id);
    await this.#queue.submit({ kind: 'delete-simulation', key, deletedAt });
    this.#keys.deleted(id);
    this.#onDeleted(key);
  }

  setting(name: string): string | undefined {
    return this.#queries.setting(name);
  }

  settings(prefix: string): readonly (readonly [string, string])[] {
    return this.#queries.settings(prefix);
  }

  saveSetting(name: string, value: string): Promise<void> {
    return this.#write({ kind: 'save-setting', name, value });
  }

  deleteSetting(name: string): Promise<void> {
    return this.#write({ kind: 'delete-setting', name });
  }

  deleteTenant(tenantId: string): Promise<void> {
    return this.#write({ kind: 'delete-tenant', tenantId });
  }

  #write(operation: Operation): Promise<void> {
    const refusal = this.#queue.refusal();
    return refusal === undefined ? this.#queue.submit(operation) : Promise.reject(refusal);
  }
}
