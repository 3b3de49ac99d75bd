import { expect, it } from 'vitest';
import { TestMarket } from '../../src/testing/market.js';

it('a lot sold level by level ends with zero cost', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ fillModel: 'depth', cash: 1_000_000_000 });
  market.quote('AAPL', '99.99', '100.01');
  market.place(portfolio, { quantity: '1000.333333' });
  market.quote('AAPL', '99.99', '100.01', { bidSize: 1, askSize: 1 });
  const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: '1000.333333' });
  expect(market.executions(sale).length).toBeGreaterThan(1);
  expect(market.order(sale).status).toBe('FILLED');
  expect(market.portfolio(portfolio).balances.SECURITIES).toBe(0);
});
