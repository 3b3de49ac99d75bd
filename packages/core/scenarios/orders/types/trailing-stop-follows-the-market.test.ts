import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';

function holding(): { market: TestMarket; portfolio: string; last: (price: string) => void } {
  const market = new TestMarket();
  const last = (price: string): void => {
    const at = Number(price);
    market.quote('AAPL', (at - 0.01).toFixed(2), (at + 0.01).toFixed(2), { last: price });
  };
  last('100.00');
  const portfolio = market.openPortfolio();
  market.place(portfolio, { quantity: 100 });
  return { market, portfolio, last };
}

describe('by an amount', () => {
  it('the stop of a sale starts below the last price at acceptance, follows it up and never moves back', () => {
    const { market, portfolio, last } = holding();
    const order = market.place(portfolio, {
      type: 'TRAILING_STOP',
      intent: 'SELL_TO_CLOSE',
      trailingAmount: '5.00',
    });
    expect(market.order(order)).toMatchObject({ mark: Price.of('100'), stopPrice: Price.of('95') });
    last('103.00');
    expect(market.order(order)).toMatchObject({ mark: Price.of('103'), stopPrice: Price.of('98') });
    last('99.00');
    expect(market.order(order)).toMatchObject({ mark: Price.of('103'), stopPrice: Price.of('98') });
    expect(market.waitingFor(order)).toBe('last 99.00 above stop 98.00');
    last('98.00');
    expect(market.fills(order)).toEqual(['10 @ 97.99']);
  });

  it('the stop of a purchase starts above and follows down', () => {
    const { market, portfolio, last } = holding();
    const order = market.place(portfolio, { type: 'TRAILING_STOP', trailingAmount: '5.00' });
    expect(market.order(order)).toMatchObject({ mark: Price.of('100'), stopPrice: Price.of('105') });
    last('97.00');
    expect(market.order(order)).toMatchObject({ mark: Price.of('97'), stopPrice: Price.of('102') });
    last('101.99');
    expect(market.order(order).stopPrice).toBe(Price.of('102'));
    last('102.00');
    expect(market.fills(order)).toEqual(['10 @ 102.01']);
  });
});

describe('by a percentage', () => {
  it('the distance is a percentage of the mark', () => {
    const { market, portfolio, last } = holding();
    const order = market.place(portfolio, {
      type: 'TRAILING_STOP',
      intent: 'SELL_TO_CLOSE',
      trailingPercent: '5',
    });
    expect(market.order(order).stopPrice).toBe(Price.of('95'));
    last('110.00');
    // 110.00 less 5 %
    expect(market.order(order).stopPrice).toBe(Price.of('104.5'));
    last('104.51');
    expect(market.fills(order)).toEqual([]);
    last('104.50');
    expect(market.fills(order)).toEqual(['10 @ 104.49']);
  });
});

it('without a last trade the mark follows the bid (a purchase: the ask)', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.10');
  const portfolio = market.openPortfolio();
  market.place(portfolio, { quantity: 10 });
  const sale = market.place(portfolio, {
    type: 'TRAILING_STOP',
    intent: 'SELL_TO_CLOSE',
    trailingAmount: '1.00',
  });
  expect(market.order(sale).mark).toBe(Price.of('99.9'));
  const purchase = market.place(portfolio, { type: 'TRAILING_STOP', trailingAmount: '1.00' });
  expect(market.order(purchase).mark).toBe(Price.of('100.1'));
});

it('one accepted without a quote starts with the first price it meets', () => {
  const market = new TestMarket();
  const order = market.place(market.openPortfolio({ type: 'MARGIN' }), {
    type: 'TRAILING_STOP',
    intent: 'SELL_TO_OPEN',
    trailingAmount: '2.00',
  });
  expect(market.order(order).mark).toBeUndefined();
  expect(market.waitingFor(order)).toBe('no quote');
  market.quote('AAPL', '49.99', '50.01', { last: '50.00' });
  expect(market.order(order)).toMatchObject({ mark: Price.of('50'), stopPrice: Price.of('48') });
});

it('a trailing stop-limit becomes a limit at its limit price', () => {
  const { market, portfolio, last } = holding();
  const order = market.place(portfolio, {
    type: 'TRAILING_STOP_LIMIT',
    intent: 'SELL_TO_CLOSE',
    trailingAmount: '5.00',
    limit: '94.00',
  });
  last('104.00');
  last('99.00');
  expect(market.fills(order)).toEqual(['10 @ 98.99']);
});

it('mark and stop survive a restart', () => {
  const { market, portfolio, last } = holding();
  const order = market.place(portfolio, {
    type: 'TRAILING_STOP',
    intent: 'SELL_TO_CLOSE',
    trailingAmount: '5.00',
  });
  last('108.00');
  market.restart();
  expect(market.openOrder(order)?.progress).toMatchObject({
    mark: Price.of('108'),
    stopPrice: Price.of('103'),
  });
  last('107.00');
  expect(market.openOrder(order)?.progress.stopPrice).toBe(Price.of('103'));
  last('109.00');
  expect(market.order(order).stopPrice).toBe(Price.of('104'));
  last('104.00');
  expect(market.fills(order)).toEqual(['10 @ 103.99']);
});

it('a trailing stop does not move outside the regular session', () => {
  const { market, portfolio } = holding();
  const order = market.place(portfolio, {
    type: 'TRAILING_STOP',
    intent: 'SELL_TO_CLOSE',
    trailingAmount: '5.00',
    tif: 'GTC',
  });
  market.advanceTo('2026-01-05', 17, 0);
  market.quote('AAPL', '119.99', '120.01', { last: '120.00' });
  expect(market.order(order).mark).toBe(Price.of('100'));
  market.quote('AAPL', '80.00', '80.10', { last: '80.00' });
  expect(market.fills(order)).toEqual([]);
  // The next session opens at 101.00, a price that it follows.
  market.advanceTo('2026-01-06', 9, 30);
  market.quote('AAPL', '100.99', '101.01', { last: '101.00' });
  expect(market.order(order)).toMatchObject({ mark: Price.of('101'), stopPrice: Price.of('96') });
});
