import { describe, expect, it } from 'vitest';
import { KnownInstruments } from '../../../src/instruments/known-instruments.js';
import { testEquity, TestMarket } from '../../../src/testing/market.js';

/**
 * At 100.00 a level of the modeled book is 0.05 % = 0.05. With 1,000,000 shares a day and a day's deviation of 2 %, level n holds
 * 1,000,000 × (0.0005 n / 0.02)² = 625 n² shares in all: 625 at 100.05, 1,875 more at 100.10, 3,125 more at 100.15.
 */
function modeled(): { market: TestMarket; open: () => string } {
  const stock = testEquity('AAPL', { averageDailyVolume: 1_000_000, dailyVolatility: 0.02 });
  const market = new TestMarket({ rules: { instruments: new KnownInstruments({ instruments: [stock] }) } });
  return { market, open: () => market.openPortfolio({ fillModel: 'depth', cash: 10_000_000 }) };
}

describe('beyond the displayed size an order walks the modeled book', () => {
  it('level by level, away from the touch', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    const order = market.place(open(), { quantity: 3000 });
    expect(market.fills(order)).toEqual(['100 @ 100', '625 @ 100.05', '1875 @ 100.1', '400 @ 100.15']);
    expect(market.executions(order).map(({ explanation }) => explanation.rule)).toEqual([
      'TOUCH',
      'MODELLED_BOOK',
      'MODELLED_BOOK',
      'MODELLED_BOOK',
    ]);
  });

  it('by the usual day of a recorded quote, which precedes that of the stock', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '99.90', '100.00', {
      askSize: 100,
      usualDay: { volume: 500_000, volatility: 0.01 },
    });
    // 500,000 × (0.0005 n / 0.01)² = 1,250 n².
    expect(market.fills(market.place(open(), { quantity: 3000 }))).toEqual([
      '100 @ 100',
      '1250 @ 100.05',
      '1650 @ 100.1',
    ]);
  });

  it('a sale downwards', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '100.00', '100.00', { bidSize: 100 });
    const portfolio = open();
    market.place(portfolio, { quantity: 1000 });
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 1000 });
    expect(market.fills(sale)).toEqual(['100 @ 100', '625 @ 99.95', '275 @ 99.9']);
  });

  it('never worse than its limit; the remainder waits', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    const order = market.place(open(), { quantity: 3000, limit: '100.09' });
    expect(market.fills(order)).toEqual(['100 @ 100', '625 @ 100.05']);
    expect(market.order(order)).toMatchObject({ status: 'ACTIVE', filledQuantity: 725_000_000 });
  });

  it('a second order continues where the first stopped', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    market.place(open(), { quantity: 1000 });
    const second = market.place(open(), { quantity: 3000 });
    // The first bought 275 of the 1,875 at 100.10.
    expect(market.fills(second)).toEqual(['1600 @ 100.1', '1400 @ 100.15']);
  });

  it('until the next quote, which brings a new book', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    market.place(open(), { quantity: 1000 });
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    expect(market.fills(market.place(open(), { quantity: 700 }))).toEqual(['100 @ 100', '600 @ 100.05']);
  });

  it('over a restart too', () => {
    const { market, open } = modeled();
    const [first, second] = [open(), open()];
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    market.place(first, { quantity: 1000 });
    market.restart();
    expect(market.fills(market.place(second, { quantity: 100 }))).toEqual(['100 @ 100.1']);
  });

  it('an order of the quote model fills against displayed shares only', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    market.place(market.openPortfolio(), { quantity: 150 });
    expect(market.fills(market.place(open(), { quantity: 100 }))).toEqual(['100 @ 100.05']);
  });

  it('an unlimited touch needs no modeled book', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '99.90', '100.00');
    expect(market.fills(market.place(open(), { quantity: 50_000 }))).toEqual(['50000 @ 100']);
  });

  it('a resting limit that the market goes through is paid its limit', () => {
    const { market, open } = modeled();
    market.quote('AAPL', '104.90', '105.00');
    const order = market.place(open(), { quantity: 1000, limit: '100.10' });
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    expect(market.fills(order)).toEqual(['100 @ 100.1', '625 @ 100.1', '275 @ 100.1']);
  });

  it('the levels of a cheap stock are a tick apart', () => {
    const cheap = testEquity('PNY', { averageDailyVolume: 1_000_000, dailyVolatility: 0.02 });
    const market = new TestMarket({ rules: { instruments: new KnownInstruments({ instruments: [cheap] }) } });
    market.quote('PNY', '4.99', '5.00', { askSize: 100 });
    const order = market.place(market.openPortfolio({ fillModel: 'depth' }), {
      symbol: 'PNY',
      quantity: 15_000,
    });
    // 1,000,000 × (0.01 / 5.00 / 0.02)² = 10,000 shares at 5.01.
    expect(market.fills(order)).toEqual(['100 @ 5', '10000 @ 5.01', '4900 @ 5.02']);
  });
});
