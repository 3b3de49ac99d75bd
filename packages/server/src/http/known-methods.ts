import type { FastifyContextConfig, FastifyInstance, HTTPMethods } from 'fastify';
import { type Answer, refuse, ROUTE_NOT_FOUND } from './answer.js';
import { reply as send } from './reply.js';

interface KnownPath {
  readonly template: string;
  /** Made when it is first needed. */
  pattern?: RegExp;
  /** Configurations of its routes, by method. */
  readonly routes: Map<string, FastifyContextConfig>;
}

/** The methods of every path that has a route, for requests with another method (D220), and the configurations of the routes. */
export class KnownMethods {
  readonly #paths = new Map<string, KnownPath>();
  #isComplete = false;

  /** Receives routes registered from now on. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method, config = {} }) => {
      // Wildcard paths and the routes of `refuseShadows` are not recorded.
      if (this.#isComplete || url.includes('*')) return;
      let path = this.#paths.get(url);
      if (path === undefined) this.#paths.set(url, (path = { template: url, routes: new Map() }));
      for (const one of [method].flat()) path.routes.set(one, config);
    });
  }

  /** The response for a path and a method without a route: 405 if another method has a route, else 404. */
  refusalOf(url: string): Answer {
    const known = this.#pathsLike(url.split('?')[0] ?? '');
    return known.length === 0
      ? ROUTE_NOT_FOUND
      : notAllowed(known.flatMap(({ routes }) => [...routes.keys()]));
  }

  /** The configuration of a route; undefined if this path and method have none, or a wildcard. */
  routeOf(method: string, path: string): FastifyContextConfig | undefined {
    for (const { routes } of this.#pathsLike(path)) {
      const route = routes.get(method);
      if (route !== undefined) return route;
    }
    return undefined;
  }

  #pathsLike(path: string): readonly KnownPath[] {
    const exact = this.#paths.get(path);
    return exact === undefined ? [...this.#paths.values()].filter((known) => matches(known, path)) : [exact];
  }

  /**
   * Adds a 405 route wherever the text of a path would match the parameter of another: `GET /v1/orders/batch` is not the order `batch`.
   * Call it after all routes.
   */
  refuseShadows(app: FastifyInstance): void {
    this.#isComplete = true;
    const known = [...this.#paths.values()];
    const withParameters = known.filter(hasParameter);
    for (const path of known) {
      if (hasParameter(path)) continue;
      const { template: url, routes } = path;
      const shadows = withParameters
        .filter((other) => matches(other, url))
        .flatMap((other) => [...other.routes.keys()])
        .filter((method) => !routes.has(method));
      if (shadows.length === 0) continue;
      const refusal = notAllowed([...routes.keys()]);
      app.route({
        method: [...new Set(shadows)] as HTTPMethods[],
        url,
        onRequest: (request, reply) => send(request, reply, refusal),
        handler: () => undefined,
      });
    }
  }
}

const notAllowed = (methods: readonly string[]): Answer =>
  refuse(405, 'Method not allowed', { allow: [...new Set(methods)].sort().join(', ') });

const hasParameter = ({ template }: KnownPath): boolean => template.includes(':');

/** True when the path has the form of the template. The constant beginning decides most cases without an expression. */
function matches(known: KnownPath, path: string): boolean {
  const { template } = known;
  const constant = template.indexOf(':');
  if (constant === -1) return template === path;
  if (!path.startsWith(template.slice(0, constant))) return false;
  return (known.pattern ??= patternOf(template)).test(path);
}

/** Segments of the template; each parameter matches any text without a slash. */
const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
      .join('/')}$`,
  );
