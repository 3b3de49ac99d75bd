import { connect, type AddressInfo, type Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Traffic } from '../metrics.js';
import { Connection } from './connection.js';

let app: FastifyInstance;
let opened: Promise<Connection>;
let socket: Socket;

beforeEach(async () => {
  app = fastify();
  opened = new Promise((resolve) => {
    app.decorate('traffic', new Traffic());
    app.get('/', (request, reply) => resolve(new Connection(request, reply)));
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.on('error', () => undefined);
});
afterEach(async () => {
  vi.useRealTimers();
  socket.destroy();
  await app.close();
});

const frame = (size: number): string => `id: 1-1\nevent: heartbeat\ndata: ${'x'.repeat(size)}\n\n`;

describe('A reader that does not read', () => {
  it('is disconnected before its buffer grows large, and its connection is reset in time', async () => {
    const connection = await opened;
    socket.pause();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let written = 0;
    while (connection.isOpen && written < 64 * 1024 * 1024) {
      connection.write(frame(10_000), () => '1-1');
      written += 10_000;
      // The kernel accepts data between the writes.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connection.isOpen).toBe(false);
    const closed = new Promise<void>((resolve) => connection.onClose(resolve));
    vi.advanceTimersByTime(10_000);
    await closed;
  });

  it('is disconnected at a limit of pending events', async () => {
    const connection = await opened;
    socket.pause();
    for (let i = 0; connection.isOpen && i < 1_000_000; i++) connection.write(frame(1), () => '1-1');
    expect(connection.isOpen).toBe(false);
  });

  it('a slow reader delays only its own stream', async () => {
    const connection = await opened;
    socket.pause();
    for (let i = 0; i < 20; i++) connection.write(frame(10_000), () => '1-1');
    const drained = connection.drained();
    socket.resume();
    await drained;
    expect(connection.isOpen).toBe(true);
  });
});

describe('A stream that ends', () => {
  it('has a reason', async () => {
    const connection = await opened;
    let text = '';
    const over = new Promise<void>((resolve) => {
      socket.on('data', (data) => {
        text += data.toString();
        if (text.endsWith('0\r\n\r\n')) resolve();
      });
    });
    connection.end('7-1', 401, 'Unauthorized');
    connection.write(frame(1), () => '7-2');
    await over;
    expect(text).toContain('retry: ');
    expect(text).toContain('id: 7-1\nevent: error\ndata: {"statusCode":401,"message":"Unauthorized"}\n\n');
    expect(text).not.toContain('heartbeat');
  });

  it('notifies listeners that register after the end', async () => {
    const connection = await opened;
    socket.destroy();
    await new Promise<void>((resolve) => connection.onClose(resolve));
    await new Promise<void>((resolve) => connection.onClose(resolve));
    expect(connection.isOpen).toBe(false);
  });
});
