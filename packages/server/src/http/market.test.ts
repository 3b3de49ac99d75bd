/** Market data, and control of the market and the clock. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Body,
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterEach(() => test.close());

describe('market data', () => {
  it('getQuote: shows a pushed quote unchanged', async () => {
    await pushQuote(client, { bidSize: 300, askSize: 200.5, lastSize: 5, timestamp: '2026-01-05T14:59:59Z' });
    expect((await client.get('/v1/market-data/quote/AAPL')).body).toEqual({
      symbol: 'AAPL',
      price: 100,
      bid: 99.9,
      ask: 100,
      bidSize: 300,
      askSize: 200.5,
      last: 100,
      lastSize: 5,
      timestamp: Date.parse('2026-01-05T14:59:59Z'),
    });
    expect((await client.get('/v1/market-data/trade/AAPL')).body).toEqual({
      symbol: 'AAPL',
      price: 100,
      size: 5,
      timestamp: Date.parse('2026-01-05T14:59:59Z'),
    });
  });

  it('reports missing data', async () => {
    expect((await client.get('/v1/market-data/quote/NOPE')).body.message).toBe('Symbol not found');
    expect((await client.get('/v1/market-data/quote/MSFT')).body.message).toBe('No quote yet');
    await pushQuote(client, { bid: 0, last: undefined });
    const quote = await client.get('/v1/market-data/quote/AAPL');
    expect(quote.body).not.toHaveProperty('bid');
    expect((await client.get('/v1/market-data/trade/AAPL')).status).toBe(404);
    const { body } = await client.post('/v1/market-data/quotes/batch', { symbols: ['AAPL', 'NOPE', 'MSFT'] });
    expect(body.quotes).toHaveLength(1);
    expect(body.notFound).toEqual(['NOPE', 'MSFT']);
  });

  it('refuses a quote that is stamped later than now', async () => {
    const late = await pushQuote(client, { timestamp: '2026-01-05T15:00:00.001Z' });
    expect(late.body).toMatchObject({
      statusCode: 400,
      message: ['quotes.0.timestamp must not be later than now'],
    });
    expect((await client.get('/v1/market-data/quote/AAPL')).status).toBe(404);
    expect((await pushQuote(client, { timestamp: '2026-01-05T15:00:00.000Z' })).status).toBe(200);
  });

  it('reads symbols in either case and answers them in capitals', async () => {
    await pushQuote(client, { symbol: 'aapl' });
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    expect(await placeOrder(client, portfolioId, { symbol: 'Aapl' })).toMatchObject({ symbol: 'AAPL' });
    expect((await client.get('/v1/market-data/quote/aapl')).body.symbol).toBe('AAPL');
    expect((await client.get('/v1/market-data/trade/aapl')).body.symbol).toBe('AAPL');
    expect((await client.get('/v1/market-data/bars/aapl')).body.symbol).toBe('AAPL');
    expect((await client.get('/v1/market-data/is-market-open/aapl')).body.symbol).toBe('AAPL');
    expect((await client.get('/v1/market-data/instruments?symbol=aapl')).body.data).toMatchObject([
      { symbol: 'AAPL' },
    ]);
    expect((await client.get('/v1/market-data/options/aapl/expirations')).body.underlying).toBe('AAPL');
    const batch = await client.post('/v1/market-data/quotes/batch', { symbols: ['aapl', 'nope'] });
    expect(batch.body).toMatchObject({ quotes: [{ symbol: 'AAPL' }], notFound: ['NOPE'] });
    const orders = await client.get(`/v1/orders/portfolio/${portfolioId}?symbol=aapl`);
    expect(orders.body.pagination.total).toBe(1);
    await client.put('/v1/simulation/instruments', {
      instruments: [{ assetClass: 'EQUITY', symbol: 'newco' }],
    });
    expect((await client.get('/v1/market-data/instruments?symbol=NEWCO')).body.pagination.total).toBe(1);
    const { body } = await client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'SPLIT', symbol: 'newco', exDate: '2026-01-06', ratio: { new: 2, old: 1 } }],
    });
    expect(body.actions).toMatchObject([{ symbol: 'NEWCO' }]);
  });

  it('has bars of completed periods', async () => {
    await pushQuote(client);
    await client.post('/v1/simulation/clock/advance', { by: 'PT5M' });
    const { body } = await client.get('/v1/market-data/bars/AAPL?timeframe=1Min');
    expect(body).toMatchObject({ symbol: 'AAPL', timeframe: '1Min', bars: [{ open: 100, close: 100 }] });
    expect((await client.get('/v1/market-data/bars/NOPE')).status).toBe(404);
  });

  it('shows the trading hours', async () => {
    const hours = await client.get('/v1/market-data/market-hours');
    expect(hours.body).toMatchObject({
      exchange: 'XNYS',
      isOpen: true,
      session: 'REGULAR',
      nextOpen: '2026-01-06T09:30:00-05:00',
      nextClose: '2026-01-05T16:00:00-05:00',
    });
    expect((await client.get('/v1/market-data/market-hours/XNAS')).body.exchange).toBe('XNAS');
    expect((await client.get('/v1/market-data/market-hours/XLON')).status).toBe(404);
    expect((await client.get('/v1/market-data/is-market-open/AAPL')).body).toMatchObject({ isOpen: true });
    const days = await client.get('/v1/market-data/calendar?from=2026-07-01&to=2026-07-06');
    expect(days.body.days.map(({ date }: Body) => date as string)).toEqual([
      '2026-07-01',
      '2026-07-02',
      '2026-07-06',
    ]);
    expect((await client.get('/v1/market-data/calendar?from=2026-07-01&to=2026-06-01')).status).toBe(400);
    expect((await client.get('/v1/market-data/calendar?from=2026-07-01&to=2926-06-01')).status).toBe(400);
  });

  it('shows the trading hours of an instrument (D69)', async () => {
    await client.put('/v1/simulation/instruments', {
      instruments: [
        { assetClass: 'OPTION', symbol: 'SPY260116C00600000' },
        { assetClass: 'OPTION', symbol: 'AAPL260116C00150000' },
        {
          assetClass: 'FUTURE',
          symbol: 'ESH26',
          multiplier: 50,
          tickSize: 0.25,
          lastTradeDate: '2026-03-20',
          initialMargin: 1,
          maintenanceMargin: 1,
        },
      ],
    });
    const isOpen = async (symbol: string) =>
      (await client.get(`/v1/market-data/is-market-open/${symbol}`)).body;
    await client.put('/v1/simulation/clock', { now: '2026-01-05T16:05:00-05:00' });
    expect(await isOpen('AAPL')).toMatchObject({ isOpen: false, session: 'POST' });
    expect(await isOpen('AAPL260116C00150000')).toMatchObject({ isOpen: false, session: 'CLOSED' });
    expect(await isOpen('SPY260116C00600000')).toEqual({
      symbol: 'SPY260116C00600000',
      isOpen: true,
      session: 'REGULAR',
      nextOpen: '2026-01-06T09:30:00-05:00',
      nextClose: '2026-01-05T16:15:00-05:00',
    });
    expect(await isOpen('ESH26')).toMatchObject({
      isOpen: true,
      nextOpen: '2026-01-05T18:00:00-05:00',
      nextClose: '2026-01-05T17:00:00-05:00',
    });
    const exchange = async (name: string) => (await client.get(`/v1/market-data/market-hours/${name}`)).body;
    expect(await exchange('XCME')).toMatchObject({ exchange: 'XCME', isOpen: true });
    expect(await exchange('OPRA')).toMatchObject({ isOpen: false, nextClose: '2026-01-06T16:00:00-05:00' });
    expect(await exchange('XNYS')).toHaveProperty('today');
    expect(await exchange('OPRA')).not.toHaveProperty('today');
  });

  it('a contract stays closed after its last trading time (D69)', async () => {
    const symbol = 'SPXW260105C06000000';
    await client.put('/v1/simulation/quotes', {
      quotes: [
        { symbol: 'SPX', bid: 5999, ask: 6001 },
        { symbol, bid: 10, ask: 11 },
      ],
    });
    const isOpen = async () => (await client.get(`/v1/market-data/is-market-open/${symbol}`)).body;
    expect(await isOpen()).toEqual({
      symbol,
      isOpen: true,
      session: 'REGULAR',
      nextClose: '2026-01-05T16:00:00-05:00',
    });
    await client.put('/v1/simulation/clock', { now: '2026-01-05T16:05:00-05:00' });
    expect(await isOpen()).toEqual({ symbol, isOpen: false, session: 'CLOSED' });
  });

  it('returns listed options', async () => {
    expect((await client.get('/v1/market-data/options/AAPL/expirations')).body).toEqual({
      underlying: 'AAPL',
      expirations: [],
    });
    expect((await client.get('/v1/market-data/options/AAPL/chain')).status).toBe(404);
    const listed = await client.put('/v1/simulation/instruments', {
      instruments: [
        { assetClass: 'OPTION', symbol: 'AAPL  260116P00150000' },
        {
          assetClass: 'OPTION',
          underlying: 'AAPL',
          optionType: 'CALL',
          strike: 150,
          expiration: '2026-01-16',
        },
        {
          assetClass: 'FUTURE',
          symbol: 'ESH6',
          multiplier: 50,
          tickSize: 0.25,
          lastTradeDate: '2026-03-20',
          initialMargin: 1,
          maintenanceMargin: 1,
        },
        { assetClass: 'EQUITY', symbol: 'NEWCO', tickSize: 0.05 },
      ],
    });
    expect(listed.body.instruments.map(({ symbol }: Body) => symbol as string)).toEqual([
      'AAPL260116P00150000',
      'AAPL260116C00150000',
      'ESH26',
      'NEWCO',
    ]);
    const chain = await client.get('/v1/market-data/options/AAPL/chain');
    expect(chain.body).toMatchObject({
      expiration: '2026-01-16',
      contracts: [{ optionType: 'CALL', strike: 150 }, { optionType: 'PUT' }],
    });
    const found = await client.get('/v1/market-data/instruments?underlying=AAPL&assetClass=OPTION');
    expect(found.body.pagination.total).toBe(2);
    expect((await client.get('/v1/market-data/instruments?symbol=ESH6')).body.data).toMatchObject([
      { root: 'ES' },
    ]);
    expect(
      (
        await client.put('/v1/simulation/instruments', {
          instruments: [{ assetClass: 'OPTION', symbol: 'AAPL1' }],
        })
      ).body.message,
    ).toEqual(['instruments.0.symbol must be an option symbol in OSI form']);
  });

  it('lists an index, and its options by their root (D66, D67)', async () => {
    const listed = await client.put('/v1/simulation/instruments', {
      instruments: [
        { assetClass: 'OPTION', symbol: 'sox260116c06000000' },
        { assetClass: 'INDEX', symbol: 'sox', name: 'Semiconductors' },
        { assetClass: 'OPTION', symbol: 'SPX   260116C06000000' },
        { assetClass: 'OPTION', symbol: 'XYZ1260116C00010000', deliverable: 150, tickSize: 0.05 },
        { assetClass: 'OPTION', symbol: 'SPY260116C00600000', underlyingClass: 'EQUITY' },
      ],
    });
    expect(listed.body.instruments).toMatchObject([
      {
        symbol: 'SOX260116C06000000',
        underlying: 'SOX',
        underlyingClass: 'NARROW_INDEX',
        settlement: 'CASH',
      },
      { symbol: 'SOX', assetClass: 'INDEX', name: 'Semiconductors' },
      {
        symbol: 'SPX260116C06000000',
        style: 'EUROPEAN',
        settleSession: 'AM',
        expiration: '2026-01-16',
        lastTradeDate: '2026-01-15',
        underlyingClass: 'BROAD_INDEX',
      },
      { underlying: 'XYZ', multiplier: 100, deliverable: 150, tickSize: 0.05, lastTradeDate: '2026-01-16' },
      { underlyingClass: 'EQUITY' },
    ]);
    const found = await client.get('/v1/market-data/instruments?assetClass=INDEX');
    expect(found.body.data).toEqual([{ symbol: 'SOX', assetClass: 'INDEX', name: 'Semiconductors' }]);
    // Instruments that were listed earlier count as well.
    const later = await client.put('/v1/simulation/instruments', {
      instruments: [{ assetClass: 'OPTION', symbol: 'SOX260116P06000000' }],
    });
    expect(later.body.instruments).toMatchObject([{ style: 'EUROPEAN', settlement: 'CASH' }]);
  });

  it('quotes an index and refuses orders in it', async () => {
    await client.put('/v1/simulation/instruments', { instruments: [{ assetClass: 'INDEX', symbol: 'SPX' }] });
    await pushQuote(client, { symbol: 'SPX', bid: 5999, ask: 6001, last: 6000 });
    expect((await client.get('/v1/market-data/quote/SPX')).body.price).toBe(6000);
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    const refused = await client.post('/v1/orders', {
      portfolioId,
      symbol: 'SPX',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'DAY',
    });
    expect(refused.status).toBe(400);
    expect(refused.body.error.code).toBe('INSTRUMENT_NOT_TRADABLE');
  });

  it('refuses to list a held symbol under another asset class', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    await pushQuote(client);
    await placeOrder(client, portfolioId);
    const refused = await client.put('/v1/simulation/instruments', {
      instruments: [{ assetClass: 'INDEX', symbol: 'aapl' }],
    });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toEqual([
      'instruments.0.assetClass must be EQUITY: AAPL is held or ordered',
    ]);
  });

  it('lists only options that can be expressed as a symbol', async () => {
    const option = {
      assetClass: 'OPTION',
      underlying: 'XYZ',
      optionType: 'PUT',
      strike: 10,
      expiration: '2026-01-16',
    };
    const refused = await client.put('/v1/simulation/instruments', {
      instruments: [option, { ...option, strike: 92.1429 }, { ...option, underlying: 'SEVENTH' }],
    });
    const why = ' must have an OSI symbol: a root of at most six characters, a strike in thousandths';
    expect(refused.body.message).toEqual([`instruments.1${why}`, `instruments.2${why}`]);
  });
});

describe('the clock', () => {
  it('moves on request, and never back', async () => {
    expect((await client.get('/v1/simulation/clock')).body).toEqual({
      now: '2026-01-05T15:00:00.000Z',
      mode: 'manual',
      speed: 0,
    });
    const advance = (body: object) => client.post('/v1/simulation/clock/advance', body);
    expect((await advance({ by: 'P1DT1H30M0.5S' })).body.now).toBe('2026-01-06T16:30:00.500Z');
    expect((await advance({ to: '2026-01-08' })).body.now).toBe('2026-01-08T05:00:00.000Z');
    expect((await advance({ to: '2026-01-07' })).body).toMatchObject({ statusCode: 409, error: 'Conflict' });
    expect((await advance({ to: '2096-01-07' })).status).toBe(400);
    expect((await client.put('/v1/simulation/clock', { now: '2026-01-09' })).body.now).toBe(
      '2026-01-09T05:00:00.000Z',
    );
    expect((await client.put('/v1/simulation/clock', { speed: 2 })).status).toBe(409);
  });

  it('runs due timers before it answers', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    await pushQuote(client);
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 90 });
    await client.post('/v1/simulation/clock/advance', { by: 'P1D' });
    expect((await client.get(`/v1/orders/${orderId}`)).body).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'EXPIRED',
      canceledAt: '2026-01-05T21:00:00.000Z',
    });
  });
});

describe('corporate actions', () => {
  it('are accepted for listed symbols', async () => {
    const announce = (symbol: string) =>
      client.post('/v1/simulation/corporate-actions', {
        actions: [{ type: 'SPLIT', symbol, exDate: '2026-01-06', ratio: { new: 2, old: 1 } }],
      });
    expect((await announce('AAPL')).status).toBe(201);
    expect((await announce('NOPE')).body.error).toEqual({ code: 'UNKNOWN_SYMBOL', symbol: 'NOPE' });
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    await pushQuote(client);
    await placeOrder(client, portfolioId);
    await client.post('/v1/simulation/clock/advance', { by: 'P1D' });
    const { body } = await client.get(`/v1/accounts/portfolios/${portfolioId}/equities`);
    expect(body).toMatchObject([{ settledQuantity: 20, price: 50, costBasis: 1000 }]);
    const { body: log } = await client.get(
      `/v1/accounts/portfolios/${portfolioId}/activities?category=CORPORATE_ACTION`,
    );
    expect(log.data).toMatchObject([{ type: 'SPLIT', symbol: 'AAPL' }]);
  });

  it('are announced again with the same terms only', async () => {
    const announce = (...actions: object[]) => client.post('/v1/simulation/corporate-actions', { actions });
    const split = (more: number, old = 1) => ({
      type: 'SPLIT',
      symbol: 'AAPL',
      exDate: '2026-01-06',
      ratio: { new: more, old },
    });
    const dividend = (amountPerShare: number, payDate?: string) => ({
      type: 'CASH_DIVIDEND',
      symbol: 'AAPL',
      exDate: '2026-01-06',
      amountPerShare,
      ...(payDate !== undefined && { payDate }),
    });
    const message = 'SPLIT:AAPL:2026-01-06 is announced with other terms; withdraw it first';
    expect(await announce(split(2), split(3))).toMatchObject({ status: 409, body: { message } });
    expect((await announce(split(1.5), dividend(0.25))).status).toBe(201);
    expect((await announce(split(3, 2), dividend(0.25))).status).toBe(201);
    expect(await announce(split(2))).toMatchObject({ status: 409, body: { message } });
    expect((await announce(dividend(0.26))).status).toBe(409);
    expect((await announce(dividend(0.25, '2026-01-20'))).status).toBe(409);
    await client.delete(`/v1/simulation/corporate-actions/${encodeURIComponent('SPLIT:AAPL:2026-01-06')}`);
    expect((await announce(split(2))).body.actions).toMatchObject([{ ratio: { new: 2, old: 1 } }]);
  });

  it('are listed, and can be withdrawn until they take effect', async () => {
    const path = '/v1/simulation/corporate-actions';
    const announce = (symbol: string, exDate: string) =>
      client.post(path, { actions: [{ type: 'CASH_DIVIDEND', symbol, exDate, amountPerShare: 0.25 }] });
    expect((await announce('AAPL', '2026-01-05')).body).toEqual({
      statusCode: 400,
      message: ['exDate must be a trading day that has not begun'],
      error: 'Bad Request',
    });
    const { body: first } = await announce('AAPL', '2026-01-07');
    const { body: second } = await announce('KO', '2026-01-06');
    expect((await client.get(path)).body).toEqual({ actions: [...second.actions, ...first.actions] });
    expect(first.actions).toEqual([
      {
        actionId: 'CASH_DIVIDEND:AAPL:2026-01-07',
        type: 'CASH_DIVIDEND',
        symbol: 'AAPL',
        exDate: '2026-01-07',
        amountPerShare: 0.25,
        effectiveAt: '2026-01-07T03:00:00-05:00',
        status: 'ANNOUNCED',
      },
    ]);
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-06T08:00:00Z' });
    const withdraw = (actionId: string) => client.delete(`${path}/${encodeURIComponent(actionId)}`);
    expect((await withdraw('CASH_DIVIDEND:KO:2026-01-06')).body).toMatchObject({
      statusCode: 409,
      message: 'The corporate action has taken effect',
    });
    expect((await withdraw('CASH_DIVIDEND:AAPL:2026-01-07')).body).toEqual({
      actionId: 'CASH_DIVIDEND:AAPL:2026-01-07',
      message: 'Corporate action withdrawn',
    });
    expect((await withdraw('CASH_DIVIDEND:AAPL:2026-01-07')).body).toMatchObject({
      statusCode: 404,
      message: 'Corporate action not found',
    });
    expect((await client.get(path)).body.actions).toMatchObject([{ symbol: 'KO', status: 'EFFECTIVE' }]);
  });
});

describe('simulations', () => {
  it('are created, read and deleted by their tenant only, each with separate state', async () => {
    const { status, body } = await client.post('/v1/simulations', {
      name: 'mine',
      feed: 'push',
      clock: 'manual',
      start: '2026-03-02T14:30:00Z',
      seed: 5,
    });
    expect(status).toBe(201);
    const { token, ...info } = body as { token: string; simulationId: string };
    expect(info).toMatchObject({
      name: 'mine',
      feed: 'push',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2026-03-02T14:30:00.000Z',
      now: '2026-03-02T14:30:00.000Z',
      seed: 5,
    });
    const inside = test.withToken(token);
    await openPortfolio(inside);
    expect((await inside.get('/v1/accounts')).body.pagination.total).toBe(1);
    expect((await client.get('/v1/accounts')).body.pagination.total).toBe(0);
    const url = `/v1/simulations/${info.simulationId}`;
    expect((await client.get(url)).body).toMatchObject(info);
    expect((await client.get('/v1/simulations')).body.data).toHaveLength(1);
    expect((await client.delete(url)).body).toEqual({
      simulationId: info.simulationId,
      message: 'Simulation deleted',
    });
    expect((await client.delete(url)).body.message).toBe('Simulation not found');
    expect((await inside.get('/v1/accounts')).status).toBe(401);
    expect((await client.delete('/v1/simulations/main')).status).toBe(409);
  });

  it('follow their own feed', async () => {
    const { body } = await client.post('/v1/simulations', { feed: 'synthetic', clock: 'manual' });
    const inside = test.withToken(body.token as string);
    expect((await pushQuote(inside)).body).toMatchObject({ statusCode: 409 });
    expect((await inside.get('/v1/market-data/quote/AAPL')).status).toBe(200);
    const wall = await client.post('/v1/simulations', { feed: 'push', clock: 'wall' });
    const moved = await test
      .withToken(wall.body.token as string)
      .post('/v1/simulation/clock/advance', { by: 'PT1S' });
    expect(moved.status).toBe(409);
  });

  it('replay recordings, and report missing data', async () => {
    const create = (replay: string) =>
      client.post('/v1/simulations', {
        feed: 'replay',
        clock: 'manual',
        start: '2014-06-06T13:00:00Z',
        replay,
      });
    expect((await create('AAPL, NOPE, x.y')).body).toMatchObject({
      statusCode: 400,
      message: ['replay must name recorded symbols, which NOPE, X.Y are not'],
    });
    expect((await create('AAPL,,IBM')).body.message).toEqual(['replay must be symbols, separated by commas']);
    expect((await client.get('/v1/simulations')).body.pagination.total).toBe(0);
    const { body } = await create('aapl');
    expect(body.replay).toBe('AAPL');
    const inside = test.withToken(body.token as string);
    expect((await inside.get('/v1/market-data/quote/aapl')).status).toBe(200);
  });

  it('issue tokens that expire no later than the requesting token', async () => {
    const notAfterMs = Math.floor(test.time.nowMs / 1000) * 1000 + 60_000;
    const short = test.as({ notAfterMs });
    const { body } = await short.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const claims = JSON.parse(
      Buffer.from((body.token as string).split('.')[1] ?? '', 'base64url').toString(),
    ) as { exp: number };
    expect(claims.exp * 1000).toBe(notAfterMs);
  });
});
