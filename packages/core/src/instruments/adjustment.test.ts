import { describe, expect, it } from 'vitest';
import { Price } from '../values/price.js';
import { adjustedBySplit } from './adjustment.js';
import { optionContract } from './option-roots.js';
import type { OptionContract } from './option.js';
import { parseOsi } from './osi.js';

const option = (symbol: string): OptionContract => optionContract(parseOsi(symbol)!, {}, () => undefined)!;
const nothing = (): boolean => false;
const rootIs =
  (root: string) =>
  (symbol: string): boolean =>
    symbol.startsWith(`${root}2`);

describe('a split adjusts contracts (D89)', () => {
  it.each([
    // Recorded values of AAPL on 2014-06-09.
    ['AAPL140719C00645000', { new: 7, old: 1 }, 'AAPL140719C00092140', '92.14'],
    ['AAPL140719P00490000', { new: 7, old: 1 }, 'AAPL140719P00070000', '70'],
    ['XYZ260116C00100500', { new: 2, old: 1 }, 'XYZ260116C00050250', '50.25'],
    ['XYZ260116C00000010', { new: 20, old: 1 }, 'XYZ260116C00000010', '0.01'],
  ])('%s by a whole ratio: more contracts at a part of the strike', (symbol, ratio, adjusted, strike) => {
    const { contract, contracts } = adjustedBySplit(option(symbol), ratio, nothing);
    expect(contracts).toBe(ratio.new);
    expect(contract).toEqual({ ...option(symbol), symbol: adjusted, strike: Price.of(strike) });
  });

  it('three for two: the strike stays, 150 shares are delivered', () => {
    const before = option('XYZ260116C00050000');
    expect(adjustedBySplit(before, { new: 3, old: 2 }, nothing)).toEqual({
      contract: { ...before, symbol: 'XYZ1260116C00050000', deliverable: 150 },
      contracts: 1,
    });
  });

  it('one for three: 33 shares and a third of one in cash', () => {
    const { contract } = adjustedBySplit(option('XYZ260116C00050000'), { new: 1, old: 3 }, nothing);
    expect(contract).toMatchObject({ deliverable: 33, inLieu: 333_333, multiplier: 100 });
    expect(contract.strike).toBe(Price.of('50'));
  });

  it('an adjusted series is adjusted again, under an unused root', () => {
    const once = adjustedBySplit(option('XYZ260116C00050000'), { new: 3, old: 2 }, nothing).contract;
    const twice = adjustedBySplit(once, { new: 1, old: 4 }, rootIs('XYZ2')).contract;
    expect(twice).toMatchObject({
      symbol: 'XYZ3260116C00050000',
      underlying: 'XYZ',
      deliverable: 37,
      inLieu: 500_000,
    });
    const doubled = adjustedBySplit(twice, { new: 2, old: 1 }, nothing);
    expect(doubled).toMatchObject({
      contracts: 2,
      contract: { deliverable: 37, symbol: 'XYZ3260116C00025000' },
    });
  });

  it('a series stays unchanged if no symbol can express the adjustment', () => {
    for (const [symbol, isTaken] of [
      ['SEVENS260116C00050000', nothing],
      ['XYZ260116C00050000', () => true],
    ] as const) {
      const { contract } = adjustedBySplit(option(symbol), { new: 3, old: 2 }, isTaken);
      expect(contract).toMatchObject({ symbol, deliverable: 150 });
    }
  });

  it('two series adjusted to one strike get two names', () => {
    const isTaken = (symbol: string): boolean => symbol === 'XYZ260116C00014290';
    const { contract } = adjustedBySplit(option('XYZ260116C00100010'), { new: 7, old: 1 }, isTaken);
    expect(contract).toMatchObject({ symbol: 'XYZ1260116C00014290', strike: Price.of('14.29') });
  });
});
