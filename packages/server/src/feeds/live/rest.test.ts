import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Rest } from './rest.js';

interface Prepared {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

let answers: Prepared[];
let asked: string[];
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  const { status, body = '{}', headers = {} } = answers.shift() ?? { status: 200 };
  response.writeHead(status, headers).end(body);
});
let rest: Rest;
beforeEach(async () => {
  answers = [];
  asked = [];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  rest = openRest(6000);
});
afterEach(async () => {
  rest.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const openRest = (perMinute: number): Rest =>
  new Rest({
    name: 'The source',
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers: { authorization: 'Bearer stays-secret' },
    perMinute,
  });

describe('Rest: requests to a source', () => {
  it('are sent again after 429, at the time that the source states', async () => {
    answers = [
      { status: 429, headers: { 'retry-after': '0' } },
      { status: 429, headers: { 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) - 5) } },
      { status: 200, body: '{"a":1}' },
    ];
    expect(await rest.get('/x', { b: 2, c: undefined })).toEqual({ a: 1 });
    expect(asked).toEqual(['/x?b=2', '/x?b=2', '/x?b=2']);
  });

  it('fail after three 429 answers, without a report of a wrong key', async () => {
    answers = Array.from({ length: 3 }, () => ({ status: 429, headers: { 'retry-after': '0' } }));
    await expect(rest.get('/x')).rejects.toMatchObject({
      kind: 'RETRY',
      message: 'The source is asked too often (HTTP 429)',
    });
  });

  it.each<[Prepared, string, RegExp]>([
    [{ status: 401 }, 'REFUSED', /refuses the key \(HTTP 401\)/],
    [{ status: 403 }, 'REFUSED', /refuses the key \(HTTP 403\)/],
    [{ status: 503 }, 'RETRY', /answered HTTP 503/],
    [{ status: 200, body: '<html>' }, 'RETRY', /the answer is not JSON/],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'RETRY', /no answer/],
  ])('fail with a message that does not include the key: %j', async (answer, kind, message) => {
    answers = [answer];
    const failure = (await rest.get('/x').catch((error: unknown) => error)) as Error & { kind: string };
    expect(failure.kind).toBe(kind);
    expect(failure.message).toMatch(message);
    expect(String(failure.stack)).not.toContain('stays-secret');
  });

  it('stay within three quarters of the rate of the plan', async () => {
    const slow = openRest(4);
    await Promise.all([1, 2, 3].map((n) => slow.get(`/${n}`)));
    // The fourth would have to wait for a minute.
    await expect(slow.get('/4')).rejects.toMatchObject({
      kind: 'RETRY',
      message: 'The source allows no more requests for now',
    });
    expect(asked).toHaveLength(3);
    slow.close();
  });
});
