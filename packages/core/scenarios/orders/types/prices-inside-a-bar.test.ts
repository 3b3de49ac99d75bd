import { expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import { Instant } from '../../../src/values/instant.js';
import { Price } from '../../../src/values/price.js';

it('each order sees only prices after its arrival, and hides none from other orders (D128)', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const barBegan = market.now;
  const early = market.place(market.openPortfolio(), { limit: '95.00' });
  market.advanceMs(30_000);
  const late = market.place(market.openPortfolio(), { limit: '96.00' });
  market.advanceMs(29_999);
  market.execute<'UpdateMarket'>({
    type: 'UpdateMarket',
    pushed: false,
    quotes: [{ symbol: 'AAPL', bid: Price.of('94.90'), ask: Price.of('95.00'), at: market.now }],
    since: barBegan,
  });
  expect(market.fills(early)).toEqual(['10 @ 95']);
  expect(market.fills(late)).toEqual([]);
  // It is still at work: the end of the bar is a price of its own.
  market.quote('AAPL', '95.90', '96.00', { at: Instant.plusMs(market.now, 0) });
  expect(market.fills(late)).toEqual(['10 @ 96']);
});
