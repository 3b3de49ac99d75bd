import { describe, expect, it } from 'vitest';
import { reservedShares } from '../../../src/portfolios/portfolio.js';
import { TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';
import { TradingDate } from '../../../src/values/trading-date.js';

const pair = (limit: string, stop: string, more: TestOrder = {}): TestOrder => ({
  intent: 'SELL_TO_CLOSE',
  limit,
  ...more,
  more: { ocoConfig: { stopLoss: { orderType: 'STOP', stopPrice: Price.of(stop) } }, ...more.more },
});

/** Ten shares bought at 100.00, to be sold at 110.00 or, after a decline, from 95.00. */
function held(order: TestOrder = pair('110.00', '95.00')) {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
  const portfolio = market.openPortfolio();
  market.place(portfolio, { quantity: 10 });
  const limit = market.place(portfolio, order);
  const [stop = ''] = market.exits(limit);
  const reserved = () => reservedShares(market.portfolio(portfolio), 'AAPL') / 1_000_000;
  return { market, portfolio, limit, stop, reserved };
}

describe('two closing orders that cancel each other', () => {
  it('go to work together and set the shares aside once', () => {
    const { market, limit, stop, reserved } = held();
    expect(market.order(limit)).toMatchObject({ status: 'ACTIVE', limitPrice: Price.of('110') });
    expect(market.statuses(stop)).toEqual(['CREATED', 'ACTIVE']);
    expect(market.order(stop)).toMatchObject({ quantity: 10_000_000, stopPrice: Price.of('95') });
    expect(reserved()).toBe(10);
  });

  it('the limit fills: the stop is canceled', () => {
    const { market, limit, stop, reserved } = held();
    market.quote('AAPL', '110.00', '110.10', { last: '110.05' });
    expect(market.fills(limit)).toEqual(['10 @ 110']);
    expect(market.order(stop)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
    expect(reserved()).toBe(0);
  });

  it('the stop goes off: the limit is canceled', () => {
    const { market, limit, stop } = held();
    market.quote('AAPL', '94.90', '95.00', { last: '94.95' });
    expect(market.fills(stop)).toEqual(['10 @ 94.9']);
    expect(market.order(limit)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });

  it('a fill of one reduces the quantity of the other', () => {
    const { market, limit, stop, reserved } = held();
    market.quote('AAPL', '110.00', '110.10', { last: '110.05', bidSize: 4 });
    expect(market.order(limit)).toMatchObject({ filledQuantity: 4_000_000 });
    expect(market.order(stop).quantity).toBe(6_000_000);
    expect(reserved()).toBe(6);
    market.quote('AAPL', '94.90', '95.00', { last: '94.95' });
    expect(market.fills(stop)).toEqual(['6 @ 94.9']);
    expect(market.order(limit)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
    expect(market.order(limit).filledQuantity).toBe(4_000_000);
  });

  it('canceling either cancels both, and frees the shares', () => {
    for (const which of ['limit', 'stop'] as const) {
      const { market, reserved, ...ids } = held();
      expect(market.cancel(ids[which])).toBeUndefined();
      for (const id of [ids.limit, ids.stop])
        expect(market.order(id)).toMatchObject({ status: 'CANCELED', cancelReason: 'USER' });
      expect(reserved()).toBe(0);
    }
  });

  it('both are among the orders that a cancel of the account names', () => {
    const { market, limit, stop } = held();
    const { result } = market.execute<'CancelAccountOrders'>({
      type: 'CancelAccountOrders',
      by: market.by,
      accountId: market.terms(limit).accountId,
    });
    const numbers = 'code' in result ? [] : result.map(({ terms }) => terms.number);
    expect(numbers).toEqual([limit, stop].map((id) => market.numberOf(id)));
  });

  it('both expire with their day', () => {
    const { market, limit, stop } = held();
    market.advanceTo('2026-01-05', 16, 0);
    for (const id of [limit, stop])
      expect(market.order(id)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });

  it('wait for the open together', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    market.advanceTo('2026-01-05', 18, 0);
    const limit = market.place(portfolio, pair('110.00', '95.00', { tif: 'GTC' }));
    const [stop = ''] = market.exits(limit);
    for (const id of [limit, stop]) expect(market.order(id).status).toBe('PENDING_MARKET_OPEN');
    market.advanceTo('2026-01-06', 9, 30);
    market.quote('AAPL', '93.00', '93.10', { last: '93.05' });
    expect(market.fills(stop)).toEqual(['10 @ 93']);
    expect(market.order(limit)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });

  it('wait for the limit order to reach the market', () => {
    const { market, limit, stop } = held(
      pair('110.00', '95.00', { more: { latencyProfile: 'CUSTOM', latencyMs: 500 } }),
    );
    expect(market.order(stop).status).toBe('CREATED');
    expect(market.waitingFor(stop)).toBe('its limit order to reach the market');
    expect(market.cancel(stop)).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
    market.advanceMs(500);
    for (const id of [limit, stop]) expect(market.order(id).status).toBe('ACTIVE');
  });

  it('buy a short position back', () => {
    const market = new TestMarket();
    market.quote('AAPL', '100.00', '100.10', { last: '100.00' });
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: 10 });
    const limit = market.place(portfolio, pair('90.00', '105.00', { intent: 'BUY_TO_CLOSE' }));
    const [stop = ''] = market.exits(limit);
    market.quote('AAPL', '105.90', '106.00', { last: '105.95' });
    expect(market.fills(stop)).toEqual(['10 @ 106']);
    expect(market.order(limit)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });

  it('continue after a split and after a restart', () => {
    const { market, limit, stop } = held(pair('110.00', '95.00', { tif: 'GTC' }));
    market.restart();
    market.execute({
      type: 'AnnounceActions',
      actions: [
        { type: 'SPLIT', symbol: 'AAPL', exDate: TradingDate.of('2026-01-06'), ratio: { new: 2, old: 1 } },
      ],
    });
    market.advanceTo('2026-01-06', 10, 0);
    expect(market.order(limit)).toMatchObject({ quantity: 20_000_000, limitPrice: Price.of('55') });
    expect(market.order(stop)).toMatchObject({ quantity: 20_000_000, stopPrice: Price.of('47.5') });
  });
});

describe('a pair of closing orders is refused', () => {
  it.each([
    [
      'for an opening order',
      { intent: 'BUY_TO_OPEN' as const },
      'ocoConfig is only allowed for closing orders',
    ],
    [
      'with a limit below the stop',
      { limit: '94.00' },
      'limitPrice must be above ocoConfig.stopLoss.stopPrice',
    ],
    [
      'at once or not at all',
      { tif: 'IOC' as const },
      'ocoConfig is only allowed for DAY, GTC and GTD orders',
    ],
  ])('%s', (_, more, message) => {
    const { market, portfolio } = held({ quantity: 0.5, intent: 'SELL_TO_CLOSE', limit: '200.00' });
    expect(market.submit(portfolio, pair('110.00', '95.00', { quantity: 1, ...more }))).toEqual({
      code: 'INVALID',
      messages: [message],
    });
  });

  it('for more than is held', () => {
    const { market, portfolio } = held();
    expect(market.submit(portfolio, pair('111.00', '94.00', { quantity: 1 }))).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
    });
  });

  it('in the BASIC tier', () => {
    const { market, portfolio } = held();
    expect(market.submit(portfolio, pair('111.00', '94.00'), { ...market.by, tier: 'BASIC' })).toMatchObject({
      code: 'FEATURE_NOT_AVAILABLE',
      requiredTier: 'PRO',
    });
  });
});

describe('updates of a pair', () => {
  it('are judged by the price that the other has now', () => {
    const { market, limit, stop } = held();
    expect(market.replace(stop, { stop: '111.00' })).toEqual({
      code: 'INVALID',
      messages: ['limitPrice must be above ocoConfig.stopLoss.stopPrice'],
    });
    expect(market.replace(stop, { stop: '99.00' })).toBeUndefined();
    expect(market.replace(limit, { limit: '99.00' })).toMatchObject({ code: 'INVALID' });
    expect(market.replace(limit, { limit: '101.00' })).toBeUndefined();
    expect(market.replace(limit, { quantity: 5 })).toEqual({
      code: 'INVALID',
      messages: ['quantity cannot be updated on OCO orders'],
    });
  });
});
