/** Refusals say what Alpaca says: clients match on the words. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import { type Body, openPortfolio, pushQuote, TestApp } from '../../../server/src/testing/test-app.js';

let test: TestApp;
let send: AlpacaSend;
let headers: Record<string, string>;
/** A sale at rest, far above the market. */
let resting: Body;

beforeAll(async () => {
  test = await TestApp.open();
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  const keys = await keyPairOf(owner, portfolioId);
  headers = { 'apca-api-key-id': keys.keyId, 'apca-api-secret-key': keys.secretKey };
  send = alpacaSender(test, keys);
  await pushQuote(owner);
  await send('POST', '/v2/orders', {
    symbol: 'AAPL',
    qty: '10',
    side: 'buy',
    type: 'market',
    time_in_force: 'day',
  });
  const sale = {
    symbol: 'AAPL',
    qty: '4',
    side: 'sell',
    type: 'limit',
    limit_price: '500',
    time_in_force: 'day',
  };
  resting = (await send('POST', '/v2/orders', sale)).body;
});
afterAll(() => test.close());

it.each([
  [{ type: 'limit' }, 422, 40010001, 'limit orders require a limit price'],
  [{ type: 'market', limit_price: '1' }, 422, 40010001, 'market orders require no stop or limit price'],
  [{ type: 'stop' }, 422, 40010001, 'stop orders require a stop price'],
  [
    { type: 'stop_limit', stop_price: '90' },
    422,
    40010001,
    'stop limit orders require both stop and limit price',
  ],
  [{ type: 'limit', limit_price: '0' }, 422, 40010001, 'limit price must be > 0'],
  [
    { type: 'limit', limit_price: '11.055' },
    422,
    42210000,
    'invalid limit_price 11.055. sub-penny increment does not fulfill minimum pricing criteria',
  ],
  [{ qty: '100000' }, 403, 40310000, 'insufficient buying power'],
  [{ symbol: 'NOPE' }, 422, 42210000, 'asset "NOPE" not found'],
])('an order with %o', async (more, status, code, message) => {
  const order = { symbol: 'AAPL', qty: '1', side: 'buy', type: 'market', time_in_force: 'day', ...more };
  const reply = await send('POST', '/v2/orders', order);
  expect([reply.status, reply.body]).toMatchObject([status, { code, message }]);
});

it('too few shares: the message has the position and the quantity of open orders', async () => {
  const order = { symbol: 'AAPL', qty: '7', side: 'sell', type: 'market', time_in_force: 'day' };
  expect((await send('POST', '/v2/orders', order)).body).toEqual({
    code: 40310000,
    message: 'insufficient qty available for order (requested: 7, available: 6)',
    available: '6',
    existing_qty: '10',
    held_for_orders: '4',
    related_orders: [resting.id],
    symbol: 'AAPL',
  });
});

it('bodies are JSON without a content type, and with any', async () => {
  const order = { symbol: 'AAPL', qty: '1', side: 'buy', type: 'market', time_in_force: 'day' };
  for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded']) {
    const response = await test.app.inject({
      method: 'POST',
      url: '/alpaca/v2/orders',
      headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
      payload: JSON.stringify(order),
    });
    expect([type, response.statusCode]).toEqual([type, 200]);
  }
  const broken = await test.app.inject({ method: 'POST', url: '/alpaca/v2/orders', headers, payload: '{' });
  expect(broken.json()).toMatchObject({ code: 40010000 });
});

it('a replacement without a change is refused, equal fields beside a change are accepted (D247)', async () => {
  const { body: order } = await send('POST', '/v2/orders', {
    symbol: 'AAPL',
    qty: '3',
    side: 'buy',
    type: 'limit',
    limit_price: '90',
    time_in_force: 'day',
  });
  const replace = (body: object, id: string = order.id) => send('PATCH', `/v2/orders/${id}`, body);
  const unchanged = { code: 42210000, message: 'order parameters are not changed' };
  for (const body of [
    { qty: '3', limit_price: '90.00', time_in_force: 'day', client_order_id: '' },
    { qty: null, limit_price: '', stop_price: '', trail: '', time_in_force: '', client_order_id: '' },
    {},
  ]) {
    const reply = await replace(body);
    expect([reply.status, reply.body]).toEqual([422, unchanged]);
  }
  expect((await send('GET', `/v2/orders/${order.id}`)).body.status).toBe('new');
  const changed = await replace({ qty: '3', limit_price: '91', time_in_force: 'day', client_order_id: '' });
  expect([changed.status, changed.body]).toMatchObject([
    200,
    { qty: '3', limit_price: '91', replaces: order.id },
  ]);
  await send('DELETE', `/v2/orders/${changed.body.id}`);
  const over = await replace({}, changed.body.id);
  expect([over.status, over.body.message]).toEqual([422, 'unable to replace order in current state']);
});

it('the trail of a trailing stop may be repeated beside a change, not replaced (D247)', async () => {
  const { body: order } = await send('POST', '/v2/orders', {
    symbol: 'AAPL',
    qty: '2',
    side: 'sell',
    type: 'trailing_stop',
    trail_percent: '2.5',
    time_in_force: 'gtc',
  });
  const replace = (body: object) => send('PATCH', `/v2/orders/${order.id}`, body);
  expect((await replace({ trail: '2.5' })).body.message).toBe('order parameters are not changed');
  expect((await replace({ trail: '3' })).body.message).toBe('trail cannot be replaced');
  expect((await replace({ trail: '2.50', qty: '1' })).body).toMatchObject({ qty: '1', trail_percent: '2.5' });
});
