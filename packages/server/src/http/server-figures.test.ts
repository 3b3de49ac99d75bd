/** Figures of the server, and the limit that an operator changes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPortfolio, placeOrder, pushQuote, TestApp } from '../testing/test-app.js';

const OPERATOR = 'trade read simulate admin operator';

let app: TestApp;
beforeEach(async () => void (app = await TestApp.open()));
afterEach(() => app.close());

describe('GET /v1/server', () => {
  it('counts orders, cells, open orders and writes, for operators only', async () => {
    const client = app.as({ scope: OPERATOR });
    const before = (await client.get('/v1/server')).body as { traffic: { ordersAccepted: number } };
    await pushQuote(client);
    const { portfolioId } = await openPortfolio(client);
    for (const limitPrice of [90, 91])
      await placeOrder(client, portfolioId as string, { limitPrice, quantity: 1 });
    const { status, body } = await client.get('/v1/server');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      traffic: { ordersAccepted: before.traffic.ordersAccepted + 2, failuresPerSecond: 0, streams: 0 },
      cells: { all: 1, inMemory: 1, openOrders: 2, outOfService: 0 },
      webhooks: { enabled: 0, backlog: 0 },
    });
    expect((body.memory as { residentBytes: number }).residentBytes).toBeGreaterThan(10_000_000);
    for (const method of ['GET', 'PUT'] as const) {
      const path = method === 'GET' ? '/v1/server' : '/v1/server/limits';
      const refused = await app
        .as({ scope: 'trade read simulate admin' })
        .send(method, path, method === 'PUT' ? { requestsPerMinute: 99 } : undefined);
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('INSUFFICIENT_SCOPE')]);
    }
  });
});

describe('PUT /v1/server/limits', () => {
  it('is in force at once for every tenant and route, and over a restart, until it is taken back', async () => {
    const operator = app.as({ scope: OPERATOR });
    const configured = app.settings.rateLimitDefault;
    const limitOf = async (tenantId: string): Promise<number> =>
      Number((await app.as({ tenantId }).get('/v1/orders')).headers['x-ratelimit-limit']);
    expect(await limitOf('tenant-2')).toBe(configured);
    const changed = await operator.put('/v1/server/limits', { requestsPerMinute: 12 });
    expect(changed.body).toEqual({ requestsPerMinute: 12, configured });
    expect(await limitOf('tenant-2')).toBe(12);
    for (let count = 1; count < 12; count++) await limitOf('tenant-2');
    expect((await app.as({ tenantId: 'tenant-2' }).get('/v1/orders')).status).toBe(429);
    expect(await limitOf('tenant-3')).toBe(12);
    app = await app.restart();
    expect(await limitOf('tenant-2')).toBe(12);
    const back = await app.as({ scope: OPERATOR }).put('/v1/server/limits', { requestsPerMinute: null });
    expect(back.body).toEqual({ requestsPerMinute: configured, configured });
    expect(await limitOf('tenant-2')).toBe(configured);
  });

  it.each([[{}], [{ requestsPerMinute: 9 }], [{ requestsPerMinute: 1.5 }], [{ requestsPerMinute: 'many' }]])(
    'refuses %j',
    async (body) => {
      const { status } = await app.as({ scope: OPERATOR }).put('/v1/server/limits', body);
      expect(status).toBe(400);
    },
  );
});
