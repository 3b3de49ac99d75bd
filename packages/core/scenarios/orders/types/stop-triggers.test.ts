import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

/** A portfolio that holds 100 AAPL, in a market last seen at 100.00. */
function holding(): { market: TestMarket; portfolio: string } {
  const market = new TestMarket();
  market.quote('AAPL', '99.99', '100.01', { last: '100.00' });
  const portfolio = market.openPortfolio();
  market.place(portfolio, { quantity: 100 });
  return { market, portfolio };
}

describe('a stop triggers on the last trade', () => {
  it('a sale when it is at or below the stop, regardless of the bid', () => {
    const { market, portfolio } = holding();
    const stop = market.place(portfolio, { type: 'STOP', intent: 'SELL_TO_CLOSE', stop: '95.00' });
    expect(market.waitingFor(stop)).toBe('last 100.00 above stop 95.00');
    market.quote('AAPL', '94.00', '95.50', { last: '95.01' });
    expect(market.fills(stop)).toEqual([]);
    market.quote('AAPL', '94.90', '95.10', { last: '95.00' });
    expect(market.fills(stop)).toEqual(['10 @ 94.9']);
  });

  it('a purchase when it is at or above the stop, regardless of the ask', () => {
    const { market, portfolio } = holding();
    const stop = market.place(portfolio, { type: 'STOP', stop: '105.00' });
    expect(market.waitingFor(stop)).toBe('last 100.00 below stop 105.00');
    market.quote('AAPL', '104.50', '106.00', { last: '104.99' });
    expect(market.fills(stop)).toEqual([]);
    market.quote('AAPL', '104.90', '105.10', { last: '105.00' });
    expect(market.fills(stop)).toEqual(['10 @ 105.1']);
  });
});

describe('without a last trade', () => {
  it('a stop to sell looks at the bid', () => {
    const { market, portfolio } = holding();
    const stop = market.place(portfolio, { type: 'STOP', intent: 'SELL_TO_CLOSE', stop: '95.00' });
    market.quote('AAPL', '95.01', '95.10');
    expect(market.waitingFor(stop)).toBe('bid 95.01 above stop 95.00');
    market.quote('AAPL', '95.00', '95.10');
    expect(market.fills(stop)).toEqual(['10 @ 95']);
  });

  it('a stop to buy looks at the ask', () => {
    const { market, portfolio } = holding();
    const stop = market.place(portfolio, { type: 'STOP', stop: '105.00' });
    market.quote('AAPL', '104.90', '104.99');
    expect(market.waitingFor(stop)).toBe('ask 104.99 below stop 105.00');
    market.quote('AAPL', '104.90', '105.00');
    expect(market.fills(stop)).toEqual(['10 @ 105']);
  });
});

it('a gap fills at the market it finds, not at the stop', () => {
  const { market, portfolio } = holding();
  const stop = market.place(portfolio, { type: 'STOP', intent: 'SELL_TO_CLOSE', stop: '95.00' });
  market.quote('AAPL', '90.00', '90.10', { last: '90.05' });
  expect(market.fills(stop)).toEqual(['10 @ 90']);
});

it('a stop that the market is beyond already goes off on arrival', () => {
  const { market, portfolio } = holding();
  const stop = market.place(portfolio, { type: 'STOP', intent: 'SELL_TO_CLOSE', stop: '101.00' });
  expect(market.fills(stop)).toEqual(['10 @ 99.99']);
});

it('once triggered it stays a market order, though the market comes back', () => {
  const { market, portfolio } = holding();
  const stop = market.place(portfolio, { type: 'STOP', intent: 'SELL_TO_CLOSE', stop: '95.00' });
  market.quote('AAPL', '94.90', '95.10', { last: '95.00', bidSize: 3 });
  expect(market.fills(stop)).toEqual(['3 @ 94.9']);
  market.quote('AAPL', '98.90', '99.10', { last: '99.00' });
  expect(market.fills(stop)).toEqual(['3 @ 94.9', '7 @ 98.9']);
});

describe('a stop-limit becomes a limit', () => {
  it('a triggered stop-limit fills at the best bid or ask within its limit', () => {
    const { market, portfolio } = holding();
    const order = market.place(portfolio, {
      type: 'STOP_LIMIT',
      intent: 'SELL_TO_CLOSE',
      stop: '95.00',
      limit: '94.50',
    });
    market.quote('AAPL', '94.80', '95.10', { last: '95.00' });
    expect(market.fills(order)).toEqual(['10 @ 94.8']);
  });

  it('a triggered stop-limit rests at its limit if the market has moved beyond', () => {
    const { market, portfolio } = holding();
    const order = market.place(portfolio, {
      type: 'STOP_LIMIT',
      intent: 'SELL_TO_CLOSE',
      stop: '95.00',
      limit: '94.50',
    });
    market.quote('AAPL', '93.00', '93.10', { last: '93.05' });
    expect(market.fills(order)).toEqual([]);
    expect(market.waitingFor(order)).toBe('bid 93.00 below limit 94.50');
    market.quote('AAPL', '96.00', '96.10', { last: '96.05' });
    expect(market.fills(order)).toEqual(['10 @ 94.5']);
  });

  it('a purchase is the mirror image', () => {
    const { market, portfolio } = holding();
    const order = market.place(portfolio, { type: 'STOP_LIMIT', stop: '105.00', limit: '105.50' });
    market.quote('AAPL', '105.90', '106.00', { last: '105.95' });
    expect(market.fills(order)).toEqual([]);
    market.quote('AAPL', '105.30', '105.40', { last: '105.35' });
    expect(market.fills(order)).toEqual(['10 @ 105.5']);
  });

  it('does not trade before it is triggered, though the market is within its limit', () => {
    const { market, portfolio } = holding();
    const order = market.place(portfolio, { type: 'STOP_LIMIT', stop: '105.00', limit: '106.00' });
    market.quote('AAPL', '99.90', '100.00', { last: '99.95' });
    expect(market.fills(order)).toEqual([]);
    expect(market.statuses(order)).toEqual(['PENDING', 'RESERVING', 'ACTIVE']);
  });
});
