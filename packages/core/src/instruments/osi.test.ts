import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Price } from '../values/price.js';
import { TradingDate } from '../values/trading-date.js';
import { formatOsi, parseOsi, rootOfOsi } from './osi.js';

describe('an option symbol', () => {
  it.each([
    ['SPY   261218C00600000', 'SPY', '2026-12-18', 'CALL', '600', 'SPY261218C00600000'],
    ['F     270115P00011500', 'F', '2027-01-15', 'PUT', '11.5', 'F270115P00011500'],
    ['SPXW  261231P06000000', 'SPXW', '2026-12-31', 'PUT', '6000', 'SPXW261231P06000000'],
    ['XYZ1260116C00092143', 'XYZ1', '2026-01-16', 'CALL', '92.143', 'XYZ1260116C00092143'],
    ['aapl260116c00150000', 'AAPL', '2026-01-16', 'CALL', '150', 'AAPL260116C00150000'],
  ])('%s is read, padded or not, and has one form', (text, root, expiration, optionType, strike, form) => {
    const read = parseOsi(text);
    expect(read).toEqual({ root, expiration, optionType, strike: Price.of(strike) });
    expect(read && formatOsi(read)).toBe(form);
    expect(rootOfOsi(form)).toBe(root);
  });

  it.each([
    ['AAPL'],
    ['AAPL1'],
    ['AAPL 260116C00150000 '],
    ['AAPL261316C00150000'],
    ['AAPL260229C00150000'],
    ['AAPL260116X00150000'],
    ['AAPL260116C0150000'],
    ['AAPL260116C00000000'],
    ['GOOGLES260116C00150000'],
    [' AAPL260116C00150000'],
  ])('%s is none', (text) => {
    expect(parseOsi(text)).toBeUndefined();
  });

  it.each([
    ['a root of seven characters', { root: 'GOOGLES' }],
    ['a root with a blank', { root: 'BRK B' }],
    ['a strike finer than a thousandth', { strike: Price.of('92.1429') }],
    ['a strike of a hundred thousand', { strike: Price.of('100000') }],
    ['no strike', { strike: Price.of('0') }],
    ['another century', { expiration: TradingDate.of('1999-12-18') }],
  ])('cannot express %s', (_what, part) => {
    const expiration = TradingDate.of('2026-01-16');
    const whole = { root: 'ACME', expiration, optionType: 'CALL', strike: Price.of('10') } as const;
    expect(formatOsi({ ...whole, ...part })).toBeUndefined();
  });

  it('has one form for every spelling', () => {
    const root = fc.stringMatching(/^[A-Z]{1,5}[1-9]?$/);
    const day = fc.integer({ min: TradingDate.dayOf(TradingDate.of('2000-01-01')), max: 47_480 });
    const strike = fc.integer({ min: 1, max: 99_999_999 }).map((n) => Price.ofUnits(n * 1e5));
    fc.assert(
      fc.property(root, day, fc.constantFrom('CALL', 'PUT'), strike, (name, n, optionType, price) => {
        const parts = { root: name, expiration: TradingDate.ofDay(n), optionType, strike: price };
        const form = formatOsi(parts) ?? '';
        expect(parseOsi(form)).toEqual(parts);
        expect(parseOsi(`${name.padEnd(6)}${form.slice(-15)}`)).toEqual(parts);
      }),
    );
  });
});
