import { AgentToken, AgentTokenBody } from '../agent-tokens.js';
import { AccessToken, StreamTicket, TokenRequest } from '../auth.js';
import { ClusterQuery, ClusterState } from '../cluster.js';
import { Health, Readiness } from '../health.js';
import { Quote } from '../market-data.js';
import { ServerFigures, ServerLimits, ServerLimitsBody } from '../server.js';
import {
  OrderStreamQuery,
  OrderUpdate,
  PortfolioStreamQuery,
  PortfolioUpdate,
  QuoteStreamQuery,
} from '../streams.js';
import { table } from './route.js';

export const serviceRoutes = table({
  exchangeToken: {
    method: 'POST',
    path: '/v1/auth/token',
    tag: 'Service',
    summary: 'Exchange an API key for a token',
    description:
      'Returns a bearer token for an API key. An unknown or revoked key answers 401 `Invalid API Key`.',
    auth: 'none',
    access: { about: 'none', contest: 'none', agents: 'byScope', isAudited: true },
    body: TokenRequest,
    responses: { 200: AccessToken },
    errors: [401],
  },
  createAgentToken: {
    method: 'POST',
    path: '/v1/auth/agent-token',
    tag: 'Service',
    summary: 'Create a token for an agent',
    description:
      'Issues a token with fewer rights for the same tenant and simulation. Levels: `read`; `preview` also previews orders; `capped` trades within caps; `full` has all rights of scope `trade`; `control` also creates and controls simulations. Tokens of agents cannot issue tokens.',
    auth: 'bearer',
    access: { about: 'simulation', contest: 'none', agents: 'never', isAudited: true },
    scope: 'read',
    body: AgentTokenBody,
    responses: { 201: AgentToken },
    errors: [409],
    codes: ['LEVEL_TOO_LOW'],
  },
  getHealth: {
    method: 'GET',
    path: '/v1/health',
    tag: 'Service',
    summary: 'Get the health of the service',
    description: 'Returns whether the service can commit, tested within the last second; 503 if not.',
    auth: 'none',
    access: { about: 'none', contest: 'both', agents: 'byScope' },
    limit: 100,
    responses: { 200: Health, 503: Health },
  },
  getReadiness: {
    method: 'GET',
    path: '/v1/ready',
    tag: 'Service',
    summary: 'Get the readiness of the service',
    description: 'Returns whether the service accepts requests, with reasons; 503 if not.',
    auth: 'none',
    access: { about: 'none', contest: 'both', agents: 'byScope' },
    responses: { 200: Readiness, 503: Readiness },
  },
  getCluster: {
    method: 'GET',
    path: '/v1/cluster',
    tag: 'Service',
    summary: 'Get the nodes of the cluster',
    description:
      'Returns the nodes that share the database, their tenants with epochs, and their replication progress. With `tenantId` also the simulations of that tenant. A server without a cluster returns itself as the only node.',
    auth: 'bearer',
    access: { about: 'none', contest: 'none', agents: 'never' },
    scope: 'operator',
    query: ClusterQuery,
    responses: { 200: ClusterState },
  },
  getServer: {
    method: 'GET',
    path: '/v1/server',
    tag: 'Service',
    summary: 'Get figures of the server',
    description:
      'Returns rates and times of the last minute, simulations, memory, disk and webhooks of the node that answers, and the limit of requests. For monitoring over time use the metrics of `METRICS_PORT`.',
    auth: 'bearer',
    access: { about: 'none', contest: 'none', agents: 'never' },
    scope: 'operator',
    responses: { 200: ServerFigures },
  },
  updateServerLimits: {
    method: 'PUT',
    path: '/v1/server/limits',
    tag: 'Service',
    summary: 'Change the limits of the server',
    description:
      'Sets the requests per minute that a tenant may send to a route, on every node, at once and over restarts. Routes with a limit of their own keep it. `null` returns to `RATE_LIMIT_DEFAULT`.',
    auth: 'bearer',
    access: { about: 'none', contest: 'none', agents: 'never', isAudited: true },
    scope: 'operator',
    body: ServerLimitsBody,
    responses: { 200: ServerLimits },
  },
  createStreamTicket: {
    method: 'POST',
    path: '/v1/stream/ticket',
    tag: 'Streams',
    summary: 'Create a stream ticket',
    description:
      'Issues a ticket for one stream, for browsers whose EventSource cannot send a bearer token. Valid for 30 seconds, then for reconnects of the same stream and query until 60 seconds after the stream ended.',
    auth: 'bearer',
    access: { about: 'simulation', contest: 'both', agents: 'byScope' },
    scope: 'read',
    responses: { 201: StreamTicket },
  },
  streamOrders: {
    method: 'GET',
    path: '/v1/stream/orders',
    aliases: { followOrders: '/v1/orders/stream' },
    tag: 'Streams',
    summary: 'Stream order events',
    description:
      'Streams every event of the orders of the tenant as server-sent events. With `Last-Event-ID` the missed events come first, in order, without gaps or duplicates.',
    auth: 'ticket',
    access: { about: 'simulation', contest: 'entry', agents: 'byScope' },
    scope: 'read',
    query: OrderStreamQuery,
    responses: { 200: OrderUpdate },
    events: ['order-update', 'heartbeat', 'reset', 'error'],
    errors: [404],
  },
  streamPortfolios: {
    method: 'GET',
    path: '/v1/stream/portfolios',
    aliases: { streamPortfolio: '/v1/stream/portfolio' },
    tag: 'Streams',
    summary: 'Stream portfolios',
    description:
      'Streams a snapshot of each portfolio at once, then an update when something changes, at most one per portfolio and second.',
    auth: 'ticket',
    access: { about: 'simulation', contest: 'entry', agents: 'byScope' },
    scope: 'read',
    query: PortfolioStreamQuery,
    responses: { 200: PortfolioUpdate },
    events: ['portfolio-update', 'heartbeat', 'error'],
    errors: [404],
  },
  streamQuotes: {
    method: 'GET',
    path: '/v1/stream/quotes',
    tag: 'Streams',
    summary: 'Stream quotes',
    description:
      'Streams the latest quote of each symbol at once, then each change, at most ten per symbol and second. `halt` and `resume` tell of trading halts, `alert` of price alerts on these symbols that fire from now on.',
    auth: 'ticket',
    access: { about: 'simulation', contest: 'both', agents: 'byScope' },
    scope: 'read',
    query: QuoteStreamQuery,
    responses: { 200: Quote },
    events: ['quote', 'halt', 'resume', 'alert', 'heartbeat', 'error'],
  },
});
