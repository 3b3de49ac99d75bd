import { describe, expect, it } from 'vitest';
import { dollars, testBroker, testEquity } from '../../testing/market.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { regTStock } from './stock.js';

const plain = testEquity('AAPL');

describe('Reg T and maintenance', () => {
  it.each<[name: string, quantity: number, price: string, fed: number, house: number]>([
    ['long: 50 % and 25 %', 100, '20.00', 1000, 500],
    ['long below five dollars: the same', 100, '2.00', 100, 50],
    ['short: 50 % beside the proceeds, and 30 %', -100, '20.00', 1000, 600],
    ['short, 5.00 a share is more than 30 %', -100, '16.66', 833, 500],
    ['short, 30 % is more than 5.00 a share', -100, '16.67', 833.5, 500.1],
    ['short at five dollars', -100, '5.00', 250, 500],
    ['short below five dollars: all of it, at the sale too', -100, '4.99', 499, 499],
    ['short below 2.50: 2.50 a share', -100, '2.00', 250, 250],
  ])('%s', (_name, quantity, price, fed, house) => {
    const requirement = regTStock(plain, Quantity.of(quantity), Price.of(price), testBroker('b'));
    expect(dollars(requirement.fed)).toBe(fed);
    expect(dollars(requirement.house)).toBe(house);
  });

  it.each<[factor: number, quantity: number, house: number]>([
    [2, 100, 1000],
    [3, 100, 1500],
    [-3, 100, 1500],
    [5, 100, 2000],
    [2, -100, 1200],
    [3, -100, 1800],
    [4, -100, 2000],
  ])(
    'a fund with factor %s, %s shares at 20.00: its multiple of the rate, at most all of it',
    (factor, quantity, house) => {
      const fund = testEquity('FUND', { leverageFactor: factor });
      const requirement = regTStock(fund, Quantity.of(quantity), Price.of('20.00'), testBroker('b'));
      expect(dollars(requirement.house)).toBe(house);
    },
  );

  it('the house may ask for more, never for less', () => {
    const strict = testBroker('b', { houseMaintenanceLongBps: 4000, houseMaintenanceShortBps: 4500 });
    const lax = testBroker('b', { houseMaintenanceLongBps: 1000, houseMaintenanceShortBps: 1000 });
    const house = (quantity: number, broker: typeof strict): number =>
      dollars(regTStock(plain, Quantity.of(quantity), Price.of('20.00'), broker).house);
    expect([house(100, strict), house(-100, strict)]).toEqual([800, 900]);
    expect([house(100, lax), house(-100, lax)]).toEqual([500, 600]);
  });
});

it('stock requires the greater of the two initially, and counts in margin equity with its sign (D99)', () => {
  const low = regTStock(plain, Quantity.of(-100), Price.of('8.00'), testBroker('b'));
  // 50 % of 800 at the sale; 5.00 a share after it.
  expect([low.fed, low.house, low.initial, low.counted].map(dollars)).toEqual([400, 500, 500, -800]);
  const long = regTStock(plain, Quantity.of(100), Price.of('8.00'), testBroker('b'));
  expect([long.fed, long.house, long.initial, long.counted].map(dollars)).toEqual([400, 200, 400, 800]);
});
