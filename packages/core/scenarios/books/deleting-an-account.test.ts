import { describe, expect, it } from 'vitest';
import type { Requester } from '../../src/command.js';
import { TestMarket } from '../../src/testing/market.js';

const first = '00000000-0000-4000-8000-000000000001';
const second = '00000000-0000-4000-8000-000000000002';
const basic = { tier: 'BASIC' as const };

const remove = (market: TestMarket, accountId = first, by: Requester = market.by) =>
  ({ type: 'DeleteAccount', by, accountId }) as const;
const close = (market: TestMarket, portfolioId: string) =>
  market.execute<'ClosePortfolio'>({ type: 'ClosePortfolio', by: market.by, portfolioId });

describe('deleting an account (D143)', () => {
  it('is refused until all of its portfolios are closed', () => {
    const market = new TestMarket();
    const portfolios = [
      market.openPortfolio({ accountId: first }),
      market.openPortfolio({ accountId: first }),
    ];
    for (const portfolioId of portfolios) {
      expect(market.refuse(remove(market))).toEqual({
        code: 'CONFLICT',
        message: 'Account still has open portfolios',
      });
      close(market, portfolioId);
    }
    expect(market.execute<'DeleteAccount'>(remove(market)).result).not.toHaveProperty('code');
  });

  it('leaves an account that is not there', () => {
    const market = new TestMarket();
    const portfolioId = market.openPortfolio({ accountId: first });
    close(market, portfolioId);
    market.execute<'DeleteAccount'>(remove(market));
    const missing = { code: 'NOT_FOUND', what: 'Account' };
    const { by } = market;
    expect(market.refuse(remove(market))).toEqual(missing);
    expect(market.refuse({ type: 'UpdateAccount', by, accountId: first, names: { name: 'n' } })).toEqual(
      missing,
    );
    expect(market.refuse({ type: 'SetAccountStatus', by, accountId: first, status: 'FROZEN' })).toEqual(
      missing,
    );
    expect(market.brokerage.state.accounts.size).toBe(0);
    market.restart();
    expect(market.refuse(remove(market))).toEqual(missing);
  });

  it('makes room for another one (D8)', () => {
    const market = new TestMarket();
    const open = (accountId: string) =>
      ({ type: 'OpenAccount', by: basic, accountId, details: {}, proAccounts: 10 }) as const;
    market.execute<'OpenAccount'>(open(first));
    expect(market.refuse(open(second))).toMatchObject({ code: 'FEATURE_NOT_AVAILABLE' });
    market.execute<'DeleteAccount'>(remove(market));
    expect(market.execute<'OpenAccount'>(open(second)).result).toMatchObject({ accountId: second });
    expect(market.refuse(open(first))).toMatchObject({ code: 'FEATURE_NOT_AVAILABLE' });
  });

  it('is not possible for an unknown account', () => {
    const market = new TestMarket();
    expect(market.refuse(remove(market))).toEqual({ code: 'NOT_FOUND', what: 'Account' });
  });
});
