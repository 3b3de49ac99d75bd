import { expect, it } from 'vitest';
import { dollars, TestMarket } from '../src/testing/market.js';
import { Price } from '../src/values/price.js';

it('a market order fills at the touch, is paid at once and delivered the next business day', () => {
  const market = new TestMarket();
  market.quote('AAPL', '187.40', '187.50', { bidSize: 500, askSize: 300 });
  const portfolio = market.openPortfolio();
  const order = market.place(portfolio, { quantity: 10 });
  expect(market.statuses(order)).toEqual(['PENDING', 'RESERVING', 'ACTIVE', 'FILLED']);
  expect(market.order(order).averagePrice).toBe(Price.of('187.50'));
  expect(dollars(market.value(portfolio).settledCash)).toBe(100_000 - 1875);
  const position = market.portfolio(portfolio).positions.get('AAPL');
  expect(position).toMatchObject({ settled: 0, pending: 10_000_000 });
  market.advanceTo('2026-01-06', 9, 0);
  expect(position).toMatchObject({ settled: 10_000_000, pending: 0 });
});
