import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dollars, TestMarket } from '../../src/testing/market.js';
import { Position } from '../../src/positions/position.js';

const MES = 'MESH26';
const POINT = 5;

/** Quarters of a point. */
const text = (quarters: number): string => String(quarters / 4);

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('mark' as const),
      to: fc.integer({ min: 19_600, max: 20_400 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('trade' as const), contracts: fc.integer({ min: -3, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('next-day' as const) }) },
);

it('paid and pending variation add up to the profit of the contracts, on any path (D95)', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
      const m = new TestMarket();
      let mark = 20_000;
      // A locked market: purchases and sales execute at the mark.
      const quote = (): void => void m.quote(MES, text(mark), text(mark));
      quote();
      const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
      let held = 0;
      /** Net cost of the contracts, in quarters of a point: purchases less sales. */
      let paid = 0;
      for (const one of steps) {
        if (one.kind === 'mark') {
          mark = one.to;
          quote();
        } else if (one.kind === 'next-day') {
          m.advanceMs(24 * 3_600_000);
          quote();
        } else {
          const contracts =
            held > 0
              ? Math.max(-held, one.contracts)
              : held < 0
                ? Math.min(-held, one.contracts)
                : one.contracts;
          if (contracts === 0) continue;
          const isClosing = held !== 0 && held > 0 !== contracts > 0;
          const side = contracts > 0 ? 'BUY' : 'SELL';
          const order = m.submit(portfolio, {
            symbol: MES,
            quantity: Math.abs(contracts),
            intent: `${side}_TO_${isClosing ? 'CLOSE' : 'OPEN'}`,
            tif: 'IOC',
          });
          // On a weekend, or in the pause, there is no trading.
          if (typeof order !== 'string' || m.order(order).status !== 'FILLED') continue;
          held += contracts;
          paid += contracts * mark;
        }
        const position = m.portfolio(portfolio).positions.get(MES);
        expect(position === undefined ? 0 : Position.held(position) / 1e6).toBe(held);
        const made = ((held * mark - paid) * POINT) / 4;
        const { settledCash, pendingCash } = m.value(portfolio);
        expect(dollars(settledCash) + dollars(pendingCash) - 1_000_000).toBeCloseTo(made, 6);
        const variation = m
          .entries()
          .filter(({ type }) => type === 'VARIATION')
          .flatMap(({ postings }) => postings)
          .filter(({ account }) => account === 'SETTLED_CASH')
          .reduce((sum, { amount }) => sum + amount, 0);
        expect(dollars(settledCash) - 1_000_000).toBeCloseTo(variation / 10_000, 6);
      }
    }),
    { numRuns: 40 },
  );
});
