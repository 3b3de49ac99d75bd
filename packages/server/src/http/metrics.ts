import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Simulations } from '../engine/directory/simulations.js';
import { type FeedStatus, isLive, type LiveFeed } from '../feeds/live-feed.js';
import type { Store } from '../store/store.js';
import { dataBytes, freeBytes } from './data-size.js';
import { NO_SCHEMAS } from './no-schemas.js';
import { clockAheadMs } from './routes/service.js';

/** Seconds. Most requests wait for one commit. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Counts responses by operation and status. */
export class Traffic {
  readonly registry = new Registry();
  readonly #requests = new Counter({
    name: 'sandpit_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['operation', 'status'],
    registers: [this.registry],
  });
  readonly #seconds = new Histogram({
    name: 'sandpit_http_request_seconds',
    help: 'Time from the head of a request to its answer; of a stream to its head.',
    buckets: BUCKETS,
    registers: [this.registry],
  });
  /** Counted separately, because labels are looked up by name at every call. */
  readonly #counts = new Map<string, Map<number, number>>();

  count(operation: string, status: number, ms: number): void {
    let statuses = this.#counts.get(operation);
    if (statuses === undefined) this.#counts.set(operation, (statuses = new Map<number, number>()));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    this.#seconds.observe(ms / 1000);
  }

  /** In the text format of Prometheus. */
  async text(): Promise<string> {
    this.#requests.reset();
    for (const [operation, statuses] of this.#counts) {
      for (const [status, count] of statuses) this.#requests.inc({ operation, status }, count);
    }
    return this.registry.metrics();
  }
}

/** `GET /metrics`, for a separate port that is not public. */
export function createMetricsServer(traffic: Traffic, sources: MetricSources): FastifyInstance {
  const { registry } = traffic;
  const { store } = sources;
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'sandpit_store_ok',
    help: '1 while the store commits.',
    registers: [registry],
    collect() {
      this.set(store.health().status === 'ok' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'sandpit_store_waiting',
    help: 'Appends and changes that wait to become durable.',
    registers: [registry],
    collect() {
      this.set(store.health().waiting);
    },
  });
  collectHistory(registry, store);
  collectServer(registry, sources);
  collectWebhooks(registry, sources);
  collectNode(registry, sources);
  const server = fastify({ logger: false, schemaController: NO_SCHEMAS });
  // Bodies have no meaning here.
  server.removeAllContentTypeParsers();
  server.get('/metrics', async (_request, reply) => {
    reply.header('content-type', registry.contentType);
    return traffic.text();
  });
  return server;
}

/** How often a node has begun, for metrics. A node that is removed from its cluster begins again in the same process. */
export interface BeginningFigures {
  readonly begun: number;
  readonly failed: number;
  readonly evicted: number;
}

/** Sources of the metrics. */
export interface MetricSources {
  readonly store: Store;
  readonly simulations: Simulations;
  readonly dataDir: string;
  readonly clockMs: () => number;
  readonly openStreams: () => number;
  readonly webhookFigures: FastifyInstance['webhookFigures'];
  readonly beginnings: BeginningFigures;
}

function collectServer(
  registry: Registry,
  { simulations, dataDir, clockMs, openStreams }: MetricSources,
): void {
  const gauge = (name: string, help: string, value: () => number | Promise<number>): void => {
    new Gauge({
      name: `sandpit_${name}`,
      help,
      registers: [registry],
      async collect() {
        this.set(await value());
      },
    });
  };
  gauge('streams', 'Streams of server-sent events that are open.', openStreams);
  gauge(
    'simulations_in_memory',
    'Simulations in memory, main included.',
    async () => (await simulations.directory.figures()).count,
  );
  gauge(
    'open_orders',
    'Open orders of the simulations in memory.',
    async () => (await simulations.directory.figures()).openOrders,
  );
  gauge(
    'clock_ahead_seconds',
    'How far the market, or a main that follows it, is ahead of the clock of the machine, where it follows that.',
    () => Math.max(...simulations.onMarket.map((one) => clockAheadMs(one, clockMs()))) / 1000,
  );
  const { feed } = simulations.market;
  if (isLive(feed)) collectFeed(registry, feed);
  gauge('disk_free_bytes', 'Room that is left where the data directory is.', () => freeBytes(dataDir));
  gauge('data_bytes', 'Size of the journal, with the webhooks, and the history.', () => dataBytes(dataDir));
  gauge('checkpoint_age_seconds', 'Time since the latest checkpoint; -1 before the first.', async () => {
    const folder = join(dataDir, 'checkpoints');
    const files = await readdir(folder).catch(() => []);
    const times = await Promise.all(
      files.map(async (file) => (await stat(join(folder, file)).catch(() => undefined))?.mtimeMs ?? 0),
    );
    return times.length === 0 ? -1 : (Date.now() - Math.max(...times)) / 1000;
  });
}

/** The connection to a source of live market data (D183). */
function collectFeed(registry: Registry, feed: LiveFeed): void {
  const gauge = (name: string, help: string, value: (status: FeedStatus) => number): void => {
    new Gauge({
      name: `sandpit_feed_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(value(feed.status()));
      },
    });
  };
  const status = new Gauge({
    name: 'sandpit_feed_status',
    help: '1 for the status of the connection to the source of market data, 0 for the others.',
    labelNames: ['status', 'source', 'halts'],
    registers: [registry],
    collect() {
      const now = feed.status();
      for (const one of ['connected', 'reconnecting', 'refused'])
        status.set({ status: one, source: now.source, halts: now.halts }, one === now.status ? 1 : 0);
    },
  });
  gauge(
    'status_since_seconds',
    'Unix time since when the status is what it is.',
    ({ sinceMs }) => sinceMs / 1000,
  );
  gauge(
    'last_message_seconds',
    'Unix time of the latest message; 0 before the first.',
    ({ lastMessageAtMs = 0 }) => lastMessageAtMs / 1000,
  );
  gauge('symbols', 'Symbols subscribed now.', ({ symbols }) => symbols);
  gauge('symbol_limit', 'Symbols that the plan allows at once; -1 = no limit.', ({ limit = -1 }) => limit);
  gauge('delayed_by_seconds', 'How far the market is behind real time.', ({ delayedBy }) => delayedBy);
  const messages = new Gauge({
    name: 'sandpit_feed_messages',
    help: 'Messages since the start by kind, and reconnections; late, duplicate, crossed and malformed ones change nothing. Kind `adjusted` counts adjusted contracts of chains that are left out because their deliverable is unknown.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const [kind, count] of Object.entries(feed.status().counts))
        messages.set({ kind }, count as number);
    },
  });
}

function collectHistory(registry: Registry, { history }: Store): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name: `sandpit_history_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  };
  gauge('ok', '1 while questions about the past can be answered and history keeps up.', () =>
    history.health().status === 'ok' ? 1 : 0,
  );
  gauge(
    'behind_records',
    'Durable records that history does not tell of yet.',
    () => history.health().behind,
  );
  gauge('waits', 'Reads that had to wait for history, since the start.', () => history.health().waits.count);
  gauge('wait_seconds', 'How long they waited, in all.', () => history.health().waits.totalMs / 1000);
  gauge('longest_wait_seconds', 'The longest of these waits.', () => history.health().waits.longestMs / 1000);
}

/** Beginnings and failures of a node (D225). */
function collectNode(registry: Registry, { store, simulations, beginnings }: MetricSources): void {
  const counter = (name: string, help: string, value: () => number): void => {
    new Counter({
      name: `sandpit_node_${name}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  };
  counter('begun', 'Beginnings of this node since the start of the process.', () => beginnings.begun);
  counter('failed_beginnings', 'Attempts to begin that failed.', () => beginnings.failed);
  counter('evictions', 'Removals of this node from its cluster.', () => beginnings.evicted);
  counter(
    'tenants_taken_over',
    'Tenants that this node has acquired since it began.',
    () => store.ownership?.figures().tenantsAcquired ?? 0,
  );
  counter(
    'commits_in_doubt',
    'Commits without an answer of the database since the node began.',
    () => store.ownership?.figures().commitsInDoubt ?? 0,
  );
  new Gauge({
    name: 'sandpit_database_connections',
    help: 'Connections of the main thread to the database.',
    registers: [registry],
    collect() {
      this.set(store.ownership?.figures().connections ?? 0);
    },
  });
  new Gauge({
    name: 'sandpit_simulations_out_of_service',
    help: 'Simulations that are out of service.',
    registers: [registry],
    collect() {
      this.set(simulations.outOfService.list().length);
    },
  });
}

function collectWebhooks(registry: Registry, { webhookFigures }: MetricSources): void {
  const counter = (name: string, help: string, value: () => number): void => {
    new Counter({
      name: `sandpit_webhook_${name}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  };
  counter('deliveries', 'Events that receivers accepted, since the start.', () => webhookFigures().delivered);
  counter('failures', 'Tries that failed, since the start.', () => webhookFigures().failed);
  new Gauge({
    name: 'sandpit_webhook_backlog',
    help: 'Events that wait for a try, and records that webhooks have not read.',
    registers: [registry],
    collect() {
      this.set(webhookFigures().backlog);
    },
  });
  new Gauge({
    name: 'sandpit_webhooks_enabled',
    help: 'Webhooks that are enabled.',
    registers: [registry],
    collect() {
      this.set(webhookFigures().enabled);
    },
  });
}
