import { describe, expect, it } from 'vitest';
import { goodTill, TestMarket } from '../../../src/testing/market.js';
import { Instant } from '../../../src/values/instant.js';
import { TradingDate } from '../../../src/values/trading-date.js';

const gtd = (text: string) => ({
  limit: '90.00',
  tif: 'GTD' as const,
  more: { goodTillDate: goodTill(text, TradingDate.parse(text) ?? Instant.ofMs(Date.parse(text))) },
});

function endOf(goodTillDate: string): string | undefined {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(), gtd(goodTillDate));
  market.advanceTo('2026-03-01', 12, 0);
  expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  return market.time(market.order(order).canceledAt);
}

describe('it ends', () => {
  it('at the close of a date without a time, which is a New York date', () => {
    expect(endOf('2026-01-08')).toBe('2026-01-08T16:00:00-05:00');
  });

  it('on the same date, at its close', () => {
    expect(endOf('2026-01-05')).toBe('2026-01-05T16:00:00-05:00');
  });

  it('at a time of day that comes before the close', () => {
    expect(endOf('2026-01-08T11:30:00-05:00')).toBe('2026-01-08T11:30:00-05:00');
    expect(endOf('2026-01-08T16:30:00.250Z')).toBe('2026-01-08T11:30:00.250-05:00');
  });

  it('at the close if the time is after it', () => {
    expect(endOf('2026-01-08T23:00:00-05:00')).toBe('2026-01-08T16:00:00-05:00');
  });

  it('on a weekend or holiday, at the close of the session before', () => {
    expect(endOf('2026-01-10')).toBe('2026-01-09T16:00:00-05:00');
    // Martin Luther King Jr. Day, a Monday.
    expect(endOf('2026-01-19')).toBe('2026-01-16T16:00:00-05:00');
    expect(endOf('2026-01-19T12:00:00-05:00')).toBe('2026-01-16T16:00:00-05:00');
  });
});

describe('refused', () => {
  const refusal = (goodTillDate: string, hour = 10): unknown => {
    const market = new TestMarket({ hour });
    market.quote('AAPL', '99.90', '100.00');
    const result = market.submit(market.openPortfolio(), gtd(goodTillDate));
    return typeof result === 'string' ? 'accepted' : result;
  };
  const invalid = (message: string) => ({ code: 'INVALID', messages: [message] });

  it('a date that is past', () => {
    expect(refusal('2026-01-02')).toEqual(invalid('goodTillDate must be in the future'));
    expect(refusal('2026-01-05T09:59:00-05:00')).toEqual(invalid('goodTillDate must be in the future'));
  });

  it('no date at all', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    expect(market.submit(market.openPortfolio(), { limit: '90.00', tif: 'GTD' })).toEqual(
      invalid('goodTillDate is required for GTD orders'),
    );
  });

  it('today, after the close', () => {
    expect(refusal('2026-01-05', 17)).toEqual(invalid('goodTillDate must not be before the next session'));
  });

  it('a time before the order could work', () => {
    expect(refusal('2026-01-06T08:00:00-05:00', 17)).toEqual(
      invalid('goodTillDate must not be before the next session'),
    );
    expect(refusal('2026-01-06T09:31:00-05:00', 17)).toBe('accepted');
  });
});

it('one that is still on its way when its time comes never reaches the market', () => {
  const market = new TestMarket({ hour: 15, minute: 59 });
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(), {
    limit: '101.00',
    tif: 'GTD',
    more: { goodTillDate: goodTill('2026-01-05'), latencyProfile: 'CUSTOM', latencyMs: 60_000 },
  });
  market.advanceTo('2026-01-06', 12, 0);
  expect(market.fills(order)).toEqual([]);
  expect(market.statuses(order)).toEqual(['PENDING', 'CANCELED']);
  expect(market.order(order)).toMatchObject({ cancelReason: 'EXPIRED' });
  expect(market.time(market.order(order).canceledAt)).toBe('2026-01-05T16:00:00-05:00');
});
