import { describe, expect, it } from 'vitest';
import { Auditor } from '../../src/testing/auditor.js';
import { dollars, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

const CALL = 'AAPL260220C00100000';
/** A day of 50,000 at 6 %, in 10^-8 dollars. */
const A_DAY = Math.round((50_000 * 0.06 * 1e8) / 360);

function lent(cash = 100_000): { market: TestMarket; portfolio: string; interest: () => number } {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash });
  market.quote('AAPL', '100', '100', { last: '100' });
  return { market, portfolio, interest: () => market.portfolio(portfolio).margin.interest };
}

/** The auditor computes it independently. */
function audit(market: TestMarket): void {
  const auditor = new Auditor();
  for (const { events, quotes } of market.journal) auditor.note(events, quotes);
  expect(auditor.differences(market.brokerage.state)).toEqual([]);
}

describe('interest is on the debit by settlement date, of purchases and sales alike (D118, D139)', () => {
  it('buying and selling on one day is no loan', () => {
    const { market, portfolio, interest } = lent();
    market.place(portfolio, { quantity: 1500 });
    market.place(portfolio, { quantity: 1500, intent: 'SELL_TO_CLOSE' });
    market.advanceTo('2026-01-07', 16, 30);
    expect(interest()).toBe(0);
    audit(market);
  });

  it('a purchase sold on the next day accrues one day of interest', () => {
    const { market, portfolio, interest } = lent();
    market.place(portfolio, { quantity: 1500 });
    market.advanceTo('2026-01-05', 16, 30);
    expect(interest()).toBe(0);
    market.restart();
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '100', '100', { last: '100' });
    market.place(portfolio, { quantity: 1500, intent: 'SELL_TO_CLOSE' });
    market.advanceTo('2026-01-06', 16, 30);
    expect(interest()).toBe(A_DAY);
    market.advanceTo('2026-01-07', 16, 30);
    expect(interest()).toBe(A_DAY);
    audit(market);
  });

  it('contracts and exercises are paid for on the next settlement day', () => {
    const { market, portfolio, interest } = lent(13_000);
    market.place(portfolio, { quantity: 130 });
    market.quote(CALL, '9.9', '10', { last: '10' });
    market.advanceTo('2026-01-06', 10);
    expect(interest()).toBe(0);
    market.quote('AAPL', '100', '100', { last: '100' });
    market.quote(CALL, '9.9', '10', { last: '10' });
    market.place(portfolio, { symbol: CALL, quantity: 1 });
    market.advanceTo('2026-01-06', 16, 30);
    expect(interest()).toBe(0);
    market.advanceTo('2026-01-07', 10);
    market.execute<'ExerciseOption'>({
      type: 'ExerciseOption',
      by: market.by,
      portfolioId: portfolio,
      symbol: CALL,
    });
    market.advanceTo('2026-01-07', 16, 30);
    // 1,000 and half a dollar of commission.
    const premium = Math.round((1000.5 * 0.06 * 1e8) / 360);
    expect(interest()).toBe(premium);
    market.advanceTo('2026-01-08', 16, 30);
    expect(interest()).toBe(premium + Math.round((11_000.5 * 0.06 * 1e8) / 360));
    audit(market);
  });

  it('a short that is bought back is collateral until it is delivered', () => {
    const { market, portfolio, interest } = lent(10_000);
    market.place(portfolio, { symbol: 'AAPL', quantity: 50, intent: 'SELL_TO_OPEN' });
    market.advanceTo('2026-01-07', 10);
    market.quote('AAPL', '100', '100', { last: '100' });
    market.place(portfolio, { quantity: 50, intent: 'BUY_TO_CLOSE' });
    market.advanceTo('2026-01-08', 16, 30);
    expect(interest()).toBe(0);
    audit(market);
  });
});

it('accrual between two postings stops at ninety million dollars, the limit of exact amounts (D118)', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
  market.quote('AAPL', '100', '100', { last: '100' });
  market.place(portfolio, { quantity: 1000, intent: 'SELL_TO_OPEN' });
  market.advanceTo('2026-01-06', 10);
  market.quote('AAPL', '90000000', '90000000', { last: '90000000' });
  market.advanceTo('2026-01-31', 17);
  expect(market.portfolio(portfolio).margin.interest).toBe(Number.MAX_SAFE_INTEGER);
  audit(market);
  market.advanceTo('2026-02-04', 10);
  const posted = market.entries().filter(({ type }) => type === 'INTEREST');
  expect(posted.map(({ postings }) => dollars(postings[1]?.amount ?? Money.zero))).toEqual([90_071_992.55]);
  audit(market);
});
