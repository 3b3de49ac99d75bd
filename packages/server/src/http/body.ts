/** Parsers of request bodies: JSON by default, and files on routes that accept them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Slice } from '../engine/slice.js';

/** Lines of JSON. */
export const NDJSON = 'application/x-ndjson';

/** Types of files that a route may accept instead of JSON. */
export const FILE_TYPES = ['text/csv', 'text/plain'];

/** Characters of a JSON body from which on reading and handling it have a slice of the event loop each. */
const LONG_BODY = 32_768;

/** A body that cannot be read; `reply.ts` maps it to a response. */
class BadBody extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Deeper than any valid body: code that traverses a body, also of libraries, may recurse for each level. */
const MOST_LEVELS = 64;

/** True when JSON text is nested too deeply. Brackets within strings do not count. */
function isTooDeep(text: string): boolean {
  let levels = 0;
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        levels += 1;
        if (levels > MOST_LEVELS) return true;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        levels -= 1;
        break;
    }
  }
  return false;
}

const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [34, 92, 91, 93, 123, 125];

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}

const takesFile = ({ operation }: FastifyRequest): boolean => operation === 'importPositions';

/** Routes that accept lines of JSON only; the handler refuses any other body. */
const takesLines = ({ operation }: FastifyRequest): boolean => operation === 'importSimulation';

const isEncoded = ({ headers }: FastifyRequest): boolean =>
  headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity';

/**
 * Names such as `__proto__` need no care here: a parsed object has them as its own, every schema is closed, and the validator refuses
 * own names that it does not know.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (isEncoded(request)) return done(new BadBody('SANDPIT_MEDIA_TYPE'));
    // Many clients send a content type without a body: harmless if no body is expected.
    if (text === '' || takesLines(request)) return done(null, undefined);
    if (isTooDeep(text as string)) return done(new BadBody('SANDPIT_DEEP_JSON'));
    try {
      const body: unknown = JSON.parse(text as string);
      const isFile = Array.isArray(body) && takesFile(request);
      const given = isFile ? { file: text } : body;
      if (text.length < LONG_BODY) done(null, given);
      else void new Slice().yield().then(() => done(null, given));
    } catch {
      done(new BadBody('SANDPIT_INVALID_JSON'));
    }
  });
  // The handler reads it as it comes.
  app.addContentTypeParser(NDJSON, (request, payload, done) => {
    if (takesLines(request) && !isEncoded(request)) done(null, payload);
    else done(new BadBody('SANDPIT_MEDIA_TYPE'));
  });
  app.addContentTypeParser(FILE_TYPES, { parseAs: 'string' }, (request, text, done) => {
    if (text === '' || takesLines(request)) done(null, undefined);
    else if (isEncoded(request) || !takesFile(request)) done(new BadBody('SANDPIT_MEDIA_TYPE'));
    else done(null, { file: text });
  });
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, text, done) => {
    if (text === '' || takesLines(request)) done(null, undefined);
    else done(new BadBody('SANDPIT_MEDIA_TYPE'));
  });
}
