import { describe, expect, it } from 'vitest';
import type { OrderLeg } from '../../src/orders/order.js';
import { dollars, requestOf, testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { Quantity } from '../../src/values/quantity.js';
import type { Valuation } from '../../src/portfolios/valuation.js';

const call = (strike: number): string => `AAPL260220C00${strike}000`;
const PUT_95 = 'AAPL260220P00095000';

function market(): TestMarket {
  const rules = testRules();
  const broker = testBroker('default', { spreadsInCashAccounts: true });
  const m = new TestMarket({ rules: { ...rules, brokers: new Map([['default', broker]]) } });
  m.quote('AAPL', '99.99', '100.01', { last: '100' });
  m.quote(call(105), '3.3', '3.5');
  m.quote(call(110), '1.9', '2.1');
  m.quote(PUT_95, '2.1', '2.3');
  return m;
}

function spread(sold: number, bought: number, intent: OrderLeg['positionIntent'], count: number): TestOrder {
  const leg = (strike: number, positionIntent: OrderLeg['positionIntent']): OrderLeg => ({
    optionSymbol: call(strike),
    positionIntent,
    quantity: Quantity.of(count),
  });
  return {
    symbol: 'AAPL',
    intent,
    quantity: count,
    more: {
      assetClass: 'OPTION',
      strategy: 'VERTICAL_SPREAD',
      legs: [leg(sold, 'SELL_TO_OPEN'), leg(bought, 'BUY_TO_OPEN')],
    },
  };
}

const cashOf = ({ settledCash, pendingCash, marginLoan }: Valuation): number =>
  dollars(settledCash) + dollars(pendingCash) - dollars(marginLoan);

/** Previews an order, places it, and returns the valuation after it. Its cash and buying power must equal the preview's. */
function asPreviewed(m: TestMarket, portfolio: string, order: TestOrder): Valuation {
  const estimate = m.brokerage.preview(m.by, requestOf(portfolio, order));
  if ('code' in estimate) throw new Error(estimate.code);
  m.place(portfolio, order);
  const value = m.value(portfolio);
  expect(dollars(estimate.after.overnightBuyingPower)).toBe(dollars(value.overnightBuyingPower));
  expect(cashOf(estimate.after)).toBeCloseTo(cashOf(value), 6);
  return value;
}

describe('a preview in CASH shows the cash after the fill (D122)', () => {
  it('without the collateral of a short put or a spread, and without unsettled cash', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 50_000 });
    const secured = asPreviewed(m, portfolio, { symbol: PUT_95, intent: 'SELL_TO_OPEN', quantity: 1 });
    expect(dollars(secured.overnightBuyingPower)).toBe(40_500);
    expect(cashOf(secured)).toBe(40_500 + 209.5);
    // A purchase for 230.50 releases 9,500.
    const closed = asPreviewed(m, portfolio, { symbol: PUT_95, intent: 'BUY_TO_CLOSE', quantity: 1 });
    expect(dollars(closed.overnightBuyingPower)).toBe(50_000 - 230.5);
    const other = m.openPortfolio({ cash: 50_000 });
    const credit = asPreviewed(m, other, spread(105, 110, 'SELL_TO_OPEN', 2));
    expect(dollars(credit.overnightBuyingPower)).toBe(49_000);
  });

  it('of shares as well', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 50_000 });
    asPreviewed(m, portfolio, { quantity: 10 });
    const sold = asPreviewed(m, portfolio, { quantity: 10, intent: 'SELL_TO_CLOSE' });
    expect(dollars(sold.overnightBuyingPower)).toBe(48_999.9);
  });
});

describe('day-trade buying power under LEGACY_PDT (D110)', () => {
  it('falls by the requirement of a spread opened today, not by those of its legs', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    m.place(portfolio, spread(110, 105, 'BUY_TO_OPEN', 5));
    // The long calls are paid in full: 5 × 350.
    expect(dollars(m.value(portfolio).dayTradeBuyingPower)).toBe(400_000 - 1750 * 4);
  });
});
