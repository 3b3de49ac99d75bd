import { expect, it } from 'vitest';
import { Money } from '../values/money.js';
import { emptyBalances, hasRoomFor, LEDGER_ACCOUNTS } from './ledger.js';

const MOST = Money.ofDollars(100e9);

it.each(LEDGER_ACCOUNTS)('books end at 100 billion dollars, in %s as in every other account', (account) => {
  for (const sign of [1, -1]) {
    const balances = { ...emptyBalances(), [account]: Money.ofUnits(sign * (MOST - 5)) };
    expect(hasRoomFor(balances, Money.ofUnits(5))).toBe(true);
    expect(hasRoomFor(balances, Money.ofUnits(6))).toBe(false);
  }
});
