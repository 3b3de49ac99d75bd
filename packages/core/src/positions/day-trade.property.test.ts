import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import { trackDayTrade } from './day-trade.js';
import type { DayTradeFill, DayTradeRecord, DayTradeTracker } from './day-trade.js';

interface Order {
  readonly opening: boolean;
  readonly quantity: number;
  /** Cents. */
  readonly price: number;
  readonly parts: number;
}

const orders = fc.array(
  fc.record({
    opening: fc.boolean(),
    quantity: fc.integer({ min: 1, max: 200 }),
    price: fc.integer({ min: 1, max: 100_000 }),
    parts: fc.integer({ min: 1, max: 5 }),
  }),
  { maxLength: 12 },
);

/** A long day that begins with 1,000 shares held overnight; closings never exceed the position. */
function run(day: readonly Order[], inParts: boolean) {
  let tracker: DayTradeTracker | undefined;
  const records = new Map<number, DayTradeRecord>();
  let held = 1000;
  day.forEach(({ opening, quantity, price, parts }, index) => {
    const whole = opening ? quantity : Math.min(quantity, held);
    held += opening ? whole : -whole;
    let left = whole;
    const size = inParts ? Math.ceil(whole / parts) : whole;
    while (left > 0) {
      const shares = Math.min(size, left);
      left -= shares;
      const fill: DayTradeFill = {
        order: index,
        symbol: 'X',
        date: TradingDate.of('2026-01-05'),
        at: Instant.ofMs(index),
        opening,
        side: opening ? 'BUY' : 'SELL',
        quantity: Quantity.of(shares),
        value: Money.ofUnits(shares * price * 100),
      };
      const next = trackDayTrade(tracker, fill);
      tracker = next.tracker;
      if (next.record !== undefined) records.set(next.record.number, next.record);
    }
  });
  return { count: tracker?.count ?? 0, left: tracker?.openQuantity ?? 0, records: [...records.values()] };
}

/** The rule in its simplest form: closings that follow an opening with no closing between. */
function turns(day: readonly Order[]): number {
  let held = 1000;
  let armed = false;
  let count = 0;
  for (const { opening, quantity } of day) {
    const shares = opening ? quantity : Math.min(quantity, held);
    if (shares === 0) continue;
    held += opening ? shares : -shares;
    if (!opening && armed) count++;
    armed = opening;
  }
  return count;
}

it('counts the changes of direction from opening to closing', () => {
  fc.assert(
    fc.property(orders, (day) => {
      expect(run(day, false).count).toBe(turns(day));
    }),
  );
});

it('day trades: partial fills change neither their number nor the matched records', () => {
  fc.assert(
    fc.property(orders, (day) => {
      const [whole, parts] = [run(day, false), run(day, true)];
      expect(parts.count).toBe(whole.count);
      expect(parts.left).toBe(whole.left);
      expect(parts.records.map(({ number, quantity }) => [number, quantity])).toEqual(
        whole.records.map(({ number, quantity }) => [number, quantity]),
      );
    }),
  );
});

it('one record per counted day trade', () => {
  fc.assert(
    fc.property(orders, (day) => {
      const { count, records } = run(day, true);
      expect(records.map(({ number }) => number)).toEqual(
        Array.from({ length: count }, (_, index) => index + 1),
      );
      for (const record of records) expect(record.quantity).toBeGreaterThan(0);
    }),
  );
});
