import { describe, expect, it } from 'vitest';
import { dollars, testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

const calls = (m: TestMarket, portfolio: string): unknown[] =>
  m.portfolio(portfolio).margin.calls.map(({ type, amount }) => [type, dollars(amount)]);

const callTypes = (m: TestMarket, portfolio: string): unknown[] =>
  m.portfolio(portfolio).margin.calls.map(({ type }) => type);

describe('the warning before a margin call (D119)', () => {
  /** 100 shares bought at 130 with 6,500 of cash and a loan of 6,500. */
  function borrowed(): TestMarket {
    const m = new TestMarket();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 6500 });
    m.quote('AAPL', '130', '130');
    m.place(portfolio, { quantity: 100, limit: '130' });
    return m;
  }
  const markAt = (m: TestMarket, price: string): unknown[] => {
    m.quote('AAPL', price, price);
    m.advanceMs(2000);
    return m.events('MarginWarned').map(({ excess, totalEquity }) => [dollars(excess), dollars(totalEquity)]);
  };

  it('is sent when the excess falls below 10 % of equity, and not at 10 %', () => {
    const m = borrowed();
    // 2,500 of equity, of which 2,250 are required.
    for (const price of ['100', '95', '91', '90.01', '90']) expect(markAt(m, price)).toEqual([]);
    expect(markAt(m, '89.99')).toEqual([[249.25, 2499]]);
  });

  it('is sent once a day, at the close at the latest', () => {
    const m = borrowed();
    expect(markAt(m, '89.99')).toHaveLength(1);
    for (const price of ['95', '89.5', '90', '89']) expect(markAt(m, price)).toHaveLength(1);
    m.advanceTo('2026-01-06', 16, 1);
    expect(m.events('MarginWarned')).toHaveLength(2);
  });
});

it('a MAINTENANCE call needs a deficit: an excess of exactly 0 is warned of (D119)', () => {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 6000 });
  m.quote('AAPL', '120', '120');
  m.place(portfolio, { quantity: 100, limit: '120' });
  // 2,000 of equity, all of which is required.
  m.quote('AAPL', '80', '80');
  m.advanceMs(2000);
  expect(m.value(portfolio).maintenanceExcess).toBe(0);
  expect(m.events('MarginWarned').map(({ excess }) => excess)).toEqual([0]);
  expect(calls(m, portfolio)).toEqual([]);
  m.quote('AAPL', '79.99', '79.99');
  m.advanceMs(2000);
  expect(m.events('CallIssued').map(({ call }) => [call.type, call.status])).toEqual([
    ['MAINTENANCE', 'OPEN'],
  ]);
});

it('a call that is due is liquidated beside one that is not (D120)', () => {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 6500 });
  m.quote('AAPL', '130', '130');
  m.place(portfolio, { quantity: 100, limit: '130' });
  m.quote('AAPL', '80', '80');
  m.advanceTo('2026-01-05', 16, 1);
  expect(callTypes(m, portfolio)).toEqual(['MAINTENANCE', 'MINIMUM_EQUITY']);
  m.advanceTo('2026-01-08', 11, 59);
  m.quote('AAPL', '80', '80');
  expect(m.events('LiquidationDecided')).toEqual([]);
  // Due after three business days; the other one after five.
  m.advanceTo('2026-01-08', 12, 1);
  expect(m.events('LiquidationDecided')).toHaveLength(1);
});

describe('the type of a call (D119)', () => {
  it.each([
    ['39', ['FUTURES']],
    ['38', ['MAINTENANCE']],
  ])('is FUTURES only if there would be no deficit without the futures: stock at %s', (mark, expected) => {
    const m = new TestMarket();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    m.quote('ESH26', '6000', '6000');
    m.quote('AAPL', '100', '100');
    m.place(portfolio, { symbol: 'ESH26', quantity: 1 });
    m.place(portfolio, { quantity: 1400, limit: '100' });
    // 1,400 shares with a loan of 40,000 have a deficit below 38.10.
    m.quote('AAPL', mark, mark);
    m.advanceMs(2000);
    expect(callTypes(m, portfolio)).toEqual(expected);
  });

  it('is FUTURES if the excess without them is exactly 0', () => {
    const m = new TestMarket();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 120_000 });
    m.quote('ESH26', '6000', '6000');
    m.quote('AAPL', '100', '100');
    m.place(portfolio, { symbol: 'ESH26', quantity: 1 });
    m.place(portfolio, { quantity: 1920, limit: '100' });
    // 1,920 shares at 50 with a loan of 72,000 have 24,000 of equity, all of which is required.
    m.quote('AAPL', '50', '50');
    m.advanceMs(2000);
    const { maintenanceExcess, houseRequirement } = m.value(portfolio);
    expect(dollars(maintenanceExcess)).toBe(24_000 - dollars(houseRequirement));
    expect(callTypes(m, portfolio)).toEqual(['FUTURES']);
  });

  it('is PORTFOLIO under portfolio margin', () => {
    const m = new TestMarket();
    const portfolio = m.openPortfolio({ type: 'MARGIN', marginType: 'PORTFOLIO', cash: 200_000 });
    m.quote('AAPL', '100', '100');
    m.place(portfolio, { quantity: 10_000, limit: '100' });
    m.quote('AAPL', '94', '94');
    m.advanceMs(2000);
    // 140,000 of equity against 15 % of 940,000.
    expect(calls(m, portfolio)).toEqual([['PORTFOLIO', 1000]]);
  });
});

it('a short position without a loan gets a MINIMUM_EQUITY call, too (D109)', () => {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 2500 });
  m.quote('KO', '60', '60');
  m.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 50 });
  m.quote('KO', '71', '71');
  m.advanceTo('2026-01-05', 16, 1);
  expect(calls(m, portfolio)).toEqual([['MINIMUM_EQUITY', 50]]);
});

describe('a deposit while positions are liquidated for a call (D119, D120)', () => {
  /** A call of a liquidation that has sold 10 of 180 shares; its order and one of the customer are open. */
  function liquidating() {
    const patient = testBroker('default', { liquidation: 'AT_ONCE' });
    const m = new TestMarket({ rules: { ...testRules(), brokers: new Map([['default', patient]]) } });
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    m.quote('AAPL', '100', '100');
    m.quote('KO', '60', '60');
    m.place(portfolio, { quantity: 180, limit: '100' });
    m.place(portfolio, { symbol: 'KO', quantity: 10, limit: '60' });
    const own = m.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_CLOSE', quantity: 10, limit: '90' });
    m.quote('AAPL', '50', '50', { bidSize: 10, askSize: 10 });
    m.advanceMs(1000);
    const [liquidation] = m.events('OrderAccepted').filter(({ request }) => request.origin === 'LIQUIDATION');
    const house = m.idOf(liquidation?.number ?? 0);
    expect(m.openOrder(house)).toBeDefined();
    const deposit = (amount: Money): unknown =>
      m.execute<'TransferCash'>({ type: 'TransferCash', by: m.by, portfolioId: portfolio, amount });
    return { m, portfolio, own, house, deposit, deficit: Money.negate(m.value(portfolio).maintenanceExcess) };
  }

  it.each([['exactly the deficit', Money.zero] as const, ['more', Money.ofDollars(5000)] as const])(
    "meets the call, cancels the liquidation order and leaves the customer's open: %s",
    (_, more) => {
      const { m, portfolio, own, house, deposit, deficit } = liquidating();
      deposit(Money.add(deficit, more));
      expect(m.order(house)).toMatchObject({ status: 'CANCELED', cancelReason: 'BROKER' });
      expect(m.openOrder(own)).toBeDefined();
      expect(calls(m, portfolio)).toEqual([]);
      expect(m.events('CallClosed').map(({ call }) => call.status)).toEqual(['MET']);
    },
  );

  it('leaves call and liquidation order open if a cent is missing', () => {
    const { m, portfolio, house, deposit, deficit } = liquidating();
    deposit(Money.subtract(deficit, Money.ofDollars(0.01)));
    expect(m.openOrder(house)).toBeDefined();
    expect(callTypes(m, portfolio)).toEqual(['MAINTENANCE']);
    expect(m.events('CallClosed')).toEqual([]);
  });
});
