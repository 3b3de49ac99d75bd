import { expect, it } from 'vitest';
import { sourceContract } from '../source.contract.js';
import { MASSIVE } from '../testing/vendors.js';
import { quoteFrom, tradeFrom } from './messages.js';

sourceContract({
  ...MASSIVE,
  withoutPlan: {
    prepare: (source) => void (source.hasQuotes = false),
    says: /has no quotes/,
  },
});

it('Massive: sizes are lots until November 2025, and shares since; of options contracts', () => {
  const told = { ev: 'Q', bp: 1, ap: 2, bs: 3, as: 4 };
  const at = (t: number, sym: string) => quoteFrom({ ...told, sym, t })?.bidSize;
  expect(at(Date.UTC(2025, 9, 31), 'AAPL')).toBe(300);
  expect(at(Date.UTC(2025, 10, 4), 'AAPL')).toBe(3);
  expect(at(Date.UTC(2025, 9, 31), 'O:AAPL251219C00200000')).toBe(3);
});

it('Massive: condition codes select trades that move last, and auctions of the listing exchange', () => {
  const told = { ev: 'T', sym: 'AAPL', p: 10, s: 1, t: 1, z: 3 };
  expect(tradeFrom({ ...told, c: [37], x: 4 })).toMatchObject({ updatesLast: false });
  expect(tradeFrom({ ...told, c: [14, 41], x: 4 })).toMatchObject({ updatesLast: true });
  expect(tradeFrom({ ...told, c: [16], x: 12 })).toMatchObject({ updatesLast: false, official: 'OPEN' });
  expect(tradeFrom({ ...told, c: [16], x: 4 })).not.toHaveProperty('official');
});
