import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../config.js';
import { TestApp } from '../testing/test-app.js';

const MINE = 'https://app.example.com';
let test: TestApp;
const send = (method: 'GET' | 'OPTIONS', url: string, headers: Record<string, string>) =>
  test.app.inject({ method, url, headers });

beforeAll(async () => {
  test = await TestApp.open({ settings: { CORS_ORIGINS: `${MINE}, http://localhost:5173` } });
});
afterAll(() => test.close());

describe('pages of other origins (D144)', () => {
  it.each(['/v1/orders', '/v1/stream/quotes?symbols=A', '/v1/accounts/portfolios'])(
    'may ask whether they may: %s',
    async (url) => {
      const reply = await send('OPTIONS', url, {
        origin: MINE,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      });
      expect(reply.statusCode).toBe(204);
      expect(reply.headers).toMatchObject({
        'access-control-allow-origin': MINE,
        'access-control-allow-methods': expect.stringContaining('DELETE') as string,
        'access-control-allow-headers': expect.stringContaining('Idempotency-Key') as string,
        vary: 'Origin',
      });
    },
  );

  it('may send the headers of Alpaca’s clients and tools', async () => {
    const reply = await send('OPTIONS', '/alpaca/v2/orders/1', {
      origin: MINE,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'apca-api-key-id,apca-api-secret-key,mcp-protocol-version',
    });
    expect(reply.statusCode).toBe(204);
    expect(reply.headers['access-control-allow-methods']).toContain('PATCH');
    for (const name of ['APCA-API-KEY-ID', 'APCA-API-SECRET-KEY', 'Mcp-Protocol-Version'])
      expect(reply.headers['access-control-allow-headers']).toContain(name);
  });

  it('may read answers, refusals and pages', async () => {
    const authorization = `Bearer ${test.token()}`;
    for (const [url, headers] of [
      ['/v1/accounts', { authorization }],
      ['/v1/accounts', {}],
      ['/v1/health', {}],
      ['/openapi.json', {}],
      ['/docs/api/', {}],
      ['/nowhere', {}],
    ] as const) {
      const reply = await send('GET', url, { ...headers, origin: 'http://localhost:5173' });
      expect([url, reply.headers['access-control-allow-origin']]).toEqual([url, 'http://localhost:5173']);
      expect(reply.headers['access-control-expose-headers']).toContain('X-Next-Cursor');
    }
  });

  it('receive no CORS headers if their origin is not listed', async () => {
    const reply = await send('GET', '/v1/health', { origin: 'https://evil.example.com' });
    expect(reply.statusCode).toBe(200);
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
    const asked = await send('OPTIONS', '/v1/orders', {
      origin: `${MINE}.evil.com`,
      'access-control-request-method': 'POST',
    });
    expect(asked.statusCode).toBe(405);
    expect(asked.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it.each(['*', 'app.example.com', 'https://app.example.com/', 'https://a.com;https://b.com'])(
    'cannot be listed in CORS_ORIGINS as %s',
    (origins) => {
      expect(() => readSettings({ CORS_ORIGINS: origins })).toThrow('CORS_ORIGINS must be origins such as');
    },
  );
});
