import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTradierAccount, type TradierAccount } from './account.js';

let opened: TradierAccount;

beforeAll(async () => {
  opened = await openTradierAccount({ config: { feed: 'synthetic' } });
});

afterAll(() => opened.test.close());

const get = (url: string) => opened.send('GET', url);
const body = async (url: string) => (await get(url)).body;

it('quotes: one is an object, several a list in the order asked for, unknown ones apart; by GET and POST', async () => {
  const one = (await body('/v1/markets/quotes?symbols=AAPL')).quotes.quote;
  expect(one).toMatchObject({ symbol: 'AAPL', type: 'stock', exch: 'Q', close: null, root_symbols: 'AAPL' });
  expect(one.ask).toBeGreaterThan(one.bid);
  expect(one.change).toBeCloseTo(one.last - one.prevclose, 2);
  expect(one.week_52_high).toBeGreaterThan(one.week_52_low);
  const { quotes } = (
    await opened.send('POST', '/v1/markets/quotes', { symbols: 'MSFT,NOPE,AAPL,BRK/B', greeks: 'False' })
  ).body;
  expect(quotes.quote.map((quote: { symbol: string }) => quote.symbol)).toEqual(['MSFT', 'AAPL', 'BRK/B']);
  expect(quotes.unmatched_symbols.symbol).toBe('NOPE');
  // As lumiwealth-tradier sends it.
  expect((await body('/v1/markets/quotes?symbols=AAPL&False=False')).quotes.quote.symbol).toBe('AAPL');
  expect((await get('/v1/markets/quotes')).text).toBe('Invalid parameter, symbols: is required.');
});

it('options: expirations, strikes, chains and quotes agree; Greeks come when they are asked for', async () => {
  const dates = (await body('/v1/markets/options/expirations?symbol=AAPL')).expirations.date as string[];
  const detailed = (
    await body('/v1/markets/options/expirations?symbol=AAPL&strikes=true&expirationType=True&contractSize=1')
  ).expirations.expiration;
  expect(detailed.map(({ date }: { date: string }) => date)).toEqual(dates);
  const { date, strikes } = detailed.find(
    ({ expiration_type }: { expiration_type: string }) => expiration_type === 'standard',
  );
  expect(
    (await body(`/v1/markets/options/strikes?symbol=AAPL&expiration=${date as string}`)).strikes.strike,
  ).toEqual(strikes.strike);
  const chain = (
    await body(`/v1/markets/options/chains?symbol=AAPL&expiration=${date as string}&greeks=true`)
  ).options.option as Record<string, unknown>[];
  expect(chain).toHaveLength(strikes.strike.length * 2);
  const middle = chain[Math.floor(chain.length / 2)] ?? {};
  expect(middle).toMatchObject({
    underlying: 'AAPL',
    expiration_date: date,
    contract_size: 100,
    type: 'option',
  });
  const { symbol } = middle as { symbol: string };
  const quote = (await body(`/v1/markets/quotes?symbols=${symbol}&greeks=true`)).quotes.quote;
  for (const name of ['bid', 'ask', 'strike', 'option_type', 'greeks', 'description'])
    expect(quote[name], name).toEqual(middle[name]);
  expect((await body(`/v1/markets/quotes?symbols=${symbol}`)).quotes.quote).not.toHaveProperty('greeks');
  const { symbols } = await body('/v1/markets/options/lookup?underlying=AAPL');
  expect(symbols[0].options).toContain(symbol);
  for (const [url, root] of [
    ['expirations?symbol=NOPE', 'expirations'],
    ['strikes?symbol=NOPE&expiration=2026-01-16', 'strikes'],
    ['chains?symbol=AAPL&expiration=2026-01-13', 'options'],
    ['lookup?underlying=NOPE', 'symbols'],
  ] as const)
    expect((await get(`/v1/markets/options/${url}`)).text, url).toBe(`{"${root}":null}`);
});

it('history: days, weeks and months of a range; none is null', async () => {
  const days = (await body('/v1/markets/history?symbol=AAPL&start=2025-12-22&end=2026-01-02')).history.day;
  expect(days.map(({ date }: { date: string }) => date)).toEqual([
    '2025-12-22',
    '2025-12-23',
    '2025-12-24',
    '2025-12-26',
    '2025-12-29',
    '2025-12-30',
    '2025-12-31',
    '2026-01-02',
  ]);
  const one = (await body('/v1/markets/history?symbol=AAPL&interval=weekly&start=2025-12-22&end=2025-12-26'))
    .history.day;
  expect(one.volume).toBe(
    days.slice(0, 4).reduce((sum: number, { volume }: { volume: number }) => sum + volume, 0),
  );
  expect(
    (await body('/v1/markets/history?symbol=AAPL&interval=monthly&start=2025-11-01&end=2025-12-31')).history
      .day,
  ).toHaveLength(2);
  expect(await body('/v1/markets/history?symbol=AAPL&start=2025-12-25&end=2025-12-25')).toEqual({
    history: null,
  });
  expect(await body('/v1/markets/history?symbol=NOPE')).toEqual({ history: null });
  for (const query of [
    'symbol=AAPL&interval=hourly',
    'symbol=AAPL&start=2026-02-30',
    'symbol=AAPL&start=2026-01-02&end=2026-01-01',
    'interval=daily',
  ])
    expect((await get(`/v1/markets/history?${query}`)).status, query).toBe(400);
});

it('timesales: minutes in New York time, in the regular session or in all', async () => {
  const at = 'symbol=AAPL&start=2026-01-05 09:30&end=2026-01-05 09:59';
  const minutes = (await body(`/v1/markets/timesales?${at}&interval=1min&session_filter=open`)).series.data;
  expect(minutes).toHaveLength(30);
  expect(minutes[0]).toMatchObject({ time: '2026-01-05T09:30:00', timestamp: 1_767_623_400 });
  expect((await body(`/v1/markets/timesales?${at}&interval=15min`)).series.data).toHaveLength(2);
  expect((await get(`/v1/markets/timesales?${at}&interval=tick`)).text).toBe(
    'Invalid parameter, interval: must be one of 1min, 5min, 15min.',
  );
  expect(await body('/v1/markets/timesales?symbol=AAPL&start=2026-01-04&end=2026-01-04 12:00')).toEqual({
    series: null,
  });
});

it('clock and calendar: states, changes, holidays and early closes', async () => {
  expect((await body('/v1/markets/clock')).clock).toMatchObject({
    date: '2026-01-05',
    state: 'open',
    next_change: '16:00',
    next_state: 'postmarket',
  });
  const { days } = (await body('/v1/markets/calendar?month=11&year=2026')).calendar;
  expect(days.day).toHaveLength(30);
  expect(days.day[25]).toEqual({ date: '2026-11-26', status: 'closed', description: 'Market is closed' });
  expect(days.day[26].open).toEqual({ start: '09:30', end: '13:00' });
  expect((await body('/v1/markets/calendar')).calendar).toMatchObject({ month: 1, year: 2026 });
  expect((await get('/v1/markets/calendar?month=13')).status).toBe(400);
});

it('search and lookup find securities by symbol and name; etb lists what can be borrowed', async () => {
  expect((await body('/v1/markets/search?q=apple')).securities.security.symbol).toBe('AAPL');
  expect((await body('/v1/markets/lookup?q=BRK/B&types=stock')).securities.security.symbol).toBe('BRK/B');
  expect(await body('/v1/markets/lookup?q=ZZZZZZ')).toEqual({ securities: null });
  expect((await get('/v1/markets/lookup?q=A&types=fund')).status).toBe(400);
  expect((await body('/v1/markets/etb')).securities.security.length).toBeGreaterThan(10);
  expect((await get('/beta/markets/fundamentals/company?symbols=AAPL')).text).toBe('[]');
});

it('multileg: a spread at the market and for a credit, with its legs, strategy and net prices', async () => {
  const orders = `/v1/accounts/${opened.account}/orders`;
  const date = (await body('/v1/markets/options/expirations?symbol=AAPL')).expirations.date[3] as string;
  const chain = (await body(`/v1/markets/options/chains?symbol=AAPL&expiration=${date}`)).options.option as {
    symbol: string;
    option_type: string;
    strike: number;
    bid: number;
    ask: number;
  }[];
  const spot = (await body('/v1/markets/quotes?symbols=AAPL')).quotes.quote.last as number;
  const calls = chain.filter(({ option_type, strike }) => option_type === 'call' && strike > spot);
  const [near, far] = [calls[0]!, calls[2]!];
  const legs = {
    'option_symbol[0]': near.symbol,
    'option_symbol[1]': far.symbol,
    'quantity[0]': 2,
    'quantity[1]': 2,
  };
  const spread = { class: 'multileg', symbol: 'AAPL', duration: 'day', ...legs };
  const bought = await opened.send('POST', orders, {
    ...spread,
    type: 'market',
    'side[0]': 'buy_to_open',
    'side[1]': 'sell_to_open',
  });
  const order = (await body(`${orders}/${bought.body.order.id as number}`)).order;
  expect(order).toMatchObject({
    class: 'multileg',
    type: 'market',
    strategy: 'spread',
    status: 'filled',
    num_legs: 2,
    quantity: 2,
  });
  expect(order.avg_fill_price).toBeCloseTo(order.leg[0].avg_fill_price - order.leg[1].avg_fill_price, 6);
  expect(
    order.leg.map((leg: Record<string, unknown>) => [
      leg['side'],
      leg['option_symbol'],
      leg['exec_quantity'],
    ]),
  ).toEqual([
    ['buy_to_open', near.symbol, 2],
    ['sell_to_open', far.symbol, 2],
  ]);
  const leg = (await body(`${orders}/${order.leg[1].id as number}`)).order;
  expect(leg).toEqual(order.leg[1]);
  expect((await opened.send('PUT', `${orders}/${leg.id as number}`, { price: 1 })).status).toBe(400);
  const sold = await opened.send('POST', orders, {
    ...spread,
    type: 'credit',
    price: 9.5,
    'side[0]': 'sell_to_close',
    'side[1]': 'buy_to_close',
  });
  const id = sold.body.order.id as number;
  expect((await body(`${orders}/${id}`)).order).toMatchObject({ type: 'credit', price: 9.5, status: 'open' });
  expect((await opened.send('PUT', `${orders}/${id}`, { price: 9 })).status).toBe(200);
  expect((await body(`${orders}/${id}`)).order).toMatchObject({ type: 'credit', price: 9 });
  expect((await opened.send('DELETE', `${orders}/${id}`)).status).toBe(200);
  const option = {
    class: 'option',
    symbol: 'AAPL',
    duration: 'day',
    type: 'market',
    quantity: 1,
    option_symbol: near.symbol.toLowerCase(),
  };
  const single = await opened.send('POST', orders, { ...option, side: 'buy_to_open' });
  expect((await body(`${orders}/${single.body.order.id as number}`)).order).toMatchObject({
    class: 'option',
    symbol: 'AAPL',
    option_symbol: near.symbol,
    side: 'buy_to_open',
    status: 'filled',
  });
  expect((await opened.send('POST', orders, { ...option, symbol: 'MSFT', side: 'buy_to_open' })).text).toBe(
    'Invalid parameter, symbol: must be the underlying of option_symbol.',
  );
});
