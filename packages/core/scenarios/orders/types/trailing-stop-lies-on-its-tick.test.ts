import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';
import { TradingDate } from '../../../src/values/trading-date.js';

const CALL = 'AAPL260116C00150000';

/** The stop that a trailing stop starts with after the market was at `last` (an option: at that bid and ask). */
function stopAt(last: string, order: TestOrder): string {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
  market.quote('AAPL', '149.99', '150.01');
  if (order.symbol === CALL) market.quote(CALL, last, last);
  else market.quote('AAPL', last, last, { last });
  const id = market.place(portfolio, { type: 'TRAILING_STOP', ...order });
  const { mark, stopPrice } = market.order(id);
  expect(mark).toBe(Price.of(last));
  return Price.format(stopPrice ?? Price.of('0'));
}

describe('a trailing stop lies on the nearest tick of the grid at its price (D250)', () => {
  const sell = { intent: 'SELL_TO_OPEN' } as const;
  it.each<[string, string, TestOrder, string]>([
    ['455.95 less 0.1563 % = 455.23734985', '455.95', { ...sell, trailingPercent: '0.1563' }, '455.24'],
    ['a sale halfway, 97.505, goes down', '98.505', { ...sell, trailingAmount: '1.00' }, '97.5'],
    ['a purchase halfway, 102.495, goes up', '101.495', { trailingAmount: '1.00' }, '102.5'],
    ['at least one tick from the mark', '100.00', { ...sell, trailingPercent: '0.004' }, '99.99'],
    ['at least one tick from the mark, a purchase', '100.00', { trailingPercent: '0.004' }, '100.01'],
    ['a print of 100.0049 less 1.00', '100.0049', { ...sell, trailingAmount: '1.00' }, '99'],
    [
      'a print of 100.0049 less 0.001: one tick from the mark',
      '100.0049',
      { ...sell, trailingAmount: '0.001' },
      '99.99',
    ],
    ['below one dollar the tick is 0.0001', '1.00', { ...sell, trailingPercent: '0.004' }, '0.9999'],
    ['a purchase over one dollar', '0.99995', { trailingPercent: '0.001' }, '1.01'],
    ['a half just below 1e-8 is no half', '0.3333', { ...sell, trailingPercent: '0.015' }, '0.3332'],
    ['one tick above 0', '0.0002', { ...sell, trailingPercent: '99' }, '0.0001'],
  ])('%s', (_, last, order, expected) => {
    expect(stopAt(last, order)).toBe(expected);
  });

  it.each([
    ['3.992', '2.99'],
    ['4.02', '3'],
    ['4.03', '3.05'],
  ])('an option at %s less 1.00: cents below 3.00, then 0.05', (mark, expected) => {
    expect(stopAt(mark, { symbol: CALL, intent: 'SELL_TO_OPEN', trailingAmount: '1.00' })).toBe(expected);
  });

  it('an option of 3.04 less 0.03: 3.00 is less than a tick of 0.05 away, 2.99 is the next', () => {
    expect(stopAt('3.04', { symbol: CALL, intent: 'SELL_TO_OPEN', trailingAmount: '0.03' })).toBe('2.99');
  });

  it('a split and a dividend: the mark stays exact, the stop is on its tick, and a dividend leaves it alone', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.99', '100.01', { last: '100.00' });
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 20 });
    const order = market.place(portfolio, {
      type: 'TRAILING_STOP',
      intent: 'SELL_TO_CLOSE',
      trailingAmount: '1.01',
      tif: 'GTC',
    });
    market.quote('AAPL', '100.06', '100.08', { last: '100.07' });
    // 100.07 - 1.01
    expect(market.order(order).stopPrice).toBe(Price.of('99.06'));
    market.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [
        { type: 'SPLIT', symbol: 'AAPL', exDate: TradingDate.of('2026-01-06'), ratio: { new: 2, old: 1 } },
        {
          type: 'CASH_DIVIDEND',
          symbol: 'AAPL',
          exDate: TradingDate.of('2026-01-07'),
          amountPerShare: Price.of('0.25'),
        },
      ],
    });
    market.advanceTo('2026-01-06', 9, 0);
    // 50.035 - 0.505 = 49.53
    expect(market.order(order)).toMatchObject({
      mark: Price.of('50.035'),
      trailingAmount: Price.of('0.505'),
      stopPrice: Price.of('49.53'),
    });
    market.advanceTo('2026-01-06', 9, 30);
    // 50.04 - 0.505 = 49.535: a half goes down.
    market.quote('AAPL', '50.03', '50.05', { last: '50.04' });
    expect(market.order(order).stopPrice).toBe(Price.of('49.53'));
    market.advanceTo('2026-01-07', 9, 30);
    expect(market.order(order)).toMatchObject({ mark: Price.of('50.04'), stopPrice: Price.of('49.53') });
    market.quote('AAPL', '49.52', '49.54', { last: '49.53' });
    expect(market.fills(order)).toEqual(['20 @ 49.52']);
  });

  it('never moves back while the market rises by less than a tick', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.99', '100.01', { last: '100.00' });
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    const order = market.place(portfolio, {
      type: 'TRAILING_STOP',
      intent: 'SELL_TO_CLOSE',
      trailingPercent: '0.33',
    });
    let before = 0;
    for (let last = 1_000_000; last < 1_000_500; last += 7) {
      market.quote('AAPL', '99.99', '100.10', { last: (last / 10_000).toFixed(4) });
      const { stopPrice = 0 } = market.order(order);
      expect(stopPrice).toBeGreaterThanOrEqual(before);
      expect(stopPrice % 1_000_000).toBe(0);
      before = stopPrice;
    }
  });
});
