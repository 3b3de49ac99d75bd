import { describe, expect, it } from 'vitest';
import type { CappedAgent } from '../../../src/orders/agent-caps.js';
import { goodTill, TestMarket, testBroker, testEquity, testRules } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { KnownInstruments } from '../../../src/instruments/known-instruments.js';
import { Money } from '../../../src/values/money.js';
import { Price } from '../../../src/values/price.js';
import { Quantity } from '../../../src/values/quantity.js';

/** AAPL at 112.00 – 112.10; 30 bought at 112.50 in part: 10. */
function partlyFilled(order: TestOrder = {}) {
  const m = new TestMarket();
  const portfolio = m.openPortfolio();
  m.quote('AAPL', '112.00', '112.10', { last: '112.00', askSize: 10 });
  const id = m.place(portfolio, { limit: '112.50', quantity: 30, ...order });
  m.quote('AAPL', '114.00', '114.10', { last: '114.00', askSize: 10 });
  return { m, portfolio, id };
}

describe('equal is no change (D247)', () => {
  it('30 ordered, 10 filled: a new price beside the same quantity is accepted', () => {
    const { m, id } = partlyFilled();
    expect(m.order(id)).toMatchObject({ quantity: 30_000_000, filledQuantity: 10_000_000 });
    expect(m.replace(id, { limit: '113.00', quantity: 30 })).toBeUndefined();
    expect(m.order(id)).toMatchObject({ limitPrice: Price.of('113'), quantity: 30_000_000, replacements: 1 });
    expect(m.replace(id, { limit: '113.00', quantity: 31 })).toEqual({
      code: 'INVALID',
      messages: ['quantity cannot be updated after a partial fill'],
    });
  });

  it('the same price leaves no record and no event, and keeps updatedAt and the place in the queue', () => {
    const { m, portfolio, id } = partlyFilled();
    const later = m.place(portfolio, { limit: '112.50', quantity: 30 });
    const [before, records] = [m.order(id), m.journal.length];
    m.advanceMs(60_000);
    expect(m.replace(id, { limit: '112.50', quantity: 30, tif: 'DAY' })).toBeUndefined();
    expect([m.order(id), m.journal.length]).toEqual([before, records]);
    m.quote('AAPL', '112.30', '112.40', { askSize: 20 });
    expect([m.fills(id).length, m.fills(later).length]).toEqual([2, 0]);
  });

  it.each<[string, TestOrder, Parameters<TestMarket['replace']>[1]]>([
    ['MARKET, time in force', { type: 'MARKET', quantity: 5 }, { tif: 'DAY' }],
    ['STOP, stop price', { type: 'STOP', stop: '120.00', quantity: 5 }, { stop: '120.00', quantity: 5 }],
    [
      'TRAILING_STOP_LIMIT, shown prices',
      { type: 'TRAILING_STOP_LIMIT', trailingAmount: '5.00', limit: '121.00', quantity: 5 },
      { limit: '121.00', stop: '117.00', quantity: 5 },
    ],
    ['OPG, time in force', { limit: '100.00', tif: 'OPG', quantity: 5 }, { tif: 'OPG', limit: '100.00' }],
    [
      'GTD, its date by itself and beside its time in force',
      { limit: '100.00', tif: 'GTD', quantity: 5 },
      { goodTillDate: '2026-01-07', tif: 'GTD' },
    ],
    ['GTD, its time in force without its date', { limit: '100.00', tif: 'GTD', quantity: 5 }, { tif: 'GTD' }],
  ])('%s: every field that the type does not let change may be repeated', (_, order, changes) => {
    const broker = testBroker('default', { auctionOrders: true });
    const m = new TestMarket({ hour: 8, rules: { brokers: new Map([['default', broker]]) } });
    const portfolio = m.openPortfolio();
    m.quote('AAPL', '111.90', '112.00', { last: '112.00' });
    const goodTillDate = goodTill('2026-01-07');
    const more = order.tif === 'GTD' ? { goodTillDate } : {};
    const id = m.place(portfolio, { ...order, more });
    const [before, records] = [m.order(id), m.journal.length];
    m.advanceMs(1000);
    expect(m.replace(id, changes)).toBeUndefined();
    expect([m.order(id), m.journal.length]).toEqual([before, records]);
  });

  it('instants are equal by instant, and a date is its close', () => {
    const m = new TestMarket();
    const id = m.place(m.openPortfolio(), {
      limit: '100.00',
      tif: 'GTD',
      more: { goodTillDate: goodTill('2026-01-07') },
    });
    const { calendar } = m.brokerage.rules;
    const till = (hour: number) => ({
      until: calendar.instantOf('2026-01-07' as never, hour, 0),
      text: `at ${hour}`,
    });
    const records = m.journal.length;
    const replace = (hour: number) =>
      m.execute<'ReplaceOrder'>({
        type: 'ReplaceOrder',
        by: m.by,
        orderId: id,
        changes: { goodTillDate: till(hour) },
      }).result;
    expect(replace(16)).toMatchObject({ progress: { goodTillDate: { text: '2026-01-07' } } });
    expect(m.journal).toHaveLength(records);
    replace(15);
    expect(m.order(id).goodTillDate?.text).toBe('at 15');
  });

  it('an order that leaves GTD has no date any more', () => {
    const m = new TestMarket();
    const goodTillDate = goodTill('2026-01-07');
    const id = m.place(m.openPortfolio(), { limit: '100.00', tif: 'GTD', more: { goodTillDate } });
    expect(m.replace(id, { tif: 'GTC', goodTillDate: '2026-01-08' })).toEqual({
      code: 'INVALID',
      messages: ['goodTillDate should only exist for GTD orders'],
    });
    expect(m.replace(id, { tif: 'GTC', goodTillDate: '2026-01-07' })).toBeUndefined();
    expect(m.order(id)).not.toHaveProperty('goodTillDate');
    expect(m.replace(id, { tif: 'GTD' })).toEqual({
      code: 'INVALID',
      messages: ['goodTillDate must be an ISO 8601 date or date-time'],
    });
  });

  it('the triggered stop of a stop-limit order may be repeated beside a new limit', () => {
    const m = new TestMarket();
    m.quote('AAPL', '111.90', '112.00', { last: '112.00' });
    const id = m.place(m.openPortfolio(), { type: 'STOP_LIMIT', stop: '113.00', limit: '113.50' });
    m.quote('AAPL', '113.90', '114.00', { last: '113.90' });
    expect(m.order(id).triggered).toBe(true);
    expect(m.replace(id, { stop: '113.00', limit: '114.00', quantity: 10 })).toBeUndefined();
    expect(m.fills(id)).toEqual(['10 @ 114']);
  });

  it('exits of a bracket in part filled, with a latency profile, take a new price beside their quantity', () => {
    const { m, id } = partlyFilled({
      more: {
        latencyProfile: 'CUSTOM',
        latencyMs: 100,
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('120') },
          stopLoss: { orderType: 'STOP', stopPrice: Price.of('105') },
        },
      },
    });
    m.advanceMs(100);
    m.quote('AAPL', '112.00', '112.10', { last: '112.00', askSize: 10 });
    const [target = '', stop = ''] = m.exits(id);
    expect(m.order(stop)).toMatchObject({ status: 'ACTIVE', quantity: 10_000_000 });
    expect(m.replace(stop, { stop: '106.00', quantity: 10 })).toBeUndefined();
    expect(m.replace(target, { limit: '121.00', quantity: 10, tif: 'GTC' })).toBeUndefined();
    expect(m.replace(id, { limit: '112.60', quantity: 30 })).toBeUndefined();
    expect([m.order(stop).stopPrice, m.order(target).limitPrice]).toEqual([Price.of('106'), Price.of('121')]);
    // A sale of 4 by the target reduces the stop to 6.
    m.quote('AAPL', '121.00', '121.10', { last: '121.00', bidSize: 4 });
    expect(m.replace(stop, { stop: '107.00', quantity: 6 })).toBeUndefined();
    expect(m.replace(stop, { stop: '108.00', quantity: 10 })).toEqual({
      code: 'INVALID',
      messages: ['quantity cannot be updated on bracket orders'],
    });
  });

  it('a pair of closing orders takes a new price beside its quantity', () => {
    const m = new TestMarket();
    const portfolio = m.openPortfolio();
    m.quote('AAPL', '111.90', '112.00', { last: '112.00' });
    m.place(portfolio, { quantity: 10 });
    const limit = m.place(portfolio, {
      intent: 'SELL_TO_CLOSE',
      limit: '120.00',
      more: { ocoConfig: { stopLoss: { orderType: 'STOP', stopPrice: Price.of('105') } } },
    });
    const [stop = ''] = m.exits(limit);
    m.quote('AAPL', '120.00', '120.10', { last: '120.00', bidSize: 4 });
    expect(m.replace(limit, { limit: '119.00', quantity: 10 })).toBeUndefined();
    expect(m.replace(stop, { stop: '110.00', quantity: m.order(stop).quantity / 1e6 })).toBeUndefined();
  });

  it('a multi-leg order in part filled takes a new net price beside its units', () => {
    const m = new TestMarket();
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    const [low, high] = ['AAPL260116C00150000', 'AAPL260116C00160000'];
    m.quote('AAPL', '149.99', '150.01');
    m.quote(low, '5.00', '5.10', { bidSize: 2, askSize: 2 });
    m.quote(high, '2.00', '2.10', { bidSize: 2, askSize: 2 });
    const leg = (optionSymbol: string, positionIntent: 'BUY_TO_OPEN' | 'SELL_TO_OPEN') => ({
      optionSymbol,
      positionIntent,
      quantity: Quantity.of(5),
    });
    const id = m.place(portfolio, {
      limit: '3.10',
      quantity: 5,
      more: {
        assetClass: 'OPTION',
        strategy: 'VERTICAL_SPREAD',
        legs: [leg(low, 'BUY_TO_OPEN'), leg(high, 'SELL_TO_OPEN')],
      },
    });
    expect(m.order(id).filledQuantity).toBe(2_000_000);
    const [before, records] = [m.order(id), m.journal.length];
    expect(m.replace(id, { limit: '3.10', quantity: 5 })).toBeUndefined();
    expect([m.order(id), m.journal.length]).toEqual([before, records]);
    expect(m.replace(id, { limit: '3.05', quantity: 5 })).toBeUndefined();
    expect(m.order(id)).toMatchObject({ limitPrice: Price.of('3.05'), quantity: 5_000_000 });
  });

  it('a scripted order keeps its script through an equal update and through a new price beside its quantity', () => {
    const m = new TestMarket();
    m.quote('AAPL', '149.99', '150.01');
    m.script({
      type: 'FILL',
      pieces: [{ percent: 500_000 }, { percent: 500_000, after: { ms: 60_000, text: 'PT60S' } }],
    });
    const id = m.place(m.openPortfolio(), { limit: '151.00', quantity: 30 });
    expect(m.fills(id)).toEqual(['15 @ 150.01']);
    const records = m.journal.length;
    expect(m.replace(id, { limit: '151.00', quantity: 30 })).toBeUndefined();
    expect(m.journal).toHaveLength(records);
    expect(m.replace(id, { limit: '150.00', quantity: 30 })).toBeUndefined();
    m.advanceMs(60_000);
    expect(m.fills(id)).toEqual(['15 @ 150.01', '15 @ 150']);
  });
});

describe('equal fields are left out of every check (D247)', () => {
  it('the tier, the broker and the buying power are not asked for what stays', () => {
    const m = new TestMarket();
    const portfolio = m.openPortfolio({ cash: 1000 });
    const goodTillDate = goodTill('2026-01-07');
    const id = m.place(portfolio, { limit: '90.00', tif: 'GTD', quantity: 10, more: { goodTillDate } });
    expect(m.replace(id, { tif: 'GTD', quantity: 10 }, { tier: 'BASIC' })).toBeUndefined();
    expect(m.replace(id, { tif: 'GTD', limit: '89.00' }, { tier: 'BASIC' })).toBeUndefined();
    expect(m.order(id).limitPrice).toBe(Price.of('89'));
  });

  it('a limit beside a smaller quantity may be repeated; a new one must be on the tick', () => {
    const equities = [testEquity('PILOT', { tickSize: Price.of('0.05') })];
    const m = new TestMarket({
      rules: { ...testRules(), instruments: new KnownInstruments({ instruments: equities }) },
    });
    const id = m.place(m.openPortfolio(), { symbol: 'PILOT', limit: '10.05', quantity: 10 });
    expect(m.replace(id, { limit: '10.05', quantity: 9 })).toBeUndefined();
    expect(m.replace(id, { limit: '10.06', quantity: 9 })).toMatchObject({ code: 'INVALID' });
  });

  it('caps of an agent are neither checked nor spent', () => {
    const m = new TestMarket();
    m.quote('AAPL', '99.90', '100.00');
    const id = m.place(m.openPortfolio(), { limit: '90.00', quantity: 10 });
    const agent: CappedAgent = { agentId: 'a', caps: { maxOrderNotional: Money.ofDollars(1) } };
    const replace = (quantity: number) =>
      m.execute<'ReplaceOrder'>({
        type: 'ReplaceOrder',
        by: m.by,
        orderId: id,
        changes: { quantity: Quantity.of(quantity) },
        agent,
      }).result;
    const records = m.journal.length;
    expect(replace(10)).toHaveProperty('progress');
    expect(m.journal).toHaveLength(records);
    expect(replace(11)).toHaveProperty('code');
  });
});

describe('the state comes before the comparison (D247)', () => {
  const EMPTY = {
    code: 'INVALID',
    messages: [
      'body must contain at least one of limitPrice, stopPrice, quantity, timeInForce, goodTillDate',
    ],
  };

  it('an order that is over is not there, one that is being canceled is not updatable, an empty body is the last', () => {
    const m = new TestMarket();
    m.quote('AAPL', '99.90', '100.00');
    const portfolio = m.openPortfolio();
    const filled = m.place(portfolio, { limit: '100.00' });
    expect(m.replace(filled, { limit: '100.00' })).toEqual({ code: 'NOT_FOUND', what: 'Order' });
    const id = m.place(portfolio, { limit: '90.00', more: { latencyProfile: 'CUSTOM', latencyMs: 10 } });
    m.advanceMs(10);
    expect(m.replace(id, {})).toEqual(EMPTY);
    m.cancel(id);
    expect(m.replace(id, { limit: '90.00' })).toMatchObject({
      code: 'ORDER_NOT_UPDATABLE',
      status: 'CANCELING',
    });
    expect(m.replace(id, {})).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
  });

  it('a frozen account and the cutoff of an auction refuse an equal update too', () => {
    const broker = testBroker('default', { auctionOrders: true });
    const m = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
    m.quote('AAPL', '99.90', '100.00');
    const id = m.place(m.openPortfolio(), { limit: '90.00', tif: 'CLS' });
    m.advanceTo('2026-01-05', 15, 50);
    expect(m.replace(id, { limit: '90.00' })).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
    expect(m.replace(id, {})).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
    m.execute<'SetAccountStatus'>({
      type: 'SetAccountStatus',
      by: m.by,
      accountId: '11111111-1111-4111-8111-111111111111',
      status: 'FROZEN',
    });
    expect(m.replace(id, {})).toMatchObject({ code: 'ACCOUNT_FROZEN' });
  });
});
