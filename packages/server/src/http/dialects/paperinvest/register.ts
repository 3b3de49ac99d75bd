/** Mounts the dialect: every operation of `/v1` under a prefix, with its requests read and its answers widened. */
import { type OperationId, pathsOf, type Route, routeEntries } from '@sandpit/protocol';
import type { FastifyInstance } from 'fastify';
import type { Admission } from '../../admission.js';
import { planOf } from '../../bodies/body-plan.js';
import { WHOLE_BODY } from '../../bodies/json-cuts.js';
import type { RequestHandler, Widen } from '../../serve.js';
import type { Operations } from '../operations.js';
import { answers } from './answers.js';
import { placeOrders } from './batch.js';
import { bodies } from './requests.js';

const PAPER_INVEST = '/paperinvest';

/** Creates the handler of a route: that of `/v1` with extended responses. */
export type Serving = (id: OperationId, route: Route, widen: Widen | undefined) => RequestHandler;

export function registerPaperInvest(
  app: FastifyInstance,
  admission: Admission,
  operations: Operations,
  serving: Serving,
): void {
  for (const [id, plain] of routeEntries) {
    const route: Route = { ...plain, path: PAPER_INVEST + plain.path };
    const handle = serving(id, route, answers[id]);
    const read = bodies[id];
    const { lists, mostBytes } = planOf(plain);
    // Its fields are translated before they are validated.
    const body = {
      mostBytes,
      lists: id === 'createOrders' ? new Set([...lists, WHOLE_BODY]) : lists,
      ...(plain.takesFile === true && { route: { takesFile: true as const } }),
    };
    for (const [, path] of pathsOf(id, plain)) {
      app.route({
        method: route.method,
        url: PAPER_INVEST + path,
        config: { body, operation: id },
        onRequest: admission.for(id, plain),
        handler: (request, reply) => {
          if (id === 'createOrders' && Array.isArray(request.body)) {
            placeOrders(operations, admission.charge, request, reply, request.body);
            return;
          }
          if (read !== undefined) request.body = read(request.body);
          handle(request, reply);
        },
      });
    }
  }
}
