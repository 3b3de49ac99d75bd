import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

const custom = { latencyProfile: 'CUSTOM' as const, latencyMs: 100 };

function working(): { market: TestMarket; portfolio: string; order: string } {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const portfolio = market.openPortfolio();
  const order = market.place(portfolio, { limit: '95.00', more: custom });
  market.advanceMs(100);
  return { market, portfolio, order };
}

describe('a cancel has the latency of its order', () => {
  it('a cancel with latency answers CANCELING without canceledAt, then CANCELED', () => {
    const { market, portfolio, order } = working();
    expect(market.cancel(order)).toBeUndefined();
    expect(market.order(order).status).toBe('CANCELING');
    expect(market.order(order).canceledAt).toBeUndefined();
    expect(market.waitingFor(order)).toBe('cancel to reach the market');
    market.advanceMs(99);
    expect(market.order(order).status).toBe('CANCELING');
    market.advanceMs(1);
    expect(market.order(order)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'USER',
      canceledAt: market.now,
    });
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(0);
  });

  it('meanwhile the order may still fill', () => {
    const { market, order } = working();
    market.cancel(order);
    market.advanceMs(50);
    market.quote('AAPL', '94.90', '95.00');
    expect(market.fills(order)).toEqual(['10 @ 95']);
    market.advanceMs(100);
    expect(market.statuses(order)).toEqual(['PENDING', 'RESERVING', 'ACTIVE', 'CANCELING', 'FILLED']);
  });

  it('an order may fill in part before its cancel arrives; the rest is canceled', () => {
    const { market, order } = working();
    market.cancel(order);
    market.quote('AAPL', '94.90', '95.00', { askSize: 3 });
    expect(market.order(order)).toMatchObject({ status: 'CANCELING', filledQuantity: 3_000_000 });
    market.advanceMs(100);
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', filledQuantity: 3_000_000 });
  });

  it('a second cancel and an update are refused while a cancel is in transit', () => {
    const { market, order } = working();
    market.cancel(order);
    expect(market.cancel(order)).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
    expect(market.replace(order, { limit: '96.00' })).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
  });

  it('survives a restart', () => {
    const { market, order } = working();
    market.cancel(order);
    market.restart();
    market.advanceMs(100);
    expect(market.order(order).status).toBe('CANCELED');
  });

  it('the close may come first', () => {
    const market = new TestMarket({ hour: 15, minute: 59 });
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), {
      limit: '95.00',
      more: { latencyProfile: 'CUSTOM', latencyMs: 40_000 },
    });
    market.advanceMs(40_000);
    market.cancel(order);
    market.advanceMs(40_000);
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });
});

describe('a cancel sent while the order is still on its way', () => {
  it('arrives after the order, which goes to work in between', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), { limit: '95.00', more: custom });
    market.advanceMs(40);
    market.cancel(order);
    expect(market.order(order).status).toBe('CANCELING');
    market.advanceMs(60);
    market.quote('AAPL', '94.90', '95.00', { askSize: 3 });
    expect(market.order(order)).toMatchObject({ status: 'CANCELING', filledQuantity: 3_000_000 });
    market.advanceMs(40);
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'USER' });
    expect(market.statuses(order)).toEqual(['PENDING', 'CANCELING', 'CANCELED']);
  });

  it('stays CANCELING if the market has closed in between', () => {
    const market = new TestMarket({ hour: 15, minute: 59 });
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), {
      limit: '95.00',
      more: { latencyProfile: 'CUSTOM', latencyMs: 60_000 },
    });
    market.advanceMs(30_000);
    market.cancel(order);
    market.advanceMs(30_000);
    expect(market.order(order).status).toBe('CANCELING');
    market.advanceMs(30_000);
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'USER' });
  });
});

it('without a latency profile a cancel is done at once', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(), { limit: '95.00' });
  market.cancel(order);
  expect(market.order(order)).toMatchObject({
    status: 'CANCELED',
    cancelReason: 'USER',
    canceledAt: market.now,
  });
});
