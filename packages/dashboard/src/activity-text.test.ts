import { expect, it } from 'vitest';
import { activityText, cashOf, noteOf } from './activity-text.ts';
import { callAdvice, saleFor } from './why/call-advice.ts';

it('activityText: shows names, dollars and Eastern Time instead of codes and UTC', () => {
  const texts = (
    [
      ['MARGIN', 'MAINTENANCE call of 2010.75, due 2026-01-21T17:00:00.000Z'],
      ['MARGIN', 'REG_T call is due: 7518.28 are still missing'],
      ['ORDER', 'STOP_LIMIT order to sell 10 AAPL created'],
      ['ORDER', 'Order to buy 1 AAPL260109C00170000 canceled (INSTRUMENT_EXPIRED)'],
      ['ORDER', 'Order to buy 10 OCO canceled (OCO)'],
      ['SETTLEMENT', 'Settlement of 2026-01-07'],
      ['EXECUTION', 'Sold 10 F at 12.50'],
      ['CASH', 'Bought 15 TSLA at 1355.3'],
    ] as const
  ).map(([category, description]) => activityText({ category, description }));
  expect(texts).toEqual([
    'Maintenance call of $2,010.75, due Jan 21, 2026, 12:00:00 PM ET',
    'Reg T call is due: $7,518.28 are still missing',
    'Stop limit order to sell 10 AAPL created',
    expect.stringMatching(/^Order to buy 1 AAPL .*170\.00 call.* canceled \(the contract expired\)$/),
    'Order to buy 10 OCO canceled (the other exit was filled)',
    'Settlement of Jan 7, 2026',
    'Sold 10 F at 12.50',
    'Bought 15 TSLA at 1,355.30',
  ]);
});

it('cashOf: counts a dividend once, and no margin call', () => {
  expect(cashOf({ category: 'MARGIN', type: 'CALL_ISSUED', amount: 1673.75 })).toBeUndefined();
  expect(cashOf({ category: 'CORPORATE_ACTION', type: 'DIVIDEND', amount: 23.25 })).toBe(23.25);
  expect(cashOf({ category: 'SETTLEMENT', type: 'SETTLED', amount: 23.25 })).toBeUndefined();
  expect(noteOf({ type: 'SETTLED', amount: -23.25 })).toBe(', $23.25 of pending cash paid');
});

it('callAdvice: names the deposit and the smallest sale that meets the call', () => {
  const group = (symbol: string, quantity: number, initial: number, maintenance: number) => ({
    strategy: 'LONG_STOCK' as const,
    underlying: symbol,
    legs: [{ symbol, quantity }],
    initial,
    maintenance,
    rule: '',
  });
  const groups = [group('AAPL', 100, 3080, 1540) as never, group('KO', 10, 100, 50) as never];
  const call = { type: 'MAINTENANCE' as const, amount: 900, amountDue: 723.75 };
  // 15.40 a share: 46 free 708.40, 47 free 723.80.
  expect(callAdvice(call, groups)).toBe('deposit $723.75 or sell 47 AAPL');
  expect(saleFor({ ...call, amountDue: 2000 }, groups)).toBeUndefined();
  expect(callAdvice({ ...call, type: 'MINIMUM_EQUITY' }, groups)).toBe('deposit $723.75');
});
