import { setTimeout as after } from 'node:timers/promises';
import type { Chance } from '../chance.js';
import type { ClusterNode } from './cluster-node.js';
import { NOT_DONE } from './tenant.js';
import type { Tenant } from './tenant.js';

/** A read waits for a node that is stopped: its answer must not be an old one. */
const READ_MS = 20_000;
const MOST_WAITING = 20;

/**
 * Reads the position of a tenant, which only grows: no read shows less than one that had ended before it began, whichever nodes answer
 * (linearizability). An owner that answers from its memory after another one has committed is found by that, and one that answers beyond its lease by the moment of the read.
 */
export class PositionReader {
  readonly problems: string[] = [];
  /** Answered reads. */
  reads = 0;
  readonly #tenant: Tenant;
  readonly #waiting = new Set<Promise<void>>();
  /** Shares that an ended read has shown. */
  #shares = 0;
  #shownBy = '';

  readonly #nodes: readonly ClusterNode[];

  constructor(tenant: Tenant, nodes: readonly ClusterNode[]) {
    this.#tenant = tenant;
    this.#nodes = nodes;
  }

  /** Reads through random nodes until it is over. */
  async watch(chance: Chance, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if (this.#waiting.size < MOST_WAITING) this.read(chance.pick(this.#nodes).url);
      await after(chance.int(100, 300));
    }
    await Promise.all(this.#waiting);
  }

  /** Begins a read through a node. */
  read(url: string): void {
    const reading = this.#read(url);
    this.#waiting.add(reading);
    void reading.then(() => this.#waiting.delete(reading));
  }

  async #read(url: string): Promise<void> {
    const [least, shownBy] = [this.#shares, this.#shownBy];
    const sentAt = performance.now();
    const { name, portfolioId } = this.#tenant;
    const path = `/v1/accounts/portfolios/${portfolioId}/equities`;
    const { status, text, node } = await this.#tenant.ask(url, 'GET', path, undefined, { ms: READ_MS });
    if (NOT_DONE.has(status)) return;
    if (status !== 200) {
      this.problems.push(`${name}: its positions were answered with ${status}: ${text}`);
      return;
    }
    this.reads++;
    if (this.#nodes.some((one) => one.name === node && one.mustBeSilent(sentAt)))
      this.problems.push(`${name}: ${node} showed a position beyond its lease`);
    const positions = JSON.parse(text) as readonly {
      readonly settledQuantity: number;
      readonly pendingQuantity: number;
    }[];
    const shares = positions.reduce((sum, one) => sum + one.settledQuantity + one.pendingQuantity, 0);
    if (shares < least)
      this.problems.push(
        `${name}: ${node} showed a position of ${shares} shares after ${shownBy} had shown ${least}`,
      );
    if (shares > this.#shares) [this.#shares, this.#shownBy] = [shares, node];
  }
}
