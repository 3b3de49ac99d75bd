import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LotBook, type LotMethod } from './lot-book.js';
import { taxBooksOf } from './taxes.js';
import { traded } from './testing/events.js';

const DAY = '2026-01-05';

describe('LotBook', () => {
  it('property: closes the lots that a search among all of them finds', () => {
    const trade = fc.record({
      quantity: fc.integer({ min: 1, max: 20 }),
      price: fc.integer({ min: 10, max: 15 }),
      isSale: fc.boolean(),
    });
    const indexOf: Record<LotMethod, (lots: readonly { price: number }[]) => number> = {
      FIFO: () => 0,
      LIFO: (lots) => lots.length - 1,
      HIFO: (lots) => lots.findIndex(({ price }) => price === Math.max(...lots.map((lot) => lot.price))),
    };
    fc.assert(
      fc.property(
        fc.array(trade, { maxLength: 60 }),
        fc.constantFrom<LotMethod>('FIFO', 'LIFO', 'HIFO'),
        (trades, method) => {
          const book = new LotBook(method);
          const lots: { name: string; price: number; quantity: number }[] = [];
          for (const [index, { quantity, price, isSale }] of trades.entries()) {
            if (!isSale) {
              book.apply(traded(DAY, 'BUY', quantity, price, { orderId: `${index}` }));
              lots.push({ name: `${index}`, price, quantity });
              continue;
            }
            let left = Math.min(
              quantity,
              lots.reduce((sum, lot) => sum + lot.quantity, 0),
            );
            if (left === 0) continue;
            const pieces = book.apply(traded(DAY, 'SELL', left, price));
            const expected: (readonly [string, number])[] = [];
            while (left > 0) {
              const at = indexOf[method](lots);
              const lot = lots[at];
              if (lot === undefined) break;
              const taken = Math.min(left, lot.quantity);
              expected.push([lot.name, taken]);
              left -= taken;
              lot.quantity -= taken;
              if (lot.quantity === 0) lots.splice(at, 1);
            }
            expect(pieces.map(({ lot }) => [lot.orderId, lot.quantity / 1_000_000])).toEqual(expected);
          }
          expect(book.open().map(({ orderId, quantity }) => [orderId, quantity / 1_000_000])).toEqual(
            lots.map(({ name, quantity }) => [name, quantity]),
          );
        },
      ),
    );
  });

  it('closes thousands of open lots of a symbol, the dearest first, without a search for each', () => {
    const LOTS = 20_000;
    const price = (index: number): number => 10 + ((index * 7919) % 1000) / 100;
    const events = Array.from({ length: 2 * LOTS }, (_, index) =>
      index < LOTS
        ? traded(DAY, 'BUY', 1, price(index), { orderId: 'a' })
        : traded('2026-06-01', 'SELL', 1, 30, { orderId: 'b' }),
    );
    const { gains, lots } = taxBooksOf({ events, method: 'HIFO', yearEnds: [], washSales: true });
    expect(lots).toEqual([]);
    expect(gains).toHaveLength(LOTS);
    const costs = gains.map(({ costBasis }) => costBasis);
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
  });
});
