import { describe, expect, it } from 'vitest';
import type { Requester } from '../../src/command.js';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const openAccount = (market: TestMarket, n: number, by: Requester) =>
  market.execute<'OpenAccount'>({ type: 'OpenAccount', by, accountId: uuid(n), details: {}, proAccounts: 3 })
    .result;

describe('accounts per tenant (D8)', () => {
  it.each([
    ['BASIC', 1, 'PRO'],
    ['PRO', 3, 'ENTERPRISE'],
  ] as const)('%s has %s', (tier, allowed, requiredTier) => {
    const market = new TestMarket();
    const by = { tier };
    for (let n = 1; n <= allowed; n++) expect(openAccount(market, n, by)).toMatchObject({ status: 'ACTIVE' });
    expect(openAccount(market, 99, by)).toMatchObject({
      code: 'FEATURE_NOT_AVAILABLE',
      currentTier: tier,
      requiredTier,
    });
  });

  it('ENTERPRISE has as many as it likes', () => {
    const market = new TestMarket();
    for (let n = 1; n <= 20; n++) {
      expect(openAccount(market, n, { tier: 'ENTERPRISE' })).toMatchObject({
        accountId: uuid(n),
      });
    }
  });

  it('counts accounts that were opened with a portfolio (D7)', () => {
    const market = new TestMarket();
    market.openPortfolio({ accountId: uuid(1) });
    const by = { tier: 'BASIC' as const };
    expect(openAccount(market, 2, by)).toMatchObject({ code: 'FEATURE_NOT_AVAILABLE' });
  });
});

describe('account and portfolio ids (D7)', () => {
  it('an account id is used once', () => {
    const market = new TestMarket();
    openAccount(market, 1, { tier: 'PRO' });
    expect(openAccount(market, 1, { tier: 'PRO' })).toMatchObject({ code: 'CONFLICT' });
  });

  it('a portfolio with an unknown id does not exist', () => {
    const market = new TestMarket();
    market.openPortfolio();
    const portfolioId = uuid(7);
    const by = { tier: 'PRO' as const };
    const missing = { code: 'NOT_FOUND', what: 'Portfolio' };
    expect(market.execute<'ResetPortfolio'>({ type: 'ResetPortfolio', by, portfolioId }).result).toEqual(
      missing,
    );
    expect(market.execute<'ClosePortfolio'>({ type: 'ClosePortfolio', by, portfolioId }).result).toEqual(
      missing,
    );
    expect(
      market.execute<'TransferCash'>({ type: 'TransferCash', by, portfolioId, amount: Money.ofDollars(1) })
        .result,
    ).toEqual(missing);
  });
});

describe('a frozen account (D9)', () => {
  it('a frozen account cancels orders; new orders, updates and portfolios are refused until it is unfrozen', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ accountId: uuid(1) });
    market.quote('AAPL', '100.00', '100.00');
    const order = market.place(portfolio, { limit: '90.00', tif: 'GTC' });
    const set = (status: 'ACTIVE' | 'FROZEN') =>
      market.execute<'SetAccountStatus'>({
        type: 'SetAccountStatus',
        by: market.by,
        accountId: uuid(1),
        status,
      });
    set('FROZEN');
    expect(market.submit(portfolio, {})).toMatchObject({ code: 'ACCOUNT_FROZEN' });
    expect(market.replace(order, { limit: '91.00' })).toMatchObject({ code: 'ACCOUNT_FROZEN' });
    expect(() => market.openPortfolio({ accountId: uuid(1) })).toThrow('ACCOUNT_FROZEN');
    expect(set('FROZEN').events).toEqual([]);
    expect(market.cancel(order)).toBeUndefined();
    set('ACTIVE');
    market.place(portfolio, {});
  });
});

describe('closing a portfolio (D11)', () => {
  const close = (market: TestMarket, portfolioId: string) =>
    market.execute<'ClosePortfolio'>({ type: 'ClosePortfolio', by: market.by, portfolioId }).result;

  it('is refused while it holds shares or has open orders', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio();
    market.quote('AAPL', '100.00', '100.00');
    const order = market.place(portfolio, { limit: '90.00' });
    expect(close(market, portfolio)).toMatchObject({ reasons: [{ code: 'OPEN_ORDERS', count: 1 }] });
    market.cancel(order);
    market.place(portfolio, { quantity: 1 });
    expect(close(market, portfolio)).toMatchObject({ reasons: [{ code: 'POSITIONS', count: 1 }, {}] });
  });

  it('is possible as soon as everything is sold and settled, and the cash is paid out', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio();
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 1 });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 1 });
    expect(close(market, portfolio)).toMatchObject({ code: 'PORTFOLIO_NOT_EMPTY' });
    market.advanceTo('2026-01-06', 9);
    expect(close(market, portfolio)).not.toHaveProperty('code');
    // Reads of the closed portfolio use these figures (D142).
    expect(market.events('PortfolioClosed')).toMatchObject([
      {
        settings: { portfolioType: 'CASH', brokerId: 'default' },
        value: {
          settledCash: 0,
          pendingCash: 0,
          totalEquity: 0,
        },
        at: market.now,
      },
    ]);
    market.advanceTo('2026-01-07', 10);
    expect(market.brokerage.state.portfolios.size).toBe(0);
    expect(close(market, portfolio)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the broker switch', () => {
  const brokers = new Map(
    [testBroker('default'), testBroker('other', { houseMaintenanceLongBps: 4000 })].map((b) => [b.id, b]),
  );
  const to = (market: TestMarket, portfolioId: string, brokerId: string) =>
    market.execute<'SwitchBroker'>({ type: 'SwitchBroker', by: market.by, portfolioId, brokerId }).result;

  it('changes requirements from then on', () => {
    const market = new TestMarket({ rules: { brokers } });
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 100 });
    expect(dollars(market.value(portfolio).houseRequirement)).toBe(2500);
    expect(to(market, portfolio, 'other')).toMatchObject({
      settings: { brokerId: 'other', marginType: 'REG_T' },
    });
    expect(dollars(market.value(portfolio).houseRequirement)).toBe(4000);
  });

  it('switchBroker: is refused with a short position at a broker without short selling, and accepted after closing it (D124)', () => {
    const noShorts = testBroker('no-shorts', { shortSelling: false });
    const market = new TestMarket({ rules: { brokers: new Map([...brokers, ['no-shorts', noShorts]]) } });
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: 5 });
    expect(to(market, portfolio, 'no-shorts')).toEqual({
      code: 'BROKER_RESTRICTION',
      message: 'no-shorts does not offer short selling',
    });
    expect(to(market, portfolio, 'other')).not.toHaveProperty('code');
    market.place(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 5 });
    expect(to(market, portfolio, 'no-shorts')).not.toHaveProperty('code');
  });

  it('is refused with open orders, and to a broker that is not there', () => {
    const market = new TestMarket({ rules: { brokers } });
    const portfolio = market.openPortfolio();
    expect(to(market, portfolio, 'nobody')).toEqual({
      code: 'BROKER_NOT_ALLOWED',
      allowed: ['default', 'other'],
    });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { limit: '90.00' });
    expect(to(market, portfolio, 'other')).toMatchObject({ code: 'CONFLICT' });
  });
});

const transfer = (market: TestMarket, portfolioId: string, amount: number) =>
  market.execute<'TransferCash'>({
    type: 'TransferCash',
    by: market.by,
    portfolioId,
    amount: Money.ofUnits(Math.round(amount * 10_000)),
  }).result;

describe('transfers (D63)', () => {
  it('post settled cash against capital, both ways', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ cash: 1000 });
    const posted = (amount: number) => [
      { account: 'SETTLED_CASH', amount },
      { account: 'CAPITAL', amount: -amount },
    ];
    expect(transfer(market, portfolio, 250.5)).toMatchObject({
      type: 'TRANSFER',
      postings: posted(2_505_000),
    });
    expect(transfer(market, portfolio, -1250.5)).toMatchObject({
      type: 'TRANSFER',
      postings: posted(-12_505_000),
    });
    expect(market.portfolio(portfolio).balances).toMatchObject({ SETTLED_CASH: 0, CAPITAL: 0 });
  });

  it('a transfer excludes reserved and unsettled cash', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ cash: 1000 });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 5, limit: '100.00' });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 2 });
    market.place(portfolio, { quantity: 1, limit: '90.00' });
    // 1,000 − 500 − 90; the 200 of the sale are pending.
    expect(transfer(market, portfolio, -410.01)).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: Money.ofDollars(410),
      requiredAmount: Money.ofUnits(4_100_100),
    });
    expect(transfer(market, portfolio, -410)).toHaveProperty('postings');
  });
});

describe('withdrawals from a MARGIN portfolio (D109)', () => {
  function margin(cash: number) {
    const market = new TestMarket();
    market.quote('AAPL', '100.00', '100.00');
    return { market, portfolio: market.openPortfolio({ type: 'MARGIN', cash }) };
  }

  function expectMost(market: TestMarket, portfolio: string, most: number): void {
    const beyond = transfer(market, portfolio, -most - 0.01);
    expect(beyond).toMatchObject({ code: 'INSUFFICIENT_FUNDS', availableCash: Money.ofDollars(most) });
    expect(transfer(market, portfolio, -most)).toHaveProperty('postings');
  }

  it('leave 2,000 of equity behind a short position', () => {
    const { market, portfolio } = margin(4000);
    market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: 10 });
    // The requirement alone would allow a withdrawal of 3,500.
    expectMost(market, portfolio, 2000);
  });

  it('may borrow against positions, down to the initial requirement', () => {
    const { market, portfolio } = margin(10_000);
    market.place(portfolio, { quantity: 100 });
    // Half of 10,000.
    expectMost(market, portfolio, 5000);
    expect(dollars(market.value(portfolio).marginLoan)).toBe(5000);
  });

  it('leave 2,000 of equity with a loan, and none without a debt', () => {
    const { market, portfolio } = margin(3000);
    market.place(portfolio, { quantity: 10 });
    // 2,500 is above the requirement; all 2,000 of cash may be withdrawn, but no loan is possible with 1,000 of equity.
    expectMost(market, portfolio, 2000);
    const poor = market.openPortfolio({ type: 'MARGIN', cash: 1500 });
    expectMost(market, poor, 1500);
  });

  it('leave the requirements of open orders untouched', () => {
    const { market, portfolio } = margin(10_000);
    market.place(portfolio, { quantity: 100, limit: '90.00' });
    // Half of 9,000 is used.
    expectMost(market, portfolio, 5500);
    market.quote('AAPL', '90.00', '90.00');
    expect(dollars(market.value(portfolio).smaBalance)).toBe(0);
  });
});
