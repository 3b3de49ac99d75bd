/** Scripted outcomes and magic client order ids over HTTP (D175, D176). */
import { randomUUID } from 'node:crypto';
import { SCRIPTED_CODES } from '@sandpit/core';
import { errorCodes, scriptedCodes } from '@sandpit/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyJournal } from '../engine/recovery/verify.js';
import { alpacaSender, keyPairOf } from '../testing/alpaca.js';
import {
  ACCOUNT,
  type Body,
  openPortfolio,
  orderBody,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let simulationId: string;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
  [client, simulationId] = await created();
  ({ portfolioId } = (await openPortfolio(client)) as { portfolioId: string });
  await pushQuote(client, { bid: 99.99, ask: 100.01 });
});
afterEach(() => test.close());

async function created(more: object = {}): Promise<[TestClient, string]> {
  const { body } = await test.as().post('/v1/simulations', {
    feed: 'push',
    clock: 'manual',
    calendar: 'XNYS',
    start: '2026-01-05T15:00:00Z',
    ...more,
  });
  return [test.withToken(body.token as string), body.simulationId as string];
}

const script = async (outcome: object, more: object = {}): Promise<Body> =>
  (await client.post('/v1/simulation/outcomes', { match: {}, ...more, outcome })).body;
const place = (more: object = {}) =>
  client.post('/v1/orders', orderBody(portfolioId, { orderType: 'MARKET', limitPrice: undefined, ...more }));
const order = async (orderId: string): Promise<Body> => (await client.get(`/v1/orders/${orderId}`)).body;
const advance = (by: string) => client.post('/v1/simulation/clock/advance', { by });

describe('outcomes', () => {
  it('are set, listed with their counts, and deleted', async () => {
    const set = await client.post('/v1/simulation/outcomes', {
      match: { symbol: 'aapl', quantity: 10 },
      outcome: { fill: [{ percent: 30 }, { quantity: 2, price: 99.5, after: 'PT1.5S' }], rest: 'hold' },
    });
    expect(set).toMatchObject({
      status: 201,
      body: {
        match: { symbol: 'AAPL', quantity: 10 },
        skip: 0,
        times: 1,
        used: 0,
        outcome: { fill: [{ percent: 30 }, { quantity: 2, price: 99.5, after: 'PT1.5S' }], rest: 'hold' },
      },
    });
    const { outcomeId } = set.body as { outcomeId: string };
    const placed = await place({ quantity: 10 });
    expect(placed).toMatchObject({ status: 201, body: { status: 'PENDING' } });
    expect((await client.get('/v1/simulation/outcomes')).body.data).toMatchObject([{ outcomeId, used: 1 }]);
    await advance('PT2S');
    expect(await order(placed.body.orderId as string)).toMatchObject({
      status: 'ACTIVE',
      filledQuantity: 5,
      waitingFor: `held by outcome ${outcomeId}`,
    });
    const executions = await client.get(`/v1/orders/${String(placed.body.orderId)}/executions`);
    expect(executions.body.data).toMatchObject([
      { quantity: 2, price: 99.5, explanation: { rule: 'SCRIPTED', outcomeId } },
      { quantity: 3, price: 100.01, explanation: { rule: 'SCRIPTED', outcomeId } },
    ]);
    expect((await client.delete(`/v1/simulation/outcomes/${outcomeId}`)).body).toEqual({
      outcomeId,
      message: 'Outcome deleted',
    });
    expect(await order(placed.body.orderId as string)).toMatchObject({ status: 'FILLED' });
    expect((await client.delete(`/v1/simulation/outcomes/${outcomeId}`)).body).toMatchObject({
      statusCode: 404,
      message: 'Outcome not found',
    });
    await script({ error: {} });
    expect((await client.delete('/v1/simulation/outcomes')).body).toMatchObject({ deleted: 1 });
  });

  it('refuse with every code in its status and shape', async () => {
    for (const code of scriptedCodes) {
      await script({ reject: { code } });
      const refused = await place();
      expect([refused.status, refused.body.error.code]).toEqual([errorCodes[code].status, code]);
    }
    await script({ reject: { code: 'OPTION_LEVEL', message: 'Not today', requiredLevel: 3 } });
    expect((await place()).body).toMatchObject({
      statusCode: 403,
      message: 'Not today',
      error: { code: 'OPTION_LEVEL', requiredLevel: 3 },
    });
    expect([...SCRIPTED_CODES]).toEqual([...scriptedCodes]);
  });

  it('reject later, and end orders in ERROR; streams and activities report it', async () => {
    await script({ rejectLater: { code: 'INSUFFICIENT_FUNDS', availableCash: 1, after: 'PT2S' } });
    const later = (await place()).body.orderId as string;
    expect((await order(later)).status).toBe('PENDING');
    await advance('PT2S');
    expect(await order(later)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSUFFICIENT_FUNDS', message: 'Insufficient funds', availableCash: 1 },
    });
    await script({ error: { message: 'venue down' } });
    const failed = await place();
    expect(failed).toMatchObject({ status: 201, body: { status: 'PENDING' } });
    expect(await order(failed.body.orderId as string)).toMatchObject({
      status: 'ERROR',
      rejectReason: { code: 'SCRIPTED_ERROR', message: 'venue down' },
    });
    const activities = await client.get(`/v1/accounts/portfolios/${portfolioId}/activities?category=ORDER`);
    expect(activities.body.data[0]).toMatchObject({
      type: 'ERROR',
      description: expect.stringContaining('failed (venue down)'),
    });
  });

  it('of cancels fill after CANCELING, remain CANCELING, or refuse the cancel', async () => {
    const ids: string[] = [];
    for (const onCancel of ['fill', 'ignore', 'reject']) {
      await script({ onCancel });
      ids.push((await place({ orderType: 'LIMIT', limitPrice: 90 })).body.orderId as string);
    }
    const [fills = '', ignores = '', rejects = ''] = ids;
    expect((await client.put(`/v1/orders/${fills}/cancel`)).body).toMatchObject({ status: 'CANCELING' });
    expect(await order(fills)).toMatchObject({ status: 'FILLED', averagePrice: 90 });
    expect((await client.put(`/v1/orders/${ignores}/cancel`)).body).toMatchObject({ status: 'CANCELING' });
    await advance('PT1H');
    expect((await order(ignores)).status).toBe('CANCELING');
    expect(await client.put(`/v1/orders/${rejects}/cancel`)).toMatchObject({
      status: 409,
      body: { error: { code: 'ORDER_NOT_UPDATABLE' } },
    });
  });

  it('outcomes that fill a bracket entry let its exits reach the market at once', async () => {
    await script({ fill: [{ percent: 50, price: 100, after: 'PT1M' }], rest: 'hold' });
    const bracketConfig = {
      profitTarget: { orderType: 'LIMIT', limitPrice: 101 },
      stopLoss: { orderType: 'STOP', stopPrice: 95 },
    };
    const entry = await place({ quantity: 10, bracketConfig });
    expect(entry.status).toBe(201);
    await pushQuote(client, { bid: 101.99, ask: 102.01 });
    // No quote follows the execution.
    await advance('PT2M');
    expect(await order(entry.body.orderId as string)).toMatchObject({ filledQuantity: 5 });
    const { body } = await client.get(`/v1/orders/account/${ACCOUNT}`);
    const exit = (body.data as Body[]).find(({ orderType }) => orderType === 'LIMIT');
    const executions = await client.get(`/v1/orders/${String(exit?.orderId)}/executions`);
    expect(executions.body.data).toMatchObject([{ quantity: 5, price: 101.99 }]);
  });

  it('meet each order of a batch, and no previews', async () => {
    await script({ reject: { code: 'NOT_SHORTABLE' } });
    const body = orderBody(portfolioId, { quantity: 1 });
    expect((await client.post('/v1/orders/preview', body)).body.accepted).toBe(true);
    const accountId = randomUUID();
    const other = await openPortfolio(client, { accountId });
    expect(other.accountId).toBe(accountId);
    const batch = await client.post('/v1/orders/batch', {
      accountIds: [ACCOUNT, accountId],
      orderData: { ...body, portfolioId: undefined },
    });
    expect(batch.body).toMatchObject({
      failed: [{ accountId: ACCOUNT, error: { code: 'NOT_SHORTABLE' } }],
      successful: [{ accountId }],
    });
    expect((await client.get('/v1/simulation/outcomes')).body.data).toMatchObject([{ used: 1 }]);
  });

  it.each([
    [
      { hold: { for: 'PT0S' } },
      'outcome.hold.for must be a positive ISO 8601 duration of at most P10Y, such as PT1H30M',
    ],
    [{}, 'outcome must contain exactly one of reject, rejectLater, fill, hold, onCancel, error'],
    [
      { hold: {}, error: {} },
      'outcome must contain exactly one of reject, rejectLater, fill, hold, onCancel, error',
    ],
    [{ reject: { code: 'RATE_LIMITED' } }, `outcome.reject.code must be one of ${scriptedCodes.join(', ')}`],
    [
      { reject: { code: 'INSUFFICIENT_FUNDS', requiredLevel: 3 } },
      'outcome.reject.requiredLevel should not exist for INSUFFICIENT_FUNDS',
    ],
    [{ fill: [{ percent: 60 }, { percent: 41 }] }, 'outcome.fill must not add up to more than 100 percent'],
    [
      { fill: [{ percent: 10, quantity: 1 }] },
      'outcome.fill.0.percent should not exist together with quantity',
    ],
    [{ hold: {}, rest: 'hold' }, 'outcome.rest should not exist without fill'],
  ])('refuse %j', async (outcome, message) => {
    const { status, body } = await client.post('/v1/simulation/outcomes', { match: {}, outcome });
    expect(status).toBe(400);
    expect(body.message).toContain(message);
  });

  it('require SCRIPTED_ORDERS in main, and are private to a tenant', async () => {
    const main = test.as();
    const refused = await main.post('/v1/simulation/outcomes', { match: {}, outcome: { error: {} } });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'FEATURE_NOT_AVAILABLE' } } });
    expect((await main.get('/v1/simulation/outcomes')).status).toBe(403);
    await test.close();
    test = await TestApp.open({ config: { scripts: true } });
    const mine = test.as();
    const { body } = await mine.post('/v1/simulation/outcomes', { match: {}, outcome: { error: {} } });
    const others = test.as({ tenantId: 'tenant-2' });
    expect((await others.get('/v1/simulation/outcomes')).body.data).toEqual([]);
    expect((await others.delete(`/v1/simulation/outcomes/${String(body.outcomeId)}`)).status).toBe(404);
    expect((await mine.get('/v1/simulation/outcomes')).body.data).toHaveLength(1);
  });

  it('fill nothing with an empty list only if the rest is held or canceled (D263)', async () => {
    const refusal = { statusCode: 400, message: ['fill must contain at least 1 elements'] };
    expect(await script({ fill: [] })).toMatchObject(refusal);
    expect(await script({ fill: [], rest: 'market' })).toMatchObject(refusal);
    await script({ fill: [], rest: 'cancel' });
    const canceled = (await place()).body.orderId;
    expect(await order(canceled)).toMatchObject({ status: 'CANCELED', cancelReason: 'SCRIPTED' });
    await script({ fill: [], rest: 'hold' });
    const held = (await place()).body.orderId;
    expect(await order(held)).toMatchObject({ status: 'ACTIVE', filledQuantity: 0 });
  });

  it('advance by days over a change of daylight saving, and refuse fractions of days (D246)', async () => {
    [client] = await created({ start: '2026-03-06T15:30:00-05:00' });
    expect((await advance('P3D')).body.now).toBe('2026-03-09T19:30:00.000Z');
    expect((await advance('PT24H')).body.now).toBe('2026-03-10T19:30:00.000Z');
    for (const text of ['P0.5D', 'PT0.5H', 'P1.5W']) expect((await advance(text)).status).toBe(400);
    const step = await client.post('/v1/simulation/step', { advance: { by: 'P1M' } });
    expect(step.body.now).toBe('2026-04-10T19:30:00.000Z');
    const halted = await client.post('/v1/simulation/halts', { symbol: 'AAPL', reason: 'T1', for: 'P1D' });
    expect(halted.body.until).toMatch(/^2026-04-1[12]T/);
  });

  it('repeat in a verification of the journal', async () => {
    await script({ fill: [{ percent: 30, after: 'PT1S' }], rest: 'hold' }, { skip: 1, times: 2 });
    await script({ reject: { code: 'OPTION_LEVEL' } }, { match: { clientOrderId: 'bad-*' } });
    for (const clientOrderId of [
      'a',
      'b',
      '~fill:50%@1s#1',
      '~reject:NOT_SHORTABLE',
      '~error',
      '~fill-on-cancel',
    ])
      await place({ clientOrderId, orderType: 'LIMIT', limitPrice: 90 });
    await client.post('/v1/simulation/halts', { symbol: 'AAPL', reason: 'LUDP' });
    await advance('PT10M');
    await pushQuote(client, { bid: 89, ask: 89.01 });
    await client.delete('/v1/simulation/outcomes');
    const accounts = (await client.get('/v1/accounts')).body.data as Body[];
    for (const { accountId } of accounts) await client.delete(`/v1/orders/account/${String(accountId)}`);
    await advance('P1D');
    expect((await verifyJournal(test.store, simulationId)).problems).toEqual([]);
  });
});

describe('magic client order ids', () => {
  it('script their order in a created simulation', async () => {
    const part = await place({ clientOrderId: '~fill:30%@1s,70%@5s#one' });
    await advance('PT1S');
    const orderId = part.body.orderId as string;
    expect(await order(orderId)).toMatchObject({ filledQuantity: 3, waitingFor: 'held by script' });
    await advance('PT4S');
    expect(await order(orderId)).toMatchObject({ status: 'FILLED' });
    const { body } = await client.get(`/v1/orders/${orderId}/executions`);
    expect(body.data[0].explanation).toMatchObject({ rule: 'SCRIPTED', script: '~fill:30%@1s,70%@5s#one' });
    expect(await place({ clientOrderId: '~reject:OPTION_LEVEL' })).toMatchObject({ status: 403 });
    expect((await place({ clientOrderId: '~bogus' })).body).toMatchObject({
      statusCode: 400,
      message: ['clientOrderId: unknown script ~bogus'],
    });
    expect((await place({ clientOrderId: 'not~a:script' })).status).toBe(400);
  });

  it('have no effect if scripts are off', async () => {
    [client] = await created({ scripts: false });
    ({ portfolioId } = (await openPortfolio(client)) as { portfolioId: string });
    await pushQuote(client, { bid: 99.99, ask: 100.01 });
    const placed = await place({ clientOrderId: '~error' });
    expect(placed).toMatchObject({ status: 201, body: { clientOrderId: '~error' } });
    expect((await order(placed.body.orderId as string)).status).toBe('FILLED');
  });

  it('script orders of the Alpaca and the PaperInvest dialects', async () => {
    const send = alpacaSender(test, await keyPairOf(client, portfolioId));
    const alpaca = (client_order_id: string) =>
      send('POST', '/v2/orders', {
        symbol: 'AAPL',
        qty: '10',
        side: 'buy',
        type: 'limit',
        limit_price: '90',
        time_in_force: 'day',
        client_order_id,
      });
    const part = (await alpaca('~fill:30%@1s#1')).body;
    await advance('PT1S');
    expect((await send('GET', `/v2/orders/${String(part.id)}`)).body).toMatchObject({
      filled_qty: '3',
      status: 'partially_filled',
      client_order_id: '~fill:30%@1s#1',
    });
    expect(await alpaca('~reject:INSUFFICIENT_FUNDS')).toMatchObject({
      status: 403,
      body: { code: 40310000 },
    });
    expect((await alpaca('~error')).body).toMatchObject({ symbol: 'AAPL' });
    const response = await test.app.inject({
      method: 'POST',
      url: '/paperinvest/v1/orders',
      headers: { authorization: `Bearer ${String(client.token)}` },
      payload: orderBody(portfolioId, { clientOrderId: '~hold', quantity: 1, limitPrice: 101 }),
    });
    const paper = { status: response.statusCode, body: response.json() };
    expect(paper.status).toBe(201);
    expect(await order(paper.body.orderId as string)).toMatchObject({
      status: 'ACTIVE',
      waitingFor: 'held by script',
    });
  });
});
