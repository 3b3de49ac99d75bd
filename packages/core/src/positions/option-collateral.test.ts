import { describe, expect, it } from 'vitest';
import type { OptionContract } from '../instruments/option.js';
import { optionContract } from '../instruments/option-roots.js';
import { parseOsi } from '../instruments/osi.js';
import { Instant } from '../values/instant.js';
import { Quantity } from '../values/quantity.js';
import { collateralOf } from './option-collateral.js';
import type { OptionCollateral } from './option-collateral.js';

/** A call on X with other terms than those of its symbol. */
const call = (strike: number, terms: Partial<OptionContract> = {}): OptionContract => ({
  ...optionContract(parseOsi(`X260116C${String(strike * 1000).padStart(8, '0')}`)!, {}, () => false)!,
  ...terms,
});

/** Collateral of a short of each contract with this number of shares, and a long of each protection. */
const collateral = (
  shorts: readonly OptionContract[],
  shares: number,
  longs: readonly OptionContract[] = [],
): OptionCollateral =>
  collateralOf(
    [
      ...shorts.map((contract) => ({ contract, count: -1 })),
      ...longs.map((contract) => ({ contract, count: 1 })),
    ],
    Quantity.of(shares),
    ({ expiration }) => Instant.ofMs(Date.parse(expiration)),
  );

describe('a long covers a short (D81)', () => {
  it('with the same terms', () => {
    expect(collateral([call(100)], 0, [call(95)])).toMatchObject({ nakedCalls: 0, spreads: 1 });
  });

  it.each<[string, Partial<OptionContract>]>([
    ['style', { style: 'EUROPEAN' }],
    ['multiplier', { multiplier: 50 }],
    ['deliverable', { deliverable: 150 }],
    ['cash in lieu of a share', { inLieu: Quantity.of(0.5) }],
  ])('but not with another %s', (_name, terms) => {
    expect(collateral([call(100)], 0, [call(95, terms)])).toMatchObject({ nakedCalls: 1, spreads: 0 });
  });
});

describe('shares cover a short call (D81, D160)', () => {
  it('unless it settles in cash', () => {
    expect(collateral([call(100)], 100)).toMatchObject({ shares: Quantity.of(100), nakedCalls: 0 });
    const cashSettled = call(100, { settlement: 'CASH' });
    expect(collateral([cashSettled], 100)).toMatchObject({ shares: 0, nakedCalls: 1 });
  });

  it('that delivers no whole share with its fraction', () => {
    const adjusted = call(100, { deliverable: 0, inLieu: Quantity.of(0.5) });
    expect(collateral([adjusted], 0.4)).toMatchObject({ shares: 0, nakedCalls: 1 });
    expect(collateral([adjusted], 0.5)).toMatchObject({ shares: Quantity.of(0.5), nakedCalls: 0 });
  });

  it('that delivers nothing with none of them', () => {
    const worthless = call(110, { deliverable: 0 });
    expect(collateral([call(100), worthless], 100)).toMatchObject({
      shares: Quantity.of(100),
      nakedCalls: 0,
    });
  });
});
