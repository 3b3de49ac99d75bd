import { describe, expect, it } from 'vitest';
import { reservedShares } from '../../../src/portfolios/portfolio.js';
import { dollars, TestMarket } from '../../../src/testing/market.js';
import { Money } from '../../../src/values/money.js';

function market(ask = '187.50', sizes: { askSize?: number } = {}) {
  const tested = new TestMarket();
  tested.quote('AAPL', ask === '187.50' ? '187.00' : '99.90', ask, sizes);
  return tested;
}

describe('a market order for an amount of money', () => {
  it("buys the amount's worth at the execution price, rounded down to a millionth of a share", () => {
    const tested = market();
    const portfolio = tested.openPortfolio();
    const order = tested.place(portfolio, { notional: '1000.00' });
    // 1000 / 187.50 = 5.333333…
    expect(tested.fills(order)).toEqual(['5.333333 @ 187.5']);
    expect(tested.order(order)).toMatchObject({ status: 'FILLED', quantity: 5_333_333 });
    expect(tested.order(order).filledValue).toBeLessThanOrEqual(Money.ofDollars(1000));
    expect(dollars(tested.portfolio(portfolio).balances.SETTLED_CASH)).toBe(99_000);
  });

  it('can spend all cash, without the collar of an order for shares', () => {
    const tested = market();
    const portfolio = tested.openPortfolio();
    expect(tested.submit(portfolio, { notional: '100000.01' })).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      requiredAmount: Money.parse('100000.01'),
    });
    const order = tested.place(portfolio, { notional: '100000.00' });
    expect(tested.order(order).status).toBe('FILLED');
    expect(tested.portfolio(portfolio).balances.SETTLED_CASH).toBe(0);
  });

  it("a notional order: is resized at each partial fill's price, and never exceeds its amount", () => {
    const tested = market('100.00', { askSize: 3 });
    const portfolio = tested.openPortfolio();
    const order = tested.place(portfolio, { notional: '1000.00' });
    expect(tested.fills(order)).toEqual(['3 @ 100']);
    expect(tested.order(order)).toMatchObject({ status: 'ACTIVE', quantity: 10_000_000 });
    // 700 remain: at 140.00 five shares.
    tested.quote('AAPL', '139.00', '140.00', { askSize: 4 });
    tested.quote('AAPL', '69.00', '70.00');
    // 140 remain: at 70.00 two shares.
    expect(tested.fills(order)).toEqual(['3 @ 100', '4 @ 140', '2 @ 70']);
    expect(tested.order(order)).toMatchObject({ status: 'FILLED', quantity: 9_000_000 });
    expect(tested.order(order).filledValue).toBe(Money.ofDollars(1000));
  });

  it('goes no deeper into a modeled book than the amount', () => {
    const tested = market('100.00', { askSize: 1 });
    const portfolio = tested.openPortfolio({ fillModel: 'depth' });
    const order = tested.place(portfolio, { notional: '50000.00' });
    const { status, filledValue } = tested.order(order);
    expect(status).toBe('FILLED');
    expect(filledValue).toBeLessThanOrEqual(Money.ofDollars(50_000));
    expect(filledValue).toBeGreaterThan(Money.ofDollars(49_999));
  });

  it('waits for the open with its amount reserved, and is sized at the opening price', () => {
    const tested = market();
    const portfolio = tested.openPortfolio();
    tested.advanceTo('2026-01-05', 18, 0);
    const order = tested.place(portfolio, { notional: '1000.00' });
    expect(tested.order(order)).toMatchObject({
      status: 'PENDING_MARKET_OPEN',
      reserved: Money.ofDollars(1000),
    });
    tested.advanceTo('2026-01-06', 9, 30);
    tested.quote('AAPL', '199.00', '200.00');
    expect(tested.fills(order)).toEqual(['5 @ 200']);
  });

  it('sells for an amount: reserves shares by the current price', () => {
    const tested = market('100.00');
    const portfolio = tested.openPortfolio();
    tested.place(portfolio, { quantity: 10 });
    tested.quote('AAPL', '80.00', '80.10', { bidSize: 1 });
    const order = tested.place(portfolio, { notional: '400.00', intent: 'SELL_TO_CLOSE' });
    expect(tested.fills(order)).toEqual(['1 @ 80']);
    expect(reservedShares(tested.portfolio(portfolio), 'AAPL')).toBe(4_000_000);
    tested.quote('AAPL', '64.00', '64.10');
    expect(tested.fills(order)).toEqual(['1 @ 80', '5 @ 64']);
    expect(tested.order(order).status).toBe('FILLED');
  });

  it('sells at most the position after a fall of the price', () => {
    const tested = market('100.00');
    const portfolio = tested.openPortfolio();
    tested.place(portfolio, { quantity: 10 });
    tested.quote('AAPL', '100.00', '100.10', { bidSize: 1 });
    const order = tested.place(portfolio, { notional: '1000.00', intent: 'SELL_TO_CLOSE' });
    tested.quote('AAPL', '50.00', '50.10');
    expect(tested.fills(order)).toEqual(['1 @ 100', '9 @ 50']);
    expect(tested.order(order).status).toBe('FILLED');
  });
});

describe('an order for an amount is refused', () => {
  it('is refused without a price', () => {
    const tested = market();
    const portfolio = tested.openPortfolio();
    expect(tested.submit(portfolio, { symbol: 'MSFT', notional: '10.00' })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
    });
  });

  it('if it sells more than the position', () => {
    const tested = market();
    const portfolio = tested.openPortfolio();
    tested.place(portfolio, { quantity: 1 });
    expect(tested.submit(portfolio, { notional: '200.00', intent: 'SELL_TO_CLOSE' })).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
    });
  });

  it('in its quantity, if an update requests one', () => {
    const tested = market();
    const portfolio = tested.openPortfolio();
    tested.advanceTo('2026-01-05', 18, 0);
    const order = tested.place(portfolio, { notional: '1000.00' });
    expect(tested.replace(order, { quantity: 3 })).toEqual({
      code: 'INVALID',
      messages: ['quantity cannot be updated on notional orders'],
    });
  });
});
