import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import { isTerminal, TRANSITIONS } from '../../../src/orders/status.js';

describe('the statuses an order goes through', () => {
  it('filled at once', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const { result, events } = market.execute<'SubmitOrder'>({
      type: 'SubmitOrder',
      by: market.by,
      order: {
        portfolioId: market.openPortfolio(),
        symbol: 'AAPL',
        assetClass: 'EQUITY',
        orderType: 'MARKET',
        positionIntent: 'BUY_TO_OPEN',
        quantity: 1_000_000 as never,
        timeInForce: 'DAY',
        session: 'REGULAR',
      },
    });
    if ('code' in result) throw new Error(result.code);
    // A create returns PENDING regardless of later events (D18).
    expect(result.progress.status).toBe('PENDING');
    expect(events[0]).toMatchObject({ type: 'OrderAccepted', number: result.terms.number });
    const orderId = market.idOf(result.terms.number);
    expect(market.statuses(orderId)).toEqual(['PENDING', 'RESERVING', 'ACTIVE', 'FILLED']);
    expect(market.order(orderId).executedAt).toBe(market.now);
  });

  it('a partial fill stays ACTIVE', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { askSize: 4 });
    const order = market.place(market.openPortfolio(), { quantity: 10 });
    expect(market.order(order)).toMatchObject({ status: 'ACTIVE', filledQuantity: 4_000_000 });
    expect(market.order(order)).not.toHaveProperty('executedAt');
  });

  it('canceled by its user', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), { limit: '90.00' });
    market.cancel(order);
    expect(market.statuses(order)).toEqual(['PENDING', 'RESERVING', 'ACTIVE', 'CANCELED']);
  });

  it('canceled while it waits for the open', () => {
    const market = new TestMarket({ hour: 8 });
    const order = market.place(market.openPortfolio(), { limit: '90.00' });
    market.cancel(order);
    expect(market.statuses(order)).toEqual(['PENDING', 'PENDING_MARKET_OPEN', 'CANCELED']);
    market.advanceTo('2026-01-05', 12, 0);
    expect(market.brokerage.state.orders.size).toBe(0);
  });
});

describe('the table of moves', () => {
  it('nothing leaves a status that is over', () => {
    for (const [status, next] of Object.entries(TRANSITIONS)) {
      expect(next.length === 0).toBe(isTerminal(status as keyof typeof TRANSITIONS));
    }
  });
});

describe('why an open order has not filled', () => {
  it('in the words of D50', () => {
    const market = new TestMarket({ date: '2026-01-02', hour: 17 });
    const portfolio = market.openPortfolio();
    const order = market.place(portfolio, { limit: '10.00' });
    expect(market.waitingFor(order)).toBe('market opens 2026-01-05T09:30:00-05:00');
    market.advanceTo('2026-01-05', 9, 30);
    expect(market.waitingFor(order)).toBe('no quote');
    market.quote('AAPL', '10.04', '10.05');
    expect(market.waitingFor(order)).toBe('ask 10.05 above limit 10.00');
    market.quote('AAPL', '10.04', '10.0525');
    expect(market.waitingFor(order)).toBe('ask 10.0525 above limit 10.00');
    market.cancel(order);
    expect(market.waitingFor(order)).toBeUndefined();
  });
});
