import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, openPortfolio, orderBody, TestApp } from '../testing/test-app.js';
import { SlidingWindow } from './rate-limit.js';

describe('a sliding window', () => {
  it('admits at most its limit in any minute, and always the announced remainder', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 }),
        (limit, gaps) => {
          const window = new SlidingWindow(limit);
          const passed: number[] = [];
          let nowMs = 1_700_000_000_123;
          for (const gap of gaps) {
            nowMs += gap;
            const allowed = window.take(nowMs);
            // A quarter second is as finely as it counts.
            const recent = passed.filter((at) => at > nowMs - 59_750).length;
            if (allowed) {
              expect(recent).toBeLessThan(limit);
              passed.push(nowMs);
            } else {
              const wait = window.resetSeconds(nowMs);
              expect(wait).toBeGreaterThan(0);
              expect(wait).toBeLessThanOrEqual(60);
              expect(passed.filter((at) => at > nowMs - 60_000).length).toBeGreaterThanOrEqual(limit);
            }
            expect(window.remaining).toBeGreaterThanOrEqual(0);
          }
          nowMs += window.resetSeconds(nowMs) * 1000;
          expect(window.take(nowMs)).toBe(true);
        },
      ),
    );
  });

  it('admits several requests together or none, and reports when they fit', () => {
    const window = new SlidingWindow(10);
    expect(window.take(0, 3)).toBe(true);
    expect(window.take(20_000, 6)).toBe(true);
    expect(window.take(30_000, 2)).toBe(false);
    expect(window.remaining).toBe(1);
    expect(window.secondsUntilRoomFor(1, 30_000)).toBe(0);
    expect(window.secondsUntilRoomFor(4, 30_000)).toBe(30);
    expect(window.secondsUntilRoomFor(5, 30_000)).toBe(50);
    expect(window.take(60_000, 4)).toBe(true);
    expect(window.take(80_000, 6)).toBe(true);
  });
});

describe('rate limits', () => {
  let test: TestApp;
  beforeEach(async () => {
    test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '3' } });
  });
  afterEach(() => test.close());

  it('are counted per tenant and route in a sliding window, with headers on every answer', async () => {
    const client = test.as();
    const accounts = () => client.get('/v1/accounts');
    const first = await accounts();
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
    test.time.monotonicMs += 30_000;
    await accounts();
    expect((await accounts()).headers['x-ratelimit-remaining']).toBe('0');
    const { status, body, headers } = await accounts();
    expect(status).toBe(429);
    expect(body).toEqual({
      statusCode: 429,
      message: 'Rate limit exceeded',
      error: { code: 'RATE_LIMITED', retryAfter: Number(headers['retry-after']) },
    });
    expect(headers['x-ratelimit-reset']).toBe(headers['retry-after']);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(30);
    expect((await client.get('/v1/simulations')).status).toBe(200);
    expect((await test.as({ tenantId: 'other' }).get('/v1/accounts')).status).toBe(200);
    // The first request has left the window, the two of the middle have not.
    test.time.monotonicMs += 30_000;
    expect((await accounts()).status).toBe(200);
    expect((await accounts()).status).toBe(429);
  });

  it('rate limits: do not depend on the wall clock', async () => {
    const accounts = () => test.as({ notAfterMs: Infinity }).get('/v1/accounts');
    for (let i = 0; i < 3; i++) await accounts();
    for (const ms of [600_000, -1_200_000, 3_600_000]) {
      test.time.nowMs += ms;
      expect((await accounts()).status).toBe(429);
    }
    test.time.nowMs -= 3_600_000;
    test.time.monotonicMs += 60_000;
    expect((await accounts()).status).toBe(200);
  });

  it('count every order of a batch, all or none', async () => {
    const client = test.as();
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    const batch = (accounts: number) =>
      client.post('/v1/orders/batch', {
        accountIds: Array.from({ length: accounts }, (_, i) => (i === 0 ? ACCOUNT : randomUUID())),
        orderData: orderBody(portfolioId),
      });
    const first = await batch(2);
    expect(first.status).toBe(201);
    expect(first.headers['x-ratelimit-remaining']).toBe('1');
    test.time.monotonicMs += 20_000;
    const refused = await batch(2);
    expect(refused.status).toBe(429);
    // Until the first one has left the window.
    expect(refused.body.error.retryAfter).toBe(40);
    expect((await client.get(`/v1/orders/portfolio/${portfolioId}`)).body.pagination.total).toBe(1);
    test.time.monotonicMs += 60_000;
    // Larger than the limit: it uses all of it.
    const large = await batch(5);
    expect(large.status).toBe(201);
    expect(large.headers['x-ratelimit-remaining']).toBe('0');
  });

  it('count the replay of a batch once', async () => {
    const client = test.as();
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    const body = { accountIds: [ACCOUNT, randomUUID()], orderData: orderBody(portfolioId) };
    const send = () => client.post('/v1/orders/batch', body, { 'idempotency-key': 'k' });
    expect((await send()).headers['x-ratelimit-remaining']).toBe('1');
    const again = await send();
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-ratelimit-remaining': '0' });
  });

  it('are 500 on the two routes of the contract, and 100 for health', async () => {
    const client = test.as();
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    for (const url of [
      `/v1/orders/account/${ACCOUNT}`,
      `/v1/accounts/portfolios/${portfolioId}/day-trades`,
    ]) {
      expect((await client.get(url)).headers['x-ratelimit-limit']).toBe('500');
    }
    const health = await test.withToken(undefined).get('/v1/health');
    expect(health.headers['x-ratelimit-limit']).toBe('100');
  });

  it.each(['/v1/health', '/v1/ready'])('never refuse %s: it is the last verdict then (D216)', async (url) => {
    const anybody = test.withToken(undefined);
    const replies = [];
    for (let i = 0; i < 1010; i++) replies.push(await anybody.get(url));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(replies.at(-1)?.headers['x-ratelimit-remaining']).toBe('0');
    test.simulations.market.takeOutOfService('Record 1 is damaged');
    test.time.nowMs += 1001;
    expect((await anybody.get(url)).status).toBe(503);
  });

  it('are checked before the body', async () => {
    const client = test.as();
    for (let i = 0; i < 3; i++) expect((await client.post('/v1/orders', {})).status).toBe(400);
    expect((await client.post('/v1/orders', {})).status).toBe(429);
  });

  it('count an alias as the route itself', async () => {
    const client = test.as();
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    await client.get(`/v1/accounts/portfolios/${portfolioId}/activities`);
    const { headers } = await client.get(`/v1/activity-log/portfolio/${portfolioId}`);
    expect(headers['x-ratelimit-remaining']).toBe('1');
  });
});
