import { describe, expect, it } from 'vitest';
import { dollars, testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

/** 100,000 of cash and 2,000 shares at 100, marked at 66: the deficit is 1,000. */
function called(): { m: TestMarket; portfolio: string } {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
  m.quote('AAPL', '99.99', '100', { last: '100' });
  m.place(portfolio, { quantity: 2000, limit: '100' });
  m.quote('AAPL', '66', '66.02', { last: '66' });
  m.advanceMs(2000);
  expect(types(m, portfolio)).toEqual(['MAINTENANCE']);
  return { m, portfolio };
}

const types = (m: TestMarket, portfolio: string): string[] =>
  m.portfolio(portfolio).margin.calls.map(({ type }) => type);

describe('a call about prices is met as soon as the excess is back (D119, D49)', () => {
  it('by a transfer, with the transfer', () => {
    const { m, portfolio } = called();
    const { result } = m.execute<'TransferCash'>({
      type: 'TransferCash',
      by: m.by,
      portfolioId: portfolio,
      amount: Money.ofDollars(5000),
    });
    expect(result).not.toHaveProperty('code');
    expect(types(m, portfolio)).toEqual([]);
    expect(m.value(portfolio).marginCallActive).toBe(false);
    m.place(portfolio, { quantity: 1, limit: '60' });
  });

  it('by a sale, with the sale; not by one that is too small', () => {
    const { m, portfolio } = called();
    m.place(portfolio, { quantity: 20, intent: 'SELL_TO_CLOSE' });
    expect(types(m, portfolio)).toEqual(['MAINTENANCE']);
    m.place(portfolio, { quantity: 180, intent: 'SELL_TO_CLOSE' });
    expect(types(m, portfolio)).toEqual([]);
    expect(dollars(m.value(portfolio).maintenanceExcess)).toBe(2300);
    expect(m.events('CallClosed').map(({ call }) => call.status)).toEqual(['MET']);
  });
});

describe('a call that ends with its cause', () => {
  it('is met with the expiry, not when margin is looked at next', () => {
    const m = new TestMarket({ date: '2026-01-16', hour: 15 });
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 30_000 });
    m.quote('AAPL', '99.99', '100.01', { last: '100.00' });
    const call = 'AAPL260116C00110000';
    m.quote(call, '1.00', '1.05', { last: '1.00' });
    m.place(portfolio, { symbol: call, quantity: 10, intent: 'SELL_TO_OPEN' });
    // The offer is far above the value of an option out of the money: 25,000 to buy it back, and 10,000 in addition, of 31,000.
    m.quote(call, '24.00', '25.00', { last: '25.00' });
    m.advanceMs(2000);
    expect(types(m, portfolio)).toEqual(['MAINTENANCE']);
    m.advanceTo('2026-01-16', 17);
    const record = m.journal.find(({ events }) => events.some(({ type }) => type === 'OptionEnded'));
    expect(record?.events.map(({ type }) => type)).toContain('CallClosed');
    expect(m.time(record?.at)).toBe('2026-01-16T16:00:00-05:00');
    expect(types(m, portfolio)).toEqual([]);
  });
});

/** Two positions at a broker that liquidates at once, the larger one about to cause a deficit. */
function liquidating(): { m: TestMarket; portfolio: string } {
  const rules = testRules();
  const hasty = testBroker('default', { liquidation: 'AT_ONCE' });
  const m = new TestMarket({ rules: { ...rules, brokers: new Map([['default', hasty]]) } });
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
  m.quote('MSFT', '50', '50', { last: '50' });
  m.quote('AAPL', '100', '100', { last: '100' });
  m.place(portfolio, { symbol: 'MSFT', quantity: 10 });
  m.place(portfolio, { quantity: 1980, limit: '100' });
  return { m, portfolio };
}

describe('liquidation (D120)', () => {
  it('cancels opening orders and keeps closing orders for shares that it does not need', () => {
    const { m, portfolio } = liquidating();
    const elsewhere = m.place(portfolio, {
      symbol: 'MSFT',
      intent: 'SELL_TO_CLOSE',
      quantity: 5,
      limit: '80',
      tif: 'GTC',
    });
    const same = m.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 5, limit: '180', tif: 'GTC' });
    const opening = m.place(portfolio, { symbol: 'MSFT', quantity: 1, limit: '1', tif: 'GTC' });
    m.quote('MSFT', '46', '54', { last: '50' });
    m.quote('AAPL', '65', '65.5', { last: '65.25' });
    m.advanceMs(2000);
    expect(m.events('LiquidationDecided')).toHaveLength(1);
    expect(m.order(elsewhere).status).toBe('ACTIVE');
    expect(m.order(same).status).toBe('ACTIVE');
    expect(m.order(opening)).toMatchObject({ status: 'CANCELED', cancelReason: 'MARGIN_CALL' });
    expect(types(m, portfolio)).toEqual([]);
  });

  it('cancels closing orders for the shares that it needs, the newest first', () => {
    const { m, portfolio } = liquidating();
    const first = m.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 980, limit: '180', tif: 'GTC' });
    const second = m.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 1000, limit: '190', tif: 'GTC' });
    m.quote('AAPL', '65', '65', { last: '65' });
    m.advanceMs(2000);
    expect(m.order(second)).toMatchObject({ status: 'CANCELED', cancelReason: 'MARGIN_CALL' });
    expect(m.order(first).status).toBe('ACTIVE');
    expect(types(m, portfolio)).toEqual([]);
  });
});
