import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundTripsOf } from './round-trips.js';
import { converted, restated, traded } from './testing/events.js';

describe('roundTripsOf', () => {
  it('joins the pieces of one opening and one closing order', () => {
    const { trips, open } = roundTripsOf([
      traded('2026-01-05', 'BUY', 60, 10, { orderId: 'a', commission: 0.6 }),
      traded('2026-01-05', 'BUY', 40, 11, { orderId: 'a', commission: 0.4 }),
      traded('2026-01-07', 'SELL', 70, 12, { orderId: 'b', fees: 0.07 }),
      traded('2026-01-07', 'SELL', 30, 13, { orderId: 'b', fees: 0.03 }),
    ]);
    expect(open).toEqual([]);
    expect(trips).toEqual([
      expect.objectContaining({
        tradeId: '1',
        side: 'LONG',
        quantity: 100,
        entryPrice: 10.4,
        exitPrice: 12.3,
        grossPnl: 190,
        commissions: 1,
        fees: 0.1,
        netPnl: 188.9,
        return: 188.9 / 1040,
        holding: 2 * 86_400,
        openOrderId: 'a',
        closeOrderId: 'b',
        openedBy: 'TRADE',
        closedBy: 'TRADE',
      }),
    ]);
  });

  it('closes the oldest lots first and leaves the rest open', () => {
    const { trips, open } = roundTripsOf([
      traded('2026-01-05', 'BUY', 10, 10, { orderId: 'a' }),
      traded('2026-01-06', 'BUY', 10, 20, { orderId: 'b' }),
      traded('2026-01-07', 'SELL', 15, 30, { orderId: 'c' }),
    ]);
    expect(trips.map(({ openOrderId, quantity, grossPnl }) => [openOrderId, quantity, grossPnl])).toEqual([
      ['a', 10, 200],
      ['b', 5, 50],
    ]);
    expect(open.map(({ quantity, cost }) => [quantity, cost])).toEqual([[5_000_000, 1_000_000]]);
  });

  it('gains on a short sale when the price falls', () => {
    const { trips } = roundTripsOf([
      traded('2026-01-05', 'SELL', 10, 20, { orderId: 'a' }),
      traded('2026-01-06', 'BUY', 10, 15, { orderId: 'b' }),
    ]);
    expect(trips).toEqual([
      expect.objectContaining({ side: 'SHORT', entryPrice: 20, exitPrice: 15, grossPnl: 50 }),
    ]);
  });

  it('restates a holding after a split and keeps the opening trade', () => {
    const { trips } = roundTripsOf([
      traded('2026-01-05', 'BUY', 10, 90),
      restated('2026-01-06', 'AAA', 3, 1),
      traded('2026-01-07', 'SELL', 30, 31),
    ]);
    expect(trips).toEqual([
      expect.objectContaining({
        quantity: 30,
        openedQuantity: 10,
        entryPrice: 30,
        exitPrice: 31,
        grossPnl: 30,
      }),
    ]);
  });

  it('puts the premium of an exercised call into the price of its shares', () => {
    const option = { symbol: 'AAA260116C00100000', assetClass: 'OPTION', multiplier: 100 } as const;
    const { trips } = roundTripsOf([
      traded('2026-01-05', 'BUY', 1, 4, { ...option, commission: 0.5 }),
      converted('2026-01-16', 'EXERCISE', 'BUY', 100),
      traded('2026-01-20', 'SELL', 100, 110),
    ]);
    expect(trips[0]).toMatchObject({
      symbol: option.symbol,
      grossPnl: 0,
      netPnl: -0.5,
      closedBy: 'EXERCISE',
    });
    expect(trips[0]).not.toHaveProperty('exitPrice');
    expect(trips[1]).toMatchObject({ symbol: 'AAA', entryPrice: 104, grossPnl: 600, openedBy: 'EXERCISE' });
  });

  it('adds the premium of an assigned call to the proceeds of the shares', () => {
    const option = { symbol: 'AAA260116C00100000', assetClass: 'OPTION', multiplier: 100 } as const;
    const { trips } = roundTripsOf([
      traded('2026-01-05', 'BUY', 100, 95),
      traded('2026-01-05', 'SELL', 1, 2, option),
      converted('2026-01-16', 'ASSIGNMENT', 'SELL', 100),
    ]);
    expect(trips.at(-1)).toMatchObject({
      symbol: 'AAA',
      exitPrice: 102,
      grossPnl: 700,
      closedBy: 'ASSIGNMENT',
    });
  });

  it('property: profits and charges of round trips and open lots add up to those of all trades', () => {
    const trade = fc.record({
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      quantity: fc.integer({ min: 1, max: 500_000_000 }).map((units) => units / 1_000_000),
      price: fc.integer({ min: 1, max: 50_000 }).map((cents) => cents / 100),
      commission: fc.integer({ min: 0, max: 999 }).map((cents) => cents / 100),
    });
    fc.assert(
      fc.property(fc.array(trade, { maxLength: 30 }), (trades) => {
        const events = trades.map(({ side, quantity, price, commission }) =>
          traded('2026-01-05', side, quantity, price, { commission, fees: commission / 2 }),
        );
        const { trips, open } = roundTripsOf(events);
        const units = (amount: number): number => Math.round(amount * 10_000);
        const total = (amounts: readonly number[]): number => amounts.reduce((sum, one) => sum + one, 0);
        const cash = total(events.map(({ side, value }) => units(side === 'SELL' ? value : -value)));
        const held = total(open.map(({ side, cost }) => (side === 'LONG' ? cost : -cost)));
        expect(total(trips.map(({ grossPnl }) => units(grossPnl)))).toBe(cash + held);
        const charged = total(events.map(({ commission, fees }) => units(commission) + units(fees)));
        const left = total(open.map(({ commission, fees }) => commission + fees));
        expect(total(trips.map((trip) => units(trip.commissions) + units(trip.fees))) + left).toBe(charged);
      }),
    );
  });
});
