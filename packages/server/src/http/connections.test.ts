import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { TestApp } from '../testing/test-app.js';
import { guardConnections, isRange, Proxies } from './connections.js';

describe('TRUSTED_PROXIES', () => {
  const proxies = new Proxies(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);
  const clientOf = (remoteAddress: string, forwarded?: string): string | undefined =>
    proxies.clientOf({
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    });

  it.each([
    ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '198.51.100.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['10.1.2.3', '203.0.113.9, 192.0.2.7,fd00::1', '203.0.113.9'],
    ['fd00::1', '2001:db8::5', '2001:db8::5'],
    ['10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
    ['10.1.2.3', '[2001:db8::5]:4711', '2001:db8::5'],
    ['10.1.2.3', '203.0.113.9, unknown', undefined],
    ['10.1.2.3', '10.9.9.9', undefined],
    ['10.1.2.3', '', undefined],
    ['10.1.2.3', undefined, undefined],
    ['203.0.113.5', '127.0.0.1', undefined],
  ])('a connection of %s that tells %j is of %s', (address, forwarded, client) => {
    expect(clientOf(address, forwarded)).toBe(client);
  });

  it.each([
    ['10.0.0.0/8', true],
    ['10.0.0.1', true],
    ['fd00::/8', true],
    ['10.0.0.0/33', false],
    ['fd00::/129', false],
    ['10.0.0/8', false],
    ['10.0.0.0/8/8', false],
    ['10.0.0.0/', false],
    ['proxy', false],
    ['', false],
  ])('%j as a range: %s', (text, isValid) => expect(isRange(text)).toBe(isValid));
});

describe('limits by address', () => {
  it('an address without a credential may send 4 MiB within ten seconds, this machine any number', async () => {
    const test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
    try {
      const send = (remoteAddress: string) =>
        test.app.inject({
          method: 'POST',
          url: '/v1/auth/token',
          remoteAddress,
          headers: { 'content-type': 'application/json' },
          payload: '{"apiKey":"x"}'.padEnd(16_384),
        });
      for (let i = 0; i < 256; i += 1) expect((await send('203.0.113.9')).statusCode).toBe(401);
      const refused = await send('203.0.113.9');
      expect(refused.json()).toMatchObject({
        statusCode: 429,
        error: { code: 'RATE_LIMITED', retryAfter: 10 },
      });
      expect(refused.headers['retry-after']).toBe('10');
      expect((await send('203.0.113.10')).statusCode).toBe(401);
      for (let i = 0; i < 257; i += 1) expect((await send('127.0.0.1')).statusCode).toBe(401);
    } finally {
      await test.close();
    }
  });
});

describe('MAX_CONNECTIONS', () => {
  it('a connection beyond the limit is closed', async () => {
    const server = createServer((_, response) => void response.end('x'));
    guardConnections(server, { maxConnections: 2, trustedProxies: [] });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const open = (): Socket => connect((server.address() as AddressInfo).port, '127.0.0.1');
    const sockets = [open(), open()];
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    const third = open();
    await new Promise((resolve) => third.on('error', resolve).once('close', resolve));
    sockets[0]?.destroy();
    await new Promise((resolve) => sockets[0]?.once('close', resolve));
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});
