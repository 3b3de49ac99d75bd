import { randomBytes, randomUUID } from 'node:crypto';
import type { Tenant } from '../../store/registry.js';
import type { ValueOrPromise } from '../../store/journal.js';
import type { Store } from '../../store/store.js';
import type { StoredWebhook, WebhookChange } from '../../store/webhooks.js';
import { atStakeOf, MAIN, mainOf, MARKET } from '../values/cell-names.js';
import { exportSimulation } from './export.js';
import type { Imports } from './imports.js';
import type { ReadSimulation } from './import-reading.js';
import { charactersOwned } from '../configuration/rules-in-force.js';
import { importedConfig } from '../configuration/simulation-config.js';
import type { KeptConfig } from '../configuration/simulation-config.js';
import { ImportRefused } from './import-refused.js';
import { LineChain } from './simulation-file.js';
import { endLine, tenantLine } from './tenant-file.js';
import type { FiledWebhook } from './tenant-file.js';
import { travelingSettings } from './traveling-settings.js';

/** The tenant of tokens that name one which was never entered. */
const UNKNOWN = { tier: 'BASIC', scope: 'trade read', createdAt: 0 } as const;

/** A request that cannot be executed; the message says why. */
class TenantRefused extends Error {
  override readonly name = 'TenantRefused';
}

/** A tenant that was imported. */
export interface ImportedTenant {
  readonly tenantId: string;
  readonly simulations: number;
  readonly records: number;
}

export interface TenantsParts {
  readonly store: Store;
  readonly imports: Imports;
  /** Simulated time of the market; undefined = the installation has none yet. */
  readonly marketNow: () => ValueOrPromise<number | undefined>;
  /** Removes everything of a tenant. */
  readonly erase: (tenantId: string) => Promise<void>;
  /**
   * Acquires a tenant without an owner for this node. Returns the node that serves it; undefined = this one does, absent = there is no
   * other.
   */
  readonly servedBy?: (tenantId: string) => Promise<string | undefined>;
  /** Receives each imported tenant; absent = no receiver. */
  readonly entered?: (tenantId: string) => Promise<void>;
}

/** A simulation of a file, and its new id. */
interface Arriving {
  readonly filed: ReadSimulation;
  readonly id: string;
}

/** Operations of the operator on a tenant as a whole (D170). */
export class Tenants {
  readonly #parts: TenantsParts;

  constructor(parts: TenantsParts) {
    this.#parts = parts;
  }

  /** A tenant by its name or id; one that has simulations and was never entered, by its id. Throws `TenantRefused`. */
  find(name: string): Tenant {
    const { registry } = this.#parts.store;
    const found = registry.tenantByName(name) ?? registry.tenant(name);
    if (found !== undefined) return found;
    if (registry.simulations(name).length === 0) throw new TenantRefused(`There is no tenant ${name}`);
    return { id: name, name, ...UNKNOWN };
  }

  /** The file of a tenant, piece by piece. Each simulation is as of the moment at which its part begins. */
  async *export(name: string): AsyncGenerator<string> {
    const { store, imports } = this.#parts;
    const { id: tenantId, ...tenant } = this.find(name);
    await this.#refuseElsewhere(tenantId);
    const chain = new LineChain();
    const stored = await store.webhooks.load();
    const webhooks = stored.webhooks
      .filter((webhook) => webhook.tenantId === tenantId)
      .map(({ url, events, simulationId, description }): FiledWebhook => ({
        url,
        events,
        simulationId,
        ...(description !== undefined && { description }),
      }));
    const first = tenantLine({ tenantId, ...tenant, ...(webhooks.length > 0 && { webhooks }) });
    chain.take(first);
    yield `${first}\n`;
    let simulations = 0;
    for (const { id, config } of store.registry.simulations(tenantId)) {
      if ((imports.noteOf(id)?.status ?? 'READY') !== 'READY') continue;
      // A competition has its own export: its entries follow a market of this installation.
      if ((JSON.parse(config) as KeptConfig).competition !== undefined) continue;
      let last = '';
      for await (const piece of exportSimulation(store, {
        id,
        shownId: id === mainOf(tenantId) ? MAIN : id,
        config: JSON.parse(config) as KeptConfig,
        upTo: store.journal.lastSeq(id),
        settings: travelingSettings(store.registry, id),
      })) {
        last = piece;
        yield piece;
      }
      chain.take(last.trimEnd().split('\n').at(-1) ?? '');
      simulations += 1;
    }
    yield `${endLine(simulations, chain.hash)}\n`;
  }

  /**
   * Imports the file of a tenant: all of it or nothing. Rejects with `ImportRefused` if the file is damaged or does not verify, with
   * `TenantRefused` if the tenant already exists.
   */
  async import(chunks: AsyncIterable<Uint8Array>): Promise<ImportedTenant> {
    const { imports } = this.#parts;
    const name = `tenant-${randomUUID()}`;
    const { tenant: filed, simulations } = await imports.receiveFile(name, chunks, Infinity, true);
    if (filed === undefined) throw new ImportRefused('the file has no tenant');
    const arriving = simulations.map((one): Arriving => ({
      filed: one,
      id: this.#idFor(one, filed.tenantId),
    }));
    try {
      await this.#refuseThoseThere(filed, arriving);
      await this.#refuseElsewhere(filed.tenantId);
      const problem = await imports.verify(name);
      if (problem !== undefined) throw new ImportRefused(problem);
      await this.#refuseThoseThere(filed, arriving);
      const { tenantId: id, webhooks = [], ...tenant } = filed;
      await this.#enter(name, arriving, { id, ...tenant }, webhooks);
      await this.#parts.entered?.(id);
    } catch (error) {
      // An import that cannot be reverted now is reverted at the next start.
      await imports.takeBackTenants().catch(() => undefined);
      throw error;
    } finally {
      imports.discard(name);
    }
    const records = simulations.reduce((sum, one) => sum + one.records, 0);
    return { tenantId: filed.tenantId, simulations: simulations.length, records };
  }

  async #refuseElsewhere(tenantId: string): Promise<void> {
    const node = await this.#parts.servedBy?.(tenantId);
    if (node !== undefined)
      throw new TenantRefused(`Tenant ${tenantId} is served by node ${node}; run the command there`);
  }

  /** Simulations keep their ids if these are free. */
  #idFor({ simulationId }: ReadSimulation, tenantId: string): string {
    if (simulationId === MAIN) return mainOf(tenantId);
    const isUsable = /^[0-9a-f-]{36}$/.test(simulationId);
    return isUsable && this.#parts.store.registry.simulation(simulationId) === undefined
      ? simulationId
      : randomUUID();
  }

  async #refuseThoseThere(
    { tenantId, name }: { readonly tenantId: string; readonly name: string },
    arriving: readonly Arriving[],
  ): Promise<void> {
    const { store, marketNow } = this.#parts;
    const { registry } = store;
    const isThere =
      registry.tenant(tenantId) !== undefined ||
      registry.tenantByName(name) !== undefined ||
      registry.simulations(tenantId).length > 0;
    if (isThere) throw new TenantRefused(`There is a tenant ${name} already`);
    if (new Set(arriving.map(({ id }) => id)).size < arriving.length)
      throw new ImportRefused('the file has a simulation twice');
    const main = arriving.find(({ id }) => id === mainOf(tenantId));
    if (main === undefined) return;
    const now = await marketNow();
    if (now === undefined)
      throw new TenantRefused('This installation has no market yet: start the server once, then import');
    const { at } = main.filed;
    if (at > now)
      throw new TenantRefused(
        `The last record of main is of ${new Date(at).toISOString()}, after the market’s now (${new Date(now).toISOString()})`,
      );
  }

  async #enter(
    name: string,
    arriving: readonly Arriving[],
    tenant: Tenant,
    webhooks: readonly FiledWebhook[],
  ): Promise<void> {
    const { id: tenantId } = tenant;
    const { store, imports } = this.#parts;
    const { registry, journal } = store;
    // A start that finds this note removes the incomplete tenant.
    await imports.noteTenant(name, tenantId);
    const marketSeq = journal.lastSeq(MARKET);
    for (const [section, { filed, id }] of arriving.entries()) {
      const ownLists = charactersOwned(registry, filed.lists);
      const kept: KeptConfig = {
        ...importedConfig(filed.config),
        ...(ownLists > 0 && { ownLists }),
        ...(id === mainOf(tenantId) && { joined: { seq: filed.records, marketSeq } }),
      };
      await Promise.all([
        registry.createSimulation({ id, tenantId, config: JSON.stringify(kept), createdAt: Date.now() }),
        imports.noteImporting(id),
      ]);
      await imports.enter(name, id, undefined, section);
    }
    await this.#enterWebhooks(tenantId, arriving, webhooks);
    // In one turn, which is one commit: the tenant is there whole or not at all.
    await Promise.all([
      registry.createTenant(tenant),
      ...arriving.map(({ id }) => imports.noteReady(id)),
      ...(arriving.some(({ id }) => id === mainOf(tenantId))
        ? [registry.saveSetting(atStakeOf(tenantId), '1')]
        : []),
      imports.forgetTenant(name),
    ]);
  }

  /** Webhooks arrive DISABLED, with their own secrets; one whose simulation is not in the file is omitted. */
  async #enterWebhooks(
    tenantId: string,
    arriving: readonly Arriving[],
    filed: readonly FiledWebhook[],
  ): Promise<void> {
    const ids = new Map(arriving.map((one) => [one.filed.simulationId, one.id]));
    const idOf = (simulationId: string): string | undefined =>
      simulationId === MAIN || simulationId === '*' ? simulationId : ids.get(simulationId);
    const changes = filed.flatMap(({ simulationId, ...webhook }): WebhookChange[] => {
      const id = idOf(simulationId);
      if (id === undefined) return [];
      const entered: StoredWebhook = {
        webhookId: randomUUID(),
        tenantId,
        ...webhook,
        simulationId: id,
        status: 'DISABLED',
        reason: 'Imported with its tenant',
        secret: `whsec_${randomBytes(32).toString('base64')}`,
        retired: [],
        createdAt: Date.now(),
      };
      return [{ change: 'save-webhook', webhook: entered }];
    });
    if (changes.length > 0) await this.#parts.store.webhooks.apply(changes);
  }

  /** Removes every row of a tenant. Throws `TenantRefused` when there is none. */
  async delete(name: string): Promise<{ readonly tenantId: string; readonly simulations: number }> {
    const { id: tenantId } = this.find(name);
    await this.#refuseElsewhere(tenantId);
    const simulations = this.#parts.store.registry.simulations(tenantId).length;
    await this.#parts.erase(tenantId);
    return { tenantId, simulations };
  }
}
