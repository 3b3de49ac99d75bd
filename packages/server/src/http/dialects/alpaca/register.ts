/** Mounts the dialect: its paths, without fields of `/v1` in its responses. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { KeyPairs } from '../../../access/key-pairs.js';
import { FILE_TYPES, NDJSON } from '../../body.js';
import type { Faults } from '../../faults.js';
import { send } from '../../reply.js';
import type { HttpDeps } from '../../settings.js';
import { type Operations, Refused } from '../operations.js';
import { DataStream } from './data-stream.js';
import { type Admitted, Entry } from './entry.js';
import type { Sockets } from '../sockets.js';
import type { Simulation } from '../../../engine/simulation.js';
import type { Streams } from '../../stream/streams.js';
import { LiveData } from './live-data.js';
import { AlpacaStore } from './alpaca-store.js';
import {
  type AlpacaRefusal,
  internalError,
  malformed,
  notFound,
  refusalOfError,
  translated,
} from './refusals.js';
import { AlpacaAnswer, type AlpacaHandler, Fields, STREAMED } from './request.js';
import { alpacaRoutes, alpacaStreams } from './routes.js';
import { TradeUpdates } from './trade-updates.js';

const ALPACA = '/alpaca';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key pair of an authorized Alpaca request. */
    admitted: Admitted | undefined;
  }
}

export interface AlpacaDeps extends HttpDeps {
  readonly operations: Operations;
  readonly keyPairs: KeyPairs;
  readonly sockets: Sockets;
  readonly streams: Streams;
  readonly faults: Faults;
  readonly isDraining: () => boolean;
}

/** Registers the routes of Alpaca's REST APIs under their prefix. */
export async function registerAlpaca(app: FastifyInstance, deps: AlpacaDeps): Promise<void> {
  const entry = new Entry(deps, deps.keyPairs, deps.isDraining);
  const kept = new AlpacaStore(deps.store.registry);
  const { keyPairs, sockets, streams, faults } = deps;
  const login = { entry, kept, keyPairs, streams, sockets, faults };
  const live = new WeakMap<Simulation, LiveData>();
  const liveOf = (simulation: Simulation): LiveData => {
    const data = live.get(simulation) ?? new LiveData(simulation, deps.clockMs);
    live.set(simulation, data);
    return data;
  };
  sockets.on(/^\/alpaca\/stream$/, (visit) => new TradeUpdates(visit, login));
  sockets.on(
    /^\/alpaca\/(v2\/(test|iex|sip|delayed_sip)|v1beta1\/(indicative|opra))$/,
    (visit) => new DataStream(visit, login, liveOf),
  );
  app.decorateRequest('admitted', undefined);
  await app.register(
    (scope, _options, done) => {
      parseAnyTypeAsJson(scope);
      scope.setErrorHandler((error, request, reply) => answerError(request, reply, error));
      scope.setNotFoundHandler((request, reply) =>
        answerError(request, reply, notFound('endpoint not found')),
      );
      const admit = (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
        entry.admit(request).then(
          (admitted) => {
            request.admitted = admitted;
            next();
          },
          (error: unknown) => answerError(request, reply, error),
        );
      };
      for (const [method, url, handler] of [...alpacaRoutes, ...alpacaStreams]) {
        scope.route({
          method,
          url,
          onRequest: admit,
          handler: (request, reply) => answer(request, reply, handler),
        });
      }
      done();
    },
    { prefix: ALPACA },
  );

  function answer(request: FastifyRequest, reply: FastifyReply, handler: AlpacaHandler): void {
    const { admitted, params, query, body } = request;
    if (admitted === undefined) throw new Error('a request without authentication');
    const call = {
      ...admitted,
      request,
      reply,
      operations: deps.operations,
      kept,
      streams,
      keyPairs,
      params: params as Record<string, string>,
      query: new Fields(query),
      body: new Fields(body),
    };
    Promise.resolve(call)
      .then(handler)
      .then(
        (result) => {
          if (result === STREAMED) return;
          if (!(result instanceof AlpacaAnswer)) send(request, reply, 200, JSON.stringify(result));
          else
            send(request, reply, result.status, result.body === undefined ? '' : JSON.stringify(result.body));
        },
        (error: unknown) => answerError(request, reply, error),
      );
  }
}

/** Bodies are JSON regardless of their content type: many clients send none. */
function parseAnyTypeAsJson(scope: FastifyInstance): void {
  scope.removeContentTypeParser(['*', ...FILE_TYPES, NDJSON]);
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
    if (text === '') return done(null, undefined);
    try {
      done(null, JSON.parse(String(text)));
    } catch {
      done(malformed);
    }
  });
}

/** Answers an error in the dialect's shape. Errors that the client did not cause are logged, without details in the answer. */
function answerError(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const refusal = error instanceof Refused ? translated(error) : refusalOfError(error);
  if (refusal === undefined) {
    const requestId = request.id;
    request.server.logger?.error({ err: error, requestId }, 'request failed');
  }
  const { status, body, headers }: AlpacaRefusal = refusal ?? internalError;
  send(request, reply, status, JSON.stringify(body), headers);
}
