/** Every route of the dialect answers in the shapes of Alpaca's reference. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import * as shapes from '../../../server/src/testing/alpaca-shapes.js';
import { type Body, openPortfolio, TestApp, type TestClient } from '../../../server/src/testing/test-app.js';
import { alpacaRoutes } from '../src/routes.js';

let test: TestApp;
let owner: TestClient;
let send: AlpacaSend;

/** Routes whose answers were held against a shape. */
const seen = new Set<string>();

beforeAll(async () => {
  test = await TestApp.open({ config: { feed: 'synthetic' } });
  owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner, { portfolioType: 'MARGIN' })) as {
    portfolioId: string;
  };
  send = alpacaSender(test, await keyPairOf(owner, portfolioId));
});
afterAll(() => test.close());

type Method = Parameters<AlpacaSend>[0];

/** Sends a request and holds its answer against a shape; undefined = the answer has no body. */
async function checked(
  method: Method,
  route: string,
  shape: shapes.AnswerShape | undefined,
  {
    of = {},
    query = '',
    body,
    status = 200,
  }: { of?: Record<string, string>; query?: string; body?: object; status?: number } = {},
): Promise<Body> {
  const path = route
    .replace('::', ':')
    .replace(/:(id|symbol|type|market|underlying|ticktype)\b/g, (_, name: string) => of[name] ?? '');
  const reply = await send(method, path + query, body);
  expect([reply.status, status === reply.status ? '' : reply.body]).toEqual([status, '']);
  if (shape !== undefined) expect(shapes.differences(shape, reply.body)).toEqual([]);
  seen.add(`${method} ${route}`);
  return reply.body;
}

const place = (more: object, shape: shapes.AnswerShape = shapes.order): Promise<Body> =>
  checked('POST', '/v2/orders', shape, {
    body: { symbol: 'AAPL', side: 'buy', type: 'market', time_in_force: 'day', ...more },
  });

it('account, hours and assets have the documented shapes', async () => {
  await checked('GET', '/v2/account', shapes.account);
  const configuration = await checked('GET', '/v2/account/configurations', shapes.configuration);
  await checked('PATCH', '/v2/account/configurations', shapes.configuration, {
    body: { ...configuration, dtbp_check: null, pdt_check: null },
  });
  await checked('GET', '/v2/clock', shapes.clock);
  await checked('GET', '/v3/clock', shapes.clocks);
  const days = { query: '?start=2026-01-05&end=2026-01-09' };
  expect(await checked('GET', '/v2/calendar', shapes.calendar, days)).toHaveLength(5);
  await checked('GET', '/v3/calendar/:market', shapes.marketCalendar, { of: { market: 'NYSE' }, ...days });
  await checked('GET', '/v2/assets', [shapes.asset]);
  await checked('GET', '/v2/assets/:symbol', shapes.asset, { of: { symbol: 'AAPL' } });
});

it('watchlists have the documented shapes', async () => {
  const body = { name: 'first', symbols: ['AAPL'] };
  const { id } = await checked('POST', '/v2/watchlists', shapes.watchlist, { body });
  await checked('GET', '/v2/watchlists', shapes.watchlists);
  await checked('GET', '/v2/watchlists/:id', shapes.watchlist, { of: { id } });
  await checked('PUT', '/v2/watchlists/:id', shapes.watchlist, { of: { id }, body: { name: 'second' } });
  await checked('POST', '/v2/watchlists/:id', shapes.watchlist, { of: { id }, body: { symbol: 'MSFT' } });
  await checked('DELETE', '/v2/watchlists/:id/:symbol', shapes.watchlist, { of: { id, symbol: 'MSFT' } });
  const query = '?name=second';
  await checked('GET', '/v2/watchlists::by_name', shapes.watchlist, { query });
  await checked('PUT', '/v2/watchlists::by_name', shapes.watchlist, { query, body: { symbols: [] } });
  await checked('POST', '/v2/watchlists::by_name', shapes.watchlist, { query, body: { symbol: 'MSFT' } });
  await checked('DELETE', '/v2/watchlists::by_name', undefined, { query, status: 204 });
  const again = await checked('POST', '/v2/watchlists', shapes.watchlist, { body });
  await checked('DELETE', '/v2/watchlists/:id', undefined, { of: { id: again.id as string }, status: 204 });
});

it('market data of stocks has the documented shapes', async () => {
  const many = '?symbols=AAPL,MSFT&timeframe=1Day&start=2025-12-29&limit=3';
  const of = { symbol: 'AAPL' };
  const daily = await checked('GET', '/v2/stocks/:symbol/bars', shapes.bars.ofOne, { of, query: many });
  // Midnight of New York in winter.
  expect(daily.bars[0].t).toBe('2025-12-29T05:00:00.000Z');
  await checked('GET', '/v2/stocks/bars', shapes.bars.ofMany, { query: many });
  for (const [name, series, latest] of [
    ['quotes', shapes.quotes, shapes.latestQuotes],
    ['trades', shapes.trades, shapes.latestTrades],
  ] as const) {
    await checked('GET', `/v2/stocks/:symbol/${name}`, series.ofOne, { of });
    await checked('GET', `/v2/stocks/${name}`, series.ofMany, { query: many });
    await checked('GET', `/v2/stocks/:symbol/${name}/latest`, latest.ofOne, { of });
    await checked('GET', `/v2/stocks/${name}/latest`, latest.ofMany, { query: many });
  }
  await checked('GET', '/v2/stocks/:symbol/bars/latest', shapes.latestBars.ofOne, { of });
  await checked('GET', '/v2/stocks/bars/latest', shapes.latestBars.ofMany, { query: many });
  await checked('GET', '/v2/stocks/:symbol/auctions', shapes.auctions.ofOne, { of, query: many });
  await checked('GET', '/v2/stocks/auctions', shapes.auctions.ofMany, { query: many });
  const shown = await checked('GET', '/v2/stocks/:symbol/snapshot', shapes.snapshot, { of });
  // The day that is not over.
  expect(shown.dailyBar.t).toBe('2026-01-05T05:00:00.000Z');
  await checked('GET', '/v2/stocks/snapshots', shapes.snapshots, { query: many });
  await checked('GET', '/v2/stocks/meta/exchanges', shapes.codes);
  const conditions = { of: { ticktype: 'trade' }, query: '?tape=C' };
  await checked('GET', '/v2/stocks/meta/conditions/:ticktype', shapes.codes, conditions);
  const moved = await checked('GET', '/v1beta1/screener/:market/movers', shapes.movers, {
    of: { market: 'stocks' },
    query: '?top=3',
  });
  const { gainers, losers } = moved as { gainers: unknown[]; losers: unknown[] };
  expect(gainers.length + losers.length).toBeGreaterThan(0);
  await checked('GET', '/v1beta1/screener/stocks/most-actives', shapes.mostActives, { query: '?top=3' });
  await checked('GET', '/v1beta1/news', shapes.news);
});

it('values of indices have the documented shapes; stocks and unknown symbols have none', async () => {
  const query = '?symbols=SPX,AAPL,NOPE';
  const latest = await checked('GET', '/v1beta1/indices/latest/values', shapes.latestIndexValues, { query });
  expect(Object.keys(latest.values as object)).toEqual(['SPX']);
  expect(latest.values.SPX.v).toBeGreaterThan(0);
  const past = await checked('GET', '/v1beta1/indices/values', shapes.indexValues, {
    query: `${query}&start=2026-01-01`,
  });
  expect(past.values).toEqual({ SPX: [latest.values.SPX] });
  const before = `${query}&start=2025-12-01&end=2025-12-31`;
  expect((await send('GET', `/v1beta1/indices/values${before}`)).body.values).toEqual({});
});

it('orders, positions, options and their later states have the documented shapes', async () => {
  const { quote } = (await send('GET', '/v2/stocks/AAPL/quotes/latest')).body;
  const price = (part: number): string => (quote.ap * part).toFixed(2);
  const { id } = await place({ qty: '20' });
  await place({ notional: '100' });
  const limit = await place({ qty: '1', type: 'limit', limit_price: price(0.9) });
  const exits = { take_profit: { limit_price: price(1.2) }, stop_loss: { stop_price: price(0.8) } };
  await place({ qty: '1', order_class: 'bracket', ...exits }, shapes.orderWithLegs);
  await place({ qty: '1', side: 'sell', type: 'limit', order_class: 'oco', ...exits }, shapes.orderWithLegs);
  await place({ qty: '1', side: 'sell', type: 'trailing_stop', trail_percent: '5' });

  const range = `expiration_date_gte=2026-01-12&expiration_date_lte=2026-01-16&strike_price_gte=${price(0.97)}`;
  const { option_contracts } = await checked('GET', '/v2/options/contracts', shapes.contracts, {
    query: `?underlying_symbols=AAPL&type=call&limit=3&show_deliverables=true&${range}`,
  });
  const [near, far] = option_contracts as [Body, Body];
  const symbol = near.symbol as string;
  await checked('GET', '/v2/options/contracts/:symbol', shapes.contract, { of: { symbol } });
  const byId = await checked('GET', '/v2/options/contracts/:symbol', shapes.contract, {
    of: { symbol: near.id },
  });
  expect(byId.symbol).toBe(symbol);
  await place({ symbol, qty: '3' });
  await place({ symbol, qty: '1', side: 'sell', type: 'limit', limit_price: '500' });
  const held = await checked('GET', '/v2/positions/:symbol', shapes.position, { of: { symbol } });
  expect([held.qty, held.qty_available]).toEqual(['3', '2']);
  expect(Number(held.unrealized_intraday_pl)).toBeCloseTo(
    (held.current_price - held.avg_entry_price) * 3 * 100,
    2,
  );
  const spread = await place(
    {
      symbol: null,
      side: null,
      order_class: 'mleg',
      qty: '1',
      type: 'limit',
      limit_price: '0.01',
      legs: [
        { symbol, ratio_qty: '1', side: 'buy', position_intent: 'buy_to_open' },
        { symbol: far.symbol, ratio_qty: '1', side: 'sell', position_intent: 'sell_to_open' },
      ],
    },
    shapes.multiLegOrder,
  );
  const [leg] = spread.legs as [Body];
  const shownLeg = await checked('GET', '/v2/orders/:id', shapes.order, { of: { id: leg.id as string } });
  expect([shownLeg.id, shownLeg.symbol]).toEqual([leg.id, symbol]);
  expect((await send('DELETE', `/v2/orders/${leg.id}`)).status).toBe(422);

  const replaced = await checked('PATCH', '/v2/orders/:id', shapes.order, {
    of: { id: limit.id as string },
    body: { limit_price: price(0.91) },
  });
  await checked('GET', '/v2/orders/:id', shapes.order, { of: { id } });
  await checked('GET', '/v2/orders::by_client_order_id', shapes.order, {
    query: `?client_order_id=${id}`,
  });
  for (const one of await checked('GET', '/v2/orders', undefined, { query: '?status=all&nested=true' }))
    expect(shapes.differences(one.order_class === 'mleg' ? shapes.multiLegOrder : shapes.order, one)).toEqual(
      [],
    );
  await checked('GET', '/v2/positions', [shapes.position]);
  await checked('GET', '/v2/account/activities', shapes.fills, { query: '?category=trade_activity' });
  await checked('GET', '/v2/account/activities/:type', shapes.otherActivities, { of: { type: 'CSD' } });
  await checked('GET', '/v2/account/portfolio/history', shapes.portfolioHistory);

  const both = `?symbols=${symbol}`;
  await checked('GET', '/v1beta1/options/bars', shapes.bars.ofMany, { query: both });
  await checked('GET', '/v1beta1/options/bars/latest', shapes.latestBars.ofMany, { query: both });
  await checked('GET', '/v1beta1/options/quotes/latest', shapes.latestOptionQuotes.ofMany, { query: both });
  await checked('GET', '/v1beta1/options/trades/latest', shapes.latestOptionTrades.ofMany, { query: both });
  await checked('GET', '/v1beta1/options/trades', shapes.optionTrades.ofMany, { query: both });
  await checked('GET', '/v1beta1/options/snapshots', shapes.optionSnapshots, { query: both });
  await checked('GET', '/v1beta1/options/snapshots/:underlying', shapes.optionSnapshots, {
    of: { underlying: 'AAPL' },
    query: '?limit=5',
  });
  await checked('GET', '/v1beta1/options/meta/exchanges', shapes.codes);
  await checked('GET', '/v1beta1/options/meta/conditions/:ticktype', shapes.codes, {
    of: { ticktype: 'quote' },
  });

  await checked('DELETE', '/v2/orders/:id', undefined, { of: { id: replaced.id as string }, status: 204 });
  await checked('DELETE', '/v2/orders', shapes.canceled, { status: 207 });
  await checked('POST', '/v2/positions/:symbol/do-not-exercise', undefined, { of: { symbol } });
  await checked('POST', '/v2/positions/:symbol/exercise', undefined, { of: { symbol } });
  await checked('DELETE', '/v2/positions/:symbol', shapes.order, { of: { symbol: 'AAPL' }, query: '?qty=1' });
  await checked('DELETE', '/v2/positions', shapes.closed, { query: '?cancel_orders=true', status: 207 });
});

it('corporate actions have the documented shapes', async () => {
  const announced = await owner.post('/v1/simulation/corporate-actions', {
    actions: [
      { type: 'SPLIT', symbol: 'AAPL', exDate: '2026-02-02', ratio: { new: 2, old: 1 } },
      { type: 'SPLIT', symbol: 'MSFT', exDate: '2026-02-03', ratio: { new: 1, old: 10 } },
      { type: 'SPECIAL_DIVIDEND', symbol: 'AAPL', exDate: '2026-02-02', cashPerShare: 15 },
      { type: 'STOCK_DIVIDEND', symbol: 'AAPL', exDate: '2026-02-03', rate: 0.1 },
      {
        type: 'SPIN_OFF',
        symbol: 'AAPL',
        exDate: '2026-02-04',
        newSymbol: 'SPUN',
        ratio: 0.25,
        basisPercent: 20,
      },
      { type: 'MERGER', symbol: 'AAPL', exDate: '2026-02-06', newSymbol: 'ACQ', ratio: 1.5, cashPerShare: 2 },
      { type: 'SYMBOL_CHANGE', symbol: 'ACQ', exDate: '2026-02-09', newSymbol: 'ACQR' },
      { type: 'MERGER', symbol: 'ACQR', exDate: '2026-02-10', newSymbol: 'BUYR', ratio: { new: 1, old: 3 } },
      { type: 'DELISTING', symbol: 'BUYR', exDate: '2026-02-11', cashPerShare: 0 },
      { type: 'DELISTING', symbol: 'SPUN', exDate: '2026-02-11', cashPerShare: 9 },
    ],
  });
  expect(announced.status, announced.text).toBe(201);
  const query = '?ca_types=split,dividend&since=2026-01-05&until=2026-03-01';
  const found = await checked('GET', '/v2/corporate_actions/announcements', [shapes.announcement], { query });
  await checked('GET', '/v2/corporate_actions/announcements/:id', shapes.announcement, {
    of: { id: found[0].id as string },
  });
  const { corporate_actions } = await checked('GET', '/v1/corporate-actions', shapes.corporateActions, {
    query: '?start=2026-01-05&end=2026-03-01',
  });
  expect(corporate_actions).toMatchObject({
    forward_splits: [{ symbol: 'AAPL', new_rate: 2, old_rate: 1 }],
    reverse_splits: [{ symbol: 'MSFT', new_rate: 1, old_rate: 10 }],
    cash_dividends: [{ symbol: 'AAPL', rate: 15, special: true }],
    stock_dividends: [{ symbol: 'AAPL', rate: 0.1 }],
    spin_offs: [{ source_symbol: 'AAPL', source_rate: 1, new_symbol: 'SPUN', new_rate: 0.25 }],
    stock_and_cash_mergers: [
      { acquiree_symbol: 'AAPL', acquirer_symbol: 'ACQ', acquirer_rate: 1.5, acquiree_rate: 1, cash_rate: 2 },
    ],
    name_changes: [{ old_symbol: 'ACQ', new_symbol: 'ACQR' }],
    stock_mergers: [{ acquiree_symbol: 'ACQR', acquirer_symbol: 'BUYR', acquirer_rate: 1, acquiree_rate: 3 }],
    worthless_removals: [{ symbol: 'BUYR', process_date: '2026-02-11' }],
    cash_mergers: [{ acquiree_symbol: 'SPUN', rate: 9 }],
  });
  const beta = await checked('GET', '/v1beta1/corporate-actions', shapes.corporateActions, {
    query: '?start=2026-01-05&end=2026-03-01',
  });
  expect(beta.corporate_actions).toEqual(corporate_actions);
});

it('every route of the Alpaca dialect is covered', () => {
  expect(alpacaRoutes.map(({ method, path }) => `${method} ${path}`).filter((one) => !seen.has(one))).toEqual(
    [],
  );
});
