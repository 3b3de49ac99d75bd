/**
 * State of an installation outside of its journals: tenants and keys, simulations, and its own settings.
 *
 * Changes are durable when their promise resolves, and are ordered with the appends around them: a record may be appended to a simulation
 * as soon as `createSimulation` has been called. Reads are point lookups on the calling thread and see every change whose promise has
 * resolved.
 */
import type { Tier } from '@sandpit/core';

export interface Tenant {
  readonly id: string;
  /** Unique in the installation. */
  readonly name: string;
  readonly tier: Tier;
  /** Default scope of its tokens, separated by spaces. */
  readonly scope: string;
  /** Wall-clock ms, like every instant in the registry. */
  readonly createdAt: number;
}

export interface ApiKey {
  /** SHA-256 of the key, in hex. The key itself is never stored. */
  readonly hash: string;
  readonly tenantId: string;
  readonly tier: Tier;
  readonly scope: string;
  readonly createdAt: number;
  readonly revokedAt?: number;
}

export interface SimulationEntry {
  readonly id: string;
  /** Null for the market that all tenants share. */
  readonly tenantId: string | null;
  /** JSON text. */
  readonly config: string;
  readonly createdAt: number;
  readonly deletedAt?: number;
}

/** The last record that a fork has in common with its parent; 0 = the parent's beginning. */
export interface ForkBeginning {
  readonly simulationId: string;
  readonly sequence: number;
}

export interface Registry {
  /** Rejects with `AlreadyExists` if the id or the name is in use. */
  createTenant(tenant: Tenant): Promise<void>;
  /** Changes everything but the id and `createdAt`. */
  updateTenant(tenant: Tenant): Promise<void>;
  tenant(id: string): Tenant | undefined;
  tenantByName(name: string): Tenant | undefined;
  /** Oldest first. */
  tenants(): readonly Tenant[];

  createApiKey(key: ApiKey): Promise<void>;
  /** Finds revoked keys too: the caller decides by `revokedAt`. */
  apiKey(hash: string): ApiKey | undefined;
  /** Oldest first. */
  apiKeys(tenantId: string): readonly ApiKey[];
  /** The first revocation counts. */
  revokeApiKey(hash: string, revokedAt: number): Promise<void>;

  /**
   * A fork's journal begins with the parent's up to `begins`, which must be durable: its own records follow that number. They stay the
   * fork's when the parent is deleted.
   */
  createSimulation(simulation: Omit<SimulationEntry, 'deletedAt'>, begins?: ForkBeginning): Promise<void>;
  /** Deleted ones are found too, with `deletedAt`; an id is never used again. */
  simulation(id: string): SimulationEntry | undefined;
  /** Simulations of a tenant (null: the shared ones) that are not deleted, oldest first; without an argument, of all tenants. */
  simulations(tenantId?: string | null): readonly SimulationEntry[];
  /**
   * Deletes a simulation: readers no longer find its journal, history and settings; rows are removed gradually.
   */
  deleteSimulation(id: string, deletedAt: number): Promise<void>;

  /**
   * Removes a tenant whose simulations are deleted: its row, its keys, and the contents of its simulations' rows. The keys of the
   * simulations stay reserved; a tenant of this id may be created again. Does nothing if it does not exist.
   */
  deleteTenant(id: string): Promise<void>;

  setting(name: string): string | undefined;
  /** Settings with names that begin like this, by name. */
  settings(prefix: string): readonly (readonly [name: string, value: string])[];
  saveSetting(name: string, value: string): Promise<void>;
  deleteSetting(name: string): Promise<void>;
}

/** Prefix of the names of a simulation's settings, which are deleted with it. */
export const settingsOf = (simulationId: string): string => `simulation/${simulationId}/`;

/** Setting of a simulation: tags of the ids of its events after accepted losses, oldest first, in JSON. */
export const EVENT_TAGS = 'event-tags';

/** The id or name is in use. */
export class AlreadyExists extends Error {
  override readonly name = 'AlreadyExists';
}

/** The object to change does not exist. */
export class NotInRegistry extends Error {
  override readonly name = 'NotInRegistry';
}
