import type { FastifyInstance } from 'fastify';
import { type Answer, refuse, ROUTE_NOT_FOUND } from './answer.js';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** The methods of every path that has a route, for requests with another method (D220). */
export class KnownMethods {
  readonly #paths = new Map<string, KnownPath>();

  /** Receives routes registered from now on. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      // A wildcard path is not recorded.
      if (url.includes('*')) return;
      let path = this.#paths.get(url);
      if (path === undefined) this.#paths.set(url, (path = { pattern: patternOf(url), methods: new Set() }));
      for (const one of [method].flat()) path.methods.add(one);
    });
  }

  /** The response for a path and a method without a route: 405 if another method has a route, else 404. */
  refusalOf(url: string): Answer {
    const path = url.split('?')[0] ?? '';
    const methods = [...this.#paths.values()].filter(({ pattern }) => pattern.test(path));
    if (methods.length === 0) return ROUTE_NOT_FOUND;
    const allowed = [...new Set(methods.flatMap((known) => [...known.methods]))].sort().join(', ');
    return refuse(405, 'Method not allowed', { allow: allowed });
  }
}

/** Segments of the template; each parameter matches any text without a slash. */
const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
      .join('/')}$`,
  );
