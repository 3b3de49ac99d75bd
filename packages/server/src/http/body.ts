/** Parsers of request bodies: JSON by default, and files on routes that accept them. */
import type { Readable } from 'node:stream';
import { type OperationId, type Route, routes } from '@sandpit/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Bodies } from './bodies/bodies.js';
import { UNSUPPORTED_TYPE } from './bodies/refused-body.js';

/** Lines of JSON. */
export const NDJSON = 'application/x-ndjson';

/** Types of files that a route may accept instead of JSON. */
export const FILE_TYPES = ['text/csv', 'text/plain'];

type Done = (error: Error | null, body?: unknown) => void;

/** True for operations that accept lines of JSON only; their handlers refuse any other body. */
export function takesLines(id: OperationId | undefined): boolean {
  const route: Route | undefined = id && routes[id];
  return route?.upload === true;
}

function takesFile(id: OperationId | undefined): boolean {
  const route: Route | undefined = id && routes[id];
  return route?.takesFile === true;
}

const isEncoded = ({ headers }: FastifyRequest): boolean =>
  headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity';

/** True when the body does not matter: its path has no route, or it is empty. */
const isIgnored = (request: FastifyRequest): boolean =>
  request.is404 || takesLines(request.operation) || request.headers['content-length'] === '0';

/**
 * Names such as `__proto__` need no care here: a parsed object has them as its own, every schema is closed, and the validator refuses
 * own names that it does not know.
 */
export function parseJsonBodies(app: FastifyInstance, bodies: Bodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    // Many clients send a content type without a body: harmless if no body is expected.
    if (isIgnored(request)) done(null, undefined);
    else if (isEncoded(request)) done(UNSUPPORTED_TYPE);
    else bodies.readJson(request, payload, (error, body) => done(error ?? null, body));
  });
  // The handler reads it as it comes.
  app.addContentTypeParser(NDJSON, (request, payload, done) => {
    if (takesLines(request.operation) && !isEncoded(request)) done(null, payload);
    else done(UNSUPPORTED_TYPE);
  });
  app.addContentTypeParser(FILE_TYPES, (request, payload, done) => {
    if (isIgnored(request)) done(null, undefined);
    else if (!takesFile(request.operation) || isEncoded(request)) refuseUnlessEmpty(request, payload, done);
    else
      bodies.readText(request, payload, (error, text) =>
        done(error ?? null, text === '' ? undefined : { file: text }),
      );
  });
  app.addContentTypeParser('*', (request, payload, done) => {
    if (isIgnored(request)) done(null, undefined);
    else refuseUnlessEmpty(request, payload, done);
  });
}

/** Refuses a body of a type that the route does not accept. One without a length may turn out to be empty. */
function refuseUnlessEmpty({ headers }: FastifyRequest, payload: Readable, done: Done): void {
  if (headers['content-length'] !== undefined) return done(UNSUPPORTED_TYPE);
  const settle = (error: Error | null): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onData);
    done(error);
  };
  const onData = (): void => settle(UNSUPPORTED_TYPE);
  const onEnd = (): void => settle(null);
  payload.on('data', onData).on('end', onEnd).on('error', onData);
}
