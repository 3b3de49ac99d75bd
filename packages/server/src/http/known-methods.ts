import type { FastifyInstance } from 'fastify';
import { type Answer, refuse, ROUTE_NOT_FOUND } from './answer.js';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** The methods of every path that has a route, for requests that come with another one (D220). */
export class KnownMethods {
  readonly #paths = new Map<string, KnownPath>();

  /** Hears of the routes that are registered from here on. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      // A path that stands for any is not known.
      if (url.includes('*')) return;
      let path = this.#paths.get(url);
      if (path === undefined) this.#paths.set(url, (path = { pattern: patternOf(url), methods: new Set() }));
      for (const one of [method].flat()) path.methods.add(one);
    });
  }

  /** The answer for a path and a method that nothing is registered for: 405 if another method has a route, else 404. */
  refusalOf(url: string): Answer {
    const path = url.split('?')[0] ?? '';
    const methods = [...this.#paths.values()].filter(({ pattern }) => pattern.test(path));
    if (methods.length === 0) return ROUTE_NOT_FOUND;
    const allowed = [...new Set(methods.flatMap((known) => [...known.methods]))].sort().join(', ');
    return refuse(405, 'Method not allowed', { allow: allowed });
  }
}

/** Segments as they stand in the template, each parameter any text without a slash. */
const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
      .join('/')}$`,
  );
