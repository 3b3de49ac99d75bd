import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

/** A GTC limit at 95.00 that has rested through Monday; the next session is Tuesday's. */
function overnight(options: Parameters<TestMarket['openPortfolio']>[0] = {}) {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  const order = market.place(market.openPortfolio(options), { limit: '95.00', tif: 'GTC' });
  expect(market.waitingFor(order)).toBe('ask 100.00 above limit 95.00');
  market.advanceTo('2026-01-06', 9, 0);
  return { market, order };
}

describe('at the open of a session everybody meets its first quote like an order that arrives (D128)', () => {
  it('a resting limit that the market has jumped over fills at the touch', () => {
    const { market, order } = overnight();
    market.advanceTo('2026-01-06', 9, 30);
    market.quote('AAPL', '93.90', '94.00');
    expect(market.fills(order)).toEqual(['10 @ 94']);
    expect(market.executions(order)[0]).toMatchObject({ liquidity: 'TAKER', explanation: { rule: 'TOUCH' } });
  });

  it('a limit reached later in the session fills at its limit (D47)', () => {
    const { market, order } = overnight();
    market.advanceTo('2026-01-06', 9, 30);
    market.quote('AAPL', '97.90', '98.00');
    market.quote('AAPL', '93.90', '94.00');
    expect(market.fills(order)).toEqual(['10 @ 95']);
    expect(market.executions(order)[0]).toMatchObject({ liquidity: 'MAKER' });
  });

  it('the first quote of every day applies, also after a restart', () => {
    const { market, order } = overnight();
    market.advanceTo('2026-01-06', 9, 30);
    market.quote('AAPL', '97.90', '98.00');
    market.restart();
    market.advanceTo('2026-01-07', 9, 30);
    market.restart();
    market.quote('AAPL', '93.90', '94.00');
    expect(market.fills(order)).toEqual(['10 @ 94']);
  });

  it('strict: at the open the touch is enough, later the market must trade through', () => {
    const first = overnight({ fillModel: 'strict' });
    first.market.advanceTo('2026-01-06', 9, 30);
    first.market.quote('AAPL', '94.90', '95.00');
    expect(first.market.fills(first.order)).toEqual(['10 @ 95']);
    const second = overnight({ fillModel: 'strict' });
    second.market.advanceTo('2026-01-06', 9, 30);
    second.market.quote('AAPL', '95.90', '96.00');
    second.market.quote('AAPL', '94.90', '95.00');
    expect(second.market.fills(second.order)).toEqual([]);
    expect(second.market.waitingFor(second.order)).toBe('market to trade through limit 95.00');
  });

  it('bracket targets meet the first quote of a session like an arriving order', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const profitTarget = { orderType: 'LIMIT' as const, limitPrice: 11_000_000_000 as never };
    const entry = market.place(market.openPortfolio(), { more: { bracketConfig: { profitTarget } } });
    const [target = ''] = market.exits(entry);
    market.advanceTo('2026-01-06', 9, 30);
    market.quote('AAPL', '115.00', '115.10');
    expect(market.fills(target)).toEqual(['10 @ 115']);
  });
});

describe('quotes from before a session fill and trigger nothing in it (D128, D159)', () => {
  it('a session begins without one', () => {
    const { market, order } = overnight();
    market.quote('AAPL', '93.90', '94.00');
    market.advanceTo('2026-01-06', 9, 30);
    expect(market.fills(order)).toEqual([]);
    expect(market.waitingFor(order)).toBe('no quote in this session yet');
  });

  it('an order placed during a session ignores quotes from before it', () => {
    const { market } = overnight();
    market.advanceTo('2026-01-06', 11, 0);
    const late = market.place(market.openPortfolio(), {});
    expect(market.fills(late)).toEqual([]);
    expect(market.waitingFor(late)).toBe('no quote in this session yet');
    market.quote('AAPL', '99.90', '100.00');
    expect(market.fills(late)).toEqual(['10 @ 100']);
  });

  it('stops sleep until the first one', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    const portfolio = market.openPortfolio();
    market.place(portfolio, {});
    const stop = market.place(portfolio, {
      type: 'STOP',
      intent: 'SELL_TO_CLOSE',
      stop: '95.00',
      tif: 'GTC',
    });
    market.advanceTo('2026-01-06', 8, 0);
    market.quote('AAPL', '89.90', '90.00', { last: '90.00' });
    market.advanceTo('2026-01-06', 9, 30);
    expect(market.order(stop).status).toBe('ACTIVE');
    market.quote('AAPL', '96.90', '97.00', { last: '97.00' });
    expect(market.order(stop).status).toBe('ACTIVE');
  });

  it('except quotes of the extended session, for orders of that session', () => {
    const market = new TestMarket({ hour: 5 });
    market.quote('AAPL', '99.90', '100.00');
    market.advanceTo('2026-01-05', 10);
    const extended = market.place(market.openPortfolio(), { limit: '100.00', session: 'EXTENDED' });
    expect(market.fills(extended)).toEqual(['10 @ 100']);
  });
});
