import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

describe('strict: a resting limit fills only when the market trades through it', () => {
  it('strict: an ask equal to the limit does not fill a resting buy', () => {
    const market = new TestMarket();
    market.quote('AAPL', '104.90', '105.00');
    const order = market.place(market.openPortfolio({ fillModel: 'strict' }), { limit: '100.00' });
    market.quote('AAPL', '99.90', '100.00');
    expect(market.fills(order)).toEqual([]);
    expect(market.waitingFor(order)).toBe('market to trade through limit 100.00');
    market.quote('AAPL', '99.89', '99.9999');
    expect(market.fills(order)).toEqual(['10 @ 100']);
  });

  it('a sale when the bid is above', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ fillModel: 'strict' });
    market.place(portfolio, {});
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '105.00' });
    market.quote('AAPL', '105.00', '105.10');
    expect(market.fills(sale)).toEqual([]);
    market.quote('AAPL', '105.01', '105.10');
    expect(market.fills(sale)).toEqual(['10 @ 105']);
  });

  it('a limit that is marketable when it arrives fills at the touch', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ fillModel: 'strict' });
    expect(market.fills(market.place(portfolio, { limit: '100.00' }))).toEqual(['10 @ 100']);
    expect(market.fills(market.place(portfolio, {}))).toEqual(['10 @ 100']);
  });

  it('a trade-through fills at most the displayed size', () => {
    const market = new TestMarket();
    market.quote('AAPL', '104.90', '105.00');
    const order = market.place(market.openPortfolio({ fillModel: 'strict' }), { limit: '100.00' });
    market.quote('AAPL', '99.80', '99.90', { askSize: 6 });
    expect(market.fills(order)).toEqual(['6 @ 100']);
  });
});
