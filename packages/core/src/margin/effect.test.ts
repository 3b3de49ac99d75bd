import { describe, expect, it } from 'vitest';
import type { MarginExcess } from '../orders/margin-excess.js';
import { alwaysOpen } from '../calendar/always-open.js';
import { NO_MARKET } from '../testing/margin-legs.js';
import { dollars, testBroker, testEquity } from '../testing/market.js';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { MarginTerms } from './book.js';
import { effectOf, fitsExcess, marginRequiredBy } from './effect.js';

const regT: MarginTerms = {
  marginType: 'REG_T',
  engine: undefined,
  house: testBroker('b'),
  asOf: Instant.ofMs(0),
  calendar: alwaysOpen,
};

const instrument = testEquity('KO');

/** [initial, maintenance] in dollars of a trade in KO, with a position in it. */
function effect(
  shares: number,
  price: string,
  { held = 0, charges = 0, terms = regT }: { held?: number; charges?: number; terms?: MarginTerms } = {},
): number[] {
  const quantity = Quantity.of(shares);
  const cash = Money.ofUnits(0 - Money.of(Price.of(price), quantity) - charges * 10_000);
  const trade = { instrument, quantity, price: Price.of(price), cash };
  const chain = held === 0 ? [] : [{ instrument, quantity: Quantity.of(held), mark: Price.of(price) }];
  const { initial, maintenance } = effectOf(terms, NO_MARKET, chain, trade);
  return [dollars(initial), dollars(maintenance)];
}

describe('margin impact of an order (D107, D108)', () => {
  it.each<[name: string, shares: number, price: string, initial: number, maintenance: number]>([
    ['a purchase: half, and a quarter', 100, '20.00', -1000, -500],
    ['a short sale: half, and 30 %', -100, '20.00', -1000, -600],
    ['a short sale below 16.67: 5.00 a share to hold', -100, '8.00', -400, -500],
    ['a short sale below 5.00: all of it at once', -100, '4.00', -400, -400],
    ['10,000 sold short at 2.00: 2.50 a share', -10_000, '2.00', -25_000, -25_000],
  ])('%s', (_name, shares, price, initial, maintenance) => {
    expect(effect(shares, price)).toEqual([initial, maintenance]);
  });

  it('charges count in full', () => {
    expect(effect(100, '20.00', { charges: 7 })).toEqual([-1007, -507]);
    expect(effect(-100, '20.00', { charges: 7 })).toEqual([-1007, -607]);
  });

  it('closing releases the requirement of opening at its price, regardless of other positions', () => {
    expect(effect(-100, '20.00', { held: 300 })).toEqual([1000, 500]);
    expect(effect(100, '20.00', { held: 300 })).toEqual([-1000, -500]);
  });

  it('under portfolio margin requires 15 % maintenance, and by Reg T only its charges', () => {
    expect(effect(100, '20.00', { charges: 7, terms: { ...regT, marginType: 'PORTFOLIO' } })).toEqual([
      -7, -307,
    ]);
  });
});

describe('the gate (D108)', () => {
  const room = (initial: number, maintenance: number): MarginExcess => ({
    initial: Money.ofDollars(initial),
    maintenance: Money.ofDollars(maintenance),
  });

  it.each<[effect: MarginExcess, left: MarginExcess, expected: boolean]>([
    [room(-100, -50), room(100, 50), true],
    [room(-100, -50), room(99, 1000), false],
    [room(-100, -50), room(1000, 49), false],
    // Changes that worsen neither measure pass in any state.
    [room(0, 0), room(-500, -500), true],
    [room(10, 0), room(-500, -500), true],
    // A change that improves one measure and worsens the other must fit both.
    [room(10, -5), room(-10, 5), true],
    [room(10, -5), room(-11, 5), false],
  ])('%j with %j left: %s', (change, left, expected) => {
    expect(fitsExcess(change, left)).toBe(expected);
  });

  it('the requirement of an open order is never negative', () => {
    expect(marginRequiredBy(room(-100, 50))).toEqual(room(100, 0));
  });
});
