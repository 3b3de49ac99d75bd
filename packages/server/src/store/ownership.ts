import type { ValueOrPromise } from './journal.js';

/** A node of a cluster, as the database knows it. */
export interface ClusterNode {
  /** Drawn at each start of the node; the older one is the smaller. */
  readonly incarnation: number;
  /** `NODE_ID`. */
  readonly nodeId: string;
  /** Origin at which other nodes reach it. */
  readonly url: string;
  readonly version: string;
  /** Digests of settings that must be the same on all nodes, by name. */
  readonly facts: Readonly<Record<string, string>>;
  /** Reasons why it accepts no cells; empty = it accepts them. */
  readonly unfit: readonly string[];
}

/** A tenant and the incarnation that owns it. The market of the installation is the tenant `MARKET_TENANT`. */
export interface Placement {
  readonly tenantId: string;
  /** Undefined = no node owns it. */
  readonly incarnation: number | undefined;
  /** Increases each time the tenant is acquired. */
  readonly epoch: number;
  /** The incarnation has been removed; every live node may acquire the tenant. */
  readonly isLost: boolean;
}

/** A cell of a tenant, as its head row has it. */
export interface CellHead {
  readonly simulationId: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** A closed simulation whose next wake-up has come. */
export interface DueCell {
  readonly simulationId: string;
  readonly tenantId: string;
}

/** A row of the registry that another node has changed. */
export interface RegistryChange {
  readonly kind: string;
  readonly name: string;
}

/** Names the market of the installation among tenants; no tenant has an empty id. */
export const MARKET_TENANT = '';

/**
 * Ownership of tenants by the nodes that share a database (D199, D201). The database alone decides: a tenant is owned by the incarnation in
 * its row, and taking it raises the epoch of each of its cells, so that a commit of an earlier owner is refused.
 */
/** Counts of a node, for metrics. */
export interface OwnershipFigures {
  /** Tenants acquired since the node began. */
  readonly tenantsAcquired: number;
  /** Commits without an answer since then. */
  readonly commitsInDoubt: number;
  /** Connections of the main thread to the database. */
  readonly connections: number;
}

export interface Ownership {
  figures(): OwnershipFigures;
  /** Number of this node's incarnation. */
  readonly incarnation: number;
  /** Nodes that are not removed, oldest first, including this one; as of the last `poll`. */
  readonly nodes: readonly ClusterNode[];
  /** Tenants that this node owns. */
  readonly owned: ReadonlySet<string>;
  /** Wall clock of this machine minus that of the database, ms; as of the last renewal. */
  readonly skewMs: number;
  /** The database's clock, ms; jumps of this machine's wall clock do not change it. */
  nowMs(): number;
  /** True when this node may answer for its cells: less than 4 s have passed since it sent the last renewal that succeeded. */
  mayDecide(): boolean;
  /** Reads the nodes, and removes those that have been silent for too long. */
  poll(): Promise<void>;
  /** Ends the lease of a node that does not keep up. It is removed once it no longer serves requests. */
  revoke(incarnation: number): Promise<void>;
  placementOf(tenantId: string): Promise<Placement | undefined>;
  placements(): Promise<readonly Placement[]>;
  /** Tenants that no live node owns. */
  freeTenants(): Promise<readonly string[]>;
  /** Tenants that another node has given to this one and that it has not acquired yet. */
  givenTenants(): Promise<readonly string[]>;
  /** Publishes the reasons why this node accepts no cells; empty = it accepts them. */
  declare(unfit: readonly string[]): Promise<void>;
  /** Acquires tenants that no live node owns, with all of their cells. Returns those that this node owns now. */
  acquire(tenantIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Ensures ownership of a cell of an owned tenant: one that was lost, or created by an earlier owner. Rejects with `RecordsMissing` if it
   * lacks acknowledged records.
   */
  acquireCell(simulationId: string): ValueOrPromise<void>;
  /** Hands tenants over; they must have left memory. Undefined = every live node may acquire them. */
  release(tenantIds: readonly string[], to: number | undefined): Promise<void>;
  /** Cells of a tenant by their head rows. */
  headsOf(tenantId: string): Promise<readonly CellHead[]>;
  /** Cells that this node owns. */
  cellCount(): number;
  /**
   * Sets how the next wake-up of an open simulation is read: real time in ms, undefined = none. It is written with each commit of the cell, and
   * now if it differs from the one in the head row. Without `next` the simulation is closed, and the head row keeps the last one.
   */
  noteWakeUp(simulationId: string, next: (() => number | undefined) | undefined): void;
  /** Closed simulations of owned tenants whose next wake-up has come at `nowMs`, real time. */
  dueCells(nowMs: number): readonly DueCell[];
  /** Last record of the market's journal, as the database has it. */
  marketSequence(): Promise<number>;
  /** True when a commit waits for a synchronous standby. */
  isReplicated(): Promise<boolean>;
  /** Reads what other nodes have changed in the registry by now. */
  refreshRegistry(): Promise<void>;
  /** Receives changes of the registry by other nodes. */
  onRegistryChanges(listener: (changes: readonly RegistryChange[]) => void): void;
}
