import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/command.js';
import { TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

const accountId = '00000000-0000-4000-8000-000000000001';

function frozen(): { market: TestMarket; portfolioId: string } {
  const market = new TestMarket();
  const portfolioId = market.openPortfolio({ accountId, type: 'MARGIN' });
  setStatus(market, 'FROZEN');
  return { market, portfolioId };
}

const setStatus = (market: TestMarket, status: 'ACTIVE' | 'FROZEN') =>
  market.execute<'SetAccountStatus'>({ type: 'SetAccountStatus', by: market.by, accountId, status });

/** Commands that change a portfolio or its account, with the text of their refusal. */
const changes: readonly (readonly [string, string, (market: TestMarket, portfolioId: string) => Command])[] =
  [
    [
      'a transfer in',
      'cash cannot be transferred',
      ({ by }, portfolioId) => ({ type: 'TransferCash', by, portfolioId, amount: Money.ofDollars(1) }),
    ],
    [
      'a transfer out',
      'cash cannot be transferred',
      ({ by }, portfolioId) => ({ type: 'TransferCash', by, portfolioId, amount: Money.ofDollars(-1) }),
    ],
    [
      'a reset',
      'portfolios cannot be reset',
      ({ by }, portfolioId) => ({ type: 'ResetPortfolio', by, portfolioId }),
    ],
    [
      'a broker switch',
      'the broker cannot be switched',
      ({ by }, portfolioId) => ({ type: 'SwitchBroker', by, portfolioId, brokerId: 'default' }),
    ],
    [
      'an upgrade',
      'the margin type cannot be changed',
      ({ by }, portfolioId) => ({
        type: 'UpgradeMargin',
        by,
        portfolioId,
        marginType: 'PORTFOLIO',
        addPromotionalCash: true,
      }),
    ],
    [
      'closing a portfolio',
      'portfolios cannot be closed',
      ({ by }, portfolioId) => ({ type: 'ClosePortfolio', by, portfolioId }),
    ],
    ['deleting the account', 'it cannot be deleted', ({ by }) => ({ type: 'DeleteAccount', by, accountId })],
  ];

describe('a frozen account (D9, D141)', () => {
  it.each(changes)('refuses %s', (_what, reason, commandOf) => {
    const { market, portfolioId } = frozen();
    expect(market.refuse(commandOf(market, portfolioId))).toEqual({
      code: 'ACCOUNT_FROZEN',
      message: `The account is frozen: ${reason}`,
      accountId,
    });
  });

  it.each(changes.slice(0, -1))('accepts %s again after it is unfrozen', (_what, _reason, commandOf) => {
    const { market, portfolioId } = frozen();
    setStatus(market, 'ACTIVE');
    expect(market.execute(commandOf(market, portfolioId)).result).not.toHaveProperty('code');
  });

  it('continues to fill and settle earlier orders', () => {
    const market = new TestMarket();
    const portfolioId = market.openPortfolio({ accountId });
    market.quote('AAPL', '100.00', '100.00');
    const order = market.place(portfolioId, { limit: '90.00', quantity: 1 });
    setStatus(market, 'FROZEN');
    market.quote('AAPL', '89.00', '90.00');
    expect(market.order(order).status).toBe('FILLED');
    market.advanceTo('2026-01-06', 10);
    expect(market.portfolio(portfolioId).positions.get('AAPL')).toMatchObject({
      settled: 1_000_000,
      pending: 0,
    });
  });
});
