import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Money } from '../../../src/values/money.js';
import { Price } from '../../../src/values/price.js';
import { TradingDate } from '../../../src/values/trading-date.js';

/** A market without any quote, and its reservations. */
function quiet(
  options: { cash?: number; type?: 'CASH' | 'MARGIN'; hour?: number; quoteMaxAgeMs?: number } = {},
) {
  const { cash = 100_000, type = 'CASH', hour = 10, quoteMaxAgeMs } = options;
  const market = new TestMarket({ hour, rules: quoteMaxAgeMs === undefined ? {} : { quoteMaxAgeMs } });
  const portfolio = market.openPortfolio({ cash, type });
  const reserved = (orderId: string) => market.order(orderId).reserved / Money.ofDollars(1);
  return { market, portfolio, reserved };
}

const TRAILING = { type: 'TRAILING_STOP', trailingAmount: '5.00' } as const satisfies TestOrder;

describe('orders without a price reserve at the first price, even if it does not fill them (D133)', () => {
  it.each<[string, TestOrder, number]>([
    // 10 × 100.10 × 1.05
    ['a market order', {}, 1051.05],
    // 10 × (100.00 + 5.00) × 1.05
    ['a trailing stop', TRAILING, 1102.5],
    // 10 × 100.00 × 1.10 × 1.05
    ['a trailing stop by a percentage', { type: 'TRAILING_STOP', trailingPercent: '10' }, 1155],
  ])('%s', (_name, order, expected) => {
    const { market, portfolio, reserved } = quiet();
    const orderId = market.place(portfolio, order);
    expect(reserved(orderId)).toBe(0);
    market.quote('AAPL', '99.90', '100.10', { last: '100.00', askSize: 0 });
    expect(market.fills(orderId)).toEqual([]);
    expect(reserved(orderId)).toBe(expected);
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(Money.ofUnits(expected * 10_000));
  });

  it('a short sale half of the ask of both measures, at least, on margin', () => {
    const { market, portfolio } = quiet({ type: 'MARGIN' });
    const sale = market.place(portfolio, { intent: 'SELL_TO_OPEN' });
    market.quote('AAPL', '99.90', '100.00', { bidSize: 0 });
    // Initial 50 % of 1,000.00, maintenance 30 % of it.
    expect(market.order(sale).takes).toEqual({
      initial: Money.ofDollars(500),
      maintenance: Money.ofDollars(300),
    });
  });

  it('orders with their own price reserve, and are refused, at acceptance (D161)', () => {
    const { market, portfolio, reserved } = quiet({ cash: 1000 });
    expect(market.submit(portfolio, { type: 'STOP', stop: '100.00' })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: Money.ofDollars(1000),
      requiredAmount: Money.ofDollars(1050),
    });
    const stop = market.place(portfolio, { type: 'STOP', stop: '95.00' });
    expect(reserved(stop)).toBe(997.5);
  });

  it('a trailing stop-limit goes by its limit from the beginning, and starts at the first price', () => {
    const { market, portfolio, reserved } = quiet();
    const order = market.place(portfolio, { ...TRAILING, type: 'TRAILING_STOP_LIMIT', limit: '104.00' });
    expect(reserved(order)).toBe(1040);
    market.quote('AAPL', '99.90', '100.10', { last: '100.00' });
    expect(reserved(order)).toBe(1040);
    expect(market.order(order)).toMatchObject({ mark: Price.of('100'), stopPrice: Price.of('105') });
  });

  it('one that closes starts there too, and sets nothing aside', () => {
    const market = new TestMarket();
    market.quote('AAPL', '100.00', undefined);
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    market.place(portfolio, { intent: 'SELL_TO_OPEN' });
    const close = market.place(portfolio, { ...TRAILING, intent: 'BUY_TO_CLOSE' });
    market.quote('AAPL', '100.00', undefined);
    expect(market.order(close)).not.toHaveProperty('mark');
    market.quote('AAPL', '99.90', '100.00');
    expect(market.order(close)).toMatchObject({ mark: Price.of('100'), stopPrice: Price.of('105') });
    expect(market.order(close).reserved).toBe(0);
  });
});

describe('or are rejected, with the figures', () => {
  it('a trailing stop that waits for its trigger', () => {
    const { market, portfolio } = quiet({ cash: 1102 });
    const order = market.place(portfolio, TRAILING);
    market.quote('AAPL', '99.90', '100.10', { last: '100.00' });
    expect(market.order(order)).toMatchObject({
      status: 'REJECTED',
      rejectReason: {
        code: 'INSUFFICIENT_FUNDS',
        availableCash: Money.ofDollars(1102),
        requiredAmount: Money.ofUnits(11_025_000),
      },
    });
  });

  it('with funds for one only, the older order gets them, after a restart as well', () => {
    const { market, portfolio } = quiet({ cash: 1500 });
    const [first, second] = [TRAILING, TRAILING].map((order) => market.place(portfolio, order));
    market.restart();
    market.quote('AAPL', '99.90', '100.10', { last: '100.00' });
    expect(market.openOrder(first!)?.progress.reserved).toBe(Money.ofUnits(11_025_000));
    expect(market.openOrder(second!)).toBeUndefined();
    expect(market.order(second!).status).toBe('REJECTED');
  });

  it('a rejected entry rejects the exits of its bracket', () => {
    const { market, portfolio } = quiet({ cash: 1000 });
    const stopLoss = { orderType: 'STOP', stopPrice: Price.of('90') } as const;
    const entry = market.place(portfolio, { more: { bracketConfig: { stopLoss } } });
    market.quote('AAPL', '99.90', '100.10');
    expect(market.order(entry).status).toBe('REJECTED');
    expect(market.order(market.exits(entry)[0]!)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'BROKER',
    });
  });
});

it('a long position does not reduce the reservation of a short sale', () => {
  const { market, portfolio } = quiet({ type: 'MARGIN', hour: 8 });
  const sale = market.place(portfolio, { intent: 'SELL_TO_OPEN', tif: 'GTC' });
  market.quote('AAPL', '100.00', '100.00', { bidSize: 0 });
  market.place(portfolio, { quantity: 5, limit: '100.00', session: 'EXTENDED' });
  market.advanceTo('2026-01-05', 9, 30);
  expect(market.order(sale).status).toBe('ACTIVE');
  expect(market.order(sale).takes.initial).toBe(Money.ofDollars(500));
});

describe('for any reason to wait', () => {
  it('the open: before it, as an order that there was a price for', () => {
    const { market, portfolio, reserved } = quiet({ cash: 2000, hour: 8 });
    const market1 = market.place(portfolio, {});
    const trailing = market.place(portfolio, TRAILING);
    expect(market.order(market1).status).toBe('PENDING_MARKET_OPEN');
    market.quote('AAPL', '99.90', '100.10', { last: '100.00' });
    expect(market.order(market1).status).toBe('PENDING_MARKET_OPEN');
    expect(reserved(market1)).toBe(1051.05);
    // 948.95 remain of 2,000.00.
    expect(market.order(trailing)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSUFFICIENT_FUNDS', availableCash: Money.ofUnits(9_489_500) },
    });
  });

  it('the market to be reached, and the cancel to reach it', () => {
    const { market, portfolio, reserved } = quiet();
    const more = { latencyProfile: 'CUSTOM', latencyMs: 500 } as const;
    const order = market.place(portfolio, { more });
    market.cancel(order);
    expect(market.order(order).status).toBe('CANCELING');
    market.quote('AAPL', '99.90', '100.10', { askSize: 0 });
    expect(reserved(order)).toBe(1051.05);
    market.advanceMs(500);
    expect(market.order(order).status).toBe('CANCELED');
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(0);
  });

  it('younger data: the price of an old quote is a price to go by', () => {
    const { market, portfolio, reserved } = quiet({ quoteMaxAgeMs: 60_000 });
    const order = market.place(portfolio, {});
    const at = market.now;
    market.advanceMs(120_000);
    market.quote('AAPL', '99.90', '100.10', { at });
    expect(market.waitingFor(order)).toBe('no data since 2026-01-05T10:00:00-05:00');
    expect(reserved(order)).toBe(1051.05);
  });

  it('the side that starts a trailing stop: reserved by the other, then set right', () => {
    const { market, portfolio, reserved } = quiet();
    const order = market.place(portfolio, TRAILING);
    market.quote('AAPL', '99.00', undefined);
    // 10 × 99.00 × 1.05
    expect(reserved(order)).toBe(1039.5);
    expect(market.waitingFor(order)).toBe('no ask');
    market.quote('AAPL', '99.00', '100.00');
    expect(market.order(order)).toMatchObject({ mark: Price.of('100'), stopPrice: Price.of('105') });
    expect(reserved(order)).toBe(1102.5);
  });

  it('a split before the first price: of twice the shares', () => {
    const { market, portfolio, reserved } = quiet();
    const order = market.place(portfolio, { tif: 'GTC' });
    const exDate = TradingDate.of('2026-01-06');
    market.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate, ratio: { new: 2, old: 1 } }],
    });
    market.advanceTo(exDate, 10);
    market.quote('AAPL', '49.90', '50.00', { askSize: 0 });
    expect(reserved(order)).toBe(1050);
  });
});
