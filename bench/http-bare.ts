/**
 * What `http.ts` compares with: a fastify server with nothing but the same route, the same token check and the same validation of the
 * body, which answers every order with the same one. Started by `http.ts`, which sends it the answer.
 */
import type { AddressInfo } from 'node:net';
import { routes, validateBody } from '@sandpit/protocol';
import fastify from 'fastify';
import { readSettings } from '../packages/server/dist/config.js';
import { Authenticator } from '../packages/server/dist/http/auth.js';

const authenticator = new Authenticator(
  readSettings(),
  { isRevoked: () => false, onRevocation: () => undefined },
  Date.now,
);
const UNAUTHORIZED = { statusCode: 401, message: 'Unauthorized', error: 'Unauthorized' };

process.once('message', (order: object) => void serve(order));

async function serve(order: object): Promise<void> {
  const app = fastify({ forceCloseConnections: true });
  app.post('/v1/orders', async (request, reply) => {
    const principal = await authenticator.principalOf(request.headers.authorization);
    if (principal?.scopes.has('trade') !== true) return reply.code(401).send(UNAUTHORIZED);
    const checked = validateBody(routes.createOrder.body, request.body);
    if (!checked.ok)
      return reply.code(400).send({ statusCode: 400, message: checked.messages, error: 'Bad Request' });
    return reply.code(201).send(order);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.on('disconnect', () => void app.close());
  process.send?.({ port: (app.server.address() as AddressInfo).port });
}
