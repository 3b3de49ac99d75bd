import { expect, it } from 'vitest';
import { TestMarket } from '../../src/testing/market.js';

/** D68. */
it('a pushed quote lists the instrument of its symbol', () => {
  const market = new TestMarket();
  for (const symbol of ['AAPL260116C00150000', 'SPX260116P06000000', 'VIX', 'ESZ26', 'XYZZ26', 'NEWCO2']) {
    market.quote(symbol, '5.00', '5.10');
  }
  const instrument = (symbol: string) => market.brokerage.instrument(symbol);
  expect(instrument('AAPL260116C00150000')).toMatchObject({ assetClass: 'OPTION', underlying: 'AAPL' });
  expect(instrument('SPX260116P06000000')).toMatchObject({ assetClass: 'OPTION', settleSession: 'AM' });
  expect(instrument('VIX')).toMatchObject({ assetClass: 'INDEX' });
  expect(instrument('ESZ26')).toMatchObject({
    assetClass: 'FUTURE',
    root: 'ES',
    lastTradeDate: '2026-12-18',
  });
  expect(instrument('XYZZ26')).toMatchObject({ assetClass: 'EQUITY' });
  expect(instrument('NEWCO2')).toMatchObject({ assetClass: 'EQUITY' });
});

it('an order lists nothing', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio();
  const order = { symbol: 'AAPL260116C00150000', quantity: 1 };
  expect(market.submit(portfolio, order)).toMatchObject({ code: 'UNKNOWN_SYMBOL' });
  expect(market.brokerage.instrument('AAPL260116C00150000')).toBeUndefined();
});
