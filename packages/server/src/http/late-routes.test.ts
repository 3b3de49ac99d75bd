import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { TestApp } from '../testing/test-app.js';
import { LateRoutes } from './late-routes.js';

const opened: { readonly close: () => Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function openApp(): Promise<TestApp> {
  const test = await TestApp.open();
  opened.push(test);
  return test;
}

const answerTo = async (
  { app }: TestApp,
  url: string,
  method: 'GET' | 'POST' | 'HEAD' = 'GET',
): Promise<{ readonly status: number; readonly body: string }> => {
  const { statusCode, body } = await app.inject({ method, url });
  return { status: statusCode, body };
};

it('late routes: concurrent first requests to one dialect are all answered alike', async () => {
  const test = await openApp();
  const answers = await Promise.all(Array.from({ length: 8 }, () => answerTo(test, '/alpaca/v2/account')));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(401));
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
});

it('late routes: a first request may have an encoded prefix, a query, or another method', async () => {
  for (const [url, method, status] of [
    ['/%61lpaca/v2/account', 'GET', 401],
    ['/alpaca/v2/account?a=%2F', 'GET', 401],
    ['/alpaca/v2/account', 'HEAD', 401],
    ['/paperinvest/v1/health?x', 'GET', 200],
    ['/docs/api', 'GET', 200],
    ['/docs/api/json?x', 'GET', 200],
    ['/docs/api/json', 'POST', 405],
  ] as const) {
    const test = await openApp();
    expect([url, method, (await answerTo(test, url, method)).status]).toEqual([url, method, status]);
  }
});

it('late routes: a path below a prefix without a route is refused as the part refuses, one beside it as the service does', async () => {
  const test = await openApp();
  for (const url of ['/alpaca', '/alpaca/', '/alpaca/v2/nothing', '/alpaca/v2/accounts/']) {
    const { status, body } = await answerTo(test, url);
    expect([url, status]).toEqual([url, 404]);
    expect(JSON.parse(body)).not.toHaveProperty('statusCode');
  }
  for (const url of ['/alpacas', '/alpaca%2Fv2/account', '/docs/apis']) {
    const { status, body } = await answerTo(test, url);
    expect([url, status]).toEqual([url, 404]);
    expect(JSON.parse(body)).toMatchObject({ statusCode: 404, error: 'Not Found' });
  }
});

it('late routes: a part that cannot be created is created again at the next request', async () => {
  let attempts = 0;
  const late = new LateRoutes();
  const create = async (): Promise<FastifyInstance> => {
    attempts += 1;
    if (attempts === 1) throw new Error('no such module');
    const part = fastify();
    part.get('/part/one', async () => Promise.resolve('one'));
    return Promise.resolve(part);
  };
  late.add('/part', create);
  const app = fastify();
  opened.push(app, late);
  app.decorate('bodies', undefined as never);
  app.decorate('onRefusal', undefined);
  app.decorateRequest('beganMs', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    if (!late.serve(request, reply)) done();
  });
  expect((await app.inject('/part/one')).statusCode).toBe(500);
  expect((await app.inject('/part/one')).body).toBe('one');
  expect((await app.inject('/part/one')).body).toBe('one');
  expect(attempts).toBe(2);
  expect((await app.inject('/apart/one')).statusCode).toBe(404);
});
