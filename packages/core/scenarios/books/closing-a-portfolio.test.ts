import { describe, expect, it } from 'vitest';
import type { CloseObstacle } from '../../src/rejection.js';
import { Auditor } from '../../src/testing/auditor.js';
import { testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const CALL = 'AAPL260220C00100000';

function opened(options: Parameters<TestMarket['openPortfolio']>[0] = {}): {
  market: TestMarket;
  portfolio: string;
} {
  const market = new TestMarket();
  const portfolio = market.openPortfolio(options);
  market.quote('AAPL', '100', '100', { last: '100' });
  return { market, portfolio };
}

const command = (market: TestMarket, portfolioId: string) =>
  ({ type: 'ClosePortfolio', by: market.by, portfolioId }) as const;

/** The obstacles to a close; a refusal changes nothing. */
function obstacles(market: TestMarket, portfolio: string): readonly CloseObstacle[] {
  const rejection = market.refuse(command(market, portfolio));
  if (rejection.code !== 'PORTFOLIO_NOT_EMPTY') throw new Error(`refused for ${rejection.code}`);
  return rejection.reasons;
}

function close(market: TestMarket, portfolio: string): void {
  expect(market.execute<'ClosePortfolio'>(command(market, portfolio)).result).not.toHaveProperty('code');
  expect(market.brokerage.state.portfolios.has(portfolio)).toBe(false);
  const auditor = new Auditor();
  for (const { events, quotes } of market.journal) auditor.note(events, quotes);
  expect(auditor.differences(market.brokerage.state)).toEqual([]);
}

function transfer(market: TestMarket, portfolioId: string, amount: Money): void {
  const { result } = market.execute<'TransferCash'>({
    type: 'TransferCash',
    by: market.by,
    portfolioId,
    amount,
  });
  expect(result).not.toHaveProperty('code');
}

const cents = (amount: number): Money => Money.ofUnits(amount * 100);

/** `type: cash` of the ledger entries after the first `count`. */
const entriesSince = (market: TestMarket, count: number): string[] =>
  market
    .entries()
    .slice(count)
    .map(
      ({ type, postings }) =>
        `${type}: ${(postings.find(({ account }) => account === 'SETTLED_CASH')?.amount ?? 0) / 10_000}`,
    );

describe('closePortfolio: is refused (D212)', () => {
  it('while there are positions and open orders, with how many', () => {
    const { market, portfolio } = opened();
    market.place(portfolio, { quantity: 1 });
    market.quote(CALL, '4.9', '5', { last: '5' });
    market.place(portfolio, { symbol: CALL, quantity: 1 });
    market.place(portfolio, { quantity: 2, limit: '90' });
    expect(obstacles(market, portfolio)).toEqual([
      { code: 'POSITIONS', count: 2 },
      { code: 'OPEN_ORDERS', count: 1 },
      { code: 'UNDELIVERED', count: 1, settlesOn: '2026-01-06' },
    ]);
  });

  it('while proceeds have not settled and shares are not delivered; on the settlement date it closes', () => {
    const { market, portfolio } = opened();
    market.place(portfolio, { quantity: 1 });
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '110', '110', { last: '110' });
    market.place(portfolio, { quantity: 1, intent: 'SELL_TO_CLOSE' });
    expect(obstacles(market, portfolio)).toEqual([
      { code: 'UNSETTLED_CASH', amount: Money.ofDollars(110), settlesOn: '2026-01-07' },
      { code: 'UNDELIVERED', count: 1, settlesOn: '2026-01-07' },
    ]);
    market.restart();
    expect(obstacles(market, portfolio)).toHaveLength(2);
    market.advanceTo('2026-01-07', 9);
    const before = market.entries().length;
    close(market, portfolio);
    expect(entriesSince(market, before)).toEqual(['WITHDRAWAL: -100010']);
  });

  it('while proceeds of a round trip on one day are pending, without a pending delivery', () => {
    const { market, portfolio } = opened();
    market.place(portfolio, { quantity: 1 });
    market.place(portfolio, { quantity: 1, intent: 'SELL_TO_CLOSE' });
    expect(obstacles(market, portfolio)).toEqual([
      { code: 'UNSETTLED_CASH', amount: Money.ofDollars(100), settlesOn: '2026-01-06' },
    ]);
  });

  it('while a dividend of shares that are sold has not been paid', () => {
    const { market, portfolio } = opened();
    market.place(portfolio, { quantity: 100 });
    market.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [
        {
          type: 'CASH_DIVIDEND',
          symbol: 'AAPL',
          exDate: TradingDate.of('2026-01-06'),
          payDate: TradingDate.of('2026-01-20'),
          amountPerShare: Price.of('0.25'),
        },
      ],
    });
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '100', '100', { last: '100' });
    market.place(portfolio, { quantity: 100, intent: 'SELL_TO_CLOSE' });
    market.advanceTo('2026-01-08', 10);
    expect(obstacles(market, portfolio)).toEqual([
      { code: 'UNSETTLED_CASH', amount: Money.ofDollars(25), settlesOn: '2026-01-20' },
    ]);
    market.advanceTo('2026-01-20', 10);
    close(market, portfolio);
  });

  it('while it owes, and nothing calls a margin call met', () => {
    const { market, portfolio } = opened({ type: 'MARGIN', cash: 10_000 });
    market.place(portfolio, { quantity: 199, limit: '100' });
    market.quote('AAPL', '40', '40', { last: '40' });
    market.advanceMs(2000);
    market.place(portfolio, { quantity: 199, intent: 'SELL_TO_CLOSE' });
    market.advanceTo('2026-01-07', 10);
    // 19,900 spent of 10,000, 7,960 brought.
    expect(obstacles(market, portfolio)).toMatchObject([
      { code: 'LOAN', amount: Money.ofDollars(1940) },
      { code: 'MARGIN_CALL', count: 2 },
      // A day of it at 6 %.
      { code: 'ACCRUALS', amount: cents(32), availableCash: 0 },
    ]);
    expect(market.events('CallClosed')).toEqual([]);
    transfer(market, portfolio, cents(194_032));
    market.advanceTo('2026-01-07', 17);
    const before = market.entries().length;
    close(market, portfolio);
    expect(entriesSince(market, before)).toEqual(['INTEREST: -0.32']);
  });

  it('while a call on trades of a day is open, even without a deficit', () => {
    const patient = testBroker('default', { liquidation: 'NEVER', marginInterestTiers: [] });
    const rules = { ...testRules(), brokers: new Map([['default', patient]]) };
    const market = new TestMarket({ date: '2026-06-08', rules });
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    market.quote('AAPL', '100', '100');
    market.place(portfolio, { quantity: 1500 });
    market.place(portfolio, { quantity: 400, limit: '60' });
    market.quote('AAPL', '45', '45');
    market.advanceTo('2026-06-09', 10);
    // 1,900 shares for 174,000: sold at 38.90 they leave a debt of 90.
    market.quote('AAPL', '38.9', '38.9');
    market.place(portfolio, { quantity: 1900, intent: 'SELL_TO_CLOSE' });
    market.advanceTo('2026-06-10', 10);
    expect(obstacles(market, portfolio)).toMatchObject([
      { code: 'LOAN', amount: Money.ofDollars(90) },
      { code: 'MARGIN_CALL' },
    ]);
    transfer(market, portfolio, Money.ofDollars(90));
    const calls = market.portfolio(portfolio).margin.calls.map(({ type }) => type);
    expect(calls).toContain('INTRADAY');
    expect(obstacles(market, portfolio)).toMatchObject([{ code: 'MARGIN_CALL', count: calls.length }]);
    market.advanceTo('2026-06-10', 16, 1);
    close(market, portfolio);
  });
});

describe('closePortfolio: accruals (D212)', () => {
  /** 100,500 of shares held for a day with 100,000: a loan of 500 at 6 %, 8.33 cents a day. */
  function owingInterest(days: number): { market: TestMarket; portfolio: string } {
    const { market, portfolio } = opened({ type: 'MARGIN', cash: 100_000 });
    market.place(portfolio, { quantity: 1005 });
    market.advanceTo(`2026-01-0${5 + days}`, 10);
    market.quote('AAPL', '100', '100', { last: '100' });
    market.place(portfolio, { quantity: 1005, intent: 'SELL_TO_CLOSE' });
    market.advanceTo(`2026-01-0${6 + days}`, 10);
    return { market, portfolio };
  }

  it('accruals that the cash covers are posted first, and the remainder is paid out', () => {
    const { market, portfolio } = owingInterest(1);
    const before = market.entries().length;
    close(market, portfolio);
    expect(entriesSince(market, before)).toEqual(['INTEREST: -0.08', 'WITHDRAWAL: -99999.92']);
    expect(market.events('PortfolioClosed')).toMatchObject([
      { value: { settledCash: 0, pendingCash: 0, marginLoan: 0, totalEquity: 0 } },
    ]);
  });

  it('accruals beyond the cash are a reason, with both amounts', () => {
    const { market, portfolio } = owingInterest(1);
    transfer(market, portfolio, Money.negate(Money.ofUnits(999_999_300)));
    expect(obstacles(market, portfolio)).toEqual([
      { code: 'ACCRUALS', amount: cents(8), availableCash: cents(7) },
    ]);
    transfer(market, portfolio, cents(1));
    const before = market.entries().length;
    close(market, portfolio);
    expect(entriesSince(market, before)).toEqual(['INTEREST: -0.08']);
  });

  it('below a cent are dropped, be there cash or none', () => {
    const { market, portfolio } = opened({ type: 'MARGIN', cash: 100_000 });
    // A loan of 50: 0.83 cents per day, which would round to a cent.
    market.place(portfolio, { quantity: '1000.5' });
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '100', '100', { last: '100' });
    market.place(portfolio, { quantity: '1000.5', intent: 'SELL_TO_CLOSE' });
    market.advanceTo('2026-01-07', 10);
    expect(market.portfolio(portfolio).margin.interest).toBe(833_333);
    transfer(market, portfolio, Money.negate(Money.ofDollars(100_000)));
    const before = market.entries().length;
    close(market, portfolio);
    expect(entriesSince(market, before)).toEqual([]);
  });

  it('of stock that was borrowed go with the interest', () => {
    const { market, portfolio } = opened({ type: 'MARGIN', cash: 100_000 });
    market.place(portfolio, { quantity: 100, intent: 'SELL_TO_OPEN' });
    market.advanceTo('2026-01-07', 10);
    market.quote('AAPL', '100', '100', { last: '100' });
    market.place(portfolio, { quantity: 100, intent: 'BUY_TO_CLOSE' });
    expect(obstacles(market, portfolio)).toMatchObject([{ code: 'UNDELIVERED', settlesOn: '2026-01-08' }]);
    market.advanceTo('2026-01-08', 10);
    const { borrowFees } = market.portfolio(portfolio).margin;
    expect(borrowFees).toBeGreaterThan(1e6);
    const before = market.entries().length;
    close(market, portfolio);
    const fee = Math.round(borrowFees / 1e6) / 100;
    expect(entriesSince(market, before)).toEqual([`BORROW_FEE: ${-fee}`, `WITHDRAWAL: ${-(100_000 - fee)}`]);
  });
});
