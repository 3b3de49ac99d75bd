/** Figures of the day: the last close is that of the trading day before the present date in New York. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import {
  type Body,
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../../../server/src/testing/test-app.js';

let test: TestApp;
let owner: TestClient;
let portfolioId: string;
let send: AlpacaSend;

// 2026-01-05, 10:00 in New York.
beforeEach(async () => {
  test = await TestApp.open();
  owner = test.as({ tier: 'ENTERPRISE' });
  ({ portfolioId } = (await openPortfolio(owner)) as { portfolioId: string });
  send = alpacaSender(test, await keyPairOf(owner, portfolioId));
});
afterEach(() => test.close());

const quote = (symbol: string, price: number) =>
  pushQuote(owner, { symbol, bid: price, ask: price, last: price });
const trade = (symbol: string, positionIntent: string, quantity: number, more: object = {}) =>
  placeOrder(owner, portfolioId, {
    symbol,
    positionIntent,
    quantity,
    orderType: 'MARKET',
    limitPrice: undefined,
    ...more,
  });
const advance = (to: string) => owner.post('/v1/simulation/clock/advance', { to });
const position = async (symbol: string): Promise<Body> => (await send('GET', `/v2/positions/${symbol}`)).body;

describe('profit of the day', () => {
  it('counts shares bought today from their own price, others from the last close', async () => {
    await quote('AAPL', 100);
    await trade('AAPL', 'BUY_TO_OPEN', 10);
    expect(await position('AAPL')).toMatchObject({ unrealized_intraday_pl: '0', unrealized_pl: '0' });
    await advance('2026-01-06T15:00:00Z');
    await quote('AAPL', 110);
    await trade('AAPL', 'BUY_TO_OPEN', 10);
    await quote('AAPL', 112);
    // 10 × (112 − 100) + 10 × (112 − 110), of 1,000 + 1,100.
    const held = await position('AAPL');
    expect(held).toMatchObject({ lastday_price: '100', unrealized_intraday_pl: '140', change_today: '0.12' });
    expect(Number(held.unrealized_intraday_plpc)).toBeCloseTo(140 / 2100, 8);
  });

  it('counts short lots the other way', async () => {
    await quote('MSFT', 100);
    await trade('MSFT', 'SELL_TO_OPEN', 5);
    await advance('2026-01-06T15:00:00Z');
    await quote('MSFT', 90);
    await trade('MSFT', 'SELL_TO_OPEN', 5);
    await quote('MSFT', 95);
    // 5 × (100 − 95) + 5 × (90 − 95).
    expect(await position('MSFT')).toMatchObject({ qty: '-10', unrealized_intraday_pl: '0' });
    await quote('MSFT', 94);
    expect(await position('MSFT')).toMatchObject({ unrealized_intraday_pl: '10' });
  });

  it('counts contracts with their multiplier', async () => {
    const call = 'AAPL260116C00100000';
    await quote('AAPL', 100);
    await quote(call, 2);
    await trade(call, 'BUY_TO_OPEN', 1, { assetClass: 'OPTION' });
    await advance('2026-01-06T15:00:00Z');
    await quote(call, 3);
    await trade(call, 'BUY_TO_OPEN', 1, { assetClass: 'OPTION' });
    await quote(call, 4);
    // 100 × (4 − 2) + 100 × (4 − 3).
    expect(await position(call)).toMatchObject({ lastday_price: '2', unrealized_intraday_pl: '300' });
  });

  it('counts shares bought after the last close from their own price, on the days after it too', async () => {
    await quote('AAPL', 100);
    await advance('2026-01-09T22:00:00Z');
    await quote('AAPL', 105);
    await trade('AAPL', 'BUY_TO_OPEN', 10, { session: 'EXTENDED', orderType: 'LIMIT', limitPrice: 105 });
    // Saturday.
    await advance('2026-01-10T15:00:00Z');
    expect(await position('AAPL')).toMatchObject({ qty: '10', unrealized_intraday_pl: '0' });
  });
});

describe('figures of the last close', () => {
  it('stay through the day and change at midnight in New York', async () => {
    const figures = async () => {
      const { last_equity, balance_asof, last_maintenance_margin, equity } = (
        await send('GET', '/v2/account')
      ).body;
      return [last_equity, balance_asof, last_maintenance_margin, equity];
    };
    await quote('AAPL', 100);
    await trade('AAPL', 'BUY_TO_OPEN', 100);
    await quote('AAPL', 110);
    const first = ['100000', '2026-01-02', '0', '101000'];
    expect(await figures()).toEqual(first);
    await advance('2026-01-05T22:30:00Z');
    expect(await figures()).toEqual(first);
    // 23:59 in New York.
    await advance('2026-01-06T04:59:00Z');
    expect(await figures()).toEqual(first);
    await advance('2026-01-06T05:00:00Z');
    // A quarter of 11,000 by the house.
    const second = ['101000', '2026-01-05', '2750', '101000'];
    expect(await figures()).toEqual(second);
    await quote('AAPL', 90);
    await advance('2026-01-06T22:30:00Z');
    expect(await figures()).toEqual([...second.slice(0, 3), '99000']);
    await owner.post(`/v1/accounts/portfolios/${portfolioId}/reset`, {});
    expect(await figures()).toEqual(['100000', '2026-01-05', '0', '100000']);
  });

  it('are those of the opening on the first day, after a restart too', async () => {
    await advance('2026-01-05T22:30:00Z');
    const account = async () => (await send('GET', '/v2/account')).body;
    expect(await account()).toMatchObject({ last_equity: '100000', balance_asof: '2026-01-02' });
    test = await test.restart();
    owner = test.as({ tier: 'ENTERPRISE' });
    send = alpacaSender(test, await keyPairOf(owner, portfolioId));
    expect(await account()).toMatchObject({ last_equity: '100000', balance_asof: '2026-01-02' });
  });
});
