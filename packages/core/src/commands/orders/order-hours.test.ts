import { describe, expect, it } from 'vitest';
import { marketHours } from '../../calendar/hours.js';
import { Decision } from '../../decision.js';
import { TestMarket } from '../../testing/market.js';
import type { Instant } from '../../values/instant.js';
import { TradingDate } from '../../values/trading-date.js';
import { expiryOf, goodTillProblems } from './order-hours.js';

const { state, rules } = new TestMarket().brokerage;
const { calendar } = rules;
/** An instant from New York wall time, `2026-01-05 09:30`. */
const at = (text: string): Instant =>
  calendar.instantOf(
    TradingDate.of(text.slice(0, 10)),
    Number(text.slice(11, 13)),
    Number(text.slice(14, 16)),
  );

const goodTill = (date: string) => ({ until: TradingDate.of(date), text: date });

/** Expiration of an order that is created and becomes active at that time. */
function diesAt(
  hours: 'EQUITIES' | 'LATE_OPTIONS' | 'FUTURES' | 'GRAINS',
  time: string,
  timeInForce: 'DAY' | 'GTC' | 'GTD',
  date?: string,
): string | undefined {
  const createdAt = at(time);
  const expires = expiryOf(
    new Decision(state, rules, createdAt),
    marketHours(calendar, hours),
    {
      orderType: 'LIMIT',
      session: 'REGULAR',
      createdAt,
      assetClass: 'EQUITY',
      symbol: 'AAPL',
      positionIntent: 'BUY_TO_OPEN',
      legs: undefined,
    },
    { timeInForce, goodTillDate: date === undefined ? undefined : goodTill(date) },
    createdAt,
  );
  return expires === undefined ? undefined : calendar.format(expires).slice(0, 16).replace('T', ' ');
}

describe('an order lives by the hours of its instrument (D69, D92)', () => {
  it.each([
    ['EQUITIES', '2026-01-05 10:00', '2026-01-05 16:00'],
    ['LATE_OPTIONS', '2026-01-05 10:00', '2026-01-05 16:15'],
    ['FUTURES', '2026-01-04 18:00', '2026-01-05 17:00'],
    ['FUTURES', '2026-01-05 18:30', '2026-01-06 17:00'],
    ['GRAINS', '2026-01-05 03:00', '2026-01-05 14:20'],
  ] as const)('DAY in %s from %s dies at %s', (hours, from, dies) => {
    expect(diesAt(hours, from, 'DAY')).toBe(dies);
  });

  it('GTC and GTD end with the trade day of their date', () => {
    expect(diesAt('FUTURES', '2026-01-06 10:00', 'GTC')).toBe('2026-04-06 17:00');
    expect(diesAt('FUTURES', '2026-01-06 10:00', 'GTD', '2026-01-08')).toBe('2026-01-08 17:00');
    // Saturday: the Friday before it.
    expect(diesAt('FUTURES', '2026-01-06 10:00', 'GTD', '2026-01-10')).toBe('2026-01-09 17:00');
  });

  it('a date that is over before the instrument trades again is refused', () => {
    const fridayNight = new Decision(state, rules, at('2026-01-09 20:00'));
    const problems = (date: string) =>
      goodTillProblems(fridayNight, marketHours(calendar, 'FUTURES'), 'REGULAR', goodTill(date));
    expect(problems('2026-01-10')).toEqual(['goodTillDate must not be before the next session']);
    expect(problems('2026-01-12')).toEqual([]);
  });
});
