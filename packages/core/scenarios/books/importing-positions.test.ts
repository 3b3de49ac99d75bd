import { describe, expect, it } from 'vitest';
import type { LotToImport } from '../../src/positions/lot-to-import.js';
import { Auditor } from '../../src/testing/auditor.js';
import { testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import { Instant } from '../../src/values/instant.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';

const CALL = 'AAPL260220C00100000';

const lot = (
  symbol: string,
  quantity: number,
  price?: string,
  acquired = '2024-03-01T15:00:00Z',
): LotToImport => ({
  symbol,
  quantity: Quantity.of(quantity),
  ...(price !== undefined && { price: Price.of(price) }),
  acquiredAt: Instant.ofMs(Date.parse(acquired)),
});

const command = (market: TestMarket, portfolioId: string, lots: readonly LotToImport[], cash = Money.zero) =>
  ({ type: 'ImportPositions', by: market.by, portfolioId, cash, lots }) as const;

function imported(
  market: TestMarket,
  portfolio: string,
  lots: readonly LotToImport[],
  cash = Money.zero,
): void {
  expect(market.execute<'ImportPositions'>(command(market, portfolio, lots, cash)).result).not.toHaveProperty(
    'code',
  );
  const auditor = new Auditor();
  for (const { events, quotes } of market.journal) auditor.note(events, quotes);
  expect(auditor.differences(market.brokerage.state)).toEqual([]);
}

function opened(options: Parameters<TestMarket['openPortfolio']>[0] = {}) {
  const market = new TestMarket();
  const portfolio = market.openPortfolio(options);
  market.quote('AAPL', '100', '100', { last: '100' });
  market.quote(CALL, '3', '3.1');
  return { market, portfolio };
}

describe('importPositions (D206)', () => {
  it('keeps the cost and the date of each lot, and adds the cash', () => {
    const { market, portfolio } = opened({ cash: 1000 });
    imported(
      market,
      portfolio,
      [lot('AAPL', 30, '80', '2025-01-10T15:00:00Z'), lot('AAPL', 20, '50')],
      Money.ofDollars(500),
    );
    const { positions, balances } = market.portfolio(portfolio);
    expect(positions.get('AAPL')?.lots.map(({ quantity, cost }) => [quantity / 1e6, cost / 1e4])).toEqual([
      [20, 1000],
      [30, 2400],
    ]);
    expect(positions.get('AAPL')?.settled).toBe(Quantity.of(50));
    expect(balances.SETTLED_CASH).toBe(Money.ofDollars(1500));
    expect(balances.CAPITAL).toBe(Money.ofDollars(-4900));
    // The oldest lot is sold first.
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 20 });
    expect(market.portfolio(portfolio).balances.REALIZED_PNL).toBe(Money.ofDollars(-1000));
  });

  it('uses the mark for a row without a price, and refuses the row without a mark', () => {
    const { market, portfolio } = opened();
    expect(market.refuse(command(market, portfolio, [lot('F', 1)]))).toEqual({
      code: 'INVALID',
      messages: ['positions[0]: price of F must be given: it has no quote yet'],
    });
    const { result } = market.execute<'ImportPositions'>(command(market, portfolio, [lot('AAPL', 10)]));
    expect(result).toMatchObject({ lots: [{ symbol: 'AAPL', price: Price.of('100'), basis: 'MARK' }] });
  });

  it('names every row that cannot be held, and enters none', () => {
    const { market, portfolio } = opened();
    expect(
      market.refuse(
        command(market, portfolio, [
          lot('AAPL', 10, '90'),
          lot('NOPE1', 5, '1'),
          lot(CALL, 0.5, '3'),
          lot('AAPL', -5, '90'),
        ]),
      ),
    ).toEqual({
      code: 'INVALID',
      messages: [
        'positions[1]: unknown symbol NOPE1',
        `positions[2]: quantity of ${CALL} must be whole contracts`,
        'positions[3]: a CASH portfolio cannot hold AAPL short',
      ],
    });
  });

  it('lets imported contracts expire, those too that the import lists', () => {
    const { market, portfolio } = opened({ cash: 100_000, type: 'MARGIN' });
    const unlisted = 'AAPL260220P00090000';
    imported(market, portfolio, [lot(CALL, 1, '3'), lot(unlisted, 1, '1')]);
    market.advanceTo('2026-02-21', 10, 0);
    expect(market.portfolio(portfolio).positions.size).toBe(0);
  });

  it('is refused if the portfolio has positions or open orders', () => {
    const { market, portfolio } = opened();
    market.place(portfolio, { quantity: 1, limit: '90' });
    expect(market.refuse(command(market, portfolio, [lot('AAPL', 10, '90')]))).toMatchObject({
      code: 'CONFLICT',
    });
  });

  it('checks the account as a broker switch does: uncovered calls need their level', () => {
    const { market, portfolio } = opened({ cash: 1000 });
    expect(market.refuse(command(market, portfolio, [lot(CALL, -1, '3')]))).toMatchObject({
      code: 'BROKER_RESTRICTION',
    });
    imported(market, portfolio, [lot(CALL, -1, '3'), lot('AAPL', 100, '90')]);
    expect(market.portfolio(portfolio).secured.get('AAPL')?.shares).toBe(Quantity.of(100));
  });

  it('issues a call if a MARGIN portfolio arrives below its requirement', () => {
    const { market, portfolio } = opened({ type: 'MARGIN', marginType: 'REG_T', cash: 1000 });
    imported(market, portfolio, [lot('AAPL', 1000, '40')], Money.ofDollars(-90_000));
    market.advanceMs(60_000);
    market.quote('AAPL', '100', '100', { last: '100' });
    expect(market.portfolio(portfolio).margin.calls).toHaveLength(1);
  });

  it('allows a short position to be bought back with its proceeds', () => {
    const { market, portfolio } = opened({ type: 'MARGIN', marginType: 'REG_T', cash: 10_000 });
    imported(market, portfolio, [lot('AAPL', -10, '120')], Money.ofDollars(1200));
    market.place(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 10 });
    const { balances, positions } = market.portfolio(portfolio);
    expect(positions.size).toBe(1);
    expect(balances.REALIZED_PNL).toBe(Money.ofDollars(-200));
    expect(balances.SETTLED_CASH).toBe(Money.ofDollars(10_200));
  });

  it('counts the variation of a future from the mark of the import', () => {
    const { market, portfolio } = opened({ type: 'MARGIN', marginType: 'REG_T', cash: 100_000 });
    market.quote('ESH26', '5000', '5000', { last: '5000' });
    imported(market, portfolio, [lot('ESH26', 1, '4000')]);
    expect(market.value(portfolio).totalEquity).toBe(Money.ofDollars(100_000));
    market.quote('ESH26', '5010', '5010', { last: '5010' });
    expect(market.value(portfolio).totalEquity).toBe(Money.ofDollars(100_500));
  });

  it('is undone by a reset', () => {
    const { market, portfolio } = opened({ cash: 1000 });
    imported(market, portfolio, [lot('AAPL', 10, '90')], Money.ofDollars(5));
    market.execute<'ResetPortfolio'>({ type: 'ResetPortfolio', by: market.by, portfolioId: portfolio });
    const { balances, positions } = market.portfolio(portfolio);
    expect(positions.size).toBe(0);
    expect(balances).toMatchObject({ SETTLED_CASH: Money.ofDollars(1000), CAPITAL: Money.ofDollars(-1000) });
  });

  it('refuses a debt of a CASH portfolio and sums beyond the books', () => {
    const { market, portfolio } = opened({ cash: 1000 });
    expect(market.refuse(command(market, portfolio, [], Money.ofDollars(-1001)))).toMatchObject({
      code: 'INVALID',
    });
    expect(market.refuse(command(market, portfolio, [lot('AAPL', 1_000_000_000, '900000')]))).toMatchObject({
      code: 'INVALID',
    });
    expect(market.refuse(command(market, portfolio, []))).toMatchObject({ code: 'INVALID' });
  });

  it('is refused by brokers that lack futures or short selling', () => {
    const rules = testRules();
    const brokers = new Map([['strict', testBroker('strict', { shortSelling: false, futures: false })]]);
    const market = new TestMarket({ rules: { ...rules, brokers } });
    const portfolio = market.openPortfolio({ type: 'MARGIN', marginType: 'REG_T', brokerId: 'strict' });
    expect(market.refuse(command(market, portfolio, [lot('AAPL', -1, '90')]))).toMatchObject({
      code: 'BROKER_RESTRICTION',
    });
  });
});
