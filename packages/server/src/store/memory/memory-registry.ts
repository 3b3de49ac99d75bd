import { AlreadyExists, NotInRegistry, settingsOf } from '../registry.js';
import type { ApiKey, ForkBeginning, Registry, SimulationEntry, Tenant } from '../registry.js';
import type { Commits } from './commits.js';

export class MemoryRegistry implements Registry {
  readonly #commits: Commits;
  readonly #tenants = new Map<string, Tenant>();
  readonly #keys = new Map<string, ApiKey>();
  readonly #simulations = new Map<string, SimulationEntry>();
  readonly #settings = new Map<string, string>();
  /** Exist for writers; readers see them when they are committed. */
  readonly #open = new Set<string>();
  onDeleted: (id: string) => void = () => undefined;
  /** A pending fork, which begins after this record. */
  onFork: (id: string, sequence: number) => void = () => undefined;
  /** It is committed. */
  onForked: (id: string, begins: ForkBeginning) => void = () => undefined;

  constructor(commits: Commits) {
    this.#commits = commits;
  }

  createTenant(tenant: Tenant): Promise<void> {
    return this.#commits.add(() => {
      if (this.#tenants.has(tenant.id))
        throw new AlreadyExists(`There is a tenant with the id ${tenant.id} already`);
      this.#refuseName(tenant);
      this.#tenants.set(tenant.id, tenant);
    });
  }

  updateTenant(tenant: Tenant): Promise<void> {
    return this.#commits.add(() => {
      const before = this.#tenants.get(tenant.id);
      if (before === undefined) throw new NotInRegistry(`There is no tenant ${tenant.id}`);
      this.#refuseName(tenant);
      this.#tenants.set(tenant.id, { ...tenant, createdAt: before.createdAt });
    });
  }

  #refuseName({ id, name }: Tenant): void {
    const other = this.tenantByName(name);
    if (other !== undefined && other.id !== id) {
      throw new AlreadyExists(`There is a tenant with the name ${name} already`);
    }
  }

  tenant(id: string): Tenant | undefined {
    return this.#tenants.get(id);
  }

  tenantByName(name: string): Tenant | undefined {
    return [...this.#tenants.values()].find((tenant) => tenant.name === name);
  }

  tenants(): readonly Tenant[] {
    return [...this.#tenants.values()].sort((a, b) => a.createdAt - b.createdAt);
  }

  createApiKey(key: ApiKey): Promise<void> {
    return this.#commits.add(() => {
      if (!this.#tenants.has(key.tenantId)) throw new NotInRegistry(`There is no tenant ${key.tenantId}`);
      if (this.#keys.has(key.hash)) throw new AlreadyExists('There is a API key like this one already');
      this.#keys.set(key.hash, key);
    });
  }

  apiKey(hash: string): ApiKey | undefined {
    return this.#keys.get(hash);
  }

  apiKeys(tenantId: string): readonly ApiKey[] {
    const keys = [...this.#keys.values()].filter((key) => key.tenantId === tenantId);
    return keys.sort((a, b) => a.createdAt - b.createdAt);
  }

  revokeApiKey(hash: string, revokedAt: number): Promise<void> {
    return this.#commits.add(() => {
      const key = this.#keys.get(hash);
      if (key === undefined) throw new NotInRegistry('There is no API key');
      this.#keys.set(hash, { revokedAt, ...key });
    });
  }

  async createSimulation(
    simulation: Omit<SimulationEntry, 'deletedAt'>,
    begins?: ForkBeginning,
  ): Promise<void> {
    const { id } = simulation;
    if (this.#open.has(id) || this.#simulations.has(id)) {
      throw new AlreadyExists(`There is a simulation with the id ${id} already`);
    }
    this.#open.add(id);
    if (begins !== undefined) this.onFork(id, begins.sequence);
    await this.#commits.add(() => {
      this.#simulations.set(id, simulation);
      if (begins !== undefined) this.onForked(id, begins);
    });
  }

  simulation(id: string): SimulationEntry | undefined {
    return this.#simulations.get(id);
  }

  /** True when records may be appended. */
  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  simulations(tenantId?: string | null): readonly SimulationEntry[] {
    return [...this.#simulations.values()].filter(
      (simulation) =>
        simulation.deletedAt === undefined && (tenantId === undefined || simulation.tenantId === tenantId),
    );
  }

  deleteSimulation(id: string, deletedAt: number): Promise<void> {
    this.#open.delete(id);
    return this.#commits.add(() => {
      const simulation = this.#simulations.get(id);
      if (simulation === undefined) return;
      this.#simulations.set(id, { deletedAt, ...simulation });
      for (const [name] of this.settings(settingsOf(id))) this.#settings.delete(name);
      this.onDeleted(id);
    });
  }

  deleteTenant(id: string): Promise<void> {
    return this.#commits.add(() => {
      this.#tenants.delete(id);
      for (const { hash, tenantId } of this.#keys.values()) if (tenantId === id) this.#keys.delete(hash);
      for (const { id: simulationId, tenantId, deletedAt } of this.#simulations.values())
        if (tenantId === id && deletedAt !== undefined) this.#simulations.delete(simulationId);
    });
  }

  setting(name: string): string | undefined {
    return this.#settings.get(name);
  }

  settings(prefix: string): readonly (readonly [string, string])[] {
    const found = [...this.#settings].filter(([name]) => name.startsWith(prefix));
    return found.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  saveSetting(name: string, value: string): Promise<void> {
    return this.#commits.add(() => this.#settings.set(name, value));
  }

  deleteSetting(name: string): Promise<void> {
    return this.#commits.add(() => this.#settings.delete(name));
  }
}
