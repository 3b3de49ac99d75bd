import { setTimeout as later } from 'node:timers/promises';
import { MARKET_TENANT } from '../store/ownership.js';
import type { ClusterNode, Ownership } from '../store/ownership.js';
import { Together } from '../store/together.js';
import { inParallel } from '../engine/scheduling/in-parallel.js';
import { preferredNode } from './rendezvous.js';
import { retryUntil } from './retry-until.js';

/** Time limit for running requests of a tenant that is handed over. */
const LEAVE_MS = 3_000;
/** Tenants that are entered, or handed over, at a time. */
const MOVED_AT_ONCE = 64;
/** At most this part of the tenants of a node is moved at a time. */
const MOVED_PART = 10;

/** State that a node loads with a tenant and drops when the tenant leaves. */
export interface LocalTenants {
  /** This node has acquired the tenant. */
  enter(tenantId: string): Promise<void>;
  /** Ends what stays open: streams. New requests go to the next owner already. */
  dismiss(tenantId: string): void;
  /** Another node acquires the tenant: it leaves memory, durably. No request is running. */
  leave(tenantId: string): Promise<void>;
}

/**
 * Placement of tenants on nodes, as far as this node knows it (D201). The node acquires free tenants that it should have, serves those that
 * it owns, and hands over those that another node should have.
 *
 *     free ──acquire──► entering ──► served ──leave──► leaving ──release──► another's
 */
export class TenantPlacement {
  readonly #ownership: Ownership;
  readonly #isByMarket: boolean;
  #local: LocalTenants | undefined;
  /** Owned tenants on their way in. */
  readonly #entering = new Map<string, Promise<void>>();
  readonly #served = new Set<string>();
  readonly #leaving = new Set<string>();
  readonly #claims = new Map<string, Promise<void>>();
  /** Requests under way, by tenant. */
  readonly #underWay = new Map<string, number>();
  readonly #idle = new Map<string, () => void>();
  /** Incarnations that owned tenants of other nodes at the last query. */
  readonly #known = new Map<string, number>();
  #isStopping = false;
  /** Handing over is repeated until this moment while the store is unavailable, on the monotonic clock, ms. */
  #retriedUntil = 0;

  /** `isByMarket`: tenants are placed on the node of the market, which alone records the live source. */
  constructor(ownership: Ownership, isByMarket: boolean) {
    this.#ownership = ownership;
    this.#isByMarket = isByMarket;
  }

  /** From here on tenants can be served. */
  open(local: LocalTenants): void {
    this.#local = local;
  }

  /** Tenants that this node serves. */
  get served(): ReadonlySet<string> {
    return this.#served;
  }

  /** True when this node owns the tenant and may answer immediately. */
  servesNow(tenantId: string): boolean {
    return this.#served.has(tenantId) && !this.#leaving.has(tenantId) && this.owns(tenantId);
  }

  /** True while this node's responses for the tenant are current, also during a handover. */
  owns(tenantId: string): boolean {
    return this.#ownership.owned.has(tenantId) && this.#ownership.mayDecide();
  }

  /** Enters a tenant that this node owns and does not serve yet before those that no request waits for. Rejects if that fails. */
  async enterSoon(tenantId: string): Promise<void> {
    if (this.owns(tenantId) && !this.#isStopping) await this.#entered(tenantId);
  }

  /** True when this node serves the tenant; acquires a tenant without an owner first. */
  async serves(tenantId: string): Promise<boolean> {
    if (this.servesNow(tenantId)) return true;
    if (this.#leaving.has(tenantId) || !this.#ownership.mayDecide()) return false;
    await this.#claim(tenantId);
    return this.servesNow(tenantId);
  }

  /** A request of a tenant is under way. Call the result when it is over. */
  enter(tenantId: string): () => void {
    this.#underWay.set(tenantId, (this.#underWay.get(tenantId) ?? 0) + 1);
    return () => {
      const left = (this.#underWay.get(tenantId) ?? 1) - 1;
      if (left > 0) return void this.#underWay.set(tenantId, left);
      this.#underWay.delete(tenantId);
      this.#idle.get(tenantId)?.();
    };
  }

  /** The node that serves a tenant, or should acquire it; undefined if no node can. */
  async ownerOf(tenantId: string): Promise<ClusterNode | undefined> {
    if (this.servesNow(tenantId)) return this.#self();
    const known = this.#nodeOf(this.#known.get(tenantId));
    if (known !== undefined) return known;
    const placement = await this.#ownership.placementOf(tenantId);
    if (placement !== undefined && !placement.isLost) {
      const { incarnation } = placement;
      if (incarnation !== undefined && this.#nodeOf(incarnation) === undefined) await this.#ownership.poll();
      const owner = this.#nodeOf(incarnation);
      if (owner !== undefined) {
        if (incarnation !== undefined && incarnation !== this.#ownership.incarnation)
          this.#known.set(tenantId, incarnation);
        return owner;
      }
    }
    return this.#preferred(tenantId);
  }

  /** False for a tenant that no node has ever acquired and that has no cells (`hasCells`). True while the database does not answer. */
  async isPlaced(tenantId: string, hasCells: () => boolean): Promise<boolean> {
    if (this.#served.has(tenantId) || this.#ownership.owned.has(tenantId) || this.#known.has(tenantId))
      return true;
    if (hasCells()) return true;
    return this.#ownership.placementOf(tenantId).then(
      (placement) => placement !== undefined,
      () => true,
    );
  }

  /** A node was not the owner, or did not respond: the next lookup queries the database. */
  forget(tenantId: string): void {
    this.#known.delete(tenantId);
  }

  /** True while a node is not evicted. */
  isThere({ incarnation }: ClusterNode): boolean {
    return this.#nodeOf(incarnation) !== undefined;
  }

  #self(): ClusterNode | undefined {
    return this.#nodeOf(this.#ownership.incarnation);
  }

  #nodeOf(incarnation: number | undefined): ClusterNode | undefined {
    return incarnation === undefined
      ? undefined
      : this.#ownership.nodes.find((node) => node.incarnation === incarnation);
  }

  /** The node that should have a tenant. */
  async #preferred(tenantId: string): Promise<ClusterNode | undefined> {
    return (await this.#preference())(tenantId);
  }

  /** Finds the node that should have a tenant, as of now. */
  async #preference(): Promise<(tenantId: string) => ClusterNode | undefined> {
    const candidates = this.#candidates();
    if (!this.#isByMarket) return (tenantId) => preferredNode(tenantId, candidates);
    const { owned, incarnation } = this.#ownership;
    const leader = owned.has(MARKET_TENANT)
      ? incarnation
      : (await this.#ownership.placementOf(MARKET_TENANT))?.incarnation;
    const ofMarket = preferredNode(MARKET_TENANT, candidates);
    const leading = candidates.find((node) => node.incarnation === leader && node.unfit.length === 0);
    return (tenantId) => (tenantId === MARKET_TENANT ? ofMarket : (leading ?? ofMarket));
  }

  /** Nodes that may acquire tenants. */
  #candidates(): readonly ClusterNode[] {
    const { nodes, incarnation } = this.#ownership;
    return this.#isStopping ? nodes.filter((node) => node.incarnation !== incarnation) : nodes;
  }

  /** Enters tenants whose first try has failed. */
  async enterOwned(): Promise<void> {
    const { owned } = this.#ownership;
    await this.#enterAll(
      [...owned].filter((tenantId) => !this.#served.has(tenantId) && !this.#leaving.has(tenantId)),
    );
  }

  /** Acquires tenants that no live node owns and that this one should have. */
  async takeFree(): Promise<void> {
    if (this.#isStopping || this.#local === undefined) return;
    const free = await this.#ownership.freeTenants();
    if (free.length === 0) return;
    const { incarnation } = this.#ownership;
    const own: string[] = [];
    const preferredFor = await this.#preference();
    for (const tenantId of free) {
      const preferred = preferredFor(tenantId);
      if (preferred?.incarnation === incarnation) own.push(tenantId);
      // The preferred node is acquiring the tenant, or refuses requests.
      else if (preferred !== undefined) this.#known.set(tenantId, preferred.incarnation);
    }
    if (own.length === 0) return;
    const taken = await this.#ownership.acquire(own);
    await this.#enterAll([...taken]);
  }

  /** Acquires tenants that another node has given to this one. */
  async receive(tenantIds: readonly string[]): Promise<void> {
    if (this.#isStopping) return;
    const taken = await this.#ownership.acquire(tenantIds);
    await this.#enterAll([...taken]);
  }

  async #enterAll(tenantIds: readonly string[]): Promise<void> {
    // Every `main` follows the market.
    if (tenantIds.includes(MARKET_TENANT)) await this.#entered(MARKET_TENANT);
    // Others do not wait for a tenant that cannot be entered now; `enterOwned` tries again.
    await inParallel(tenantIds, MOVED_AT_ONCE, (tenantId) => this.#entered(tenantId).catch(() => undefined));
  }

  #claim(tenantId: string): Promise<void> {
    const underWay = this.#claims.get(tenantId);
    if (underWay !== undefined) return underWay;
    const claim = (async () => {
      const isOwned = this.#ownership.owned.has(tenantId);
      const mayTake = !this.#isStopping && this.#self()?.unfit.length === 0;
      if (isOwned || (mayTake && (await this.#ownership.acquire([tenantId])).has(tenantId)))
        await this.#entered(tenantId);
    })().finally(() => this.#claims.delete(tenantId));
    this.#claims.set(tenantId, claim);
    return claim;
  }

  /** Resolves when the data of an owned tenant is loaded. */
  #entered(tenantId: string): Promise<void> {
    const local = this.#local;
    // A tenant that is handed over is owned until the database has given it away.
    if (this.#served.has(tenantId) || this.#leaving.has(tenantId) || local === undefined)
      return Promise.resolve();
    let entering = this.#entering.get(tenantId);
    if (entering === undefined) {
      entering = local
        .enter(tenantId)
        .then(() => {
          this.#known.delete(tenantId);
          if (this.#ownership.owned.has(tenantId)) this.#served.add(tenantId);
        })
        .finally(() => this.#entering.delete(tenantId));
      this.#entering.set(tenantId, entering);
    }
    return entering;
  }

  /**
   * Takes the tenants that other nodes have given to this one, and hands tenants that another node should have over to it, a tenth of all at a
   * time. A node that takes no tenants hands over all of its own in this way. The market is not moved.
   */
  async rebalance(tell: (node: ClusterNode, tenantIds: readonly string[]) => void): Promise<void> {
    const self = this.#self();
    if (this.#isStopping || self === undefined) return;
    if (self.unfit.length === 0) await this.receive(await this.#ownership.givenTenants());
    // The node that records a live market keeps its tenants, whatever its clock says.
    else if (this.#isByMarket) return;
    const own = [...this.#served].filter((tenantId) => tenantId !== MARKET_TENANT);
    const most = Math.max(1, Math.ceil(own.length / MOVED_PART));
    const { incarnation } = this.#ownership;
    const preferredFor = await this.#preference();
    const misplaced = own.filter(
      (tenantId) => (preferredFor(tenantId)?.incarnation ?? incarnation) !== incarnation,
    );
    await this.#handOver(misplaced.slice(0, most), tell);
  }

  /**
   * Hands over everything that this node owns, the market last, because the node stops. Rejects if the store is still unavailable at
   * `giveUpAt` on the monotonic clock, ms.
   */
  async handOverAll(
    tell: (node: ClusterNode, tenantIds: readonly string[]) => void,
    giveUpAt = 0,
  ): Promise<void> {
    this.#isStopping = true;
    this.#retriedUntil = giveUpAt;
    await Promise.allSettled(this.#entering.values());
    await this.#handOver(
      [...this.#served].filter((tenantId) => tenantId !== MARKET_TENANT),
      tell,
    );
    await this.#handOver(
      [...this.#served].filter((tenantId) => tenantId === MARKET_TENANT),
      tell,
    );
  }

  async #handOver(
    tenantIds: readonly string[],
    tell: (node: ClusterNode, tenantIds: readonly string[]) => void,
  ): Promise<void> {
    const gifts = new Together<string, void>(async (left) => {
      await retryUntil(this.#retriedUntil, () => this.#release(left, tell));
      return [];
    });
    await inParallel(tenantIds, MOVED_AT_ONCE, (tenantId) => this.#leave(tenantId, gifts));
  }

  /** `gifts`: gives the tenant away. */
  async #leave(tenantId: string, gifts: Together<string, void>): Promise<void> {
    const local = this.#local;
    if (local === undefined || !this.#served.has(tenantId)) return;
    this.#leaving.add(tenantId);
    try {
      local.dismiss(tenantId);
      if (this.#underWay.has(tenantId)) {
        const idle = new Promise<void>((resolve) => this.#idle.set(tenantId, resolve));
        await Promise.race([idle, later(LEAVE_MS)]);
        this.#idle.delete(tenantId);
      }
      await retryUntil(this.#retriedUntil, () => local.leave(tenantId));
      this.#served.delete(tenantId);
      await gifts.add(tenantId);
    } finally {
      this.#leaving.delete(tenantId);
    }
  }

  /** Gives tenants that have left memory to the nodes that should have them, and tells those. */
  async #release(
    tenantIds: readonly string[],
    tell: (node: ClusterNode, tenantIds: readonly string[]) => void,
  ): Promise<void> {
    const parts = new Map<ClusterNode | undefined, string[]>();
    const preferredFor = await this.#preference();
    for (const tenantId of tenantIds) {
      const next = preferredFor(tenantId);
      const to = next?.incarnation === this.#ownership.incarnation ? undefined : next;
      parts.set(to, [...(parts.get(to) ?? []), tenantId]);
    }
    for (const [to, part] of parts) {
      await this.#ownership.release(part, to?.incarnation);
      if (to !== undefined) tell(to, part);
    }
  }
}
