import type { Broker } from '@sandpit/protocol';
import { describe, expect, it } from 'vitest';
import { commissionText, profileOf } from './broker-profile.ts';

describe('Profile of a broker', () => {
  it.each([
    [{}, 'free'],
    [{ perOrder: 0, perUnit: 0 }, 'free'],
    [{ perOrder: 4.95 }, '$4.95'],
    [{ perUnit: 0.005 }, '$0.005 a share'],
    [{ perOrder: 1, perUnit: 0.65 }, '$1.00 and $0.65 a share'],
  ])('commission of %j: %s', (commission, text) => {
    expect(commissionText(commission, 'share')).toBe(text);
  });

  it('names fees, short sales, option level and the first rate of a loan', () => {
    const broker = {
      equityCommission: { perOrder: 0, perUnit: 0 },
      optionCommission: { perOrder: 0, perUnit: 0.5 },
      passesRegulatoryFees: true,
      shortSelling: false,
      optionLevel: 2,
      futures: false,
      marginInterestTiers: [{ from: 0, rateAnnual: 0.095 }],
    } as unknown as Broker;
    expect(profileOf(broker)).toBe(
      'Shares free · options $0.50 a contract · regulatory fees passed on · no short sales · option level 2 · margin loan 9.5%',
    );
  });
});
