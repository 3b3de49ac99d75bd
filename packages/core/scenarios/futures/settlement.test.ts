import { describe, expect, it } from 'vitest';
import { Position } from '../../src/positions/position.js';
import { Auditor } from '../../src/testing/auditor.js';
import { dollars, shares, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

/** Monday 2026-03-16, 10:00; the March contract ends on Friday at 09:30. */
const ES = 'ESH26';

function market(): TestMarket {
  const m = new TestMarket({ date: '2026-03-16' });
  m.quote(ES, '6000', '6000.25');
  return m;
}

const cash = (m: TestMarket, portfolio: string): number[] => {
  const { SETTLED_CASH, PENDING_CASH, FUTURES_PNL } = m.portfolio(portfolio).balances;
  return [SETTLED_CASH, PENDING_CASH, FUTURES_PNL].map(dollars);
};

function audit(m: TestMarket): void {
  const auditor = new Auditor((symbol) => (symbol === ES ? 50n : 1n));
  for (const { events } of m.journal) auditor.note(events);
  expect(auditor.differences(m.brokerage.state)).toEqual([]);
}

describe('daily settlement of variation (D95)', () => {
  it("pays the day's variation and pending profits at 16:00", () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.place(portfolio, { symbol: ES, quantity: 2 });
    m.quote(ES, '6010', '6010');
    expect(dollars(m.value(portfolio).pendingCash)).toBe(2 * 50 * 9.75);
    m.place(portfolio, { symbol: ES, quantity: 1, intent: 'SELL_TO_CLOSE' });
    expect(cash(m, portfolio)).toEqual([100_000, 487.5, -487.5]);
    m.quote(ES, '6020', '6020');
    m.restart();
    m.advanceTo('2026-03-16', 15, 59);
    expect(cash(m, portfolio)[0]).toBe(100_000);
    m.advanceTo('2026-03-16', 16);
    // 487.50 of the contract that was sold and 50 × 19.75 of the other.
    expect(cash(m, portfolio)).toEqual([100_000 + 487.5 + 987.5, 0, -1475]);
    expect(m.entries().filter(({ type }) => type === 'VARIATION')).toHaveLength(1);
    m.quote(ES, '6000', '6000');
    expect(dollars(m.value(portfolio).pendingCash)).toBe(-1000);
    m.advanceTo('2026-03-17', 16);
    expect(cash(m, portfolio)).toEqual([100_000 + 475, 0, -475]);
    const { lots, settlementPrice } = m.portfolio(portfolio).positions.get(ES)!;
    // The entry stays what it was.
    expect([dollars(lots[0]!.cost), settlementPrice]).toEqual([6000.25 * 50, 6000e8]);
    audit(m);
  });

  it('counts in a reset before it is posted (D57)', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.place(portfolio, { symbol: ES, quantity: 1 });
    m.quote(ES, '6010', '6010');
    const { result } = m.execute<'ResetPortfolio'>({
      type: 'ResetPortfolio',
      by: m.by,
      portfolioId: portfolio,
    });
    expect(result).toMatchObject({ oldCashBalance: Money.ofUnits(100_487.5e4), realizedPnl: 487.5e4 });
  });

  it('ends a short in cash with the last trade, at the index if it is quoted (D96)', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.place(portfolio, { symbol: ES, quantity: 1, intent: 'SELL_TO_OPEN' });
    const order = m.place(portfolio, {
      symbol: ES,
      quantity: 1,
      intent: 'BUY_TO_CLOSE',
      limit: '5000',
      tif: 'GTC',
    });
    m.quote('SPX', undefined, undefined, { last: '5990.1' });
    m.advanceTo('2026-03-20', 9, 29);
    expect(shares(Position.held(m.portfolio(portfolio).positions.get(ES)!))).toBe(-1);
    m.advanceTo('2026-03-20', 9, 30);
    expect(m.portfolio(portfolio).positions.size).toBe(0);
    // Sold at 6000: 9.90 points of 50 dollars.
    expect(cash(m, portfolio)).toEqual([100_495, 0, -495]);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'INSTRUMENT_EXPIRED' });
    expect(m.submit(portfolio, { symbol: ES, quantity: 1 })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
    });
    audit(m);
  });
});
