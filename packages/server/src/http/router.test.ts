import { openApiPath, type Route, routeEntries } from '@sandpit/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  NOWHERE,
  openPortfolio,
  orderBody,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let owner: TestClient;
let stranger: TestClient;
/** Ids of things that the owner has, by the name of the parameter. */
let owned: Record<string, string>;

beforeAll(async () => {
  test = await TestApp.open();
  owner = test.as();
  stranger = test.as({ tenantId: 'tenant-2' });
  await pushQuote(owner);
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  const { orderId } = (await placeOrder(owner, portfolioId, { limitPrice: 90 })) as { orderId: string };
  const created = await owner.post('/v1/simulations', { feed: 'push', clock: 'manual' });
  owned = { accountId: ACCOUNT, portfolioId, orderId, simulationId: created.body.simulationId as string };
});
afterAll(() => test.close());

/** A body that each route accepts, so that only ownership can refuse it. */
const bodies: Readonly<Record<string, object>> = {
  updateAccount: { name: 'x' },
  upgradeMargin: { marginType: 'REG_T' },
  updatePortfolio: { name: 'x' },
  switchBroker: { brokerId: 'default' },
  transferCash: { amount: 1 },
  importPositions: { cash: 1 },
  takeSnapshot: {},
  forkSimulation: {},
  createComparison: { variants: [{ name: 'a', brokerId: 'default' }] },
  updateOrder: { limitPrice: 1 },
  exerciseOption: { quantity: 1 },
  doNotExerciseOption: { quantity: 1 },
};

/** Path parameters other than the ids of `OWNED`, for which any text would be malformed. */
const OTHERS: Readonly<Record<string, string>> = { optionSymbol: 'AAPL260116C00150000', snapshotId: NOWHERE };
const OWNED = ['accountId', 'portfolioId', 'orderId', 'simulationId'];
const idNames = (route: Route): string[] =>
  Object.keys(route.params?.properties ?? {}).filter((name) => OWNED.includes(name));
const withIds = routeEntries.filter(([, route]) => idNames(route).length > 0);
const pathsOf = (route: Route): readonly string[] => [route.path, ...Object.values(route.aliases ?? {})];
const filled = (path: string, ids: Readonly<Record<string, string>>): string =>
  path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? OTHERS[name] ?? name);

describe('a known path with another method', () => {
  it.each([
    ['DELETE', '/v1/orders', 'GET, HEAD, POST'],
    ['POST', '/v1/health', 'GET, HEAD'],
    ['PATCH', '/v1/accounts/portfolios/x/activities?limit=1', 'GET, HEAD'],
    ['GET', '/v1/auth/token', 'POST'],
    ['PROPFIND', '/v1/health', 'GET, HEAD'],
    ['OPTIONS', '/v1/health', 'GET, HEAD'],
    ['GET', '/paperinvest/v1/auth/token', 'POST'],
    ['PUT', '/openapi.json', 'GET, HEAD'],
    ['GET', '/v1/accounts/portfolios', 'POST'],
    ['PATCH', '/v1/accounts/portfolios', 'POST'],
    ['PUT', '/v1/orders/batch', 'POST'],
    ['DELETE', '/v1/simulations/import', 'POST'],
    ['GET', '/v1/health/', undefined],
    ['GET', '/v1/nothing', undefined],
    ['GET', '/v1/accounts/a/b/c/d/e', undefined],
  ])('%s %s is 405 with the allowed methods: %s', async (method, url, allowed) => {
    const reply = await test.app.inject({ method: method as 'GET', url });
    if (allowed === undefined) {
      expect(reply.statusCode).not.toBe(405);
      return;
    }
    expect([reply.statusCode, reply.headers.allow]).toEqual([405, allowed]);
    expect(reply.json()).toEqual({
      statusCode: 405,
      message: 'Method not allowed',
      error: 'Method Not Allowed',
    });
  });
});

describe('HEAD', () => {
  const routes = routeEntries.flatMap(([, route]) => (route.method === 'GET' ? pathsOf(route) : []));
  const isStream = (path: string): boolean => path.includes('stream');
  let address = '';
  beforeAll(async () => void (address = await test.app.listen({ host: '127.0.0.1', port: 0 })));
  const ask = async (method: string, path: string): Promise<readonly unknown[]> => {
    const headers = { authorization: `Bearer ${owner.token ?? ''}` };
    const response = await fetch(address + filled(path, owned), { method, headers });
    const body = await response.text();
    return [response.status, response.headers.get('content-type'), method === 'HEAD' ? body : ''];
  };

  it.each(routes.filter((path) => !isStream(path)))(
    'is answered like GET, without a body: %s',
    async (path) => {
      expect(await ask('HEAD', path)).toEqual(await ask('GET', path));
    },
  );

  it('ends a stream after its head', async () => {
    const queries: Readonly<Record<string, string>> = {
      '/v1/stream/portfolio': `?portfolioId=${owned['portfolioId'] ?? ''}`,
      '/v1/stream/portfolios': `?portfolioId=${owned['portfolioId'] ?? ''}`,
      '/v1/stream/quote': '?symbols=AAPL',
      '/v1/stream/quotes': '?symbols=AAPL',
    };
    for (const route of routes.filter((one) => isStream(one) && !one.startsWith('/v1/competitions'))) {
      const path = route + (queries[route] ?? '');
      expect([path, ...(await ask('HEAD', path))]).toEqual([
        path,
        200,
        'text/event-stream; charset=utf-8',
        '',
      ]);
    }
    expect(test.app.openStreams()).toBe(0);
  });

  it('is answered by the pages', async () => {
    for (const path of ['/', '/docs/api/', '/openapi.json', '/llms.txt'])
      expect((await ask('HEAD', path))[0], path).toBe(200);
  });
});

describe('A resource of another tenant', () => {
  const absent = Object.fromEntries(OWNED.map((name) => [name, NOWHERE]));

  it.each(withIds.map(([id, route]) => ({ id, route })))(
    'is answered with 404: $id',
    async ({ id, route }) => {
      if (route.body !== undefined && bodies[id] === undefined)
        throw new Error(`${id} has no row in this matrix`);
      for (const path of pathsOf(route)) {
        const foreign = await stranger.send(route.method, filled(path, owned), bodies[id]);
        const missing = await stranger.send(route.method, filled(path, absent), bodies[id]);
        expect(missing.status).toBe(404);
        expect(foreign.status).toBe(404);
        expect(foreign.text).toBe(missing.text);
      }
    },
  );

  it.each(withIds.map(([id, route]) => ({ id, route })))(
    'is 400 where the id is none: $id',
    async ({ id, route }) => {
      if (idNames(route).includes('simulationId')) return;
      const malformed = Object.fromEntries(OWNED.map((name) => [name, 'not-a-uuid']));
      const { status, body } = await owner.send(route.method, filled(route.path, malformed), bodies[id]);
      expect(status).toBe(400);
      expect(body.message).toEqual(idNames(route).map((name) => `${name} must be a UUID`));
    },
  );

  it.each(['accountId', 'portfolioId'])('cannot be followed: %s', async (name) => {
    for (const path of [
      '/v1/stream/orders',
      '/v1/orders/stream',
      '/v1/stream/portfolios',
      '/v1/stream/portfolio',
    ]) {
      const foreign = await stranger.get(`${path}?${name}=${owned[name] ?? ''}`);
      const missing = await stranger.get(`${path}?${name}=${NOWHERE}`);
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(missing.text);
    }
  });

  it('cannot be referenced in a body', async () => {
    const order = (portfolioId: string) =>
      stranger.post('/v1/orders', orderBody(portfolioId, { clientOrderId: 'a' }));
    expect((await order(owned['portfolioId'] ?? '')).text).toBe((await order(NOWHERE)).text);
    const batch = await stranger.post('/v1/orders/batch', {
      accountIds: [ACCOUNT],
      orderData: orderBody(owned['portfolioId'] ?? ''),
    });
    expect(batch.body.failed).toMatchObject([{ accountId: ACCOUNT, statusCode: 404 }]);
  });

  it('does not reserve a name: account ids are unique per tenant', async () => {
    const own = await stranger.post('/v1/accounts', { accountId: ACCOUNT });
    expect(own.status).toBe(201);
    expect((await stranger.get(`/v1/accounts/${ACCOUNT}/portfolios`)).body).toEqual([]);
  });

  it('is not included in any list', async () => {
    expect((await stranger.get('/v1/simulations')).body.data).toEqual([]);
    expect((await stranger.get('/v1/orders/filled/today')).body.data).toEqual([]);
  });

  it('does not make its simulation accessible', async () => {
    const borrowed = test.as({ tenantId: 'tenant-2', simulationId: owned['simulationId'] ?? '' });
    expect((await borrowed.get('/v1/accounts')).status).toBe(401);
  });
});

describe('the router', () => {
  const known = (route: Route, path: string): string => `${route.method} ${openApiPath(path)}`;
  const table = routeEntries.flatMap(([, route]) => pathsOf(route).map((path) => known(route, path))).sort();

  it('has exactly the routes of the OpenAPI document', async () => {
    const response = await test.app.inject({ method: 'GET', url: '/openapi.json' });
    const { paths } = response.json<{ paths: Record<string, object> }>();
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.sort()).toEqual(table);
    // A path that the router does not know is 404 without a token; one that it knows is not.
    for (const [, route] of routeEntries) {
      if (route.auth === 'none' || route.auth === 'optional') continue;
      for (const path of pathsOf(route)) {
        const { statusCode } = await test.app.inject({ method: route.method, url: filled(path, owned) });
        expect(statusCode, `${route.method} ${path}`).toBe(401);
      }
    }
  });
  it.each([
    ['GET', '/v1'],
    ['GET', '/v1/order'],
    ['GET', '/v1/nothing?x=1'],
    ['PATCH', '/v1/orderz'],
  ])('knows no %s %s, with or without a token', async (method, url) => {
    for (const headers of [{}, { authorization: `Bearer ${owner.token ?? ''}` }]) {
      const response = await test.app.inject({ method: method as 'GET', url, headers });
      expect(response.statusCode).toBe(404);
      expect(response.json()).toEqual({ statusCode: 404, message: 'Route not found', error: 'Not Found' });
      expect(response.headers['x-request-id']).toBeDefined();
    }
  });

  it('serves descriptions for programs and for language models', async () => {
    const welcome = await test.app.inject({ method: 'GET', url: '/' });
    expect(welcome.json()).toEqual({
      name: 'Sandpit',
      version: '0.1.0',
      docs: '/docs',
      openapi: '/openapi.json',
      health: '/v1/health',
    });
    const guide = await test.app.inject({ method: 'GET', url: '/llms.txt' });
    expect(guide.headers['content-type']).toBe('text/plain; charset=utf-8');
    for (const [, route] of routeEntries) expect(guide.body).toContain(`\`${route.method} ${route.path}\``);
  });

  it('serves the documentation without authentication', async () => {
    for (const url of ['/docs/api', '/docs/api/', '/docs/api/static/swagger-ui.css', '/openapi.json']) {
      const response = await test.app.inject({ method: 'GET', url });
      expect(response.statusCode, url).toBe(200);
      expect(response.headers['content-security-policy']).toBeDefined();
    }
  });
});
