import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';

describe('a marketable limit fills at the touch, with price improvement', () => {
  it('a purchase below its limit', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50', { askSize: 300 });
    const order = market.place(market.openPortfolio(), { limit: '188.00', quantity: 10 });
    expect(market.fills(order)).toEqual(['10 @ 187.5']);
    expect(market.executions(order)[0]).toMatchObject({
      liquidity: 'TAKER',
      explanation: {
        rule: 'TOUCH',
        priceImprovement: Price.of('0.5'),
        latencyMs: 0,
        sizeAvailable: 300_000_000,
      },
    });
  });

  it('a sale above its limit', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50');
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '187.00' });
    expect(market.fills(sale)).toEqual(['10 @ 187.4']);
    expect(market.executions(sale)[0]?.explanation.priceImprovement).toBe(Price.of('0.4'));
  });

  it('a limit at the touch fills there', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50');
    const order = market.place(market.openPortfolio(), { limit: '187.50' });
    expect(market.fills(order)).toEqual(['10 @ 187.5']);
    expect(market.executions(order)[0]?.explanation.priceImprovement).toBe(0);
  });
});

describe('a resting limit fills at its limit', () => {
  it('a purchase, however far the market comes', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50');
    const order = market.place(market.openPortfolio(), { limit: '187.00' });
    expect(market.waitingFor(order)).toBe('ask 187.50 above limit 187.00');
    market.quote('AAPL', '186.00', '186.10');
    expect(market.fills(order)).toEqual(['10 @ 187']);
    expect(market.executions(order)[0]).toMatchObject({
      liquidity: 'MAKER',
      explanation: { rule: 'RESTING_LIMIT', priceImprovement: 0 },
    });
  });

  it('a sale', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50');
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '190.00' });
    expect(market.waitingFor(sale)).toBe('bid 187.40 below limit 190.00');
    market.quote('AAPL', '190.20', '190.30');
    expect(market.fills(sale)).toEqual(['10 @ 190']);
  });

  it('not while the ask stays above it', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50');
    const order = market.place(market.openPortfolio(), { limit: '187.00' });
    market.quote('AAPL', '186.90', '187.01');
    expect(market.fills(order)).toEqual([]);
    market.quote('AAPL', '186.90', '187.00');
    expect(market.fills(order)).toEqual(['10 @ 187']);
  });

  it('an order that arrived without a quote fills at the first touch', () => {
    const market = new TestMarket();
    const order = market.place(market.openPortfolio(), { limit: '187.00' });
    expect(market.waitingFor(order)).toBe('no quote');
    market.quote('AAPL', '186.00', '186.10');
    expect(market.fills(order)).toEqual(['10 @ 186.1']);
  });
});

it('the remainder of a marketable limit fills at the touch of the next quote', () => {
  const market = new TestMarket();
  market.quote('AAPL', '187.40', '187.50', { askSize: 4 });
  const order = market.place(market.openPortfolio(), { limit: '188.00', quantity: 10 });
  expect(market.fills(order)).toEqual(['4 @ 187.5']);
  expect(market.order(order)).toMatchObject({ status: 'ACTIVE', filledQuantity: 4_000_000 });
  expect(market.waitingFor(order)).toBe('size at ask 187.50');
  market.quote('AAPL', '187.40', '187.60', { askSize: 4 });
  expect(market.fills(order)).toEqual(['4 @ 187.5', '4 @ 187.6']);
  // The market leaves and comes back: by now the rest of the order is resting.
  market.quote('AAPL', '188.40', '188.50', { askSize: 4 });
  market.quote('AAPL', '187.40', '187.50', { askSize: 4 });
  expect(market.fills(order)).toEqual(['4 @ 187.5', '4 @ 187.6', '2 @ 188']);
  expect(market.order(order).status).toBe('FILLED');
});
