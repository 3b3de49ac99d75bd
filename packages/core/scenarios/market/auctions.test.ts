import { describe, expect, it } from 'vitest';
import { dollars, testBroker, testRules, TestMarket } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { alwaysOpen } from '../../src/calendar/always-open.js';
import type { Quote } from '../../src/market/quote.js';
import { Price } from '../../src/values/price.js';
import { stateHash } from '../../src/state-hash.js';

const brokers = new Map([['default', testBroker('default', { auctionOrders: true })]]);

/** Before the open of Monday 2026-01-05 by default; AAPL closed at 150. */
function early(options: { date?: string; hour?: number; minute?: number } = {}) {
  const m = new TestMarket({ hour: 9, minute: 0, ...options, rules: { brokers } });
  m.quote('AAPL', '149.99', '150.01', { last: '150.00' });
  return { m, portfolio: m.openPortfolio({ type: 'MARGIN', cash: 100_000 }) };
}

const opg = (more: TestOrder = {}): TestOrder => ({ tif: 'OPG', ...more });
const cls = (more: TestOrder = {}): TestOrder => ({ tif: 'CLS', ...more });

describe('the opening auction (D180)', () => {
  it('executes at the mark of the first quote of the session, regardless of its size', () => {
    const { m, portfolio } = early();
    const order = m.place(portfolio, opg({ quantity: 500 }));
    expect(m.order(order).status).toBe('PENDING_MARKET_OPEN');
    expect(m.waitingFor(order)).toBe('opening auction 2026-01-05T09:30:00-05:00');
    m.advanceTo('2026-01-05', 9, 30);
    expect(m.order(order).status).toBe('PENDING_MARKET_OPEN');
    m.quote('AAPL', '151.00', '151.03', { last: '151.02', bidSize: 1, askSize: 1 });
    expect(m.statuses(order)).toEqual(['PENDING', 'PENDING_MARKET_OPEN', 'RESERVING', 'ACTIVE', 'FILLED']);
    expect(m.executions(order)).toMatchObject([{ rule: 'OPENING_AUCTION', price: Price.of('151.02') }]);
    // The auction did not use the displayed size.
    expect(m.brokerage.state.books.get('AAPL')?.askLeft).toBe(1_000_000);
  });

  it('executes at the official open if the source reports it', () => {
    const { m, portfolio } = early();
    const order = m.place(portfolio, opg());
    m.advanceTo('2026-01-05', 9, 31);
    const quote = { symbol: 'AAPL', bid: Price.of('151'), ask: Price.of('151.1'), at: m.now };
    m.execute<'UpdateMarket'>({
      type: 'UpdateMarket',
      quotes: [{ ...quote, openToCome: true }],
      pushed: false,
    });
    expect(m.order(order).status).toBe('PENDING_MARKET_OPEN');
    m.execute<'UpdateMarket'>({
      type: 'UpdateMarket',
      quotes: [{ ...quote, open: Price.of('149.875') }],
      pushed: false,
    });
    // Half a cent rounds up to the tick.
    expect(m.fills(order)).toEqual(['10 @ 149.88']);
  });

  it('executes at one tick if the price is below half of it', () => {
    const { m, portfolio } = early();
    const order = m.place(portfolio, opg());
    m.advanceTo('2026-01-05', 9, 31);
    m.quote('AAPL', '0.00001', '0.00001', { last: '0.00001' });
    expect(m.fills(order)).toEqual(['10 @ 0.0001']);
  });

  it('one price for all: buys and sells, and a limit that it does not meet expires', () => {
    const { m, portfolio } = early();
    m.place(m.openPortfolio(), opg());
    const buys = m.place(portfolio, opg({ limit: '151.00' }));
    const beyond = m.place(portfolio, opg({ limit: '150.99' }));
    const short = m.place(portfolio, opg({ symbol: 'MSFT', intent: 'SELL_TO_OPEN', limit: '40.00' }));
    m.advanceTo('2026-01-05', 9, 30);
    m.quote('AAPL', '150.99', '151.01', { last: '151.00' });
    m.quote('MSFT', '39.99', '40.01', { last: '40.00' });
    expect([m.fills(buys), m.fills(short)]).toEqual([['10 @ 151'], ['10 @ 40']]);
    expect(m.order(beyond)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });

  it('of a symbol without a quote until the close: its orders expire', () => {
    const { m, portfolio } = early();
    const order = m.place(portfolio, opg());
    m.advanceTo('2026-01-05', 15, 59);
    expect(m.order(order).status).toBe('PENDING_MARKET_OPEN');
    m.advanceTo('2026-01-05', 16);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
    expect(dollars(m.value(portfolio).reservedCash)).toBe(0);
  });

  it('is put off by a halt to the first quote after it', () => {
    const { m, portfolio } = early();
    const order = m.place(portfolio, opg());
    m.halt('AAPL', 'LUDP', { forMs: 3_600_000 });
    m.advanceTo('2026-01-05', 9, 45);
    m.quote('AAPL', '140.00', '140.02', { last: '140.01' });
    expect(m.order(order).status).toBe('PENDING_MARKET_OPEN');
    expect(m.waitingFor(order)).toContain('trading in AAPL is halted (LUDP) until 2026-01-05T');
    m.advanceTo('2026-01-05', 10, 1);
    m.quote('AAPL', '145.00', '145.02', { last: '145.01' });
    expect(m.fills(order)).toEqual(['10 @ 145.01']);
  });

  it.each([
    [9, 27, true],
    [9, 28, false],
    [18, 59, false],
    [19, 0, true],
  ])('accepts orders at %i:%i: %s', (hour, minute, isTaken) => {
    const { m, portfolio } = early({ hour, minute });
    expect(typeof m.submit(portfolio, opg()) === 'string').toBe(isTaken);
  });

  it('reports its cutoff and the next time for orders', () => {
    const { m, portfolio } = early({ hour: 10 });
    expect(m.submit(portfolio, opg())).toMatchObject({
      code: 'AUCTION_CLOSED',
      cutoff: '2026-01-05T09:28:00-05:00',
      opensAt: '2026-01-05T19:00:00-05:00',
    });
  });

  it('accepts orders all weekend, for the next trading day', () => {
    const { m, portfolio } = early({ date: '2026-01-02', hour: 19 });
    const friday = m.place(portfolio, opg({ quantity: 1 }));
    m.advanceTo('2026-01-03', 12);
    const saturday = m.place(portfolio, opg({ quantity: 2 }));
    for (const order of [friday, saturday])
      expect(m.waitingFor(order)).toBe('opening auction 2026-01-05T09:30:00-05:00');
    m.advanceTo('2026-01-05', 9, 30);
    m.quote('AAPL', '150.00', '150.02', { last: '150.01' });
    expect([m.fills(friday), m.fills(saturday)]).toEqual([['1 @ 150.01'], ['2 @ 150.01']]);
  });

  it('allows changes and cancels of its orders before the cutoff only', () => {
    const { m, portfolio } = early({ minute: 27 });
    const [first, second] = [m.place(portfolio, opg({ limit: '150.00' })), m.place(portfolio, opg())];
    expect(m.replace(first, { tif: 'DAY' })).toEqual({
      code: 'INVALID',
      messages: ['timeInForce cannot be updated on OPG orders'],
    });
    expect(m.replace(first, { limit: '151.00' })).toBeUndefined();
    expect(m.cancel(second)).toBeUndefined();
    m.advanceTo('2026-01-05', 9, 28);
    expect(m.cancel(first)).toEqual({
      code: 'ORDER_NOT_UPDATABLE',
      message: 'An OPG order cannot be canceled from 2026-01-05T09:28:00-05:00 on',
      status: 'PENDING_MARKET_OPEN',
    });
    expect(m.replace(first, { limit: '152.00' })).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
    const { accountId } = m.terms(first);
    expect(
      m.execute<'CancelAccountOrders'>({ type: 'CancelAccountOrders', by: m.by, accountId }).result,
    ).toEqual([]);
    m.advanceTo('2026-01-05', 9, 30);
    m.quote('AAPL', '149.00', '149.02', { last: '149.01' });
    expect(m.fills(first)).toEqual(['10 @ 149.01']);
  });

  it('comes before orders that meet the same quote', () => {
    const { m, portfolio } = early();
    const day = m.place(portfolio, { quantity: 5 });
    const order = m.place(portfolio, opg());
    m.advanceTo('2026-01-05', 9, 30);
    m.quote('AAPL', '150.00', '150.10', { last: '150.05' });
    expect(m.events('OrderExecuted').map((event) => m.idOf(event.order))).toEqual([order, day]);
  });
});

describe('the closing auction (D180)', () => {
  it('executes at the mark of the last quote at the bell, before anything else of the close', () => {
    const { m, portfolio } = early();
    const order = m.place(portfolio, cls({ quantity: 500 }));
    expect(m.order(order).status).toBe('PENDING_MARKET_OPEN');
    m.advanceTo('2026-01-05', 9, 30);
    expect(m.order(order).status).toBe('ACTIVE');
    expect(m.waitingFor(order)).toBe('closing auction 2026-01-05T16:00:00-05:00');
    m.advanceTo('2026-01-05', 15, 59);
    m.quote('AAPL', '153.00', '153.02', { last: '153.01', askSize: 1 });
    expect(m.order(order).status).toBe('ACTIVE');
    m.advanceTo('2026-01-05', 16);
    expect(m.executions(order)).toMatchObject([{ rule: 'CLOSING_AUCTION', price: Price.of('153.01') }]);
    const types = m.journal.flatMap(({ events }) => events.map(({ type }) => type));
    expect(types.indexOf('OrderExecuted')).toBeLessThan(types.indexOf('SessionMarked'));
  });

  it('executes at the official close if the source reports it', () => {
    const { m, portfolio } = early({ hour: 15 });
    const order = m.place(portfolio, cls());
    const close = m.brokerage.rules.calendar.tradingDay(
      m.brokerage.rules.calendar.dateOf(m.now),
    )!.regularClose;
    m.advanceTo('2026-01-05', 15, 59);
    m.now = close;
    m.brokerage.execute<'UpdateMarket'>(
      {
        type: 'UpdateMarket',
        quotes: [
          {
            symbol: 'AAPL',
            bid: Price.of('150'),
            ask: Price.of('150.02'),
            last: Price.of('150'),
            close: Price.of('150.5'),
            at: close,
          },
        ],
        pushed: false,
      },
      close,
    );
    m.advanceMs(0);
    expect(m.fills(order)).toEqual(['10 @ 150.5']);
  });

  describe('with a source that reports the official close after the bell', () => {
    const tell = (m: TestMarket, more: Partial<Quote>) =>
      m.execute<'UpdateMarket'>({
        type: 'UpdateMarket',
        quotes: [{ symbol: 'AAPL', bid: Price.of('150'), ask: Price.of('150.02'), at: m.now, ...more }],
        pushed: false,
      });
    /** Three orders at the closing auction, before the official close. */
    function atTheBell() {
      const { m, portfolio } = early({ hour: 15 });
      const orders = [cls(), cls({ limit: '150.40' }), cls({ limit: '150.50', quantity: 3 })].map((order) =>
        m.place(portfolio, order),
      );
      m.advanceTo('2026-01-05', 15, 59);
      tell(m, { closeToCome: true });
      m.advanceTo('2026-01-05', 16);
      return { m, portfolio, orders };
    }

    it('executes at the official close when it arrives, and closing marks follow it', () => {
      const { m, portfolio, orders } = atTheBell();
      expect(orders.map((order) => m.order(order).status)).toEqual(['ACTIVE', 'ACTIVE', 'ACTIVE']);
      expect(m.events('SessionMarked')).toEqual([]);
      expect(m.waitingFor(orders[0]!)).toBe('closing auction 2026-01-05T16:00:00-05:00');
      m.advanceMs(5000);
      // Evening quotes are no close.
      tell(m, { bid: Price.of('149'), ask: Price.of('149.02'), closeToCome: true });
      expect(m.order(orders[0]!).status).toBe('ACTIVE');
      m.advanceMs(5000);
      tell(m, { bid: Price.of('149'), ask: Price.of('149.02'), close: Price.of('150.5') });
      expect(orders.map((order) => m.fills(order))).toEqual([['10 @ 150.5'], [], ['3 @ 150.5']]);
      expect(m.order(orders[1]!)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
      expect(m.executions(orders[0]!)).toMatchObject([{ rule: 'CLOSING_AUCTION' }]);
      m.advanceTo('2026-01-05', 16, 2);
      expect(m.events('SessionMarked')).toHaveLength(1);
      expect(m.portfolio(portfolio).previousClose).toMatchObject({ date: '2026-01-05' });
    });

    it('executes at the last known price if no official close arrives in time', () => {
      const { m, orders } = atTheBell();
      m.advanceTo('2026-01-05', 16, 2);
      expect(m.fills(orders[0]!)).toEqual(['10 @ 150.01']);
      expect(m.events('SessionMarked')).toHaveLength(1);
    });

    it('is the same after a restart between the bell and the close', () => {
      const { m, orders } = atTheBell();
      m.restart();
      tell(m, { close: Price.of('150.5') });
      expect(m.fills(orders[0]!)).toEqual(['10 @ 150.5']);
      m.advanceTo('2026-01-05', 16, 2);
      expect(m.events('SessionMarked')).toHaveLength(1);
    });

    it('is stopped by a halt at the bell at once, and by none that comes after it', () => {
      const { m, portfolio } = early({ hour: 15 });
      const order = m.place(portfolio, cls());
      m.advanceTo('2026-01-05', 15, 59);
      tell(m, { closeToCome: true });
      m.halt('AAPL', 'T1');
      m.advanceTo('2026-01-05', 16);
      expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
      const { m: other, orders } = atTheBell();
      other.halt('AAPL', 'T1');
      tell(other, { close: Price.of('150.5') });
      expect(other.fills(orders[0]!)).toEqual(['10 @ 150.5']);
    });
  });

  it.each([
    ['2026-01-05', 15, 49, true],
    ['2026-01-05', 15, 50, false],
    ['2026-01-05', 19, 0, true],
    // The day after Thanksgiving closes at 13:00.
    ['2026-11-27', 12, 49, true],
    ['2026-11-27', 12, 50, false],
  ])('accepts orders on %s at %i:%i: %s', (date, hour, minute, isTaken) => {
    const { m, portfolio } = early({ date, hour, minute });
    expect(typeof m.submit(portfolio, cls()) === 'string').toBe(isTaken);
  });

  it('on a short day is held at 13:00', () => {
    const { m, portfolio } = early({ date: '2026-11-27', hour: 12 });
    const order = m.place(portfolio, cls());
    expect(m.waitingFor(order)).toBe('closing auction 2026-11-27T13:00:00-05:00');
    m.quote('AAPL', '150.00', '150.02', { last: '150.01' });
    m.advanceTo('2026-11-27', 13);
    expect(m.fills(order)).toEqual(['10 @ 150.01']);
  });

  it('of an order that a split overnight has changed', () => {
    const { m, portfolio } = early({ date: '2026-01-05', hour: 20 });
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: '2026-01-06' as never, ratio: { new: 2, old: 1 } }],
    });
    const order = m.place(portfolio, cls({ limit: '150.00' }));
    m.advanceTo('2026-01-06', 10);
    m.quote('AAPL', '74.99', '75.01', { last: '75.00' });
    m.advanceTo('2026-01-06', 16);
    expect(m.fills(order)).toEqual(['20 @ 75']);
  });

  it.each(['LUDP', 'LUDS', 'M'])('is not stopped by a pause that is in force at the bell: %s', (reason) => {
    const { m, portfolio } = early({ hour: 15, minute: 45 });
    const order = m.place(portfolio, cls());
    m.quote('AAPL', '150.00', '150.02', { last: '150.01' });
    m.advanceTo('2026-01-05', 15, 58);
    m.halt('AAPL', reason);
    m.advanceTo('2026-01-05', 16);
    expect(m.order(order).status).toBe('FILLED');
  });

  it.each(['T1', 'MWC3'])('is stopped by any other halt that is in force at the bell: %s', (reason) => {
    const { m, portfolio } = early({ hour: 15, minute: 45 });
    const order = m.place(portfolio, cls());
    m.quote('AAPL', '150.00', '150.02', { last: '150.01' });
    m.halt(reason === 'MWC3' ? '*' : 'AAPL', reason);
    m.advanceTo('2026-01-05', 16);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });

  it('without a quote of the session: its orders expire', () => {
    const { m, portfolio } = early();
    const order = m.place(portfolio, cls());
    m.advanceTo('2026-01-05', 16);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });

  it('is the same after a restart in the session', () => {
    const { m, portfolio } = early({ hour: 10 });
    const order = m.place(portfolio, cls());
    const before = stateHash(m.brokerage.state);
    m.restart();
    expect(stateHash(m.brokerage.state)).toBe(before);
    m.quote('AAPL', '150.00', '150.02', { last: '150.01' });
    m.advanceTo('2026-01-05', 15, 50);
    expect(m.cancel(order)).toMatchObject({
      message: 'A CLS order cannot be canceled from 2026-01-05T15:50:00-05:00 on',
    });
    m.advanceTo('2026-01-05', 16);
    expect(m.fills(order)).toEqual(['10 @ 150.01']);
  });

  it('keeps a clock that jumps over days from holding the wrong one', () => {
    const { m, portfolio } = early();
    const [open, close] = [m.place(portfolio, opg()), m.place(portfolio, cls())];
    m.advanceTo('2026-01-09', 12);
    for (const order of [open, close])
      expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });
});

describe('orders for the auctions (D180)', () => {
  it('are accepted by brokers that offer them', () => {
    const m = new TestMarket({ hour: 9 });
    m.quote('AAPL', '149.99', '150.01');
    expect(m.submit(m.openPortfolio(), opg())).toMatchObject({
      code: 'BROKER_RESTRICTION',
      message: expect.stringContaining('does not offer time in force OPG') as string,
    });
  });

  it('are accepted while the market is closed, even by brokers that do not queue', () => {
    const m = new TestMarket({
      hour: 9,
      rules: {
        brokers: new Map([
          ['default', testBroker('default', { auctionOrders: true, queuesWhenClosed: false })],
        ]),
      },
    });
    m.quote('AAPL', '149.99', '150.01');
    expect(typeof m.submit(m.openPortfolio(), opg())).toBe('string');
  });

  it('need the calendar of the exchange', () => {
    const m = new TestMarket({ rules: { ...testRules(), brokers, calendar: alwaysOpen } });
    m.quote('AAPL', '149.99', '150.01');
    expect(m.submit(m.openPortfolio(), cls())).toEqual({
      code: 'INVALID',
      messages: ['timeInForce CLS is only allowed with calendar XNYS'],
    });
  });

  it('close positions and sell short as well', () => {
    const { m, portfolio } = early({ hour: 15, minute: 0 });
    m.quote('MSFT', '40.00', '40.02', { last: '40.01' });
    m.place(portfolio, { quantity: 10 });
    const sells = m.place(portfolio, cls({ intent: 'SELL_TO_CLOSE' }));
    const shorts = m.place(portfolio, cls({ symbol: 'MSFT', intent: 'SELL_TO_OPEN' }));
    m.advanceTo('2026-01-05', 16);
    expect([m.order(sells).status, m.order(shorts).status]).toEqual(['FILLED', 'FILLED']);
    expect(m.portfolio(portfolio).positions.get('MSFT')?.pending).toBe(-10_000_000);
  });

  it('are rejected if the funds are missing at their auction', () => {
    const { m } = early();
    const portfolio = m.openPortfolio({ cash: 1_600 });
    const order = m.place(portfolio, opg());
    m.advanceTo('2026-01-05', 9, 30);
    m.quote('AAPL', '199.99', '200.01', { last: '200.00' });
    expect(m.order(order)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSUFFICIENT_FUNDS' },
    });
  });
});
