import { request } from 'node:http';
import { Alpaca, errors, streaming } from 'alpaca-v4';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AlpacaAccount, openAlpacaAccount } from '../../../testing/alpaca.js';
import { pushQuote } from '../../../testing/test-app.js';

/** The official client of version 4, as it is published; where its servers are it lets its `fetchApi` say. */
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

  it('does what the quick start does', async () => {
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
    stream.disconnect();
  });

  it('is not let into the stream with a wrong secret', async () => {
    const stream = new streaming.TradingStream({
      url: streamUrl,
      credentials: { keyId: account.keyId, secret: 'wrong' },
    });
    const result = stream.waitForAuthentication(5000);
    stream.connect();
    expect(await result).toBe(false);
  });

  it('has errors of its own for each refusal', async () => {
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

  it('leaves those alone who offer HTTP/2', async () => {
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
