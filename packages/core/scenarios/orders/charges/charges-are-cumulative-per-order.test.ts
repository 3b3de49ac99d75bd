import { describe, expect, it } from 'vitest';
import { dollars, testBroker, TestMarket } from '../../../src/testing/market.js';
import type { BrokerConfiguration } from '../../../src/brokers/broker.js';
import { Money } from '../../../src/values/money.js';

function simulation(more: Partial<BrokerConfiguration>, options: { date?: string; cash?: number } = {}) {
  const brokers = new Map([['default', testBroker('default', more)]]);
  const market = new TestMarket({
    rules: { brokers },
    ...(options.date !== undefined && { date: options.date }),
  });
  const portfolio = market.openPortfolio({ cash: options.cash ?? 100_000 });
  const charged = (order: string) =>
    market.executions(order).map(({ commission, fees }) => ({
      commission: dollars(commission),
      ...Object.fromEntries(fees.map((fee) => [fee.name, dollars(fee.amount)])),
    }));
  return { market, portfolio, charged };
}

describe('commission', () => {
  const perShare = { equityCommission: { perOrder: Money.zero, perUnit: Money.ofUnits(50) } };

  it('half a cent a share: partial fills cost the same as one fill', () => {
    const { market, portfolio, charged } = simulation(perShare);
    market.quote('AAPL', '99.90', '100.00', { askSize: 1 });
    const order = market.place(portfolio, { quantity: 3 });
    market.quote('AAPL', '99.90', '100.00', { askSize: 1 });
    market.quote('AAPL', '99.90', '100.00', { askSize: 1 });
    // Due after one, two, three shares: 0.005, 0.010, 0.015, each half up to cents: 0.01, 0.01, 0.02.
    expect(charged(order)).toEqual([{ commission: 0.01 }, { commission: 0 }, { commission: 0.01 }]);
    expect(dollars(market.order(order).commission)).toBe(0.02);
    const whole = market.place(portfolio, { quantity: 3, symbol: 'MSFT' });
    market.quote('MSFT', '99.90', '100.00');
    expect(charged(whole)).toEqual([{ commission: 0.02 }]);
  });

  it('an amount per order, or a minimum, is charged with the first execution', () => {
    const { market, portfolio, charged } = simulation({
      equityCommission: { perOrder: Money.zero, perUnit: Money.ofUnits(50), minimum: Money.ofDollars(1) },
    });
    market.quote('AAPL', '9.90', '10.00', { askSize: 100 });
    const order = market.place(portfolio, { quantity: 400 });
    market.quote('AAPL', '9.90', '10.00', { askSize: 200 });
    market.quote('AAPL', '9.90', '10.00', { askSize: 100 });
    // 100 shares: 0.50, at least 1.00; 300: 1.50; 400: 2.00.
    expect(charged(order)).toEqual([{ commission: 1 }, { commission: 0.5 }, { commission: 0.5 }]);
  });

  it('goes to COMMISSIONS as an entry of its own, out of the cash', () => {
    const { market, portfolio } = simulation(perShare);
    market.quote('AAPL', '99.90', '100.00');
    market.place(portfolio, { quantity: 10 });
    const { balances } = market.portfolio(portfolio);
    expect([dollars(balances.COMMISSIONS), dollars(balances.SETTLED_CASH)]).toEqual([
      0.05,
      100_000 - 1000.05,
    ]);
  });
});

describe('regulatory fees', () => {
  const passing = { passesRegulatoryFees: true };

  it('are charged on sales, each up to the next cent of the order so far', () => {
    const { market, portfolio, charged } = simulation(passing, { date: '2026-04-06' });
    market.quote('AAPL', '99.90', '100.00');
    const buy = market.place(portfolio, { quantity: 100 });
    expect(charged(buy)).toEqual([{ commission: 0 }]);
    market.quote('AAPL', '100.00', '100.10', { bidSize: 40 });
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100 });
    market.quote('AAPL', '100.00', '100.10', { bidSize: 60 });
    // SEC: 4,000.00 × 20.60 / 1,000,000 = 0.0824: 0.09; 10,000.00: 0.206: 0.21. TAF: 40 × 0.000195 = 0.0078: 0.01; 100: 0.0195: 0.02.
    expect(charged(sale)).toEqual([
      { commission: 0, SEC: 0.09, TAF: 0.01 },
      { commission: 0, SEC: 0.12, TAF: 0.01 },
    ]);
    expect(market.order(sale).fees).toEqual([
      { name: 'SEC', amount: 2100 },
      { name: 'TAF', amount: 200 },
    ]);
  });

  it('regulatory fees start over on another trade date', () => {
    const { market, portfolio, charged } = simulation(passing, { date: '2026-04-06' });
    market.quote('AAPL', '99.90', '100.00');
    market.place(portfolio, { quantity: 100 });
    market.quote('AAPL', '100.00', '100.10', { bidSize: 40 });
    const sale = market.place(portfolio, {
      intent: 'SELL_TO_CLOSE',
      limit: '100.00',
      quantity: 100,
      tif: 'GTC',
    });
    market.advanceTo('2026-04-07', 10, 0);
    market.quote('AAPL', '100.00', '100.10', { bidSize: 20 });
    market.restart();
    market.quote('AAPL', '100.00', '100.10', { bidSize: 40 });
    // The second day: 2,000.00: 0.0412: 0.05, then 6,000.00 in all: 0.1236: 0.13. TAF 20: 0.0039: 0.01, 60: 0.0117: 0.02.
    expect(charged(sale)).toEqual([
      { commission: 0, SEC: 0.09, TAF: 0.01 },
      { commission: 0, SEC: 0.05, TAF: 0.01 },
      { commission: 0, SEC: 0.08, TAF: 0.01 },
    ]);
    expect(market.order(sale).fees).toEqual([
      { name: 'SEC', amount: 2200 },
      { name: 'TAF', amount: 300 },
    ]);
  });

  it('are borne by a broker that does not pass them on', () => {
    const { market, portfolio, charged } = simulation({}, { date: '2026-04-06' });
    market.quote('AAPL', '99.90', '100.00');
    market.place(portfolio, { quantity: 100 });
    expect(charged(market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100 }))).toEqual([
      { commission: 0 },
    ]);
  });
});

describe('the charges of a sale cannot put a CASH portfolio into debt', () => {
  it('a sale is charged no more than it brings, and its next execution the rest', () => {
    const { market, portfolio, charged } = simulation(
      { equityCommission: { perOrder: Money.ofDollars(1), perUnit: Money.zero } },
      { cash: 11.5 },
    );
    market.quote('F', '0.99', '1.00');
    market.place(portfolio, { symbol: 'F', limit: '1.00', quantity: 10 });
    market.quote('F', '0.30', '0.31', { bidSize: 1 });
    const sale = market.place(portfolio, { symbol: 'F', intent: 'SELL_TO_CLOSE', quantity: 10 });
    market.quote('F', '0.30', '0.31', { bidSize: 1 });
    market.quote('F', '0.30', '0.31');
    expect(charged(sale)).toEqual([{ commission: 0.3 }, { commission: 0.3 }, { commission: 0.4 }]);
    market.advanceTo('2026-01-06', 9, 0);
    // 0.50 left of the purchase, and 10 × 0.30 − 1.00.
    expect(dollars(market.portfolio(portfolio).balances.SETTLED_CASH)).toBe(2.5);
  });

  it('the charges of all partial sales together never exceed the proceeds', () => {
    const { market, portfolio, charged } = simulation(
      { equityCommission: { perOrder: Money.ofDollars(1), perUnit: Money.zero } },
      { cash: 11 },
    );
    market.quote('F', '0.99', '1.00');
    market.place(portfolio, { symbol: 'F', limit: '1.00', quantity: 10 });
    market.quote('F', '0.05', '0.06');
    expect(charged(market.place(portfolio, { symbol: 'F', intent: 'SELL_TO_CLOSE', quantity: 10 }))).toEqual([
      { commission: 0.5 },
    ]);
    market.advanceTo('2026-01-06', 9, 0);
    expect(market.portfolio(portfolio).balances.SETTLED_CASH).toBe(0);
  });
});
