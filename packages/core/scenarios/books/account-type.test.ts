import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/command.js';
import type { AccountDetails } from '../../src/event.js';
import type { AccountType } from '../../src/portfolios/account.js';
import { TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

const ACCOUNT = '00000000-0000-4000-8000-000000000001';

const withAccount = (details: AccountDetails): TestMarket => {
  const market = new TestMarket();
  const { by } = market;
  market.execute<'OpenAccount'>({ type: 'OpenAccount', by, accountId: ACCOUNT, details, proAccounts: 10 });
  return market;
};

const opening = (
  market: TestMarket,
  accountType: AccountType,
  portfolioType: 'CASH' | 'MARGIN' = 'CASH',
): Extract<Command, { type: 'OpenPortfolio' }> => ({
  type: 'OpenPortfolio',
  by: market.by,
  accountId: ACCOUNT,
  portfolioType,
  accountType,
  brokerId: 'default',
  fillModel: 'quote',
  initialCash: Money.ofDollars(100_000),
  proAccounts: 10,
});

describe('an account that was created as a retirement account (D140)', () => {
  it.each(['IRA', 'ROTH_IRA'] as const)('%s holds CASH portfolios of that type only', (type) => {
    const market = withAccount({ accountType: type });
    const messages = [`accountType must be ${type}, that of the account`];
    for (const other of ['INDIVIDUAL', 'IRA', 'ROTH_IRA'] as const) {
      if (other === type) continue;
      expect(market.refuse(opening(market, other))).toEqual({ code: 'INVALID', messages });
    }
    expect(market.refuse(opening(market, 'INDIVIDUAL', 'MARGIN'))).toEqual({
      code: 'INVALID',
      messages,
    });
    expect(market.refuse(opening(market, type, 'MARGIN'))).toEqual({
      code: 'INVALID',
      messages: ['IRA and ROTH_IRA accounts must use CASH portfolios'],
    });
    expect(market.execute<'OpenPortfolio'>(opening(market, type)).result).toMatchObject({
      terms: { accountType: type },
    });
  });

  it('stays one when it is renamed, and after a restart', () => {
    const market = withAccount({ accountType: 'IRA' });
    const { by } = market;
    market.execute<'UpdateAccount'>({ type: 'UpdateAccount', by, accountId: ACCOUNT, names: { name: 'n' } });
    market.restart();
    expect(market.refuse(opening(market, 'ROTH_IRA'))).toMatchObject({ code: 'INVALID' });
  });
});

describe('any other account', () => {
  const each = (market: TestMarket): void => {
    for (const type of ['INDIVIDUAL', 'IRA', 'ROTH_IRA'] as const) {
      expect(market.execute<'OpenPortfolio'>(opening(market, type)).result).toMatchObject({
        terms: { accountType: type },
      });
    }
  };

  it('created without a type: each portfolio has its own', () => each(withAccount({ name: 'no type' })));

  it('created as INDIVIDUAL: each portfolio has its own', () =>
    each(withAccount({ accountType: 'INDIVIDUAL' })));

  it('opened by its first portfolio: its type is shown, and binds no other portfolio', () => {
    const market = new TestMarket();
    market.execute<'OpenPortfolio'>(opening(market, 'ROTH_IRA'));
    each(market);
    expect([...market.brokerage.state.accounts.values()]).toMatchObject([{ accountType: 'ROTH_IRA' }]);
  });
});
