import { expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

function expiryOf(date: string, session: 'REGULAR' | 'EXTENDED' = 'REGULAR'): string | undefined {
  const market = new TestMarket({ date });
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(), { limit: '90.00', tif: 'GTC', session });
  market.advanceTo('2027-01-05', 12, 0);
  expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  return market.time(market.order(order).canceledAt);
}

it('a GTC order expires at the close of the 90th calendar day', () => {
  // 2026-01-06 + 90 days: 25 in January, 28 in February, 31 in March, 6 in April.
  expect(expiryOf('2026-01-06')).toBe('2026-04-06T16:00:00-04:00');
});

it('a GTC order in extended hours expires at 20:00', () => {
  expect(expiryOf('2026-01-06', 'EXTENDED')).toBe('2026-04-06T20:00:00-04:00');
});

it('on a day without a session, at the close of the one before', () => {
  // 2026-01-05 + 90 days is Sunday 2026-04-05, and Friday 2026-04-03 is Good Friday.
  expect(expiryOf('2026-01-05')).toBe('2026-04-02T16:00:00-04:00');
});

it('a GTC order expires at the early close if its last day has one', () => {
  // 2026-08-31 + 90 days: 30 in September, 31 in October, 29 in November = Sunday 2026-11-29; Friday closes at 13:00.
  expect(expiryOf('2026-08-31')).toBe('2026-11-27T13:00:00-05:00');
});

it('a GTC order works every day and keeps its place in the queue', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(), { limit: '95.00', tif: 'GTC' });
  market.advanceTo('2026-03-10', 11, 0);
  expect(market.order(order).status).toBe('ACTIVE');
  market.quote('AAPL', '94.90', '95.00');
  expect(market.fills(order)).toEqual(['10 @ 95']);
});

it('a GTC order does not fill overnight', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(), { limit: '95.00', tif: 'GTC' });
  market.advanceTo('2026-01-05', 18, 0);
  market.quote('AAPL', '93.90', '94.00');
  expect(market.fills(order)).toEqual([]);
  expect(market.waitingFor(order)).toBe('market opens 2026-01-06T09:30:00-05:00');
  market.advanceTo('2026-01-06', 9, 30);
  expect(market.fills(order)).toEqual([]);
  market.quote('AAPL', '93.90', '94.00');
  expect(market.fills(order)).toEqual(['10 @ 94']);
});
