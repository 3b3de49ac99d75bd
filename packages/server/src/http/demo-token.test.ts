import { expect, it } from 'vitest';
import { isLoopback, registerDemoToken } from './demo-token.js';
import { KnownBrowsers } from './known-browsers.js';
import fastify from 'fastify';

const OUR_PAGE = { host: 'localhost:3000', 'sec-fetch-site': 'same-origin' };

/** A server with nothing but the route, and how it answers. */
function open(isOpen: boolean, browsers = new KnownBrowsers(() => 0)) {
  const app = fastify();
  for (const name of ['cors', 'limits', 'operation', 'beganMs', 'principal', 'simulation'])
    app.decorateRequest(name, undefined);
  app.decorate('traffic', { count: () => undefined } as never);
  app.decorate('onRefusal', undefined);
  app.decorate('logger', undefined);
  registerDemoToken(app, () => Promise.resolve('a.b.c'), { isOpen, browsers });
  return async (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
    (await app.inject({ url: '/docs/demo-token', headers, remoteAddress })).statusCode;
}

it('demo token: is off by default for every request, because a plain proxy looks like this machine', async () => {
  const ask = open(false);
  expect(await ask(OUR_PAGE)).toBe(404);
  expect(await ask({ host: 'localhost:3000' })).toBe(404);
});

it('demo token: is served to this machine only, and only with DEMO_TOKEN=on', async () => {
  const ask = open(true);
  expect(await ask(OUR_PAGE)).toBe(200);
  expect(await ask(OUR_PAGE, '::1')).toBe(200);
  expect(await ask({ host: 'localhost:3000' })).toBe(200);
  expect(await ask(OUR_PAGE, '192.168.1.7')).toBe(404);
  expect(await ask({ ...OUR_PAGE, host: 'evil.example:3000' })).toBe(404);
  expect(await ask({ ...OUR_PAGE, 'sec-fetch-site': 'cross-site' })).toBe(404);
  expect(await ask({ ...OUR_PAGE, 'x-forwarded-for': '1.2.3.4' })).toBe(404);
});

it('demo token: is issued to the browser that opened the login link, for half a day', async () => {
  let nowMs = 0;
  const browsers = new KnownBrowsers(() => nowMs);
  const ask = open(false, browsers);
  const header = browsers.remember();
  expect(header).toMatch(/; Path=\/docs; Max-Age=43200; HttpOnly; SameSite=Strict$/);
  const cookie = `a=b; ${header.split(';')[0] ?? ''}`;
  expect(await ask({ ...OUR_PAGE, cookie })).toBe(200);
  expect(await ask({ ...OUR_PAGE, cookie: cookie.slice(0, -1) })).toBe(404);
  expect(await ask({ ...OUR_PAGE, cookie: `${cookie}x` })).toBe(404);
  expect(await ask({ ...OUR_PAGE, cookie, 'x-forwarded-for': '1.2.3.4' })).toBe(404);
  nowMs = 43_200_000;
  expect(await ask({ ...OUR_PAGE, cookie })).toBe(404);
});

it('demo token: recognizes requests of this machine', () => {
  const hosts = ['127.0.0.1', '127.8.9.1', 'localhost', '::1', '[::1]', '::ffff:127.0.0.1'];
  expect(hosts.map(isLoopback)).toEqual(hosts.map(() => true));
  expect(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'localhost.evil'].some(isLoopback)).toBe(
    false,
  );
});
