import { hostname } from 'node:os';
import { PLACED } from '../../engine/simulation/order-meter.js';
import type { Simulations } from '../../engine/directory/simulations.js';
import type { Store } from '../../store/store.js';
import type { Handlers } from '../call.js';
import { dataBytes, freeBytes } from '../data-size.js';
import type { RecentTraffic } from '../recent-traffic.js';
import type { RequestLimit } from '../request-limit.js';

interface ServerDeps {
  readonly store: Store;
  readonly simulations: Simulations;
  readonly monotonicMs: () => number;
  readonly recent: RecentTraffic;
  readonly limit: RequestLimit;
  readonly openStreams: () => number;
  readonly webhookFigures: () => {
    readonly delivered: number;
    readonly failed: number;
    readonly backlog: number;
    readonly enabled: number;
  };
  /** Absent = the data is in memory. */
  readonly dataDir?: string | undefined;
  readonly nodeId?: string | undefined;
}

/** Figures of the node that answers, and the limit of requests. */
export function serverHandlers(deps: ServerDeps): Pick<Handlers, 'getServer' | 'updateServerLimits'> {
  const { store, simulations, limit, dataDir } = deps;
  const limits = () => ({ requestsPerMinute: limit.perMinute, configured: limit.configured });
  return {
    async getServer() {
      const nowMs = performance.now();
      const recent = deps.recent.figures(nowMs);
      const { count, openOrders } = await simulations.directory.figures();
      const memory = process.memoryUsage();
      const disk =
        dataDir === undefined
          ? undefined
          : await Promise.all([dataBytes(dataDir), freeBytes(dataDir)]).catch(() => undefined);
      const { enabled, delivered, failed, backlog } = deps.webhookFigures();
      return {
        nodeId: deps.nodeId ?? hostname(),
        uptimeSeconds: Math.floor(process.uptime()),
        traffic: {
          requestsPerSecond: recent.requests,
          failuresPerSecond: recent.failures,
          ordersPerSecond: PLACED.rate(nowMs),
          ordersAccepted: PLACED.total,
          ...(recent.p50Ms !== undefined && { p50Ms: recent.p50Ms }),
          ...(recent.p99Ms !== undefined && { p99Ms: recent.p99Ms }),
          streams: deps.openStreams(),
        },
        cells: {
          all: store.registry.simulations().filter(({ tenantId }) => tenantId !== null).length,
          inMemory: count,
          openOrders,
          outOfService: simulations.outOfService.list().length,
        },
        memory: { residentBytes: memory.rss, heapBytes: memory.heapUsed },
        ...(disk !== undefined && { disk: { dataBytes: disk[0], freeBytes: disk[1] } }),
        store: { waiting: store.health().waiting, historyBehind: store.history.health().behind },
        webhooks: { enabled, delivered, failed, backlog },
        limits: limits(),
      };
    },

    async updateServerLimits({ body }) {
      // A body's null has become absent.
      await limit.change(body.requestsPerMinute ?? null);
      return limits();
    },
  };
}
