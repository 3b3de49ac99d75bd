import { expect, it } from 'vitest';
import { plainEquity } from '../../src/instruments/equity.js';
import { TestMarket } from '../../src/testing/market.js';

const index = { assetClass: 'INDEX', symbol: 'AAPL', name: 'AAPL' } as const;

it('a held or ordered symbol cannot be listed as another class', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio();
  market.quote('AAPL', '50.00', '50.00');
  market.place(portfolio, { quantity: 10 });
  const list = (instrument: typeof index | ReturnType<typeof plainEquity>) =>
    market.brokerage.execute<'ListInstruments'>(
      { type: 'ListInstruments', instruments: [instrument] },
      market.now,
    );
  expect(list(index)).toMatchObject({
    result: {
      code: 'INVALID',
      messages: ['instruments.0.assetClass must be EQUITY: AAPL is held or ordered'],
    },
    events: [],
  });
  // Its description may change; symbols without positions may become anything.
  expect(list({ ...plainEquity('AAPL'), shortable: false }).result).toBeUndefined();
  expect(list({ ...index, symbol: 'MSFT' } as unknown as typeof index).result).toBeUndefined();
});
