import { expect, it } from 'vitest';
import { TestMarket } from '../testing/market.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';

const STOCKS = Array.from({ length: 40 }, (_, index) => `S${String.fromCharCode(65 + (index % 26))}${index}`);

/** A portfolio on margin with forty stocks, one of them sold short. */
function owing() {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 500_000 });
  for (const symbol of STOCKS) market.quote(symbol, '9.99', '10.00', { last: '10.00' });
  for (const symbol of STOCKS)
    market.place(portfolio, {
      symbol,
      quantity: 10,
      intent: symbol === 'SA0' ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN',
    });
  return { market, portfolio };
}

/** The symbols that the decision about an order reads. */
function readBy(market: TestMarket, portfolio: string, symbol: string): string[] {
  const read = new Set<string>();
  const { brokerage } = market;
  brokerage.onRead = (one) => void read.add(one);
  const { result } = brokerage.execute<'SubmitOrder'>(
    {
      type: 'SubmitOrder',
      by: market.by,
      order: {
        portfolioId: portfolio,
        symbol,
        assetClass: 'EQUITY',
        orderType: 'LIMIT',
        positionIntent: 'BUY_TO_OPEN',
        quantity: Quantity.of(1),
        timeInForce: 'DAY',
        limitPrice: Price.of('9.00'),
      },
    },
    market.now,
  );
  expect(result).not.toHaveProperty('code');
  return [...read].sort();
}

it('an order in a portfolio that owes looks at what it trades and at what has changed since the last one, not at all that is held', () => {
  const { market, portfolio } = owing();
  expect(readBy(market, portfolio, 'SB1')).toEqual(['SB1']);
  // (Straight to the brokerage: the market of tests looks at everything after each command.)
  market.brokerage.execute<'UpdateMarket'>(
    {
      type: 'UpdateMarket',
      quotes: [{ symbol: 'SE4', bid: Price.of('8.00'), ask: Price.of('8.01'), at: market.now }],
      pushed: true,
    },
    market.now,
  );
  expect(readBy(market, portfolio, 'SB1')).toEqual(['SB1', 'SE4']);
  expect(readBy(market, portfolio, 'SB1')).toEqual(['SB1']);
});

it('on another day all of it is looked at again', () => {
  const { market, portfolio } = owing();
  market.advanceTo('2026-01-06', 10);
  for (const symbol of STOCKS.slice(0, 2)) market.quote(symbol, '9.99', '10.00', { last: '10.00' });
  market.brokerage.state.kept.forget(market.portfolio(portfolio));
  expect(readBy(market, portfolio, 'SB1')).toEqual([...STOCKS].sort());
});

it('what the model values is taken anew as time passes, without any quote', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000 });
  market.quote('AAPL', '99.99', '100.01', { last: '100.00' });
  const put = { symbol: 'AAPL260320P00090000', assetClass: 'OPTION' as const };
  market.quote(put.symbol, '1.00', '1.05');
  market.place(portfolio, { ...put, quantity: 2, intent: 'SELL_TO_OPEN' });
  market.place(portfolio, { quantity: 100 });
  // A quote that nobody has gone by is the feed's to bring again: after a restart there is none.
  market.quote(put.symbol, '1.01', '1.06', {}, false);
  market.restart();
  market.place(portfolio, { quantity: 1 });
  const before = market.value(portfolio).shortMarketValue;
  market.advanceTo('2026-01-05', 15, 59);
  expect(market.value(portfolio).shortMarketValue).toBeLessThan(before);
  market.place(portfolio, { quantity: 1 });
});

it('figures that are not exact any more are not kept', () => {
  const { market, portfolio } = owing();
  const high = '90000000.00';
  for (let i = 0; i < 3; i++) market.place(portfolio, { symbol: 'SC2', quantity: 5000 });
  market.quote('SC2', high, high, { last: high });
  market.submit(portfolio, { symbol: 'SB1', quantity: 1 });
  expect([...market.brokerage.state.kept.portfolios()]).toEqual([]);
  market.quote('SC2', '9.99', '10.00', { last: '10.00' });
  market.submit(portfolio, { symbol: 'SB1', quantity: 1 });
  expect([...market.brokerage.state.kept.portfolios()]).toEqual([market.portfolio(portfolio)]);
});
