import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import { plainEquity } from './equity.js';
import type { FutureContract } from './future.js';
import {
  feeClassOf,
  isPossiblePrice,
  isTradable,
  multiplierOf,
  pricePer,
  settlementOf,
  tradableOf,
  valueOf,
} from './instrument.js';
import type { Tradable } from './instrument.js';
import { optionContract } from './option-roots.js';
import { parseOsi } from './osi.js';

const option = (symbol: string, more: Parameters<typeof optionContract>[1] = {}) => {
  const named = parseOsi(symbol);
  const contract = named && optionContract(named, more, () => undefined);
  if (contract === undefined) throw new RangeError(symbol);
  return contract;
};

const future = (root: string, multiplier: number): FutureContract => ({
  assetClass: 'FUTURE',
  symbol: `${root}Z26`,
  root,
  multiplier,
  tickSize: Price.of('0.25'),
  settlement: 'CASH',
  lastTradeDate: TradingDate.of('2026-12-18'),
  initialMargin: Money.ofDollars(11_000),
  maintenanceMargin: Money.ofDollars(10_000),
});

const stock = plainEquity('ACME');
const call = option('AAPL260116C00150000');
const index = { assetClass: 'INDEX', symbol: 'SPX', name: 'S&P 500' } as const;

describe('the value of a quantity at a price', () => {
  // Price × quantity × multiplier, on paper.
  it.each<[string, Tradable, string, number, string]>([
    ['10 shares at 187.50', stock, '187.50', 10, '1875'],
    ['3 short calls at 2.35', call, '2.35', -3, '-705'],
    ['a call at a tenth of a cent', call, '0.001', 1, '0.1'],
    ['2 ES at 6,012.25', future('ES', 50), '6012.25', 2, '601225'],
    ['1 MYM at 44,001', future('MYM', 0.5), '44001', 1, '22000.5'],
    ['7 MBT at 98,765', future('MBT', 0.1), '98765', 7, '69135.5'],
    ['1 6J at 0.0067125', future('6J', 12_500_000), '0.0067125', 1, '83906.25'],
    ['one tick of 6J', future('6J', 12_500_000), '0.0000005', 1, '6.25'],
    // 12,500,000 × 4,000,000 × 0.0067125 leaves the safe range on the way.
    ['4,000,000 6J', future('6J', 12_500_000), '0.0067125', 4_000_000, '335625000000'],
  ])('%s', (_what, instrument, price, quantity, dollars) => {
    expect(Money.format(valueOf(instrument, Price.of(price), Quantity.of(quantity)))).toBe(dollars);
  });

  it('is exact before it is rounded half up, for every multiplier', () => {
    const Exact = Decimal.clone({ precision: 60 });
    const multiplier = fc.constantFrom(0.1, 0.5, 1, 2, 5, 20, 50, 100, 1000, 125_000, 12_500_000, 33.333333);
    const quantity = fc.oneof(
      fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => n * 1e6),
      fc.integer({ min: -1e12, max: 1e12 }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e13 }), quantity, multiplier, (p, q, m) => {
        const units = new Exact(p).mul(q).mul(m).div(1e10).toDecimalPlaces(0, Decimal.ROUND_HALF_UP);
        const value = valueOf(future('XX', m), Price.ofUnits(p), Quantity.ofUnits(q));
        if (units.abs().lte(Number.MAX_SAFE_INTEGER)) expect(value).toBe(units.toNumber() + 0);
        else expect(Math.abs(value)).toBeGreaterThan(Number.MAX_SAFE_INTEGER - 1);
      }),
      { numRuns: 2000 },
    );
  });

  it('of shares is that of a contract with a multiplier of one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e13 }), fc.integer({ min: -1e12, max: 1e12 }), (p, q) => {
        const [price, quantity] = [Price.ofUnits(p), Quantity.ofUnits(q)];
        expect(valueOf(stock, price, quantity)).toBe(Money.ofContracts(price, quantity, 1));
      }),
    );
  });
});

describe('the price per unit', () => {
  it.each<[string, Tradable, string, number, string]>([
    ['of 3 shares for 100.00', stock, '100', 3, '33.33333333'],
    ['of 10 calls for 2,350.00', call, '2350', 10, '2.35'],
    ['of a 6J for 83,906.25', future('6J', 12_500_000), '83906.25', 1, '0.0067125'],
    ['of 7 MBT for 69,135.50', future('MBT', 0.1), '69135.5', 7, '98765'],
  ])('%s', (_what, instrument, dollars, quantity, price) => {
    expect(Price.format(pricePer(instrument, Money.parse(dollars)!, Quantity.of(quantity)))).toBe(price);
  });
});

it('held or ordered instruments can be traded, or an invariant is broken', () => {
  expect(tradableOf('ACME', stock)).toBe(stock);
  expect(() => tradableOf('SPX', index)).toThrow('SPX cannot be traded');
  expect(() => tradableOf('NOPE', undefined)).toThrow(RangeError);
});

it('an index is quoted and never ordered', () => {
  expect([stock, call, future('ES', 50), index].map(isTradable)).toEqual([true, true, true, false]);
});

it('an option can be worth nothing, and nothing less than that', () => {
  const [zero, less] = [Price.of('0'), Price.of('-0.01')];
  expect([stock, call, future('CL', 1000), index].map((one) => isPossiblePrice(one, zero))).toEqual([
    false,
    true,
    false,
    false,
  ]);
  expect(isPossiblePrice(call, less)).toBe(false);
});

it('each kind has its multiplier, its settlement and its fees', () => {
  expect([stock, call, future('6J', 12_500_000)].map(multiplierOf)).toEqual([1, 100, 12_500_000]);
  expect([stock, call, future('ES', 50)].map(settlementOf)).toEqual(['EQUITY_CYCLE', 'NEXT_DAY', 'NONE']);
  const spy = option('SPY260116C00600000');
  const spx = option('SPXW260116C06000000');
  const narrow = option('SPXW260116C06000000', { underlyingClass: 'NARROW_INDEX' });
  expect([stock, call, spy, spx, narrow, future('ES', 50)].map(feeClassOf)).toEqual([
    'SHARES',
    'SHARE_OPTIONS',
    'SHARE_OPTIONS',
    'BROAD_INDEX_OPTIONS',
    'NARROW_INDEX_OPTIONS',
    'FUTURES',
  ]);
});
