import { describe, expect, it } from 'vitest';
import { Brokerage } from '../../src/brokerage.js';
import { Position } from '../../src/positions/position.js';
import { saveState } from '../../src/saved-state.js';
import type { SavedState } from '../../src/saved-state.js';
import { dollars, requestOf, shares, TestMarket, testRules } from '../../src/testing/market.js';
import { Instant } from '../../src/values/instant.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

/** Gold of December 2026: first notice on Monday 2026-11-30, last trade on Tuesday 2026-12-29. */
const GC = 'GCZ26';
/** Oil of December 2026: no notice; last trade on Friday 2026-11-20. */
const CL = 'CLZ26';

function market(symbol: string, price: number, date: string): TestMarket {
  const m = new TestMarket({ date });
  m.quote(symbol, String(price), String(price));
  return m;
}

const held = (m: TestMarket, portfolio: string, symbol: string): number => {
  const position = m.portfolio(portfolio).positions.get(symbol);
  return position === undefined ? 0 : shares(Position.held(position));
};

const cash = (m: TestMarket, portfolio: string): number[] => {
  const { SETTLED_CASH, PENDING_CASH, FUTURES_PNL } = m.portfolio(portfolio).balances;
  return [SETTLED_CASH, PENDING_CASH, FUTURES_PNL].map(dollars);
};

describe('deliverable futures are closed out at the mark (D96)', () => {
  it('a long two business days before first notice, a short two before the last trade', () => {
    const m = market(GC, 4000, '2026-11-23');
    const long = m.openPortfolio({ type: 'MARGIN' });
    const short = m.openPortfolio({ type: 'MARGIN' });
    m.place(long, { symbol: GC, quantity: 2 });
    m.place(short, { symbol: GC, quantity: 1, intent: 'SELL_TO_OPEN' });
    const target = m.place(long, {
      symbol: GC,
      quantity: 2,
      intent: 'SELL_TO_CLOSE',
      limit: '5000',
      tif: 'GTC',
    });
    // Thanksgiving is the 26th: the business days before the 30th are the 27th and the 25th, which ends at 17:00.
    m.advanceTo('2026-11-25', 16);
    m.quote(GC, '4010.4', '4010.6');
    m.advanceTo('2026-11-25', 16, 59);
    expect(held(m, long, GC)).toBe(2);
    m.advanceTo('2026-11-25', 17);
    expect(held(m, long, GC)).toBe(0);
    // 10.50 of 100 ounces and two contracts.
    expect(cash(m, long)).toEqual([102_100, 0, -2100]);
    expect(m.order(target)).toMatchObject({ status: 'CANCELED', cancelReason: 'INSTRUMENT_EXPIRED' });
    expect(held(m, short, GC)).toBe(-1);
    expect(m.submit(long, { symbol: GC, quantity: 1 })).toMatchObject({ code: 'INSTRUMENT_NOT_TRADABLE' });
    m.restart();
    m.advanceTo('2026-12-24', 13);
    m.quote(GC, '4100', '4100');
    expect(held(m, short, GC)).toBe(-1);
    // Christmas is a Friday: the business days before the 29th are the 28th and the 24th.
    m.advanceTo('2026-12-24', 17);
    expect(held(m, short, GC)).toBe(0);
    expect(cash(m, short)).toEqual([90_000, 0, 10_000]);
    expect(m.submit(short, { symbol: GC, quantity: 1, intent: 'SELL_TO_OPEN' })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
    });
  });

  it('without notices both sides go two business days before the last trade, and orders that open end', () => {
    const m = market(CL, 60, '2026-11-16');
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    const idle = m.openPortfolio({ type: 'MARGIN' });
    m.place(portfolio, { symbol: CL, quantity: 1 });
    const opening = m.place(idle, { symbol: CL, quantity: 1, limit: '50', tif: 'GTC' });
    m.advanceTo('2026-11-18', 16, 59);
    expect(m.order(opening).status).toBe('ACTIVE');
    m.advanceTo('2026-11-18', 17);
    expect(held(m, portfolio, CL)).toBe(0);
    expect(m.order(opening)).toMatchObject({ status: 'CANCELED', cancelReason: 'INSTRUMENT_EXPIRED' });
    m.advanceTo('2026-11-19', 10);
    m.quote(CL, '49', '49');
    expect(held(m, idle, CL)).toBe(0);
  });
});

describe('a settlement of many is many records (D95)', () => {
  it('each portfolio is settled once, in order, also across a restart', () => {
    const { calendar } = testRules();
    const date = TradingDate.of('2026-11-16');
    const at = calendar.instantOf(date, 16, 0);
    const begin = calendar.instantOf(date, 10, 0);
    let brokerage = Brokerage.begin(testRules(), 1, begin);
    const quote = (text: string): void => {
      const [bid, ask] = [Price.of(text), Price.of(text)];
      const quotes = [{ symbol: 'MESZ26', bid, ask, at: begin }];
      brokerage.execute({ type: 'UpdateMarket', quotes, pushed: true }, begin);
    };
    const by = { tier: 'PRO' as const };
    quote('6000');
    for (let each = 0; each < 310; each++) {
      const { result } = brokerage.execute<'OpenPortfolio'>(
        {
          ...{ type: 'OpenPortfolio', by, accountId: '11111111-1111-4111-8111-111111111111' },
          ...{ portfolioType: 'MARGIN', accountType: 'INDIVIDUAL', brokerId: 'default', fillModel: 'quote' },
          ...{ initialCash: Money.ofDollars(100_000), proAccounts: 10 },
        },
        begin,
      );
      if ('code' in result) throw new Error(result.code);
      const order = requestOf(result.terms.portfolioId, { symbol: 'MESZ26', quantity: 1 });
      brokerage.execute({ type: 'SubmitOrder', by, order }, begin);
    }
    quote('6010');
    const restart = (): void => {
      const saved = JSON.parse(JSON.stringify(saveState(brokerage.state))) as SavedState;
      brokerage = Brokerage.restore(brokerage.rules, saved);
      brokerage.resume();
    };
    const slices: number[] = [];
    const doWhatIsDue = (): void => {
      for (let due = brokerage.nextDue(); due !== undefined && due <= at; due = brokerage.nextDue()) {
        const { events } = brokerage.execute({ type: 'AdvanceClock' }, Instant.max(due, brokerage.state.now));
        const settled = events.filter(({ type }) => type === 'FutureSettled').length;
        if (settled > 0) slices.push(settled);
        if (slices.length === 2) restart();
      }
    };
    doWhatIsDue();
    expect(slices).toEqual([150, 150, 10]);
    for (const { balances } of brokerage.state.portfolios.values())
      expect([balances.SETTLED_CASH, balances.PENDING_CASH].map(dollars)).toEqual([100_050, 0]);
    restart();
    doWhatIsDue();
    expect(slices).toEqual([150, 150, 10]);
  });
});
