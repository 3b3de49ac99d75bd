/** The response path of every request, with any outcome. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LONG_WORK } from '../engine/scheduling/long-work.js';
import { MarketDataLimit } from '../feeds/live-feed.js';
import { EphemeralFull } from '../store/ephemeral-cells.js';
import { DamagedJournal, RecordsMissing, StoreUnavailable } from '../store/journal.js';
import { addressOf } from './client-address.js';
import { RefusedBody, UNSUPPORTED_TYPE } from './bodies/refused-body.js';
import { type HttpErrorStatus, type Route, routes, statusNames } from '@sandpit/protocol';
import { BadCursor } from './translate/pages.js';
import {
  type Answer,
  EPHEMERAL_FULL,
  INTERNAL_ERROR,
  refuse,
  refuseCoded,
  ROUTE_NOT_FOUND,
  SERVICE_UNAVAILABLE,
  unavailable,
} from './answer.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** A request that was refused, and the body of the answer. */
export interface Refused {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly status: number;
  readonly text: string;
}
export type OnRefusal = (refused: Refused) => void;

/** Headers of every response. A response is private: no cache stores it, no page embeds it. */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Headers as the socket gets them: name and value in turn. */
const flat = (headers: Readonly<Record<string, string>>): readonly string[] => Object.entries(headers).flat();

const SECURITY = flat(SECURITY_HEADERS);
const OF_JSON = [...SECURITY, 'content-type', JSON_TYPE];

/**
 * Sends JSON text, or text of the content type that `headers` names, and counts the request. Writes directly to the socket: the framework's
 * processing of a response (hooks, serializers, checks of each header) is redundant here and costs a quarter of a small request.
 */
export function send(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  text: string,
  headers?: Readonly<Record<string, string>>,
): void {
  if (reply.sent) return;
  // Another node may own the tenant whose data was decided or read.
  if (status !== SERVICE_UNAVAILABLE.status && request.server.mayAnswer?.() === false)
    return send(
      request,
      reply,
      SERVICE_UNAVAILABLE.status,
      SERVICE_UNAVAILABLE.text,
      SERVICE_UNAVAILABLE.headers,
    );
  if (request.fault?.fault.drop === 'after') return hangUp(request, reply, status);
  reply.hijack();
  const { raw } = reply;
  const length = String(Buffer.byteLength(text));
  const type = headers?.['content-type'] === undefined ? OF_JSON : SECURITY;
  const all = [...type, ...ownHeaders(request), 'content-length', length];
  if (headers !== undefined) all.push(...flat(headers));
  // Refused before its body was received.
  const isEarly = !request.raw.complete && hasBody(request);
  if (isEarly) {
    const isLast = !raw.shouldKeepAlive;
    // The connection would end before the client has read the answer.
    raw.shouldKeepAlive = true;
    request.server.bodies.discardRest(request, isLast);
  }
  raw.writeHead(status, all);
  raw.end(text);
  counted(request, status);
  const { onRefusal } = request.server;
  if (status >= 400 && onRefusal !== undefined)
    onRefusal({ method: request.method, url: request.url, status, text });
}

export const hasBody = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Closes the connection of a request without an answer (D177). It is counted under `status`. */
export function hangUp(request: FastifyRequest, reply: FastifyReply, status: number): void {
  reply.hijack();
  reply.raw.destroy();
  counted(request, status);
}

/** A file that is stored compressed with Brotli. */
export class Brotli {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** Sends a file, compressed as far as the client accepts it. `headers` replace the security headers of the same names. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  content: string | Uint8Array | Brotli,
  headers: Readonly<Record<string, string>>,
): void {
  if (content instanceof Brotli && !accepts(request, 'br')) {
    decompressed(content.bytes).then(
      (bytes) => sendFile(request, reply, status, bytes, headers),
      (error: unknown) => failed(request, reply, error),
    );
    return;
  }
  reply.hijack();
  const { raw } = reply;
  const sendBytes = (bytes: string | Uint8Array, encoding: Readonly<Record<string, string>>): void => {
    if (raw.destroyed) return;
    const length = String(Buffer.byteLength(bytes));
    const all = { ...SECURITY_HEADERS, ...headers, ...encoding, 'content-length': length };
    raw.writeHead(status, [...flat(all), ...ownHeaders(request)]);
    raw.end(bytes);
    counted(request, status);
  };
  const vary = headers['vary'] === undefined ? 'Accept-Encoding' : `${headers['vary']}, Accept-Encoding`;
  if (content instanceof Brotli) return sendBytes(content.bytes, { vary, 'content-encoding': 'br' });
  if (Buffer.byteLength(content) < MIN_COMPRESSED_BYTES || !isCompressible(headers['content-type']))
    return sendBytes(content, {});
  if (!accepts(request, 'gzip')) return sendBytes(content, { vary });
  compressed(content).then(
    (bytes) => sendBytes(bytes, { vary, 'content-encoding': 'gzip' }),
    () => sendBytes(content, { vary }),
  );
}

/** A smaller file fits in one packet either way. */
const MIN_COMPRESSED_BYTES = 1400;

export const isCompressible = (type = ''): boolean =>
  /^(text\/|image\/svg|application\/(json|javascript))/.test(type);

const WITH_WEIGHT = String.raw`(?!\s*;\s*q=0(\.0*)?\s*(,|$))\s*(;|,|$)`;
const ACCEPTED = {
  br: new RegExp(String.raw`(^|[,\s])(br|\*)${WITH_WEIGHT}`, 'i'),
  gzip: new RegExp(String.raw`(^|[,\s])(gzip|\*)${WITH_WEIGHT}`, 'i'),
};

export const accepts = ({ headers }: FastifyRequest, encoding: 'br' | 'gzip'): boolean =>
  ACCEPTED[encoding].test(headers['accept-encoding'] ?? '');

const gzipped = promisify(gzip);
const decompressed = promisify(brotliDecompress);
/** Compressed forms of files that stay in memory. */
const kept = new WeakMap<Uint8Array, Promise<Uint8Array>>();

/** Compresses outside the main thread. */
function compressed(content: string | Uint8Array): Promise<Uint8Array> {
  if (typeof content === 'string') return gzipped(content);
  let bytes = kept.get(content);
  if (bytes === undefined) kept.set(content, (bytes = gzipped(content)));
  return bytes;
}

/** Headers of a single request: rate limits, request id, injected fault and CORS. */
function ownHeaders({ id, limits, cors, fault }: FastifyRequest): readonly string[] {
  const own = limits === undefined ? ['x-request-id', id] : [...limits, 'x-request-id', id];
  if (fault !== undefined) own.push('x-sandpit-fault', fault.faultId);
  return cors === undefined ? own : [...own, ...cors];
}

function counted(request: FastifyRequest, status: number): void {
  const { server, operation, beganMs } = request;
  const ms = beganMs === undefined ? 0 : performance.now() - beganMs;
  if (beganMs !== undefined) LONG_WORK.ended(beganMs);
  request.onAnswered?.();
  request.onAnswered = undefined;
  server.traffic?.count(operation ?? 'unknown', status, ms);
  server.recent?.count(performance.now(), status, ms);
  if (server.isAccessLogged) logAccess(request, status, ms);
}

/** One line for a request, without its body, its query and its token. */
function logAccess(request: FastifyRequest, status: number, ms: number): void {
  const { server, operation, method, id: requestId } = request;
  const tenant = (request.principal ?? request.admitted?.principal)?.tenantId;
  // A refused login is 401, regardless of the request.
  const isAudited =
    status === 401 || (operation !== undefined && (routes[operation] as Route).access.isAudited === true);
  server.logger?.info(
    {
      method,
      route: request.routeOptions.url ?? 'none',
      status,
      ms: Math.round(ms * 10) / 10,
      tenant,
      requestId,
      ...(isAudited && { audit: status === 401 ? 'refused login' : operation, address: addressOf(request) }),
    },
    'request',
  );
}

/** Turns the connection of a request into a stream and sends its head. */
export function beginStream(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
): ServerResponse {
  const { raw } = reply;
  if (request.fault?.fault.drop === 'after') {
    hangUp(request, reply, 200);
    return raw;
  }
  reply.hijack();
  raw.writeHead(200, [...SECURITY, ...ownHeaders(request), ...flat(headers)]);
  counted(request, 200);
  return raw;
}

/** Writes to a stream. Resolves when it accepts more, or its connection is closed; it has no more listeners then than before. */
export async function writeToStream(raw: ServerResponse, text: string): Promise<void> {
  if (raw.destroyed || raw.write(text)) return;
  const ended = new AbortController();
  const { signal } = ended;
  await Promise.race([once(raw, 'drain', { signal }), once(raw, 'close', { signal })]).catch(() => undefined);
  ended.abort();
}

/** Passes a response to a library that writes it to the socket itself, with the headers of every response. */
export function takeOver(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  const { raw } = reply;
  const writeHead = raw.writeHead.bind(raw) as (...args: unknown[]) => ServerResponse;
  // The remaining limit is known only then.
  raw.writeHead = (...args: unknown[]) => {
    if (request.fault?.fault.drop === 'after') {
      // The library continues writing to it.
      raw.on('error', () => undefined);
      return raw.destroy();
    }
    const all = [...SECURITY, ...ownHeaders(request)];
    for (let i = 0; i + 1 < all.length; i += 2) raw.setHeader(all[i] ?? '', all[i + 1] ?? '');
    return writeHead(...args);
  };
  raw.once('finish', () => counted(request, raw.statusCode));
  raw.once('close', () => request.onAnswered?.());
}

/** Sends a finished answer. */
export function reply(request: FastifyRequest, to: FastifyReply, answer: Answer): void {
  send(request, to, answer.status, answer.text, answer.headers);
}

/** Answers an error. Errors that the client did not cause are logged, without details in the answer. */
export function failed(request: FastifyRequest, to: FastifyReply, error: unknown): void {
  reply(request, to, answerForError(request, error));
}

function answerForError(request: FastifyRequest, error: unknown): Answer {
  if (error instanceof RefusedBody) return error.answer;
  if (error instanceof RecordsMissing) return unavailable(error.message);
  if (error instanceof EphemeralFull) return EPHEMERAL_FULL;
  if (error instanceof StoreUnavailable) return SERVICE_UNAVAILABLE;
  if (error instanceof MarketDataLimit)
    return refuseCoded('MARKET_DATA_LIMIT', error.message, { limit: error.limit });
  if (error instanceof DamagedJournal) {
    request.simulation?.takeOutOfService(error.message);
    return SERVICE_UNAVAILABLE;
  }
  if (error instanceof BadCursor) return refuse(400, [error.message]);
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
  const known = typeof code === 'string' ? BY_CODE[code] : undefined;
  if (known !== undefined) return known;
  // The client has disconnected: the answer has no reader.
  if (request.raw.destroyed && !request.raw.complete) return MALFORMED;
  // An error that the framework attributes to the client.
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) return refusalOf(statusCode);
  const { id: requestId, operation } = request;
  request.server.logger?.error({ err: error, requestId, operation }, 'request failed');
  return INTERNAL_ERROR;
}

const MALFORMED = refuse(400, 'Malformed request');

const isErrorStatus = (status: number): status is HttpErrorStatus => Object.hasOwn(statusNames, status);

const refusalOf = (status: number): Answer =>
  isErrorStatus(status) ? refuse(status, statusNames[status]) : MALFORMED;

/** Answers to the framework's own errors, by code. */
const BY_CODE: Readonly<Partial<Record<string, Answer>>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: UNSUPPORTED_TYPE.answer,
  FST_ERR_BAD_URL: refuse(400, 'Malformed URL'),
  // A path that leads out of the pages is one that is not there.
  FST_STATIC_FORBIDDEN_PATH: ROUTE_NOT_FOUND,
};
