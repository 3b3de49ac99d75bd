/** Closings that no schedule had: what was due in them moves when they are announced (D209). */
import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../src/testing/market.js';
import { TradingDate } from '../../src/values/trading-date.js';

const until = (date: string) => ({ goodTillDate: { until: TradingDate.of(date), text: date } });

const dates = (m: TestMarket, portfolio: string): string[] => [...m.portfolio(portfolio).obligations.keys()];

describe('an announced closing', () => {
  it('moves the end of a GTD order to the session before it, on the day of the announcement', () => {
    // Wednesday 2018-12-05, as was announced on Saturday 2018-12-01.
    const m = new TestMarket({ date: '2018-11-30', hour: 15 });
    m.quote('AAPL', '149.99', '150.01', { last: '150.00' });
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    const order = m.place(portfolio, { type: 'LIMIT', limit: '140', tif: 'GTD', more: until('2018-12-05') });
    expect(m.time(m.order(order).expiresAt)).toBe('2018-12-05T16:00:00-05:00');
    m.advanceTo('2018-11-30', 23, 59);
    expect(m.time(m.order(order).expiresAt)).toBe('2018-12-05T16:00:00-05:00');
    m.advanceTo('2018-12-01', 0, 0);
    expect(m.time(m.order(order).expiresAt)).toBe('2018-12-04T16:00:00-05:00');
    m.advanceTo('2018-12-04', 16, 0);
    expect(m.order(order).cancelReason).toBe('EXPIRED');
  });

  it('on the day itself: orders wait for the next session, and the settlement of the day moves', () => {
    // Closed on 2001-09-11 to 14; each of these days was announced at the latest on the day before, the first one on its own day.
    const m = new TestMarket({ date: '2001-09-06', hour: 10 });
    m.quote('AAPL', '149.99', '150.01', { last: '150.00' });
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    m.place(portfolio, { type: 'MARKET', quantity: 10 });
    expect(dates(m, portfolio)).toEqual(['2001-09-11']);
    m.advanceTo('2001-09-10', 20, 30);
    const day = m.place(portfolio, { type: 'LIMIT', limit: '140', quantity: 10 });
    const gtd = m.place(portfolio, { type: 'LIMIT', limit: '141', tif: 'GTD', more: until('2001-09-12') });
    expect(m.time(m.order(day).releaseAt)).toBe('2001-09-11T09:30:00-04:00');
    m.advanceTo('2001-09-10', 23, 59);
    expect(m.time(m.order(day).releaseAt)).toBe('2001-09-11T09:30:00-04:00');
    m.advanceTo('2001-09-11', 0, 0);
    // As of that morning the exchange opens on the 13th.
    expect(m.time(m.order(day).releaseAt)).toBe('2001-09-13T09:30:00-04:00');
    expect(dates(m, portfolio)).toEqual(['2001-09-13']);
    m.restart();
    m.advanceTo('2001-09-12', 12, 0);
    expect(m.time(m.order(day).releaseAt)).toBe('2001-09-14T09:30:00-04:00');
    m.advanceTo('2001-09-13', 12, 0);
    expect(m.time(m.order(day).releaseAt)).toBe('2001-09-17T09:30:00-04:00');
    expect(dates(m, portfolio)).toEqual(['2001-09-17']);
    m.advanceTo('2001-09-17', 9, 31);
    // Silence: the session began at 09:33, as was known from 00:00 of the day on.
    expect(m.order(day).status).toBe('PENDING_MARKET_OPEN');
    m.advanceTo('2001-09-17', 9, 33);
    expect(m.order(day).status).toBe('ACTIVE');
    expect(m.order(gtd).cancelReason).toBe('EXPIRED');
    expect(dates(m, portfolio)).toEqual([]);
    expect(m.portfolio(portfolio).positions.get('AAPL')?.settled).toBe(10_000_000);
  });
});
