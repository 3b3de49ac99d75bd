/** Client order ids that a client chooses for replacements. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import {
  type Body,
  openPortfolio,
  pushQuote,
  TestApp,
  type TestClient,
} from '../../../server/src/testing/test-app.js';

let test: TestApp;
let owner: TestClient;
let portfolioId: string;
let send: AlpacaSend;

beforeEach(async () => {
  test = await TestApp.open();
  owner = test.as({ tier: 'ENTERPRISE' });
  ({ portfolioId } = (await openPortfolio(owner)) as { portfolioId: string });
  send = alpacaSender(test, await keyPairOf(owner, portfolioId));
  await pushQuote(owner);
});
afterEach(() => test.close());

const rests = {
  symbol: 'AAPL',
  qty: '1',
  side: 'buy',
  type: 'limit',
  limit_price: '90',
  time_in_force: 'gtc',
};
const place = async (more: object = {}): Promise<Body> =>
  (await send('POST', '/v2/orders', { ...rests, ...more })).body;
const patch = ({ id }: Body, changes: object) => send('PATCH', `/v2/orders/${id as string}`, changes);
const byClientId = async (id: string): Promise<Body> =>
  (await send('GET', `/v2/orders:by_client_order_id?client_order_id=${encodeURIComponent(id)}`)).body;

it('a replacement has the id that was chosen for it, and is found by it', async () => {
  const first = await place({ client_order_id: 'first' });
  const second = (await patch(first, { limit_price: '91', client_order_id: 'second/2' })).body;
  expect(second).toMatchObject({ client_order_id: 'second/2', replaces: first.id, limit_price: '91' });
  const third = (await patch(second, { limit_price: '92', client_order_id: '' })).body;
  expect(third.client_order_id).toBe(third.id);
  expect(await byClientId('first')).toMatchObject({ id: first.id, status: 'replaced' });
  expect(await byClientId('second/2')).toMatchObject({
    id: second.id,
    status: 'replaced',
    limit_price: '91',
  });
  const all = (await send('GET', '/v2/orders?status=all&direction=asc')).body as Body[];
  expect(all.map(({ client_order_id }) => client_order_id as string)).toEqual([
    'first',
    'second/2',
    third.id,
  ]);
  await send('DELETE', '/v2/orders');
  expect(await byClientId('second/2')).toMatchObject({ id: second.id });
});

it('client order id of a replacement: must be unique, and is free again after a refusal', async () => {
  const [one, other] = [await place({ client_order_id: 'one' }), await place({ client_order_id: 'other' })];
  const unique = { code: 40010001, message: 'client_order_id must be unique' };
  expect((await patch(one, { limit_price: '91', client_order_id: 'other' })).body).toEqual(unique);
  const chosen = (await patch(one, { limit_price: '91', client_order_id: 'chosen' })).body;
  expect((await patch(other, { limit_price: '91', client_order_id: 'chosen' })).body).toEqual(unique);
  expect(await place({ client_order_id: 'chosen' })).toEqual(unique);
  expect((await patch(chosen, { limit_price: '92.001', client_order_id: 'free' })).status).toBe(422);
  expect((await patch(chosen, { client_order_id: 'free' })).body.message).toBe(
    'order parameters are not changed',
  );
  expect((await patch(chosen, { limit_price: '93' })).body.client_order_id).not.toBe('free');
  expect((await place({ client_order_id: 'free' })).client_order_id).toBe('free');
  for (const client_order_id of ['x'.repeat(129), 'two words'])
    expect((await patch(other, { limit_price: '94', client_order_id })).body.code).toBe(40010001);
});

it('concurrent replacements keep their own ids', async () => {
  const order = await place();
  const replies = await Promise.all(
    [1, 2, 3, 4].map((n) => patch(order, { limit_price: String(80 + n), client_order_id: `n${n}` })),
  );
  for (const { status, body } of replies)
    if (status === 200) expect(body.client_order_id).toBe(`n${Number(body.limit_price) - 80}`);
  expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
});

it('survives a restart, and another portfolio may choose the same', async () => {
  const second = (await patch(await place(), { qty: '2', client_order_id: 'mine' })).body;
  const other = (await openPortfolio(owner)) as { portfolioId: string };
  const theirs = alpacaSender(test, await keyPairOf(owner, other.portfolioId));
  const order = (await theirs('POST', '/v2/orders', rests)).body;
  expect(
    (await theirs('PATCH', `/v2/orders/${order.id as string}`, { qty: '3', client_order_id: 'mine' })).body,
  ).toMatchObject({ client_order_id: 'mine', qty: '3' });
  test = await test.restart();
  owner = test.as({ tier: 'ENTERPRISE' });
  send = alpacaSender(test, await keyPairOf(owner, portfolioId));
  expect(await byClientId('mine')).toMatchObject({ id: second.id, qty: '2' });
});
