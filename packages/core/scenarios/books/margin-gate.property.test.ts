import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

const SYMBOLS = ['AAPL', 'KO', 'F', 'TQQQ'];

const order = fc.record({
  kind: fc.constant('order' as const),
  symbol: fc.constantFrom(...SYMBOLS),
  short: fc.boolean(),
  quantity: fc.integer({ min: 1, max: 5000 }),
  /** Cents away from the market; 0 = a market order. */
  away: fc.constantFrom(0, 0, 1, 100),
});
const close = fc.record({
  kind: fc.constant('close' as const),
  symbol: fc.constantFrom(...SYMBOLS),
  quantity: fc.integer({ min: 1, max: 500 }),
});
const cancel = fc.record({ kind: fc.constant('cancel' as const), index: fc.nat({ max: 9 }) });
const withdraw = fc.record({
  kind: fc.constant('withdraw' as const),
  dollars: fc.integer({ min: 1, max: 50_000 }),
});

it('a MARGIN portfolio in an unchanged market always keeps excess over both requirements', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('REG_T' as const, 'PORTFOLIO' as const),
      fc.integer({ min: 100, max: 200_000 }),
      fc.array(fc.integer({ min: 101, max: 20_000 }), { minLength: 4, maxLength: 4 }),
      fc.array(fc.oneof({ arbitrary: order, weight: 4 }, close, cancel, withdraw), { maxLength: 20 }),
      (marginType, cash, cents, steps) => {
        const market = new TestMarket();
        const portfolio = market.openPortfolio({ type: 'MARGIN', marginType, cash });
        const at = (symbol: string, away = 0): string =>
          ((cents[SYMBOLS.indexOf(symbol)]! + away) / 100).toFixed(2);
        for (const symbol of SYMBOLS) market.quote(symbol, at(symbol), at(symbol), { last: at(symbol) });
        const placed: string[] = [];
        const submit = (more: Parameters<TestMarket['submit']>[1]): void => {
          const result = market.submit(portfolio, more);
          if (typeof result === 'string') placed.push(result);
        };
        for (const step of steps) {
          if (step.kind === 'order') {
            const { symbol, quantity, short, away } = step;
            const intent = short ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN';
            const limit = away === 0 ? {} : { limit: at(symbol, short ? away : -away) };
            submit({ symbol, quantity, intent, ...limit });
          } else if (step.kind === 'close') {
            const short =
              (market.portfolio(portfolio).positions.get(step.symbol)?.lots[0]?.quantity ?? 0) < 0;
            submit({ ...step, intent: short ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE' });
          } else if (step.kind === 'cancel') {
            const id = placed[step.index];
            if (id !== undefined) market.cancel(id);
          } else {
            market.execute<'TransferCash'>({
              type: 'TransferCash',
              by: market.by,
              portfolioId: portfolio,
              amount: Money.ofDollars(-step.dollars),
            });
          }
          const {
            availableMargin: room,
            marginCallActive,
            totalEquity,
            marginLoan,
          } = market.value(portfolio);
          expect(room!.left.initial).toBeGreaterThanOrEqual(0);
          expect(room!.left.maintenance).toBeGreaterThanOrEqual(0);
          expect(marginCallActive).toBe(false);
          if (totalEquity < Money.ofDollars(2000)) expect(marginLoan).toBe(0);
        }
      },
    ),
    { numRuns: 150 },
  );
});
