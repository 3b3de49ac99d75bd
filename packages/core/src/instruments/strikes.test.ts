import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Price } from '../values/price.js';
import { isOnLadder, strikeLadderOf, strikesAround } from './strikes.js';

const stock = strikeLadderOf('AAPL', true);
const shown = (strikes: readonly Price[]): string[] => strikes.map(Price.format);

describe('strikes of options listed by rule (D126)', () => {
  it.each([
    ['weekly', '227.5', true],
    ['weekly', '227', false],
    ['weekly', '99.5', true],
    ['monthly', '230', true],
    ['monthly', '227.5', false],
    ['monthly', '0.5', true],
    ['long', '230', true],
    ['long', '225', false],
  ] as const)('%s %s of a stock: %s', (kind, strike, listed) => {
    expect(isOnLadder(stock[kind], Price.of(strike))).toBe(listed);
  });

  it('at least fifteen lie on each side, but none at zero', () => {
    const strikes = shown(strikesAround(stock.monthly, Price.of('230.01'), 0));
    expect(strikes).toHaveLength(30);
    expect(strikes.slice(10, 20).join(' ')).toBe('195 200 210 220 230 240 250 260 270 280');
    expect(shown(strikesAround(stock.monthly, Price.of('2.1'), 0)).slice(0, 5)).toEqual([
      '0.5',
      '1',
      '1.5',
      '2',
      '2.5',
    ]);
  });

  it('reach as far as requested', () => {
    const strikes = strikesAround(stock.weekly, Price.of('230'), 0.5);
    expect(shown(strikes).at(0)).toBe('115');
    expect(shown(strikes).at(-1)).toBe('345');
  });

  it('are on their ladder, ascending, and a short ladder is part of the long one', () => {
    const price = fc.integer({ min: 1, max: 5_000_000 }).map((cents) => Price.ofUnits(cents * 1e6));
    const ladder = fc.constantFrom('AAPL', 'XLF', 'SPY', 'SPX', 'NDX', 'VIX');
    fc.assert(
      fc.property(price, ladder, fc.double({ min: 0, max: 2, noNaN: true }), (spot, symbol, distance) => {
        const { weekly, monthly, long } = strikeLadderOf(symbol, symbol === 'AAPL');
        for (const steps of [weekly, monthly, long]) {
          const strikes = strikesAround(steps, spot, Math.min(distance, 20e8 / spot));
          expect(strikes.every((strike) => isOnLadder(steps, strike))).toBe(true);
          expect(strikes.every((strike, i) => i === 0 || strike > (strikes[i - 1] ?? 0))).toBe(true);
          expect(strikes.filter((strike) => strike >= spot).length).toBeGreaterThanOrEqual(15);
        }
        for (const strike of strikesAround(long, spot, 0)) expect(isOnLadder(monthly, strike)).toBe(true);
      }),
    );
  });
});
