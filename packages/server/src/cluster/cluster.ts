import { setTimeout as later } from 'node:timers/promises';
import type { Instrument } from '@sandpit/core';
import type { Simulations } from '../engine/directory/simulations.js';
import { StoreUnavailable } from '../store/journal.js';
import { MARKET_TENANT } from '../store/ownership.js';
import type { CellHead, ClusterNode, Ownership, Placement } from '../store/ownership.js';
import type { Store } from '../store/store.js';
import { kindsOf, reasonsAgainst, STOPPED, STOPPING } from './fitness.js';
import { inParallel } from '../engine/scheduling/in-parallel.js';
import { TenantPlacement } from './tenant-placement.js';
import type { LocalTenants } from './tenant-placement.js';
import { retryUntil } from './retry-until.js';

/** Interval at which a node reads the other nodes and acquires tenants without an owner. */
const POLL_MS = 500;
/** Interval at which a node reads the market's journal if its owner announced no record. */
const FOLLOW_MS = 250;
/** Interval at which a node compares the placement of its tenants with the hash. */
const REBALANCE_MS = 5_000;
/** Interval at which a node opens simulations whose timers are due. */
const WAKE_MS = 500;
/** Simulations that are opened at a time. */
const WOKEN_AT_ONCE = 8;
/** A node that does not apply a change of the market within this time is removed from the cluster (D202). */
const DEAL_MS = 5_000;
const ASK_MS = 1_000;
/** Longest wait for a node's status: a busy node answers late. */
const STATUS_MS = 2_500;
const RETRY_MS = 100;
/** Entries of a list in one message, which has at most 1 MiB. */
const MOST_TENANTS_TOLD = 5_000;
const MOST_INSTRUMENTS_TOLD = 500;
/** Time for which a node that stops waits for the database, so that it can hand its tenants over. */
const HAND_OVER_MS = 3_000;

/** Paths of requests between nodes. */
const MARKET_PATH = '/cluster/market';
const ACQUIRE_PATH = '/cluster/acquire';
const STATUS_PATH = '/cluster/status';
const SOURCE_PATH = '/cluster/source';
const CLASSES_PATH = '/cluster/classes';

/** Sends a request to another node. Rejects if it does not respond in time. */
export type AskNode = (node: ClusterNode, path: string, body: object, timeoutMs: number) => Promise<unknown>;

export interface ClusterParts {
  readonly store: Store;
  readonly ownership: Ownership;
  readonly ask: AskNode;
  /** Tenants are placed on the node of the market, which alone records the live source. */
  readonly isByMarket: boolean;
  /** Logs one line for the operator. */
  readonly note: (text: string) => void;
}

/** Status that a node reports about itself. */
export interface NodeStatus {
  readonly tenants: number;
  readonly cells: number;
  /** Records that the history tables of its cells do not contain yet. */
  readonly historyLag: number;
  /** Records of the market that it has not applied yet. */
  readonly marketLag: number;
  readonly clockSkewMs: number;
}

/** State of a cluster for `GET /v1/cluster`. */
export interface ClusterReport {
  readonly nodes: readonly (ClusterNode & { readonly status: NodeStatus | undefined })[];
  readonly placements: readonly Placement[];
  readonly isReplicated: boolean;
}

/** This node among the others: its periodic work, its messages to them, and its answers. */
export class Cluster {
  readonly placement: TenantPlacement;
  readonly #parts: ClusterParts;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #busy = new Set<string>();
  #simulations: Simulations | undefined;
  /** Last record of the market that all other nodes have processed. */
  #told = 0;
  /** Reasons that are published. */
  #kinds: string | undefined;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.placement = new TenantPlacement(parts.ownership, parts.isByMarket);
  }

  /** Reasons why this node accepts no cells; empty = it accepts them. */
  get reasons(): readonly string[] {
    const { ownership } = this.#parts;
    const self = this.#self();
    if (self === undefined) return ['evicted'];
    return reasonsAgainst(self, ownership.nodes, ownership.skewMs);
  }

  #self(): ClusterNode | undefined {
    const { nodes, incarnation } = this.#parts.ownership;
    return nodes.find((node) => node.incarnation === incarnation);
  }

  #others(): readonly ClusterNode[] {
    const { nodes, incarnation } = this.#parts.ownership;
    return nodes.filter((node) => node.incarnation !== incarnation);
  }

  /** This node answers from here on. */
  async begin(simulations: Simulations, localTenants: LocalTenants): Promise<void> {
    this.#simulations = simulations;
    this.placement.open(localTenants);
    this.#told = simulations.market.isReplica ? 0 : simulations.market.published;
    await this.#declare();
    await simulations.lead.follow();
    await this.#poll();
    await this.#acquireTenants();
    this.#every(POLL_MS, 'poll', () => this.#poll());
    // Tenants may take long to open; lost nodes are noticed meanwhile.
    this.#every(POLL_MS, 'acquire', () => this.#acquireTenants());
    this.#every(FOLLOW_MS, 'follow', () => simulations.lead.follow());
    this.#every(REBALANCE_MS, 'rebalance', () => this.#rebalance());
    this.#every(WAKE_MS, 'wake', () => this.#wakeDue(simulations));
  }

  /** Work that is still under way is not begun again; what fails is tried again the next time. */
  #every(ms: number, name: string, work: () => Promise<void>): void {
    const timer = setInterval(() => {
      if (this.#busy.has(name)) return;
      this.#busy.add(name);
      work()
        .catch(() => undefined)
        .finally(() => this.#busy.delete(name));
    }, ms);
    this.#timers.push(timer.unref());
  }

  async #poll(): Promise<void> {
    const { ownership } = this.#parts;
    await ownership.poll();
    await this.#declare();
  }

  async #acquireTenants(): Promise<void> {
    await this.placement.enterOwned();
    if (this.reasons.length === 0) await this.placement.takeFree();
  }

  /** Opens closed simulations whose timers are due, without a request (D201). */
  async #wakeDue(simulations: Simulations): Promise<void> {
    const { placement } = this;
    const { ownership } = this.#parts;
    const due = ownership.dueCells(ownership.nowMs()).filter(({ tenantId }) => placement.servesNow(tenantId));
    await inParallel(due, WOKEN_AT_ONCE, async ({ simulationId, tenantId }) => {
      if (placement.servesNow(tenantId)) await simulations.tenants.wake(simulationId);
    });
  }

  /** Publishes the reasons why this node accepts no cells, if they have changed. */
  async #declare(): Promise<void> {
    const { ownership, note } = this.#parts;
    const { reasons } = this;
    const kinds = kindsOf(reasons);
    const before = this.#kinds;
    if (kinds === before) return;
    if (this.#self() === undefined) return;
    await ownership.declare(reasons);
    this.#kinds = kinds;
    await ownership.poll();
    if (reasons.length > 0) note(`This node takes no cells: ${reasons.join('; ')}`);
    else if (before !== undefined) note('This node takes cells again');
  }

  async #rebalance(): Promise<void> {
    await this.placement.rebalance((node, tenantIds) => this.#tellTaken(node, tenantIds));
  }

  /** Tells a node that it may acquire these tenants. If the message is lost, the node's next poll finds them. */
  #tellTaken(node: ClusterNode, tenantIds: readonly string[]): void {
    for (const part of partsOf(tenantIds, MOST_TENANTS_TOLD))
      this.#parts.ask(node, ACQUIRE_PATH, { tenantIds: part }, ASK_MS).catch(() => undefined);
  }

  /**
   * Resolves when every other node has applied this node's records of the market; a node that does not respond in time is
   * removed from the cluster. Does nothing if there are no new records.
   */
  async tellMarket(): Promise<void> {
    const sequence = this.#simulations?.market.published ?? 0;
    if (sequence <= this.#told || this.#others().length === 0) return;
    await Promise.all(this.#others().map((node) => this.#dealtBy(node)));
    this.#told = Math.max(this.#told, sequence);
  }

  async #dealtBy(node: ClusterNode): Promise<void> {
    const { ask, ownership, store, note } = this.#parts;
    let giveUpAt = performance.now() + DEAL_MS;
    let isRevoked = false;
    // A node that hands its tenants over serves them until they have left.
    const isConcerned = (): boolean => {
      const now = ownership.nodes.find(({ incarnation }) => incarnation === node.incarnation);
      return now !== undefined && (now.unfit.length === 0 || now.unfit.includes(STOPPING));
    };
    while (isConcerned()) {
      // While the database does not answer this node, it may not answer the other one either.
      if (store.health().status !== 'ok') giveUpAt = performance.now() + DEAL_MS;
      const leftMs = giveUpAt - performance.now();
      if (leftMs > 0) {
        const isDone = await ask(node, MARKET_PATH, {}, leftMs).then(
          () => true,
          () => false,
        );
        if (isDone) return;
      } else if (!isRevoked) {
        note(`Node ${node.nodeId} has not applied a change of the market within 5 s: it is evicted`);
        await ownership.revoke(node.incarnation);
        isRevoked = true;
      }
      await later(RETRY_MS);
      // The node may have stopped in the meantime.
      await ownership.poll().catch(() => undefined);
    }
  }

  /** Answers another node; undefined = unknown path. */
  readonly answerNode = async (path: string, body: Buffer): Promise<object | undefined> => {
    const { ownership } = this.#parts;
    if (path === MARKET_PATH) {
      await this.#simulations?.lead.follow();
      return { sequence: this.#simulations?.market.published ?? 0 };
    }
    if (path === CLASSES_PATH) {
      const { instruments } = JSON.parse(body.toString()) as { readonly instruments: readonly Instrument[] };
      return { inUse: this.#simulations?.market.classesInUse(instruments) ?? [] };
    }
    if (path === SOURCE_PATH) return this.#answerOfSource(body);
    if (path === ACQUIRE_PATH) {
      const { tenantIds } = JSON.parse(body.toString()) as { readonly tenantIds: readonly string[] };
      if (ownership.mayDecide()) await this.placement.receive(tenantIds);
      return {};
    }
    return path === STATUS_PATH ? await this.#status() : undefined;
  };

  /** Answers only while this node owns the market: an owner that was stopped is not connected any more. */
  async #answerOfSource(body: Buffer): Promise<object | undefined> {
    const { placement } = this;
    if (!placement.servesNow(MARKET_TENANT)) return undefined;
    const answer = await this.#simulations?.lead.answerOfSource(JSON.parse(body.toString()) as object);
    return placement.servesNow(MARKET_TENANT) ? answer : undefined;
  }

  /** Reasons of other nodes against another class of instruments. Rejects with `StoreUnavailable` if one of them does not answer. */
  readonly classesInUse = async (instruments: readonly Instrument[]): Promise<readonly string[]> => {
    const parts = partsOf(instruments, MOST_INSTRUMENTS_TOLD);
    const answers = this.#others().flatMap((node) =>
      parts.map((part) => this.#parts.ask(node, CLASSES_PATH, { instruments: part }, ASK_MS)),
    );
    try {
      return (await Promise.all(answers)).flatMap((said) => (said as { readonly inUse: string[] }).inUse);
    } catch (error) {
      throw new StoreUnavailable('another node does not answer', { cause: error });
    }
  };

  /** True for this node. */
  isSelf({ incarnation }: ClusterNode): boolean {
    return incarnation === this.#parts.ownership.incarnation;
  }

  /** Asks a node. Rejects if it does not answer in time. */
  ask(node: ClusterNode, path: string, body: object, timeoutMs: number): Promise<unknown> {
    return this.#parts.ask(node, path, body, timeoutMs);
  }

  /** Asks the node that is connected to the live source. Rejects if it does not answer in time, or is this one. */
  async askAboutSource(question: object, timeoutMs: number): Promise<unknown> {
    const { ask, ownership } = this.#parts;
    const node = await this.placement.ownerOf(MARKET_TENANT);
    if (node === undefined || node.incarnation === ownership.incarnation)
      throw new StoreUnavailable('no other node owns the market');
    try {
      return await ask(node, SOURCE_PATH, question, timeoutMs);
    } catch (error) {
      this.placement.forget(MARKET_TENANT);
      throw error;
    }
  }

  async #status(): Promise<NodeStatus> {
    const { ownership, store } = this.#parts;
    const market = this.#simulations?.market;
    const marketLag = (await ownership.marketSequence()) - (market?.published ?? 0);
    return {
      tenants: [...ownership.owned].filter((tenantId) => tenantId !== MARKET_TENANT).length,
      cells: ownership.cellCount(),
      historyLag: store.history.health().behind,
      marketLag: Math.max(0, marketLag),
      clockSkewMs: Math.round(ownership.skewMs),
    };
  }

  /** The state of the cluster. A node that does not answer has no status. */
  async report(): Promise<ClusterReport> {
    const { ownership, ask } = this.#parts;
    await ownership.poll();
    const nodes = await Promise.all(
      ownership.nodes.map(async (node) => {
        const status =
          node.incarnation === ownership.incarnation
            ? await this.#status()
            : await ask(node, STATUS_PATH, {}, STATUS_MS).then(
                (said) => said as NodeStatus,
                () => undefined,
              );
        return { ...node, status };
      }),
    );
    const [placements, isReplicated] = await Promise.all([ownership.placements(), ownership.isReplicated()]);
    return { nodes, placements, isReplicated };
  }

  /** Cells of a tenant, as the database has them. */
  cellsOf(tenantId: string): Promise<readonly CellHead[]> {
    return this.#parts.ownership.headsOf(tenantId);
  }

  /**
   * Hands over all tenants of this node. Resolves when other nodes serve them, or can acquire them. Rejects with `StoreUnavailable` if the
   * database does not answer in time: others acquire them after the silence of this node.
   */
  async handOver(): Promise<void> {
    this.#stopTimers();
    const { ownership } = this.#parts;
    const giveUpAt = performance.now() + HAND_OVER_MS;
    await retryUntil(giveUpAt, () => ownership.declare([STOPPING]));
    await this.placement.handOverAll((node, tenantIds) => this.#tellTaken(node, tenantIds), giveUpAt);
    // This node no longer serves the market, so other nodes need not wait for it after its listener closes.
    await ownership.declare([STOPPED]).catch(() => undefined);
  }

  #stopTimers(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }

  close(): void {
    this.#stopTimers();
  }
}

const partsOf = <T>(list: readonly T[], length: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / length) }, (_, index) =>
    list.slice(index * length, (index + 1) * length),
  );
