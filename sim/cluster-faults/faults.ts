import { setTimeout as after } from 'node:timers/promises';
import type { Chance } from '../chance.js';
import type { ClusterNode } from './cluster-node.js';
import type { DatabaseServers } from './database-servers.js';
import { TakeOverGate } from './take-over-gate.js';

export const FAULT_KINDS = [
  'kill',
  'stop',
  'slow-renewal',
  'restart',
  'database',
  'standby',
  'cut-database',
  'late-commit',
  'cut-nodes',
  'lose-answer',
  'skew',
  'overlap',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Faults of which two may strike at once. */
const OVERLAPPING: readonly FaultKind[] = [
  'kill',
  'stop',
  'restart',
  'database',
  'cut-database',
  'cut-nodes',
  'lose-answer',
  'skew',
];

/** Between nodes; most are events of streams. */
const LOST_ANSWERS = 12;
/** Text of the statement that renews a lease. */
const RENEWAL = 'UPDATE incarnation SET counter';
/** Name of the statement of a group commit, as the protocol has it. */
const COMMIT = 'commit\0';
/** Nodes renew every second. */
const SENT_MS = 3_000;
/** A node waits for the answer to a renewal for 1.5 s. */
const SLOW_MS = 1_200;
const READ_ANSWER_MS = 50;
/** A node that is cut off is evicted after five seconds. */
const TAKE_OVER_MS = 12_000;
const BLOCKED_MS = 1_000;
/** Time for which an old primary is there again. */
const RETURNED_MS = 3_000;

/** A fault as it was drawn. */
export interface Fault {
  readonly kind: FaultKind;
  /** The node affected; undefined if the database is affected. */
  readonly node: ClusterNode | undefined;
  readonly ms: number;
}

/** Draws a fault of a kind: one, or two that strike at once. */
export function drawFaults(kind: FaultKind, nodes: readonly ClusterNode[], chance: Chance): readonly Fault[] {
  const node = chance.pick(nodes);
  if (kind !== 'overlap') return [faultOf(kind, node, chance)];
  const first = chance.pick(OVERLAPPING);
  const second = chance.pick(OVERLAPPING.filter((other) => other !== first));
  const other = chance.pick(nodes.filter((one) => one !== node));
  return [faultOf(first, node, chance), faultOf(second, other, chance)];
}

const faultOf = (kind: FaultKind, node: ClusterNode, chance: Chance): Fault => ({
  kind,
  node: kind === 'database' || kind === 'standby' ? undefined : node,
  ms: durationOf(kind, chance),
});

function durationOf(kind: FaultKind, chance: Chance): number {
  switch (kind) {
    case 'stop':
      return chance.int(1_000, 10_000);
    case 'slow-renewal':
      return chance.int(6_000, 9_000);
    case 'kill':
    case 'database':
    case 'standby':
      return chance.int(0, 3_000);
    case 'cut-database':
      return chance.int(0, 8_000);
    case 'cut-nodes':
      return chance.int(0, 6_000);
    case 'skew':
      return chance.int(2_000, 6_000);
    default:
      return 0;
  }
}

interface Parts {
  readonly database: DatabaseServers;
  readonly nodes: readonly ClusterNode[];
  readonly chance: Chance;
  readonly problems: string[];
  /** Times from SIGTERM to the end of a node, ms. */
  readonly stopMs: number[];
}

/** Strikes with faults that were drawn. */
export class FaultInjector {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Resolves when what was broken is mended: the cluster may still be busy with the consequences. */
  async strike({ kind, node, ms }: Fault): Promise<void> {
    if (kind === 'standby') return this.#failOver(ms);
    if (node === undefined) return this.#killDatabase(ms);
    switch (kind) {
      case 'kill':
        await node.end('SIGKILL');
        await after(ms);
        return node.start();
      case 'stop':
        node.signal('SIGSTOP');
        await after(ms);
        node.signal('SIGCONT');
        return;
      case 'slow-renewal':
        return this.#cutAfterRenewal(node, ms);
      case 'restart':
        return this.#restart(node);
      case 'cut-database':
        await node.cutOff(ms, performance.now());
        return;
      case 'late-commit':
        return this.#commitLate(node);
      case 'cut-nodes':
        node.others.cut(ms);
        await after(ms);
        return;
      case 'lose-answer':
        node.others.loseAnswers(LOST_ANSWERS);
        return this.#loseCommit(node);
      case 'skew':
        return this.#skew(node, ms);
      default:
        throw new Error(`no single fault: ${kind}`);
    }
  }

  async #killDatabase(ms: number): Promise<void> {
    const { database } = this.#parts;
    await database.kill();
    await after(ms);
    await database.restart();
  }

  /** Kills the primary and promotes its standby. Then the old primary returns and accepts writes, and every node reconnects. */
  async #failOver(ms: number): Promise<void> {
    const { database, nodes, problems } = this.#parts;
    await database.kill();
    await after(ms);
    const misuse = await database.failOver(async () => {
      for (const node of nodes) node.database.cut(0);
      await after(RETURNED_MS);
    });
    problems.push(...misuse);
  }

  /** The answer to a renewal is slow, and then the node is cut off: its lease ends four seconds after the renewal was sent. */
  async #cutAfterRenewal(node: ClusterNode, ms: number): Promise<void> {
    const sentAt = await this.#whenRenewing(node, () => node.database.holdAnswers());
    await after(SLOW_MS);
    node.database.deliverAnswers();
    await after(READ_ANSWER_MS);
    await node.cutOff(ms, sentAt);
  }

  /** A node without work may send no commit. */
  async #loseCommit({ database }: ClusterNode): Promise<void> {
    const sent = new Promise<void>((resolve) => database.loseAnswerTo(COMMIT, resolve));
    await Promise.race([sent, after(SENT_MS)]);
    database.onceSent();
  }

  /** Acts when a node sends its renewal. Resolves with the moment. */
  async #whenRenewing(node: ClusterNode, act: () => void): Promise<number> {
    const sent = new Promise<number>((resolve) => {
      node.database.onceSent(RENEWAL, () => {
        act();
        resolve(performance.now());
      });
    });
    const sentAt = await Promise.race([sent, after(SENT_MS)]);
    if (sentAt !== undefined) return sentAt;
    node.database.onceSent();
    act();
    return performance.now();
  }

  async #restart(node: ClusterNode): Promise<void> {
    const began = performance.now();
    const badly = await node.end('SIGTERM');
    if (badly !== undefined) this.#parts.problems.push(badly);
    this.#parts.stopMs.push(performance.now() - began);
    return node.start();
  }

  /** Commits of a node reach the database while their cells are taken over: the take-over has changed the heads and is not over yet. */
  async #commitLate(node: ClusterNode): Promise<void> {
    const gate = await TakeOverGate.shut(this.#parts.database.url);
    node.database.hold();
    try {
      const isTaken = await this.#untilTaken(node, gate);
      if (!isTaken) this.#parts.problems.push(`${node.name} was cut off, and its cells were not taken over`);
      node.database.deliver();
      await gate.blocks(node.name, BLOCKED_MS);
    } finally {
      node.database.deliver();
      await gate.open();
    }
  }

  /** Cells are taken over in groups: those without a cell of the held commit pass. False if none is taken over. */
  async #untilTaken(node: ClusterNode, gate: TakeOverGate): Promise<boolean> {
    const endsAt = performance.now() + TAKE_OVER_MS;
    let isTaken = false;
    while (await gate.waits(endsAt - performance.now())) {
      isTaken = true;
      const committed = cellsOfCommits(node.database.held());
      const taken = await gate.cells();
      if (committed.size === 0 || taken.some((cell) => committed.has(cell))) break;
      await gate.pass();
    }
    return isTaken;
  }

  async #skew(node: ClusterNode, ms: number): Promise<void> {
    const { chance } = this.#parts;
    node.shiftClock(chance.int(1, 30) * 60_000 * (chance.hits(0.5) ? 1 : -1));
    await after(ms);
    node.shiftClock(0);
  }
}

/** Cells of the group commits in what a node sent: their first parameter. */
function cellsOfCommits(sent: Buffer): ReadonlySet<number> {
  const commits = sent.toString('latin1').matchAll(/commit\0[^{]*\{([\d,]*)\}/g);
  return new Set([...commits].flatMap(([, cells = '']) => cells.split(',').map(Number)));
}
