/** How bodies are read: JSON or nothing. */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A body that cannot be read; `reply.ts` says what that is answered with. */
class BadBody extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const isEncoded = ({ headers }: FastifyRequest): boolean =>
  headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity';

/**
 * Names such as `__proto__` need no care here: a parsed object has them as its own, every schema is closed, and the validator refuses
 * own names that it does not know. Depth needs none either: the parser does not recurse, and the validator only as deep as a schema.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (isEncoded(request)) return done(new BadBody('SANDPIT_MEDIA_TYPE'));
    // An announced type without a body is a habit of many clients, and harmless where no body is expected.
    if (text === '') return done(null, undefined);
    try {
      done(null, JSON.parse(text as string));
    } catch {
      done(new BadBody('SANDPIT_INVALID_JSON'));
    }
  });
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
    if (text === '') done(null, undefined);
    else done(new BadBody('SANDPIT_MEDIA_TYPE'));
  });
}
