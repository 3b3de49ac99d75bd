import { StoreUnavailable } from '../../store/journal.js';
import type { Store } from '../../store/store.js';
import { ImplausibleClock } from '../clocks/machine-time.js';
import { eraseTenant } from '../transfers/erasure.js';
import type { Imports } from '../transfers/imports.js';
import { atStakeOf, AT_STAKE, MAIN, MAINS } from '../values/cell-names.js';
import type { SimulationCreation } from './creation.js';
import type { SimulationDirectory } from './directory.js';
import type { SimulationEntries } from './entries.js';

/** All simulations of a tenant at once: opened without a request, handed over between nodes, erased. */
export class TenantCells {
  readonly #store: Store;
  readonly #entries: SimulationEntries;
  readonly #directory: SimulationDirectory;
  readonly #creation: SimulationCreation;
  readonly #imports: Imports;

  constructor(
    store: Store,
    entries: SimulationEntries,
    directory: SimulationDirectory,
    creation: SimulationCreation,
    imports: Imports,
  ) {
    this.#store = store;
    this.#entries = entries;
    this.#directory = directory;
    this.#creation = creation;
    this.#imports = imports;
  }

  /** Opens every `main` that was not idle. */
  async openAtStake(): Promise<void> {
    for (const [name, value] of this.#store.registry.settings(AT_STAKE)) {
      if (value === '') continue;
      try {
        await this.#directory.find(MAIN, name.slice(AT_STAKE.length));
      } catch (error) {
        // Noted, and out of service; the others are not concerned.
        if (!(error instanceof StoreUnavailable)) throw error;
        if (error.cause instanceof ImplausibleClock) throw error.cause;
      }
    }
  }

  /** This node has acquired a tenant: opens its `main` unless that was idle, and continues its imports. */
  async enter(tenantId: string): Promise<void> {
    // A late request may have opened one after the tenant had left: another node has gone on since.
    await this.#directory.closeAllOf(tenantId);
    this.#directory.lifetimes.enter(tenantId);
    await this.#imports.enterTenant(tenantId);
    if ((this.#store.registry.setting(atStakeOf(tenantId)) ?? '') !== '')
      // The failure of one that is out of service was logged when it was found.
      await this.#openIfAvailable(MAIN, tenantId);
  }

  /** Opens a simulation whose timers are due, without a request (D201). One that cannot be opened now stays closed. */
  async wake(id: string): Promise<void> {
    const tenantId = this.#store.registry.simulation(id)?.tenantId ?? undefined;
    if (tenantId !== undefined) await this.#openIfAvailable(id.startsWith(MAINS) ? MAIN : id, tenantId);
  }

  async #openIfAvailable(id: string, tenantId: string): Promise<void> {
    const of = this.#entries.find(id, tenantId);
    if (of === undefined) return;
    await this.#directory.open(of).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
  }

  /** Another node acquires a tenant: all its data leaves memory, durably. None of its requests may be running. */
  async leave(tenantId: string): Promise<void> {
    this.#imports.leaveTenant(tenantId);
    // Ephemeral simulations live at the owner of their tenant, and end when it moves.
    for (const id of this.#store.ephemeral?.idsOf(tenantId) ?? []) await this.#directory.remove(id, tenantId);
    this.#directory.lifetimes.leave(tenantId);
    await this.#directory.closeAllOf(tenantId);
  }

  /** Deletes all data of a tenant, including `main`; its requests under way get 503. Can be repeated when it did not finish. */
  async erase(tenantId: string): Promise<void> {
    await this.#directory.erasing(tenantId);
    await this.#creation.settled(tenantId);
    await this.#directory.retireAllOf(tenantId);
    await eraseTenant(this.#store, tenantId);
  }
}
