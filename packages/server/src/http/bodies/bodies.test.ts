/** The limits of bodies (D232), over HTTP. */
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPortfolio, type Reply, TestApp, type TestClient } from '../../testing/test-app.js';

const json = { 'content-type': 'application/json' };
const KIB = 1024;
const MIB = 1_048_576;
const STRANGER = 'Body must not be larger than 16 KiB without a valid credential';

let test: TestApp;
let client: TestClient;

beforeEach(async () => {
  test = await TestApp.open({ settings: { BYTES_PER_TENANT: String(16 * MIB) } });
  client = test.as({ tier: 'ENTERPRISE' });
});
afterEach(() => test.close());

const quote = (i: number, more: object = {}): object => ({ symbol: `S${i}`, bid: 1, ask: 2, ...more });
const quotes = (bytes: number): object => ({
  quotes: Array.from({ length: 1000 }, (_, i) => quote(i, { symbol: 'x'.repeat(Math.ceil(bytes / 1000)) })),
});

/**
 * The answer to raw bytes, sent in the given pieces, one a turn. With `isUnfinished` the client leaves once it has an answer, because the server
 * waits for the rest of the request.
 */
async function exchange(pieces: readonly (string | Buffer)[], isUnfinished = false): Promise<string> {
  if (!test.app.server.listening) await test.app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((test.app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.setNoDelay(true);
  let answer = '';
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
      if (isUnfinished && answer.includes('\r\n\r\n')) socket.destroy();
    });
    socket.on('close', () => resolve());
    socket.on('error', () => resolve());
  });
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise(setImmediate);
  }
  await ended;
  return answer;
}

const head = (method: string, path: string, token: string | undefined, lines: string): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
  `${token === undefined ? '' : `Authorization: Bearer ${token}\r\n`}${lines}\r\n\r\n`;

const chunked = (text: string, bytes: number): string[] => {
  const pieces: string[] = [];
  for (let i = 0; i < text.length; i += bytes) {
    const piece = text.slice(i, i + bytes);
    pieces.push(`${piece.length.toString(16)}\r\n${piece}\r\n`);
  }
  return [...pieces, '0\r\n\r\n'];
};

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

describe('Bodies without a valid credential', () => {
  it.each(['/v1/auth/token', '/paperinvest/v1/auth/token'])(
    '%s: at most 16 KiB, announced or not',
    async (url) => {
      const large = JSON.stringify({ apiKey: 'x'.repeat(16 * KIB) });
      const reply = await test.withToken(undefined).send('POST', url, large);
      expect(reply.body).toMatchObject({ statusCode: 413, message: STRANGER });
      const small = JSON.stringify({ apiKey: 'x' }).padEnd(16 * KIB);
      expect((await test.withToken(undefined).send('POST', url, small)).status).toBe(401);
      const parts = [head('POST', url, undefined, 'Transfer-Encoding: chunked'), ...chunked(large, 4096)];
      expect(await exchange(parts)).toContain(STRANGER);
    },
  );

  it.each([
    ['/v1/orders', 401],
    ['/mcp', 401],
    ['/alpaca/v2/orders', 401],
    ['/v1/nothing', 404],
  ])('%s: is answered %i before the body arrives', async (url, status) => {
    const pieces = [head('POST', url, undefined, `Content-Length: ${MIB}`), '{'];
    expect(statusOf(await exchange(pieces, true))).toBe(status);
  });

  it('a GET with a body: the body is not read', async () => {
    const answer = await exchange([
      head('GET', '/v1/health', undefined, 'Content-Length: 20'),
      'x'.repeat(20),
    ]);
    expect(statusOf(answer)).toBe(200);
  });
});

describe('Bodies of a tenant', () => {
  it('without a list: at most 256 KiB', async () => {
    const send = (bytes: number): Promise<Reply> =>
      client.send('POST', '/v1/accounts', JSON.stringify({ name: 'x'.repeat(bytes) }));
    expect((await send(255 * KIB)).status).toBe(400);
    expect((await send(256 * KIB)).body.message).toBe('Body must not be larger than 256 KiB');
    expect((await send(MIB)).body.message).toBe('Body must not be larger than 1 MiB');
  });

  it('with a list: elements of at most 256 KiB, and as much outside of the list', async () => {
    const url = '/v1/simulation/quotes';
    const asked = await client.put(url, quotes(400 * KIB));
    expect(asked.status, asked.text).toBe(400);
    const parts = 'Each element of a list, and the rest of the body, must not be larger than 256 KiB';
    const longElement = await client.put(url, { quotes: [quote(1, { symbol: 'x'.repeat(300 * KIB) })] });
    expect(longElement.body).toMatchObject({ statusCode: 413, message: parts });
    const longRest = await client.put(url, { quotes: [], x: 'x'.repeat(300 * KIB) });
    expect(longRest.body).toMatchObject({ statusCode: 413, message: parts });
  });

  it('a long list: has the effect and the messages of a short one', async () => {
    await openPortfolio(client);
    const url = '/v1/simulation/quotes';
    const blank = ' '.repeat(300);
    const bodyOf = (list: readonly object[]): string =>
      `{"quotes":[${list.map((one) => JSON.stringify(one) + blank).join(',')}]}`;
    const many = Array.from({ length: 1000 }, (_, i) => quote(i, { symbol: 'AAPL', bid: 100, ask: 101 + i }));
    expect(bodyOf(many).length).toBeGreaterThan(256 * KIB);
    const sent = await client.send('PUT', url, bodyOf(many));
    expect(sent.status, sent.text).toBe(200);
    const bad = many.map((one, i) => (i % 300 === 7 ? { ...one, ask: 'x', more: 1 } : one));
    const long = await client.send('PUT', url, bodyOf(bad));
    const short = await client.send('PUT', url, JSON.stringify({ quotes: bad }));
    expect(long.body).toEqual(short.body);
    expect(long.body.message).toHaveLength(8);
    const tooMany = await client.send('PUT', url, bodyOf([...many, ...many]));
    expect(tooMany.body.message).toEqual(['quotes must contain 1 to 1000 elements']);
  });

  it('a long body: is the same for an Idempotency-Key in other words', async () => {
    const made = (await client.post('/v1/simulations', { feed: 'push', clock: 'manual' })).body;
    const parts = [{ simulationId: made.simulationId as string, advance: { by: 'PT1M' } }];
    const keyed = (body: string): Promise<Reply> =>
      client.send('POST', '/v1/simulations/step', body, { ...json, 'idempotency-key': 'k' });
    const first = await keyed(JSON.stringify({ steps: parts }));
    expect(first.status, first.text).toBe(200);
    const [part = {}] = parts;
    const long = JSON.stringify({ steps: [Object.fromEntries(Object.entries(part).reverse())] }).replace(
      '[',
      `[${' '.repeat(200 * KIB)}`,
    );
    const second = await keyed(long);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await keyed(long.replace('PT1M', 'PT2M'))).status).toBe(422);
  });

  it('a body in chunks of one byte, and one without a length', async () => {
    const { token } = client;
    const body = '{"quotes":[{"symbol":"\\u0041APL","bid":1,"ask":2}]}';
    const lines = 'Transfer-Encoding: chunked';
    for (const bytes of [1, 7, 1000]) {
      const answer = await exchange([
        head('PUT', '/v1/simulation/quotes', token, lines),
        ...chunked(body, bytes),
      ]);
      expect(statusOf(answer), answer).toBe(200);
    }
    const large = JSON.stringify(quotes(1100 * KIB));
    const parts = [head('PUT', '/v1/simulation/quotes', token, lines), ...chunked(large, 100 * KIB)];
    expect(await exchange(parts)).toContain('Body must not be larger than 1 MiB');
  });

  it('the first body of an unknown type is refused, an empty one is not', async () => {
    const send = (payload: string): Promise<Reply> =>
      client.inject({
        method: 'POST',
        url: '/v1/accounts',
        payload,
        headers: { 'content-type': 'text/csv' },
      });
    expect((await send('x')).status).toBe(415);
    expect((await send('')).body.message).toEqual(['body must be an object']);
  });

  it('bytes beyond BYTES_PER_TENANT within ten seconds are 429 with Retry-After, of this tenant alone', async () => {
    const url = '/v1/simulations/step';
    const body = `{"steps":[]}`.padEnd(8 * MIB);
    const other = test.as({ tenantId: 'other', tier: 'ENTERPRISE' });
    for (let i = 0; i < 2; i += 1) expect((await client.send('POST', url, body)).status).toBe(400);
    test.time.monotonicMs += 4000;
    const refused = await client.send('POST', url, body);
    expect(refused.body).toMatchObject({ statusCode: 429, error: { code: 'RATE_LIMITED', retryAfter: 6 } });
    expect(refused.headers['retry-after']).toBe('6');
    expect((await other.send('POST', url, body)).status).toBe(400);
    test.time.monotonicMs += 6000;
    expect((await client.send('POST', url, body)).status).toBe(400);
  });

  it('a batch of JSON-RPC beyond 256 KiB is cut at its messages', async () => {
    const message = { jsonrpc: '2.0', method: 'notifications/x', params: { x: 'x'.repeat(3000) } };
    const answer = await test.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        ...json,
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${client.token ?? ''}`,
      },
      payload: JSON.stringify(Array.from({ length: 100 }, () => message)),
    });
    expect(answer.statusCode, answer.body).toBe(202);
  });

  it('a positions file beyond 256 KiB is read', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    const send = (payload: string, type: string): Promise<Reply> =>
      client.inject({
        method: 'POST',
        url: `/v1/accounts/portfolios/${portfolioId}/import`,
        payload,
        headers: { 'content-type': type },
      });
    const rows = Array.from({ length: 3000 }, (_, i) => ({
      symbol: `NOPE${i}`,
      qty: '1',
      note: 'x'.repeat(80),
    }));
    const list = await send(JSON.stringify(rows), 'application/json');
    expect(list.body.message[0]).toBe('row 1: NOPE0: unknown symbol');
    const csv = await send(
      `symbol,quantity\n${rows.map(({ symbol }) => `${symbol},1${' '.repeat(100)}`).join('\n')}`,
      'text/csv',
    );
    expect(csv.body.message[0]).toBe('row 2: NOPE0: unknown symbol');
  });
});
