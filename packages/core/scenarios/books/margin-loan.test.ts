import { describe, expect, it } from 'vitest';
import { dollars, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

function borrowed() {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
  market.quote('AAPL', '100.00', '100.00');
  market.place(portfolio, { quantity: 150, limit: '100.00' });
  return { market, portfolio };
}

it('a purchase beyond the cash is lent: the loan is the debit, and equity stays', () => {
  const { market, portfolio } = borrowed();
  const value = market.value(portfolio);
  expect(dollars(value.marginLoan)).toBe(5000);
  expect(value.settledCash).toBe(0);
  expect(dollars(value.longMarketValue)).toBe(15_000);
  expect(dollars(value.totalEquity)).toBe(10_000);
  expect(dollars(value.fedRequirement)).toBe(7500);
  expect(dollars(value.houseRequirement)).toBe(3750);
});

it('the margin call is issued when the equity falls below 25 % of the market value', () => {
  const { market, portfolio } = borrowed();
  // 5,000 / (150 × 0.75) = 44.44…
  market.quote('AAPL', '44.45', '44.45');
  expect(market.value(portfolio).marginCallActive).toBe(false);
  // 6,667.50 − 5,000 = 1,667.50 against 1,666.875
  expect(dollars(market.value(portfolio).maintenanceExcess)).toBe(0.625);
  market.quote('AAPL', '44.44', '44.44');
  expect(market.value(portfolio).marginCallActive).toBe(true);
  // 6,666 − 5,000 = 1,666 against 1,666.50
  expect(dollars(market.value(portfolio).maintenanceExcess)).toBe(-0.5);
});

describe('the debit (D139)', () => {
  const shown = (market: TestMarket, portfolio: string) => {
    const { settledCash, pendingCash, marginLoan } = market.value(portfolio);
    return { settled: dollars(settledCash), pending: dollars(pendingCash), loan: dollars(marginLoan) };
  };

  it('is paid back by a sale at once: proceeds that have not settled count', () => {
    const { market, portfolio } = borrowed();
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 60 });
    // −5,000 settled and 6,000 pending.
    expect(shown(market, portfolio)).toEqual({ settled: 0, pending: 1000, loan: 0 });
    market.advanceTo('2026-01-06', 9);
    expect(shown(market, portfolio)).toEqual({ settled: 1000, pending: 0, loan: 0 });
  });

  it('is none if everything is bought and sold on one day', () => {
    const { market, portfolio } = borrowed();
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 150 });
    expect(shown(market, portfolio)).toEqual({ settled: 0, pending: 10_000, loan: 0 });
  });

  it('is not paid by the proceeds of short sales: they are collateral', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    market.quote('KO', '60.00', '60.00');
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 50 });
    expect(shown(market, portfolio)).toEqual({ settled: 10_000, pending: 3000, loan: 0 });
    market.place(portfolio, { quantity: 120 });
    // 10,000 + 3,000 − 12,000 = 1,000 is in the books; buying KO back would cost 3,000.
    expect(shown(market, portfolio)).toEqual({ settled: 0, pending: 3000, loan: 2000 });
    market.advanceTo('2026-01-06', 9);
    expect(shown(market, portfolio)).toEqual({ settled: 3000, pending: 0, loan: 2000 });
  });

  it('follows the cost to buy back the short positions', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    market.quote('KO', '60.00', '60.00');
    market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 100 });
    market.quote('KO', '160.00', '160.00');
    expect(shown(market, portfolio)).toEqual({ settled: 10_000, pending: 6000, loan: 0 });
    market.quote('KO', '165.00', '165.00');
    // 16,500 − 16,000; the loan is shown as cash, and equity is the same either way.
    expect(shown(market, portfolio)).toEqual({ settled: 10_500, pending: 6000, loan: 500 });
    expect(dollars(market.value(portfolio).totalEquity)).toBe(-500);
  });
});

it('a reserved purchase is not lent twice: the reservation counts in full against the buying power', () => {
  const { market, portfolio } = borrowed();
  // 2 × (10,000 − 7,500) = 5,000 remain, and the order for 40 reserves 4,000 of it.
  market.place(portfolio, { quantity: 40, limit: '99.99', tif: 'GTC' });
  expect(market.submit(portfolio, { quantity: 11, limit: '100.00' })).toEqual({
    code: 'INSUFFICIENT_FUNDS',
    availableCash: Money.zero,
    requiredAmount: Money.ofDollars(1100),
    // 5,000 − 40 × 99.99
    availableBuyingPower: Money.ofUnits(10_004_000),
    requiredBuyingPower: Money.ofDollars(1100),
  });
});
