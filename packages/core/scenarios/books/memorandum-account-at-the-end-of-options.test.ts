import { describe, expect, it } from 'vitest';
import { dollars, TestMarket } from '../../src/testing/market.js';

/** Expire on Friday 2026-01-16. */
const CALL = 'AAPL260116C00150000';
const PUT = 'AAPL260116P00140000';

/** 100,000 under Reg T; AAPL at 150. */
function market(): { m: TestMarket; portfolio: string } {
  const m = new TestMarket();
  m.quote('AAPL', '150', '150');
  m.quote(CALL, '5.00', '5.00');
  m.quote(PUT, '1.50', '1.50');
  return { m, portfolio: m.openPortfolio({ type: 'MARGIN' }) };
}

const changes = (m: TestMarket): [string, number][] =>
  m.events('SmaChanged').map(({ event, amount }) => [event, dollars(amount)]);

function expireAt(m: TestMarket, price: string): void {
  m.advanceTo('2026-01-16', 15, 59);
  m.quote('AAPL', price, price);
  m.advanceTo('2026-01-16', 16);
}

/** The commission is 0.50 per contract. */
describe('the memorandum account when options end (D107)', () => {
  it("exercise subtracts half of the shares' mark and adds their value above the strike", () => {
    const { m, portfolio } = market();
    m.place(portfolio, { symbol: CALL, quantity: 2 });
    expireAt(m, '155');
    // 30,000 paid for shares worth 31,000, of which half is required.
    expect(changes(m).slice(1)).toEqual([
      ['EXECUTION', -1001],
      ['EXERCISE', 1000 - 15_500],
    ]);
  });

  it('assignment restores the requirement of the short, with the option at its intrinsic value', () => {
    const { m, portfolio } = market();
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    expireAt(m, '130');
    // 150 − 0.50 received, 1.50 + max(30 − 10, 14) required. Then 14,000 paid for 13,000: 6,500 required, 10 + max(26, 14) no more.
    expect(changes(m).slice(1)).toEqual([
      ['EXECUTION', 149.5 - 2150],
      ['ASSIGNMENT', -1000 - 6500 + 3600],
    ]);
  });

  it('expiration restores the requirement of a worthless short', () => {
    const { m, portfolio } = market();
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    expireAt(m, '140');
    // max(28 − 10, 14)
    expect(changes(m).at(-1)).toEqual(['EXPIRY', 1800]);
  });

  it('shares that go by assignment give half of them back', () => {
    const { m, portfolio } = market();
    m.place(portfolio, { quantity: 100 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    expireAt(m, '160');
    // Sold for 15,000, worth 16,000; a covered call requires 50 % of the strike and its in-the-money amount.
    expect(changes(m).at(-1)).toEqual(['ASSIGNMENT', -1000 + 8500]);
  });

  it('exercised by the holder during a day, it may become negative: the close calls it', () => {
    const m = new TestMarket();
    m.quote('AAPL', '150', '150');
    m.quote(PUT, '1.50', '1.50');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 5000 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 2 });
    // 5,000 + 299 − 4,300
    expect(dollars(m.value(portfolio).smaBalance)).toBe(999);
    expireAt(m, '139');
    // 28,000 paid for 27,800, half of which is required; before, 1 + 27.80 a share was.
    expect(dollars(m.value(portfolio).smaBalance)).toBe(999 - 200 - 13_900 + 5760);
    expect(m.portfolio(portfolio).margin.calls).toMatchObject([
      { type: 'MAINTENANCE' },
      { type: 'REG_T', amount: 73_410_000 },
    ]);
  });
});
