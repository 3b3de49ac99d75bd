import { describe, expect, it } from 'vitest';
import { dollars, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

function announce(market: TestMarket, amount: string, exDate = '2026-01-07', payDate?: string) {
  return market.execute<'AnnounceActions'>({
    type: 'AnnounceActions',
    actions: [
      {
        type: 'CASH_DIVIDEND',
        symbol: 'AAPL',
        exDate: TradingDate.of(exDate),
        ...(payDate !== undefined && { payDate: TradingDate.of(payDate) }),
        amountPerShare: Price.of(amount),
      },
    ],
  }).result;
}

function holding(options: { type?: 'CASH' | 'MARGIN'; intent?: 'BUY_TO_OPEN' | 'SELL_TO_OPEN' } = {}) {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: options.type ?? 'MARGIN' });
  market.quote('AAPL', '100.00', '100.00');
  market.place(portfolio, { intent: options.intent ?? 'BUY_TO_OPEN', quantity: 100 });
  return { market, portfolio };
}

describe('a dividend is owed to the holder at the close before the ex-date', () => {
  it('is owed the dividend from the ex-date, and paid at 09:00 of the pay date', () => {
    const { market, portfolio } = holding();
    announce(market, '0.255', '2026-01-07', '2026-01-14');
    market.advanceTo('2026-01-07', 2, 59);
    expect(market.value(portfolio).pendingCash).toBe(0);
    market.advanceTo('2026-01-07', 3);
    expect(dollars(market.value(portfolio).pendingCash)).toBe(25.5);
    expect(dollars(market.value(portfolio).totalEquity)).toBe(100_025.5);
    market.advanceTo('2026-01-14', 8, 59);
    expect(dollars(market.value(portfolio).settledCash)).toBe(90_000);
    market.advanceTo('2026-01-14', 9);
    expect(dollars(market.value(portfolio).settledCash)).toBe(90_025.5);
    expect(market.value(portfolio).pendingCash).toBe(0);
  });

  it('owes it when short', () => {
    const { market, portfolio } = holding({ intent: 'SELL_TO_OPEN' });
    announce(market, '0.25', '2026-01-07', '2026-01-09');
    market.advanceTo('2026-01-07', 10);
    expect(dollars(market.value(portfolio).pendingCash)).toBe(-25);
    market.advanceTo('2026-01-09', 9);
    expect(dollars(market.value(portfolio).settledCash)).toBe(109_975);
  });

  it('need not have been delivered the shares: a purchase of the day before counts', () => {
    const { market, portfolio } = holding();
    announce(market, '0.25', '2026-01-06');
    market.advanceTo('2026-01-06', 3);
    expect(market.portfolio(portfolio).positions.get('AAPL')).toMatchObject({
      settled: 0,
      pending: 100_000_000,
    });
    expect(dollars(market.value(portfolio).pendingCash)).toBe(25);
    // Without a pay date it is paid on the ex-date.
    market.advanceTo('2026-01-06', 9);
    expect(dollars(market.value(portfolio).settledCash)).toBe(90_025);
  });

  it('has sold too late not to be owed it, when the sale is of the ex-date', () => {
    const { market, portfolio } = holding();
    announce(market, '0.25', '2026-01-06', '2026-01-08');
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100 });
    market.advanceTo('2026-01-08', 9);
    expect(dollars(market.value(portfolio).settledCash)).toBe(100_025);
  });

  it('is not who buys on the ex-date, nor who sold the day before', () => {
    const { market, portfolio } = holding();
    announce(market, '0.25', '2026-01-06');
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100 });
    market.advanceTo('2026-01-06', 10);
    market.place(portfolio, { quantity: 100 });
    expect(market.events('DividendAccrued')).toEqual([]);
  });
});

describe('open orders on the ex-date (FINRA Rule 5330)', () => {
  it('buy limits and sell stops come down by the dividend, to the next tick; others stay', () => {
    const { market, portfolio } = holding();
    const buyLimit = market.place(portfolio, { quantity: 10, limit: '95.00', tif: 'GTC' });
    const sellStop = market.place(portfolio, {
      type: 'STOP',
      intent: 'SELL_TO_CLOSE',
      quantity: 10,
      stop: '90.00',
      tif: 'GTC',
    });
    const sellStopLimit = market.place(portfolio, {
      type: 'STOP_LIMIT',
      intent: 'SELL_TO_CLOSE',
      quantity: 10,
      stop: '90.00',
      limit: '89.00',
      tif: 'GTC',
    });
    const sellLimit = market.place(portfolio, {
      intent: 'SELL_TO_CLOSE',
      quantity: 10,
      limit: '120.00',
      tif: 'GTC',
    });
    const buyStop = market.place(portfolio, { type: 'STOP', quantity: 10, stop: '130.00', tif: 'GTC' });
    const trailingStop = market.place(portfolio, {
      type: 'TRAILING_STOP',
      intent: 'SELL_TO_CLOSE',
      quantity: 10,
      trailingAmount: '10.00',
      tif: 'GTC',
    });
    announce(market, '0.257');
    market.advanceTo('2026-01-07', 10);
    // 95 − 0.257 = 94.743; 90 − 0.257 = 89.743; 89 − 0.257 = 88.743
    expect(market.order(buyLimit)).toMatchObject({ limitPrice: Price.of('94.74') });
    expect(market.order(sellStop)).toMatchObject({ stopPrice: Price.of('89.74') });
    expect(market.order(sellStopLimit)).toMatchObject({
      stopPrice: Price.of('89.74'),
      limitPrice: Price.of('88.74'),
    });
    expect(market.order(sellLimit)).toMatchObject({ limitPrice: Price.of('120') });
    expect(market.order(buyStop)).toMatchObject({ stopPrice: Price.of('130') });
    expect(market.order(trailingStop)).toMatchObject({ stopPrice: Price.of('90') });
  });

  it('a triggered stop-limit is a limit order: to buy it is reduced, to sell it stays', () => {
    const { market, portfolio } = holding();
    const buy = market.place(portfolio, {
      type: 'STOP_LIMIT',
      quantity: 10,
      stop: '105.00',
      limit: '104.00',
      tif: 'GTC',
    });
    market.quote('AAPL', '105.00', '105.10', { last: '105.00' });
    const sell = market.place(portfolio, {
      type: 'STOP_LIMIT',
      intent: 'SELL_TO_CLOSE',
      quantity: 10,
      stop: '102.00',
      limit: '103.00',
      tif: 'GTC',
    });
    const trailing = market.place(portfolio, {
      type: 'TRAILING_STOP_LIMIT',
      intent: 'SELL_TO_CLOSE',
      quantity: 10,
      trailingAmount: '3.00',
      limit: '104.50',
      tif: 'GTC',
    });
    market.quote('AAPL', '101.90', '104.10', { last: '102.00' });
    for (const order of [buy, sell, trailing])
      expect(market.order(order)).toMatchObject({ triggered: true, filledQuantity: 0 });
    announce(market, '0.257');
    market.advanceTo('2026-01-07', 10);
    // 104 - 0.257 = 103.743
    expect(market.order(buy)).toMatchObject({ limitPrice: Price.of('103.74'), stopPrice: Price.of('105') });
    expect(market.order(sell)).toMatchObject({ limitPrice: Price.of('103'), stopPrice: Price.of('102') });
    expect(market.order(trailing)).toMatchObject({ limitPrice: Price.of('104.5') });
  });

  it('a dividend of less than one cent adjusts no orders', () => {
    const { market, portfolio } = holding();
    const [less, cent] = ['0.0099', '0.01'];
    const order = market.place(portfolio, { quantity: 10, limit: '95.00', tif: 'GTC' });
    announce(market, less);
    market.advanceTo('2026-01-07', 10);
    expect(market.order(order).limitPrice).toBe(Price.of('95'));
    announce(market, cent, '2026-01-08');
    market.advanceTo('2026-01-08', 10);
    expect(market.order(order).limitPrice).toBe(Price.of('94.99'));
  });

  it('a reduced buy limit reduces its reservation', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio();
    market.quote('AAPL', '100.00', '100.00');
    const order = market.place(portfolio, { quantity: 10, limit: '95.00', tif: 'GTC' });
    announce(market, '1.00');
    market.advanceTo('2026-01-07', 10);
    expect(dollars(market.order(order).reserved)).toBe(940);
    expect(dollars(market.value(portfolio).reservedCash)).toBe(940);
    expect(dollars(market.value(portfolio).settledCash)).toBe(99_060);
  });
});

describe('announcements', () => {
  it('of the same dividend are one', () => {
    const { market, portfolio } = holding();
    announce(market, '0.25');
    announce(market, '0.25');
    market.advanceTo('2026-01-07', 10);
    expect(dollars(market.value(portfolio).settledCash)).toBe(90_025);
  });

  it('of the past, of nothing, or paid before the ex-date are refused', () => {
    const { market } = holding();
    expect(announce(market, '0.25', '2026-01-02')).toMatchObject({ code: 'INVALID' });
    expect(announce(market, '0', '2026-01-07')).toMatchObject({ code: 'INVALID' });
    expect(announce(market, '0.25', '2026-01-07', '2026-01-06')).toMatchObject({ code: 'INVALID' });
  });
});

it('less than half a cent is not paid', () => {
  const { market, portfolio } = holding();
  announce(market, '0.00004');
  market.advanceTo('2026-01-07', 10);
  // 100 × 0.00004 = 0.004
  expect(market.events('DividendAccrued')).toEqual([]);
  expect(dollars(market.value(portfolio).totalEquity)).toBe(100_000);
});
