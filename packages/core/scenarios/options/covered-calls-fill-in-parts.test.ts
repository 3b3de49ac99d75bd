import { expect, it } from 'vitest';
import { TestMarket } from '../../src/testing/market.js';
import { Quantity } from '../../src/values/quantity.js';

const CALL = 'AAPL260116C00110000';

it('a covered call order holds 100 shares for each contract that is not yet sold', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'CASH' });
  market.quote('AAPL', '100.00', '100.00');
  market.place(portfolio, { quantity: 300 });
  market.quote(CALL, '1.00', '1.05', { bidSize: 1 });
  const order = market.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 3, limit: '1.00' });
  expect(market.order(order)).toMatchObject({ filledQuantity: Quantity.of(1), cover: Quantity.of(200) });
  market.quote(CALL, '1.00', '1.05', { bidSize: 1 });
  expect(market.order(order)).toMatchObject({ filledQuantity: Quantity.of(2), cover: Quantity.of(100) });
  market.cancel(order);
  // Two contracts sold require 200 shares.
  expect(market.submit(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 101 })).toMatchObject({
    code: 'INSUFFICIENT_POSITION',
    availableQuantity: Quantity.of(100),
  });
});
