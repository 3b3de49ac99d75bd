import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { closeFirstInFirstOut, Position } from './position.js';

const lots = fc.array(
  fc.record({ quantity: fc.integer({ min: 1, max: 1e12 }), cost: fc.integer({ min: 0, max: 1e12 }) }),
  { minLength: 1, maxLength: 8 },
);

const positionOf = (parts: readonly { quantity: number; cost: number }[], sign: 1 | -1): Position => ({
  ...Position.open('X', 'EQUITY'),
  lots: parts.map(({ quantity, cost }, index) => ({
    lotId: index + 1,
    quantity: Quantity.ofUnits(sign * quantity),
    cost: Money.ofUnits(cost),
    openedAt: Instant.ofMs(index),
  })),
});

it('closing removes exactly the requested quantity, oldest lots first, and closing everything removes the whole cost', () => {
  fc.assert(
    fc.property(
      lots,
      fc.constantFrom(1 as const, -1 as const),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (parts, sign, part) => {
        const position = positionOf(parts, sign);
        const all = parts.reduce((sum, { quantity }) => sum + quantity, 0);
        const asked = Math.max(1, Math.floor(all * part));
        const closings = closeFirstInFirstOut(position, Quantity.ofUnits(asked));
        expect(closings.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(asked);
        expect(closings.map(({ lotId }) => lotId)).toEqual(
          position.lots.slice(0, closings.length).map(({ lotId }) => lotId),
        );
        closings.forEach(({ quantity, cost }, index) => {
          const lot = position.lots[index]!;
          expect(cost).toBeLessThanOrEqual(lot.cost);
          if (index < closings.length - 1) expect(quantity).toBe(Math.abs(lot.quantity));
        });
        const whole = closeFirstInFirstOut(position, Quantity.ofUnits(all));
        expect(whole.reduce((sum, { cost }) => sum + cost, 0)).toBe(Position.costBasis(position));
      },
    ),
  );
});
