import { describe, expect, it } from 'vitest';
import { Position } from '../../src/positions/position.js';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Quantity } from '../../src/values/quantity.js';

function marketWith(options: Parameters<typeof testBroker>[1] = {}, date = '2026-01-05') {
  const broker = testBroker('default', options);
  const market = new TestMarket({ date, rules: { brokers: new Map([['default', broker]]) } });
  const portfolio = market.openPortfolio();
  const at = (price: string): unknown => market.quote('AAPL', price, price);
  return { market, portfolio, at };
}

const entryTypes = (market: TestMarket): string[] => market.entries().map(({ type }) => type);

describe('lots', () => {
  it('are closed first in, first out; the rest keeps its own cost (D56)', () => {
    const { market, portfolio, at } = marketWith();
    at('10.00');
    market.place(portfolio, { quantity: 100 });
    at('12.00');
    market.place(portfolio, { quantity: 50 });
    at('15.00');
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 120 });
    // 120 × 15 − (100 × 10 + 20 × 12) = 1800 − 1240
    expect(dollars(market.portfolio(portfolio).balances.REALIZED_PNL)).toBe(-560);
    const position = market.portfolio(portfolio).positions.get('AAPL')!;
    expect(Position.held(position)).toBe(Quantity.of(30));
    // 30 × 12; entry price = 360 / 30.
    expect(dollars(Position.costBasis(position))).toBe(360);
    expect(dollars(market.portfolio(portfolio).balances.SECURITIES)).toBe(360);
  });

  it('of which a part is sold lose their share of the cost, and nothing is lost with the last part', () => {
    const { market, portfolio, at } = marketWith();
    at('10.00');
    market.place(portfolio, { quantity: '0.100003' });
    // 1.00003 dollars count as 1.0000 in the books, whose unit is 0.0001.
    market.place(portfolio, { quantity: '1' });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: '0.433336' });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: '0.333333' });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: '0.333334' });
    expect(market.portfolio(portfolio).balances.SECURITIES).toBe(0);
  });

  it('of a short position hold its proceeds; covering them realizes the difference', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    market.quote('KO', '60.00', '60.00');
    market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 10 });
    market.quote('KO', '66.00', '66.00');
    market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 10 });
    market.quote('KO', '55.00', '55.00');
    market.place(portfolio, { symbol: 'KO', intent: 'BUY_TO_CLOSE', quantity: 15 });
    // (10 × 60 + 5 × 66) − 15 × 55 = 930 − 825
    expect(dollars(market.portfolio(portfolio).balances.REALIZED_PNL)).toBe(-105);
    expect(dollars(market.portfolio(portfolio).balances.SECURITIES)).toBe(-330);
  });
});

describe('commissions and fees', () => {
  it('are ledger entries of their own and leave cost and realized profit alone', () => {
    const { market, portfolio, at } = marketWith(
      {
        equityCommission: { perOrder: Money.zero, perUnit: Money.ofUnits(50), minimum: Money.ofDollars(1) },
        passesRegulatoryFees: true,
      },
      '2026-04-06',
    );
    at('50.00');
    market.place(portfolio, { quantity: 1000 });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 1000 });
    expect(entryTypes(market)).toEqual([
      'INITIAL_CASH',
      'TRADE',
      'COMMISSION',
      'TRADE',
      'COMMISSION',
      'FEE',
      'FEE',
    ]);
    const { balances } = market.portfolio(portfolio);
    expect(dollars(balances.REALIZED_PNL) + 0).toBe(0);
    // 1000 × 0.005 each way.
    expect(dollars(balances.COMMISSIONS)).toBe(10);
    // SEC 50,000 × 20.60 / 1,000,000 = 1.03; TAF 1000 × 0.000195 = 0.195, up to 0.20.
    expect(dollars(balances.FEES)).toBe(1.23);
    // The purchase and its commission are paid at once; charges of the sale are deducted from its proceeds.
    expect(dollars(market.value(portfolio).settledCash)).toBe(100_000 - 50_005);
    expect(dollars(market.value(portfolio).pendingCash)).toBe(49_993.77);
  });
});

describe('cash moves in whole cents', () => {
  it('the difference to the exact value of a sub-cent price is posted to ROUNDING', () => {
    const { market, portfolio, at } = marketWith();
    at('10.005');
    market.place(portfolio, { quantity: 3 });
    const { balances } = market.portfolio(portfolio);
    // 30.015 is paid as 30.02.
    expect(dollars(balances.SETTLED_CASH)).toBe(100_000 - 30.02);
    expect(dollars(balances.SECURITIES)).toBe(30.015);
    expect(dollars(balances.ROUNDING)).toBe(0.005);
  });

  it('the value of a fraction of a share is rounded to whole cents', () => {
    const { market, portfolio, at } = marketWith();
    at('10.00');
    market.place(portfolio, { quantity: '0.333333' });
    const { balances } = market.portfolio(portfolio);
    // 3.33333 is worth 3.3333 in the books and is paid as 3.33.
    expect(dollars(balances.SETTLED_CASH)).toBe(100_000 - 3.33);
    expect(dollars(balances.SECURITIES)).toBe(3.3333);
    expect(dollars(balances.ROUNDING)).toBeCloseTo(-0.0033, 10);
  });

  it('an order that fills in parts pays the same cents as one that fills at once', () => {
    const whole = marketWith();
    whole.at('10.005');
    whole.market.place(whole.portfolio, { quantity: 3 });
    const parts = marketWith();
    parts.market.quote('AAPL', '10.005', '10.005', { askSize: 1 });
    parts.market.place(parts.portfolio, { quantity: 3 });
    for (let i = 0; i < 2; i++) parts.market.quote('AAPL', '10.005', '10.005', { askSize: 1 });
    expect(parts.market.portfolio(parts.portfolio).balances).toEqual(
      whole.market.portfolio(whole.portfolio).balances,
    );
  });
});
