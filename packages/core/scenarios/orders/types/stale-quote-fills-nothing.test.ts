import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

const sixtySeconds = { rules: { quoteMaxAgeMs: 60_000 } };

it('an order that meets a stale quote waits with a reason; the next quote fills it', () => {
  const market = new TestMarket(sixtySeconds);
  market.quote('AAPL', '99.90', '100.00');
  market.advanceMs(60_001);
  const order = market.place(market.openPortfolio(), { quantity: 10 });
  expect(market.fills(order)).toEqual([]);
  expect(market.waitingFor(order)).toBe('no data since 2026-01-05T10:00:00-05:00');
  market.quote('AAPL', '99.91', '100.01');
  expect(market.fills(order)).toEqual(['10 @ 100.01']);
});

it('a quote of exactly that age still fills', () => {
  const market = new TestMarket(sixtySeconds);
  market.quote('AAPL', '99.90', '100.00');
  market.advanceMs(60_000);
  expect(market.fills(market.place(market.openPortfolio(), { quantity: 10 }))).toEqual(['10 @ 100']);
});

it('a limit that met only a stale quote has not seen the market: it fills at the touch of the next', () => {
  const market = new TestMarket(sixtySeconds);
  market.quote('AAPL', '104.90', '105.00');
  market.advanceMs(61_000);
  const order = market.place(market.openPortfolio(), { limit: '102.00' });
  market.quote('AAPL', '100.90', '101.00');
  expect(market.fills(order)).toEqual(['10 @ 101']);
});

it('without a limit on their age quotes do not grow old', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  market.advanceMs(3_600_000);
  expect(market.fills(market.place(market.openPortfolio(), { quantity: 10 }))).toEqual(['10 @ 100']);
});

it('crossed and non-positive quotes are passed over', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00');
  market.quote('AAPL', '101.00', '100.00');
  market.quote('AAPL', '0', '100.00');
  expect(market.fills(market.place(market.openPortfolio(), { quantity: 10 }))).toEqual(['10 @ 100']);
  market.quote('AAPL', '100.50', '100.50');
  expect(market.fills(market.place(market.openPortfolio(), { quantity: 10 }))).toEqual(['10 @ 100.5']);
});

describe('orders that cannot wait are canceled without market data (D135)', () => {
  function stale() {
    const market = new TestMarket(sixtySeconds);
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    market.advanceMs(60_001);
    return { market, portfolio };
  }

  it.each(['IOC', 'FOK'] as const)('%s', (tif) => {
    const { market, portfolio } = stale();
    const order = market.place(portfolio, { limit: '100.00', tif });
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'STALE_MARKET_DATA' });
    expect(market.order(order)).not.toHaveProperty('rejectReason');
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(0);
  });

  it('even if the quote becomes stale while the order is in transit', () => {
    const market = new TestMarket(sixtySeconds);
    market.quote('AAPL', '99.90', '100.00');
    market.advanceMs(59_900);
    const more = { latencyProfile: 'CUSTOM', latencyMs: 200 } as const;
    const order = market.place(market.openPortfolio(), { tif: 'IOC', more });
    market.advanceMs(200);
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'STALE_MARKET_DATA' });
  });

  it('the rest of a partly filled order ends once it may no longer wait', () => {
    const market = new TestMarket(sixtySeconds);
    market.quote('AAPL', '99.90', '100.00', { askSize: 4 });
    const order = market.place(market.openPortfolio(), { limit: '100.00' });
    market.advanceMs(60_001);
    market.replace(order, { tif: 'IOC' });
    expect(market.fills(order)).toEqual(['4 @ 100']);
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'STALE_MARKET_DATA' });
  });

  it('unless the quote is recent enough or missing', () => {
    const { market, portfolio } = stale();
    market.quote('AAPL', '99.90', '100.00', { askSize: 4 });
    const rest = market.place(portfolio, { tif: 'IOC' });
    expect(market.order(rest)).toMatchObject({ cancelReason: 'IOC_REMAINDER', filledQuantity: 4_000_000 });
    const none = market.place(portfolio, { symbol: 'MSFT', tif: 'FOK' });
    expect(market.order(none)).toMatchObject({ cancelReason: 'FOK_NOT_FILLABLE' });
  });
});
