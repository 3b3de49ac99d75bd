import { describe, expect, it } from 'vitest';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

function shortOf(quantity: number, price = '60.00', cash = 10_000) {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash });
  market.quote('KO', price, price);
  market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity });
  return { market, portfolio };
}

it('a short sale leaves equity alone: the proceeds are pending, the shares a positive short market value', () => {
  const { market, portfolio } = shortOf(100);
  const value = market.value(portfolio);
  expect(dollars(value.pendingCash)).toBe(6000);
  expect(dollars(value.shortMarketValue)).toBe(6000);
  expect(dollars(value.totalEquity)).toBe(10_000);
  // Reg T requires 50 % in addition to the proceeds, FINRA the greater of 30 % and 5.00 a share.
  expect(dollars(value.fedRequirement)).toBe(3000);
  expect(dollars(value.houseRequirement)).toBe(1800);
  expect(market.portfolio(portfolio).positions.get('KO')).toMatchObject({
    settled: 0,
    pending: -100_000_000,
  });
});

it('is delivered the next business day, when the proceeds become cash', () => {
  const { market, portfolio } = shortOf(100);
  market.advanceTo('2026-01-06', 9);
  expect(market.portfolio(portfolio).positions.get('KO')).toMatchObject({
    settled: -100_000_000,
    pending: 0,
  });
  expect(dollars(market.value(portfolio).settledCash)).toBe(16_000);
});

it('covering it pays at once and realizes the difference', () => {
  const { market, portfolio } = shortOf(100);
  market.quote('KO', '55.00', '55.00');
  market.place(portfolio, { symbol: 'KO', intent: 'BUY_TO_CLOSE', quantity: 100 });
  const value = market.value(portfolio);
  expect(dollars(value.settledCash)).toBe(4500);
  expect(dollars(value.pendingCash)).toBe(6000);
  expect(dollars(value.totalEquity)).toBe(10_500);
  expect(value.shortMarketValue).toBe(0);
});

it('a rising price costs the seller, and a margin call follows below the maintenance requirement', () => {
  const { market, portfolio } = shortOf(200, '60.00', 7000);
  // Credit 7,000 + 12,000; a call begins above 19,000 / (200 × 1.3) = 73.076….
  market.quote('KO', '73.07', '73.07');
  expect(market.value(portfolio).marginCallActive).toBe(false);
  market.quote('KO', '73.08', '73.08');
  expect(market.value(portfolio).marginCallActive).toBe(true);
  // 19,000 − 200 × 73.08 = 4,384, of which 30 % of 14,616 = 4,384.80 is required.
  expect(dollars(market.value(portfolio).maintenanceExcess)).toBe(-0.8);
});

describe('is refused', () => {
  it('a short sale in a CASH portfolio is refused', () => {
    const market = new TestMarket();
    market.quote('KO', '60.00', '60.00');
    const portfolio = market.openPortfolio();
    expect(market.submit(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN' })).toMatchObject({
      code: 'NOT_SHORTABLE',
    });
  });

  it('a short sale is refused if the stock cannot be borrowed', () => {
    const market = new TestMarket();
    market.quote('HTB', '60.00', '60.00');
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    expect(market.submit(portfolio, { symbol: 'HTB', intent: 'SELL_TO_OPEN' })).toMatchObject({
      code: 'NOT_SHORTABLE',
    });
  });

  it('a short sale is refused at a broker that does not lend', () => {
    const broker = testBroker('default', { shortSelling: false });
    const market = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
    market.quote('KO', '60.00', '60.00');
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    expect(market.submit(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN' })).toMatchObject({
      code: 'BROKER_RESTRICTION',
    });
  });

  it('against shares that are held, as a purchase to open is against a short position', () => {
    const { market, portfolio } = shortOf(100);
    expect(market.submit(portfolio, { symbol: 'KO' })).toMatchObject({ code: 'POSITION_CONFLICT' });
    market.quote('AAPL', '10.00', '10.00');
    market.place(portfolio, { quantity: 1 });
    expect(market.submit(portfolio, { intent: 'SELL_TO_OPEN' })).toMatchObject({ code: 'POSITION_CONFLICT' });
  });

  it('beyond the shares sold, when covering', () => {
    const { market, portfolio } = shortOf(100);
    expect(market.submit(portfolio, { symbol: 'KO', intent: 'BUY_TO_CLOSE', quantity: 101 })).toEqual({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: 100_000_000,
      requiredQuantity: 101_000_000,
    });
  });

  it('below the minimum equity of 2,000, however small it is', () => {
    const market = new TestMarket();
    market.quote('KO', '60.00', '60.00');
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 1999 });
    expect(market.submit(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 1 })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: Money.ofDollars(1999),
      requiredAmount: Money.ofDollars(60),
      // The figure that the portfolio shows: enough to buy, but short sales are not allowed.
      availableBuyingPower: Money.ofDollars(1999),
      requiredBuyingPower: Money.ofDollars(60),
    });
  });
});
