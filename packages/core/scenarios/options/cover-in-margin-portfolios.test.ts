/** Cash that secures a short put below option level 4 stays reserved (D80, D81), even in a portfolio that could borrow. */
import { expect, it } from 'vitest';
import type { OptionLevel } from '../../src/brokers/broker.js';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

const PUT = 'AAPL260116P00090000';

/** AAPL at 100; a MARGIN portfolio with 10,000 at a broker with an option level. */
function market(optionLevel: OptionLevel, cash = 10_000) {
  const m = new TestMarket({
    rules: { brokers: new Map([['default', testBroker('default', { optionLevel })]]) },
  });
  m.quote('AAPL', '100', '100', { last: '100' });
  m.quote(PUT, '1.00', '1.00');
  return { m, portfolio: m.openPortfolio({ type: 'MARGIN', cash }) };
}
const withdraw = (m: TestMarket, portfolioId: string, amount: number) =>
  m.execute<'TransferCash'>({
    type: 'TransferCash',
    by: m.by,
    portfolioId,
    amount: Money.ofDollars(-amount),
  }).result;

it('a purchase or withdrawal uses only cash that the put leaves free', () => {
  const { m, portfolio } = market(3);
  m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
  expect(dollars(m.value(portfolio).reservedCash)).toBe(9_000);
  expect(m.submit(portfolio, { quantity: 150 })).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  // 10,000 and 99.50 of premium, less 9,000.
  expect(dollars(m.value(portfolio).overnightBuyingPower)).toBe(1_099.5);
  expect(m.submit(portfolio, { quantity: 11 })).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  m.place(portfolio, { quantity: 10, limit: '100' });
  expect(withdraw(m, portfolio, 100)).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  m.advanceTo('2026-01-07', 10);
  expect(dollars(m.value(portfolio).reservedCash)).toBe(9_000);
  expect(dollars(m.value(portfolio).marginLoan)).toBe(0);
});

it('the order keeps the cash while it waits', () => {
  const { m, portfolio } = market(3);
  const order = m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1, limit: '5.00' });
  expect(m.submit(portfolio, { quantity: 150 })).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  expect(withdraw(m, portfolio, 2_000)).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  m.cancel(order);
  expect(m.submit(portfolio, { quantity: 150 })).toEqual(expect.any(String));
});

it('an assigned put uses its cash, and the portfolio may borrow again', () => {
  const { m, portfolio } = market(3);
  m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
  m.advanceTo('2026-01-16', 15, 59);
  m.quote('AAPL', '80', '80', { last: '80' });
  m.advanceTo('2026-01-20', 10);
  expect(dollars(m.value(portfolio).reservedCash)).toBe(0);
  expect(dollars(m.value(portfolio).marginLoan)).toBe(0);
  m.quote('AAPL', '80', '80', { last: '80' });
  expect(m.submit(portfolio, { quantity: 40 })).toEqual(expect.any(String));
  expect(dollars(m.value(portfolio).marginLoan)).toBeGreaterThan(0);
});

it('buying the put back sets the cash free', () => {
  const { m, portfolio } = market(3);
  m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
  m.place(portfolio, { symbol: PUT, intent: 'BUY_TO_CLOSE', quantity: 1 });
  expect(m.submit(portfolio, { quantity: 150 })).toEqual(expect.any(String));
});

it('from level 4 on margin decides', () => {
  const { m, portfolio } = market(4);
  m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
  expect(m.submit(portfolio, { quantity: 150 })).toEqual(expect.any(String));
});

it('stock may be sold short despite a cash-secured put', () => {
  const { m, portfolio } = market(3, 20_000);
  m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
  expect(m.submit(portfolio, { intent: 'SELL_TO_OPEN', quantity: 10 })).toEqual(expect.any(String));
  expect(dollars(m.value(portfolio).reservedCash)).toBe(9_000);
});
