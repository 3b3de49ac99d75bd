import fastify, { type FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Store } from '../store/store.js';

/** Seconds. Most requests wait for one commit. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** What came in and how it went, counted on the way out. */
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
  /** Counted apart, because labels are looked up by name at every call. */
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

/** `GET /metrics`, for a port of its own that the public does not reach. */
export function createMetricsServer(traffic: Traffic, store: Store): FastifyInstance {
  const { registry } = traffic;
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
  const server = fastify({ logger: false });
  server.get('/metrics', async (_request, reply) => {
    reply.header('content-type', registry.contentType);
    return traffic.text();
  });
  return server;
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
