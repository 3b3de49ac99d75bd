import { describe, expect, it } from 'vitest';
import { stateHash } from '../../src/state-hash.js';
import { testBroker, TestMarket } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';

const SHORT: TestOrder = { intent: 'SELL_TO_OPEN' };

/** Tuesday 2026-01-06, 10:00, after a close of 10.00 the day before. */
function open(more: ConstructorParameters<typeof TestMarket>[0] = {}) {
  const m = new TestMarket({
    hour: 15,
    minute: 59,
    ...more,
    rules: { shortSaleRestriction: true, ...more.rules },
  });
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
  m.quote('AAPL', '9.99', '10.01', { last: '10.00' });
  m.advanceTo('2026-01-06', 10);
  const at = (bid: string | undefined, ask: string, last?: string, size?: number) =>
    m.quote('AAPL', bid, ask, {
      ...(last !== undefined && { last }),
      ...(size !== undefined && { bidSize: size }),
    });
  return { m, portfolio, at };
}

const isRestricted = (m: TestMarket): boolean => m.brokerage.isShortSaleRestricted('AAPL', m.now);

describe('Rule 201 (D179a)', () => {
  it('is triggered by a last price at or below 90 % of the previous close, by bid and ask never', () => {
    const { m, at } = open();
    at('8.00', '8.10');
    at('8.99', '9.02', '9.01');
    expect(isRestricted(m)).toBe(false);
    at('8.99', '9.02', '9.00');
    expect(isRestricted(m)).toBe(true);
  });

  it('is triggered in the regular session only', () => {
    const { m, at } = open();
    m.advanceTo('2026-01-06', 16, 1);
    at('5.00', '5.01', '5.00');
    expect(isRestricted(m)).toBe(false);
  });

  it("Rule 201: lasts to the end of the next trading day's extended session; a new trigger restarts it", () => {
    const { m, at } = open();
    at('8.99', '9.02', '9.00');
    m.advanceTo('2026-01-07', 10);
    expect(isRestricted(m)).toBe(true);
    at('8.09', '8.11', '8.10');
    m.advanceTo('2026-01-08', 19, 59);
    expect(isRestricted(m)).toBe(true);
    m.advanceTo('2026-01-08', 20);
    expect(isRestricted(m)).toBe(false);
  });

  it('offers a market order one tick above the bid, follows it down, never up, and fills at the offer', () => {
    const { m, portfolio, at } = open();
    at('9.00', '9.02', '9.00');
    const order = m.place(portfolio, SHORT);
    expect(m.waitingFor(order)).toBe('short sale restriction (Rule 201): offered at 9.01, bid 9.00');
    at('8.95', '8.97', '8.96');
    expect(m.waitingFor(order)).toBe('short sale restriction (Rule 201): offered at 8.96, bid 8.95');
    at('8.93', '8.99', '8.96');
    at('8.935', '8.99', '8.96');
    expect(m.waitingFor(order)).toMatch('offered at 8.94');
    at('9.10', '9.12', '9.11');
    expect(m.fills(order)).toEqual(['10 @ 8.94']);
    expect(m.executions(order)[0]).toMatchObject({ rule: 'RULE_201', maker: true });
  });

  it('follows the bid down no further than the limit', () => {
    const { m, portfolio, at } = open();
    at('9.00', '9.02', '9.00');
    const order = m.place(portfolio, { ...SHORT, limit: '8.98' });
    at('8.90', '8.92', '8.91');
    expect(m.waitingFor(order)).toMatch('offered at 8.98, bid 8.90');
    at('8.98', '9.00', '8.99');
    expect(m.fills(order)).toEqual(['10 @ 8.98']);
  });

  it('keeps a limit above the bid working, even after the bid reaches it', () => {
    const { m, portfolio, at } = open();
    at('9.00', '9.02', '9.00');
    const order = m.place(portfolio, { ...SHORT, limit: '9.01' });
    expect(m.waitingFor(order)).toBe('bid 9.00 below limit 9.01');
    at('9.05', '9.07', '9.06');
    expect(m.fills(order)).toEqual(['10 @ 9.01']);
    expect(m.executions(order)[0]).toMatchObject({ rule: 'RESTING_LIMIT' });
  });

  it('concerns a stop once it is triggered', () => {
    const { m, portfolio, at } = open();
    at('9.10', '9.12', '9.11');
    const stop = m.place(portfolio, { ...SHORT, type: 'STOP', stop: '9.00' });
    at('8.99', '9.01', '9.00');
    expect(m.waitingFor(stop)).toBe('short sale restriction (Rule 201): offered at 9.00, bid 8.99');
    at('9.00', '9.02', '9.01');
    expect(m.fills(stop)).toEqual(['10 @ 9']);
  });

  it('ends an IOC and a FOK as unfilled', () => {
    const { m, portfolio, at } = open();
    at('9.00', '9.02', '9.00');
    expect(m.order(m.place(portfolio, { ...SHORT, tif: 'IOC' })).cancelReason).toBe('IOC_REMAINDER');
    expect(m.order(m.place(portfolio, { ...SHORT, tif: 'FOK' })).cancelReason).toBe('FOK_NOT_FILLABLE');
  });

  it('fills orders behind a held short sale, and long sales', () => {
    const { m, portfolio, at } = open();
    at('9.00', '9.02', '9.00');
    const short = m.place(portfolio, SHORT);
    const holder = m.openPortfolio({ accountId: '22222222-2222-4222-8222-222222222222' });
    m.place(holder, {});
    expect(m.fills(m.place(holder, { intent: 'SELL_TO_CLOSE' }))).toEqual(['10 @ 9']);
    expect(m.fills(short)).toEqual([]);
  });

  it('fills against the displayed size of a bid that reaches the offer', () => {
    const { m, portfolio, at } = open();
    at('9.00', '9.02', '9.00');
    const order = m.place(portfolio, SHORT);
    at('9.01', '9.03', '9.02', 4);
    expect(m.fills(order)).toEqual(['4 @ 9.01']);
    at('9.01', '9.03', '9.02', 6);
    expect(m.fills(order)).toEqual(['4 @ 9.01', '6 @ 9.01']);
  });

  it('applies in the extended session, and releases orders when it ends', () => {
    const { m, portfolio, at } = open();
    at('9.00', '9.02', '9.00');
    const order = m.place(portfolio, { ...SHORT, limit: '8.50', session: 'EXTENDED', tif: 'GTC' });
    m.advanceTo('2026-01-06', 17);
    at('8.90', '8.92', '8.91');
    expect(m.waitingFor(order)).toMatch('offered at 8.91, bid 8.90');
    m.advanceTo('2026-01-08', 10);
    at('8.80', '8.82', '8.81');
    expect(m.fills(order)).toEqual(['10 @ 8.8']);
  });

  it('forgets the offer of an order that is updated, and makes another', () => {
    const { m, portfolio, at } = open();
    at('9.00', '9.02', '9.00');
    const order = m.place(portfolio, { ...SHORT, limit: '8.50' });
    expect(m.replace(order, { limit: '8.60' })).toBeUndefined();
    expect(m.waitingFor(order)).toMatch('offered at 9.01');
    expect(m.replace(order, { limit: '9.30' })).toBeUndefined();
    expect(m.waitingFor(order)).toBe('bid 9.00 below limit 9.30');
  });

  it('admits a short sale to an auction only above the last bid', () => {
    const brokers = new Map([['default', testBroker('default', { auctionOrders: true })]]);
    const { m, portfolio, at } = open({ rules: { brokers } });
    at('9.00', '9.02', '9.00');
    const below = m.place(portfolio, { ...SHORT, tif: 'CLS' });
    m.advanceTo('2026-01-06', 16, 1);
    expect(m.order(below)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
    m.advanceTo('2026-01-07', 10);
    at('8.50', '8.60', '8.55');
    const above = m.place(portfolio, { ...SHORT, tif: 'CLS' });
    m.advanceTo('2026-01-07', 16, 1);
    expect(m.fills(above)).toEqual(['10 @ 8.55']);
  });

  it('goes by the previous close restated for a split', () => {
    const { m, at } = open();
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [
        {
          type: 'SPLIT',
          symbol: 'AAPL',
          exDate: m.brokerage.rules.calendar.dateOf((m.now + 86_400_000) as typeof m.now),
          ratio: { new: 2, old: 1 },
        },
      ],
    });
    m.advanceTo('2026-01-07', 10);
    expect(m.brokerage.state.closes.get('AAPL')).toBe(Price.of('5'));
    at('4.50', '4.52', '4.51');
    expect(isRestricted(m)).toBe(false);
    at('4.50', '4.52', '4.50');
    expect(isRestricted(m)).toBe(true);
  });

  it('continues unchanged after a restart, and is off by default', () => {
    const run = (restarts: boolean): string => {
      const { m, portfolio, at } = open();
      at('9.00', '9.02', '9.00');
      m.place(portfolio, SHORT);
      if (restarts) m.restart();
      at('8.90', '8.92', '8.91');
      m.advanceTo('2026-01-07', 10);
      if (restarts) m.restart();
      at('8.95', '8.97', '8.96');
      return stateHash(m.brokerage.state);
    };
    expect(run(true)).toBe(run(false));
    const m = new TestMarket();
    m.quote('AAPL', '9.00', '9.02', { last: '9.00' });
    m.advanceTo('2026-01-06', 10);
    expect(m.events('ClosesNoted')).toEqual([]);
  });
});
