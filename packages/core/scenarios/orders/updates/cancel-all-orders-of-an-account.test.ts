import { expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';

const ACCOUNT = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';

const cancelAll = (market: TestMarket, accountId = ACCOUNT) =>
  market.execute<'CancelAccountOrders'>({
    type: 'CancelAccountOrders',
    by: { tier: 'PRO' },
    accountId,
  }).result;

it('every open order of all portfolios of the account, and no other', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const [first, second] = [market.openPortfolio(), market.openPortfolio()];
  const elsewhere = market.place(market.openPortfolio({ accountId: OTHER }), { limit: '90.00' });
  const stopLoss = { orderType: 'STOP' as const, stopPrice: Price.of('80') };
  const orders = [
    market.place(first, { limit: '90.00' }),
    market.place(second, { limit: '91.00', more: { bracketConfig: { stopLoss } } }),
    market.place(second, { type: 'STOP', stop: '120.00' }),
  ];
  const canceled = cancelAll(market);
  expect('code' in canceled ? canceled : canceled.map((order) => market.idOf(order.terms.number))).toEqual(
    orders,
  );
  for (const order of orders)
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'USER' });
  expect(market.order(elsewhere).status).toBe('ACTIVE');
  expect(market.brokerage.state.orders.size).toBe(1);
});

it('orders with a latency profile are CANCELING', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(), {
    limit: '90.00',
    more: { latencyProfile: 'CUSTOM', latencyMs: 10 },
  });
  market.advanceMs(10);
  expect(cancelAll(market)).toHaveLength(1);
  expect(market.order(order).status).toBe('CANCELING');
  expect(cancelAll(market)).toEqual([]);
});

it('none is fine; an account that does not exist is not', () => {
  const market = new TestMarket();
  market.openPortfolio();
  expect(cancelAll(market)).toEqual([]);
  expect(cancelAll(market, OTHER)).toEqual({ code: 'NOT_FOUND', what: 'Account' });
});
