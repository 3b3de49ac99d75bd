import schwab from '@sandpit/dialect-schwab';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Body } from '../../../server/src/testing/test-app.js';
import { openSchwabAccount, placedId, type SchwabAccount } from './account.js';

let opened: SchwabAccount;

beforeAll(async () => {
  opened = await openSchwabAccount({
    config: { feed: 'synthetic' },
    settings: { RATE_LIMIT_DEFAULT: '1000000' },
  });
});

afterAll(() => opened.test.close());

const data = async (path: string, status = 200): Promise<Body> => {
  const reply = await opened.send('GET', `/marketdata/v1${path}`);
  expect(reply.status, reply.text).toBe(status);
  return reply.body;
};

interface Contract {
  readonly symbol: string;
  readonly strikePrice: number;
  readonly bid: number;
  readonly ask: number;
}
type Dates = Readonly<Record<string, Readonly<Record<string, readonly Contract[]>>>>;

async function nearCalls(count: number): Promise<readonly Contract[]> {
  const [first] = (await data('/expirationchain?symbol=AAPL'))['expirationList'] as unknown as {
    expirationDate: string;
  }[];
  const date = first?.expirationDate ?? '';
  const chain = await data(
    `/chains?symbol=AAPL&contractType=CALL&strikeCount=${count}&fromDate=${date}&toDate=${date}`,
  );
  const [byStrike = {}] = Object.values(chain['callExpDateMap'] as Dates);
  return Object.values(byStrike).flat();
}

it('chains: expirations with their days, strikes as decimals, padded symbols, both spellings', async () => {
  const chain = await data('/chains?symbol=AAPL&strikeCount=2&toDate=2026-01-31&includeUnderlyingQuote=true');
  expect(chain).toMatchObject({
    symbol: 'AAPL',
    status: 'SUCCESS',
    strategy: 'SINGLE',
    underlying: { symbol: 'AAPL' },
  });
  for (const [date, strikes] of Object.entries(chain['putExpDateMap'] as Dates)) {
    expect(date).toMatch(/^\d{4}-\d\d-\d\d:\d+$/);
    for (const [strike, [contract]] of Object.entries(strikes)) {
      expect(strike).toMatch(/^\d+\.\d+$/);
      expect(contract?.symbol).toMatch(/^AAPL {2}\d{6}P\d{8}$/);
      expect(contract).toMatchObject({
        bid: contract?.bid,
        bidPrice: contract?.bid,
        putCall: 'PUT',
        mini: false,
        isMini: false,
      });
    }
  }
});

it('quotes: an option with Greeks, an index, a future, and names that are not known', async () => {
  const [call] = await nearCalls(2);
  const names = ['AAPL', '$SPX', 'SPX', '$AAPL', '/AAPL', 'NOPE', call?.symbol ?? '', '/ESH26'];
  const quotes = await data(`/quotes?symbols=${encodeURIComponent(names.join(','))}`);
  expect(quotes['AAPL']).toMatchObject({
    assetMainType: 'EQUITY',
    quoteType: 'NBBO',
    quote: { securityStatus: 'Normal' },
  });
  expect(quotes['$SPX']).toMatchObject({ assetMainType: 'INDEX' });
  expect(quotes['/ESH26']).toMatchObject({
    assetMainType: 'FUTURE',
    quote: { tick: 0.25, tickAmount: 12.5 },
  });
  expect(quotes[call?.symbol ?? '']).toMatchObject({
    assetMainType: 'OPTION',
    reference: { contractType: 'C', underlying: 'AAPL' },
  });
  expect(quotes[call?.symbol ?? '']?.['quote']).toHaveProperty('delta');
  expect(quotes['errors']).toEqual({ invalidSymbols: ['SPX', '$AAPL', '/AAPL', 'NOPE'] });
  expect(Object.keys((await data('/AAPL/quotes?fields=reference'))['AAPL'] ?? {})).not.toContain('quote');
  const missing = await data('/NOPE/quotes', 404);
  expect(missing['errors']).toMatchObject([{ status: 404, title: 'Not Found', detail: 'Symbol not found' }]);
});

it('bars: periods and frequencies as the service has them, others refused', async () => {
  const days = await data(
    '/pricehistory?symbol=AAPL&periodType=year&period=1&frequencyType=daily&frequency=1&needPreviousClose=true',
  );
  expect(days).toMatchObject({ symbol: 'AAPL', empty: false });
  expect(days['previousClose']).toBeGreaterThan(0);
  expect((days['candles'] as unknown[]).length).toBeGreaterThan(240);
  const minutes = await data(
    '/pricehistory?symbol=AAPL&periodType=day&period=1&frequencyType=minute&frequency=30&startDate=31536000000&needExtendedHoursData=false',
  );
  expect((minutes['candles'] as unknown[]).length).toBeGreaterThan(100);
  for (const bad of [
    'periodType=week',
    'period=7',
    'frequencyType=daily',
    'frequency=7',
    'startDate=x',
    'endDate=-1',
    'other=1',
  ])
    await data(`/pricehistory?symbol=AAPL&${bad}`, 400);
  await data('/pricehistory?symbol=NOPE', 404);
});

it('hours: open and closed days, markets that Sandpit has not', async () => {
  const hours = await data('/markets?markets=equity,option,bond,future,forex&date=2026-01-05');
  expect(hours['equity']?.['EQ']).toMatchObject({
    isOpen: true,
    sessionHours: {
      regularMarket: [{ start: '2026-01-05T09:30:00-05:00', end: '2026-01-05T16:00:00-05:00' }],
    },
  });
  expect(hours['option']?.['IND']).toMatchObject({ isOpen: true });
  expect(hours['future']).toMatchObject({ future: { isOpen: true } });
  for (const market of ['bond', 'forex'])
    expect(hours[market]).toMatchObject({ [market]: { isOpen: false } });
  expect((await data('/markets/equity?date=2026-01-04'))['equity']?.['EQ']).toMatchObject({ isOpen: false });
  await data('/markets/shares', 400);
  await data('/markets', 400);
});

it('instruments: by symbol, by patterns that cost little, by the text in place of a CUSIP; movers are empty', async () => {
  const search = async (symbol: string, projection: string) =>
    ((await data(`/instruments?symbol=${encodeURIComponent(symbol)}&projection=${projection}`))[
      'instruments'
    ] ?? []) as { symbol: string; cusip: string }[];
  const [apple] = await search('aapl', 'symbol-search');
  expect(apple).toMatchObject({ symbol: 'AAPL', assetType: 'EQUITY' });
  expect((await search('AA.*', 'symbol-regex')).map(({ symbol }) => symbol)).toContain('AAPL');
  expect((await search('.*PL', 'symbol-regex')).map(({ symbol }) => symbol)).toContain('AAPL');
  expect(await search('AAPLX', 'symbol-regex')).toEqual([]);
  expect((await search('apple', 'desc-search')).map(({ symbol }) => symbol)).toContain('AAPL');
  await data(`/instruments?symbol=${encodeURIComponent('(A+)+$')}&projection=symbol-regex`, 400);
  expect((await data(`/instruments/${apple?.cusip ?? ''}`))['instruments']).toMatchObject([
    { symbol: 'AAPL' },
  ]);
  await data('/instruments/S00000000', 404);
  expect(await data('/movers/$SPX')).toEqual({ screeners: [] });
  await data('/movers/X', 400);
});

it('a vertical spread: placed at a net price, shown with its legs, filled, in positions and transactions', async () => {
  const [low, high] = await nearCalls(2);
  if (low === undefined || high === undefined) throw new Error('no contracts');
  const leg = (instruction: string, { symbol }: Contract, quantity = 2) => ({
    instruction,
    quantity,
    instrument: { symbol, assetType: 'OPTION' },
  });
  const spread = (price: number | string, legs: object[], more: object = {}) => ({
    orderType: 'NET_DEBIT',
    session: 'NORMAL',
    duration: 'DAY',
    price,
    quantity: 2,
    complexOrderStrategyType: 'VERTICAL',
    orderStrategyType: 'SINGLE',
    orderLegCollection: legs,
    ...more,
  });
  const orders = `/trader/v1/accounts/${opened.hash}/orders`;
  const debit = Math.round((low.ask - high.bid + 0.5) * 100) / 100;
  const legs = [leg('BUY_TO_OPEN', low), leg('SELL_TO_OPEN', high)];
  const id = placedId(await opened.send('POST', orders, spread(debit, legs)));
  const { body } = await opened.send('GET', `${orders}/${id}`);
  expect(body).toMatchObject({
    orderType: 'NET_DEBIT',
    complexOrderStrategyType: 'VERTICAL',
    price: debit,
    quantity: 2,
    status: 'FILLED',
    orderLegCollection: [
      {
        legId: 1,
        instruction: 'BUY_TO_OPEN',
        quantity: 2,
        instrument: { symbol: low.symbol, putCall: 'CALL', underlyingSymbol: 'AAPL' },
      },
      { legId: 2, instruction: 'SELL_TO_OPEN', quantity: 2 },
    ],
  });
  const legIds = body.orderActivityCollection.flatMap((one: { executionLegs: { legId: number }[] }) =>
    one.executionLegs.map(({ legId }) => legId),
  );
  expect([...new Set(legIds)].sort()).toEqual([1, 2]);
  const share = { instruction: 'BUY', quantity: 100, instrument: { symbol: 'AAPL', assetType: 'EQUITY' } };
  for (const [wrong, message] of [
    [spread(1, [legs[0] ?? {}, share]), 'orderLegCollection may not join shares with other legs'],
    [spread(1, legs, { orderType: 'LIMIT' }), /^orderType must be NET_DEBIT/],
    [spread(1, legs, { quantity: 1 }), 'quantity must be the number of units of the legs'],
    [spread(-1, legs), 'price must not be negative'],
    [spread(1, legs, { orderType: 'NET_ZERO' }), 'price must be 0 for NET_ZERO'],
  ] as const)
    expect((await opened.send('POST', orders, wrong)).body.errors[0]).toMatch(message);
  const account = (await opened.send('GET', `/trader/v1/accounts/${opened.hash}?fields=positions`)).body
    .securitiesAccount;
  expect(account.positions).toMatchObject([
    { longQuantity: 2, shortQuantity: 0, instrument: { symbol: low.symbol, assetType: 'OPTION' } },
    { longQuantity: 0, shortQuantity: 2 },
  ]);
  expect(account.currentBalances.longOptionMarketValue).toBeGreaterThan(0);
  expect(account.currentBalances.shortOptionMarketValue).toBeLessThan(0);
  const range = 'startDate=2026-01-01T00:00:00.000Z&endDate=2026-02-01T00:00:00.000Z';
  const list = `/trader/v1/accounts/${opened.hash}/transactions`;
  const trades = (await opened.send('GET', `${list}?${range}&types=TRADE&symbol=AAPL`)).body;
  expect(trades).toHaveLength(2);
  expect(trades[0]).toMatchObject({ type: 'TRADE', activityType: 'EXECUTION', orderId: id });
  expect((await opened.send('GET', `${list}/${trades[1].activityId}`)).body).toEqual(trades[1]);
  const all = (await opened.send('GET', `${list}?${range}&types=TRADE,JOURNAL,CASH_RECEIPT`)).body as {
    netAmount: number;
  }[];
  const total = all.reduce((sum, { netAmount }) => sum + netAmount, 0);
  expect(total).toBeCloseTo(account.currentBalances.cashBalance, 2);
  for (const bad of [
    '',
    range,
    `${range}&types=LOAN`,
    `${range}&types=TRADE&symbol=NOPE`,
    'startDate=x&endDate=y&types=TRADE',
  ])
    expect((await opened.send('GET', `${list}?${bad}`)).status, bad).toBe(400);
  for (const unknown of ['1', '99999999999999'])
    expect((await opened.send('GET', `${list}/${unknown}`)).status).toBe(404);
});

it('no route answers 500 to arbitrary parameters and bodies', async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('AAPL', '1', '-1', '2026-01-05', 'positions', '9'.repeat(30)),
  );
  const names = fc.constantFrom(
    'symbol',
    'symbols',
    'fields',
    'date',
    'markets',
    'startDate',
    'types',
    'strike',
    'range',
    'period',
  );
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        orderStrategyType: fc.constantFrom('SINGLE', 'OCO', 'TRIGGER'),
        orderLegCollection: fc.jsonValue(),
        childOrderStrategies: fc.jsonValue(),
        price: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...schwab.routes),
      fc.array(fc.tuple(names, text), { maxLength: 4 }),
      text,
      body,
      async ({ method, path }, query, param, payload) => {
        const url = path.replace(':hash', opened.hash).replaceAll(/:\w+/g, encodeURIComponent(param) || 'x');
        const reply = await opened.send(
          method as 'GET',
          `${url}?${new URLSearchParams(query).toString()}`,
          method === 'GET' || method === 'DELETE' ? undefined : payload,
        );
        expect(reply.status, `${method} ${url} ${reply.text}`).toBeLessThan(500);
        if (reply.status >= 400) expect(Array.isArray(reply.body.errors)).toBe(true);
      },
    ),
    { numRuns: 100 },
  );
});
