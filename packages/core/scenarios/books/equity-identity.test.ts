import { expect, it } from 'vitest';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

/** D16, from the reported figures alone. */
function expectIdentity(market: TestMarket, portfolio: string): void {
  const v = market.value(portfolio);
  const cash = v.settledCash + v.pendingCash + v.reservedCash - v.marginLoan;
  expect(v.totalEquity).toBe(cash + v.longMarketValue - v.shortMarketValue);
  expect(v.marginLoan).toBeGreaterThanOrEqual(0);
  expect(v.shortMarketValue).toBeGreaterThanOrEqual(0);
  expect(v.settledCash).toBeGreaterThanOrEqual(0);
}

it('equity is cash and positions less the loan after every step of a busy week (D16)', () => {
  const broker = testBroker('default', {
    equityCommission: { perOrder: Money.ofDollars(1), perUnit: Money.zero },
    passesRegulatoryFees: true,
  });
  const market = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 20_000, fillModel: 'ideal' });
  const steps: (() => void)[] = [
    () => market.quote('AAPL', '99.90', '100.00'),
    () => market.quote('KO', '60.00', '60.10', { last: '60.05' }),
    () => market.place(portfolio, { quantity: 250 }),
    () => market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 50 }),
    () => market.place(portfolio, { quantity: 20, limit: '95.00', tif: 'GTC' }),
    () => market.quote('AAPL', '105.00', '105.20'),
    () => market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 50 }),
    () =>
      market.execute<'AnnounceActions'>({
        type: 'AnnounceActions',
        actions: ['AAPL', 'KO'].map((symbol) => ({
          type: 'CASH_DIVIDEND' as const,
          symbol,
          exDate: TradingDate.of('2026-01-07'),
          payDate: TradingDate.of('2026-01-09'),
          amountPerShare: Price.of('0.26'),
        })),
      }),
    () => market.advanceTo('2026-01-06', 9),
    () => market.advanceTo('2026-01-07', 10),
    () => market.quote('KO', '70.00', '70.10'),
    () => market.place(portfolio, { symbol: 'KO', intent: 'BUY_TO_CLOSE', quantity: 30 }),
    () => market.quote('AAPL', '80.00', '80.10'),
    () => market.advanceTo('2026-01-12', 10),
  ];
  for (const step of steps) {
    step();
    expectIdentity(market, portfolio);
  }
});

it('reservations of orders stay part of equity', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.00', '100.00');
  const portfolio = market.openPortfolio({ cash: 10_000 });
  market.place(portfolio, { quantity: 30, limit: '90.00' });
  const value = market.value(portfolio);
  expect(dollars(value.reservedCash)).toBe(2700);
  expect(dollars(value.settledCash)).toBe(7300);
  expect(dollars(value.totalEquity)).toBe(10_000);
});
