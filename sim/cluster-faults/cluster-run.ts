import { setTimeout as after } from 'node:timers/promises';
import { ServerProcess } from '../../packages/server/src/testing/server-process.js';
import type { Chance } from '../chance.js';
import { Client } from '../client.js';
import { JWT_SECRET } from '../tokens.js';
import { ClusterNode } from './cluster-node.js';
import { CommitLog } from './commit-log.js';
import type { JournalOrder } from './commit-log.js';
import type { DatabaseServers } from './database-servers.js';
import { drawFaults, FaultInjector } from './faults.js';
import type { Fault, FaultKind } from './faults.js';
import { PositionReader } from './position-reader.js';
import { busiestNode } from './take-over-gate.js';
import { StreamFollower } from './stream-follower.js';
import { NOT_DONE, Tenant } from './tenant.js';

const NODES = ['node-1', 'node-2', 'node-3'];
const TENANTS = 6;
const PASSWORD = 'password';
/** Reads through a node that was struck, until so long after it is mended. */
const READ_EVERY_MS = 100;
const READ_ON_MS = 500;
/** A client that looks for service waits so long for each node. */
const PROBE_MS = 1_500;
/** Maximum time after a fault until all nodes accept tenants again. */
const WHOLE_MS = 45_000;
const STREAM_MS = 30_000;

const ENVIRONMENT = {
  CLUSTER_SECRET: 'a secret of the nodes of this rig',
  JWT_SECRET,
  MARKET_FEED: 'push',
  MARKET_CALENDAR: 'always-open',
  RATE_LIMIT_DEFAULT: '1000000000',
  STREAM_HEARTBEAT_MS: '1000',
  LOG_LEVEL: 'warn',
};

export interface ClusterFaultReport {
  faults: number;
  acknowledged: number;
  /** Orders whose first request was not answered. */
  unanswered: number;
  /** Unanswered orders without a key that were placed all the same. */
  placedUnanswered: number;
  /** Acknowledged orders that were sent more than once. */
  repeated: number;
  /** Orders and positions that were read through random nodes. */
  reads: number;
  streamed: number;
  /** Longest time from SIGTERM to the end of a node under load, ms. */
  longestStopMs: number;
  /** Connections of the followers. */
  connections: number;
  /** Connections that a node ended with 503. */
  farewells: number;
  commits: number;
  /** Epochs in which cells were written, all cells together. */
  epochs: number;
  /** Number of audits of the heads. */
  looks: number;
  /** By kind: time from each fault until every tenant had an order acknowledged, ms. */
  readonly serviceMs: ReadonlyMap<FaultKind, number[]>;
  readonly problems: readonly string[];
  /** Lines of each node's log, by name. */
  readonly logs: ReadonlyMap<string, readonly string[]>;
}

interface Parts {
  readonly database: DatabaseServers;
  readonly directory: string;
  readonly chance: Chance;
  readonly folder: string | undefined;
}

/** One life of a cluster under faults. */
export class ClusterRun {
  readonly problems: string[] = [];
  readonly #parts: Parts;
  readonly #nodes: readonly ClusterNode[];
  readonly #tenants: readonly Tenant[];
  readonly #log: CommitLog;
  readonly #followers: readonly StreamFollower[];
  readonly #readers: readonly PositionReader[];
  readonly #injector: FaultInjector;
  readonly #work: Promise<unknown>[] = [];
  readonly #stopMs: number[] = [];
  readonly #serviceMs = new Map<FaultKind, number[]>();
  #isOver = false;

  private constructor(parts: Parts, nodes: readonly ClusterNode[]) {
    this.#parts = parts;
    this.#nodes = nodes;
    this.#tenants = Array.from({ length: TENANTS }, (_, index) => new Tenant(`tenant-${index}`, nodes));
    this.#log = new CommitLog(() => parts.database.url);
    this.#readers = this.#tenants.map((tenant) => new PositionReader(tenant, nodes));
    this.#injector = new FaultInjector({
      database: parts.database,
      nodes,
      chance: parts.chance.fork(),
      problems: this.problems,
      stopMs: this.#stopMs,
    });
    this.#followers = this.#tenants.map((tenant) => new StreamFollower(tenant, nodes, parts.chance.fork()));
  }

  /** Starts the nodes and their clients. */
  static async begin(parts: Parts): Promise<ClusterRun> {
    const { database, directory, folder } = parts;
    await database.makeDatabase(NODES, PASSWORD);
    const nodes = await Promise.all(
      NODES.map((name) =>
        ClusterNode.make({
          name,
          databasePorts: database.ports,
          urlAt: (ports) => database.urlAt(ports, name, PASSWORD),
          environment: { ...ENVIRONMENT, DATA_DIR: `${directory}/${name}` },
          folder,
        }),
      ),
    );
    const run = new ClusterRun(parts, nodes);
    try {
      await run.#start();
      return run;
    } catch (error) {
      await run.close();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const { chance } = this.#parts;
    const [first, ...others] = this.#nodes;
    await first?.start();
    await this.#log.begin();
    await Promise.all(others.map((node) => node.start()));
    await this.#whole();
    for (const tenant of this.#tenants) await tenant.open();
    const isOver = (): boolean => this.#isOver;
    this.#work.push(this.#log.watch(), this.#quote(chance.fork()));
    for (const follower of this.#followers) this.#work.push(follower.follow());
    for (const reader of this.#readers) this.#work.push(reader.watch(chance.fork(), isOver));
    for (const tenant of this.#tenants)
      for (const isKeyed of [true, false]) this.#work.push(tenant.trade(chance.fork(), isKeyed, isOver));
  }

  /**
   * Injects one fault or two at once, and waits until every tenant is served again and all nodes accept tenants. Returns a line with the
   * result.
   */
  async strike(kind: FaultKind): Promise<string> {
    const { chance } = this.#parts;
    const busiest = kind === 'late-commit' ? await busiestNode(this.#parts.database.url) : undefined;
    const victims = this.#nodes.filter(({ name }) => busiest === undefined || name === busiest);
    const faults = drawFaults(kind, victims, chance);
    const began = performance.now();
    let isMended = false;
    const mended = Promise.all(faults.map((fault) => this.#injector.strike(fault))).finally(() => {
      isMended = true;
    });
    // The failure is reported below.
    mended.catch(() => undefined);
    // A client that knows which node is gone asks the others.
    const struck = faults.flatMap(({ node }) => node ?? []);
    const nodes = this.#nodes.filter((node) => !struck.includes(node));
    const probes = this.#tenants.map(async (tenant, index) => {
      await tenant.place(chance.fork(), { isKeyed: true, nodes, tryMs: PROBE_MS });
      const served = performance.now() - began;
      await this.#readThrough(struck, nodes, index, () => isMended);
      return served;
    });
    const served = Math.max(...(await Promise.all(probes)));
    this.#serviceMs.set(kind, [...(this.#serviceMs.get(kind) ?? []), served]);
    await mended;
    await this.#whole();
    this.#gather();
    const whole = performance.now() - began;
    return `${faults.map(wordsOf).join(' and ')}: service after ${Math.round(served)} ms, whole after ${Math.round(whole)} ms`;
  }

  /** Reads a position through nodes that were struck, next to others, until a moment after they are mended: they must not show an older one. */
  async #readThrough(
    struck: readonly ClusterNode[],
    others: readonly ClusterNode[],
    index: number,
    isMended: () => boolean,
  ): Promise<void> {
    let mendedAt = Infinity;
    while (performance.now() - mendedAt < READ_ON_MS || mendedAt === Infinity) {
      for (const { url } of struck) this.#readers[index]?.read(url);
      const other = others[0];
      if (other !== undefined) this.#readers[index]?.read(other.url);
      await after(READ_EVERY_MS);
      if (isMended()) mendedAt = Math.min(mendedAt, performance.now());
    }
  }

  /** Resolves when all nodes accept tenants. */
  async #whole(): Promise<void> {
    const [tenant] = this.#tenants;
    const [node] = this.#nodes;
    const began = performance.now();
    let text = '';
    while (performance.now() - began < WHOLE_MS) {
      const said = await tenant?.ask(node?.url ?? '', 'GET', '/v1/cluster');
      text = said?.text ?? '';
      if (said?.status === 200) {
        const { nodes } = JSON.parse(text) as {
          readonly nodes: readonly { readonly status: string; readonly reasons: readonly string[] }[];
        };
        const live = nodes.filter(({ status, reasons }) => status === 'LIVE' && reasons.length === 0);
        if (live.length === NODES.length) return;
      }
      await after(100);
    }
    this.problems.push(`the nodes do not all take tenants: ${text}`);
  }

  /** Moves the market about the limits of the orders, through random nodes. */
  async #quote(chance: Chance): Promise<void> {
    const [tenant] = this.#tenants;
    while (!this.#isOver) {
      const ask = chance.int(100, 104) / 100;
      const quotes = [{ symbol: 'AAPL', bid: ask - 0.01, ask, bidSize: 50, askSize: 50, last: ask }];
      const { url } = chance.pick(this.#nodes);
      const said = await tenant?.ask(url, 'PUT', '/v1/simulation/quotes', { quotes }, { ms: 10_000 });
      if (said !== undefined && said.status !== 200 && !NOT_DONE.has(said.status))
        this.problems.push(`quotes were answered with ${said.status}: ${said.text}`);
      await after(1_000);
    }
  }

  /** Ends the load, lets the streams finish, stops the nodes, and checks everything. */
  async finish(): Promise<ClusterFaultReport> {
    const { chance } = this.#parts;
    this.#isOver = true;
    this.#log.end();
    await Promise.all(this.#work.slice(0, 2));
    // The clients end after the requests that are under way; the followers only on request.
    await Promise.all(this.#work.slice(2 + TENANTS));
    await Promise.all(this.#tenants.map((tenant) => tenant.settled()));
    for (const [index, tenant] of this.#tenants.entries()) {
      const { orderId } = await tenant.place(chance, { isKeyed: true });
      const follower = this.#followers[index];
      if (orderId === undefined || follower === undefined) continue;
      await this.#compareStreams(tenant, follower, orderId);
    }
    this.#gather();
    const shown = new Map<Tenant, readonly ShownOrder[]>();
    for (const tenant of this.#tenants) {
      const client = new Client(chance.pick(this.#nodes).url, tenant.token);
      const listed = await client.list<ShownOrder>('/v1/orders').catch((error: unknown) => {
        this.problems.push(`${tenant.name}: its orders cannot be listed: ${String(error)}`);
        return { items: [] };
      });
      shown.set(tenant, listed.items);
    }
    await this.#stopAndVerify();
    const { orders, commits, epochs } = await this.#log.check();
    let placedUnanswered = 0;
    for (const tenant of this.#tenants) {
      const known = orders.filter(({ portfolioId }) => portfolioId === tenant.portfolioId);
      this.#compareOrders(tenant, 'the API', shown.get(tenant) ?? []);
      placedUnanswered += this.#compareOrders(tenant, 'the journal', known);
    }
    this.#gather();
    const sum = (of: (tenant: Tenant) => number): number =>
      this.#tenants.reduce((total, tenant) => total + of(tenant), 0);
    return {
      faults: [...this.#serviceMs.values()].flat().length,
      acknowledged: sum(({ sent }) => sent.filter(({ orderId }) => orderId !== undefined).length),
      unanswered: sum(({ unanswered }) => unanswered),
      placedUnanswered,
      repeated: sum(({ repeated }) => repeated),
      reads: sum(({ reads }) => reads) + this.#readers.reduce((total, { reads }) => total + reads, 0),
      streamed: this.#followers.reduce((total, { seen }) => total + seen.length, 0),
      connections: this.#followers.reduce((total, { connections }) => total + connections, 0),
      farewells: this.#followers.reduce((total, { farewells }) => total + farewells, 0),
      longestStopMs: Math.round(Math.max(0, ...this.#stopMs)),
      commits,
      epochs,
      looks: this.#log.looks,
      serviceMs: this.#serviceMs,
      problems: this.problems,
      logs: new Map(this.#nodes.map(({ name, log }) => [name, log])),
    };
  }

  /** Everything that a follower saw over all faults, against a stream that is read from the beginning in one go. */
  async #compareStreams(tenant: Tenant, follower: StreamFollower, last: string): Promise<void> {
    const whole = new StreamFollower(tenant, this.#nodes, this.#parts.chance.fork());
    const following = whole.follow();
    const haveEnded = await Promise.all([follower, whole].map((one) => one.hasSeen(last, STREAM_MS)));
    if (haveEnded.includes(false))
      this.problems.push(`${tenant.name}: a stream does not tell of its last order`);
    for (const one of [follower, whole]) one.end();
    await following;
    // A stream may have gone on behind the first event of the last order.
    const length = Math.min(follower.seen.length, whole.seen.length);
    const place = whole.seen.slice(0, length).findIndex((one, index) => one !== follower.seen[index]);
    if (place !== -1)
      this.problems.push(
        `${tenant.name}: event ${place + 1} of the stream over all faults was "${follower.seen[place] ?? ''}", of the one from the beginning "${whole.seen[place] ?? ''}"`,
      );
    for (const { orderId = '', quantity } of tenant.sent)
      if (orderId !== '' && !whole.seen.some((one) => one.includes(orderId)))
        this.problems.push(`${tenant.name}: the stream does not tell of order ${quantity}`);
    this.problems.push(...whole.problems);
  }

  async #stopAndVerify(): Promise<void> {
    for (const node of this.#nodes) {
      const badly = await node.end('SIGTERM');
      if (badly !== undefined) this.problems.push(badly);
    }
    const { database, directory, folder } = this.#parts;
    const verify = ServerProcess.verify({ ...ENVIRONMENT, DATABASE_URL: database.url }, directory, folder);
    const { code } = await verify.exited;
    if (code !== 0 || verify.out.at(-1) !== 'sound')
      this.problems.push(`verify ended with ${String(code)}: ${[...verify.out, ...verify.err].join('\n')}`);
  }

  /** Checks that each acknowledged order exists once, each other order at most once, and no order that was not sent. Returns the number of others that exist. */
  #compareOrders(
    tenant: Tenant,
    source: string,
    known: readonly Pick<JournalOrder, 'quantity' | 'clientOrderId'>[],
  ): number {
    const counts = new Map<number, number>();
    let others = 0;
    for (const { quantity, clientOrderId } of known) {
      counts.set(quantity, (counts.get(quantity) ?? 0) + 1);
      const sent = tenant.sent[quantity - 1];
      if (sent?.quantity !== quantity || sent.clientOrderId !== clientOrderId)
        this.problems.push(`${tenant.name}: ${source} has an order of ${quantity} shares that was not sent`);
    }
    for (const { quantity, orderId } of tenant.sent) {
      const times = counts.get(quantity) ?? 0;
      if (orderId === undefined) others += times;
      if (times > 1 || (times === 0 && orderId !== undefined))
        this.problems.push(
          `${tenant.name}: order ${quantity}, ${orderId === undefined ? 'not ' : ''}acknowledged, is in ${source} ${times} times`,
        );
    }
    return others;
  }

  #gather(): void {
    for (const { problems } of [
      ...this.#nodes,
      ...this.#tenants,
      ...this.#followers,
      ...this.#readers,
      this.#log,
    ])
      this.problems.push(...problems.splice(0));
  }

  /** Ends all that is left of it. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#log.end();
    for (const follower of this.#followers) follower.end();
    await Promise.all(this.#nodes.map((node) => node.close()));
  }
}

const wordsOf = ({ kind, node, ms }: Fault): string =>
  `${kind}${node === undefined ? '' : ` ${node.name}`} for ${ms} ms`;

interface ShownOrder {
  readonly orderId: string;
  readonly quantity: number;
  readonly clientOrderId?: string;
}
