/** Futures as instruments: listed by rule, by their symbols alone, and by quotes (D67, D68, D91). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Body,
  openPortfolio,
  orderBody,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;

const instrument = async (symbol: string): Promise<Body> =>
  (await client.get(`/v1/market-data/instruments?symbol=${symbol}`)).body.data[0];

describe('Futures in a pushed market', () => {
  beforeEach(async () => {
    test = await TestApp.open();
    client = test.as();
  });
  afterEach(() => test.close());

  const list = (...instruments: object[]) =>
    client.put('/v1/simulation/instruments', {
      instruments: instruments.map((one) => ({ assetClass: 'FUTURE', ...one })),
    });

  it('a future of a known root is listed by its symbol only (D67)', async () => {
    const { status, body } = await list({ symbol: 'esz6' }, { symbol: 'GCZ25' }, { symbol: '6JH27' });
    expect(status).toBe(200);
    expect(body.instruments).toEqual([
      {
        symbol: 'ESZ26',
        assetClass: 'FUTURE',
        name: 'E-mini S&P 500',
        exchange: 'XCME',
        root: 'ES',
        multiplier: 50,
        tickSize: 0.25,
        settlement: 'CASH',
        lastTradeDate: '2026-12-18',
        initialMargin: 23_000,
        maintenanceMargin: 20_909,
      },
      expect.objectContaining({ symbol: 'GCZ25', settlement: 'PHYSICAL', firstNoticeDate: '2025-11-28' }),
      expect.objectContaining({ symbol: '6JH27', multiplier: 12_500_000, tickSize: 0.0000005 }),
    ]);
    expect(await instrument('ESZ6')).toMatchObject({ symbol: 'ESZ26' });
  });

  it('the listing takes precedence over the table (D91)', async () => {
    const own = { symbol: 'ESZ26', multiplier: 10, lastTradeDate: '2026-12-01', maintenanceMargin: 500 };
    expect((await list(own)).body.instruments).toMatchObject([
      {
        multiplier: 10,
        lastTradeDate: '2026-12-01',
        maintenanceMargin: 500,
        initialMargin: 550,
        tickSize: 0.25,
      },
    ]);
  });

  it('an unknown root requires every field', async () => {
    const whole = {
      symbol: 'XYZZ26',
      multiplier: 10,
      tickSize: 0.5,
      lastTradeDate: '2026-12-01',
      initialMargin: 2,
      maintenanceMargin: 1,
    };
    const refused = await list({ symbol: 'XYZZ26' }, { ...whole, tickSize: undefined }, { symbol: 'NAME' });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toEqual([
      'instruments.0.multiplier is required: nothing is known of XYZ',
      'instruments.1.tickSize is required: nothing is known of XYZ',
      'instruments.2.multiplier is required: nothing is known of NAME',
    ]);
    expect((await list(whole)).body.instruments).toMatchObject([{ symbol: 'XYZZ26', settlement: 'CASH' }]);
  });

  it('a pushed quote lists the month of a known root (D68)', async () => {
    await pushQuote(client, { symbol: 'clg6', bid: 60.01, ask: 60.02, last: undefined });
    expect(await instrument('CLG26')).toMatchObject({ assetClass: 'FUTURE', root: 'CL', exchange: 'XNYM' });
    expect((await client.get('/v1/market-data/quote/CLG6')).body).toMatchObject({
      symbol: 'CLG26',
      bid: 60.01,
    });
    expect((await client.get('/v1/market-data/is-market-open/CLG26')).body.isOpen).toBe(true);
  });

  it('the hours of a future include the holidays of its exchange (D92)', async () => {
    await list({ symbol: 'ESH26' }, { symbol: 'CLH26' }, { symbol: 'ZCH26' });
    await client.put('/v1/simulation/clock', { now: '2026-01-19T13:30:00-05:00' });
    const isOpen = async (symbol: string) =>
      (await client.get(`/v1/market-data/is-market-open/${symbol}`)).body;
    expect(await isOpen('ESH26')).toMatchObject({
      isOpen: false,
      nextOpen: '2026-01-19T18:00:00-05:00',
      nextClose: '2026-01-20T17:00:00-05:00',
    });
    expect(await isOpen('CLH26')).toMatchObject({ isOpen: true });
    expect(await isOpen('ZCH26')).toMatchObject({ isOpen: false, nextOpen: '2026-01-19T20:00:00-05:00' });
    const exchange = async (name: string) => (await client.get(`/v1/market-data/market-hours/${name}`)).body;
    expect((await exchange('XCME')).isOpen).toBe(false);
    expect((await exchange('XNYM')).isOpen).toBe(true);
  });

  it('orders require margin, not cash', async () => {
    const { portfolioId } = await openPortfolio(client, { initialCash: 50_000 });
    await list({ symbol: 'ESH26' });
    await pushQuote(client, { symbol: 'ESH26', bid: 6000, ask: 6000.25, last: undefined });
    const order = { ...orderBody(portfolioId), symbol: 'ESH6', assetClass: 'FUTURE', orderType: 'MARKET' };
    const bought = await client.post('/v1/orders', { ...order, limitPrice: undefined, quantity: 1 });
    expect(bought.status).toBe(201);
    const [position] = (await client.get(`/v1/accounts/portfolios/${portfolioId}/futures`)).body;
    expect(position).toEqual({
      symbol: 'ESH26',
      root: 'ES',
      quantity: 1,
      reservedQuantity: 0,
      multiplier: 50,
      entryPrice: 6000.25,
      lastPrice: 6000.125,
      notionalValue: 300_006.25,
      unrealizedPnl: -6.25,
      openTradePnl: -6.25,
      initialMargin: 23_000,
      maintenanceMargin: 20_909,
      lastTradeDate: '2026-03-20',
    });
    const shown = (await client.get(`/v1/accounts/portfolios/${portfolioId}`)).body;
    expect(shown).toMatchObject({ pendingCash: -6.25, houseRequirement: 20_909, longMarketValue: 0 });
    const more = await client.post('/v1/orders', { ...order, limitPrice: undefined, quantity: 2 });
    expect(more.body.error.code).toBe('INSUFFICIENT_FUNDS');
    const cash = await openPortfolio(client, { portfolioType: 'CASH' });
    const refused = await client.post('/v1/orders', {
      ...order,
      portfolioId: cash.portfolioId,
      limitPrice: undefined,
      quantity: 1,
    });
    expect(refused.body.error.code).toBe('INSTRUMENT_NOT_TRADABLE');
  });

  it.each(['BUY', 'SELL'])(
    'previewOrder: closing a part posts its variation, as the order does (D95, D122); opened by %s',
    async (side) => {
      const { portfolioId } = await openPortfolio(client, { initialCash: 200_000 });
      const of = (intent: string, quantity: number): object =>
        orderBody(portfolioId, {
          symbol: 'ESH26',
          assetClass: 'FUTURE',
          orderType: 'MARKET',
          limitPrice: undefined,
          positionIntent: intent,
          quantity,
        });
      await pushQuote(client, { symbol: 'ESH26', bid: 6000, ask: 6000.25, last: 6000 });
      expect((await client.post('/v1/orders', of(`${side}_TO_OPEN`, 4))).status).toBe(201);
      await pushQuote(client, { symbol: 'ESH26', bid: 6020, ask: 6020.25, last: 6020.25 });
      const closing = of(side === 'BUY' ? 'SELL_TO_CLOSE' : 'BUY_TO_CLOSE', 3);
      const { cash, buyingPower } = (await client.post('/v1/orders/preview', closing)).body;
      expect((await client.post('/v1/orders', closing)).status).toBe(201);
      const shown = (await client.get(`/v1/accounts/portfolios/${portfolioId}`)).body;
      const [settled, pending] = [Number(shown.settledCash), Number(shown.pendingCash)];
      expect(cash.after).toBeCloseTo(settled + pending, 6);
      expect(buyingPower.after).toBe(shown.overnightBuyingPower);
    },
  );
});

describe('Futures and indices in a synthetic market', () => {
  beforeEach(async () => {
    test = await TestApp.open({ config: { feed: 'synthetic' } });
    client = test.as();
  });
  afterEach(() => test.close());

  it('the front three months of eleven roots are listed (D126)', async () => {
    const { body } = await client.get('/v1/market-data/instruments?assetClass=FUTURE&limit=100');
    expect(body.data).toHaveLength(33);
    const of = (root: string): string[] =>
      body.data.filter((one: Body) => one.root === root).map((one: Body) => one.symbol as string);
    expect(of('ES').sort()).toEqual(['ESH26', 'ESM26', 'ESU26']);
    expect(of('CL').sort()).toEqual(['CLG26', 'CLH26', 'CLJ26']);
    expect(await instrument('ESU6')).toMatchObject({ symbol: 'ESU26' });
    expect(await instrument('ESZ26')).toBeUndefined();
    await client.put('/v1/simulation/clock', { now: '2026-03-20T09:30:00-04:00' });
    const later = await client.get('/v1/market-data/instruments?assetClass=FUTURE&limit=100');
    expect(later.body.data.map((one: Body) => one.symbol as string)).not.toContain('ESH26');
    expect(await instrument('ESH26')).toMatchObject({ lastTradeDate: '2026-03-20' });
  });

  it('indices are listed, with their options', async () => {
    const { body } = await client.get('/v1/market-data/instruments?assetClass=INDEX');
    expect(body.data.map((one: Body) => one.symbol as string)).toEqual(['NDX', 'RUT', 'SPX', 'VIX', 'XSP']);
    const spx = await client.get('/v1/market-data/options/SPX/expirations');
    expect(spx.body.expirations.slice(0, 3)).toEqual(['2026-01-09', '2026-01-16', '2026-01-23']);
  });
});
