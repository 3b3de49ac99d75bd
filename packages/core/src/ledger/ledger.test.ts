import { expect, it } from 'vitest';
import { Money } from '../values/money.js';
import { balanced, emptyBalances, hasRoomFor, LEDGER_ACCOUNTS } from './ledger.js';

const MOST = Money.ofDollars(100e9);

it.each(LEDGER_ACCOUNTS)('books end at 100 billion dollars, in %s as in every other account', (account) => {
  for (const sign of [1, -1]) {
    const balances = { ...emptyBalances(), [account]: Money.ofUnits(sign * (MOST - 5)) };
    expect(hasRoomFor(balances, Money.ofUnits(5))).toBe(true);
    expect(hasRoomFor(balances, Money.ofUnits(6))).toBe(false);
  }
});

it('balanced: drops postings of zero, and refuses entries that do not balance or cannot be counted', () => {
  const cash = (amount: number) => ({ account: 'SETTLED_CASH', amount: Money.ofUnits(amount) }) as const;
  const capital = (amount: number) => ({ account: 'CAPITAL', amount: Money.ofUnits(amount) }) as const;
  expect(balanced([cash(5), capital(0), capital(-5)])).toEqual([cash(5), capital(-5)]);
  expect(() => balanced([cash(5), capital(5)])).toThrow('ledger entry does not balance');
  const beyond = { account: 'CAPITAL', amount: Number.MAX_SAFE_INTEGER + 1 } as unknown as ReturnType<
    typeof cash
  >;
  expect(() => balanced([beyond, cash(-1)])).toThrow('posting out of range: CAPITAL');
});
