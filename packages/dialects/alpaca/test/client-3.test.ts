import Alpaca3 from 'alpaca-v3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AlpacaAccount, openAlpacaAccount } from '../../../server/src/testing/alpaca.js';
import type { Body } from '../../../server/src/testing/test-app.js';
import { pushQuote } from '../../../server/src/testing/test-app.js';

/** The official client of version 3, as it is published, and what its README does with it. */
describe("Alpaca's client 3", () => {
  let account: AlpacaAccount;
  let alpaca: Body;

  beforeAll(async () => {
    account = await openAlpacaAccount();
    const { url, keyId, secretKey } = account;
    alpaca = new (Alpaca3 as Body)({ keyId, secretKey, baseUrl: url, dataBaseUrl: url });
    await pushQuote(account.owner);
  });
  afterAll(() => account.test.close());

  it('reads its account and its configuration', async () => {
    const found = await alpaca.getAccount();
    expect(found).toMatchObject({
      id: account.portfolioId,
      status: 'ACTIVE',
      currency: 'USD',
      cash: '100000',
      equity: '100000',
      shorting_enabled: true,
    });
    expect((await alpaca.getAccountConfigurations()).no_shorting).toBe(false);
    expect(await alpaca.updateAccountConfigurations({ no_shorting: true, dtbp_check: null })).toMatchObject({
      no_shorting: true,
      trade_confirm_email: 'all',
    });
    await alpaca.updateAccountConfigurations({ no_shorting: false });
  });

  it('reads clock, calendar and assets', async () => {
    expect(await alpaca.getClock()).toEqual({
      timestamp: '2026-01-05T15:00:00.000Z',
      is_open: true,
      next_open: '2026-01-06T09:30:00-05:00',
      next_close: '2026-01-05T16:00:00-05:00',
    });
    expect(await alpaca.getCalendar({ start: new Date('2026-01-05'), end: new Date('2026-01-06') })).toEqual([
      {
        date: '2026-01-05',
        open: '09:30',
        close: '16:00',
        session_open: '0400',
        session_close: '2000',
        settlement_date: '2026-01-06',
      },
      expect.objectContaining({ date: '2026-01-06', settlement_date: '2026-01-07' }),
    ]);
    const assets = await alpaca.getAssets({ status: 'active' });
    const apple = assets.find((asset: Body) => asset.symbol === 'AAPL');
    expect(apple).toMatchObject({ class: 'us_equity', status: 'active', tradable: true });
    expect(await alpaca.getAsset('AAPL')).toEqual(apple);
    expect(await alpaca.getAsset(apple.id)).toEqual(apple);
  });

  it('places, finds, replaces and cancels orders', async () => {
    const bought = await alpaca.createOrder({
      symbol: 'AAPL',
      qty: 10,
      side: 'buy',
      type: 'market',
      time_in_force: 'day',
    });
    expect(bought).toMatchObject({ status: 'pending_new', qty: '10', filled_qty: '0', side: 'buy' });
    expect(await alpaca.getOrder(bought.id)).toMatchObject({
      status: 'filled',
      filled_qty: '10',
      filled_avg_price: '100',
      client_order_id: bought.client_order_id,
    });
    const rests = await alpaca.createOrder({
      symbol: 'AAPL',
      qty: '5',
      side: 'buy',
      type: 'limit',
      time_in_force: 'gtc',
      limit_price: '90',
      client_order_id: 'my-own',
    });
    expect((await alpaca.getOrderByClientId('my-own')).id).toBe(rests.id);
    const replaced = await alpaca.replaceOrder(rests.id, { qty: '6', limit_price: '91.5' });
    expect(replaced).toMatchObject({ qty: '6', limit_price: '91.5', status: 'new', replaces: rests.id });
    expect(replaced.id).not.toBe(rests.id);
    expect(await alpaca.getOrder(rests.id)).toMatchObject({
      status: 'replaced',
      replaced_by: replaced.id,
      qty: '5',
      limit_price: '90',
    });
    expect((await alpaca.getOrderByClientId('my-own')).status).toBe('replaced');
    const open = await alpaca.getOrders({ status: 'open' });
    expect(open.map((order: Body) => order.id)).toEqual([replaced.id]);
    const all = await alpaca.getOrders({ status: 'all', direction: 'asc' });
    expect(all.map((order: Body) => order.id)).toEqual([bought.id, rests.id, replaced.id]);
    await alpaca.cancelOrder(replaced.id);
    expect((await alpaca.getOrder(replaced.id)).status).toBe('canceled');
    await expect(alpaca.cancelOrder(replaced.id)).rejects.toMatchObject({
      response: { status: 422, data: { code: 42210000 } },
    });
  });

  it('places brackets and cancels all', async () => {
    const bracket = await alpaca.createOrder({
      symbol: 'AAPL',
      qty: 4,
      side: 'buy',
      type: 'limit',
      limit_price: 95,
      time_in_force: 'gtc',
      order_class: 'bracket',
      take_profit: { limit_price: '110' },
      stop_loss: { stop_price: '90', limit_price: '89' },
    });
    expect(bracket).toMatchObject({ order_class: 'bracket' });
    expect(bracket.legs.map((leg: Body) => [leg.type, leg.status])).toEqual([
      ['limit', 'held'],
      ['stop_limit', 'held'],
    ]);
    const nested = await alpaca.getOrders({ status: 'open', nested: true });
    expect(nested).toHaveLength(1);
    expect(nested[0].legs).toHaveLength(2);
    const canceled = await alpaca.cancelAllOrders();
    expect(canceled.map((one: Body) => one.status)).toEqual([200, 200, 200]);
    expect(await alpaca.getOrders()).toEqual([]);
  });

  it('places OCO orders', async () => {
    const oco = await alpaca.createOrder({
      symbol: 'AAPL',
      qty: 4,
      side: 'sell',
      type: 'limit',
      time_in_force: 'gtc',
      order_class: 'oco',
      take_profit: { limit_price: '110' },
      stop_loss: { stop_price: '90' },
    });
    expect(oco).toMatchObject({ order_class: 'oco', type: 'limit', limit_price: '110', side: 'sell' });
    expect(oco.legs).toEqual([
      expect.objectContaining({ order_class: 'oco', type: 'stop', stop_price: '90', status: 'held' }),
    ]);
    expect(await alpaca.getOrders({ status: 'open', nested: true })).toHaveLength(1);
    expect((await alpaca.getPosition('AAPL')).qty_available).toBe('6');
    const tighter = await alpaca.replaceOrder(oco.legs[0].id, { stop_price: '92' });
    expect(tighter).toMatchObject({ stop_price: '92', status: 'new', order_class: 'oco' });
    await alpaca.cancelOrder(oco.id);
    expect((await alpaca.getOrder(tighter.id)).status).toBe('canceled');
    await expect(
      alpaca.createOrder({
        symbol: 'AAPL',
        qty: 400,
        side: 'sell',
        type: 'limit',
        time_in_force: 'day',
        order_class: 'oco',
        take_profit: { limit_price: 110 },
        stop_loss: { stop_price: 90 },
      }),
    ).rejects.toMatchObject({ response: { status: 403, data: { code: 40310000 } } });
  });

  it('reads and closes positions', async () => {
    expect(await alpaca.getPosition('AAPL')).toMatchObject({
      symbol: 'AAPL',
      qty: '10',
      qty_available: '10',
      side: 'long',
      avg_entry_price: '100',
      cost_basis: '1000',
      market_value: '1000',
    });
    expect(await alpaca.getPositions()).toHaveLength(1);
    expect(await alpaca.closePosition('AAPL')).toMatchObject({ side: 'sell', qty: '10', type: 'market' });
    await expect(alpaca.getPosition('AAPL')).rejects.toMatchObject({
      response: { status: 404, data: { code: 40410000, message: 'position does not exist' } },
    });
    await alpaca.createOrder({ symbol: 'AAPL', qty: 3, side: 'sell', type: 'market', time_in_force: 'day' });
    expect(await alpaca.getPosition('AAPL')).toMatchObject({ side: 'short', qty: '-3' });
    const closed = await alpaca.closeAllPositions();
    expect(closed).toEqual([
      expect.objectContaining({
        symbol: 'AAPL',
        status: 200,
        body: expect.objectContaining({ side: 'buy' }),
      }),
    ]);
    expect(await alpaca.getPositions()).toEqual([]);
  });

  it('keeps watchlists', async () => {
    const made = await alpaca.addWatchlist('tech', ['AAPL']);
    expect(made.assets.map((asset: Body) => asset.symbol)).toEqual(['AAPL']);
    expect((await alpaca.addToWatchlist(made.id, 'MSFT')).assets).toHaveLength(2);
    expect((await alpaca.updateWatchlist(made.id, { name: 'more', symbols: ['MSFT'] })).name).toBe('more');
    expect((await alpaca.getWatchlist(made.id)).assets).toHaveLength(1);
    expect((await alpaca.deleteFromWatchlist(made.id, 'MSFT')).assets).toEqual([]);
    expect(await alpaca.getWatchlists()).toHaveLength(1);
    await alpaca.deleteWatchlist(made.id);
    expect(await alpaca.getWatchlists()).toEqual([]);
  });

  it('reads activities and the history of its equity', async () => {
    const fills = await alpaca.getAccountActivities({ activityTypes: 'FILL', pageSize: 2, direction: 'asc' });
    expect(fills).toEqual([
      expect.objectContaining({
        activity_type: 'FILL',
        symbol: 'AAPL',
        side: 'buy',
        qty: '10',
        cum_qty: '10',
      }),
      expect.objectContaining({ side: 'sell', order_status: 'filled', leaves_qty: '0' }),
    ]);
    const next = await alpaca.getAccountActivities({
      activityTypes: ['FILL'],
      pageToken: fills[1].id,
      direction: 'asc',
    });
    expect(next.map((fill: Body) => [fill.side, fill.qty])).toEqual([
      ['sell', '3'],
      ['buy', '3'],
    ]);
    const others = await alpaca.getAccountActivities({ activityTypes: ['CSD'] });
    expect(others).toEqual([expect.objectContaining({ activity_type: 'CSD', net_amount: '100000' })]);
    const history = await alpaca.getPortfolioHistory({ period: '1M', timeframe: '1D' });
    expect(history).toMatchObject({ base_value: 100_000, timeframe: '1D' });
    expect(history.equity).toHaveLength(history.timestamp.length);
  });

  it('reads market data', async () => {
    const quote = await alpaca.getLatestQuote('AAPL');
    expect([quote.BidPrice, quote.AskPrice]).toEqual([99.9, 100]);
    expect((await alpaca.getLatestTrade('AAPL')).Price).toBe(100);
    expect((await alpaca.getLatestQuotes(['AAPL', 'NOPE'])).size).toBe(1);
    expect((await alpaca.getLatestTrades(['AAPL'])).get('AAPL').Price).toBe(100);
    expect((await alpaca.getSnapshot('AAPL')).LatestQuote.AskPrice).toBe(100);
    expect(await alpaca.getSnapshots(['AAPL'])).toHaveLength(1);
    const trades = [];
    for await (const trade of alpaca.getTradesV2('AAPL', { start: '2026-01-05T00:00:00Z' }))
      trades.push(trade);
    expect(trades).toHaveLength(1);
    await account.owner.post('/v1/simulation/clock/advance', { by: 'PT10M' });
    const bars = [];
    const options = {
      start: '2026-01-05T00:00:00Z',
      timeframe: alpaca.newTimeframe(5, alpaca.timeframeUnit.MIN),
    };
    for await (const bar of alpaca.getBarsV2('AAPL', options)) bars.push(bar);
    expect(bars[0]).toMatchObject({ OpenPrice: 100, ClosePrice: 100 });
    expect((await alpaca.getMultiBarsV2(['AAPL'], { ...options })).get('AAPL')).toHaveLength(bars.length);
    expect((await alpaca.getLatestBar('AAPL')).ClosePrice).toBe(100);
    await expect(alpaca.getLatestQuote('NOPE')).rejects.toThrow(/code: 404/);
  });

  it('places orders of several options', async () => {
    const [low, high] = ['AAPL260116C00095000', 'AAPL260116C00105000'];
    await pushQuote(account.owner, { symbol: low, bid: 6, ask: 6.1, last: 6 });
    await pushQuote(account.owner, { symbol: high, bid: 1, ask: 1.1, last: 1 });
    const spread = {
      order_class: 'mleg',
      qty: '2',
      type: 'limit',
      limit_price: '4.5',
      time_in_force: 'day',
      legs: [
        { symbol: low, ratio_qty: '1', side: 'buy', position_intent: 'buy_to_open' },
        { symbol: high, ratio_qty: '1', side: 'sell' },
      ],
    };
    const rests = await alpaca.createOrder(spread);
    expect(rests).toMatchObject({ order_class: 'mleg', qty: '2', limit_price: '4.5' });
    const legsOf = (order: Body) =>
      order.legs.map((leg: Body) => [
        leg.symbol,
        leg.ratio_qty,
        leg.qty,
        leg.filled_qty,
        leg.position_intent,
      ]);
    expect(legsOf(rests)).toEqual([
      [low, '1', '2', '0', 'buy_to_open'],
      [high, '1', '2', '0', 'sell_to_open'],
    ]);
    expect((await alpaca.getOrders({ status: 'open', symbols: high })).map(({ id }: Body) => id)).toEqual([
      rests.id,
    ]);
    const dearer = await alpaca.replaceOrder(rests.id, { limit_price: '5.1' });
    expect(await alpaca.getOrder(dearer.id)).toMatchObject({ status: 'filled', filled_avg_price: '5.1' });
    expect(legsOf(await alpaca.getOrder(dearer.id)).map((leg: string[]) => leg[3])).toEqual(['2', '2']);
    expect((await alpaca.getPosition(high)).qty).toBe('-2');
    const fills = await alpaca.getAccountActivities({ activityTypes: 'FILL', pageSize: 2 });
    expect(fills.map(({ symbol, side, price }: Body) => [symbol, side, price]).sort()).toEqual([
      [low, 'buy', '6.1'],
      [high, 'sell', '1'],
    ]);
    // For a credit, and back to nothing.
    const legs = [
      { symbol: low, ratio_qty: 1, side: 'sell' },
      { symbol: high, ratio_qty: 1, side: 'buy' },
    ];
    const closes = await alpaca.createOrder({ ...spread, limit_price: '-4.9', legs });
    expect(closes.limit_price).toBe('-4.9');
    expect(await alpaca.getOrder(closes.id)).toMatchObject({ status: 'filled', filled_avg_price: '-4.9' });
    await expect(alpaca.getPosition(high)).rejects.toMatchObject({ response: { status: 404 } });
    const refused = (given: object): Promise<unknown> =>
      alpaca.createOrder({ ...spread, ...given }).catch((error: Body) => error.response.data.message);
    expect(await refused({ legs: legs.slice(1) })).toBe('mleg orders require 2 to 4 legs');
    expect(await refused({ legs: [legs[0], legs[0]] })).toBe('leg symbols must be unique');
    expect(await refused({ legs: legs.map((leg) => ({ ...leg, ratio_qty: 2 })) })).toBe(
      'leg ratio quantities should be relatively prime: GCD[2 2] = 2',
    );
    expect(await refused({ legs: legs.map((leg) => ({ ...leg, side: 'sell' })) })).toBe(
      'mleg orders with uncovered legs are not supported',
    );
    expect(await refused({ time_in_force: 'gtc' })).toBe('time_in_force gtc is not supported');
    expect(await refused({ legs: [legs[0], { symbol: 'AAPL', ratio_qty: 1, side: 'buy' }] })).toBe(
      'legs of mleg orders must be options',
    );
    expect(await refused({ time_in_force: 'opg' })).toBe('time_in_force opg is not supported');
  });

  it('places orders for the auctions, within their hours', async () => {
    const order = { symbol: 'AAPL', qty: 1, side: 'buy', type: 'market' };
    const close = await alpaca.createOrder({ ...order, time_in_force: 'cls' });
    expect(await alpaca.getOrder(close.id)).toMatchObject({ time_in_force: 'cls', filled_qty: '0' });
    await alpaca.cancelOrder(close.id);
    // It is ten o'clock: the auction of the open is over.
    await expect(alpaca.createOrder({ ...order, time_in_force: 'opg' })).rejects.toMatchObject({
      response: { data: { message: expect.stringContaining('OPG orders are taken until') as string } },
    });
  });

  it("alpaca-trade-api 3: receives refusals in Alpaca's words", async () => {
    const order = { symbol: 'AAPL', side: 'buy', type: 'market', time_in_force: 'day' };
    const refusal = (given: object) =>
      alpaca.createOrder({ ...order, ...given }).then(
        () => undefined,
        (error: Body) => [error.response.status, error.response.data],
      );
    expect(await refusal({ qty: 100_000 })).toEqual([
      403,
      expect.objectContaining({ code: 40310000, message: 'insufficient buying power' }),
    ]);
    expect(await refusal({ qty: 1, symbol: 'NOPE' })).toEqual([
      422,
      { code: 42210000, message: 'asset "NOPE" not found' },
    ]);
    expect(await refusal({})).toEqual([422, { code: 40010001, message: 'qty or notional is required' }]);
    expect(await refusal({ qty: 1, client_order_id: 'my-own' })).toEqual([
      422,
      { code: 40010001, message: 'client_order_id must be unique' },
    ]);
    const stranger = new (Alpaca3 as Body)({ keyId: 'PK', secretKey: 'no', baseUrl: account.url });
    await expect(stranger.getAccount()).rejects.toMatchObject({
      response: { status: 401, data: { code: 40110000 } },
    });
  });
});
