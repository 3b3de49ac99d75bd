/** Whatever comes in from strangers: refused or answered, never a 500, and never an error in the log. */
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { routeEntries, pathsOf } from '@sandpit/protocol';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { TestApp } from '../testing/test-app.js';

let test: TestApp;
let port: number;
let bearer: string;
const logged: string[] = [];

beforeAll(async () => {
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '1000000' }, log });
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = test.app.server.address() as AddressInfo);
  bearer = `Authorization: Bearer ${test.token()}\r\n`;
  logged.length = 0;
});
afterAll(() => test.close());
afterEach(() => {
  expect(logged).toEqual([]);
});

/** Sends bytes on a connection and collects the reply until the first answer has begun or the connection ends; or resets the connection. */
const answerTo = (bytes: string, breakOff = false): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(bytes, 'latin1', () => {
        if (breakOff) socket.resetAndDestroy();
      }),
    );
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (text.includes('\r\n\r\n')) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });

const statusIn = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);

const get = (path: string, headers = ''): Promise<string> =>
  answerTo(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);

it.each([
  ['/docs/api/static/../x', 404],
  ['/docs/api/static/..', 404],
  ['/docs/api/static/%2e%2e/x', 404],
  ['/docs/api/static/%2e%2e%2f%2e%2e%2fetc/passwd', 404],
  ['/docs/api/static/..%5cx', 404],
  ['/docs/api/static/%00', 404],
  ['/docs/api/static/a%00b', 404],
  ['/docs/api/static/%ff', 400],
  [`/docs/api/static/${'a'.repeat(1100)}`, 404],
  ['/docs/../x', 404],
  ['/docs/..', 404],
  ['/docs/%2e%2e/x', 404],
  ['/docs/%2e%2e%2f%2e%2e%2fetc/passwd', 404],
  ['/docs/..%5cx', 404],
  ['/docs/%00', 404],
  ['/docs/a%00b', 404],
  ['/docs/%ff', 400],
  [`/docs/${'a'.repeat(1100)}`, 404],
  [`/v1/orders/${'a'.repeat(1100)}`, 401],
  [`/v1/orders/${'a'.repeat(15_000)}`, 401],
  ['/v1/orders/%00', 401],
  ['/v1/stream/orders?ticket=__proto__', 401],
  ['/%', 400],
  ['//', 404],
  ['*', 404],
])('a path that leads nowhere: %s', async (path, status) => {
  expect(statusIn(await get(path))).toBe(status);
});

it('a path parameter of any length is validated after the token', async () => {
  const answer = await get(`/v1/orders/${'a'.repeat(14_000)}`, bearer);
  expect(statusIn(answer)).toBe(400);
  expect(answer).toContain('orderId must be a UUID');
});

it.each([
  ['Range: bytes=99999999-', 416],
  ['If-Match: "x"', 412],
  ['Expect: nonsense', 417],
  ['Host: y', 400],
])('a header that cannot be met: %s', async (header, status) => {
  const answer = await get('/docs/api/static/swagger-ui.css', `${header}\r\n`);
  expect(statusIn(answer)).toBe(status);
  expect(answer).toContain(`"statusCode":${status}`);
});

it('a request without a host is refused in HTTP 1.1 and answered in HTTP 1.0', async () => {
  expect(statusIn(await answerTo('GET /v1/health HTTP/1.1\r\n\r\n'))).toBe(400);
  expect(statusIn(await answerTo('GET /v1/health HTTP/1.0\r\n\r\n'))).toBe(200);
});

it.each([
  ['Content-Length: 1000\r\n\r\n{"a":'],
  ['Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":'],
  ['Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n'],
])('a body that breaks off: %j', async (rest) => {
  for (const [path, head] of [
    ['/v1/orders', bearer],
    ['/v1/auth/token', ''],
  ] as const) {
    const type = 'Content-Type: application/json\r\n';
    await answerTo(`POST ${path} HTTP/1.1\r\nHost: x\r\n${head}${type}${rest}`, true);
  }
  // The server has processed the earlier bytes once it answers a later request.
  expect(statusIn(await get('/v1/health'))).toBe(200);
});

/** Pieces that have been trouble somewhere. */
const nasty = fc.oneof(
  fc.constantFrom(
    ...[
      '..',
      '.',
      '%2e%2e',
      '%2f',
      '%5c',
      '\\',
      '%00',
      '%',
      '%zz',
      '%ff',
      '%c0%ae',
      '__proto__',
      'constructor',
    ],
    ...[
      '*',
      ';',
      '~',
      '%0d%0a',
      "'",
      '"',
      '<',
      '{',
      '[',
      '%25',
      '%ud800',
      '-1',
      '1e999',
      'NaN',
      'null',
      '\xff',
    ],
  ),
  fc.string({ maxLength: 8 }).map((text) => encodeURIComponent(text)),
  fc.integer({ min: 1, max: 9000 }).map((length) => 'a'.repeat(length)),
);
const routePaths = routeEntries
  .flatMap(([id, route]) => pathsOf(id, route).map(([, path]) => [route.method, path] as const))
  .concat([
    ['GET', '/docs/api/static/:file'],
    ['GET', '/docs/api/:file'],
    ['GET', '/docs/:file'],
    ['GET', '/openapi.json'],
    ['GET', '/:nothing'],
  ]);

it('any route with any parameters, query and headers, with and without a token', async () => {
  const request = fc.record({
    route: fc.constantFrom(...routePaths),
    fill: fc.array(nasty, { minLength: 3, maxLength: 3 }),
    tail: fc.option(nasty, { nil: '' }),
    query: fc.array(fc.tuple(nasty, nasty), { maxLength: 3 }),
    headers: fc.array(
      fc.tuple(
        fc.constantFrom(
          ...[
            'Content-Type',
            'Content-Encoding',
            'Idempotency-Key',
            'Last-Event-ID',
            'X-Request-Id',
            'Accept',
          ],
          ...[
            'Accept-Encoding',
            'Range',
            'If-None-Match',
            'If-Modified-Since',
            'Accept-Version',
            'Cookie',
            'Origin',
          ],
        ),
        nasty,
      ),
      { maxLength: 3 },
    ),
    body: fc.oneof(fc.constant(''), nasty, fc.json()),
    hasToken: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      request,
      async ({ route: [method, path], fill, tail, query, headers, body, hasToken }) => {
        let used = 0;
        const filled = path.replace(/:\w+/g, () => fill[used++ % fill.length] ?? '') + tail;
        const asked = query.map(([name, value]) => `${name}=${value}`).join('&');
        const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
        const latin = Buffer.from(body);
        const answer = await answerTo(
          `${method} ${filled}${asked === '' ? '' : `?${asked}`} HTTP/1.1\r\nHost: x\r\n${hasToken ? bearer : ''}${lines}` +
            `Content-Length: ${latin.length}\r\n\r\n${latin.toString('latin1')}`,
        );
        const status = statusIn(answer);
        expect(status, `${method} ${filled.slice(0, 200)}: ${answer.slice(0, 300)}`).toBeLessThan(500);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(logged).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});
