import { expect, it } from 'vitest';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import { contractOf } from './contracts.js';
import type { Contract, RegTTerms } from './contracts.js';
import { collar, shortStraddle } from './groups.js';
import { regTParametersOn } from './parameters.js';

const asOf = TradingDate.of('2026-01-05');
const house = { houseMaintenanceLongBps: 2500, houseMaintenanceShortBps: 3000 };
const terms: RegTTerms = { parameters: regTParametersOn(asOf), house, asOf };
const DOLLAR = 1e6;

function contract(
  right: 'CALL' | 'PUT',
  strike: string,
  count: number,
  price: string,
  underlying: string,
): Contract {
  const expiration = TradingDate.of('2026-02-20');
  return contractOf(
    {
      kind: 'OPTION',
      symbol: `${right}${strike}`,
      underlying: 'X',
      underlyingClass: 'EQUITY',
      right,
      strike: Price.of(strike),
      expiration,
      settlesAt: Instant.ofMs(TradingDate.dayOf(expiration) * 86_400_000),
      style: 'AMERICAN',
      settlement: 'PHYSICAL',
      multiplier: 100,
      deliverable: 100,
      quantity: Quantity.of(count),
      price: Price.of(price),
      underlyingPrice: Price.of(underlying),
      leverageFactor: 1,
    },
    count,
    terms,
  );
}

it('shortStraddle: of two equal requirements the smaller premium is added', () => {
  // The call: 5 + 20 % of 100 − 5 out of the money = 20 a share. The put: 0 + 20 % of 100 = 20.
  const call = contract('CALL', '105', -1, '5', '100');
  const put = contract('PUT', '100', -1, '0', '100');
  expect([call.naked, put.naked]).toEqual([2000 * DOLLAR, 2000 * DOLLAR]);
  expect(shortStraddle(call, put).maintenance).toBe(2000 * DOLLAR);
});

it('shortStraddle: the premium of the smaller requirement is added to the greater', () => {
  const call = contract('CALL', '100', -1, '3', '100');
  const put = contract('PUT', '90', -1, '1', '100');
  // 3 + 20 = 23 and 1 + 10 = 11 a share: 23 + 1.
  expect(shortStraddle(call, put).maintenance).toBe(2400 * DOLLAR);
});

it('collar: maintenance is at most the rate of stock at the strike of the call', () => {
  // 10 % of 50 + 50 out of the money = 55 a share; 25 % of the call's strike of 60 = 15; the call is 40 in the money.
  const put = contract('PUT', '50', 1, '1', '100');
  const call = contract('CALL', '60', -1, '41', '100');
  expect(collar(put, call, terms).maintenance).toBe(5500 * DOLLAR);
  // 10 % of 95 + 5 = 14.50 a share, less than 25 % of 110.
  const near = contract('PUT', '95', 1, '1', '100');
  const above = contract('CALL', '110', -1, '1', '100');
  expect(collar(near, above, terms).maintenance).toBe(1450 * DOLLAR);
});
