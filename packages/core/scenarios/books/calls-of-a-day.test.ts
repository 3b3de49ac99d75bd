import { describe, expect, it } from 'vitest';
import { dollars, testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

/** A broker that never liquidates, so that calls can be observed. */
function market(date: string): TestMarket {
  const patient = testBroker('default', { liquidation: 'NEVER' });
  const rules = { ...testRules(), brokers: new Map([['default', patient]]) };
  return new TestMarket({ date, rules });
}

const calls = (m: TestMarket, portfolio: string): unknown[] =>
  m
    .portfolio(portfolio)
    .margin.calls.map(({ type, amount, dueAt }) => [type, dollars(amount), m.time(dueAt)?.slice(0, 16)]);

const ofADay = (m: TestMarket, portfolio: string): unknown[] =>
  calls(m, portfolio).filter((call) => ['INTRADAY', 'DAY_TRADE'].includes(String((call as string[])[0])));

function transfer(m: TestMarket, portfolioId: string, amount: number): void {
  const { result } = m.execute<'TransferCash'>({
    type: 'TransferCash',
    by: m.by,
    portfolioId,
    amount: Money.ofDollars(amount),
  });
  expect(result).not.toHaveProperty('code');
}

/** 100,000 of cash, 1,500 shares at 100, and an order at 60 that fills while the market falls to 45: 1,900 shares and 74,000 borrowed. */
function fellThrough(): { m: TestMarket; portfolio: string } {
  const m = market('2026-06-08');
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
  m.quote('AAPL', '100', '100');
  m.place(portfolio, { quantity: 1500 });
  m.place(portfolio, { quantity: 400, limit: '60' });
  m.quote('AAPL', '45', '45');
  return { m, portfolio };
}

describe('the intraday deficit (D112)', () => {
  it('is the shortfall after a purchase; it is called at the close and only listed', () => {
    const { m, portfolio } = fellThrough();
    m.advanceTo('2026-06-08', 15, 59);
    expect(ofADay(m, portfolio)).toEqual([]);
    m.advanceTo('2026-06-08', 16, 1);
    // 1,900 × 45 − 74,000 = 11,500 of equity against 21,375.
    expect(ofADay(m, portfolio)).toEqual([['INTRADAY', 9875, '2026-06-15T12:00']]);
    m.quote('AAPL', '60', '60');
    m.advanceMs(2000);
    // The maintenance call is met, the other waits for a close; it does not prevent purchases.
    expect(calls(m, portfolio)).toHaveLength(1);
    expect(m.value(portfolio).marginCallActive).toBe(false);
  });

  it('is met at the first close with an excess that rose by its amount', () => {
    const { m, portfolio } = fellThrough();
    m.advanceTo('2026-06-09', 10);
    // 1,425 per dollar of price: 6.92 of them are 14 less than the call.
    m.quote('AAPL', '51.92', '51.92');
    m.advanceTo('2026-06-09', 16, 1);
    expect(ofADay(m, portfolio)).toHaveLength(1);
    m.advanceTo('2026-06-10', 10);
    transfer(m, portfolio, 14);
    m.advanceTo('2026-06-10', 16, 1);
    expect(ofADay(m, portfolio)).toEqual([]);
  });

  it('does not arise from prices alone or from a small shortfall', () => {
    const m = market('2026-06-08');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    m.quote('AAPL', '100', '100');
    m.place(portfolio, { quantity: 190 });
    const small = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    m.place(small, { quantity: 190 });
    m.place(small, { quantity: 1, limit: '63.30' });
    // 190 × 63.1 − 9,000 = 2,989 against 2,997.25; a share more at 63.30 requires 15.78 and costs 0.20 beyond its mark.
    m.quote('AAPL', '63.10', '63.10');
    m.advanceTo('2026-06-08', 16, 1);
    expect(m.portfolio(small).margin.shortfall?.amount).toBe(Money.ofUnits(242_250));
    expect(ofADay(m, small)).toEqual([]);
    expect(m.portfolio(portfolio).margin.shortfall).toBeUndefined();
  });

  it.each([
    ['53', []],
    ['52.99', [['INTRADAY', 1015, '2026-06-15T12:00']]],
  ])('INTRADAY calls: 1,000 is still small, at a mark of %s', (mark, expected) => {
    const m = market('2026-06-08');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    m.quote('AAPL', '100', '100');
    m.place(portfolio, { quantity: 1500 });
    m.place(portfolio, { quantity: 500, limit: '61' });
    // 80,500 borrowed. At 53, 2,000 shares leave 25,500 of equity against 26,500.
    m.quote('AAPL', mark, mark);
    m.advanceTo('2026-06-08', 16, 1);
    expect(ofADay(m, portfolio)).toEqual(expected);
  });

  it('left unmet twice within twelve months ends new shorts and debits for 90 days', () => {
    const { m, portfolio } = fellThrough();
    m.advanceTo('2026-06-15', 12, 1);
    expect(m.portfolio(portfolio).margin.unmetIntraday).toEqual(['2026-06-15']);
    m.quote('AAPL', '52', '52');
    m.advanceMs(2000);
    m.place(portfolio, { quantity: 10, limit: '40' });
    m.quote('AAPL', '40', '40');
    m.advanceTo('2026-06-15', 16, 1);
    // Five business days, June 19th not among them.
    expect(ofADay(m, portfolio)).toContainEqual(['INTRADAY', 17_100, '2026-06-23T12:00']);
    m.advanceTo('2026-06-23', 12, 1);
    m.quote('AAPL', '100', '100');
    m.advanceTo('2026-06-24', 10);
    m.quote('AAPL', '100', '100');
    m.quote('KO', '50', '50');
    expect(m.value(portfolio).marginCallActive).toBe(false);
    expect(m.submit(portfolio, { symbol: 'KO', quantity: 1 })).toMatchObject({ code: 'MARGIN_CALL_ACTIVE' });
    expect(m.submit(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 1 })).toMatchObject({
      code: 'MARGIN_CALL_ACTIVE',
    });
    m.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 800 });
    // Purchases from cash are no debit.
    m.place(portfolio, { symbol: 'KO', quantity: 100 });
    m.advanceTo('2026-09-21', 10);
    m.quote('KO', '50', '50');
    m.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_CLOSE', quantity: 100 });
    m.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 1 });
  });
});

describe('dayTradeBuyingPower under LEGACY_PDT (D110, D220)', () => {
  const power = (m: TestMarket, portfolio: string) => dollars(m.value(portfolio).dayTradeBuyingPower);

  it('falls by four times a withdrawal; a deposit does not raise it, and pays for withdrawals of the same day', () => {
    const m = market('2026-01-05');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 50_000 });
    expect(power(m, portfolio)).toBe(200_000);
    transfer(m, portfolio, -10_000);
    expect(power(m, portfolio)).toBe(160_000);
    m.restart();
    expect(power(m, portfolio)).toBe(160_000);
    transfer(m, portfolio, 15_000);
    expect(power(m, portfolio)).toBe(200_000);
    transfer(m, portfolio, -5000);
    expect(power(m, portfolio)).toBe(200_000);
    transfer(m, portfolio, -20_000);
    expect(power(m, portfolio)).toBe(120_000);
    // The close mark includes the transfers.
    m.advanceTo('2026-01-05', 16, 1);
    expect(power(m, portfolio)).toBe(120_000);
    transfer(m, portfolio, 20_000);
    m.advanceTo('2026-01-06', 16, 1);
    expect(power(m, portfolio)).toBe(200_000);
  });
});

describe('day-trade calls under LEGACY_PDT (D110, D119)', () => {
  it("are issued at the close for day trades above the previous close's limit, and a deposit meets them", () => {
    const m = market('2026-01-05');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 50_000 });
    m.quote('KO', '50', '50');
    // A deposit can be spent, but not on day trades.
    transfer(m, portfolio, 50_000);
    m.place(portfolio, { symbol: 'KO', quantity: 3000 });
    m.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_CLOSE', quantity: 3000 });
    expect(calls(m, portfolio)).toEqual([]);
    m.advanceTo('2026-01-05', 16, 1);
    // The initial requirement was half of 150,000, with an excess of 50,000.
    expect(calls(m, portfolio)).toEqual([['DAY_TRADE', 25_000, '2026-01-12T12:00']]);
    expect(m.value(portfolio).marginCallActive).toBe(false);
    m.advanceTo('2026-01-06', 10);
    transfer(m, portfolio, 25_000);
    m.advanceTo('2026-01-06', 16, 1);
    expect(calls(m, portfolio)).toEqual([]);
  });

  it('are not issued for overnight positions or for day trades within the limit', () => {
    const m = market('2026-01-05');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 50_000 });
    m.quote('KO', '50', '50');
    m.place(portfolio, { symbol: 'KO', quantity: 2000, limit: '50' });
    m.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_CLOSE', quantity: 2000 });
    transfer(m, portfolio, 50_000);
    m.place(portfolio, { symbol: 'KO', quantity: 3000, limit: '50' });
    m.advanceTo('2026-01-05', 16, 1);
    expect(calls(m, portfolio)).toEqual([]);
  });

  it('are not issued for intraday leverage; positions open at the close get a Regulation T call', () => {
    const lending = testBroker('default', { dayTradingLeverage: true, liquidation: 'NEVER' });
    const rules = { ...testRules(), brokers: new Map([['default', lending]]) };
    const m = new TestMarket({ date: '2026-01-05', rules });
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    m.quote('KO', '50', '50');
    m.place(portfolio, { symbol: 'KO', quantity: 6000, limit: '50' });
    m.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_CLOSE', quantity: 6000 });
    m.place(portfolio, { symbol: 'KO', quantity: 5000, limit: '50' });
    m.advanceTo('2026-01-05', 16, 1);
    expect(calls(m, portfolio)).toEqual([['REG_T', 25_000, '2026-01-08T12:00']]);
  });

  it('a reset ends them', () => {
    const { m, portfolio } = fellThrough();
    m.advanceTo('2026-06-08', 16, 1);
    m.execute<'ResetPortfolio'>({ type: 'ResetPortfolio', by: m.by, portfolioId: portfolio });
    expect(calls(m, portfolio)).toEqual([]);
    expect(m.events('CallClosed').map(({ call }) => call.status)).toEqual(['MET', 'MET']);
  });
});
