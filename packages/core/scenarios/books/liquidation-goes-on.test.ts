import { expect, it } from 'vitest';
import { dollars, TestMarket } from '../../src/testing/market.js';

const CALL = 'AAPL260109C00060000';

/** 6,000 shares by exercise. Their Reg T requirement, half of the value, makes the SMA negative; the maintenance excess stays positive. */
function owing(): { m: TestMarket; portfolio: string } {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 250_000 });
  m.quote('AAPL', '99.99', '100.01', { bidSize: 10, askSize: 10, last: '100' });
  m.quote(CALL, '39.90', '40', { bidSize: 100, askSize: 100 });
  m.place(portfolio, { symbol: CALL, quantity: 60, limit: '40' });
  m.advanceTo('2026-01-09', 20, 30);
  return { m, portfolio };
}

const calls = (m: TestMarket, portfolio: string) =>
  m.portfolio(portfolio).margin.calls.map(({ type, isDue = false }) => ({ type, isDue }));

it('a liquidation continues on the next day until the SMA call is met (D120)', () => {
  const { m, portfolio } = owing();
  expect(calls(m, portfolio)).toEqual([{ type: 'REG_T', isDue: false }]);
  expect(dollars(m.value(portfolio).maintenanceExcess)).toBeGreaterThan(0);

  m.advanceTo('2026-01-14', 11, 59);
  m.quote('AAPL', '99.99', '100.01', { bidSize: 10, askSize: 10, last: '100' });
  m.advanceTo('2026-01-14', 12, 1);
  const [first] = m.events('OrderAccepted').filter(({ request }) => request.origin === 'LIQUIDATION');
  expect(first).toBeDefined();
  expect(m.fills(m.idOf(first?.number ?? 0))).toEqual(['10 @ 99.99']);

  m.advanceTo('2026-01-15', 9, 45);
  expect(m.openOrder(m.idOf(first?.number ?? 0))).toBeUndefined();
  expect(calls(m, portfolio)).toEqual([{ type: 'REG_T', isDue: true }]);
  m.quote('AAPL', '99.99', '100.01', { bidSize: 9000, askSize: 9000, last: '100' });
  m.advanceMs(2000);
  // 49,530.05 is lacking; a share sold at 99.99 lowers the SMA deficit by 49.99: ⌈1.05 × 49,530.05 / 49.99⌉, and no more.
  const second = m.events('OrderAccepted').findLast(({ request }) => request.origin === 'LIQUIDATION');
  expect(m.fills(m.idOf(second?.number ?? 0))).toEqual(['1041 @ 99.99']);
  expect(calls(m, portfolio)).toEqual([]);
  expect(m.events('CallClosed').map(({ call }) => call.status)).toEqual(['LIQUIDATED']);
});

it('an open call falls due once, also after a recovery (D120)', () => {
  const { m, portfolio } = owing();
  m.advanceTo('2026-01-14', 13);
  const before = m.journal.length;
  m.restart();
  m.advanceMs(60_000);
  expect(m.journal.slice(before)).toEqual([]);
  expect(calls(m, portfolio)).toEqual([{ type: 'REG_T', isDue: true }]);
});
