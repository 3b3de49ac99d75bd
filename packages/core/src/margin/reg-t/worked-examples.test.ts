import { describe, expect, it } from 'vitest';
import { dollars } from '../../testing/market.js';
import { optionLeg, regT, stockLeg } from '../../testing/margin-legs.js';

const lines = (requirement: ReturnType<typeof regT>): unknown[] =>
  requirement.groups.map(({ strategy, amounts }) => [strategy, dollars(amounts.house)]);

/**
 * "Margin Requirement Examples for Sample Options-based Positions" of the Cboe, column strategy-based margin: the deposit required, net of
 * premiums received. Read at studylib.net/doc/11615061.
 */
describe("the Cboe's sheet of sample positions", () => {
  const ibm = { underlyingPrice: '97.73' };
  /** 1451.19 is what both the short call and the short put of the sheet imply. */
  const spx = {
    underlying: 'SPX',
    underlyingPrice: '1451.19',
    underlyingClass: 'BROAD_INDEX',
    style: 'EUROPEAN',
    settlement: 'CASH',
  } as const;
  const call = (quantity: number, strike: string, price: string) =>
    optionLeg({ ...ibm, right: 'CALL', quantity, strike, price });
  const put = (quantity: number, strike: string, price: string) =>
    optionLeg({ ...ibm, right: 'PUT', quantity, strike, price });
  const indexCall = (quantity: number, strike: string, price: string) =>
    optionLeg({ ...spx, right: 'CALL', quantity, strike, price });
  const indexPut = (quantity: number, strike: string, price: string) =>
    optionLeg({ ...spx, right: 'PUT', quantity, strike, price });
  const shares = stockLeg({ quantity: 10_000, price: '97.73' });

  it.each([
    ['short call', [call(-100, '100', '1.68')], 172_760],
    ['short put', [put(-100, '100', '3.18')], 195_460],
    ['covered call', [shares, call(-100, '100', '1.68')], 471_850],
    ['protective put', [shares, put(100, '95', '1.02')], 498_850],
    ['synthetic long', [call(100, '100', '1.68'), put(-100, '100', '3.18')], 212_260],
    ['risk reversal', [put(100, '95', '1.02'), call(-100, '105', '0.40')], 132_960],
    ['collar', [shares, put(100, '95', '1.02'), call(-100, '105', '0.40')], 494_850],
    ['long vertical call spread', [call(100, '95', '4.53'), call(-100, '105', '0.40')], 41_300],
    ['short call on an index', [indexCall(-100, '1460', '21.66')], 2_088_685],
    ['short put on an index', [indexPut(-100, '1460', '22.55')], 2_176_785],
    [
      'synthetic long on an index',
      [indexCall(100, '1460', '21.66'), indexPut(-100, '1460', '22.55')],
      2_393_385,
    ],
    [
      'risk reversal on an index',
      [indexPut(100, '1450', '18.72'), indexCall(-100, '1500', '5.96')],
      1_875_885,
    ],
    [
      'long vertical on an index',
      [indexCall(100, '1450', '27.57'), indexCall(-100, '1500', '5.96')],
      216_100,
    ],
    ['long straddle on an index', [indexPut(100, '1450', '18.72'), indexCall(100, '1450', '27.57')], 462_900],
  ])('%s', (_name, legs, deposit) => {
    const received = legs.reduce(
      (sum, leg) =>
        leg.kind === 'OPTION' && leg.quantity < 0
          ? sum + ((leg.price ?? 0) / 1e8) * (0 - leg.quantity / 1e6) * 100
          : sum,
      0,
    );
    expect(dollars(regT(legs).initial) - received).toBeCloseTo(deposit, 2);
  });
});

it('a short straddle: the greater side and the premium of the other (Cboe margin manual, p. 45)', () => {
  const legs = [
    optionLeg({ right: 'CALL', quantity: -1, strike: '90', price: '7.00', underlyingPrice: '92.63' }),
    optionLeg({ right: 'PUT', quantity: -1, strike: '90', price: '3.70', underlyingPrice: '92.63' }),
  ];
  expect(lines(regT(legs))).toEqual([['SHORT_STRADDLE', 2922.6]]);
});

it('a short put: 200 at 1.20 on 209.00 requires 3,400 (edeltapro.com/knowledge-base/margin)', () => {
  const legs = [
    optionLeg({ right: 'PUT', quantity: -1, strike: '200', price: '1.20', underlyingPrice: '209' }),
  ];
  expect(lines(regT(legs))).toEqual([['NAKED_PUT', 3400]]);
});

it('three short butterflies 75/80/85 require 1,500 (tastytrade, "Margin requirement when trading a butterfly")', () => {
  const legs = [
    optionLeg({ right: 'PUT', quantity: -3, strike: '75', price: '1.50', underlyingPrice: '80' }),
    optionLeg({ right: 'PUT', quantity: 6, strike: '80', price: '4.00', underlyingPrice: '80' }),
    optionLeg({ right: 'PUT', quantity: -3, strike: '85', price: '6.00', underlyingPrice: '80' }),
  ];
  const requirement = regT(legs);
  expect(dollars(requirement.house)).toBe(1500);
  // Its two halves, a debit and a credit vertical, require as much: but one group is fewer than two.
  expect(lines(requirement)).toEqual([['SHORT_BUTTERFLY', 1500]]);
});

describe('the formulas of D103, a hundred shares or one contract, stock at 25 % and 30 %', () => {
  const at = (
    underlyingPrice: string,
    right: 'CALL' | 'PUT',
    quantity: number,
    strike: string,
    price = '2',
  ) => optionLeg({ right, quantity, strike, price, underlyingPrice });
  const stock = (quantity: number, price: string) => stockLeg({ quantity, price });
  const figures = (legs: Parameters<typeof regT>[0]): unknown[] =>
    regT(legs).groups.map(({ strategy, amounts }) => [
      strategy,
      ...[amounts.fed, amounts.house, amounts.initial, amounts.counted].map(dollars),
    ]);

  it.each([
    // 50 % and 25 % of the strike, and 10 in the money.
    [
      'covered call in the money',
      [stock(100, '110'), at('110', 'CALL', -1, '100', '12')],
      ['COVERED_CALL', 6000, 3500, 6000, 11_000],
    ],
    [
      'covered call out of it',
      [stock(100, '90'), at('90', 'CALL', -1, '100', '3')],
      ['COVERED_CALL', 4500, 2250, 4500, 9000],
    ],
    [
      'covered put',
      [stock(-100, '90'), at('90', 'PUT', -1, '100', '11')],
      ['COVERED_PUT', 5500, 3700, 5500, -9000],
    ],
    // 10 % of 95 and 5 out of the money; the put is paid in full.
    [
      'protective put',
      [stock(100, '100'), at('100', 'PUT', 1, '95')],
      ['PROTECTIVE_PUT', 5000, 1450, 5200, 10_000],
    ],
    // The stock counts at the strike: a certain amount is not called.
    [
      'protective put after a fall',
      [stock(100, '60'), at('60', 'PUT', 1, '95', '35')],
      ['PROTECTIVE_PUT', 3000, 950, 6500, 9500],
    ],
    [
      'protective call',
      [stock(-100, '100'), at('100', 'CALL', 1, '105')],
      ['PROTECTIVE_CALL', 5000, 1550, 5200, -10_000],
    ],
    // min(9.50 + 5, 25 % of 105)
    [
      'collar',
      [stock(100, '100'), at('100', 'PUT', 1, '95'), at('100', 'CALL', -1, '105')],
      ['COLLAR', 5000, 1450, 5200, 10_000],
    ],
    [
      'conversion',
      [stock(100, '103'), at('103', 'PUT', 1, '100'), at('103', 'CALL', -1, '100', '5')],
      ['CONVERSION', 5300, 1300, 5500, 10_300],
    ],
    [
      'reversal',
      [stock(-100, '97'), at('97', 'PUT', -1, '100', '5'), at('97', 'CALL', 1, '100')],
      ['REVERSAL', 5150, 1300, 5350, -9700],
    ],
  ])('%s', (_name, legs, expected) => {
    expect(figures(legs)).toEqual([expected]);
  });

  it('the rest of the stock is alone', () => {
    expect(figures([stock(250, '90'), at('90', 'CALL', -1, '100', '3')])).toEqual([
      ['LONG_STOCK', 6750, 3375, 6750, 13_500],
      ['COVERED_CALL', 4500, 2250, 4500, 9000],
    ]);
  });
});
