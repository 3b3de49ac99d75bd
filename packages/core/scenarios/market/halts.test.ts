import { describe, expect, it } from 'vitest';
import { testBroker, testRules, TestMarket } from '../../src/testing/market.js';
import type { Instant } from '../../src/values/instant.js';
import { TradingDate } from '../../src/values/trading-date.js';
import { Price } from '../../src/values/price.js';
import { stateHash } from '../../src/state-hash.js';

const CALL = 'AAPL260116C00150000';
const HIGHER = 'AAPL260116C00160000';

/** Monday 2026-01-05, 10:00 by default; AAPL at 150. */
function open(options: ConstructorParameters<typeof TestMarket>[0] = {}) {
  const m = new TestMarket(options);
  m.quote('AAPL', '149.99', '150.01', { last: '150.00' });
  return { m, portfolio: m.openPortfolio() };
}

const at = (m: TestMarket, hour: number, minute: number, date = '2026-01-05'): Instant =>
  m.brokerage.rules.calendar.instantOf(TradingDate.of(date), hour, minute);

describe('a halt of a symbol (D178)', () => {
  it('fills and triggers nothing, and the first quote after it is an opening', () => {
    const { m, portfolio } = open();
    m.place(portfolio, { quantity: 10 });
    const rests = m.place(portfolio, { limit: '149.00' });
    const stop = m.place(portfolio, { intent: 'SELL_TO_CLOSE', type: 'STOP', stop: '148.00' });
    expect(m.halt('AAPL', 'LUDP')).toMatchObject({ symbol: 'AAPL', reason: 'LUDP', until: at(m, 10, 5) });
    m.advanceTo('2026-01-05', 10, 1);
    m.quote('AAPL', '147.00', '147.10', { last: '147.05' });
    expect([m.order(rests).status, m.order(stop).status]).toEqual(['ACTIVE', 'ACTIVE']);
    expect(m.waitingFor(rests)).toBe('trading in AAPL is halted (LUDP) until 2026-01-05T10:05:00-05:00');
    // Positions are still marked by the quotes of the halt.
    expect(m.brokerage.mark('AAPL')).toBe(Price.of('147.05'));
    m.advanceTo('2026-01-05', 10, 5);
    expect(m.waitingFor(rests)).toBe('no quote since trading in AAPL resumed');
    m.quote('AAPL', '148.40', '148.50', { last: '148.45' });
    // Better than its limit, as at the open of a session.
    expect(m.fills(rests)).toEqual(['10 @ 148.5']);
    expect(m.order(stop).status).toBe('ACTIVE');
  });

  it('accepts, changes and cancels orders that wait; refuses IOC and FOK', () => {
    const { m, portfolio } = open();
    m.halt('AAPL', 'T1');
    const order = m.place(portfolio, { limit: '151.00' });
    expect(m.waitingFor(order)).toBe('trading in AAPL is halted (T1)');
    expect(m.replace(order, { limit: '152.00' })).toBeUndefined();
    expect(m.replace(order, { tif: 'IOC' })).toMatchObject({ code: 'TRADING_HALTED', reason: 'T1' });
    expect(m.cancel(order)).toBeUndefined();
    for (const tif of ['IOC', 'FOK'] as const)
      expect(m.submit(portfolio, { tif })).toEqual({
        code: 'TRADING_HALTED',
        message: 'Trading in AAPL is halted (T1)',
        reason: 'T1',
      });
  });

  it('refuses every order of a broker that does not queue', () => {
    const brokers = new Map([['default', testBroker('default', { queuesWhenClosed: false })]]);
    const { m, portfolio } = open({ rules: { brokers } });
    m.halt('AAPL', 'LUDP');
    expect(m.submit(portfolio, { limit: '140.00' })).toMatchObject({
      code: 'TRADING_HALTED',
      until: at(m, 10, 5),
    });
  });

  it('ends an IOC that was on its way', () => {
    const { m, portfolio } = open();
    const order = m.place(portfolio, { tif: 'IOC', more: { latencyProfile: 'CUSTOM', latencyMs: 500 } });
    m.halt('AAPL', 'M');
    m.advanceMs(1000);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'TRADING_HALTED' });
  });

  it('lifted at the instant of its last quote, resumes with the next quote, even at the same instant', () => {
    const { m, portfolio } = open();
    const rests = m.place(portfolio, { limit: '149.00' });
    m.halt('AAPL', 'H10');
    m.quote('AAPL', '147.00', '147.10');
    m.lift('AAPL');
    const arrives = m.place(portfolio, { quantity: 1 });
    expect([m.order(rests).status, m.order(arrives).status]).toEqual(['ACTIVE', 'ACTIVE']);
    m.restart();
    expect(m.waitingFor(arrives)).toBe('no quote since trading in AAPL resumed');
    m.quote('AAPL', '148.00', '148.10');
    expect([m.fills(rests), m.fills(arrives)]).toEqual([['10 @ 148.1'], ['1 @ 148.1']]);
    expect(m.lift('AAPL')).toEqual({ code: 'NOT_FOUND', what: 'Halt' });
  });

  it('is replaced by a second one of the same symbol, and ends by that one alone', () => {
    const { m, portfolio } = open();
    m.halt('AAPL', 'LUDP');
    m.halt('AAPL', 'T2', { forMs: 3_600_000 });
    const order = m.place(portfolio, {});
    m.advanceTo('2026-01-05', 10, 30);
    m.quote('AAPL', '150.00', '150.10');
    expect(m.waitingFor(order)).toBe('trading in AAPL is halted (T2) until 2026-01-05T11:00:00-05:00');
    m.advanceTo('2026-01-05', 11);
    m.quote('AAPL', '150.00', '150.10');
    expect(m.order(order).status).toBe('FILLED');
  });

  it('a halt beyond the close: DAY orders expire with their session, GTC orders fill at the next opening', () => {
    const { m, portfolio } = open({ hour: 15, minute: 58 });
    const day = m.place(portfolio, { limit: '149.00' });
    const gtc = m.place(portfolio, { limit: '149.50', tif: 'GTC' });
    m.halt('AAPL', 'LUDP');
    m.quote('AAPL', '140.00', '140.10');
    m.advanceTo('2026-01-05', 16, 10);
    expect(m.order(day)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
    m.advanceTo('2026-01-06', 9, 30);
    m.quote('AAPL', '139.00', '139.10');
    expect(m.fills(gtc)).toEqual(['10 @ 139.1']);
  });

  it('freezes the marks of trailing stops', () => {
    const { m, portfolio } = open();
    m.place(portfolio, { quantity: 10 });
    const trail = m.place(portfolio, { intent: 'SELL_TO_CLOSE', type: 'TRAILING_STOP', trailingAmount: '2' });
    m.halt('AAPL', 'LUDP');
    m.quote('AAPL', '159.99', '160.01', { last: '160.00' });
    expect(m.order(trail)).toMatchObject({ mark: Price.of('150'), stopPrice: Price.of('148') });
    m.advanceTo('2026-01-05', 10, 6);
    m.quote('AAPL', '154.99', '155.01', { last: '155.00' });
    expect(m.order(trail)).toMatchObject({ mark: Price.of('155'), stopPrice: Price.of('153') });
  });

  it('keeps both exits of a bracket waiting until it ends', () => {
    const { m, portfolio } = open();
    const entry = m.place(portfolio, {
      quantity: 10,
      more: {
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('155') },
          stopLoss: { orderType: 'STOP', stopPrice: Price.of('145') },
        },
      },
    });
    const [target, stop] = m.exits(entry) as [string, string];
    m.halt('AAPL', 'LUDP');
    m.quote('AAPL', '156.00', '156.10', { last: '156.05' });
    m.quote('AAPL', '144.00', '144.10', { last: '144.05' });
    expect([m.order(target).status, m.order(stop).status]).toEqual(['ACTIVE', 'ACTIVE']);
    m.advanceTo('2026-01-05', 10, 5);
    m.quote('AAPL', '157.00', '157.10', { last: '157.05' });
    expect(m.fills(target)).toEqual(['10 @ 157']);
    expect(m.order(stop)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });

  it('halts options on the symbol, single and multi-leg, but not their expiration', () => {
    const { m } = open({ date: '2026-01-16' });
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.quote(CALL, '1.00', '1.10');
    m.quote(HIGHER, '0.10', '0.20');
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    m.halt('AAPL', 'T1');
    const single = m.place(portfolio, { symbol: CALL, quantity: 1 });
    const spread = m.place(portfolio, {
      quantity: 1,
      limit: '1.50',
      more: {
        assetClass: 'OPTION',
        strategy: 'VERTICAL_SPREAD',
        legs: [
          { optionSymbol: CALL, positionIntent: 'BUY_TO_OPEN', quantity: 1_000_000 as never },
          { optionSymbol: HIGHER, positionIntent: 'SELL_TO_OPEN', quantity: 1_000_000 as never },
        ],
      },
    });
    m.quote(CALL, '1.00', '1.10');
    m.quote(HIGHER, '0.10', '0.20');
    expect([m.waitingFor(single), m.waitingFor(spread)]).toEqual([
      'trading in AAPL is halted (T1)',
      'trading in AAPL is halted (T1)',
    ]);
    m.quote('AAPL', '159.99', '160.01', { last: '160.00' });
    m.advanceTo('2026-01-16', 17);
    // In the money by ten dollars: exercised by exception while its stock is halted.
    expect(m.events('OptionEnded')).toMatchObject([{ symbol: CALL }]);
    expect(m.order(single)).toMatchObject({ status: 'CANCELED', cancelReason: 'INSTRUMENT_EXPIRED' });
    expect(m.order(spread).status).toBe('CANCELED');
  });

  it('resumes a multi-leg order after a new quote for each leg', () => {
    const { m } = open();
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.quote(CALL, '5.00', '5.10');
    m.quote(HIGHER, '2.00', '2.10');
    m.halt('AAPL', 'T1');
    const spread = m.place(portfolio, {
      quantity: 1,
      limit: '4.00',
      more: {
        assetClass: 'OPTION',
        strategy: 'VERTICAL_SPREAD',
        legs: [
          { optionSymbol: CALL, positionIntent: 'BUY_TO_OPEN', quantity: 1_000_000 as never },
          { optionSymbol: HIGHER, positionIntent: 'SELL_TO_OPEN', quantity: 1_000_000 as never },
        ],
      },
    });
    m.advanceMs(1000);
    m.lift('AAPL');
    m.quote(CALL, '5.00', '5.10');
    expect(m.waitingFor(spread)).toBe(`no quote since trading in AAPL resumed for ${HIGHER}`);
    m.quote(HIGHER, '2.00', '2.10');
    expect(m.order(spread).status).toBe('FILLED');
  });

  it('survives a restart, in force and over', () => {
    const { m, portfolio } = open();
    const order = m.place(portfolio, { limit: '149.00' });
    m.halt('AAPL', 'LUDP');
    const before = stateHash(m.brokerage.state);
    m.restart();
    expect(stateHash(m.brokerage.state)).toBe(before);
    m.quote('AAPL', '148.00', '148.10');
    expect(m.order(order).status).toBe('ACTIVE');
    m.advanceTo('2026-01-05', 10, 5);
    m.restart();
    m.quote('AAPL', '148.00', '148.10');
    expect(m.fills(order)).toEqual(['10 @ 148.1']);
  });

  it('refuses symbols that cannot be halted', () => {
    const { m } = open();
    m.quote(CALL, '5.00', '5.10');
    expect(m.halt('NONE', 'T1')).toMatchObject({ code: 'UNKNOWN_SYMBOL', symbol: 'NONE' });
    expect(m.halt(CALL, 'T1')).toEqual({
      code: 'INVALID',
      messages: ['symbol must be an EQUITY, an INDEX or *'],
    });
    expect(m.halt('AAPL', 'T1', { until: m.now })).toEqual({
      code: 'INVALID',
      messages: ['until must be in the future'],
    });
  });
});

describe('a halt of the whole market (D178)', () => {
  it('stops shares, options and stock index futures; other futures trade on', () => {
    const m = new TestMarket();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
    const symbols = ['AAPL', CALL, 'ESH26', 'CLG26'];
    const quoteAll = () => symbols.forEach((symbol) => m.quote(symbol, '99.00', '100.00'));
    quoteAll();
    m.halt('*', 'MWC1');
    const orders = symbols.map((symbol) => m.place(portfolio, { symbol, quantity: 1 }));
    quoteAll();
    expect(orders.map((order) => m.order(order).status)).toEqual(['ACTIVE', 'ACTIVE', 'ACTIVE', 'FILLED']);
    expect(m.waitingFor(orders[2]!)).toBe(
      'trading in ESH26 is halted (MWC1) until 2026-01-05T10:15:00-05:00',
    );
  });

  it('a symbol with its own halt and a market halt trades when both are over', () => {
    const { m, portfolio } = open();
    m.halt('AAPL', 'T1', { forMs: 600_000 });
    m.halt('*', 'MWC1');
    const order = m.place(portfolio, {});
    expect(m.waitingFor(order)).toBe('trading in AAPL is halted (MWC1) until 2026-01-05T10:15:00-05:00');
    m.advanceTo('2026-01-05', 10, 12);
    m.quote('AAPL', '150.00', '150.10');
    expect(m.order(order).status).toBe('ACTIVE');
    m.lift('*');
    m.quote('AAPL', '150.00', '150.10');
    expect(m.order(order).status).toBe('FILLED');
  });

  it.each([
    ['2026-01-05', 9, 29, false],
    ['2026-01-05', 9, 30, true],
    ['2026-01-05', 15, 25, true],
    ['2026-01-05', 15, 26, false],
    // The day after Thanksgiving ends at 13:00.
    ['2026-11-27', 12, 25, true],
    ['2026-11-27', 12, 26, false],
    ['2026-01-03', 12, 0, false],
  ])('trips level 1 and 2 on %s at %i:%i: %s', (date, hour, minute, isAllowed) => {
    const m = new TestMarket({ date, hour, minute });
    for (const reason of ['MWC1', 'MWC2']) expect('code' in m.halt('*', reason)).toBe(!isAllowed);
  });

  it('trips levels 1 and 2 once a trading day', () => {
    const m = new TestMarket();
    m.halt('*', 'MWC1');
    m.advanceTo('2026-01-05', 11);
    expect(m.halt('*', 'MWC1')).toEqual({
      code: 'INVALID',
      messages: ['reason MWC1 is only allowed once a trading day'],
    });
    expect(m.halt('*', 'MWC2')).toMatchObject({ until: at(m, 11, 15) });
    m.restart();
    m.advanceTo('2026-01-06', 10);
    expect(m.halt('*', 'MWC1')).toMatchObject({ reason: 'MWC1' });
  });

  it.each([
    ['2026-01-05', 15, 59, 20],
    ['2026-11-27', 12, 59, 17],
  ])('at level 3 lasts to the end of the extended session: %s', (date, hour, minute, end) => {
    const m = new TestMarket({ date, hour, minute });
    expect(m.halt('*', 'MWC3')).toMatchObject({ until: at(m, end, 0, date) });
    m.advanceTo(date, end);
    expect(m.brokerage.state.halts.inForce.size).toBe(0);
  });

  it('by a circuit breaker has no symbol and no end of its own', () => {
    const { m } = open();
    expect(m.halt('AAPL', 'MWC2', { forMs: 1 })).toEqual({
      code: 'INVALID',
      messages: ['symbol must be * for MWC2', 'for should not exist for MWC2'],
    });
  });

  it('delays liquidations until it ends', () => {
    const m = new TestMarket({ rules: { ...testRules() } });
    m.quote('AAPL', '99.99', '100.00', { last: '100.00' });
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    m.place(portfolio, { quantity: 190 });
    m.halt('*', 'T1');
    m.quote('AAPL', '49.99', '50.00', { last: '50.00' });
    m.advanceTo('2026-01-06', 9, 31);
    const sold = () => m.events('OrderExecuted').length;
    const before = sold();
    m.advanceTo('2026-01-20', 10);
    expect(sold()).toBe(before);
    m.lift('*');
    m.advanceMs(1000);
    m.quote('AAPL', '49.99', '50.00', { last: '50.00' });
    m.advanceMs(2000);
    expect(sold()).toBeGreaterThan(before);
  });
});
