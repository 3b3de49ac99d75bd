import { describe, expect, it } from 'vitest';
import { KnownInstruments } from '../../../src/instruments/known-instruments.js';
import { testEquity, TestMarket } from '../../../src/testing/market.js';
import { Money } from '../../../src/values/money.js';

describe('fill or kill', () => {
  it('fills whole if all of it is displayed', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 10 });
    const order = market.place(market.openPortfolio(), { limit: '100.00', tif: 'FOK', quantity: 10 });
    expect(market.fills(order)).toEqual(['10 @ 100']);
    expect(market.order(order).status).toBe('FILLED');
  });

  it('fill or kill: is canceled if one share is missing, and uses none of the displayed size', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 9 });
    const portfolio = market.openPortfolio();
    const order = market.place(portfolio, { limit: '100.00', tif: 'FOK', quantity: 10 });
    expect(market.fills(order)).toEqual([]);
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'FOK_NOT_FILLABLE' });
    const next = market.place(portfolio, { quantity: 9 });
    expect(market.fills(next)).toEqual(['9 @ 100']);
  });

  it('does not overtake an earlier order', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 2 });
    const first = market.place(market.openPortfolio(), { limit: '100.00', quantity: 10 });
    expect(market.fills(first)).toEqual(['2 @ 100']);
    market.quote('AAPL', '99.90', '100.00', { askSize: 12 });
    // Eight of the twelve went to the first order; four remain.
    const order = market.place(market.openPortfolio(), { limit: '100.00', tif: 'FOK', quantity: 5 });
    expect(market.fills(order)).toEqual([]);
    const fits = market.place(market.openPortfolio(), { limit: '100.00', tif: 'FOK', quantity: 4 });
    expect(market.fills(fits)).toEqual(['4 @ 100']);
  });

  it('a triggered stop that cannot fill whole does not block later orders', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    const portfolio = market.openPortfolio();
    const all = market.place(portfolio, { type: 'STOP', stop: '105.00', tif: 'FOK', quantity: 10 });
    const some = market.place(portfolio, { type: 'STOP', stop: '105.00', quantity: 10 });
    market.quote('AAPL', '104.90', '105.10', { last: '105.00', askSize: 6 });
    expect(market.order(all)).toMatchObject({ status: 'CANCELED', cancelReason: 'FOK_NOT_FILLABLE' });
    expect(market.fills(all)).toEqual([]);
    expect(market.fills(some)).toEqual(['6 @ 105.1']);
  });

  it('counts the modeled book if the portfolio has one', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 100 });
    const portfolio = market.openPortfolio({ fillModel: 'depth' });
    // Levels of 0.05: within 0.0005 of the touch 50,000,000 × (0.0005 / 0.02)² = 31,250 shares are modeled.
    const within = market.place(portfolio, { limit: '100.05', tif: 'FOK', quantity: 200 });
    expect(market.fills(within)).toEqual(['100 @ 100', '100 @ 100.05']);
    const beyond = market.place(portfolio, { limit: '100.04', tif: 'FOK', quantity: 200 });
    expect(market.fills(beyond)).toEqual([]);
  });

  it('walking the modeled book it never stops half-way for want of funds', () => {
    // A cent a level: 1,000 × (0.01 / 0.02)² = 250 shares are within the first, 250 × 8² = 16,000 within the eighth.
    const thin = testEquity('THIN', { averageDailyVolume: 1000 });
    const market = new TestMarket({ rules: { instruments: new KnownInstruments({ instruments: [thin] }) } });
    const buy = { symbol: 'THIN', quantity: 16_100 };
    // 16,100 × 1.00 × 1.05 = 16,905.00 is reserved. The shares would cost 100 × 1.00 + 250 × 1.01 + 750 × 1.02 + … + 3,750 × 1.08 =
    // 17,030.00.
    const cash = 16_905;
    market.quote('THIN', '0.99', '1.00', { askSize: 100 });
    const poor = market.openPortfolio({ fillModel: 'depth', cash });
    const killed = market.place(poor, { ...buy, tif: 'FOK' });
    expect(market.fills(killed)).toEqual([]);
    expect(market.order(killed)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSUFFICIENT_FUNDS' },
    });
    // The same order without FOK fills as far as its funds reach, level by level.
    const partial = market.place(poor, buy);
    expect(market.fills(partial)).toHaveLength(8);
    expect(market.order(partial)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'INSUFFICIENT_FUNDS',
      filledQuantity: 12_350_000_000,
    });
  });

  it('fill or kill: a short sale is canceled whole, regardless of the margin of partial fills (D135)', () => {
    // A cent a level: 100,000 × (0.01 / 5.00 / 0.02)² = 1,000 shares are at 4.99, 3,000 more at 4.98.
    const thin = testEquity('THIN', { averageDailyVolume: 100_000 });
    const stock = testEquity('AAPL');
    const instruments = new KnownInstruments({ instruments: [thin, stock] });
    const market = new TestMarket({ rules: { instruments } });
    market.quote('AAPL', '100.00', '100.00');
    market.quote('THIN', '5.00', '5.01', { bidSize: 100 });
    const portfolio = market.openPortfolio({ type: 'MARGIN', fillModel: 'depth', cash: 10_000 });
    // The shares require half of 10,000.00: 5,000.00 remain for opening orders.
    market.place(portfolio, { quantity: 100 });
    // At 5.01 each of the 1,200 requires 2.505, in all 3,006.00. At 5.00 it is 2.50, but below 5.00 it is the whole price:
    // after 250.00 for the first hundred the next thousand would require 4,990.00 of 4,750.00.
    const sale = { symbol: 'THIN', intent: 'SELL_TO_OPEN', quantity: 1200 } as const;
    const killed = market.place(portfolio, { ...sale, tif: 'FOK' });
    expect(market.fills(killed)).toEqual([]);
    expect(market.order(killed)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSUFFICIENT_FUNDS', requiredAmount: Money.ofDollars(4990) },
    });
    expect(market.portfolio(portfolio).positions.has('THIN')).toBe(false);
    // The same order without FOK sells as much as possible, and is not rejected: the rest is canceled.
    const partial = market.place(portfolio, sale);
    expect(market.fills(partial)).toEqual(['100 @ 5']);
    expect(market.order(partial)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'INSUFFICIENT_FUNDS',
      filledQuantity: 100_000_000,
    });
    expect(market.order(partial)).not.toHaveProperty('rejectReason');
  });
});
