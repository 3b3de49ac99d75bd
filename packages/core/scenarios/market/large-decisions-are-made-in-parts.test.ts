import { describe, expect, it } from 'vitest';
import { Brokerage } from '../../src/brokerage.js';
import { stateHash } from '../../src/state-hash.js';
import { testBroker, TestMarket } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';

const MOST = 1024;

/** Orders for one share each, at work or waiting for the open. */
function open(order: TestOrder, count = 1100) {
  const broker = testBroker('default', { auctionOrders: true });
  const m = new TestMarket({
    hour: order.tif === 'OPG' ? 9 : 10,
    rules: { brokers: new Map([['default', broker]]) },
  });
  m.quote('AAPL', '99.99', '100.01', { last: '100.00' });
  const portfolio = m.openPortfolio({ cash: 100_000_000 });
  const ids = Array.from({ length: count }, () => m.place(portfolio, { quantity: 1, ...order }));
  return { m, portfolio, ids };
}

const sizes = (m: TestMarket, from: number): number[] =>
  m.journal.slice(from).map(({ events }) => events.filter(({ type }) => type.startsWith('Order')).length);

describe('a decision has at most 1,024 order updates; the remainder is due at once (D264)', () => {
  it('one quote that fills 2,100 orders: three records at one instant, all filled', () => {
    const { m, ids } = open({ limit: '95.00' }, 2100);
    const from = m.journal.length;
    m.quote('AAPL', '89.99', '90.01', { last: '90.00' });
    m.advanceMs(0);
    const parts = sizes(m, from);
    expect(parts).toHaveLength(3);
    expect(Math.max(...parts)).toBeLessThanOrEqual(MOST);
    expect(new Set(m.journal.slice(from).map(({ at }) => at))).toEqual(new Set([m.now]));
    expect(ids.every((id) => m.order(id).status === 'FILLED')).toBe(true);
    expect(m.brokerage.state.unmatched).toEqual([]);
  });

  it('the displayed size is used once over all parts, in the order of the queue', () => {
    const { m, ids } = open({ limit: '95.00' });
    m.quote('AAPL', '89.99', '90.01', { last: '90.00', askSize: 1050 });
    m.advanceMs(0);
    expect(ids.map((id) => m.fills(id).length)).toEqual(ids.map((_, index) => (index < 1050 ? 1 : 0)));
  });

  it('triggered stops with IOC are not canceled before they have met the market', () => {
    const { m, ids } = open({ type: 'STOP', stop: '101.00', tif: 'IOC' });
    m.quote('AAPL', '101.99', '102.01', { last: '102.00' });
    m.advanceMs(0);
    expect(new Set(ids.map((id) => m.order(id).status))).toEqual(new Set(['FILLED']));
  });

  it('an opening auction of 400 orders, each with a reservation', () => {
    const { m, ids } = open({ tif: 'OPG' }, 400);
    m.advanceTo('2026-01-05', 9, 30);
    const from = m.journal.length;
    m.quote('AAPL', '101.99', '102.01', { last: '102.00' });
    m.advanceMs(0);
    expect(Math.max(...sizes(m, from))).toBeLessThanOrEqual(MOST);
    expect(ids.every((id) => m.fills(id)[0] === '1 @ 102')).toBe(true);
  });

  it('bracket entries that a quote fills: their exits belong to the parts', () => {
    const { m, ids } = open(
      {
        limit: '95.00',
        more: {
          bracketConfig: {
            profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('110') },
            stopLoss: { orderType: 'STOP', stopPrice: Price.of('80') },
          },
        },
      },
      250,
    );
    const from = m.journal.length;
    m.quote('AAPL', '89.99', '90.01', { last: '90.00' });
    m.advanceMs(0);
    expect(Math.max(...sizes(m, from))).toBeLessThanOrEqual(MOST);
    expect(ids.every((id) => m.exits(id).every((exit) => m.order(exit).status === 'ACTIVE'))).toBe(true);
  });

  it('a restart and a replay between two parts continue with the rest', () => {
    const { m, ids } = open({ limit: '95.00' });
    const begin = m.journal[0]?.at ?? m.now;
    m.quote('AAPL', '89.99', '90.01', { last: '90.00' });
    expect(m.brokerage.state.unmatched).toEqual(['AAPL']);
    const again = Brokerage.begin(m.brokerage.rules, 42, begin);
    for (const { events, at } of m.journal) again.apply(events, at);
    expect(stateHash(again.state)).toBe(stateHash(m.brokerage.state));
    expect(again.nextDue()).toBe(m.now);
    m.restart();
    m.advanceMs(0);
    expect(ids.every((id) => m.order(id).status === 'FILLED')).toBe(true);
  });
});
