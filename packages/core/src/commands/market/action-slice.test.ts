import { expect, it } from 'vitest';
import { Brokerage } from '../../brokerage.js';
import type { Event } from '../../event.js';
import { requestOf, TestMarket } from '../../testing/market.js';
import type { TestOrder } from '../../testing/market.js';
import { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { TradingDate } from '../../values/trading-date.js';

const by = { tier: 'PRO' as const };

/** A brokerage with many portfolios, without the checks of the test market, and their ids. */
function manyPortfolios(count: number) {
  const { now, brokerage } = new TestMarket();
  const { rules } = brokerage;
  const many = Brokerage.begin(rules, 42, now);
  const push = (symbol: string, price: string): unknown =>
    many.execute<'UpdateMarket'>(
      {
        type: 'UpdateMarket',
        quotes: [{ symbol, bid: Price.of(price), ask: Price.of(price), last: Price.of(price), at: now }],
        pushed: true,
      },
      now,
    );
  push('AAPL', '10.00');
  push('MSFT', '10.00');
  push('AAPL260320C00010000', '1.00');
  const ids = Array.from({ length: count }, () => {
    const { result } = many.execute<'OpenPortfolio'>(
      {
        type: 'OpenPortfolio',
        by,
        accountId: '11111111-1111-4111-8111-111111111111',
        portfolioType: 'CASH',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
        fillModel: 'quote',
        initialCash: Money.ofDollars(10_000),
        proAccounts: 10,
      },
      now,
    );
    if ('code' in result) throw new Error(result.code);
    return result.terms.portfolioId;
  });
  const order = (index: number, placed: TestOrder): void => {
    const { result } = many.execute<'SubmitOrder'>(
      { type: 'SubmitOrder', by, order: requestOf(ids[index] ?? '', placed) },
      now,
    );
    if ('code' in result) throw new Error(JSON.stringify(result));
  };
  /** The events of an action from its first slice to its last, a list for each. */
  const carryOut = (action: { type: 'CASH_DIVIDEND' } | { type: 'SPLIT' }): Event[][] => {
    const exDate = TradingDate.of('2026-01-06');
    const whole =
      action.type === 'SPLIT'
        ? { ...action, symbol: 'AAPL', exDate, ratio: { new: 2, old: 1 } }
        : { ...action, symbol: 'AAPL', exDate, amountPerShare: Price.of('0.50') };
    many.execute<'AnnounceActions'>({ type: 'AnnounceActions', actions: [whole] }, now);
    const slices: Event[][] = [];
    for (let due = many.nextDue(); due !== undefined; due = many.nextDue()) {
      const at = Instant.max(due, many.state.now);
      const { events } = many.execute<'AdvanceClock'>({ type: 'AdvanceClock' }, at);
      const isSlice = (type: Event['type']): boolean => type === 'ActionDone' || type === 'ActionContinued';
      if (events.some(({ type }) => isSlice(type))) slices.push([...events]);
      if (events.some(({ type }) => type === 'ActionDone')) break;
    }
    return slices;
  };
  return { many, ids, order, carryOut };
}

it.each([
  ['few', 0],
  ['very many', 5001],
])('a dividend processes its portfolios by number, a hundred to a record: %s orders', (_, orders) => {
  const { ids, order, carryOut } = manyPortfolios(710);
  for (let count = 0; count < orders; count++) order(709, { quantity: 1, limit: '1.00', tif: 'GTC' });
  // Every tenth has nothing to do with it. The last ones bought first.
  for (let index = ids.length - 1; index >= 0; index--)
    order(index, { symbol: index % 10 === 0 ? 'MSFT' : 'AAPL', quantity: 1 });
  const slices = carryOut({ type: 'CASH_DIVIDEND' });
  const paid = slices.map((events) =>
    events.flatMap((event) => (event.type === 'DividendAccrued' ? ids.indexOf(event.portfolioId) : [])),
  );
  const counts = paid.map(({ length }) => length);
  expect(counts.filter((count) => count > 0)).toEqual([100, 100, 100, 100, 100, 100, 39]);
  // The orders of one portfolio are in several records (D264).
  const updates = slices.map((events) => events.filter(({ type }) => type === 'OrderMoved').length);
  expect(Math.max(...updates)).toBeLessThanOrEqual(1024);
  expect(updates.reduce((sum, count) => sum + count, 0)).toBe(orders);
  expect(paid.flat()).toEqual(ids.map((_, index) => index).filter((index) => index % 10 !== 0));
});

it('a split finds exactly the portfolios with orders in the stock or its options', () => {
  const { many, order, carryOut } = manyPortfolios(6);
  order(1, { symbol: 'MSFT', quantity: 1, limit: '9.00', tif: 'GTC' });
  order(2, { quantity: 2, limit: '9.00', tif: 'GTC' });
  order(4, { symbol: 'AAPL260320C00010000', quantity: 1, limit: '0.90', tif: 'GTC' });
  order(5, { symbol: 'AAPL260320C00010000', quantity: 1 });
  const [slice = [], ...others] = carryOut({ type: 'SPLIT' });
  expect(others).toEqual([]);
  const moved = slice.flatMap((event) => (event.type === 'OrderMoved' ? event.order : []));
  expect(moved).toEqual([2, 3]);
  expect(slice.filter(({ type }) => type === 'OptionAdjusted')).toHaveLength(1);
  expect([...(many.state.optionOrders.get('AAPL') ?? [])]).toHaveLength(1);
});
