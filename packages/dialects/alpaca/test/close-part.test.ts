import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import { openPortfolio, placeOrder, pushQuote, TestApp } from '../../../server/src/testing/test-app.js';

let test: TestApp;
let send: AlpacaSend;
let buy: (quantity: number) => Promise<unknown>;

beforeAll(async () => {
  test = await TestApp.open();
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  send = alpacaSender(test, await keyPairOf(owner, portfolioId));
  await pushQuote(owner);
  buy = (quantity) => placeOrder(owner, portfolioId, { quantity });
});
afterAll(() => test.close());

it.each([
  ['33.333 % of 100', 100, '33.333', '33.333'],
  ['0.29 % of 100', 100, '0.29', '0.29'],
  ['1.1 % of 3', 3, '1.1', '0.033'],
  ['33.333333333 % of 3, rounded down to a millionth of a share', 3, '33.333333333', '0.999999'],
  ['2e1 % of 7', 7, '2e1', '1.4'],
  ['.5 % of 7', 7, '.5', '0.035'],
])('%s of a position is exact', async (_, held, percentage, expected) => {
  await buy(held);
  const { body: order } = await send('DELETE', `/v2/positions/AAPL?percentage=${percentage}`);
  expect(order.qty).toBe(expected);
  await send('DELETE', '/v2/positions/AAPL');
});

it('less than the least part of a position is refused', async () => {
  await buy(1);
  const reply = await send('DELETE', '/v2/positions/AAPL?percentage=0.00001');
  expect([reply.status, reply.body.message]).toEqual([
    422,
    'position is too small to close this percentage of it',
  ]);
});
