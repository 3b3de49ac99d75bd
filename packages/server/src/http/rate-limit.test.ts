import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, openPortfolio, TestApp } from '../testing/test-app.js';
import { SlidingWindow } from './rate-limit.js';

describe('a sliding window', () => {
  it('lets through no more than its limit in any minute, and always what it says', () => {
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

  it('outlives a clock that is set back', () => {
    const window = new SlidingWindow(2);
    expect(window.take(100_000)).toBe(true);
    expect(window.take(50_000)).toBe(true);
    expect(window.take(50_001)).toBe(false);
    expect(window.take(160_000)).toBe(true);
  });
});

describe('rate limits', () => {
  let test: TestApp;
  beforeEach(async () => {
    test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '3' } });
  });
  afterEach(() => test.close());

  it('are counted per tenant and route, told on every answer, and slide', async () => {
    const client = test.as();
    const accounts = () => client.get('/v1/accounts');
    const first = await accounts();
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
    test.time.nowMs += 30_000;
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
    test.time.nowMs += 30_000;
    expect((await accounts()).status).toBe(200);
    expect((await accounts()).status).toBe(429);
  });

  it('are the contract’s on its two routes, and health has its own', async () => {
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

  it('come before the body', async () => {
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
