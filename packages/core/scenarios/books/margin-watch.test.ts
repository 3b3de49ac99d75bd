import { describe, expect, it } from 'vitest';
import { testBroker, testEquity, TestMarket } from '../../src/testing/market.js';
import { Instant } from '../../src/values/instant.js';

const PUT = 'AAPL260116P00100000';
const ES = 'ESM26';

/** 100 shares at 90 with a loan of 6,500: the excess is 250, 10 % of the equity. */
function borrowed(): { m: TestMarket; portfolio: string } {
  const m = new TestMarket();
  const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 6500 });
  m.quote('AAPL', '130', '130');
  m.place(portfolio, { quantity: 100, limit: '130' });
  m.quote('AAPL', '90', '90');
  m.advanceMs(2000);
  return { m, portfolio };
}

const mark = (m: TestMarket, symbol: string, price: string): void => {
  m.quote(symbol, price, price);
  m.advanceMs(2000);
};

const calls = (m: TestMarket, portfolio: string): string[] =>
  m.portfolio(portfolio).margin.calls.map(({ type }) => type);

describe('margin checks (D119)', () => {
  it.each([false, true])(
    'the warning of another day comes with its first quote of a holding, restarted: %s',
    (isRestarted) => {
      const { m } = borrowed();
      mark(m, 'AAPL', '89');
      expect(m.events('MarginWarned')).toHaveLength(1);
      m.advanceTo('2026-01-06', 8);
      if (isRestarted) m.restart();
      m.advanceTo('2026-01-06', 9);
      expect(m.events('MarginWarned')).toHaveLength(1);
      mark(m, 'AAPL', '89');
      expect(m.events('MarginWarned').map(({ date }) => date)).toEqual(['2026-01-05', '2026-01-06']);
    },
  );

  it('a pending check survives a restart from a checkpoint of the same second', () => {
    const { m, portfolio } = borrowed();
    m.advanceMs(500);
    m.quote('AAPL', '80', '80');
    m.restart();
    expect(calls(m, portfolio)).toEqual([]);
    m.advanceMs(500);
    expect(calls(m, portfolio)).toEqual(['MAINTENANCE']);
  });

  it('a call is met by a quote of an option that has lost its bid and so half of its mark (D72)', () => {
    const m = new TestMarket();
    m.quote('AAPL', '100', '100');
    m.quote(PUT, '5', '5');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 5000 });
    m.place(portfolio, { symbol: PUT, quantity: 2, intent: 'SELL_TO_OPEN', limit: '5' });
    mark(m, PUT, '12');
    expect(calls(m, portfolio)).toEqual(['MAINTENANCE']);
    m.quote(PUT, undefined, '12');
    m.advanceMs(2000);
    expect(calls(m, portfolio)).toEqual([]);
  });

  it('a FUTURES call is met by the first price that restores the initial margin', () => {
    const m = new TestMarket({ date: '2026-03-16' });
    m.quote(ES, '6000', '6000');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 23_500 });
    m.place(portfolio, { symbol: ES, quantity: 1 });
    mark(m, ES, '5948');
    expect(calls(m, portfolio)).toEqual(['FUTURES']);
    // 22,900 of equity: 20,909 hold a contract, 23,000 open it.
    mark(m, ES, '5988');
    expect(calls(m, portfolio)).toEqual(['FUTURES']);
    mark(m, ES, '5991');
    expect(calls(m, portfolio)).toEqual([]);
  });

  it('a deficit that a new description of a held symbol causes is called', () => {
    const { m, portfolio } = borrowed();
    const described = testEquity('AAPL', { leverageFactor: 3 });
    m.execute<'ListInstruments'>({ type: 'ListInstruments', instruments: [described] });
    m.advanceMs(2000);
    expect(calls(m, portfolio)).toEqual(['MAINTENANCE']);
  });

  it('the due time of a call that is met passes without a check', () => {
    const { m, portfolio } = borrowed();
    mark(m, 'AAPL', '86');
    mark(m, 'AAPL', '89');
    expect(m.events('CallClosed')).toHaveLength(1);
    expect(m.events('MarginWarned')).toHaveLength(1);
    m.advanceTo('2026-01-08', 9);
    const before = m.journal.length;
    m.advanceTo('2026-01-08', 13);
    expect(m.journal.slice(before)).toEqual([]);
    expect(calls(m, portfolio)).toEqual([]);
  });

  it('a liquidation places no orders for a series that has stopped trading and waits for its opening', () => {
    const spx = 'SPX260116P06000000';
    const m = new TestMarket({
      rules: { brokers: new Map([['default', testBroker('default', { liquidation: 'AT_ONCE' })]]) },
    });
    m.quote('SPX', '6000', '6000');
    m.quote(spx, '50', '50');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    m.place(portfolio, { symbol: spx, quantity: 1, intent: 'SELL_TO_OPEN', limit: '50' });
    m.advanceTo('2026-01-16', 9, 29);
    m.quote(spx, '1200', '1200');
    m.advanceMs(2000);
    expect(calls(m, portfolio)).toEqual(['MAINTENANCE']);
    const at = Instant.plusMs(m.now, 120_000);
    m.brokerage.execute<'AdvanceClock'>({ type: 'AdvanceClock' }, at);
    const check = { type: 'LookAtMargin', portfolioId: portfolio } as const;
    expect(m.brokerage.execute<'LookAtMargin'>(check, at).events).toEqual([]);
  });
});
