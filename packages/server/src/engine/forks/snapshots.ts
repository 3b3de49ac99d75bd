import { randomUUID } from 'node:crypto';
import { hashingState, savingState } from '@sandpit/core';
import type { Rules } from '@sandpit/core';
import { settingsOf } from '../../store/registry.js';
import type { Store } from '../../store/store.js';
import { foldedName } from '../values/folded-name.js';
import { brokerageAt } from '../recovery/recovery.js';
import type { Origin } from '../configuration/simulation-config.js';
import type { Simulation } from '../simulation/simulation.js';
import { inSlices } from '../scheduling/slice.js';

/** A named point in the journal of a simulation, to return to later (D171). */
export interface Snapshot {
  readonly snapshotId: string;
  readonly name?: string;
  /** Simulated instant, ms. */
  readonly at: number;
  /** Sequence of the last record before it. */
  readonly sequence: number;
  /** Hash of the state; absent until its checkpoint is kept. */
  readonly stateHash?: string;
  /** Real time, ms. */
  readonly createdAt: number;
}

/** Snapshots that a simulation may have. */
export const MOST_SNAPSHOTS = 1000;

/** Another snapshot of the simulation has this name. */
export class SnapshotNameTaken extends Error {
  override readonly name = 'SnapshotNameTaken';
}

/** The simulation has as many snapshots as it may. */
export class TooManySnapshots extends Error {
  override readonly name = 'TooManySnapshots';
}

/** Snapshots of all simulations: a row each, and a checkpoint of its record with the same lifetime. */
export class Snapshots {
  readonly #store: Store;
  /** By simulation: the queue of snapshots to take. */
  readonly #taking = new Map<string, Promise<unknown>>();
  /** Ids of snapshots that are being removed: their rows are not written again. */
  readonly #removing = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Snapshots of a simulation, oldest first. */
  of(simulationId: string): readonly Snapshot[] {
    return this.#store.registry
      .settings(prefixOf(simulationId))
      .map(([, text]) => JSON.parse(text) as Snapshot)
      .sort((a, b) => a.createdAt - b.createdAt || (a.snapshotId < b.snapshotId ? -1 : 1));
  }

  find(simulationId: string, snapshotId: string): Snapshot | undefined {
    const text = this.#store.registry.setting(nameOf(simulationId, snapshotId));
    return text === undefined ? undefined : (JSON.parse(text) as Snapshot);
  }

  /** Durable when it resolves; its checkpoint follows. Rejects with `SnapshotNameTaken`, `TooManySnapshots`. */
  async take(simulation: Simulation, origin: Origin, name?: string): Promise<Snapshot> {
    const { id } = simulation;
    const before = this.#taking.get(id) ?? Promise.resolve();
    const taken = before.then(() => this.#takeNow(simulation, name));
    const settled = taken.catch(() => undefined);
    this.#taking.set(id, settled);
    void settled.then(() => {
      if (this.#taking.get(id) === settled) this.#taking.delete(id);
    });
    const snapshot = await taken;
    void this.#keep(simulation, origin, snapshot).catch(() => undefined);
    return snapshot;
  }

  async #takeNow(simulation: Simulation, name: string | undefined): Promise<Snapshot> {
    const others = this.of(simulation.id);
    const isTaken = (one: string): boolean =>
      others.some((other) => other.name !== undefined && foldedName(other.name) === foldedName(one));
    if (name !== undefined && isTaken(name)) throw new SnapshotNameTaken();
    if (others.length >= MOST_SNAPSHOTS) throw new TooManySnapshots();
    const { sequence, at } = await simulation.standing((point) => point);
    const snapshot: Snapshot = {
      snapshotId: randomUUID(),
      ...(name !== undefined && { name }),
      at,
      sequence,
      // Their order is that of their instants.
      createdAt: Math.max(Date.now(), (others.at(-1)?.createdAt ?? 0) + 1),
    };
    await this.#save(simulation.id, snapshot);
    return snapshot;
  }

  /** Continues with checkpoints that a previous process did not finish. */
  resume(simulation: Simulation, origin: Origin): void {
    for (const snapshot of this.of(simulation.id))
      if (snapshot.stateHash === undefined)
        void this.#keep(simulation, origin, snapshot).catch(() => undefined);
  }

  async #keep({ id, brokerage }: Simulation, origin: Origin, snapshot: Snapshot): Promise<void> {
    const { sequence, snapshotId } = snapshot;
    // The removal of a snapshot also removes its checkpoint.
    const isThere = (): boolean => !this.#removing.has(snapshotId) && this.find(id, snapshotId) !== undefined;
    const kept = await this.#store.checkpoints.keep(id, sequence, isThere);
    if (!isThere()) return;
    const hash = kept ?? (await this.#hashAt(id, brokerage.rules, origin, sequence));
    if (isThere()) await this.#save(id, { ...snapshot, stateHash: hash });
  }

  async #hashAt(id: string, rules: Rules, origin: Origin, sequence: number): Promise<string> {
    const { state } = await brokerageAt(this.#store, id, rules, origin, sequence);
    return inSlices(hashingState(await inSlices(savingState(state))));
  }

  /** False if there is none. */
  async remove(simulationId: string, snapshotId: string): Promise<boolean> {
    const snapshot = this.find(simulationId, snapshotId);
    if (snapshot === undefined || this.#removing.has(snapshotId)) return false;
    this.#removing.add(snapshotId);
    try {
      await this.#store.registry.deleteSetting(nameOf(simulationId, snapshotId));
    } finally {
      this.#removing.delete(snapshotId);
    }
    this.#letGo(simulationId, snapshot.sequence);
    return true;
  }

  /** Another snapshot of the same record may need its checkpoint. */
  #letGo(simulationId: string, sequence: number): void {
    if (this.of(simulationId).some((other) => other.sequence === sequence)) return;
    this.#store.checkpoints.letGo(simulationId, sequence);
  }

  #save(simulationId: string, snapshot: Snapshot): Promise<void> {
    return this.#store.registry.saveSetting(
      nameOf(simulationId, snapshot.snapshotId),
      JSON.stringify(snapshot),
    );
  }
}

const prefixOf = (simulationId: string): string => `${settingsOf(simulationId)}snapshot/`;

const nameOf = (simulationId: string, snapshotId: string): string => `${prefixOf(simulationId)}${snapshotId}`;
