import { expect, it } from 'vitest';
import { isLoopback, registerDemoToken } from './demo-token.js';
import fastify from 'fastify';

const OUR_PAGE = { host: 'localhost:3000', 'sec-fetch-site': 'same-origin' };

it('is for a page of this server on this machine, and there for nobody else', async () => {
  const app = fastify();
  app.decorateRequest('cors', undefined);
  app.decorateRequest('limits', undefined);
  app.decorateRequest('operation', undefined);
  app.decorateRequest('beganMs', undefined);
  app.decorate('traffic', { count: () => undefined } as never);
  app.decorate('onRefusal', undefined);
  registerDemoToken(app, () => Promise.resolve('a.b.c'));
  const ask = async (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
    (await app.inject({ url: '/docs/demo-token', headers, remoteAddress })).statusCode;
  expect(await ask(OUR_PAGE)).toBe(200);
  expect(await ask(OUR_PAGE, '::1')).toBe(200);
  expect(await ask(OUR_PAGE, '192.168.1.7')).toBe(404);
  expect(await ask({ ...OUR_PAGE, host: 'evil.example:3000' })).toBe(404);
  expect(await ask({ ...OUR_PAGE, 'sec-fetch-site': 'cross-site' })).toBe(404);
  expect(await ask({ host: 'localhost:3000' })).toBe(404);
  expect(await ask({ ...OUR_PAGE, 'x-forwarded-for': '1.2.3.4' })).toBe(404);
  await app.close();
});

it('knows what is this machine', () => {
  const hosts = ['127.0.0.1', '127.8.9.1', 'localhost', '::1', '[::1]', '::ffff:127.0.0.1'];
  expect(hosts.map(isLoopback)).toEqual(hosts.map(() => true));
  expect(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'localhost.evil'].some(isLoopback)).toBe(
    false,
  );
});
