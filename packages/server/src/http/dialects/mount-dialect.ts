/** Routes and sockets of dialects, with admission, limits and faults as everywhere. */
import {
  type Credential,
  type Dialect,
  DialectRefusal,
  type DialectRoute,
  type CallRefusal,
  DialectRefused,
  Refused,
  type Reply,
  STREAMED,
  type StreamOptions,
} from '@sandpit/dialect-port';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MarketDataLimit } from '../../feeds/live-feed.js';
import { DamagedJournal, StoreUnavailable } from '../../store/journal.js';
import { PLAIN_BODY } from '../bodies/body-plan.js';
import { RefusedBody } from '../bodies/refused-body.js';
import { FILE_TYPES, NDJSON } from '../body.js';
import type { Faults } from '../faults.js';
import { send } from '../reply.js';
import { Connection } from '../stream/connection.js';
import type { Streams } from '../stream/streams.js';
import { type Admitted, Entry, type EntryDeps } from './entry.js';
import { headOf } from '../heads.js';
import type { Placement } from './ports.js';
import type { Sockets } from './sockets.js';
import { TUNNEL, tunnelsOf } from './tunnels.js';
import { DialectVisit } from './visits.js';

export interface DialectDeps extends EntryDeps {
  readonly sockets: Sockets;
  readonly streams: Streams;
  readonly faults: Faults;
  readonly log?: FastifyBaseLogger | undefined;
  /** In a cluster. */
  readonly placement?: Placement | undefined;
}

/** Bytes of a form. */
const MOST_OF_FORM = 65_536;
const FORM_BODY = { mostBytes: MOST_OF_FORM, lists: new Set<string>() };
const FORM = 'application/x-www-form-urlencoded';
/** Seconds after which a tenant with too many streams may try again. */
const RETRY_STREAM_SECONDS = 10;

/** Opens the sockets of a dialect under its prefix. Returns the registration of its routes, also under its prefix. */
export function mountDialect(dialect: Dialect, deps: DialectDeps): (app: FastifyInstance) => Promise<void> {
  const { sockets, streams, faults, keyPairs } = deps;
  const entry = new Entry(dialect, deps);
  const visited = { dialect, entry, keyPairs, streams, sockets, faults };
  for (const { path, greets = false, visit } of dialect.sockets)
    sockets.on(underPrefix(dialect, path), greets, (pending) => visit(new DialectVisit(pending, visited)));
  if (dialect.listener !== undefined)
    sockets.on(
      underPrefix(dialect, TUNNEL),
      false,
      tunnelsOf(dialect, dialect.listener, { ...deps, ...visited, log: deps.log }),
    );
  const takesForms = dialect.bodies[0] === 'form';
  return async (app) => {
    await app.register(
      (scope, _options, done) => {
        parseBodies(scope, dialect);
        scope.setErrorHandler((error, request, reply) => answerError(request, reply, error));
        scope.setNotFoundHandler((request, reply) =>
          answerError(request, reply, new DialectRefused({ kind: 'NOT_FOUND' })),
        );
        for (const { method, path, handle } of dialect.openRoutes ?? [])
          scope.route({
            method,
            url: path,
            config: { body: FORM_BODY },
            onRequest: (request, _reply, next) => {
              entry.admitAnyone(request);
              next();
            },
            handler: async (request, reply) => {
              const call = {
                head: headOf(dialect, request),
                query: request.query as Record<string, unknown>,
                body: request.body,
                grants: deps.grants,
              };
              await handle(call).then(
                (result) => sendReply(request, reply, result),
                (error: unknown) => answerError(request, reply, error),
              );
            },
          });
        for (const route of dialect.routes) {
          const admit = admissionOf(route);
          scope.route({
            method: route.method,
            url: route.path,
            config: { body: takesForms ? FORM_BODY : PLAIN_BODY },
            ...(route.credentialOfBody === undefined ? { onRequest: admit } : { preHandler: admit }),
            handler: (request, reply) => answer(request, reply, route),
          });
        }
        done();
      },
      { prefix: dialect.prefix },
    );
  };

  function admissionOf({ credentialOfBody }: DialectRoute) {
    return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
      const head = headOf(dialect, request);
      const credential: Credential | undefined =
        credentialOfBody?.(head, { ...(request.query as object), ...(request.body as object | undefined) }) ??
        dialect.credentialOf(head);
      entry.admit(request, credential).then(
        (admitted) => {
          request.admitted = admitted;
          next();
        },
        (error: unknown) => answerError(request, reply, error),
      );
    };
  }

  function answer(request: FastifyRequest, reply: FastifyReply, { handle }: DialectRoute): void {
    const { admitted, params, query, body } = request;
    if (admitted === undefined) throw new Error('a request without authentication');
    const call = {
      ...entry.deskOf(admitted, request, reply),
      head: headOf(dialect, request),
      params: params as Record<string, string>,
      query: query as Record<string, unknown>,
      body,
      openSession: (purpose: string) => deps.sessions.open(admitted.principal, purpose),
      refusalOf: dialectRefusalOf,
      stream: (options: StreamOptions = {}) => openStream(request, reply, admitted, options),
    };
    Promise.resolve(call)
      .then(handle)
      .then(
        (result) => {
          if (result !== STREAMED) sendReply(request, reply, result);
        },
        (error: unknown) => answerError(request, reply, error),
      );
  }

  /** Answers an error in the dialect's shape. Errors that the client did not cause are logged, without details in the answer. */
  function answerError(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    const head = headOf(dialect, request);
    if (error instanceof DialectRefusal) return sendReply(request, reply, error.reply);
    if (error instanceof Refused) return sendReply(request, reply, dialect.translate(error, head));
    const refusal = dialectRefusalOf(error);
    if (refusal === undefined) {
      const requestId = request.id;
      request.server.logger?.error({ err: error, requestId }, 'request failed');
    }
    sendReply(request, reply, dialect.refuse(refusal ?? { kind: 'INTERNAL' }, head));
  }

  function openStream(
    request: FastifyRequest,
    reply: FastifyReply,
    { pair, principal, simulation }: Admitted,
    { contentType, heartbeat, onHeartbeat }: StreamOptions,
  ) {
    const known = { pair, principal };
    const held: { connection?: DialectConnection } = {};
    const end = (): void => held.connection?.finish();
    const release = streams.hold({
      simulation,
      principal,
      end,
      heartbeat: () => {
        if (heartbeat !== undefined) held.connection?.write(heartbeat(), () => '');
        onHeartbeat?.();
      },
    });
    if (release === undefined)
      throw new DialectRefused({ kind: 'RATE_LIMITED', retryAfter: RETRY_STREAM_SECONDS });
    const stopWatching = keyPairs.onRevocation(() => {
      if (!entry.isGood(known)) end();
    });
    const opened = new DialectConnection(request, reply, contentType);
    held.connection = opened;
    opened.onClose(() => {
      stopWatching();
      release();
    });
    if (request.method === 'HEAD' || !entry.isGood(known)) end();
    return {
      get isOpen() {
        return opened.isOpen;
      },
      write: (text: string, id = '') => opened.write(text, () => id),
      drained: () => opened.drained(),
      inTurn: <T>(step: () => Promise<T>) => streams.inTurn(simulation, step),
      finish: end,
      onClose: (listener: () => void) => opened.onClose(listener),
    };
  }
}

/** A stream whose data are its events only: it ends without its own event. */
class DialectConnection extends Connection {
  override end(): void {
    this.finish();
  }
}

const sendReply = (request: FastifyRequest, reply: FastifyReply, { status, text, headers }: Reply): void =>
  send(request, reply, status, text, headers);

/** Answers a URL that the router cannot read in the shape of the dialect under whose prefix it is; false if it is under none. */
export function refusesUrl(
  dialects: readonly Dialect[],
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const dialect = dialects.find(
    ({ prefix, mirror }) => mirror === undefined && request.url.startsWith(`${prefix}/`),
  );
  if (dialect === undefined) return false;
  sendReply(request, reply, dialect.refuse({ kind: 'NOT_FOUND' }, headOf(dialect, request)));
  return true;
}

const underPrefix = ({ prefix }: Dialect, path: RegExp): RegExp =>
  new RegExp(`^${prefix}(?:${path.source.replace(/^\^/, '').replace(/\$$/, '')})$`);

/** The refusal for an error of the framework or the store; undefined for an internal error. */
function dialectRefusalOf(error: unknown): CallRefusal | undefined {
  if (error instanceof DialectRefused) return error.refusal;
  if (error instanceof StoreUnavailable || error instanceof DamagedJournal)
    return { kind: 'UNAVAILABLE', retryAfter: 1 };
  if (error instanceof MarketDataLimit) return { kind: 'MARKET_DATA_LIMIT', message: error.message };
  if (error instanceof RefusedBody) {
    const { status, headers } = error.answer;
    if (status === 413) return { kind: 'TOO_LARGE' };
    if (status === 429) return { kind: 'RATE_LIMITED', retryAfter: Number(headers?.['retry-after']) };
    return status === 503 ? { kind: 'UNAVAILABLE', retryAfter: 1 } : { kind: 'MALFORMED' };
  }
  const { statusCode } = error as { readonly statusCode?: unknown };
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
    ? { kind: 'MALFORMED' }
    : undefined;
}

/** Bodies of any other type are read as the first type of the dialect: many clients send none, or another. */
function parseBodies(scope: FastifyInstance, { bodies: [first, ...others] }: Dialect): void {
  scope.removeContentTypeParser(['*', ...FILE_TYPES, NDJSON]);
  if (first === 'form') scope.removeContentTypeParser('application/json');
  const forms = first === 'form' ? ['*', FORM, 'application/json'] : others.includes('form') ? [FORM] : [];
  if (forms.length > 0)
    scope.addContentTypeParser(forms, (request, payload, done) => {
      const { bodies } = request.server;
      bodies.readText(request, payload, (error, text) => done(error ?? null, formOf(text)));
    });
  if (first !== 'form')
    scope.addContentTypeParser('*', (request, payload, done) => {
      const { bodies } = request.server;
      bodies.readJson(request, payload, (error, body) => done(error ?? null, body));
    });
}

/** Fields of a form. Of a name that comes several times all values count. */
function formOf(text: string): Readonly<Record<string, string | string[]>> {
  const fields = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of new URLSearchParams(text)) {
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}
