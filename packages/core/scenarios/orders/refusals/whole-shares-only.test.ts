import { describe, expect, it } from 'vitest';
import { plainEquity } from '../../../src/instruments/equity.js';
import { KnownInstruments } from '../../../src/instruments/known-instruments.js';
import { TestMarket } from '../../../src/testing/market.js';

describe('a stock that is traded in whole shares only (D184)', () => {
  const refusal = { code: 'INSTRUMENT_NOT_TRADABLE', message: 'BRK.A is traded in whole shares only' };
  function market() {
    const instruments = new KnownInstruments({
      instruments: [plainEquity('AAPL'), { ...plainEquity('BRK.A'), fractionable: false }],
    });
    const m = new TestMarket({ rules: { instruments } });
    for (const symbol of ['AAPL', 'BRK.A']) m.quote(symbol, '100.00', '100.02');
    return { m, portfolio: m.openPortfolio({ cash: 10_000 }) };
  }

  it('refuses an order for a fraction of it, or for an amount', () => {
    const { m, portfolio } = market();
    expect(m.submit(portfolio, { symbol: 'BRK.A', quantity: 0.5 })).toEqual(refusal);
    expect(m.submit(portfolio, { symbol: 'BRK.A', notional: '250' })).toEqual(refusal);
    expect(typeof m.submit(portfolio, { symbol: 'BRK.A', quantity: 2 })).toBe('string');
    expect(typeof m.submit(portfolio, { symbol: 'AAPL', quantity: 0.5 })).toBe('string');
  });

  it('refuses to update an order to a fraction of it', () => {
    const { m, portfolio } = market();
    const order = m.place(portfolio, { symbol: 'BRK.A', quantity: 2, limit: '50.00' });
    expect(m.replace(order, { quantity: 1.5 })).toEqual(refusal);
    expect(m.replace(order, { quantity: 3 })).toBeUndefined();
  });

  it('allows the sale of a held fraction', () => {
    const { m, portfolio } = market();
    m.place(portfolio, { symbol: 'BRK.A', quantity: 3 });
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [{ type: 'SPLIT', symbol: 'BRK.A', exDate: '2026-01-06' as never, ratio: { new: 3, old: 2 } }],
    });
    m.advanceTo('2026-01-06', 10);
    m.quote('BRK.A', '66.00', '66.02');
    const order = m.place(portfolio, { symbol: 'BRK.A', quantity: 0.5, intent: 'SELL_TO_CLOSE' });
    expect(m.fills(order)).toEqual(['0.5 @ 66']);
  });
});
