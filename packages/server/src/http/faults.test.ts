import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Body,
  NOWHERE,
  openPortfolio,
  orderBody,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client)) as { portfolioId: string });
  await pushQuote(client);
});
afterEach(() => test.close());

async function setFault(fault: object, more: object = {}): Promise<Body> {
  const reply = await client.post('/v1/simulation/faults', { match: {}, fault, ...more });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body;
}

const portfolio = () => client.get(`/v1/accounts/portfolios/${portfolioId}`);

async function listen(): Promise<string> {
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`;
}

const authorized = () => ({ authorization: `Bearer ${client.token ?? ''}` });

const statusOf = async (url: string): Promise<number> =>
  (await test.app.inject({ url, headers: authorized() })).statusCode;

const post = (base: string, body: object, headers: object = {}): Promise<Response> =>
  fetch(`${base}/v1/orders`, {
    method: 'POST',
    headers: { ...authorized(), 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('Faults of answers', () => {
  it.each([
    [429, '1', 'Rate limit exceeded'],
    [500, undefined, 'Internal server error'],
    [502, undefined, 'Bad gateway'],
    [503, '1', 'Service unavailable'],
    [504, undefined, 'Gateway timeout'],
  ])(
    'status %s: answers once in the form of the API, marked with the fault',
    async (status, retry, message) => {
      const { faultId } = await setFault({ status });
      const reply = await portfolio();
      expect(reply).toMatchObject({ status, body: { message } });
      expect(reply.headers['x-sandpit-fault']).toBe(faultId);
      expect(reply.headers['retry-after']).toBe(retry);
      const after = await portfolio();
      expect(after.status).toBe(200);
      expect(after.headers).not.toHaveProperty('x-sandpit-fault');
    },
  );

  it('retryAfter: is in the header, and in the details of a coded error', async () => {
    await setFault({ status: 503, retryAfter: 7 });
    const reply = await portfolio();
    expect(reply.headers['retry-after']).toBe('7');
    expect(reply.body.error).toEqual({ code: 'SERVICE_UNAVAILABLE', retryAfter: 7 });
    await setFault({ status: 500, retryAfter: 9 });
    expect((await portfolio()).headers['retry-after']).toBe('9');
  });

  it('skip and times: pass that many, then strike that many', async () => {
    const { faultId } = await setFault({ status: 500 }, { skip: 2, times: 2 });
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await portfolio()).status);
    expect(statuses).toEqual([200, 200, 500, 500, 200, 200]);
    const { body } = await client.get('/v1/simulation/faults');
    expect(body.data).toEqual([{ faultId, match: {}, skip: 2, times: 2, used: 2, fault: { status: 500 } }]);
  });

  it('the oldest fault strikes first', async () => {
    await setFault({ status: 502 });
    await setFault({ status: 504 });
    expect([(await portfolio()).status, (await portfolio()).status]).toEqual([502, 504]);
  });

  it('match: selects requests by method and by template, path or prefix', async () => {
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 50 });
    const order = () => client.get(`/v1/orders/${orderId}`);
    const struck = async (match: object): Promise<boolean> => {
      await setFault({ status: 500 }, { match });
      const { status } = await order();
      await client.delete('/v1/simulation/faults');
      return status === 500;
    };
    expect(await struck({ path: '/v1/orders/:orderId' })).toBe(true);
    expect(await struck({ path: '/v1/orders/:id' })).toBe(true);
    expect(await struck({ path: `/v1/orders/${orderId}` })).toBe(true);
    expect(await struck({ method: 'GET', path: '/v1/*' })).toBe(true);
    expect(await struck({ path: '/v1/orders' })).toBe(false);
    expect(await struck({ path: '/v1/accounts/*' })).toBe(false);
    expect(await struck({ method: 'POST' })).toBe(false);
  });

  it('chance: strikes the same requests in simulations of one seed, and some but not all', async () => {
    const run = async (): Promise<string> => {
      const { body } = await client.post('/v1/simulations', { feed: 'push', clock: 'manual', seed: 7 });
      const inside = test.withToken(body.token as string);
      await inside.post('/v1/simulation/faults', {
        match: {},
        times: 0,
        chance: 0.5,
        fault: { status: 500 },
      });
      let statuses = '';
      for (let i = 0; i < 40; i++) statuses += (await inside.get('/v1/accounts')).status === 500 ? 'x' : '.';
      return statuses;
    };
    const first = await run();
    expect(await run()).toBe(first);
    const count = first.split('x').length - 1;
    expect(count).toBeGreaterThan(8);
    expect(count).toBeLessThan(32);
  });

  it('never touch control, tokens or health; nor another tenant, nor another simulation', async () => {
    const { body: created } = await client.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    await setFault({ status: 500 }, { times: 0 });
    expect((await client.get('/v1/health')).status).toBe(200);
    expect((await client.get('/v1/simulation/clock')).status).toBe(200);
    expect((await client.get('/v1/simulations')).status).toBe(200);
    expect(await statusOf('/paperinvest/v1/simulation/clock')).toBe(200);
    expect((await test.withToken(created.token as string).get('/v1/accounts')).status).toBe(200);
    const other = test.as({ tenantId: 'tenant-2' });
    expect((await other.get('/v1/accounts')).status).toBe(200);
    expect((await other.get('/v1/simulation/faults')).body.data).toEqual([]);
    expect((await client.get('/v1/accounts')).status).toBe(500);
    expect(await statusOf('/paperinvest/v1/accounts')).toBe(500);
    expect((await client.delete('/v1/simulation/faults')).body).toEqual({
      deleted: 1,
      message: 'Faults deleted',
    });
    expect((await client.get('/v1/accounts')).status).toBe(200);
  });

  it("Alpaca's dialect: answers in its own form", async () => {
    const { body: pair } = await client.post(`/v1/accounts/portfolios/${portfolioId}/key-pairs`, {});
    const { faultId } = await setFault({ status: 504 }, { match: { path: '/alpaca/v2/*' } });
    const ask = () =>
      test.app.inject({
        url: '/alpaca/v2/account',
        headers: {
          'apca-api-key-id': pair.keyId as string,
          'apca-api-secret-key': pair.secretKey as string,
        },
      });
    const reply = await ask();
    expect(reply.statusCode).toBe(504);
    expect(reply.json()).toEqual({ code: 50410000, message: 'gateway timeout' });
    expect(reply.headers['x-sandpit-fault']).toBe(faultId);
    expect((await ask()).statusCode).toBe(200);
  });

  it('an answer of a fault is not stored for an Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'one' };
    await setFault({ status: 502 });
    const body = orderBody(portfolioId);
    expect((await client.post('/v1/orders', body, key)).status).toBe(502);
    const second = await client.post('/v1/orders', body, key);
    expect(second.status).toBe(201);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('delay: answers late, marked with the fault', async () => {
    const { faultId } = await setFault({ delay: 'PT0.05S' });
    const began = performance.now();
    const reply = await portfolio();
    expect(performance.now() - began).toBeGreaterThan(45);
    expect(reply.status).toBe(200);
    expect(reply.headers['x-sandpit-fault']).toBe(faultId);
  });

  it.each([
    [{ fault: {} }, 'fault must contain exactly one of status, delay, drop, stream'],
    [
      { fault: { status: 500, drop: 'after' } },
      'fault must contain exactly one of status, delay, drop, stream',
    ],
    [{ fault: { status: 418 } }, 'fault.status must be one of 429, 500, 502, 503, 504'],
    [{ fault: { delay: 'PT61S' } }, 'fault.delay must be at most PT60S'],
    [
      { fault: { delay: 'PT0S' } },
      'fault.delay must be a positive ISO 8601 duration of at most P10Y, such as PT1H30M',
    ],
    [{ fault: { delay: 'P1M' } }, 'fault.delay must be at most PT60S'],
    [{ fault: { drop: 'after', retryAfter: 1 } }, 'fault.retryAfter should not exist without status'],
    [{ fault: { stream: 'drop' } }, 'fault.after must be given with stream'],
    [{ fault: { stream: 'duplicate', after: 0 } }, 'fault.after must be at least 1 with duplicate'],
    [{ match: { path: 'v1/orders' } }, 'match.path must begin with / and may have one *, at its end'],
    [{ match: { path: '/v1/*/x' } }, 'match.path must begin with / and may have one *, at its end'],
    [
      { match: { path: '/v1/simulation/clock' } },
      'match.path must not name health, /v1/auth, /v1/simulation or /v1/simulations',
    ],
    [{ chance: 1.5 }, 'chance must not be greater than 1'],
    [{ times: -1 }, 'times must be an integer from 0 to 1000000'],
  ])('refuses %j', async (body, message) => {
    const reply = await client.post('/v1/simulation/faults', { match: {}, fault: { status: 500 }, ...body });
    expect(reply).toMatchObject({ status: 400, body: { message: [message] } });
  });

  it('a fault is deleted once; at most 1,000 are held, and used ones make room', async () => {
    const { faultId } = await setFault({ status: 500 });
    expect((await client.delete(`/v1/simulation/faults/${faultId}`)).body).toEqual({
      faultId,
      message: 'Fault deleted',
    });
    expect((await client.delete(`/v1/simulation/faults/${faultId}`)).status).toBe(404);
    expect((await client.delete(`/v1/simulation/faults/${NOWHERE}`)).status).toBe(404);
    const rich = test.as({ tier: 'ENTERPRISE' });
    const body = { match: { path: '/v1/accounts' }, fault: { status: 500 } };
    for (let i = 0; i < 1000; i++) {
      test.time.monotonicMs += 1000;
      expect((await rich.post('/v1/simulation/faults', body)).status).toBe(201);
    }
    expect((await rich.post('/v1/simulation/faults', body)).status).toBe(409);
    expect((await rich.get('/v1/accounts')).status).toBe(500);
    expect((await rich.post('/v1/simulation/faults', body)).status).toBe(201);
  });
});

describe('Faults of connections', () => {
  it('drop before: the request is not executed', async () => {
    const base = await listen();
    await setFault({ drop: 'before' }, { match: { method: 'POST', path: '/v1/orders' } });
    await expect(post(base, orderBody(portfolioId))).rejects.toThrow('fetch failed');
    expect((await client.get(`/v1/orders/portfolio/${portfolioId}`)).body.data).toEqual([]);
    expect((await post(base, orderBody(portfolioId))).status).toBe(201);
  });

  it('drop after: the order exists, and its key repeats the lost answer', async () => {
    const base = await listen();
    const key = { 'idempotency-key': randomUUID() };
    await setFault({ drop: 'after' }, { match: { method: 'POST', path: '/v1/orders' } });
    await expect(post(base, orderBody(portfolioId), key)).rejects.toThrow('fetch failed');
    const { data } = (await client.get(`/v1/orders/portfolio/${portfolioId}`)).body;
    expect(data).toMatchObject([{ status: 'FILLED' }]);
    const again = await post(base, orderBody(portfolioId), key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.json()).toMatchObject({ orderId: data[0].orderId as string });
    expect((await client.get(`/v1/orders/portfolio/${portfolioId}`)).body.data).toHaveLength(1);
  });

  it('drop after: a stream ends before it begins, and the next one works', async () => {
    const base = await listen();
    await setFault({ drop: 'after' });
    const open = () => fetch(`${base}/v1/stream/orders`, { headers: authorized() });
    await expect(open()).rejects.toThrow('fetch failed');
    const response = await open();
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  it('a server that stops does not wait for a delay, and refuses the request', async () => {
    const base = await listen();
    await setFault({ delay: 'PT60S' });
    const late = fetch(`${base}/v1/accounts`, { headers: authorized() });
    for (;;) {
      test.time.monotonicMs += 1000;
      await new Promise(setImmediate);
      const { data } = (await client.get('/v1/simulation/faults')).body;
      if (data[0].used === 1) break;
    }
    const closing = test.app.close();
    expect((await late).status).toBe(503);
    await closing;
  });
});

describe('Faults of streams', () => {
  const ids = (text: string): string[] =>
    [...text.matchAll(/^id: (.*)\nevent: (?!heartbeat$)/gm)].map(([, id = '']) => id);

  /** Opens a stream of orders, places one that is filled in four steps, and reads until told to stop. */
  async function read(fault: object, isEnough: (text: string) => boolean): Promise<string> {
    const base = await listen();
    const { faultId } = await setFault(fault);
    const abort = new AbortController();
    const response = await fetch(`${base}/v1/stream/orders`, { headers: authorized(), signal: abort.signal });
    expect(response.headers.get('x-sandpit-fault')).toBe(faultId);
    // Read from the beginning: a client drops what it has not read when the connection is cut.
    const reading = (async () => {
      let text = '';
      const decoder = new TextDecoder();
      try {
        for await (const part of response.body ?? []) {
          text += decoder.decode(part as Uint8Array);
          if (isEnough(text)) break;
        }
      } catch {
        text += 'CUT';
      }
      return text;
    })();
    await placeOrder(client, portfolioId);
    const text = await reading;
    abort.abort();
    return text;
  }

  it('drop: the connection is closed after the given number of events, and Last-Event-ID resumes it', async () => {
    const text = await read({ stream: 'drop', after: 2 }, () => false);
    expect(ids(text)).toHaveLength(2);
    expect(text.endsWith('\n\nCUT')).toBe(true);
    const base = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`;
    const rest = await fetch(`${base}/v1/stream/orders`, {
      headers: { ...authorized(), 'last-event-id': ids(text)[1] ?? '' },
    });
    let missed = '';
    const decoder = new TextDecoder();
    for await (const part of rest.body ?? []) {
      missed += decoder.decode(part as Uint8Array);
      if (ids(missed).length === 2) break;
    }
    expect(missed).toContain('"status":"FILLED"');
  });

  it('drop after no event: the head comes, then the cut', async () => {
    const text = await read({ stream: 'drop', after: 0 }, () => false);
    expect(text).toMatch(/^retry: \d+\n\nCUT$/);
  });

  it('duplicate: one event comes twice, the others once', async () => {
    const text = await read({ stream: 'duplicate', after: 2 }, (sofar) => ids(sofar).length >= 5);
    const seen = ids(text);
    expect(seen).toHaveLength(5);
    expect(seen[2]).toBe(seen[1]);
    expect(new Set(seen).size).toBe(4);
  });

  it('stall: no event follows the given number, and the server closes the connection when it stops', async () => {
    let isClosing = false;
    const text = await read({ stream: 'stall', after: 1 }, (sofar) => {
      if (ids(sofar).length === 1 && !isClosing) {
        isClosing = true;
        void test.app.close();
      }
      return false;
    });
    expect(ids(text)).toHaveLength(1);
    expect(text.endsWith('\n\nCUT')).toBe(true);
  });

  it('apply to streams only: other requests do not count', async () => {
    await setFault({ stream: 'drop', after: 1 });
    expect((await portfolio()).status).toBe(200);
    expect((await client.get('/v1/simulation/faults')).body.data[0].used).toBe(0);
  });
});
