import { expect, it } from 'vitest';
import { marginEligibility } from '../../src/commands/margin/upgrade-margin.js';
import { dollars, testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

const ES = 'ESH26';

const calls = (m: TestMarket, portfolio: string): unknown[] =>
  m.portfolio(portfolio).margin.calls.map(({ type, amount }) => [type, dollars(amount)]);

function deposit(m: TestMarket, portfolioId: string, amount: number): void {
  const { result } = m.execute<'TransferCash'>({
    type: 'TransferCash',
    by: m.by,
    portfolioId,
    amount: Money.ofDollars(amount),
  });
  expect(result).not.toHaveProperty('code');
}

it('a FUTURES call is for the shortfall to initial margin, which meets it (D94, D119)', () => {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 60_000 });
  m.quote(ES, '6000', '6000');
  m.place(portfolio, { symbol: ES, quantity: 2 });
  const { houseRequirement, initialRequirement } = m.value(portfolio);
  // A tick of two contracts below the maintenance margin.
  const fall = Math.floor((60_000 - dollars(houseRequirement)) / 100 / 0.25 + 1) * 0.25;
  m.quote(ES, String(6000 - fall), String(6000 - fall));
  m.advanceMs(2000);
  const missing = dollars(initialRequirement) - (60_000 - 100 * fall);
  expect(calls(m, portfolio)).toEqual([['FUTURES', missing]]);
  deposit(m, portfolio, missing - 1);
  expect(calls(m, portfolio)).toHaveLength(1);
  deposit(m, portfolio, 1);
  expect(calls(m, portfolio)).toEqual([]);
});

it('closing a future frees its maintenance margin (D120)', () => {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 60_000 });
  m.quote(ES, '6000', '6000');
  m.place(portfolio, { symbol: ES, quantity: 2 });
  const maintenance = dollars(m.value(portfolio).houseRequirement) / 2;
  m.quote(ES, '5600', '5600');
  m.advanceTo('2026-01-06', 12, 1);
  m.quote(ES, '5600', '5600');
  m.advanceMs(2000);
  const [step] = m.events('LiquidationDecided');
  expect(step?.legs.map(({ symbol }) => symbol)).toEqual([ES]);
  expect(dollars(step?.freed ?? Money.zero)).toBe((maintenance * (step?.legs[0]?.quantity ?? 0)) / 1e6);
});

it('a MINIMUM_EQUITY call that is due shows the shortfall to 2,000 (D109, D119)', () => {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 3000 });
  m.quote('AAPL', '100', '100');
  m.place(portfolio, { quantity: 55, limit: '100' });
  m.quote('AAPL', '80', '80');
  m.advanceTo('2026-01-05', 16, 1);
  // 55 × 80 − 2,500 = 1,900.
  expect(calls(m, portfolio)).toEqual([['MINIMUM_EQUITY', 100]]);
  m.advanceTo('2026-01-12', 12, 1);
  expect(m.events('CallDue').map(({ deficit }) => dollars(deficit))).toEqual([100]);
  deposit(m, portfolio, 100);
  expect(calls(m, portfolio)).toEqual([]);
});

it('MINIMUM_EQUITY: 2,000 of equity is enough (D109)', () => {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 3000 });
  m.quote('AAPL', '100', '100');
  m.place(portfolio, { quantity: 50, limit: '100' });
  m.quote('AAPL', '80', '80');
  m.advanceTo('2026-01-05', 16, 1);
  // 50 × 80 − 2,000 = 2,000.
  expect(dollars(m.value(portfolio).totalEquity)).toBe(2000);
  expect(calls(m, portfolio)).toEqual([]);
});

it('a REG_T call that is open keeps a portfolio from portfolio margin, though the house has enough (D14)', () => {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 150_000 });
  const call = 'AAPL260109C00060000';
  m.quote('AAPL', '100', '100');
  m.quote(call, '40', '40');
  m.place(portfolio, { symbol: call, quantity: 36, limit: '40' });
  m.advanceTo('2026-01-09', 16, 1);
  expect(m.value(portfolio).maintenanceExcess).toBeGreaterThan(0);
  expect(calls(m, portfolio)).toMatchObject([['REG_T', expect.any(Number)]]);
  const { rules } = m.brokerage;
  const eligibility = (extra: number) =>
    marginEligibility(
      m.portfolio(portfolio),
      m.brokerage,
      rules.brokers.get('default')!,
      rules.portfolioMarginEquity,
      Money.ofDollars(extra),
    );
  expect(eligibility(0).reasons).toEqual(['The portfolio has an open margin call']);
  expect(eligibility(150_000).eligible).toBe(true);
});

it('a deposit meets a call in the midst of a liquidation: nothing more is closed for it (D119, D120)', () => {
  const rules = {
    ...testRules(),
    brokers: new Map([['default', testBroker('default', { liquidation: 'AT_ONCE' })]]),
  };
  const m = new TestMarket({ rules });
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
  m.quote('AAPL', '100', '100');
  m.place(portfolio, { quantity: 190, limit: '100' });
  m.quote('AAPL', '60', '60', { bidSize: 10, askSize: 10 });
  m.advanceMs(1000);
  const [order] = m.events('OrderAccepted').filter(({ request }) => request.origin === 'LIQUIDATION');
  expect(m.fills(m.idOf(order?.number ?? 0))).toEqual(['10 @ 60']);
  deposit(m, portfolio, 10_000);
  expect(m.events('CallClosed').map(({ call }) => call.status)).toEqual(['MET']);
  m.quote('AAPL', '60', '60', { bidSize: 500, askSize: 500 });
  m.advanceMs(1000);
  expect(m.fills(m.idOf(order?.number ?? 0))).toEqual(['10 @ 60']);
  expect(m.value(portfolio).marginCallActive).toBe(false);
});
