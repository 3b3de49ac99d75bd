import { expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

it('a stop sleeps after hours and meets the market at the next open', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.99', '100.01', { last: '100.00' });
  const portfolio = market.openPortfolio();
  market.place(portfolio, { quantity: 10 });
  const stop = market.place(portfolio, {
    type: 'STOP',
    intent: 'SELL_TO_CLOSE',
    stop: '95.00',
    tif: 'GTC',
  });
  market.advanceTo('2026-01-05', 16, 0);
  market.quote('AAPL', '89.90', '90.10', { last: '90.00' });
  expect(market.order(stop)).toMatchObject({ status: 'ACTIVE' });
  expect(market.waitingFor(stop)).toBe('market opens 2026-01-06T09:30:00-05:00');
  market.advanceTo('2026-01-06', 9, 29);
  market.quote('AAPL', '91.90', '92.10', { last: '92.00' });
  expect(market.fills(stop)).toEqual([]);
  market.advanceTo('2026-01-06', 9, 30);
  expect(market.fills(stop)).toEqual([]);
  market.quote('AAPL', '91.80', '92.00', { last: '91.90' });
  expect(market.fills(stop)).toEqual(['10 @ 91.8']);
});

it('a price seen only outside the session does not set it off', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.99', '100.01', { last: '100.00' });
  const portfolio = market.openPortfolio();
  market.place(portfolio, { quantity: 10 });
  const stop = market.place(portfolio, {
    type: 'STOP',
    intent: 'SELL_TO_CLOSE',
    stop: '95.00',
    tif: 'GTC',
  });
  market.advanceTo('2026-01-06', 8, 0);
  market.quote('AAPL', '89.90', '90.10', { last: '90.00' });
  market.quote('AAPL', '97.90', '98.10', { last: '98.00' });
  market.advanceTo('2026-01-06', 12, 0);
  expect(market.order(stop).status).toBe('ACTIVE');
});
