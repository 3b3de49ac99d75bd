import { request } from 'node:http';
import { Alpaca, errors, streaming, TimeFrame } from 'alpaca-v4';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AlpacaAccount, openAlpacaAccount } from '../../../server/src/testing/alpaca.js';
import { pushQuote } from '../../../server/src/testing/test-app.js';

/** The official client of version 4, as published; its `fetchApi` option sets the address of the server. */
describe("Alpaca's client 4", () => {
  let account: AlpacaAccount;
  let alpaca: Alpaca;
  let streamUrl: string;

  beforeAll(async () => {
    account = await openAlpacaAccount();
    const { url, keyId, secretKey } = account;
    streamUrl = `${url.replace(/^http/, 'ws')}/stream`;
    alpaca = new Alpaca({
      keyId,
      secret: secretKey,
      retry: false,
      rateLimit: false,
      fetchApi: (input, init) =>
        fetch(input.replace(/^https:\/\/(paper-api|data)\.alpaca\.markets/, url), init),
    });
    await pushQuote(account.owner);
  });
  afterAll(() => account.test.close());

  it('runs the quick start', async () => {
    const found = await alpaca.trading.account.getAccount();
    expect([found.id, found.status, found.equity]).toEqual([account.portfolioId, 'ACTIVE', '100000']);
    expect(await alpaca.trading.positions.getAllOpenPositions()).toEqual([]);
    const clientOrderId = `quickstart-${crypto.randomUUID()}`;
    const order = await alpaca.trading.orders.market({ symbol: 'AAPL', qty: 1, side: 'buy', clientOrderId });
    expect([order.clientOrderId, order.status]).toEqual([clientOrderId, 'pending_new']);
    expect(await alpaca.trading.validateConnection()).toMatchObject({ ok: true });
  });

  it('reads clocks and calendars of both versions', async () => {
    const clock = await alpaca.trading.clock.legacyClock();
    expect(clock.isOpen).toBe(true);
    const { clocks } = await alpaca.trading.clock.clock({ markets: 'NYSE' });
    expect(clocks[0]).toMatchObject({ isMarketDay: true, phase: 'core' });
    const { calendar } = await alpaca.trading.calendar.calendar({
      market: 'NYSE',
      start: new Date('2026-01-05'),
      end: new Date('2026-01-05'),
    });
    expect(calendar).toHaveLength(1);
  });

  it('follows market data', async () => {
    const stream = alpaca.marketData.stockStream({
      feed: 'iex',
      url: streamUrl.replace(/stream$/, 'v2/iex'),
    });
    const quoted = new Promise<number | undefined>((resolve) => {
      stream.onQuote(({ symbol, askPrice }) => symbol === 'AAPL' && resolve(askPrice));
    });
    const ended = new Promise<number | undefined>((resolve) => {
      stream.onBar(({ close }) => resolve(close));
    });
    stream.onConnect(() => {
      stream.subscribeForQuotes(['AAPL']);
      stream.subscribeForBars(['AAPL', 'MSFT']);
    });
    stream.connect();
    expect(await quoted).toBe(100);
    await account.owner.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    expect(await ended).toBe(100);
    stream.disconnect();
  });

  it('orders for an amount of money', async () => {
    const order = await alpaca.trading.orders.market({ symbol: 'AAPL', notional: 150, side: 'buy' });
    expect([order.qty, order.notional]).toEqual([undefined, '150']);
    expect(await alpaca.trading.orders.getOrderByOrderID({ orderId: order.id ?? '' })).toMatchObject({
      status: 'filled',
      filledQty: '1.5',
      filledAvgPrice: '100',
    });
  });

  it('orders in every shape that its README has', async () => {
    const { orders, positions } = alpaca.trading;
    await orders.market({ symbol: 'AAPL', qty: 10, side: 'buy' });
    const sell = { symbol: 'AAPL', qty: 1, side: 'sell' } as const;
    expect((await orders.stop({ ...sell, stopPrice: 80 })).orderClass).toBe('simple');
    expect((await orders.stopLimit({ ...sell, stopPrice: 80, limitPrice: 79.5 })).limitPrice).toBe('79.5');
    expect((await orders.trailingStop({ ...sell, trailPercent: 5 })).trailPercent).toBe('5');
    const exits = { takeProfit: { limitPrice: 120 }, stopLoss: { stopPrice: 70, limitPrice: 69.5 } };
    const buy = { symbol: 'AAPL', qty: 1, side: 'buy', limitPrice: 90 } as const;
    expect((await orders.bracket({ ...buy, ...exits })).legs).toHaveLength(2);
    expect((await orders.oto({ ...buy, takeProfit: exits.takeProfit })).legs).toHaveLength(1);
    const pair = await orders.oco({ ...sell, ...exits });
    expect(pair).toMatchObject({ orderClass: 'oco', limitPrice: '120', legs: [{ stopPrice: '70' }] });
    expect((await orders.submit({ ...sell, type: 'limit', limitPrice: 150 })).status).toBe('pending_new');
    expect(await orders.getAllOrders({ status: 'open', nested: true })).toHaveLength(7);
    const canceled = await orders.deleteAllOrders();
    expect(canceled.every(({ status }) => status === 200)).toBe(true);
    expect((await positions.getOpenPosition({ symbolOrAssetId: 'AAPL' })).symbol).toBe('AAPL');
    const closed = await alpaca.trading.closeAllPositions({ cancelOrders: true });
    expect(closed.map(({ symbol, status }) => [symbol, status])).toEqual([['AAPL', 200]]);
    const activities = [];
    for await (const activity of alpaca.trading.iterateActivities({ activityTypes: ['FILL'] }))
      activities.push(activity);
    expect(activities.length).toBeGreaterThan(2);
  });

  it('exercises options and files do-not-exercise instructions', async () => {
    const contract = 'AAPL260116C00090000';
    await pushQuote(account.owner, { symbol: contract, bid: 10, ask: 10.1 });
    await alpaca.trading.orders.market({ symbol: contract, qty: 2, side: 'buy' });
    const named = { symbolOrContractId: contract };
    await alpaca.trading.positions.optionDoNotExercise(named);
    await alpaca.trading.positions.optionExercise(named);
    expect(await alpaca.trading.positions.getOpenPosition({ symbolOrAssetId: 'AAPL' })).toMatchObject({
      qty: '200',
      avgEntryPrice: expect.stringMatching(/^100\.1/) as string,
    });
    await expect(alpaca.trading.positions.optionExercise(named)).rejects.toMatchObject({ status: 404 });
    await alpaca.trading.closeAllPositions();
  });

  it('reads prices, bars and an empty list of news', async () => {
    expect(await alpaca.marketData.getLatestPrice('AAPL')).toBe(100);
    const asked = { timeframe: TimeFrame.Minute, start: new Date('2026-01-05T00:00:00Z') };
    const bars = await alpaca.marketData.collectStockBarsBySymbol({ symbols: 'AAPL,MSFT', ...asked });
    const iterated = [];
    for await (const { symbol } of alpaca.marketData.iterateStockBars({ symbols: ['AAPL'], ...asked }))
      iterated.push(symbol);
    expect(iterated).toHaveLength(bars['AAPL']?.length ?? -1);
    expect(await alpaca.marketData.collectNews({ symbols: 'AAPL' })).toEqual([]);
  });

  it('keeps watchlists by name, configurations and the history of its equity', async () => {
    const { watchlists, accountConfigurations, portfolioHistory } = alpaca.trading;
    await watchlists.postWatchlist({ createWatchlistRequest: { name: 'tech', symbols: ['AAPL'] } });
    await watchlists.addAssetToWatchlistByName({
      name: 'tech',
      addAssetToWatchlistRequest: { symbol: 'MSFT' },
    });
    const found = await watchlists.getWatchlistByName({ name: 'tech' });
    expect(found.assets?.map(({ symbol }) => symbol)).toEqual(['AAPL', 'MSFT']);
    await watchlists.deleteWatchlistByName({ name: 'tech' });
    expect(await watchlists.getWatchlists()).toEqual([]);
    const { noShorting } = await accountConfigurations.getAccountConfig();
    expect(noShorting).toBe(false);
    const history = await portfolioHistory.getAccountPortfolioHistory({ period: '1M', timeframe: '1D' });
    expect(history.equity).toHaveLength(history.timestamp.length);
  });

  /* eslint-disable @typescript-eslint/no-deprecated -- deprecated there, and what bots of its day ask */
  it('reads announcements', async () => {
    const actions = [
      { type: 'SPLIT', symbol: 'MSFT', exDate: '2026-02-10', ratio: { new: 2, old: 1 } },
      {
        type: 'CASH_DIVIDEND',
        symbol: 'AAPL',
        exDate: '2026-02-09',
        payDate: '2026-02-12',
        amountPerShare: 0.26,
      },
    ];
    expect((await account.owner.post('/v1/simulation/corporate-actions', { actions })).status).toBe(201);
    const { corporateActions } = alpaca.trading;
    const range = { since: '2026-02-01', until: '2026-02-11' };
    const found = await corporateActions.getV2CorporateActionsAnnouncements({
      caTypes: 'Dividend,Split',
      ...range,
    });
    expect(
      found
        .map(({ caType, initiatingSymbol, cash, newRate }) => [caType, initiatingSymbol, cash, newRate])
        .sort(),
    ).toEqual([
      ['dividend', 'AAPL', '0.26', '1'],
      ['split', 'MSFT', '0', '2'],
    ]);
    const paid = { caTypes: 'Dividend', ...range, dateType: 'payable_date' };
    expect(await corporateActions.getV2CorporateActionsAnnouncements(paid)).toEqual([]);
    const { id = '' } = found.find(({ caType }) => caType === 'split') ?? {};
    expect(await corporateActions.getV2CorporateActionsAnnouncementsId({ id })).toMatchObject({
      caSubType: 'stock_split',
      newRate: '2',
    });
    await expect(
      corporateActions.getV2CorporateActionsAnnouncements({ ...paid, until: '2026-06-01' }),
    ).rejects.toBeInstanceOf(errors.ValidationError);
  });
  /* eslint-enable @typescript-eslint/no-deprecated */

  it('submits and waits', async () => {
    const stream = alpaca.trading.stream({ url: streamUrl });
    const events: string[] = [];
    stream.onTradeUpdate(({ event }) => events.push(event));
    stream.connect();
    const filled = await alpaca.trading.submitAndWait(
      { symbol: 'AAPL', qty: 2, side: 'buy', type: 'market' },
      { stream },
    );
    expect(filled).toMatchObject({ status: 'filled', filledQty: '2', filledAvgPrice: '100' });
    expect(events).toEqual(['pending_new', 'new', 'fill']);
    events.length = 0;
    const rests = await alpaca.trading.orders.limit({ symbol: 'AAPL', qty: 1, side: 'buy', limitPrice: 90 });
    const id = rests.id ?? '';
    const canceled = new Promise<string>((resolve) => {
      stream.onTradeUpdate(({ event, order }) => event === 'canceled' && resolve(String(order.id)));
    });
    const replaced = await alpaca.trading.orders.patchOrderByOrderId({
      orderId: id,
      patchOrderRequest: { limitPrice: '91' },
    });
    await alpaca.trading.orders.deleteOrderByOrderID({ orderId: replaced.id ?? '' });
    expect(await canceled).toBe(replaced.id);
    expect(events).toEqual(['pending_new', 'new', 'replaced', 'new', 'canceled']);
    events.length = 0;
    const contracts = ['AAPL260116P00090000', 'AAPL260116C00110000'];
    for (const symbol of contracts) await pushQuote(account.owner, { symbol, bid: 2, ask: 2.1, last: 2 });
    const told = new Promise<unknown>((resolve) => {
      stream.onTradeUpdate(({ event, price, qty, order }) => {
        if (event === 'fill') resolve([price, qty, order.legs?.map(({ symbol }) => symbol)]);
      });
    });
    const strangle = await alpaca.trading.orders.submit({
      orderClass: 'mleg',
      type: 'market',
      timeInForce: 'day',
      qty: 1,
      legs: contracts.map((symbol) => ({ symbol, ratioQty: '1', side: 'buy' as const })),
    });
    expect(strangle.legs?.map(({ symbol, side }) => [symbol, side])).toEqual(
      contracts.map((symbol) => [symbol, 'buy']),
    );
    expect(await told).toEqual(['4.2', '1', contracts]);
    expect(events).toEqual(['pending_new', 'new', 'fill']);
    stream.disconnect();
  });

  it('is refused by the stream with a wrong secret', async () => {
    const stream = new streaming.TradingStream({
      url: streamUrl,
      credentials: { keyId: account.keyId, secret: 'wrong' },
    });
    const result = stream.waitForAuthentication(5000);
    stream.connect();
    expect(await result).toBe(false);
  });

  it('throws a specific error for each refusal', async () => {
    await expect(alpaca.trading.orders.getOrderByOrderID({ orderId: 'nope' })).rejects.toBeInstanceOf(
      errors.NotFoundError,
    );
    await expect(
      alpaca.trading.orders.market({ symbol: 'AAPL', qty: 0, side: 'buy' }),
    ).rejects.toBeInstanceOf(errors.ValidationError);
    await expect(
      alpaca.trading.orders.market({ symbol: 'AAPL', qty: 100_000, side: 'buy' }),
    ).rejects.toMatchObject({ status: 403, code: 40310000 });
  });

  it('serves clients that offer HTTP/2', async () => {
    const { hostname, port } = new URL(account.url);
    const body = JSON.stringify({ apiKey: 'nobody' });
    const status = await new Promise((resolve, reject) => {
      request(
        {
          hostname,
          port,
          path: '/v1/auth/token',
          method: 'POST',
          headers: {
            connection: 'Upgrade, HTTP2-Settings',
            upgrade: 'h2c',
            'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
            'content-type': 'application/json',
            'content-length': body.length,
          },
        },
        (response) => resolve(response.resume().statusCode),
      )
        .on('error', reject)
        .end(body);
    });
    expect(status).toBe(401);
  });
});
