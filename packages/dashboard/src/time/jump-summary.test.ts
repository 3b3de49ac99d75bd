import { describe, expect, it } from 'vitest';
import { settledTradesOf, summaryOf } from './jump-summary.ts';

const activity = (category: string, type: string) =>
  ({ category, type }) as Parameters<typeof summaryOf>[0][number];

describe('Summary of a move of the clock', () => {
  it('counts what happened, and names the change of equity', () => {
    const activities = [
      activity('SETTLEMENT', 'SETTLED'),
      activity('SETTLEMENT', 'SETTLED'),
      activity('SETTLEMENT', 'SETTLED'),
      activity('CORPORATE_ACTION', 'DIVIDEND'),
      activity('ORDER', 'CREATED'),
    ];
    expect(summaryOf(activities, { before: 100_000, after: 100_210.4 }, 3)).toBe(
      '3 trades settled, 1 dividend, equity +$210.40.',
    );
    expect(summaryOf(activities, undefined)).toBe('3 settlements, 1 dividend.');
  });

  it('counts an order with several fills once, and no fill that settles later', () => {
    const fill = (orderId: string, settlementDate: string) => ({
      ...activity('EXECUTION', 'FILLED'),
      orderId,
      settlementDate,
    });
    const settled = { ...activity('SETTLEMENT', 'SETTLED'), settlementDate: '2026-01-06' };
    const fills = [
      fill('a', '2026-01-06'),
      fill('a', '2026-01-06'),
      fill('b', '2026-01-06'),
      fill('c', '2026-01-07'),
    ];
    expect(settledTradesOf([settled, ...fills])).toBe(2);
    expect(settledTradesOf(fills)).toBe(0);
  });

  it('names fills, options and calls in one order, and a loss with its sign', () => {
    const activities = [
      activity('MARGIN', 'CALL_ISSUED'),
      activity('OPTION', 'ASSIGNED'),
      activity('OPTION', 'DO_NOT_EXERCISE'),
      activity('EXECUTION', 'FILLED'),
      activity('ORDER', 'EXPIRED'),
    ];
    expect(summaryOf(activities, { before: 5, after: 4.5 })).toBe(
      '1 fill, 1 option exercised, assigned or expired, 1 margin call, 1 order expired, equity −$0.50.',
    );
  });

  it('says that nothing happened, and leaves an unknown equity out', () => {
    expect(summaryOf([], { before: 5, after: 5.001 })).toBe('Nothing happened.');
    expect(summaryOf([activity('EXECUTION', 'FILLED')], undefined)).toBe('1 fill.');
    expect(summaryOf([], { before: 5, after: 6 })).toBe('Equity +$1.00.');
  });
});
