import type { Registry } from '../../store/registry.js';

/** Interval of the check: an ended simulation is removed within two of these. */
const SWEEP_EVERY_MS = 500;

const PREFIX = 'ttl/';

interface Lifetime {
  readonly tenantId: string;
  readonly ttlMs: number;
  /** On the monotonic clock, ms. */
  askedAt: number;
}

/** Ends simulations without requests for their time to live (D172), in real time. A start of the server counts as a request for each. */
export class Lifetimes {
  readonly #registry: Registry;
  readonly #isInUse: (simulationId: string) => Promise<boolean>;
  readonly #end: (simulationId: string, tenantId: string) => Promise<unknown>;
  readonly #lifetimes = new Map<string, Lifetime>();
  #timer: NodeJS.Timeout | undefined;

  /** `isInUse`: a client follows the simulation. `end` removes it and is repeated after a failure. In a cluster tenants are entered one by one. */
  constructor(
    registry: Registry,
    isInUse: (simulationId: string) => Promise<boolean>,
    end: (simulationId: string, tenantId: string) => Promise<unknown>,
    isInCluster = false,
  ) {
    this.#registry = registry;
    this.#isInUse = isInUse;
    this.#end = end;
    if (!isInCluster) this.enter();
  }

  /** Loads the stored ones: of all tenants, or of one that this node has acquired. */
  enter(of?: string): void {
    for (const [name, text] of this.#registry.settings(PREFIX)) {
      const { tenantId, ttlMs } = JSON.parse(text) as Pick<Lifetime, 'tenantId' | 'ttlMs'>;
      if (of === undefined || of === tenantId) this.#begin(name.slice(PREFIX.length), tenantId, ttlMs);
    }
  }

  /** Another node acquires the tenant. */
  leave(of: string): void {
    for (const [simulationId, { tenantId }] of this.#lifetimes)
      if (tenantId === of) this.#lifetimes.delete(simulationId);
  }

  /** Written in the turn in which it is called. */
  async begin(simulationId: string, tenantId: string, ttlMs: number): Promise<void> {
    this.#begin(simulationId, tenantId, ttlMs);
    await this.#registry.saveSetting(`${PREFIX}${simulationId}`, JSON.stringify({ tenantId, ttlMs }));
  }

  #begin(simulationId: string, tenantId: string, ttlMs: number): void {
    this.#lifetimes.set(simulationId, { tenantId, ttlMs, askedAt: performance.now() });
    this.#timer ??= setInterval(() => void this.#endUnused(), SWEEP_EVERY_MS).unref();
  }

  /** Notes a request in a simulation. */
  asked(simulationId: string): void {
    const lifetime = this.#lifetimes.get(simulationId);
    if (lifetime !== undefined) lifetime.askedAt = performance.now();
  }

  /** Forgets a simulation that has been removed. */
  async ended(simulationId: string): Promise<void> {
    if (!this.#lifetimes.delete(simulationId)) return;
    await this.#registry.deleteSetting(`${PREFIX}${simulationId}`);
    if (this.#lifetimes.size === 0) this.close();
  }

  async #endUnused(): Promise<void> {
    for (const [simulationId, lifetime] of this.#lifetimes) {
      if (performance.now() - lifetime.askedAt < lifetime.ttlMs) continue;
      if (await this.#isInUse(simulationId)) this.asked(simulationId);
      else await this.#end(simulationId, lifetime.tenantId).catch(() => this.asked(simulationId));
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
