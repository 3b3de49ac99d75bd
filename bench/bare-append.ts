/**
 * The floor of `steps.ts`: a fastify server with a route that appends 200 bytes to a file, syncs it on another thread and answers, and one that
 * answers at once: the cost of one request on this machine with and without a sync, before any work is done for it. Started by `steps.ts`.
 */
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

const RECORD = Buffer.alloc(200, 'r');
/** Written before, so that no append lengthens the file. */
const ROOM = Buffer.alloc(16 * 1024 * 1024);

process.once('message', (path: string) => void serve(path));

async function serve(path: string): Promise<void> {
  const file = openSync(path, 'w+');
  writeSync(file, ROOM);
  let at = 0;
  const app = fastify({ forceCloseConnections: true });
  app.post('/v1/simulation/step', (_request, reply) => {
    at = (at + RECORD.byteLength) % (ROOM.byteLength - RECORD.byteLength);
    writeSync(file, RECORD, 0, RECORD.byteLength, at);
    fdatasync(file, () => void reply.send({ orders: [], cancels: [], events: [], hasMore: false }));
  });
  app.post('/v1/none', (_request, reply) => reply.send({}));
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.on('disconnect', () => {
    closeSync(file);
    void app.close();
  });
  process.send?.({ port: (app.server.address() as AddressInfo).port });
}
