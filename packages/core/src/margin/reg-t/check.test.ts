import { expect, it } from 'vitest';
import { optionLeg, regTBook, stockLeg } from '../../testing/margin-legs.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { regTRequirementOf } from './least-requirement.js';
import type { RegTLeg } from './legs.js';

const refusalsOf = (...legs: readonly RegTLeg[]): unknown => {
  const answer = regTRequirementOf(regTBook(legs));
  return 'refusals' in answer ? answer.refusals : [];
};
const call = optionLeg({ right: 'CALL', quantity: -1, strike: '100', price: '2', underlyingPrice: '98' });
const put = optionLeg({ right: 'PUT', quantity: 1, strike: '90', price: '2', underlyingPrice: '98' });
const shares = stockLeg({ quantity: 100, price: '98' });

it('accepts well-formed and empty books', () => {
  expect(refusalsOf(call, put, shares)).toEqual([]);
  expect(regTRequirementOf(regTBook([]))).toEqual({ fed: 0, house: 0, initial: 0, counted: 0, groups: [] });
});

it('needs a price of every position, and of the underlying of short options (D106)', () => {
  expect(refusalsOf({ ...shares, price: undefined })).toEqual([{ code: 'PRICE_MISSING', symbol: 'XYZ' }]);
  expect(refusalsOf({ ...put, price: undefined })).toEqual([{ code: 'PRICE_MISSING', symbol: put.symbol }]);
  expect(refusalsOf({ ...call, underlyingPrice: undefined })).toEqual([
    { code: 'PRICE_MISSING', symbol: 'XYZ' },
  ]);
  expect(refusalsOf({ ...put, underlyingPrice: undefined })).toEqual([]);
  // Its stock has one.
  expect(refusalsOf({ ...call, underlyingPrice: undefined }, shares)).toEqual([]);
});

it('refuses expired contracts, even at the instant of expiration', () => {
  const expired = { ...put, settlesAt: regTBook([]).asOf };
  expect(refusalsOf(expired)).toEqual([{ code: 'OPTION_EXPIRED', symbol: put.symbol }]);
});

it('refuses parts of contracts, but not of shares', () => {
  const half = Quantity.ofUnits(500_000);
  expect(refusalsOf({ ...put, quantity: half })).toEqual([
    { code: 'NOT_WHOLE_CONTRACTS', symbol: put.symbol },
  ]);
  expect(refusalsOf({ ...shares, quantity: half })).toEqual([]);
});

it('refuses terms that contradict each other', () => {
  const contradiction = (leg: RegTLeg, field: string): void => {
    expect(refusalsOf(put, leg)).toContainEqual({
      code: 'CONTRADICTORY_TERMS',
      symbol: field === 'underlyingPrice' ? 'XYZ' : put.symbol,
      field: field === 'underlyingPrice' ? 'price' : field,
    });
  };
  contradiction({ ...put, multiplier: 10 }, 'multiplier');
  contradiction({ ...put, deliverable: 150 }, 'deliverable');
  contradiction({ ...put, style: 'EUROPEAN' }, 'style');
  contradiction({ ...put, price: Price.of('3') }, 'price');
  contradiction({ ...put, underlyingPrice: Price.of('97') }, 'underlyingPrice');
  contradiction({ ...shares, symbol: put.symbol }, 'kind');
});

it.each<[field: string, leg: RegTLeg]>([
  ['price', { ...put, price: Price.ofUnits(-1) }],
  ['price', { ...shares, price: Price.ofUnits(Infinity) }],
  ['quantity', { ...shares, quantity: Quantity.ofUnits(Number.NaN) }],
  ['strike', { ...put, strike: Price.ofUnits(0) }],
  ['multiplier', { ...put, multiplier: 0 }],
  ['multiplier', { ...put, multiplier: 1e9 }],
  ['deliverable', { ...put, deliverable: Number.NaN }],
  ['underlyingPrice', { ...put, underlyingPrice: Price.ofUnits(-5) }],
  ['leverageFactor', { ...put, leverageFactor: Infinity }],
])('refuses an absurd %s', (field, leg) => {
  expect(refusalsOf(leg)).toContainEqual({ code: 'IMPOSSIBLE_TERMS', symbol: leg.symbol, field });
});

it('refuses more than a thousand positions', () => {
  expect(refusalsOf(...new Array<RegTLeg>(1000).fill(shares))).toEqual([]);
  expect(refusalsOf(...new Array<RegTLeg>(1001).fill(shares))).toEqual([
    { code: 'TOO_MANY_POSITIONS', most: 1000 },
  ]);
});
