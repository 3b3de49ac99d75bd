import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeToStream } from './reply.js';

const server = createServer();
const PIECE = 'x'.repeat(1_000_000);
let raw: ServerResponse;
let client: IncomingMessage;

beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = get({ port, host: '127.0.0.1' });
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  raw = response;
  raw.writeHead(200);
  raw.flushHeaders();
  [client] = (await once(asked, 'response')) as [IncomingMessage];
});
afterEach(() => {
  client.destroy();
  server.close();
});

const listeners = (): readonly number[] =>
  ['drain', 'close', 'error'].map((event) => raw.listenerCount(event));

it('writeToStream: waits for a slow reader, and leaves no listener on the response', async () => {
  const before = listeners();
  let isWritten = false;
  const all = (async () => {
    for (let piece = 0; piece < 20; piece += 1) await writeToStream(raw, PIECE);
    isWritten = true;
  })();
  await once(client, 'readable');
  expect(isWritten).toBe(false);
  client.resume();
  await all;
  expect(listeners()).toEqual(before);
});

it('writeToStream: ends its wait when the reader disconnects', async () => {
  const all = (async () => {
    for (let piece = 0; piece < 20; piece += 1) await writeToStream(raw, PIECE);
  })();
  client.destroy();
  await all;
  expect(raw.destroyed).toBe(true);
});
