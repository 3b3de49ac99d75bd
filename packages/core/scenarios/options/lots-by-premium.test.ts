import { describe, expect, it } from 'vitest';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import { Quantity } from '../../src/values/quantity.js';
import { TradingDate } from '../../src/values/trading-date.js';

/** Expire on Friday 2026-01-16. */
const PUT = 'AAPL260116P00100000';
const CALL = 'AAPL260116C00055000';
const HIGHER_CALL = 'AAPL260116C00060000';

const audited = auditAfterEach();

/** Monday 2026-01-05, 10:00; AAPL at a price. */
function market(price: string): TestMarket {
  const spreads = testBroker('default', { spreadsInCashAccounts: true });
  const m = audited(new TestMarket({ rules: { brokers: new Map([['default', spreads]]) } }));
  m.quote('AAPL', price, price);
  return m;
}

type Opening = Parameters<TestMarket['place']>[1];

/** An order at a price: the market is there. */
function at(m: TestMarket, portfolio: string, price: string, order: Opening): void {
  m.quote(order.symbol ?? 'AAPL', price, price);
  m.place(portfolio, order);
}

/** Open lots of a symbol: quantity and cost, oldest first. */
const lots = (m: TestMarket, portfolio: string, symbol = 'AAPL'): [number, number][] =>
  (m.portfolio(portfolio).positions.get(symbol)?.lots ?? []).map(({ quantity, cost }) => [
    shares(quantity),
    dollars(cost),
  ]);

const realized = (m: TestMarket, portfolio: string): number =>
  dollars(m.portfolio(portfolio).balances.REALIZED_PNL);

function expireAt(m: TestMarket, price: string): void {
  m.advanceTo('2026-01-16', 15, 59);
  m.quote('AAPL', price, price);
  m.advanceTo('2026-01-16', 16);
}

const writes = (symbol: string, quantity: number): Opening => ({
  symbol,
  intent: 'SELL_TO_OPEN',
  quantity,
});

describe('lots by premium (D244)', () => {
  it('assigned puts of two premiums open a lot of shares each, oldest contracts first', () => {
    const m = market('110');
    const portfolio = m.openPortfolio({ cash: 200_000 });
    at(m, portfolio, '1.00', writes(PUT, 5));
    at(m, portfolio, '2.00', writes(PUT, 5));
    expireAt(m, '95');
    expect(lots(m, portfolio)).toEqual([
      [500, 49_500],
      [500, 49_000],
    ]);
    expect(realized(m, portfolio)).toBe(0);
    m.advanceTo('2026-01-20', 10);
    at(m, portfolio, '105', { intent: 'SELL_TO_CLOSE', quantity: 500 });
    expect(realized(m, portfolio)).toBe(-3000);
    expect(lots(m, portfolio)).toEqual([[500, 49_000]]);
  });

  it('exercised calls carry their premiums, and the contracts that stay keep theirs', () => {
    const m = market('50');
    const portfolio = m.openPortfolio({ cash: 200_000 });
    at(m, portfolio, '1.00', { symbol: CALL, quantity: 2 });
    at(m, portfolio, '3.00', { symbol: CALL, quantity: 2 });
    m.quote('AAPL', '60', '60');
    m.execute<'ExerciseOption'>({
      type: 'ExerciseOption',
      by: m.by,
      portfolioId: portfolio,
      symbol: CALL,
      quantity: Quantity.of(3),
    });
    expect(lots(m, portfolio)).toEqual([
      [200, 11_200],
      [100, 5800],
    ]);
    expect(lots(m, portfolio, CALL)).toEqual([[1, 300]]);
  });

  it('assigned calls deliver the oldest shares for the oldest premium', () => {
    const m = market('50');
    const portfolio = m.openPortfolio({ cash: 50_000 });
    at(m, portfolio, '50', { quantity: 100 });
    at(m, portfolio, '60', { quantity: 100 });
    at(m, portfolio, '3.00', writes(CALL, 1));
    at(m, portfolio, '5.00', writes(CALL, 1));
    expireAt(m, '70');
    expect(lots(m, portfolio)).toEqual([]);
    expect(realized(m, portfolio)).toBe(-800);
  });

  it('an assignment that meets a smaller opposite position closes it first and opens the rest by premium', () => {
    const m = market('50');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 200_000 });
    at(m, portfolio, '50', { quantity: 150 });
    at(m, portfolio, '3.00', writes(CALL, 1));
    at(m, portfolio, '5.00', writes(CALL, 2));
    expireAt(m, '70');
    // 100 at 58, then 50 of the 200 at 60; the other 150 are short at 60.
    expect(realized(m, portfolio)).toBe(-(800 + 500));
    expect(lots(m, portfolio)).toEqual([[-150, 9000]]);
  });

  it('netted: the exercised lots of two premiums meet the assigned ones in order', () => {
    const m = market('50');
    const portfolio = m.openPortfolio({ cash: 20_000 });
    for (const premium of ['2.00', '4.00']) {
      m.quote(HIGHER_CALL, '1.00', '1.00');
      at(m, portfolio, premium, { symbol: CALL, quantity: 1 });
    }
    for (const premium of ['1.00', '2.00']) at(m, portfolio, premium, writes(HIGHER_CALL, 1));
    expireAt(m, '70');
    // Bought at 57 and 59, delivered at 61 and 62.
    expect(lots(m, portfolio)).toEqual([]);
    expect(realized(m, portfolio)).toBe(-(400 + 300));
  });

  it('after a split of two for one each lot has twice the contracts at the same premium', () => {
    const m = market('110');
    const portfolio = m.openPortfolio({ cash: 200_000 });
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [
        {
          type: 'SPLIT',
          symbol: 'AAPL',
          exDate: TradingDate.of('2026-01-07'),
          ratio: { new: 2, old: 1 },
        },
      ],
    });
    at(m, portfolio, '1.00', writes(PUT, 1));
    at(m, portfolio, '2.00', writes(PUT, 2));
    m.advanceTo('2026-01-07', 10);
    expireAt(m, '45');
    expect(lots(m, portfolio)).toEqual([
      [200, 9900],
      [400, 19_600],
    ]);
  });

  it('adjusted contracts: cents of the cash in lieu that do not divide are in the last lot', () => {
    const m = market('110');
    const portfolio = m.openPortfolio({ cash: 200_000 });
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [
        {
          type: 'SPLIT',
          symbol: 'AAPL',
          exDate: TradingDate.of('2026-01-07'),
          ratio: { new: 1, old: 3 },
        },
      ],
    });
    for (const premium of ['1.00', '2.00', '3.00']) at(m, portfolio, premium, writes(PUT, 1));
    m.advanceTo('2026-01-07', 10);
    expireAt(m, '250');
    // Each pays 10,000 for 33 shares less 0.333333 × 250 = 83.33325 in cash: 29,750.00 together, 9,916.66 each and two cents.
    expect(lots(m, portfolio)).toEqual([
      [33, 9816.66],
      [33, 9716.66],
      [33, 9616.68],
    ]);
  });

  it('a premium beyond the strike costs nothing, in its own lot alone', () => {
    const m = market('90');
    const portfolio = m.openPortfolio({ cash: 200_000 });
    at(m, portfolio, '120.00', writes(PUT, 1));
    at(m, portfolio, '10.00', writes(PUT, 1));
    expireAt(m, '95');
    expect(lots(m, portfolio)).toEqual([
      [100, 0],
      [100, 9000],
    ]);
    expect(realized(m, portfolio)).toBe(-2000);
  });
});
