/** Mounts a dialect of `/v1` itself: every operation under a prefix, with its requests read and its answers widened. */
import type { Dialect, Mirror } from '@sandpit/dialect-port';
import { type OperationId, pathsOf, type Route, routeEntries } from '@sandpit/protocol';
import type { FastifyInstance } from 'fastify';
import type { Admission } from '../admission.js';
import { planOf } from '../bodies/body-plan.js';
import { WHOLE_BODY } from '../bodies/json-cuts.js';
import type { RequestHandler, Widen } from '../serve.js';
import type { Operations } from './operations.js';
import { placeOrders } from './mirror-batch.js';

const same = (body: unknown): unknown => body;

/** Creates the handler of a route: that of `/v1` with extended responses. */
export type Serving = (id: OperationId, route: Route, widen: Widen | undefined) => RequestHandler;

export function openMirror(
  app: FastifyInstance,
  { prefix }: Pick<Dialect, 'prefix'>,
  { bodies, answers }: Mirror,
  admission: Admission,
  operations: Operations,
  serving: Serving,
): void {
  for (const [id, plain] of routeEntries) {
    const route: Route = { ...plain, path: prefix + plain.path };
    const handle = serving(id, route, answers[id]);
    const read = bodies[id];
    const { lists, mostBytes } = planOf(plain);
    // Fields are translated before validation.
    const body = {
      mostBytes,
      lists: id === 'createOrders' ? new Set([...lists, WHOLE_BODY]) : lists,
      ...(plain.takesFile === true && { route: { takesFile: true as const } }),
    };
    for (const [, path] of pathsOf(id, plain)) {
      app.route({
        method: route.method,
        url: prefix + path,
        config: { body, operation: id },
        onRequest: admission.for(id, plain),
        handler: (request, reply) => {
          if (id === 'createOrders' && Array.isArray(request.body)) {
            placeOrders(
              operations,
              admission.charge,
              request,
              reply,
              request.body.map(bodies.createOrder ?? same),
            );
            return;
          }
          if (read !== undefined) request.body = read(request.body);
          handle(request, reply);
        },
      });
    }
  }
}
