import { describe, expect, it } from 'vitest';
import type { OptionContract } from '../instruments/option.js';
import { optionContract } from '../instruments/option-roots.js';
import { parseOsi } from '../instruments/osi.js';
import { Instant } from '../values/instant.js';
import { Quantity } from '../values/quantity.js';
import { collateralOf } from './option-collateral.js';
import type { OptionCollateral } from './option-collateral.js';

/** A contract on X with other terms than those of its symbol. */
const option = (root: string, strike: number, terms: Partial<OptionContract> = {}): OptionContract => ({
  ...optionContract(parseOsi(`X${root}${String(strike * 1000).padStart(8, '0')}`)!, {}, () => undefined)!,
  ...terms,
});

const call = (strike: number, terms: Partial<OptionContract> = {}): OptionContract =>
  option('260116C', strike, terms);
const put = (strike: number): OptionContract => option('260116P', strike);
const laterCall = (strike: number): OptionContract => option('260220C', strike);
const laterPut = (strike: number): OptionContract => option('260220P', strike);

/** Contracts that settle in the morning settle before the others of their day. */
const settlesAt = ({ expiration, settleSession }: OptionContract): Instant =>
  Instant.ofMs(Date.parse(expiration) + (settleSession === 'PM' ? 1 : 0));

type Held = readonly [count: number, contract: OptionContract];

/** Uncovered calls, contracts covered by longs, and dollars of the loss and of its part for uncovered puts. */
function withoutShares(...held: readonly Held[]): readonly number[] {
  const legs = held.map(([count, contract]) => ({ count, contract }));
  const { nakedCalls, spreads, cash, secured } = collateralOf(legs, Quantity.zero, settlesAt);
  return [nakedCalls, spreads, cash / 10_000, secured / 10_000];
}

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
    settlesAt,
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

  it('shares are not collateral of long calls', () => {
    const cover = collateral([call(100)], 100, [call(95)]);
    expect(cover).toMatchObject({ shares: Quantity.of(100), nakedCalls: 0, spreads: 0 });
  });

  it('a fraction of a share covers a call that delivers no whole share', () => {
    const adjusted = call(100, { deliverable: 0, inLieu: Quantity.of(0.5) });
    expect(collateral([adjusted], 0.4)).toMatchObject({ shares: 0, nakedCalls: 1 });
    expect(collateral([adjusted], 0.5)).toMatchObject({ shares: Quantity.of(0.5), nakedCalls: 0 });
  });

  it('a call that delivers nothing needs no shares', () => {
    const worthless = call(110, { deliverable: 0 });
    expect(collateral([call(100), worthless], 100)).toMatchObject({
      shares: Quantity.of(100),
      nakedCalls: 0,
    });
  });
});

describe('longs of other expirations (D81)', () => {
  it('cover a short that settles before them, and none that settles later', () => {
    expect(withoutShares([-1, call(100)], [1, laterCall(100)])).toEqual([0, 1, 0, 0]);
    expect(withoutShares([-1, laterCall(100)], [1, call(100)])).toEqual([1, 0, 0, 0]);
    expect(withoutShares([-1, put(100)], [1, laterPut(90)])).toEqual([0, 1, 1000, 0]);
    expect(withoutShares([-1, laterPut(100)], [1, put(90)])).toEqual([0, 0, 10_000, 10_000]);
  });

  it('settle in the morning before the shorts of the same day', () => {
    const morning = call(100, { settleSession: 'AM' });
    const evening = call(105);
    expect(withoutShares([-1, evening], [1, morning])).toEqual([1, 0, 0, 0]);
    expect(withoutShares([-1, morning], [1, evening])).toEqual([0, 1, 500, 0]);
  });

  it('cover shorts of their own type only', () => {
    expect(withoutShares([-1, call(100)], [1, laterPut(100)])).toEqual([1, 0, 0, 0]);
    expect(withoutShares([-1, put(100)], [1, laterCall(100)])).toEqual([0, 0, 10_000, 10_000]);
  });

  it('are used by the strike that protects best: the lowest of calls, the highest of puts', () => {
    const calls: readonly Held[] = [
      [1, laterCall(110)],
      [1, laterCall(105)],
    ];
    for (const longs of [calls, calls.toReversed()])
      expect(withoutShares([-1, call(100)], ...longs)).toEqual([0, 1, 500, 0]);
    const puts: readonly Held[] = [
      [1, laterPut(80)],
      [1, laterPut(90)],
    ];
    for (const longs of [puts, puts.toReversed()])
      expect(withoutShares([-1, put(100)], ...longs)).toEqual([0, 1, 1000, 0]);
  });

  it('cover as many shorts as they are, beside longs of the same expiration', () => {
    expect(withoutShares([-4, call(100)], [1, call(105)], [2, laterCall(110)])).toEqual([1, 3, 2500, 0]);
    expect(withoutShares([-1, call(100)], [3, laterCall(105)])).toEqual([0, 1, 500, 0]);
    // Two of three cover the shorts of February, which leaves one for January.
    const march = option('260320C', 105);
    expect(withoutShares([-2, laterCall(100)], [-2, call(100)], [3, march])).toEqual([1, 3, 1500, 0]);
  });
});

describe('shorts without a long (D81)', () => {
  it('of calls are those with the highest strikes', () => {
    expect(withoutShares([-2, call(100)], [-2, call(110)], [2, call(105)])).toEqual([2, 2, 1000, 0]);
    expect(withoutShares([-1, call(100)], [-3, call(110)], [2, call(105)])).toEqual([2, 2, 500, 0]);
  });

  it('of puts are secured by the lowest strikes', () => {
    expect(withoutShares([-2, put(90)], [-1, put(100)], [1, put(95)])).toEqual([0, 1, 18_500, 18_000]);
    expect(withoutShares([-1, put(90)], [-2, put(100)], [1, put(95)])).toEqual([0, 1, 19_500, 19_000]);
  });
});
