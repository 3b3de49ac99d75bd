import { expect, it } from 'vitest';
import { dollars } from '../../testing/market.js';
import { plainEquity } from '../../instruments/equity.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { sweptStock } from './sweep.js';

it('portfolio margin asks for 15 %, either way, at purchase as after it', () => {
  for (const [quantity, counted] of [
    [100, 2000],
    [-100, -2000],
  ] as const) {
    const amounts = sweptStock(plainEquity('ACME'), Quantity.of(quantity), Price.of('20.00'));
    expect(dollars(amounts.house)).toBe(300);
    expect(amounts).toMatchObject({ fed: 0, initial: amounts.house });
    expect(dollars(amounts.counted)).toBe(counted);
  }
});
