import { expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

it('immediate or cancel: fills the displayed size and cancels the rest', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00', { askSize: 4 });
  const portfolio = market.openPortfolio();
  const order = market.place(portfolio, { limit: '100.00', tif: 'IOC', quantity: 10 });
  expect(market.fills(order)).toEqual(['4 @ 100']);
  expect(market.order(order)).toMatchObject({
    status: 'CANCELED',
    cancelReason: 'IOC_REMAINDER',
    filledQuantity: 4_000_000,
    reserved: 0,
  });
  expect(market.statuses(order)).toEqual(['PENDING', 'RESERVING', 'ACTIVE', 'CANCELED']);
});

it('is canceled whole if the market is away from its limit', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(), { limit: '99.95', tif: 'IOC' });
  expect(market.fills(order)).toEqual([]);
  expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'IOC_REMAINDER' });
});

it('an IOC market order without a quote is canceled at once', () => {
  const market = new TestMarket();
  const order = market.place(market.openPortfolio(), { tif: 'IOC' });
  expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'IOC_REMAINDER' });
});

it('a stop with IOC waits for its trigger, then has one chance', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
  const order = market.place(market.openPortfolio(), { type: 'STOP', stop: '105.00', tif: 'IOC' });
  expect(market.order(order).status).toBe('ACTIVE');
  market.quote('AAPL', '104.90', '105.10', { last: '105.00', askSize: 6 });
  expect(market.fills(order)).toEqual(['6 @ 105.1']);
  expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'IOC_REMAINDER' });
});
