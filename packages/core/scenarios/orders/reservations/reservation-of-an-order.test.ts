import { describe, expect, it } from 'vitest';
import { reservedShares } from '../../../src/portfolios/portfolio.js';
import { dollars, testBroker, TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Money } from '../../../src/values/money.js';

/** One dollar an order and half a cent a share. */
const charging = testBroker('default', {
  equityCommission: { perOrder: Money.ofDollars(1), perUnit: Money.ofUnits(50) },
});

function simulation(cash = 100_000, type: 'CASH' | 'MARGIN' = 'CASH') {
  const market = new TestMarket({ rules: { brokers: new Map([['default', charging]]) } });
  market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
  const portfolio = market.openPortfolio({ cash, type });
  const reserved = () => dollars(market.portfolio(portfolio).reservedByOrders.cash);
  const settled = () => dollars(market.portfolio(portfolio).balances.SETTLED_CASH);
  return { market, portfolio, reserved, settled };
}

describe('a purchase sets aside its worst case, commission included', () => {
  it.each<[string, TestOrder, number]>([
    // Ten shares: 1.00 + 10 × 0.005 = 1.05 of commission throughout.
    ['LIMIT: its limit', { limit: '90.00' }, 900 + 1.05],
    ['STOP: its stop and 5 %', { type: 'STOP', stop: '110.00' }, 1155 + 1.05],
    // 10 × 100.01 × 1.05 = 1,050.105
    ['STOP, up to whole cents', { type: 'STOP', stop: '100.01' }, 1051.16],
    ['STOP_LIMIT: its limit', { type: 'STOP_LIMIT', stop: '110.00', limit: '112.00' }, 1120 + 1.05],
    // The mark is 100.00, the stop 104.00, and 5 % more: 109.20.
    [
      'TRAILING_STOP: where its stop stands and 5 %',
      { type: 'TRAILING_STOP', trailingAmount: '4.00' },
      1092 + 1.05,
    ],
    [
      'TRAILING_STOP_LIMIT: its limit',
      { type: 'TRAILING_STOP_LIMIT', trailingAmount: '4.00', limit: '105.00' },
      1050 + 1.05,
    ],
    // 0.333333 × 90.00 = 29.99997, up to whole cents, and 1.00 + 0.001666… of commission, half up to cents.
    ['a fraction of a share', { limit: '90.00', quantity: '0.333333' }, 30 + 1],
  ])('%s', (_name, order, expected) => {
    const { market, portfolio, reserved, settled } = simulation();
    const id = market.place(portfolio, order);
    expect(market.order(id).status).toBe('ACTIVE');
    expect(reserved()).toBe(expected);
    expect(settled()).toBe(100_000);
    expect(dollars(market.value(portfolio).settledCash)).toBe(100_000 - expected);
    market.cancel(id);
    expect(reserved()).toBe(0);
  });

  it('MARKET: the ask and 5 %, while it waits for the open', () => {
    const market = new TestMarket({ hour: 8, rules: { brokers: new Map([['default', charging]]) } });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    expect(dollars(market.portfolio(portfolio).reservedByOrders.cash)).toBe(1051.05);
  });

  it('reservations of orders add up, and the free cash limits the next order', () => {
    const { market, portfolio, reserved } = simulation(2000);
    market.place(portfolio, { limit: '90.00' });
    market.place(portfolio, { limit: '95.00' });
    expect(reserved()).toBe(901.05 + 951.05);
    expect(market.submit(portfolio, { limit: '90.00', quantity: 2 })).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
    expect(market.submit(portfolio, { limit: '90.00', quantity: 1 })).toBeTypeOf('string');
  });
});

describe('each execution releases the unused reservation', () => {
  it('price improvement comes back at once', () => {
    const { market, portfolio, reserved, settled } = simulation();
    market.place(portfolio, { limit: '105.00' });
    expect(reserved()).toBe(0);
    expect(settled()).toBe(100_000 - 1001.05);
  });

  it('a partial fill keeps the reservation of the remaining quantity', () => {
    const { market, portfolio, reserved } = simulation();
    market.quote('AAPL', '99.90', '100.00', { askSize: 4 });
    market.place(portfolio, { limit: '100.00' });
    // 1,001.05 reserved; 4 × 100.00 + 1.02 paid (commission of four shares, 1.00 + 0.02).
    expect(reserved()).toBe(1001.05 - 401.02);
  });

  it('an order that reserves every cent fills in parts, to the last', () => {
    const { market, portfolio, settled, reserved } = simulation(1001.05);
    market.quote('AAPL', '99.90', '100.00', { askSize: 3 });
    const order = market.place(portfolio, { limit: '100.00' });
    for (const askSize of [3, 3, 3]) market.quote('AAPL', '99.90', '100.00', { askSize });
    expect(market.order(order).status).toBe('FILLED');
    expect(settled()).toBe(0);
    expect(reserved()).toBe(0);
  });

  it('an order at fractions of a cent per share fills in parts, to the last', () => {
    const market = new TestMarket();
    market.quote('F', '0.0049', '0.0050', { askSize: 1 });
    const portfolio = market.openPortfolio({ cash: 0.05 });
    const order = market.place(portfolio, { symbol: 'F', limit: '0.0050', quantity: 10 });
    for (let share = 2; share <= 10; share++) market.quote('F', '0.0049', '0.0050', { askSize: 1 });
    expect(market.order(order).status).toBe('FILLED');
    // Ten times half a cent: five cents, not ten.
    expect(market.portfolio(portfolio).balances.SETTLED_CASH).toBe(0);
  });
});

describe('when the market moves past the reservation', () => {
  it('an execution within the free cash still happens', () => {
    const { market, portfolio, settled } = simulation();
    const stop = market.place(portfolio, { type: 'STOP', stop: '110.00' });
    market.quote('AAPL', '129.90', '130.00', { last: '130.00' });
    expect(market.fills(stop)).toEqual(['10 @ 130']);
    expect(settled()).toBe(100_000 - 1301.05);
  });

  it.each([
    [1301.05, ['10 @ 130']],
    [1301.04, []],
  ])('an execution for 1,301.05 needs the last cent: %d', (cash, fills) => {
    const { market, portfolio } = simulation(cash);
    const stop = market.place(portfolio, { type: 'STOP', stop: '110.00' });
    market.quote('AAPL', '129.90', '130.00', { last: '130.00' });
    expect(market.fills(stop)).toEqual(fills);
  });

  it('beyond it the order is rejected: cash is never negative', () => {
    const { market, portfolio, reserved, settled } = simulation(1200);
    const stop = market.place(portfolio, { type: 'STOP', stop: '110.00' });
    market.quote('AAPL', '129.90', '130.00', { last: '130.00' });
    expect(market.fills(stop)).toEqual([]);
    expect(market.order(stop)).toMatchObject({
      status: 'REJECTED',
      rejectReason: {
        code: 'INSUFFICIENT_FUNDS',
        availableCash: Money.ofDollars(1200),
        requiredAmount: Money.ofUnits(13_010_500),
      },
    });
    expect([reserved(), settled()]).toEqual([0, 1200]);
  });

  it('earlier fills stay', () => {
    const { market, portfolio, settled } = simulation(1060);
    market.quote('AAPL', '99.90', '100.00', { askSize: 5 });
    const order = market.place(portfolio, { quantity: 10 });
    market.quote('AAPL', '119.90', '120.00');
    expect(market.fills(order)).toEqual(['5 @ 100']);
    expect(market.order(order)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'INSUFFICIENT_FUNDS',
      filledQuantity: 5_000_000,
    });
    expect(settled()).toBe(1060 - 501.03);
  });

  it('reservations of other orders stay', () => {
    const { market, portfolio } = simulation(2100);
    const stop = market.place(portfolio, { type: 'STOP', stop: '110.00' });
    const limit = market.place(portfolio, { limit: '94.00' });
    market.quote('AAPL', '129.90', '130.00', { last: '130.00' });
    expect(market.order(stop).status).toBe('REJECTED');
    market.quote('AAPL', '93.90', '94.00', { last: '94.00' });
    expect(market.fills(limit)).toEqual(['10 @ 94']);
  });
});

describe('a sale to close sets shares aside, not money', () => {
  it('from acceptance to its end', () => {
    const { market, portfolio, reserved } = simulation();
    market.place(portfolio, { quantity: 10 });
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '110.00', quantity: 7 });
    const shares = () => reservedShares(market.portfolio(portfolio), 'AAPL');
    expect(shares()).toBe(7_000_000);
    expect(reserved()).toBe(0);
    market.quote('AAPL', '110.00', '110.10', { bidSize: 3 });
    expect(shares()).toBe(4_000_000);
    market.cancel(sale);
    expect(shares()).toBe(0);
  });
});

describe('in a MARGIN portfolio an order reserves margin (D108)', () => {
  const taken = (market: TestMarket, portfolio: string) => {
    const { cash, headroom } = market.portfolio(portfolio).reservedByOrders;
    return [cash, headroom.initial, headroom.maintenance].map(dollars);
  };

  it('a purchase half and a quarter of its worst cost, its charges in full, and its cash', () => {
    const { market, portfolio } = simulation(100_000, 'MARGIN');
    market.place(portfolio, { limit: '90.00' });
    expect(taken(market, portfolio)).toEqual([901.05, 451.05, 226.05]);
  });

  it('a short sale reserves initial and maintenance requirements of its price or a higher ask, and no cash', () => {
    const { market, portfolio } = simulation(100_000, 'MARGIN');
    const order = market.place(portfolio, { intent: 'SELL_TO_OPEN', limit: '110.00' });
    // 50 % and 30 % of 1,100, and 1.05 of commission.
    expect(taken(market, portfolio)).toEqual([0, 551.05, 331.05]);
    market.cancel(order);
    market.place(portfolio, { intent: 'SELL_TO_OPEN', type: 'STOP', stop: '90.00' });
    expect(taken(market, portfolio)).toEqual([0, 501.05, 301.05]);
  });

  it('gives it back as it fills, and all of it at its end', () => {
    const { market, portfolio } = simulation(100_000, 'MARGIN');
    market.quote('AAPL', '99.90', '100.00', { askSize: 4 });
    const order = market.place(portfolio, { limit: '100.00' });
    // The first four have used 401.02, 201.02 and 101.02 of 1,001.05, 501.05 and 251.05.
    expect(taken(market, portfolio)).toEqual([600.03, 300.03, 150.03]);
    market.cancel(order);
    expect(taken(market, portfolio)).toEqual([0, 0, 0]);
  });
});
