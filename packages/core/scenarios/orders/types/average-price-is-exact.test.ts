import { expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';

it('the average over several prices is the exact quotient, rounded once to eight decimals', () => {
  const market = new TestMarket();
  const order = market.place(market.openPortfolio(), { quantity: 3, type: 'MARKET' });
  market.quote('AAPL', '9.99', '10.00', { askSize: 1 });
  market.quote('AAPL', '9.99', '10.01', { askSize: 1 });
  // (10.00 + 10.01) / 2
  expect(market.order(order).averagePrice).toBe(Price.of('10.005'));
  market.quote('AAPL', '9.99', '10.03', { askSize: 1 });
  // 30.04 / 3 = 10.01333…
  expect(market.order(order)).toMatchObject({ status: 'FILLED', averagePrice: Price.of('10.01333333') });
});

it('the average price is rounded half up', () => {
  const market = new TestMarket();
  const order = market.place(market.openPortfolio(), { quantity: 6, type: 'MARKET' });
  market.quote('AAPL', '9.99', '10.00', { askSize: 4 });
  market.quote('AAPL', '9.99', '10.01', { askSize: 2 });
  // (4 × 10.00 + 2 × 10.01) / 6 = 60.02 / 6 = 10.00333…
  expect(market.order(order).averagePrice).toBe(Price.of('10.00333333'));
  const other = market.place(market.openPortfolio(), { quantity: 6, type: 'MARKET', symbol: 'MSFT' });
  market.quote('MSFT', '9.99', '10.00', { askSize: 2 });
  market.quote('MSFT', '9.99', '10.01', { askSize: 4 });
  // 60.04 / 6 = 10.00666…
  expect(market.order(other).averagePrice).toBe(Price.of('10.00666667'));
});
