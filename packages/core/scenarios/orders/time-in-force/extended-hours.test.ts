import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

describe('an EXTENDED order works from 04:00 to 20:00', () => {
  it('fills before the open, whereas a regular one waits', () => {
    const market = new TestMarket({ hour: 8 });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    const extended = market.place(portfolio, { limit: '100.00', session: 'EXTENDED' });
    const regular = market.place(portfolio, { limit: '100.00' });
    expect(market.fills(extended)).toEqual(['10 @ 100']);
    expect(market.order(regular).status).toBe('PENDING_MARKET_OPEN');
  });

  it('an EXTENDED order fills after the close by an evening quote', () => {
    const market = new TestMarket({ hour: 16, minute: 30 });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    const order = market.place(portfolio, { limit: '99.00', session: 'EXTENDED' });
    market.advanceTo('2026-01-05', 19, 0);
    market.quote('AAPL', '98.80', '98.90');
    expect(market.fills(order)).toEqual(['10 @ 99']);
  });

  it('an EXTENDED order fills in the regular session', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    expect(
      market.fills(market.place(market.openPortfolio(), { limit: '100.00', session: 'EXTENDED' })),
    ).toEqual(['10 @ 100']);
  });

  it('one that comes at night waits for 04:00', () => {
    const market = new TestMarket({ hour: 21 });
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), { limit: '100.00', session: 'EXTENDED' });
    expect(market.waitingFor(order)).toBe('market opens 2026-01-06T04:00:00-05:00');
    market.advanceTo('2026-01-06', 4, 0);
    market.quote('AAPL', '99.90', '100.00');
    expect(market.fills(order)).toEqual(['10 @ 100']);
  });

  it('one that works day after day meets the first quote from 04:00 on, not the last one of the night', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), { limit: '99.00', tif: 'GTC', session: 'EXTENDED' });
    market.advanceTo('2026-01-05', 22, 0);
    market.quote('AAPL', '98.80', '98.90');
    expect(market.fills(order)).toEqual([]);
    market.advanceTo('2026-01-06', 4, 0);
    expect(market.fills(order)).toEqual([]);
    market.quote('AAPL', '98.70', '98.85');
    expect(market.fills(order)).toEqual(['10 @ 98.85']);
  });

  it('on a day with an early close it ends at 17:00', () => {
    const market = new TestMarket({ date: '2026-11-27', hour: 16, minute: 59 });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    const last = market.place(portfolio, { limit: '100.00', session: 'EXTENDED' });
    expect(market.fills(last)).toEqual(['10 @ 100']);
    market.advanceTo('2026-11-27', 17, 0);
    const late = market.place(portfolio, { limit: '100.00', session: 'EXTENDED' });
    expect(market.waitingFor(late)).toBe('market opens 2026-11-30T04:00:00-05:00');
  });
});
