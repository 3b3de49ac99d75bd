import { describe, expect, it } from 'vitest';
import { Position } from '../../src/positions/position.js';
import type { Rules } from '../../src/rules.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

/** Expires on Friday 2026-01-16. */
const CALL = 'AAPL260116C00150000';
const HIGHER = 'AAPL260116C00160000';
const PUT = 'AAPL260116P00150000';
const FAR_PUT = 'AAPL260116P00170000';

const audited = auditAfterEach();

/** Monday 2026-01-05, 10:00; AAPL at 165, paying 0.50 to holders on Wednesday evening. */
function market(earlyAssignment?: Rules['earlyAssignment'], seed = 42): TestMarket {
  const m = audited(
    new TestMarket({
      seed,
      rules: {
        brokers: new Map([['default', testBroker('default', { spreadsInCashAccounts: true })]]),
        ...(earlyAssignment !== undefined && { earlyAssignment }),
      },
    }),
  );
  m.quote('AAPL', '164.99', '165.01', { last: '165' });
  m.quote(CALL, '15.20', '15.30', { last: '15.20' });
  m.quote(HIGHER, '5.60', '5.70', { last: '5.60' });
  m.quote(PUT, '0.10', '0.15');
  m.quote(FAR_PUT, '5.00', '5.10', { last: '5.00' });
  m.execute<'AnnounceActions'>({
    type: 'AnnounceActions',
    actions: [
      {
        type: 'CASH_DIVIDEND',
        symbol: 'AAPL',
        exDate: TradingDate.of('2026-01-08'),
        amountPerShare: Price.of('0.50'),
      },
    ],
  });
  return m;
}

const held = (m: TestMarket, portfolio: string): Record<string, number> =>
  Object.fromEntries(
    [...m.portfolio(portfolio).positions.values()].map((position) => [
      position.symbol,
      shares(Position.held(position)),
    ]),
  );

const acts = (m: TestMarket): string[] =>
  m
    .events('OptionEnded')
    .map(({ act, symbol, quantity, amount }) => `${act} ${shares(quantity)} ${symbol} ${dollars(amount)}`);

const covered = (m: TestMarket, contracts: number): string => {
  const portfolio = m.openPortfolio({ cash: 1_000_000 });
  m.place(portfolio, { symbol: 'AAPL', quantity: contracts * 100 });
  m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: contracts });
  return portfolio;
};

describe('early assignment (D89, D164)', () => {
  it('is off by default', () => {
    const m = market();
    covered(m, 1);
    m.advanceTo('2026-01-09', 10);
    expect(acts(m)).toEqual([]);
  });

  it('the evening before the ex-date a covered call with less extrinsic value than the dividend is assigned', () => {
    const m = market('DIVIDENDS');
    const portfolio = covered(m, 1);
    m.advanceTo('2026-01-07', 19, 59);
    expect(acts(m)).toEqual([]);
    m.advanceTo('2026-01-07', 20);
    // 15.20 is 0.20 above the exercise value, and the dividend 0.50.
    expect(acts(m)).toEqual([`ASSIGNED 1 ${CALL} 15000`]);
    expect(held(m, portfolio)).toEqual({ AAPL: 0 });
    expect(m.value(portfolio).reservedCash).toBe(0);
    // The shares are delivered before the ex-date: no dividend; the strike is received at the next settlement.
    m.advanceTo('2026-01-08', 10);
    expect(m.events('DividendAccrued')).toEqual([]);
    expect(held(m, portfolio)).toEqual({});
    const value = m.value(portfolio);
    expect(dollars(value.settledCash)).toBe(1_000_000 - 16_501 + 1520 - 0.5 + 15_000);
    expect(m.entries().some(({ type }) => type === 'ASSIGNMENT')).toBe(true);
  });

  it("early exercise: none below the option's remaining value, none of puts, none out of the money", () => {
    const m = market('DIVIDENDS');
    const portfolio = m.openPortfolio({ cash: 1_000_000 });
    m.place(portfolio, { symbol: 'AAPL', quantity: 200 });
    m.place(portfolio, { symbol: HIGHER, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.place(portfolio, { symbol: FAR_PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.advanceTo('2026-01-08', 10);
    // 5.60 is 0.60 above the exercise value.
    expect(acts(m)).toEqual([]);
  });

  it('MODEL: a put with less extrinsic value than the interest on its strike, on any evening', () => {
    const m = market('MODEL');
    const portfolio = m.openPortfolio({ cash: 1_000_000 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.place(portfolio, { symbol: FAR_PUT, intent: 'SELL_TO_OPEN', quantity: 2 });
    m.advanceTo('2026-01-05', 20);
    // 5.00 is all intrinsic; ⌈0.9 × 2⌉ = 2.
    expect(acts(m)).toEqual([`ASSIGNED 2 ${FAR_PUT} -34000`]);
    expect(held(m, portfolio)).toEqual({ [PUT]: -1, AAPL: 200 });
  });

  it.each([
    [1, 1],
    [9, 9],
    [10, 9],
    [11, 10],
    [30, 27],
  ])('of %i short contracts, assigns %i across all holders', (contracts, hit) => {
    const m = market('DIVIDENDS');
    const portfolios = [];
    for (let left = contracts; left > 0; left -= 7) {
      const count = Math.min(left, 7);
      const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
      m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: count });
      portfolios.push({ portfolio, count });
    }
    m.advanceTo('2026-01-07', 20);
    const left = portfolios.map(({ portfolio }) => 0 - (held(m, portfolio)[CALL] ?? 0));
    expect(left.reduce((sum, one) => sum + one, 0)).toBe(contracts - hit);
    // Once an evening, and not again after a restart.
    m.restart();
    m.advanceTo('2026-01-08', 10);
    expect(m.events('OptionEnded').reduce((sum, { quantity }) => sum + shares(quantity), 0)).toBe(hit);
  });

  it('who is hit follows from the seed', () => {
    const drawn = (seed: number): string => {
      const m = market('DIVIDENDS', seed);
      const portfolios = Array.from({ length: 20 }, () => {
        const portfolio = m.openPortfolio({ type: 'MARGIN' });
        m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
        return portfolio;
      });
      m.advanceTo('2026-01-07', 20);
      return portfolios.map((portfolio) => (CALL in held(m, portfolio) ? '-' : 'x')).join('');
    };
    const [one, again, other] = [drawn(1), drawn(1), drawn(2)];
    expect(again).toBe(one);
    expect(other).not.toBe(one);
    expect(one.replaceAll('-', '')).toHaveLength(18);
  });

  it('a CASH portfolio never owes: the long leg of a spread is exercised with its short one', () => {
    const m = market('DIVIDENDS');
    const portfolio = m.openPortfolio({ cash: 3000 });
    m.place(portfolio, { symbol: HIGHER, quantity: 1 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.advanceTo('2026-01-07', 20);
    expect(acts(m)).toEqual([`EXERCISED 1 ${HIGHER} -16000`, `ASSIGNED 1 ${CALL} 15000`]);
    expect(held(m, portfolio)).toEqual({ AAPL: 0 });
    expect(m.value(portfolio).reservedCash).toBe(0);
  });

  it('out of the money the long leg stays, and the shares are bought in', () => {
    const m = market('DIVIDENDS');
    const portfolio = m.openPortfolio({ cash: 3000 });
    m.place(portfolio, { symbol: HIGHER, quantity: 1 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.advanceTo('2026-01-07', 19);
    m.quote('AAPL', '156', '156');
    m.quote(CALL, '6.10', '6.20', { last: '6.10' });
    m.advanceTo('2026-01-07', 20);
    expect(acts(m)).toEqual([`BUY_IN 1 ${CALL} -15600`, `ASSIGNED 1 ${CALL} 15000`]);
    expect(held(m, portfolio)).toEqual({ [HIGHER]: 1, AAPL: 0 });
  });

  it('an order to buy back an assigned contract ends', () => {
    const m = market('DIVIDENDS');
    const portfolio = covered(m, 1);
    const order = m.place(portfolio, {
      symbol: CALL,
      intent: 'BUY_TO_CLOSE',
      quantity: 1,
      limit: '1',
      tif: 'GTC',
    });
    m.advanceTo('2026-01-07', 20);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'BROKER' });
  });
});
