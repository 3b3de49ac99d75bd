import { describe, expect, it } from 'vitest';
import { goodTill, TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';

/** Contract section 8, cell by cell: features that BASIC lacks, and PRO and ENTERPRISE have. */
const BEYOND_BASIC: [string, TestOrder, string][] = [
  ['STOP', { type: 'STOP', stop: '110.00' }, 'STOP orders are not available in the BASIC tier'],
  [
    'STOP_LIMIT',
    { type: 'STOP_LIMIT', stop: '110.00', limit: '111.00' },
    'STOP_LIMIT orders are not available in the BASIC tier',
  ],
  [
    'TRAILING_STOP',
    { type: 'TRAILING_STOP', trailingAmount: '5.00' },
    'TRAILING_STOP orders are not available in the BASIC tier',
  ],
  [
    'TRAILING_STOP_LIMIT',
    { type: 'TRAILING_STOP_LIMIT', trailingAmount: '5.00', limit: '111.00' },
    'TRAILING_STOP_LIMIT orders are not available in the BASIC tier',
  ],
  ['IOC', { tif: 'IOC' }, 'Time in force IOC is not available in the BASIC tier'],
  ['FOK', { tif: 'FOK' }, 'Time in force FOK is not available in the BASIC tier'],
  [
    'GTD',
    { limit: '90.00', tif: 'GTD', more: { goodTillDate: goodTill('2026-01-07') } },
    'Time in force GTD is not available in the BASIC tier',
  ],
  ['EXTENDED', { limit: '90.00', session: 'EXTENDED' }, 'Extended hours are not available in the BASIC tier'],
  [
    'a bracket',
    { more: { bracketConfig: { stopLoss: { orderType: 'STOP', stopPrice: Price.of('90') } } } },
    'Bracket orders are not available in the BASIC tier',
  ],
  ...(['INSTITUTIONAL', 'COLOCATED', 'CUSTOM'] as const).map(
    (latencyProfile): [string, TestOrder, string] => [
      latencyProfile,
      { more: { latencyProfile } },
      `Latency profile ${latencyProfile} is not available in the BASIC tier`,
    ],
  ),
];

function submit(order: TestOrder, tier: 'BASIC' | 'PRO' | 'ENTERPRISE') {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
  return market.submit(market.openPortfolio(), order, { tier });
}

describe.each(BEYOND_BASIC)('%s', (_name, order, message) => {
  it('is refused to BASIC with the required tier', () => {
    expect(submit(order, 'BASIC')).toEqual({
      code: 'FEATURE_NOT_AVAILABLE',
      message,
      currentTier: 'BASIC',
      requiredTier: 'PRO',
    });
  });

  it.each(['PRO', 'ENTERPRISE'] as const)('is open to %s', (tier) => {
    expect(submit(order, tier)).toBeTypeOf('string');
  });
});

describe('BASIC may', () => {
  it.each<[string, TestOrder]>([
    ['MARKET DAY', {}],
    ['MARKET GTC', { tif: 'GTC' }],
    ['LIMIT DAY', { limit: '90.00' }],
    ['LIMIT GTC', { limit: '90.00', tif: 'GTC' }],
    ['the ordinary latency', { more: { latencyProfile: 'RETAIL' } }],
  ])('%s', (_name, order) => {
    expect(submit(order, 'BASIC')).toBeTypeOf('string');
  });

  it('BASIC may not trade options or futures', () => {
    for (const assetClass of ['OPTION', 'FUTURE'] as const) {
      expect(submit({ more: { assetClass } }, 'BASIC')).toMatchObject({ code: 'FEATURE_NOT_AVAILABLE' });
    }
  });
});
