import { expect, it } from 'vitest';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';

const ES = 'ESM26';

it('a broker may require a part of the margin before the daily settlement, and all of it overnight (D94)', () => {
  const brokers = new Map([
    ['default', testBroker('default')],
    ['by-day', testBroker('by-day', { futuresIntradayFractionBps: 2500 })],
  ]);
  const m = new TestMarket({ date: '2026-03-16', rules: { brokers } });
  m.quote(ES, '6000', '6000');
  // Full margin: 23,000 to open and 20,909 to hold.
  const whole = m.openPortfolio({ type: 'MARGIN', cash: 22_999 });
  expect(m.submit(whole, { symbol: ES, quantity: 1 })).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  const byDay = m.openPortfolio({ type: 'MARGIN', cash: 11_500, brokerId: 'by-day' });
  expect(m.submit(byDay, { symbol: ES, quantity: 3 })).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  m.place(byDay, { symbol: ES, quantity: 2 });
  expect(dollars(m.value(byDay).houseRequirement)).toBe((2 * 20_909) / 4);
  m.advanceTo('2026-03-16', 15, 59);
  expect(m.value(byDay).marginCallActive).toBe(false);
  m.advanceTo('2026-03-16', 16, 1);
  expect(dollars(m.value(byDay).houseRequirement)).toBe(2 * 20_909);
  expect(m.value(byDay).marginCallActive).toBe(true);
  // Closed from 17:00 to 18:00; then a new trade day is open.
  m.advanceTo('2026-03-16', 17, 30);
  expect(dollars(m.value(byDay).houseRequirement)).toBe(2 * 20_909);
  m.advanceTo('2026-03-16', 18);
  expect(dollars(m.value(byDay).houseRequirement)).toBe((2 * 20_909) / 4);
});

it('calendar spreads require the same part', () => {
  const brokers = new Map([['default', testBroker('default', { futuresIntradayFractionBps: 5000 })]]);
  const m = new TestMarket({ date: '2026-03-16', rules: { brokers } });
  m.quote(ES, '6000', '6000');
  m.quote('ESU26', '6050', '6050');
  const portfolio = m.openPortfolio({ type: 'MARGIN' });
  m.place(portfolio, { symbol: ES, quantity: 1 });
  m.place(portfolio, { symbol: 'ESU26', quantity: 1, intent: 'SELL_TO_OPEN' });
  expect(dollars(m.value(portfolio).houseRequirement)).toBe(20_909 * 0.5 * 0.2);
  m.advanceTo('2026-03-16', 16);
  expect(dollars(m.value(portfolio).houseRequirement)).toBe(20_909 * 0.2);
});
