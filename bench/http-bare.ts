/**
 * Baseline for `http.ts`: a fastify server with only the same route, the same token check and the same validation of the body, which gives
 * every order the same answer. With `BENCH_DURABLE` (the path of a database) each body is first written in a group commit by a thread, with
 * `synchronous=FULL`. Started by `http.ts` and `budget.ts`, which send it the answer.
 */
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
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

/** Bodies that arrive during a commit share the next one. */
class GroupCommit {
  readonly #writer: Worker;
  #waiting: { readonly body: string; readonly done: () => void }[] = [];
  #isCommitting = false;

  constructor(path: string) {
    const module = JSON.stringify(new URL('./durable-writer.ts', import.meta.url).href);
    // A thread of Node 20 does not read TypeScript because its process does.
    const start = `import('tsx/esm/api').then(({ register }) => { register(); return import(${module}); });`;
    this.#writer = new Worker(start, { eval: true, workerData: path });
  }

  commit(body: unknown): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ body: JSON.stringify(body), done });
      // Bodies that the same turn of the event loop has read join the group.
      if (this.#waiting.length === 1) setImmediate(() => this.#next());
    });
  }

  #next(): void {
    if (this.#isCommitting || this.#waiting.length === 0) return;
    const group = this.#waiting.splice(0);
    this.#isCommitting = true;
    this.#writer.once('message', () => {
      this.#isCommitting = false;
      for (const { done } of group) done();
      this.#next();
    });
    this.#writer.postMessage(group.map(({ body }) => body));
  }
}

const durable = process.env['BENCH_DURABLE'];
const log = durable === undefined ? undefined : new GroupCommit(durable);

process.once('message', (order: object) => void serve(order));

async function serve(order: object): Promise<void> {
  const app = fastify({ forceCloseConnections: true });
  app.post('/v1/orders', async (request, reply) => {
    const principal = await authenticator.principalOf(request.headers.authorization);
    if (principal?.scopes.has('trade') !== true) return reply.code(401).send(UNAUTHORIZED);
    const checked = validateBody(routes.createOrder.body, request.body);
    if (!checked.ok)
      return reply.code(400).send({ statusCode: 400, message: checked.messages, error: 'Bad Request' });
    await log?.commit(request.body);
    return reply.code(201).send(order);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.on('disconnect', () => process.exit());
  process.send?.({ port: (app.server.address() as AddressInfo).port });
}
