import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

function away(): TestMarket {
  const market = new TestMarket();
  market.quote('AAPL', '104.90', '105.00');
  return market;
}

describe('orders that compete for the same displayed size', () => {
  it('are served by price: the highest bid first', () => {
    const market = away();
    const low = market.place(market.openPortfolio(), { limit: '100.00' });
    const high = market.place(market.openPortfolio(), { limit: '101.00' });
    market.quote('AAPL', '99.90', '100.00', { askSize: 12 });
    expect(market.fills(high)).toEqual(['10 @ 101']);
    expect(market.fills(low)).toEqual(['2 @ 100']);
  });

  it('the lowest offer first', () => {
    const market = away();
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 20 });
    const high = market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '107.00' });
    const low = market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '106.00' });
    market.quote('AAPL', '107.00', '107.10', { bidSize: 12 });
    expect(market.fills(low)).toEqual(['10 @ 106']);
    expect(market.fills(high)).toEqual(['2 @ 107']);
  });

  it('orders at one price fill by the time they reached the market', () => {
    const market = away();
    const orders = [1, 2, 3].map(() => market.place(market.openPortfolio(), { limit: '100.00' }));
    market.quote('AAPL', '99.90', '100.00', { askSize: 25 });
    expect(orders.map((order) => market.fills(order))).toEqual([['10 @ 100'], ['10 @ 100'], ['5 @ 100']]);
  });

  it('orders at one price do not fill by the time of acknowledgement', () => {
    const market = away();
    const slow = market.place(market.openPortfolio(), {
      limit: '100.00',
      more: { latencyProfile: 'CUSTOM', latencyMs: 500 },
    });
    const quick = market.place(market.openPortfolio(), { limit: '100.00' });
    market.advanceMs(1000);
    market.quote('AAPL', '99.90', '100.00', { askSize: 12 });
    expect(market.fills(quick)).toEqual(['10 @ 100']);
    expect(market.fills(slow)).toEqual(['2 @ 100']);
  });

  it('at the same price by tier: ENTERPRISE before PRO before BASIC (D153)', () => {
    const market = away();
    const [basic, pro, enterprise] = (['BASIC', 'PRO', 'ENTERPRISE'] as const).map((tier) =>
      market.place(market.openPortfolio(), { limit: '100.00' }, { ...market.by, tier }),
    );
    const better = market.place(market.openPortfolio(), { limit: '100.01' }, { ...market.by, tier: 'BASIC' });
    market.quote('AAPL', '99.90', '100.00', { askSize: 25 });
    expect([better, enterprise, pro, basic].map((order = '') => market.fills(order))).toEqual([
      ['10 @ 100.01'],
      ['10 @ 100'],
      ['5 @ 100'],
      [],
    ]);
  });

  it('orders without a limit fill before limit orders', () => {
    const market = new TestMarket();
    const limit = market.place(market.openPortfolio(), { limit: '101.00' });
    const any = market.place(market.openPortfolio(), {});
    market.quote('AAPL', '99.90', '100.00', { askSize: 12 });
    expect(market.fills(any)).toEqual(['10 @ 100']);
    expect(market.fills(limit)).toEqual(['2 @ 100']);
  });

  it('across fill models and sessions', () => {
    const market = away();
    const strict = market.place(market.openPortfolio({ fillModel: 'strict' }), { limit: '101.00' });
    const plain = market.place(market.openPortfolio(), { limit: '100.50' });
    const depth = market.place(market.openPortfolio({ fillModel: 'depth' }), { limit: '100.50' });
    const extended = market.place(market.openPortfolio(), { limit: '102.00', session: 'EXTENDED' });
    market.quote('AAPL', '100.40', '100.50', { askSize: 32 });
    expect([extended, strict, plain, depth].map((order) => market.fills(order))).toEqual([
      ['10 @ 102'],
      ['10 @ 101'],
      ['10 @ 100.5'],
      ['2 @ 100.5'],
    ]);
  });
});

describe('an order that is updated', () => {
  function two(): { market: TestMarket; first: string; second: string } {
    const market = away();
    const first = market.place(market.openPortfolio(), { limit: '100.00' });
    const second = market.place(market.openPortfolio(), { limit: '100.00' });
    return { market, first, second };
  }
  const serve = ({ market, first, second }: ReturnType<typeof two>, askSize: number) => {
    market.quote('AAPL', '99.90', '100.00', { askSize });
    return [market.fills(first), market.fills(second)];
  };

  it('loses its place with a new price, though it comes back to the old one', () => {
    const simulation = two();
    simulation.market.replace(simulation.first, { limit: '99.00' });
    simulation.market.replace(simulation.first, { limit: '100.00' });
    expect(serve(simulation, 12)).toEqual([['2 @ 100'], ['10 @ 100']]);
  });

  it('loses it with a larger quantity', () => {
    const simulation = two();
    simulation.market.replace(simulation.first, { quantity: 11 });
    expect(serve(simulation, 12)).toEqual([['2 @ 100'], ['10 @ 100']]);
  });

  it('keeps it with a smaller quantity', () => {
    const simulation = two();
    simulation.market.replace(simulation.first, { quantity: 8 });
    expect(serve(simulation, 12)).toEqual([['8 @ 100'], ['4 @ 100']]);
  });

  it('keeps it with another time in force, or the same price again', () => {
    const simulation = two();
    simulation.market.replace(simulation.first, { tif: 'GTC' });
    simulation.market.replace(simulation.first, { limit: '100.00' });
    expect(serve(simulation, 12)).toEqual([['10 @ 100'], ['2 @ 100']]);
  });

  it('the places survive a restart', () => {
    const simulation = two();
    simulation.market.replace(simulation.first, { limit: '99.00' });
    simulation.market.replace(simulation.first, { limit: '100.00' });
    simulation.market.restart();
    expect(serve(simulation, 12)).toEqual([['2 @ 100'], ['10 @ 100']]);
  });
});
