import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
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
  ({ portfolioId } = (await openPortfolio(client, { portfolioType: 'CASH' })) as { portfolioId: string });
  await pushQuote(client);
});
afterEach(() => test.close());

const place = (more: object = {}) => client.post('/v1/orders', orderBody(portfolioId, more));

describe('creating an order', () => {
  it('answers PENDING, and the order is filled at the next read', async () => {
    const { status, body } = await place();
    expect(status).toBe(201);
    expect(body).toEqual({
      orderId: expect.any(String) as string,
      portfolioId,
      accountId: ACCOUNT,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 10,
      limitPrice: 100,
      timeInForce: 'DAY',
      session: 'REGULAR',
      status: 'PENDING',
      createdAt: '2026-01-05T15:00:00.000Z',
      updatedAt: '2026-01-05T15:00:00.000Z',
    });
    const { body: filled } = await client.get(`/v1/orders/${body.orderId}`);
    expect(filled).toMatchObject({
      status: 'FILLED',
      filledQuantity: 10,
      averagePrice: 100,
      executedAt: '2026-01-05T15:00:00.000Z',
    });
  });

  it('keeps its notes word for word, through updates and to its end; its exits have none', async () => {
    const notes = 'Breakout: "20-day high"\n\t→ exit below 95 📈';
    const exits = { profitTarget: { orderType: 'LIMIT', limitPrice: 120 } };
    const { status, body } = await place({ limitPrice: 99, notes, bracketConfig: exits });
    expect(status).toBe(201);
    expect(body.notes).toBe(notes);
    await client.put(`/v1/orders/${body.orderId}`, { limitPrice: 98 });
    expect((await client.get(`/v1/orders/${body.orderId}`)).body).toMatchObject({ limitPrice: 98, notes });
    await client.put(`/v1/orders/${body.orderId}/cancel`);
    expect((await client.get(`/v1/orders/${body.orderId}`)).body).toMatchObject({
      status: 'CANCELED',
      notes,
    });
    const { body: list } = await client.get(`/v1/orders?portfolioId=${portfolioId}`);
    const all = await Promise.all(
      (list.data as { orderId: string }[]).map(({ orderId }) => client.get(`/v1/orders/${orderId}`)),
    );
    expect(all.map((reply) => reply.body.notes !== undefined)).toEqual([false, true]);
  });

  it('reports the reason an open order waits', async () => {
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 99 });
    const { body } = await client.get(`/v1/orders/${orderId}`);
    expect(body).toMatchObject({
      status: 'ACTIVE',
      filledQuantity: 0,
      waitingFor: 'ask 100.00 above limit 99.00',
    });
  });

  it('keeps every digit of a price', async () => {
    await pushQuote(client, { symbol: 'PENNY', bid: 0.07, ask: 0.0702, last: 0.07 });
    const { orderId } = await placeOrder(client, portfolioId, { symbol: 'PENNY', limitPrice: 0.0701 });
    expect((await client.get(`/v1/orders/${orderId}`)).body.limitPrice).toBe(0.0701);
  });

  it.each([
    [
      'funds',
      { limitPrice: 100, quantity: 2000 },
      {
        statusCode: 400,
        message: 'Insufficient funds',
        error: { code: 'INSUFFICIENT_FUNDS', availableCash: 100000, requiredAmount: 200000 },
      },
    ],
    [
      'position',
      { positionIntent: 'SELL_TO_CLOSE' },
      {
        statusCode: 400,
        message: 'Insufficient position',
        error: { code: 'INSUFFICIENT_POSITION', availableQuantity: 0, requiredQuantity: 10 },
      },
    ],
    [
      'symbol',
      { symbol: 'NOPE' },
      {
        statusCode: 400,
        message: 'Unknown symbol NOPE',
        error: { code: 'UNKNOWN_SYMBOL', symbol: 'NOPE' },
      },
    ],
    [
      'tick',
      { limitPrice: 100.001 },
      { statusCode: 400, message: ['limitPrice must be a multiple of 0.01'], error: 'Bad Request' },
    ],
    [
      'portfolio',
      { portfolioId: NOWHERE },
      { statusCode: 404, message: 'Portfolio not found', error: 'Not Found' },
    ],
  ])('refuses for want of %s', async (_, more, answer) => {
    const { status, body } = await place(more);
    expect(body).toEqual(answer);
    expect(status).toBe(answer.statusCode);
  });

  it('refuses for lack of buying power with the figures without and with borrowing (D152)', async () => {
    const { portfolioId: margin } = await openPortfolio(client, {
      portfolioType: 'MARGIN',
      initialCash: 24_000,
    });
    await pushQuote(client, { symbol: 'PENNY', bid: 2, ask: 2, last: 2 });
    const { status, body } = await place({
      portfolioId: margin,
      symbol: 'PENNY',
      positionIntent: 'SELL_TO_OPEN',
      limitPrice: 2,
      quantity: 10_000,
    });
    expect(status).toBe(400);
    // Sold short, a share at 2.00 requires 2.50, which is half of 5.00.
    expect(body).toEqual({
      statusCode: 400,
      message: 'Insufficient funds',
      error: {
        code: 'INSUFFICIENT_FUNDS',
        availableCash: 24_000,
        requiredAmount: 20_000,
        availableBuyingPower: 48_000,
        requiredBuyingPower: 50_000,
      },
    });
  });

  it('reports the next market open', async () => {
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-05T22:00:00Z' });
    const { body } = await place({ timeInForce: 'IOC' });
    expect(body).toEqual({
      statusCode: 400,
      message: 'Market is closed',
      error: { code: 'MARKET_CLOSED', nextOpen: '2026-01-06T09:30:00-05:00' },
    });
    const { body: queued } = await place({ timeInForce: 'GTC', quantity: 1 });
    expect((await client.get(`/v1/orders/${queued.orderId}`)).body).toMatchObject({
      status: 'PENDING_MARKET_OPEN',
      waitingFor: 'market opens 2026-01-06T09:30:00-05:00',
    });
  });

  it.each([
    ['2026-01-06', '2026-01-06T21:00:00.000Z'],
    ['20260106', '2026-01-06T21:00:00.000Z'],
    ['2026-006', '2026-01-06T21:00:00.000Z'],
    ['2026-W02-2', '2026-01-06T21:00:00.000Z'],
    ['2026-01-06T15:30', '2026-01-06T20:30:00.000Z'],
    ['20260106T153000', '2026-01-06T20:30:00.000Z'],
    ['2026-01-06T20:15Z', '2026-01-06T20:15:00.000Z'],
    ['20260106T151500-0500', '2026-01-06T20:15:00.000Z'],
  ])('is good till %s in any accepted format, and shows the original (D156)', async (goodTillDate, end) => {
    const created = await placeOrder(client, portfolioId, {
      limitPrice: 90,
      timeInForce: 'GTD',
      goodTillDate,
    });
    expect(created.goodTillDate).toBe(goodTillDate);
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-07T15:00:00Z' });
    expect((await client.get(`/v1/orders/${created.orderId}`)).body).toMatchObject({
      goodTillDate,
      status: 'CANCELED',
      cancelReason: 'EXPIRED',
      canceledAt: end,
    });
  });

  it.each(['2026-02-30', '2026-13-01', '20260106T15:30', '2026-01', 'soon', 20260201])(
    'refuses to be good till %j',
    async (goodTillDate) => {
      const { status, body } = await place({ timeInForce: 'GTD', goodTillDate });
      expect(status).toBe(400);
      expect(body.message).toEqual(['goodTillDate must be an ISO 8601 date or date-time']);
    },
  );

  it('shows owner, session and additional fields everywhere (D157)', async () => {
    const more = { limitPrice: 90, session: 'EXTENDED', clientOrderId: 'mine-1' };
    const created = await placeOrder(client, portfolioId, more);
    const shown = { accountId: ACCOUNT, portfolioId, ...more };
    expect(created).toMatchObject(shown);
    const url = `/v1/orders/${created.orderId}`;
    expect((await client.get(url)).body).toMatchObject({
      ...shown,
      waitingFor: 'ask 100.00 above limit 90.00',
    });
    expect((await client.get(`/v1/orders/portfolio/${portfolioId}`)).body.data).toMatchObject([shown]);
    await client.put(`${url}/cancel`);
    expect((await client.get(url)).body).toMatchObject(shown);
  });

  it('refuses a stop at once by its stop price without a quote (D161)', async () => {
    await client.put('/v1/simulation/instruments', {
      instruments: [{ assetClass: 'EQUITY', symbol: 'QUIET' }],
    });
    const stop = { symbol: 'QUIET', orderType: 'STOP', limitPrice: undefined, stopPrice: 100 };
    // 1,000 × 100.00 with a collar of 5 %.
    expect((await place({ ...stop, quantity: 1000 })).body).toMatchObject({
      statusCode: 400,
      error: { code: 'INSUFFICIENT_FUNDS', availableCash: 100000, requiredAmount: 105000 },
    });
    const { body } = await place({ ...stop, quantity: 900 });
    expect((await client.get(`/v1/orders/${body.orderId}`)).body.waitingFor).toBe('no quote');
    expect((await client.get(`/v1/accounts/portfolios/${portfolioId}`)).body.reservedCash).toBe(94500);
  });

  it('reserves the funds of a trailing stop at the first price, or rejects it then (D133)', async () => {
    const listed = { assetClass: 'EQUITY', symbol: 'QUIET' };
    await client.put('/v1/simulation/instruments', { instruments: [listed] });
    const order = {
      symbol: 'QUIET',
      orderType: 'TRAILING_STOP',
      limitPrice: undefined,
      trailingAmount: 5,
      quantity: 600,
    };
    const [first, second] = [await place(order), await place(order)].map(({ body }) => body.orderId);
    await pushQuote(client, { symbol: 'QUIET' });
    // 600 × (100.00 + 5.00) × 1.05
    const { body } = await client.get(`/v1/accounts/portfolios/${portfolioId}`);
    expect(body.reservedCash).toBe(66150);
    expect((await client.get(`/v1/orders/${first}`)).body).toMatchObject({
      status: 'ACTIVE',
      stopPrice: 105,
      waitingFor: 'last 100.00 below stop 105.00',
    });
    expect((await client.get(`/v1/orders/${second}`)).body).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSUFFICIENT_FUNDS', availableCash: 33850, requiredAmount: 66150 },
    });
  });

  it('is limited to the order types of the tier', async () => {
    const basic = test.as({ tier: 'BASIC' });
    const { status, body } = await basic.post(
      '/v1/orders',
      orderBody(portfolioId, { orderType: 'STOP', stopPrice: 101, limitPrice: undefined }),
    );
    expect(status).toBe(403);
    expect(body.error).toEqual({ code: 'FEATURE_NOT_AVAILABLE', currentTier: 'BASIC', requiredTier: 'PRO' });
  });

  it('accepts a client order id once, whether the order is open or closed', async () => {
    const first = await place({ clientOrderId: 'mine', limitPrice: 90 });
    expect(first.body.clientOrderId).toBe('mine');
    const again = await place({ clientOrderId: 'mine' });
    expect(again.body).toEqual({
      statusCode: 409,
      message: expect.any(String) as string,
      error: { code: 'DUPLICATE_CLIENT_ORDER_ID', orderId: first.body.orderId as string },
    });
    await client.put(`/v1/orders/${first.body.orderId}/cancel`);
    expect((await place({ clientOrderId: 'mine' })).status).toBe(409);
    // Both at once: the first fills in the turn it is placed in.
    const both = await Promise.all([place({ clientOrderId: 'b' }), place({ clientOrderId: 'b' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('shows a bracket and its exits', async () => {
    const entry = await placeOrder(client, portfolioId, {
      limitPrice: 99,
      bracketConfig: {
        profitTarget: { orderType: 'LIMIT', limitPrice: 110 },
        stopLoss: { orderType: 'STOP', stopPrice: 90 },
      },
    });
    expect(entry.bracketConfig).toEqual({
      profitTarget: { orderType: 'LIMIT', limitPrice: 110 },
      stopLoss: { orderType: 'STOP', stopPrice: 90 },
    });
    const { body } = await client.get(`/v1/orders/portfolio/${portfolioId}`);
    expect(body.data.map((order: Body) => [order.status, order.parentOrderId === entry.orderId])).toEqual([
      ['CREATED', true],
      ['CREATED', true],
      ['ACTIVE', false],
    ]);
  });
});

it('cancels orders that cannot wait and meet only a stale quote, for lack of market data (D135)', async () => {
  await test.close();
  test = await TestApp.open({ settings: { QUOTE_MAX_AGE: '60' } });
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client, { portfolioType: 'CASH' })) as { portfolioId: string });
  await pushQuote(client);
  await client.post('/v1/simulation/clock/advance', { by: 'PT2M' });
  const order = await placeOrder(client, portfolioId, { timeInForce: 'IOC' });
  expect((await client.get(`/v1/orders/${order.orderId}`)).body).toMatchObject({
    status: 'CANCELED',
    cancelReason: 'STALE_MARKET_DATA',
  });
});

describe('an order that the market has changed (D134)', () => {
  const split = async (): Promise<void> => {
    await client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: '2026-01-06', ratio: { new: 2, old: 1 } }],
    });
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-06T15:00:00Z' });
  };
  const shown = async (orderId: string): Promise<Body> => (await client.get(`/v1/orders/${orderId}`)).body;

  it('shows the current prices of its bracket exits, whether they are open or closed', async () => {
    const { orderId } = await placeOrder(client, portfolioId, {
      bracketConfig: {
        profitTarget: { orderType: 'LIMIT', limitPrice: 110 },
        stopLoss: { orderType: 'STOP_LIMIT', stopPrice: 90, limitPrice: 88 },
        timeInForce: 'GTC',
      },
    });
    expect((await shown(orderId)).status).toBe('FILLED');
    const { body: list } = await client.get(`/v1/orders/portfolio/${portfolioId}?status=ACTIVE`);
    const stop = list.data.find(({ orderType }: Body) => orderType === 'STOP_LIMIT');
    const updated = await client.put(`/v1/orders/${stop.orderId}`, { stopPrice: 96 });
    expect(updated.status).toBe(200);
    const withStop = (stopPrice: number, limitPrice: number, target: number) => ({
      profitTarget: { orderType: 'LIMIT', limitPrice: target },
      stopLoss: { orderType: 'STOP_LIMIT', stopPrice, limitPrice },
      timeInForce: 'GTC',
    });
    expect((await shown(orderId)).bracketConfig).toEqual(withStop(96, 88, 110));
    await split();
    expect((await shown(orderId)).bracketConfig).toEqual(withStop(48, 44, 55));
    // The target fills, which cancels the stop loss.
    await pushQuote(client, { bid: 55, ask: 55.1, last: 55 });
    expect((await shown(stop.orderId)).cancelReason).toBe('OCO');
    expect((await shown(orderId)).bracketConfig).toEqual(withStop(48, 44, 55));
    const { body: portfolio } = await client.get(`/v1/orders/portfolio/${portfolioId}`);
    const entry = portfolio.data.find((order: Body) => order.orderId === orderId);
    expect(entry.bracketConfig).toEqual(withStop(48, 44, 55));
  });

  it('shows the distance that a trailing stop keeps now', async () => {
    const { orderId, trailingAmount } = await placeOrder(client, portfolioId, {
      orderType: 'TRAILING_STOP',
      timeInForce: 'GTC',
      limitPrice: undefined,
      trailingAmount: 5,
    });
    expect(trailingAmount).toBe(5);
    await split();
    expect(await shown(orderId)).toMatchObject({ trailingAmount: 2.5, stopPrice: 52.5, quantity: 20 });
  });
});

describe('changing an order', () => {
  it('keeps a limit positive, as a create does (D138)', async () => {
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const refusal = {
      statusCode: 400,
      message: ['limitPrice must be a positive number'],
      error: 'Bad Request',
    };
    expect((await place({ limitPrice: 0 })).body).toEqual(refusal);
    expect((await client.put(`/v1/orders/${orderId}`, { limitPrice: 0 })).body).toEqual(refusal);
    expect((await client.put(`/v1/orders/${orderId}`, { limitPrice: -5 })).body).toEqual(refusal);
  });

  it('updates every updatable field', async () => {
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const { status, body } = await client.put(`/v1/orders/${orderId}`, { limitPrice: 91 });
    expect(status).toBe(200);
    expect(body).toEqual({
      orderId,
      limitPrice: 91,
      status: 'ACTIVE',
      updatedAt: '2026-01-05T15:00:00.000Z',
      message: 'Order updated successfully',
    });
    expect((await client.put(`/v1/orders/${orderId}`, { stopPrice: 91 })).body).toEqual({
      statusCode: 400,
      message: ['stopPrice cannot be updated on LIMIT orders'],
      error: 'Bad Request',
    });
    expect((await client.put(`/v1/orders/${orderId}`, {})).status).toBe(400);
  });

  it('answers an equal update with the order as it is (D247)', async () => {
    await pushQuote(client, { askSize: 10 });
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 112.5, quantity: 30 });
    await pushQuote(client, { bid: 114, ask: 114.1 });
    const update = (body: object, headers = {}) => client.put(`/v1/orders/${orderId}`, body, headers);
    const before = (await client.get(`/v1/orders/${orderId}`)).body;
    expect(before).toMatchObject({ filledQuantity: 10, quantity: 30, status: 'ACTIVE' });
    await client.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    const equal = await update({ limitPrice: 112.5, quantity: 30, timeInForce: 'DAY', goodTillDate: null });
    expect([equal.status, equal.body.updatedAt]).toEqual([200, before.updatedAt]);
    expect((await client.get(`/v1/orders/${orderId}`)).body).toEqual(before);
    const trailed = await update({ limitPrice: 113, quantity: 30 });
    expect([trailed.status, trailed.body.limitPrice]).toEqual([200, 113]);
    expect((await update({ quantity: '30' })).status).toBe(400);
  });

  it('updateOrder: ignores an Idempotency-Key and compares the request with the order (D247)', async () => {
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const update = (limitPrice: number, key: string) =>
      client.put(`/v1/orders/${orderId}`, { limitPrice }, { 'idempotency-key': key });
    const { body: first } = await update(91, 'k');
    await client.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    expect((await update(91, 'k')).body).toEqual(first);
    expect((await update(92, 'k')).body).toMatchObject({
      limitPrice: 92,
      updatedAt: '2026-01-05T15:01:00.000Z',
    });
  });

  it('checks the state before the fields: 404, 403, 409, then the empty body (D247)', async () => {
    const filled = await placeOrder(client, portfolioId, { limitPrice: 100 });
    const resting = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const update = async (orderId: string, body: object): Promise<number> =>
      (await client.put(`/v1/orders/${orderId}`, body)).status;
    expect(await update(NOWHERE, {})).toBe(404);
    expect(await update(filled.orderId, {})).toBe(409);
    expect(await update(filled.orderId, { limitPrice: 100 })).toBe(409);
    expect((await client.put(`/v1/orders/${resting.orderId}`, { limitPrice: null })).body.message).toEqual([
      'body must contain at least one of limitPrice, stopPrice, quantity, timeInForce, goodTillDate',
    ]);
    expect(await update(resting.orderId, { limitPrice: 90 })).toBe(200);
    await client.put(`/v1/accounts/${ACCOUNT}/freeze`);
    for (const { orderId } of [filled, resting])
      expect([await update(orderId, {}), await update(orderId, { limitPrice: 90 })]).toEqual([403, 403]);
    expect(await update(NOWHERE, { limitPrice: 90 })).toBe(404);
  });

  it('cancels, once', async () => {
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const first = await client.put(`/v1/orders/${orderId}/cancel`);
    expect(first.body).toEqual({
      orderId,
      status: 'CANCELED',
      canceledAt: '2026-01-05T15:00:00.000Z',
      message: 'Order canceled successfully',
    });
    const conflict = {
      statusCode: 409,
      message: 'An order with status CANCELED cannot be canceled',
      error: { code: 'ORDER_NOT_UPDATABLE', orderId: orderId as string, status: 'CANCELED' },
    };
    expect((await client.put(`/v1/orders/${orderId}/cancel`)).body).toEqual(conflict);
    expect((await client.put(`/v1/orders/${orderId}`, { limitPrice: 91 })).body.error.code).toBe(
      'ORDER_NOT_UPDATABLE',
    );
    expect((await client.get(`/v1/orders/${orderId}`)).body).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'USER',
    });
  });

  it('is CANCELING while a cancel is in transit', async () => {
    const { orderId } = await placeOrder(client, portfolioId, {
      limitPrice: 90,
      latencyProfile: 'CUSTOM',
      latencyMs: 500,
    });
    await client.post('/v1/simulation/clock/advance', { by: 'PT1S' });
    const { body } = await client.put(`/v1/orders/${orderId}/cancel`);
    expect(body).toEqual({ orderId, status: 'CANCELING', message: 'Order cancel requested' });
    await client.post('/v1/simulation/clock/advance', { by: 'PT1S' });
    expect((await client.get(`/v1/orders/${orderId}`)).body.status).toBe('CANCELED');
  });

  it('reports the reason of a rejection at release, with the figures', async () => {
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-05T22:00:00Z' });
    // 900 × 100 × 1.05 is there, 900 × 120 × 1.05 is not.
    const { orderId } = await placeOrder(client, portfolioId, {
      orderType: 'MARKET',
      quantity: 900,
      limitPrice: undefined,
    });
    await pushQuote(client, { bid: 119.9, ask: 120, last: 120 });
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-06T14:30:00Z' });
    expect((await client.get(`/v1/orders/${orderId}`)).body).toMatchObject({
      status: 'REJECTED',
      rejectReason: {
        code: 'INSUFFICIENT_FUNDS',
        message: 'Insufficient funds',
        availableCash: 100000,
        requiredAmount: 113400,
      },
    });
  });

  it('reports the actual obstacle of an order: size used by other orders, and orders ahead of it', async () => {
    await pushQuote(client, { bid: 99.9, ask: 100, last: 100, askSize: 10 });
    const [, second, third] = [await place(), await place(), await place()].map(({ body }) => body.orderId);
    const waits = async (orderId: string) => (await client.get(`/v1/orders/${orderId}`)).body.waitingFor;
    expect(await waits(second)).toBe('size at ask 100.00');
    expect(await waits(third)).toBe('size at ask 100.00, after the queue before it');
  });

  it('cancels all orders of an account', async () => {
    const one = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const two = await placeOrder(client, portfolioId, { limitPrice: 91 });
    const { body } = await client.delete(`/v1/orders/account/${ACCOUNT}`);
    expect(body).toEqual({
      canceledCount: 2,
      canceledOrders: [one.orderId, two.orderId],
      message: '2 orders canceled',
    });
    expect((await client.delete(`/v1/orders/account/${NOWHERE}`)).body.message).toBe('Account not found');
  });

  it('cancelAccountOrders: counts cancels that latency keeps pending apart, and an order among them may fill (D213)', async () => {
    const now = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const later = await placeOrder(client, portfolioId, {
      limitPrice: 91,
      latencyProfile: 'CUSTOM',
      latencyMs: 5000,
    });
    await client.post('/v1/simulation/clock/advance', { by: 'PT6S' });
    const { body } = await client.delete(`/v1/orders/account/${ACCOUNT}`);
    expect(body).toEqual({
      canceledCount: 2,
      canceledOrders: [now.orderId, later.orderId],
      cancelRequested: [later.orderId],
      message: '2 orders canceled, 1 of them pending',
    });
    // A cancel that is on its way already is not another call's.
    const again = await client.delete(`/v1/orders/account/${ACCOUNT}`);
    expect(again.body).toEqual({ canceledCount: 0, canceledOrders: [], message: '0 orders canceled' });
    await pushQuote(client, { bid: 90.9, ask: 91, last: 91 });
    expect((await client.get(`/v1/orders/${later.orderId}`)).body.status).toBe('FILLED');
    expect((await client.get(`/v1/orders/${now.orderId}`)).body.status).toBe('CANCELED');
  });
});

describe('finding orders', () => {
  it('lists an account in short and a portfolio in full, with the same filters', async () => {
    const filled = await placeOrder(client, portfolioId);
    await client.post('/v1/simulation/clock/advance', { by: 'P1D' });
    const open = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const account = await client.get(`/v1/orders/account/${ACCOUNT}`);
    expect(account.body.pagination).toEqual({ page: 1, limit: 50, total: 2, totalPages: 1 });
    expect(account.body.data[1]).toEqual({
      orderId: filled.orderId,
      symbol: 'AAPL',
      orderType: 'LIMIT',
      quantity: 10,
      status: 'FILLED',
      createdAt: filled.createdAt,
    });
    const ids = async (filter: string): Promise<string[]> => {
      const { body } = await client.get(`/v1/orders/portfolio/${portfolioId}?${filter}`);
      return body.data.map(({ orderId }: Body) => orderId as string) as string[];
    };
    expect(await ids('status=FILLED')).toEqual([filled.orderId]);
    expect(await ids('symbol=AAPL&assetClass=EQUITY')).toEqual([open.orderId, filled.orderId]);
    expect(await ids('symbol=MSFT')).toEqual([]);
    expect(await ids('to=2026-01-05')).toEqual([filled.orderId]);
    expect(await ids('from=2026-01-06')).toEqual([open.orderId]);
    expect(await ids('page=2&limit=1')).toEqual([filled.orderId]);
    expect((await client.get('/v1/orders/filled/today')).body.data).toEqual([]);
  });

  it("lists today's fills with their executions", async () => {
    const { orderId } = await placeOrder(client, portfolioId);
    const { body } = await client.get('/v1/orders/filled/today');
    expect(body.data).toMatchObject([{ orderId, status: 'FILLED' }]);
    const executions = await client.get(`/v1/orders/${orderId}/executions`);
    expect(executions.body).toEqual({
      data: [
        {
          executionId: expect.any(String) as string,
          orderId,
          symbol: 'AAPL',
          quantity: 10,
          price: 100,
          commission: 0,
          fees: [],
          executedAt: '2026-01-05T15:00:00.000Z',
          liquidity: 'TAKER',
          quote: { bid: 99.9, ask: 100, last: 100, timestamp: 1767625200000 },
          explanation: expect.objectContaining({ rule: 'TOUCH', latencyMs: 0 }) as object,
        },
      ],
      pagination: { page: 1, limit: 50, total: 1, totalPages: 1 },
    });
  });

  it.each(['limit=0', 'limit=501', 'page=0', 'page=1.5', 'limit=abc', 'page=1&page=2', 'nope=1'])(
    'refuses ?%s',
    async (query) => {
      expect((await client.get(`/v1/orders/account/${ACCOUNT}?${query}`)).status).toBe(400);
    },
  );
});

describe('a batch', () => {
  const other = '22222222-2222-4222-8222-222222222222';
  const batch = (accountIds: string[], more: object = {}) =>
    client.post('/v1/orders/batch', { accountIds, orderData: orderBody(portfolioId, more) });

  it('places the order in each account, and lists the failures', async () => {
    await openPortfolio(client, { accountId: other, initialCash: 500, portfolioType: 'CASH' });
    const { status, body } = await batch([ACCOUNT, other, NOWHERE]);
    expect(status).toBe(201);
    expect(body).toEqual({
      successful: [{ accountId: ACCOUNT, orderId: expect.any(String) as string }],
      failed: [
        {
          accountId: other,
          statusCode: 400,
          message: 'Insufficient funds',
          error: { code: 'INSUFFICIENT_FUNDS', availableCash: 500, requiredAmount: 1000 },
        },
        { accountId: NOWHERE, statusCode: 404, message: 'Account not found', error: 'Not Found' },
      ],
      message: '1 successful, 2 failed',
    });
  });

  it('is 201 when every account failed, and 400 when the batch itself is wrong', async () => {
    expect((await batch([NOWHERE])).body).toMatchObject({
      successful: [],
      message: '0 successful, 1 failed',
    });
    expect((await batch([])).status).toBe(400);
    expect((await batch([ACCOUNT, ACCOUNT])).body.message).toEqual([
      'accountIds must not contain duplicates',
    ]);
  });
});
