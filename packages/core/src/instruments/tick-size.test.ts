import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Price } from '../values/price.js';
import { plainEquity } from './equity.js';
import type { Equity } from './equity.js';
import { optionContract } from './option-roots.js';
import { parseOsi } from './osi.js';
import { isOnTick, tickFor } from './tick-size.js';

const stock = plainEquity('ACME');
const halfPenny: Equity = { ...stock, tickSize: Price.of('0.005') };

describe('Rule 612', () => {
  test.each([
    ['187.50', '0.01'],
    ['1', '0.01'],
    ['0.9999', '0.0001'],
    ['0.0001', '0.0001'],
  ])('at %s the increment is %s', (price, tick) => {
    expect(tickFor(stock, Price.of(price))).toBe(Price.of(tick));
  });

  test.each([
    ['187.50', true],
    ['187.505', false],
    ['1.0001', false],
    ['0.9999', true],
    ['0.99995', false],
  ])('%s on the tick: %s', (price, expected) => {
    expect(isOnTick(stock, Price.of(price))).toBe(expected);
  });

  test("an instrument's own tick goes before the rule, at any price", () => {
    expect(isOnTick(halfPenny, Price.of('10.005'))).toBe(true);
    expect(isOnTick(halfPenny, Price.of('0.5001'))).toBe(false);
    expect(isOnTick(halfPenny, Price.of('10.0025'))).toBe(false);
  });

  test('a price rounded to its tick is on its tick, also across one dollar', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e12 }),
        fc.constantFrom('up' as const, 'down' as const),
        (units, direction) => {
          const price = Price.ofUnits(units);
          const rounded = Price.roundToTick(price, tickFor(stock, price), direction);
          expect(isOnTick(stock, rounded)).toBe(true);
        },
      ),
    );
  });
});

describe('options, in single-leg orders (D70)', () => {
  const option = (root: string, tickSize?: Price) => {
    const named = parseOsi(`${root}260116C00150000`);
    const said = tickSize === undefined ? {} : { tickSize };
    const contract = named && optionContract(named, said, () => undefined);
    if (contract === undefined) throw new RangeError(root);
    return contract;
  };

  test.each([
    ['AAPL', '2.99', '0.01'],
    ['AAPL', '3', '0.05'],
    ['XYZ1', '3', '0.05'],
    ['DJX', '3', '0.05'],
    ['SPY', '12', '0.01'],
    ['XSP', '12', '0.01'],
    ['SPX', '2.95', '0.05'],
    ['SPXW', '3', '0.1'],
    ['XEO', '3', '0.1'],
  ])('%s at %s moves in steps of %s', (root, price, tick) => {
    expect(tickFor(option(root), Price.of(price))).toBe(Price.of(tick));
  });

  test('a listed tick goes before the class', () => {
    expect(tickFor(option('AAPL', Price.of('0.05')), Price.of('1'))).toBe(Price.of('0.05'));
  });
});
