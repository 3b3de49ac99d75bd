import { describe, expect, it } from 'vitest';
import { TestMarket, testBroker } from '../../../src/testing/market.js';

const impatient = { brokers: new Map([['default', testBroker('default', { queuesWhenClosed: false })]]) };

describe('while the market is closed', () => {
  it.each(['IOC', 'FOK'] as const)('%s is refused with the next open', (tif) => {
    const market = new TestMarket({ hour: 17 });
    market.quote('AAPL', '99.90', '100.00');
    expect(market.submit(market.openPortfolio(), { tif })).toEqual({
      code: 'MARKET_CLOSED',
      nextOpen: '2026-01-06T09:30:00-05:00',
    });
  });

  it('a broker that does not queue refuses every order', () => {
    const market = new TestMarket({ hour: 17, rules: impatient });
    expect(market.submit(market.openPortfolio(), { limit: '90.00', tif: 'GTC' })).toEqual({
      code: 'MARKET_CLOSED',
      nextOpen: '2026-01-06T09:30:00-05:00',
    });
  });

  it('the next open of a Friday evening is Monday’s, after the clocks have changed', () => {
    // Daylight time begins on Sunday 2026-03-08.
    const market = new TestMarket({ date: '2026-03-06', hour: 17 });
    expect(market.submit(market.openPortfolio(), { tif: 'IOC' })).toEqual({
      code: 'MARKET_CLOSED',
      nextOpen: '2026-03-09T09:30:00-04:00',
    });
  });

  it('an extended-hours order of such a broker shows when the extended session opens', () => {
    const market = new TestMarket({ hour: 21, rules: impatient });
    expect(market.submit(market.openPortfolio(), { limit: '90.00', session: 'EXTENDED' })).toEqual({
      code: 'MARKET_CLOSED',
      nextOpen: '2026-01-06T04:00:00-05:00',
    });
  });

  it('the first and the last instant: open at 09:30, closed at 16:00', () => {
    const open = new TestMarket({ hour: 9, minute: 30 });
    open.quote('AAPL', '99.90', '100.00');
    expect(open.fills(open.place(open.openPortfolio(), { tif: 'IOC' }))).toEqual(['10 @ 100']);
    const closed = new TestMarket({ hour: 16 });
    expect(closed.submit(closed.openPortfolio(), { tif: 'IOC' })).toMatchObject({ code: 'MARKET_CLOSED' });
  });
});

describe('an order in transit at the end of its session', () => {
  const late = { latencyProfile: 'CUSTOM' as const, latencyMs: 60_000 };

  it('waits for the next session', () => {
    const market = new TestMarket({ hour: 15, minute: 59 });
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), { more: late });
    market.advanceTo('2026-01-05', 16, 0);
    expect(market.order(order).status).toBe('PENDING_MARKET_OPEN');
    expect(market.waitingFor(order)).toBe('market opens 2026-01-06T09:30:00-05:00');
    market.advanceTo('2026-01-06', 9, 30);
    market.quote('AAPL', '99.90', '100.00');
    expect(market.statuses(order)).toEqual([
      'PENDING',
      'PENDING_MARKET_OPEN',
      'RESERVING',
      'ACTIVE',
      'FILLED',
    ]);
  });

  it('is canceled if it is IOC or FOK', () => {
    const market = new TestMarket({ hour: 15, minute: 59 });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    const ioc = market.place(portfolio, { tif: 'IOC', more: late });
    const fok = market.place(portfolio, { tif: 'FOK', more: late });
    market.advanceTo('2026-01-06', 12, 0);
    expect(market.order(ioc)).toMatchObject({ status: 'CANCELED', cancelReason: 'IOC_REMAINDER' });
    expect(market.order(fok)).toMatchObject({ status: 'CANCELED', cancelReason: 'FOK_NOT_FILLABLE' });
    expect(market.time(market.order(ioc).canceledAt)).toBe('2026-01-05T16:00:00-05:00');
  });

  it('is rejected if its broker does not queue', () => {
    const market = new TestMarket({ hour: 15, minute: 59, rules: impatient });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    const order = market.place(portfolio, { more: late });
    market.advanceTo('2026-01-05', 16, 0);
    expect(market.order(order)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'MARKET_CLOSED' },
      reserved: 0,
    });
  });
});
