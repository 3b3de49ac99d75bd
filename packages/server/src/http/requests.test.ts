/** Rules that hold for every request, whatever its operation. */
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../store/journal.js';
import { openPortfolio, orderBody, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterEach(() => test.close());

const json = { 'content-type': 'application/json' };
const post = (payload: string, headers: Record<string, string> = json) =>
  client.inject({ method: 'POST', url: '/v1/orders', payload, headers });

/** Sends bytes on a connection and collects the reply until the connection ends. */
const exchange = (port: number, bytes: string): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (data) => (text += data.toString()));
    socket.on('close', () => resolve(text));
  });

describe('A request body', () => {
  it.each([
    ['does not parse', '{"a":', json, 400, 'Body is not valid JSON'],
    [
      'is of another type',
      '<a/>',
      { 'content-type': 'application/xml' },
      415,
      'Content-Type must be application/json',
    ],
    [
      'is a form',
      'a=1',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'Content-Type must be application/json',
    ],
    ['has no type', 'x', {}, 415, 'Content-Type must be application/json'],
    ['has an empty type', 'x', { 'content-type': '' }, 415, 'Content-Type must be application/json'],
    [
      'is compressed',
      'x',
      { ...json, 'content-encoding': 'gzip' },
      415,
      'Content-Type must be application/json',
    ],
    ['is too large', JSON.stringify('x'.repeat(1_048_576)), json, 413, 'Body must not be larger than 1 MiB'],
  ])('that %s is refused', async (_, payload, headers, status, message) => {
    const reply = await post(payload, headers);
    expect(reply.body).toMatchObject({ statusCode: status, message });
    expect(reply.status).toBe(status);
  });

  it.each(['null', '[]', '7', '"x"', ''])('is refused if it is not an object: %s', async (payload) => {
    expect((await post(payload)).body.message).toEqual(['body must be an object']);
  });

  it.each([
    '{"__proto__":{"portfolioId":"x"}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"toString":1}',
    `{"symbol":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  ])('that plays tricks is only a wrong one', async (payload) => {
    expect((await post(payload)).status).toBe(400);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each(['', 'Content-Type:\r\n', 'Content-Type: \r\n'])(
    'that is empty needs no content type (D147): %j',
    async (header) => {
      const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
      await test.app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = test.app.server.address() as AddressInfo;
      const head =
        `POST /v1/accounts/portfolios/${portfolioId}/reset HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
        `Authorization: Bearer ${client.token ?? ''}\r\n${header}`;
      for (const rest of [
        '\r\n',
        'Content-Length: 0\r\n\r\n',
        'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ]) {
        expect(await exchange(port, head + rest)).toMatch(/^HTTP\/1\.1 200 /);
      }
    },
  );

  it('may be missing with any content type on routes without a body', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    const url = `/v1/accounts/portfolios/${portfolioId}/reset`;
    for (const headers of [{}, json, { 'content-type': 'text/plain', 'content-length': '0' }]) {
      expect((await client.inject({ method: 'POST', url, headers })).status).toBe(200);
    }
    expect(
      (
        await client.inject({
          method: 'DELETE',
          url: `/v1/accounts/portfolios/${portfolioId}`,
          headers: json,
        })
      ).status,
    ).toBe(200);
  });
});

describe('A request', () => {
  it('keeps a valid X-Request-Id, and replaces an invalid one', async () => {
    const named = await client.get('/v1/accounts', { 'x-request-id': 'my-request.1' });
    expect(named.headers['x-request-id']).toBe('my-request.1');
    const odd = await client.get('/v1/accounts', { 'x-request-id': '<script>' });
    expect(odd.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is answered with headers that prevent caching and embedding', async () => {
    const { headers } = await client.get('/v1/accounts');
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  it('with a malformed URL is answered with 400', async () => {
    const response = await test.app.inject({ method: 'GET', url: '/v1/orders/%zz' });
    expect(response.json()).toEqual({ statusCode: 400, message: 'Malformed URL', error: 'Bad Request' });
    expect(response.headers['x-request-id']).toBeDefined();
  });

  it('a request that is not HTTP gets an error in the same shape', async () => {
    await test.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = test.app.server.address() as AddressInfo;
    const answer = await exchange(port, 'NONSENSE\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('x-request-id: ');
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toEqual({
      statusCode: 400,
      message: 'Malformed request',
      error: 'Bad Request',
    });
  });

  it('a request that fails with a 500 reveals no internals', async () => {
    test.main.read = () => Promise.reject(new TypeError('secret detail'));
    const { status, body } = await client.get('/v1/accounts');
    expect(status).toBe(500);
    expect(body).toEqual({
      statusCode: 500,
      message: 'Internal server error',
      error: 'Internal Server Error',
    });
  });

  it('a request that cannot be committed is answered with 503', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    test.main.submit = () => Promise.reject(new StoreUnavailable('disk full'));
    const { status, body, headers } = await client.post('/v1/orders', orderBody(portfolioId));
    expect(status).toBe(503);
    expect(body).toEqual({
      statusCode: 503,
      message: 'Service unavailable',
      error: { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 },
    });
    expect(headers['retry-after']).toBe('1');
  });
});

describe('health', () => {
  it('is probed, is public, and has a timestamp', async () => {
    const stranger = test.withToken(undefined);
    for (const url of ['/v1/health', '/v1/ready']) {
      const { status, body } = await stranger.get(url);
      expect(status).toBe(200);
      const timestamp = new Date(test.time.nowMs).toISOString();
      expect(body).toEqual({ status: 'ok', timestamp, ...(url === '/v1/ready' && { reasons: [] }) });
    }
  });

  it('answers 503 within a second after the store fails', async () => {
    const stranger = test.withToken(undefined);
    expect((await stranger.get('/v1/health')).status).toBe(200);
    Object.assign(test.store, { probe: () => Promise.reject(new StoreUnavailable('disk full')) });
    test.time.nowMs += 1000;
    const { status, body } = await stranger.get('/v1/health');
    expect(status).toBe(503);
    const timestamp = new Date(test.time.nowMs).toISOString();
    expect(body).toEqual({ status: 'error', timestamp });
    // The reason is in the answer of `/v1/ready` alone (D158).
    expect((await stranger.get('/v1/ready')).body).toEqual({
      status: 'error',
      timestamp,
      reasons: ['the store does not commit'],
    });
    Object.assign(test.store, { probe: () => Promise.resolve() });
    test.time.nowMs += 1000;
    expect((await stranger.get('/v1/ready')).body).toMatchObject({ status: 'ok', reasons: [] });
    const { history } = test.store;
    const usual = history.health();
    history.health = () => ({ ...usual, status: 'rebuilding' });
    expect((await stranger.get('/v1/ready')).body).toMatchObject({
      status: 'ok',
      reasons: ['the history is being rebuilt'],
    });
  });

  it("reports in /v1/ready how far the market is ahead after the machine's clock was set back", async () => {
    const wall = await TestApp.open({ config: { clock: 'wall', calendar: 'always-open' } });
    try {
      const ready = () => wall.withToken(undefined).get('/v1/ready');
      wall.time.nowMs -= 30_000;
      expect((await ready()).body).toMatchObject({ status: 'ok', reasons: [] });
      wall.time.nowMs -= 7_200_000;
      const { status, body } = await ready();
      expect(status).toBe(200);
      expect(body.reasons).toEqual([
        expect.stringMatching(/^the market is 72\d\d s ahead of the machine’s clock, which was set back; /),
      ]);
    } finally {
      await wall.close();
    }
  });
});

describe('A path between nodes', () => {
  const paths = ['market', 'take', 'status', 'source', 'classes'].map((name) => `cluster/${name}`);

  it('is 404 in every form on the port for clients, with and without a token', async () => {
    await test.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = test.app.server.address() as AddressInfo;
    const token = test.token();
    const forms = paths.flatMap((path) => [
      `GET /${path}`,
      `POST /${path}`,
      `POST /%63${path.slice(1)}`,
      `POST //${path}`,
      `POST /v1/../${path}`,
      `POST /v1/%2e%2e/${path}`,
      `POST http://127.0.0.1:${port}/${path}`,
      `CONNECT /${path}`,
      `CONNECT 127.0.0.1:${port}`,
    ]);
    for (const form of forms)
      for (const head of ['', `authorization: Bearer ${token}\r\n`]) {
        const ending = `${head}connection: close\r\n\r\n`;
        expect(await exchange(port, `${form} HTTP/1.1\r\nhost: a\r\n${ending}`), form).toMatch(
          /^HTTP\/1.1 404 [^]*"statusCode":404/,
        );
      }
    for (const path of paths) {
      const upgrade =
        'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==';
      const refused = await exchange(port, `GET /${path} HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n\r\n`);
      expect(refused).toMatch(/^HTTP\/1.1 404 /);
    }
  });
});
