import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

describe('the displayed size of a quote is shared by all orders of the simulation', () => {
  it('orders of two portfolios get no more than is displayed until the next quote', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 15 });
    const first = market.place(market.openPortfolio(), { quantity: 10 });
    const second = market.place(market.openPortfolio(), { quantity: 10 });
    const third = market.place(market.openPortfolio(), { quantity: 10 });
    expect(market.fills(first)).toEqual(['10 @ 100']);
    expect(market.fills(second)).toEqual(['5 @ 100']);
    expect(market.fills(third)).toEqual([]);
    expect(market.executions(second)[0]?.explanation.sizeAvailable).toBe(5_000_000);
    expect(market.waitingFor(second)).toBe('size at ask 100.00');
    expect(market.waitingFor(third)).toBe('size at ask 100.00, after the queue before it');
    market.quote('AAPL', '99.90', '100.00', { askSize: 7 });
    expect(market.fills(second)).toEqual(['5 @ 100', '5 @ 100']);
    expect(market.fills(third)).toEqual(['2 @ 100']);
  });

  it('each side has its own', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { bidSize: 4, askSize: 10 });
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 10 });
    expect(market.fills(sale)).toEqual(['4 @ 99.9']);
  });

  it('a restart keeps the used size', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 15 });
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    market.restart();
    expect(market.fills(market.place(portfolio, { quantity: 10 }))).toEqual(['5 @ 100']);
  });

  it('a quote without sizes is unlimited', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ cash: 10_000_000 });
    const first = market.place(portfolio, { quantity: 40_000 });
    const second = market.place(portfolio, { quantity: 40_000 });
    expect(market.fills(first)).toEqual(['40000 @ 100']);
    expect(market.fills(second)).toEqual(['40000 @ 100']);
    expect(market.executions(first)[0]?.explanation).not.toHaveProperty('sizeAvailable');
  });

  it('a size of zero is nothing', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 0 });
    const order = market.place(market.openPortfolio(), {});
    expect(market.fills(order)).toEqual([]);
    expect(market.waitingFor(order)).toBe('size at ask 100.00');
  });
});

describe('ideal', () => {
  it('fills whole at the touch, regardless of the displayed size', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 1 });
    const order = market.place(market.openPortfolio({ fillModel: 'ideal' }), { quantity: 500 });
    expect(market.fills(order)).toEqual(['500 @ 100']);
  });

  it('leaves the displayed size to other orders', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 10 });
    market.place(market.openPortfolio({ fillModel: 'ideal' }), { quantity: 500 });
    expect(market.fills(market.place(market.openPortfolio(), { quantity: 10 }))).toEqual(['10 @ 100']);
  });

  it('fills a resting limit at its limit', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 1 });
    const order = market.place(market.openPortfolio({ fillModel: 'ideal' }), {
      quantity: 500,
      limit: '99.00',
    });
    market.quote('AAPL', '98.40', '98.50', { askSize: 1 });
    expect(market.fills(order)).toEqual(['500 @ 99']);
  });

  it('fills even when other orders used the displayed size', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 5 });
    market.place(market.openPortfolio(), { quantity: 10 });
    const order = market.place(market.openPortfolio({ fillModel: 'ideal' }), { quantity: 10 });
    expect(market.fills(order)).toEqual(['10 @ 100']);
  });
});
