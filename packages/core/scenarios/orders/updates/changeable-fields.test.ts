import { describe, expect, it } from 'vitest';
import { reservedShares } from '../../../src/portfolios/portfolio.js';
import { TestMarket, testBroker } from '../../../src/testing/market.js';
import type { TestChanges, TestOrder } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';

function open(order: TestOrder, options: ConstructorParameters<typeof TestMarket>[0] = {}) {
  const market = new TestMarket(options);
  market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
  const portfolio = market.openPortfolio();
  return { market, portfolio, order: market.place(portfolio, order) };
}

const ORDERS = {
  LIMIT: { limit: '90.00' },
  STOP: { type: 'STOP', stop: '110.00' },
  STOP_LIMIT: { type: 'STOP_LIMIT', stop: '110.00', limit: '111.00' },
  TRAILING_STOP: { type: 'TRAILING_STOP', trailingAmount: '5.00' },
  TRAILING_STOP_LIMIT: { type: 'TRAILING_STOP_LIMIT', trailingAmount: '5.00', limit: '111.00' },
} as const satisfies Record<string, TestOrder>;

describe('fields', () => {
  it.each<[keyof typeof ORDERS, TestChanges, string[]]>([
    ['LIMIT', { limit: '91.00' }, []],
    ['LIMIT', { stop: '91.00' }, ['stopPrice cannot be updated on LIMIT orders']],
    ['STOP', { stop: '112.00' }, []],
    ['STOP', { limit: '112.00' }, ['limitPrice cannot be updated on STOP orders']],
    ['STOP_LIMIT', { stop: '112.00', limit: '113.00' }, []],
    ['TRAILING_STOP', { stop: '112.00' }, ['stopPrice cannot be updated on TRAILING_STOP orders']],
    [
      'TRAILING_STOP_LIMIT',
      { limit: '112.00' },
      ['limitPrice cannot be updated on TRAILING_STOP_LIMIT orders'],
    ],
    ['LIMIT', { limit: '0' }, ['limitPrice must be a positive number']],
    ['STOP_LIMIT', { limit: '-1.00' }, ['limitPrice must be a positive number']],
    ['TRAILING_STOP', { quantity: 5 }, []],
    ['LIMIT', { quantity: 20 }, []],
    ['LIMIT', { tif: 'GTC' }, []],
    ['LIMIT', { tif: 'GTD' }, ['goodTillDate must be an ISO 8601 date or date-time']],
    ['LIMIT', { tif: 'GTD', goodTillDate: '2026-01-07' }, []],
    ['LIMIT', { tif: 'GTD', goodTillDate: '2026-01-02' }, ['goodTillDate must be in the future']],
    ['LIMIT', { goodTillDate: '2026-01-07' }, ['goodTillDate can only be updated on GTD orders']],
    ['TRAILING_STOP', { tif: 'IOC' }, ['timeInForce cannot be updated to IOC on this order']],
    [
      'LIMIT',
      { limit: '91.005', stop: '1.00' },
      ['stopPrice cannot be updated on LIMIT orders', 'limitPrice must be a multiple of 0.01'],
    ],
  ])('%s %j', (type, changes, expected) => {
    const { market, order } = open(ORDERS[type]);
    const refusal = market.replace(order, changes);
    expect(refusal).toEqual(expected.length === 0 ? undefined : { code: 'INVALID', messages: expected });
    expect(market.order(order).status).toBe('ACTIVE');
  });

  it('a limit stays positive, one that has filled in part included (D138)', () => {
    const { market, order } = open({ limit: '90.00' });
    market.quote('AAPL', '89.90', '90.00', { askSize: 1 });
    expect(market.replace(order, { limit: '-0.01', tif: 'IOC' })).toEqual({
      code: 'INVALID',
      messages: ['limitPrice must be a positive number'],
    });
  });

  it('the time in force of a market order cannot be updated', () => {
    const { market, order } = open({}, { hour: 8 });
    expect(market.replace(order, { tif: 'GTC' })).toEqual({
      code: 'INVALID',
      messages: ['timeInForce cannot be updated on MARKET orders'],
    });
  });

  it('the quantity cannot be updated after a partial fill; the price can', () => {
    const { market, order } = open({ limit: '90.00' });
    market.quote('AAPL', '89.90', '90.00', { askSize: 1 });
    expect(market.replace(order, { quantity: 9 })).toEqual({
      code: 'INVALID',
      messages: ['quantity cannot be updated after a partial fill'],
    });
    expect(market.replace(order, { limit: '89.00' })).toBeUndefined();
    expect(market.order(order)).toMatchObject({ limitPrice: Price.of('89'), filledQuantity: 1_000_000 });
  });

  it('the stop price cannot be updated once it was triggered; the limit can', () => {
    const { market, order } = open(ORDERS.STOP_LIMIT);
    market.quote('AAPL', '112.00', '112.10', { last: '112.00' });
    expect(market.replace(order, { stop: '115.00' })).toEqual({
      code: 'INVALID',
      messages: ['stopPrice cannot be updated after the stop was triggered'],
    });
    market.replace(order, { limit: '112.50' });
    expect(market.fills(order)).toEqual(['10 @ 112.1']);
  });
});

describe('statuses', () => {
  it('PENDING: an order in transit arrives with its update', () => {
    const { market, order } = open({ limit: '90.00', more: { latencyProfile: 'CUSTOM', latencyMs: 100 } });
    expect(market.replace(order, { limit: '100.00' })).toBeUndefined();
    expect(market.order(order).status).toBe('PENDING');
    market.advanceMs(100);
    expect(market.fills(order)).toEqual(['10 @ 100']);
  });

  it('PENDING_MARKET_OPEN: stays so', () => {
    const { market, order } = open({ limit: '90.00' }, { hour: 8 });
    expect(market.replace(order, { limit: '100.00' })).toBeUndefined();
    expect(market.order(order).status).toBe('PENDING_MARKET_OPEN');
    market.advanceTo('2026-01-05', 9, 30);
    market.quote('AAPL', '99.90', '100.00');
    expect(market.fills(order)).toEqual(['10 @ 100']);
  });

  it('an order that is over is not there to be updated or canceled', () => {
    const { market, order } = open({ limit: '100.00' });
    expect(market.order(order).status).toBe('FILLED');
    expect(market.replace(order, { limit: '99.00' })).toEqual({ code: 'NOT_FOUND', what: 'Order' });
    expect(market.cancel(order)).toEqual({ code: 'NOT_FOUND', what: 'Order' });
  });
});

describe('a new price', () => {
  it('a new price that is marketable fills at the best bid or ask', () => {
    const { market, order } = open({ limit: '90.00' });
    market.replace(order, { limit: '101.00' });
    expect(market.fills(order)).toEqual(['10 @ 100']);
    expect(market.executions(order)[0]?.liquidity).toBe('TAKER');
  });

  it('a new price away from the market rests', () => {
    const { market, order } = open({ limit: '90.00' });
    market.replace(order, { limit: '95.00' });
    market.quote('AAPL', '93.90', '94.00');
    expect(market.fills(order)).toEqual(['10 @ 95']);
  });

  it('a new stop price that the market is beyond triggers the stop', () => {
    const { market, order } = open(ORDERS.STOP);
    market.replace(order, { stop: '100.00' });
    expect(market.fills(order)).toEqual(['10 @ 100']);
  });
});

describe('a new time in force', () => {
  it('moves the expiry', () => {
    const { market, order } = open({ limit: '90.00' });
    market.replace(order, { tif: 'GTD', goodTillDate: '2026-01-07' });
    market.advanceTo('2026-01-06', 12, 0);
    market.replace(order, { goodTillDate: '2026-01-08' });
    market.advanceTo('2026-02-01', 12, 0);
    expect(market.time(market.order(order).canceledAt)).toBe('2026-01-08T16:00:00-05:00');
  });

  it('GTC back to DAY ends at today’s close', () => {
    const { market, order } = open({ limit: '90.00', tif: 'GTC' });
    market.advanceTo('2026-01-07', 12, 0);
    market.replace(order, { tif: 'DAY' });
    market.advanceTo('2026-02-01', 12, 0);
    expect(market.time(market.order(order).canceledAt)).toBe('2026-01-07T16:00:00-05:00');
  });

  it('IOC fills the available size and cancels the rest', () => {
    const { market, order } = open({ limit: '90.00' });
    market.replace(order, { tif: 'IOC' });
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'IOC_REMAINDER' });
  });

  it('IOC while the market is closed is refused', () => {
    const { market, order } = open({ limit: '90.00', tif: 'GTC' });
    market.advanceTo('2026-01-05', 17, 0);
    expect(market.replace(order, { tif: 'IOC' })).toEqual({
      code: 'MARKET_CLOSED',
      nextOpen: '2026-01-06T09:30:00-05:00',
    });
  });

  it('outside the tier is refused', () => {
    const { market, order } = open({ limit: '90.00' });
    expect(market.replace(order, { tif: 'IOC' }, { tier: 'BASIC' })).toMatchObject({
      code: 'FEATURE_NOT_AVAILABLE',
      currentTier: 'BASIC',
      requiredTier: 'PRO',
    });
  });

  it('a fractional quantity that the broker does not offer is refused', () => {
    const plain = testBroker('default', { timesInForce: ['DAY'], fractionalShares: false });
    const { market, order } = open({ limit: '90.00' }, { rules: { brokers: new Map([['default', plain]]) } });
    expect(market.replace(order, { tif: 'GTC' })).toEqual({
      code: 'BROKER_RESTRICTION',
      message: 'default does not offer time in force GTC',
    });
    expect(market.replace(order, { quantity: '1.5' })).toEqual({
      code: 'BROKER_RESTRICTION',
      message: 'default does not offer fractional shares',
    });
  });
});

describe('requirements of an update are checked again', () => {
  it('funds, with the figures', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ cash: 1000 });
    const order = market.place(portfolio, { limit: '90.00', quantity: 10 });
    // The 900.00 of this very order count as available.
    expect(market.replace(order, { quantity: 12 })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: 10_000_000,
      requiredAmount: 10_800_000,
    });
    expect(market.replace(order, { quantity: 11 })).toBeUndefined();
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(9_900_000);
    expect(market.replace(order, { quantity: 5 })).toBeUndefined();
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(4_500_000);
  });

  it('shares, with the figures', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '110.00', quantity: 3 });
    const order = market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '110.00', quantity: 5 });
    expect(market.replace(order, { quantity: 8 })).toEqual({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: 7_000_000,
      requiredQuantity: 8_000_000,
    });
    expect(market.replace(order, { quantity: 7 })).toBeUndefined();
    expect(reservedShares(market.portfolio(portfolio), 'AAPL')).toBe(10_000_000);
  });

  it('a refused update changes nothing', () => {
    const { market, order } = open({ limit: '90.00' });
    const before = market.order(order);
    market.replace(order, { quantity: 5, stop: '1.00' });
    expect(market.order(order)).toEqual(before);
  });
});

it('the orders of a frozen account can be canceled, not updated', () => {
  const { market, order } = open({ limit: '90.00' });
  market.execute<'SetAccountStatus'>({
    type: 'SetAccountStatus',
    by: market.by,
    accountId: '11111111-1111-4111-8111-111111111111',
    status: 'FROZEN',
  });
  expect(market.replace(order, { limit: '91.00' })).toMatchObject({ code: 'ACCOUNT_FROZEN' });
  expect(market.cancel(order)).toBeUndefined();
});
