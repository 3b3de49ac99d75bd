import { describe, expect, it } from 'vitest';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

function regT(cash: number, price = '100.00') {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash });
  market.quote('AAPL', price, price);
  return { market, portfolio };
}

describe('overnight buying power', () => {
  it('of a new REG_T portfolio is twice its cash', () => {
    const { market, portfolio } = regT(100_000);
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(200_000);
  });

  it('refuses what goes beyond it, with both figures', () => {
    const { market, portfolio } = regT(100_000);
    expect(market.submit(portfolio, { quantity: 2001, limit: '100.00' })).toEqual({
      code: 'INSUFFICIENT_BUYING_POWER',
      availableBuyingPower: Money.ofDollars(200_000),
      requiredBuyingPower: Money.ofDollars(200_100),
    });
    market.place(portfolio, { quantity: 2000, limit: '100.00' });
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(0);
  });

  it('is twice the excess over the Reg T requirement', () => {
    const { market, portfolio } = regT(100_000);
    market.place(portfolio, { quantity: 1000, limit: '100.00' });
    // min(2 × (100,000 − 50,000), (100,000 − 25,000) / 25 %)
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(100_000);
  });

  it('is bound by the maintenance excess where the house asks for more than half', () => {
    const broker = testBroker('default', { houseMaintenanceLongBps: 8000 });
    const market = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 1000, limit: '100.00' });
    // min(2 × 50,000, (100,000 − 80,000) / 80 %)
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(25_000);
  });

  it('of a CASH portfolio is its free settled cash, for day trades too (D52)', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ cash: 1000 });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 3, limit: '90.00' });
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(730);
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(730);
  });
});

describe('below 2,000 of equity', () => {
  it('only what is paid for may be bought', () => {
    const { market, portfolio } = regT(1500);
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(1500);
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(1500);
    expect(market.submit(portfolio, { quantity: 16, limit: '100.00' })).toMatchObject({
      code: 'INSUFFICIENT_BUYING_POWER',
    });
    market.place(portfolio, { quantity: 15, limit: '100.00' });
  });

  it('the proceeds of short sales are not paid-for cash', () => {
    const { market, portfolio } = regT(2500);
    market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: 10 });
    market.quote('AAPL', '160.00', '160.00');
    // 2,500 + 1,000 − 1,600 = 1,900 of equity, all of it cash that is not owed.
    expect(dollars(market.value(portfolio).totalEquity)).toBe(1900);
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(1900);
  });
});

describe('day-trade buying power', () => {
  it('of a new portfolio is four times its cash (D54)', () => {
    const { market, portfolio } = regT(100_000);
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(400_000);
  });

  it('is four times the maintenance excess at the previous close, and stays through the day', () => {
    const { market, portfolio } = regT(100_000);
    market.place(portfolio, { quantity: 1000, limit: '100.00' });
    market.quote('AAPL', '110.00', '110.00');
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(400_000);
    market.advanceTo('2026-01-05', 16);
    // Equity 110,000 less 25 % of 110,000, times four.
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(330_000);
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '50.00', '50.00');
    market.execute<'TransferCash'>({
      type: 'TransferCash',
      by: market.by,
      portfolioId: portfolio,
      amount: Money.ofDollars(50_000),
    });
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(330_000);
  });

  it('is nothing after a close with a maintenance deficit', () => {
    const { market, portfolio } = regT(10_000);
    market.place(portfolio, { quantity: 200, limit: '100.00' });
    market.quote('AAPL', '60.00', '60.00');
    market.advanceTo('2026-01-05', 16);
    expect(market.value(portfolio).dayTradeBuyingPower).toBe(0);
  });
});
