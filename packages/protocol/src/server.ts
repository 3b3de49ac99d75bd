/** Figures of a server for its operator, and the limits that an operator may change. */
import { type Static, Type } from 'typebox';
import { anyText, closed, count, integer, number, optional } from './fields.js';

export const ServerLimits = closed('ServerLimits', {
  requestsPerMinute: count({ description: 'Requests per minute that a tenant may send to a route.' }),
  configured: count({
    description: '`RATE_LIMIT_DEFAULT` of the server, in force unless an operator has set another limit.',
  }),
});
export type ServerLimits = Static<typeof ServerLimits>;

export const ServerLimitsBody = closed(
  'ServerLimitsBody',
  {
    requestsPerMinute: Type.Union([integer(10, 10_000_000), Type.Null()], {
      description:
        'Requests per minute of a tenant on a route, 10 to 10,000,000; `null` = the setting of the server.',
    }),
  },
  { examples: [{ requestsPerMinute: 600 }] },
);
export type ServerLimitsBody = Static<typeof ServerLimitsBody>;

const rate = (description: string) => number({ description });

export const ServerFigures = closed('ServerFigures', {
  nodeId: anyText({ description: 'The node that answers.' }),
  uptimeSeconds: count({ description: 'Time since the start of the process.' }),
  traffic: closed('ServerTraffic', {
    requestsPerSecond: rate('Answers per second, over the last minute.'),
    failuresPerSecond: rate('Answers per second with a status of 500 or above, over the last minute.'),
    ordersPerSecond: rate('Accepted orders per second, over the last minute.'),
    ordersAccepted: count({ description: 'Orders accepted since the start of the process.' }),
    p50Ms: optional(
      rate('Median time to an answer in the last minute, in milliseconds, at most 10 % too high.'),
    ),
    p99Ms: optional(
      rate('99th percentile of the time to an answer, in milliseconds, at most 10 % too high.'),
    ),
    streams: count({ description: 'Open streams of server-sent events.' }),
  }),
  cells: closed('ServerCells', {
    all: count({ description: 'Simulations that are stored, `main` of each tenant included.' }),
    inMemory: count({ description: 'Simulations in memory.' }),
    openOrders: count({ description: 'Open orders of the simulations in memory.' }),
    outOfService: count({ description: 'Simulations that are out of service.' }),
  }),
  memory: closed('ServerMemory', {
    residentBytes: count({ description: 'Memory of the process, all threads included.' }),
    heapBytes: count({ description: 'Used heap of the main thread.' }),
  }),
  disk: optional(
    closed('ServerDisk', {
      dataBytes: count({
        description: 'Size of journal, history and webhooks; 0 where PostgreSQL keeps them.',
      }),
      freeBytes: count({ description: 'Free space where the data directory is.' }),
    }),
  ),
  store: closed('ServerStore', {
    waiting: count({ description: 'Writes that wait for their commit.' }),
    historyBehind: count({ description: 'Records that lists do not show yet.' }),
  }),
  webhooks: closed('ServerWebhooks', {
    enabled: count({ description: 'Enabled webhooks of all tenants of this node.' }),
    delivered: count({ description: 'Events that receivers accepted, since the start.' }),
    failed: count({ description: 'Attempts that failed, since the start.' }),
    backlog: count({ description: 'Events and records that wait for their first attempt.' }),
  }),
  limits: ServerLimits,
});
export type ServerFigures = Static<typeof ServerFigures>;
