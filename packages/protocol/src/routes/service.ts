import { AccessToken, StreamTicket, TokenRequest } from '../auth.js';
import { Health, Readiness } from '../health.js';
import { Quote } from '../market-data.js';
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
    description: 'An unknown key is 401 `Invalid API Key`.',
    auth: 'none',
    body: TokenRequest,
    responses: { 200: AccessToken },
    errors: [401],
  },
  getHealth: {
    method: 'GET',
    path: '/v1/health',
    tag: 'Service',
    summary: 'Say whether the service is operational',
    auth: 'none',
    responses: { 200: Health, 503: Health },
  },
  getReadiness: {
    method: 'GET',
    path: '/v1/ready',
    tag: 'Service',
    summary: 'Say whether the service takes requests, and why not',
    auth: 'none',
    responses: { 200: Readiness, 503: Readiness },
  },
  createStreamTicket: {
    method: 'POST',
    path: '/v1/stream/ticket',
    tag: 'Streams',
    summary: 'Get a ticket that opens one stream',
    description:
      'For browsers, whose EventSource cannot send a bearer. Good for 30 seconds, then for the stream and query that it opens first, until 60 seconds after that stream ended: a browser can reconnect by itself.',
    auth: 'bearer',
    scope: 'read',
    responses: { 201: StreamTicket },
  },
  streamOrders: {
    method: 'GET',
    path: '/v1/stream/orders',
    aliases: { followOrders: '/v1/orders/stream' },
    tag: 'Streams',
    summary: 'Follow orders',
    description: 'With `Last-Event-ID` everything missed comes first, in order, without gap or duplicate.',
    auth: 'ticket',
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
    summary: 'Follow portfolios',
    description: 'A snapshot at once, then at most one per portfolio per second while something changes.',
    auth: 'ticket',
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
    summary: 'Follow quotes',
    description:
      'The latest quote of each symbol at once, then whenever it changes, at most ten a second each. A symbol that has no quote yet is told with its first.',
    auth: 'ticket',
    scope: 'read',
    query: QuoteStreamQuery,
    responses: { 200: Quote },
    events: ['quote', 'heartbeat', 'error'],
  },
});
