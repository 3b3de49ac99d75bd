import { describe, expect, it } from 'vitest';
import type { Alert, AlertCondition } from '../../src/market/alert.js';
import { MOST_ALERTS } from '../../src/market/alert.js';
import { stateHash } from '../../src/state-hash.js';
import { TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const by = { tier: 'PRO' } as const;

/** Monday 2026-01-05, 10:00; AAPL at 150. */
function open(): TestMarket {
  const m = new TestMarket();
  m.quote('AAPL', '149.99', '150.01', { last: '150.00' });
  return m;
}

function set(m: TestMarket, condition: AlertCondition, price: string, symbol = 'AAPL'): Alert {
  const terms = { symbol, condition, price: Price.of(price) };
  const { result } = m.execute<'SetAlert'>({ type: 'SetAlert', by, terms });
  if ('code' in result) throw new Error(result.code);
  return result;
}

const alerts = (m: TestMarket) => [...m.brokerage.state.alerts.values()];
const statuses = (m: TestMarket) => alerts(m).map(({ status }) => status);
const idOf = (m: TestMarket, { number }: Alert) => m.brokerage.state.ids.idOf('ALERT', number);

describe('a price alert (D281)', () => {
  it('fires once, at its level, with time and price', () => {
    const m = open();
    set(m, 'ABOVE', '151');
    set(m, 'BELOW', '149');
    m.quote('AAPL', '150.98', '151.00', { last: '150.99' });
    expect(statuses(m)).toEqual(['ACTIVE', 'ACTIVE']);
    m.advanceMs(1000);
    m.quote('AAPL', '150.99', '151.01', { last: '151.00' });
    expect(alerts(m)[0]).toMatchObject({ status: 'FIRED', fired: { at: m.now, price: Price.of('151') } });
    m.quote('AAPL', '148.00', '148.02', { last: '148.01' });
    m.quote('AAPL', '152.00', '152.02', { last: '152.01' });
    expect(m.events('AlertFired').map(({ alert, price }) => [alert, Price.format(price)])).toEqual([
      [1, '151'],
      [2, '148.01'],
    ]);
  });

  it('fires at once if the price is beyond its level when it is set', () => {
    const m = open();
    expect(set(m, 'ABOVE', '149.5').status).toBe('FIRED');
    expect(set(m, 'BELOW', '150').status).toBe('FIRED');
  });

  it('is armed again by a change, and an equal change leaves an active one as it is', () => {
    const m = open();
    const alert = set(m, 'ABOVE', '150');
    const change = (price: string) =>
      m.execute<'UpdateAlert'>({
        type: 'UpdateAlert',
        by,
        alertId: idOf(m, alert),
        price: Price.of(price),
      });
    expect(change('155').result).toMatchObject({ status: 'ACTIVE', number: 1 });
    expect(change('155').events).toEqual([]);
    m.quote('AAPL', '156.00', '156.02', { last: '156.01' });
    expect(statuses(m)).toEqual(['FIRED']);
    // The same level again: it is there already.
    expect(change('155').result).toMatchObject({ status: 'FIRED' });
    expect(m.events('AlertFired')).toHaveLength(3);
  });

  it('is refused for an unknown symbol, and its id names nothing after it is deleted', () => {
    const m = open();
    const terms = { symbol: 'NOPE', condition: 'ABOVE' as const, price: Price.of('1') };
    expect(m.refuse({ type: 'SetAlert', by, terms })).toMatchObject({ code: 'UNKNOWN_SYMBOL' });
    const alertId = idOf(m, set(m, 'ABOVE', '200'));
    m.execute({ type: 'DeleteAlert', by, alertId });
    expect(m.refuse({ type: 'DeleteAlert', by, alertId })).toEqual({ code: 'NOT_FOUND', what: 'Alert' });
    expect(m.refuse({ type: 'UpdateAlert', by, alertId })).toEqual({ code: 'NOT_FOUND', what: 'Alert' });
    m.quote('AAPL', '250.00', '250.02');
    expect(m.events('AlertFired')).toEqual([]);
  });

  it('replaces the oldest that is not active at the limit, and is refused when all are active', () => {
    const m = open();
    for (let number = 1; number < MOST_ALERTS; number++) set(m, 'ABOVE', '200');
    set(m, 'ABOVE', '140');
    expect(set(m, 'ABOVE', '201')).toMatchObject({ number: MOST_ALERTS + 1 });
    expect(m.brokerage.state.alerts.has(MOST_ALERTS)).toBe(false);
    const terms = { symbol: 'AAPL', condition: 'ABOVE' as const, price: Price.of('202') };
    expect(m.refuse({ type: 'SetAlert', by, terms })).toEqual({
      code: 'CONFLICT',
      message: 'a simulation has at most 200 active alerts',
    });
    // All of them in one decision.
    m.quote('AAPL', '300.00', '300.02', { last: '300.01' });
    expect(new Set(statuses(m))).toEqual(new Set(['FIRED']));
  });

  it('is restated by a split and renamed by a change of the symbol', () => {
    const m = open();
    set(m, 'ABOVE', '160');
    set(m, 'BELOW', '100.01');
    m.execute({
      type: 'AnnounceActions',
      byKind: true,
      actions: [
        { type: 'SPLIT', symbol: 'AAPL', exDate: TradingDate.of('2026-01-06'), ratio: { new: 3, old: 1 } },
        { type: 'SYMBOL_CHANGE', symbol: 'AAPL', exDate: TradingDate.of('2026-01-07'), newSymbol: 'APPL' },
      ],
    });
    m.advanceTo('2026-01-06', 10);
    expect(alerts(m).map(({ price }) => Price.format(price))).toEqual(['53.33333333', '33.33666667']);
    expect(statuses(m)).toEqual(['ACTIVE', 'ACTIVE']);
    m.advanceTo('2026-01-07', 10);
    expect(alerts(m).map(({ symbol }) => symbol)).toEqual(['APPL', 'APPL']);
    m.quote('APPL', '54.00', '54.02', { last: '54.01' });
    expect(statuses(m)).toEqual(['FIRED', 'ACTIVE']);
  });

  it('ends at the close of the day on which its symbol ends', () => {
    const m = open();
    m.quote('AAPL260116C00150000', '5.00', '5.10');
    set(m, 'ABOVE', '9', 'AAPL260116C00150000');
    set(m, 'ABOVE', '200');
    m.advanceTo('2026-01-16', 15, 59);
    expect(statuses(m)).toEqual(['ACTIVE', 'ACTIVE']);
    m.advanceTo('2026-01-20', 17);
    expect(statuses(m)).toEqual(['ENDED', 'ACTIVE']);
    m.execute({
      type: 'AnnounceActions',
      actions: [
        {
          type: 'DELISTING',
          symbol: 'AAPL',
          exDate: TradingDate.of('2026-01-21'),
          cashPerShare: Price.of('1'),
        },
      ],
    });
    m.advanceTo('2026-01-21', 17);
    expect(statuses(m)).toEqual(['ENDED', 'ENDED']);
  });

  it('fires on a price inside a recorded bar only if it was set before the bar', () => {
    const m = open();
    set(m, 'BELOW', '149');
    const began = m.now;
    m.advanceMs(30_000);
    set(m, 'BELOW', '148.5');
    const quote = { symbol: 'AAPL', last: Price.of('148'), at: m.now };
    m.execute({ type: 'UpdateMarket', quotes: [quote], pushed: false, since: began });
    expect(statuses(m)).toEqual(['FIRED', 'ACTIVE']);
  });

  it('is not fired by prices without a market: a derived mark, a minute without trades', () => {
    const m = open();
    set(m, 'BELOW', '149');
    const quote = { symbol: 'AAPL', last: Price.of('140'), untraded: true as const, at: m.now };
    m.execute({ type: 'UpdateMarket', quotes: [quote], pushed: false });
    expect(statuses(m)).toEqual(['ACTIVE']);
  });

  it('is the same after a restart', () => {
    const m = open();
    set(m, 'ABOVE', '150');
    set(m, 'ABOVE', '155');
    const before = stateHash(m.brokerage.state);
    m.restart();
    expect(stateHash(m.brokerage.state)).toBe(before);
    m.quote('AAPL', '155.00', '155.02', { last: '155.01' });
    expect(statuses(m)).toEqual(['FIRED', 'FIRED']);
    expect(m.events('AlertFired').map(({ alert }) => alert)).toEqual([1, 2]);
  });
});
