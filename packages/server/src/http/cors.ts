/** Cross-origin requests (D144): allowed origins, and preflight requests. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { routeEntries, type Route } from '@sandpit/protocol';

declare module 'fastify' {
  interface FastifyRequest {
    /** Headers that let the requesting page read the response: alternating names and values. */
    cors: readonly string[] | undefined;
  }
}

/** Methods of the API and of its dialects. */
const METHODS = [
  ...new Set([...routeEntries.map(([, { method }]: readonly [unknown, Route]) => method), 'PATCH']),
].join(', ');
const TAKEN = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-Request-Id',
  'APCA-API-KEY-ID',
  'APCA-API-SECRET-KEY',
  'Mcp-Protocol-Version',
  'Mcp-Session-Id',
].join(', ');
const SHOWN = [
  'Idempotent-Replayed',
  'Retry-After',
  'WWW-Authenticate',
  'X-Next-Cursor',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'X-Sandpit-Fault',
].join(', ');
/** Time for which a browser may cache a preflight answer. */
const MAX_AGE_SECONDS = 600;

/** Adds the CORS headers for an allowed origin; answers preflight requests itself. */
export function allowOrigin(
  origins: ReadonlySet<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (origins.size === 0) return false;
  const { origin } = request.headers;
  if (origin === undefined || !origins.has(origin)) {
    // A cache must not give one origin the response for another.
    request.cors = ['vary', 'Origin'];
    return false;
  }
  request.cors = [
    'vary',
    'Origin',
    'access-control-allow-origin',
    origin,
    'access-control-expose-headers',
    SHOWN,
  ];
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
    return false;
  reply.hijack();
  reply.raw.writeHead(204, [
    ...request.cors,
    'access-control-allow-methods',
    METHODS,
    'access-control-allow-headers',
    TAKEN,
    'access-control-max-age',
    String(MAX_AGE_SECONDS),
    'x-request-id',
    request.id,
  ]);
  reply.raw.end();
  return true;
}
