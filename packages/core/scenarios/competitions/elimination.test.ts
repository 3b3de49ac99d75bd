import { describe, expect, it } from 'vitest';
import { percent, TestEntry } from './entry.js';

describe('maxDailyLossPercent of a competition (D195)', () => {
  it('eliminates at a full minute of the session, beyond the limit and not at it', () => {
    const entry = new TestEntry({ maxDailyLoss: percent(5) });
    entry.buy('AAPL', 500);
    entry.quote('AAPL', 90);
    entry.m.advanceTo('2026-01-05', 10, 1);
    expect(entry.competition.removed).toBeUndefined();
    entry.quote('AAPL', 89.99);
    expect(entry.competition.removed).toBeUndefined();
    entry.m.advanceTo('2026-01-05', 10, 2);
    expect(entry.competition.removed).toMatchObject({ status: 'ELIMINATED', rule: 'maxDailyLossPercent' });
    expect(entry.held('AAPL')).toBe(0);
    expect(entry.submit({ quantity: 1 })).toBe('COMPETITION_RULE maxDailyLossPercent');
  });

  it('counts from the equity of the last session close', () => {
    const entry = new TestEntry({ maxDailyLoss: percent(5) });
    entry.buy('AAPL', 500);
    entry.quote('AAPL', 92);
    entry.m.advanceTo('2026-01-06', 9, 45);
    // From 96,000 at the close 91,250 is 4.9 %; from the initial cash it would be 8.8 %.
    entry.quote('AAPL', 82.5);
    entry.m.advanceTo('2026-01-06', 9, 46);
    expect(entry.competition.removed).toBeUndefined();
    entry.quote('AAPL', 82.3);
    entry.m.advanceTo('2026-01-06', 9, 47);
    expect(entry.competition.removed).toMatchObject({ status: 'ELIMINATED' });
  });

  it('is judged by the marks of the close as well', () => {
    const entry = new TestEntry({ maxDailyLoss: percent(5) });
    entry.buy('AAPL', 500);
    entry.m.advanceTo('2026-01-05', 15, 59);
    entry.m.advanceMs(30_000);
    entry.quote('AAPL', 80);
    entry.m.advanceTo('2026-01-05', 16);
    expect(entry.m.time(entry.competition.removed?.at)).toContain('16:00:00');
    // The market is closed: the position is sold when it opens, at the market price of that time.
    expect(entry.held('AAPL')).toBe(500);
    entry.m.advanceTo('2026-01-06', 9, 30);
    entry.quote('AAPL', 85);
    entry.m.advanceTo('2026-01-06', 9, 31);
    expect(entry.held('AAPL')).toBe(0);
    expect(entry.m.value(entry.portfolio).totalEquity / 10_000).toBe(92_500);
  });
});

describe('trailingDrawdownPercent of a competition (D195)', () => {
  it('counts from the highest equity seen, at an execution too', () => {
    const entry = new TestEntry({ trailingDrawdown: percent(10) });
    entry.buy('AAPL', 500);
    entry.quote('AAPL', 120);
    entry.m.advanceTo('2026-01-05', 10, 1);
    expect(entry.competition.highest).toBe(1_100_000_000);
    // 98,500 is 10.5 % below 110,000. No minute has passed: the execution is when it is judged.
    entry.quote('AAPL', 97);
    expect(entry.competition.removed).toBeUndefined();
    entry.m.place(entry.portfolio, { quantity: 1, intent: 'SELL_TO_CLOSE' });
    expect(entry.competition.removed).toMatchObject({ rule: 'trailingDrawdownPercent', at: entry.m.now });
  });
});

describe('elimination from a competition (D195)', () => {
  it('cancels orders, covers shorts first, and waits for a halt to end', () => {
    const entry = new TestEntry({ maxDailyLoss: percent(5) });
    entry.quote('MSFT', 100);
    entry.buy('AAPL', 300);
    entry.m.place(entry.portfolio, { symbol: 'MSFT', quantity: 300, intent: 'SELL_TO_OPEN' });
    const open = entry.m.place(entry.portfolio, { quantity: 1, limit: '50.00' });
    entry.m.halt('AAPL', 'T1');
    entry.quote('MSFT', 120);
    entry.m.advanceTo('2026-01-05', 10, 1);
    expect(entry.competition.removed?.status).toBe('ELIMINATED');
    expect(entry.m.order(open)).toMatchObject({ status: 'CANCELED', cancelReason: 'COMPETITION' });
    expect([entry.held('MSFT'), entry.held('AAPL')]).toEqual([0, 300]);
    entry.m.lift('AAPL');
    entry.quote('AAPL', 95);
    entry.m.advanceTo('2026-01-05', 10, 2);
    expect(entry.held('AAPL')).toBe(0);
    // 100,000 − 300 × 20 − 300 × 5.
    expect(entry.m.value(entry.portfolio).totalEquity / 10_000).toBe(92_500);
    // Orders of the house do not count as trades of the entrant, and the instant of its elimination stays.
    expect(entry.competition.trades).toBe(2);
    expect(entry.m.time(entry.competition.removed?.at)).toContain('10:01');
  });

  it('survives a restart between the elimination and the sale', () => {
    const entry = new TestEntry({ maxDailyLoss: percent(5) });
    entry.buy('AAPL', 500);
    entry.m.halt('AAPL', 'T1');
    entry.quote('AAPL', 80);
    entry.m.advanceTo('2026-01-05', 10, 1);
    entry.m.restart();
    entry.m.lift('AAPL');
    entry.quote('AAPL', 80);
    entry.m.advanceTo('2026-01-05', 10, 3);
    expect(entry.held('AAPL')).toBe(0);
    expect(entry.competition.removed?.status).toBe('ELIMINATED');
  });
});
