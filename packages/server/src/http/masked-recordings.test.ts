/** Recordings behind a mask, and recordings as they were known at an instant (D209). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import schwab from '@sandpit/dialect-schwab';
import tradier from '@sandpit/dialect-tradier';
import { calendarById, TradingDate } from '@sandpit/core';
import { pathsOf, routeEntries } from '@sandpit/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyCompetition } from '../competitions/verify-competition.js';
import { alpacaPaths, alpacaSender, keyPairOf } from '../testing/alpaca.js';
import { type Body, openPortfolio, orderBody, TestApp, type TestClient } from '../testing/test-app.js';
import { settingsFiled } from './translate/competitions.js';

const XNYS = calendarById('XNYS');
const FIRST = TradingDate.of('2013-03-01');
/** Good Friday, on which the recording has no rows. */
const GOOD_FRIDAY = '2013-03-29';
const SESSIONS = 40;

const dates: TradingDate[] = [];
for (
  let date = FIRST;
  dates.length < SESSIONS;
  date = XNYS.plusBusinessDays(TradingDate.plusDays(date, 1), 0)
)
  dates.push(date);

/** The price of ZEBRA on each day tells which day it is: 1000.25 on the first, 1001.25 on the second. */
const dayOfPrice = /\b1(0\d\d)\.25\b/g;

function recording(): string {
  const path = mkdtempSync(join(tmpdir(), 'sandpit-mask-'));
  let daily = 'date,symbol,open,high,low,close,volume\n';
  for (const [day, date] of dates.entries()) {
    const zebra = `${1000 + day}.25`;
    daily += `${date},YAKKA,20.10,20.40,19.90,20.20,100000\n`;
    daily += `${date},ZEBRA,${zebra},${zebra},${zebra},${zebra},${250_000 + day}\n`;
    if (day >= 20) daily += `${date},NEWCO,8,8,8,8,1000\n`;
  }
  writeFileSync(join(path, 'daily_bars.csv'), daily);
  const minutes = (date: TradingDate): { trades: string; quotes: string } => {
    const open = XNYS.tradingDay(date)?.regularOpen ?? 0;
    let trades = 'ts,symbol,open,high,low,close,volume\n';
    let quotes =
      'ts,symbol,bid_open,bid_high,bid_low,bid_close,bid_size,ask_open,ask_high,ask_low,ask_close,ask_size\n';
    for (let minute = 0; minute < 60; minute++) {
      const ts = new Date(open + minute * 60_000).toISOString().replace('.000', '');
      trades += `${ts},YAKKA,20.1,20.3,20.1,20.2,1000\n`;
      quotes += `${ts},YAKKA,20.19,20.19,20.19,20.19,300,20.2,20.2,20.2,20.2,500\n`;
    }
    return { trades, quotes };
  };
  // The clocks change between these two.
  for (const date of ['2013-03-08', '2013-03-11']) {
    const { trades, quotes } = minutes(TradingDate.of(date));
    writeFileSync(join(path, `YAKKA_${date}_trades.csv`), trades);
    writeFileSync(join(path, `YAKKA_${date}_quotes.csv`), quotes);
  }
  writeFileSync(
    join(path, 'corporate_actions.csv'),
    [
      'ex_date,symbol,type,split_new_for_old,cash_per_share,declared',
      '2013-03-12,YAKKA,cash_dividend,,0.31,2013-03-04',
      '2013-04-10,ZEBRA,split,2:1,,',
      '2013-04-17,YAKKA,cash_dividend,,0.77,',
      '',
    ].join('\n'),
  );
  return path;
}

const path = recording();
let test: TestApp;
let owner: TestClient;

beforeAll(async () => {
  test = await TestApp.open({
    settings: { REPLAY_PATH: path, RATE_LIMIT_DEFAULT: '100000' },
  });
  owner = test.as({ tenantId: 'owner', tier: 'ENTERPRISE' });
}, 30_000);
afterAll(async () => {
  await test.close();
  rmSync(path, { recursive: true });
});

/** Tickers, dates and instants of the recording. */
const OF_THE_RECORDING = /ZEBRA|YAKKA|NEWCO|2013-0[2-5]|(?<![\d.])136[2-6]\d{6}(\d{3})?\b/i;

const CONTEST = {
  name: 'Masked cup',
  market: {
    feed: 'replay',
    clock: 'manual',
    start: '2013-03-08T09:45:00-05:00',
    end: '2013-04-05T16:00:00-04:00',
    replay: 'ZEBRA,YAKKA',
  },
  rules: {
    initialCash: 100_000,
    portfolioType: 'MARGIN',
    brokerId: 'default',
    assetClasses: ['EQUITY'],
    symbols: ['ZEBRA', 'YAKKA'],
  },
  scoring: 'TOTAL_RETURN',
  entry: 'OPEN',
  visibility: 'PUBLIC',
};

/** Every path that is read, with the names of the caller filled in. */
function paths(names: Readonly<Record<string, string>>): string[] {
  const filled = (template: string): string =>
    template.replaceAll(/:(\w+)/g, (_, name: string) => names[name] ?? names['symbol'] ?? '');
  return routeEntries.flatMap(([id, route]) =>
    route.method === 'GET' && !id.startsWith('stream')
      ? pathsOf(id, route).map(([, template]) => filled(template))
      : [],
  );
}

const QUERIES = (ticker: string): string[] => [
  '',
  `?symbol=${ticker}`,
  `?symbols=${ticker}`,
  `?symbols=${ticker}&timeframe=1Day&limit=100`,
  `?timeframe=1Day&limit=500`,
  `?timeframe=1Min&limit=500`,
  `?timeframe=1D`,
];

/** The text of the first chunk of a stream. */
async function firstOf(url: string, token: string | undefined): Promise<string> {
  const abort = new AbortController();
  const { port } = test.app.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${url}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: abort.signal,
  });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  abort.abort();
  return new TextDecoder().decode(first?.value);
}

describe('masked recordings', () => {
  it('GET: no route, dialect, stream or tool shows an entrant a ticker, date or instant of the recording', async () => {
    const created = await owner.post('/v1/competitions', CONTEST);
    expect(created.status, created.text).toBe(201);
    const { competitionId, simulationId: marketId, token: marketToken } = created.body;
    const entered = await test
      .as({ tenantId: 'entrant' })
      .post(`/v1/competitions/${competitionId}/entries`, { displayName: 'Ann' });
    const { portfolioId, entryId, token } = entered.body as Record<string, string>;
    const entrant = test.withToken(token);
    const market = test.withToken(marketToken as string);
    await owner.post(`/v1/competitions/${competitionId}/start`);
    const key = (await owner.get(`/v1/simulations/${marketId}/mask`)).body;
    expect(key).toMatchObject({ symbols: true, dates: 'SESSIONS', prices: true });
    const [yakka, zebra] = key.instruments as Body[];
    expect([yakka.symbol, zebra.symbol]).toEqual(['YAKKA', 'ZEBRA']);
    expect((await entrant.get(`/v1/simulations/${marketId}/mask`)).status).toBe(403);
    expect((await market.get(`/v1/simulations/${marketId}/mask`)).status).toBe(403);
    expect((await test.as({ tenantId: 'entrant' }).get(`/v1/simulations/${marketId}/mask`)).status).toBe(404);

    const orders: Body[] = [];
    const buy = async (symbol: string, more: object = {}): Promise<void> => {
      const body = orderBody(portfolioId ?? '', {
        symbol,
        orderType: 'MARKET',
        limitPrice: undefined,
        quantity: 5,
        ...more,
      });
      const reply = await entrant.post('/v1/orders', body);
      expect(reply.status, reply.text).toBe(201);
      orders.push(reply.body);
    };
    await buy(yakka.ticker as string);
    await buy(yakka.ticker as string, { orderType: 'LIMIT', limitPrice: 0.5, timeInForce: 'GTC' });
    const unlisted = await entrant.post('/v1/orders', orderBody(portfolioId ?? '', { symbol: 'YAKKA' }));
    expect(unlisted.status).toBe(400);
    await market.post('/v1/simulation/clock/advance', { by: 'P5D' });
    await buy(zebra.ticker as string);

    const { accountId } = (await entrant.get('/v1/accounts')).body.data[0] as { accountId: string };
    const { keyId, secretKey } = await keyPairOf(entrant, portfolioId ?? '');
    const names = {
      symbol: yakka.ticker as string,
      portfolioId: portfolioId ?? '',
      accountId,
      orderId: orders[0].orderId as string,
      simulationId: marketId as string,
      competitionId: competitionId as string,
      entryId: entryId ?? '',
      exchange: 'XNYS',
      market: 'NYSE',
      id: orders[0].orderId as string,
      keyId,
    };
    const seen: string[] = [];
    let answered = 0;
    const look = async (client: TestClient, url: string): Promise<void> => {
      const { body, statusCode } = await test.app.inject({
        method: 'GET',
        url,
        headers: client.token === undefined ? {} : { authorization: `Bearer ${client.token}` },
      });
      if (statusCode < 300) answered++;
      if (OF_THE_RECORDING.test(body)) seen.push(`${url}: ${OF_THE_RECORDING.exec(body)?.[0] ?? ''}`);
    };
    const visitors = [entrant, test.as({ tenantId: 'entrant' }), test.withToken(undefined)];
    const own = paths(names).filter((url) =>
      /market-data|instruments|orders|portfolios|compet|calendar/.test(url),
    );
    for (const url of paths(names)) for (const client of visitors) await look(client, url);
    for (const url of own)
      for (const query of QUERIES(yakka.ticker as string).slice(1)) await look(entrant, `${url}${query}`);
    for (const url of paths(names)) await look(entrant, `/paperinvest${url}`);
    const send = alpacaSender(test, { keyId, secretKey });
    for (const template of alpacaPaths()) {
      const url = template.replace('::', ':').replaceAll(/(?<=\/):(\w+)/g, (_, name: string) => {
        const known: Readonly<Record<string, string>> = names;
        return known[name] ?? names.symbol;
      });
      for (const query of QUERIES(names.symbol)) {
        const { body, status } = await send('GET', `${url}${query}`);
        if (status < 300) answered++;
        const text = JSON.stringify(body ?? '');
        if (OF_THE_RECORDING.test(text))
          seen.push(`/alpaca${url}: ${OF_THE_RECORDING.exec(text)?.[0] ?? ''}`);
      }
    }
    for (const { method, path } of tradier.routes) {
      if (method !== 'GET' || path === '/v1/markets/events') continue;
      const url = `/tradier${path.replace(':account', 'VA00000001').replaceAll(/:\w+/g, '1')}`;
      for (const name of ['symbol', 'symbols', 'q', 'underlying'])
        await look(entrant, `${url}?${name}=${names.symbol}`);
      await look(entrant, url);
    }
    for (const { method, path } of schwab.routes) {
      if (method !== 'GET' || !/^\/marketdata|accounts$/.test(path)) continue;
      const url = `/schwab${path.replaceAll(/:\w+/g, names.symbol)}`;
      for (const query of ['', 'periodType=year&', 'projection=search&'])
        await look(entrant, `${url}?${query}symbol${path.endsWith('quotes') ? 's' : ''}=${names.symbol}`);
    }
    for (const [name, args] of [
      ['list_accounts', {}],
      ['get_quote', { symbol: names.symbol }],
      ['list_orders', { portfolioId }],
      ['get_portfolio', { portfolioId }],
      ['get_bars', { symbol: names.symbol, timeframe: '1Day' }],
      ['get_history', { portfolioId }],
      ['get_clock', {}],
      ['get_market_hours', {}],
      ['list_simulations', {}],
    ] as const) {
      const { body } = await test.app.inject({
        method: 'POST',
        url: '/mcp',
        headers: { accept: 'application/json, text/event-stream', authorization: `Bearer ${token ?? ''}` },
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      });
      if (OF_THE_RECORDING.test(body)) seen.push(`tool ${name}: ${body.slice(0, 300)}`);
    }
    await test.app.listen({ port: 0, host: '127.0.0.1' });
    for (const url of [
      `/v1/stream/quotes?symbols=${names.symbol}`,
      `/v1/stream/orders?portfolioId=${names.portfolioId}`,
      `/v1/stream/portfolios?portfolioId=${names.portfolioId}`,
      `/v1/competitions/${names.competitionId}/leaderboard/stream`,
    ]) {
      const text = await firstOf(url, token);
      if (OF_THE_RECORDING.test(text)) seen.push(`${url}: ${text.slice(0, 300)}`);
    }
    expect(seen).toEqual([]);
    expect(answered).toBeGreaterThan(150);

    const shown = (await entrant.get(`/v1/competitions/${competitionId}`)).body;
    expect(shown.market).toMatchObject({
      mask: { symbols: true, dates: 'SESSIONS', prices: true },
      replay: [zebra.ticker, yakka.ticker].join(','),
    });
    expect(shown.rules.symbols).toEqual([zebra.ticker, yakka.ticker]);
    const organized = (await owner.get(`/v1/competitions/${competitionId}`)).body;
    expect(organized.market).toEqual(CONTEST.market);

    // The result and what follows from it are as masked, and `verify` decides the same.
    await market.post('/v1/simulation/clock/advance', { to: shown.market.end as string });
    const finished = await owner.get(`/v1/competitions/${competitionId}`);
    expect(finished.body.status).toBe('FINISHED');
    const board = await entrant.get(`/v1/competitions/${competitionId}/leaderboard`);
    expect(board.body.rows[0].trades).toBe(2);
    expect(board.text).not.toMatch(OF_THE_RECORDING);
    const { body: text } = await test.app.inject({
      method: 'GET',
      url: `/v1/competitions/${competitionId}/export`,
      headers: { authorization: `Bearer ${owner.token ?? ''}` },
    });
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-masked-'));
    const file = join(directory, 'cup.ndjson');
    const problemsOf = async (content: string): Promise<readonly string[]> => {
      writeFileSync(file, content);
      return (await verifyCompetition(file, settingsFiled)).problems;
    };
    expect(await problemsOf(text)).toEqual([]);
    // Behind the mask, too, the settings are those of the journals.
    const { rules, market: asWritten } = organized as { rules: Body; market: Body };
    expect(
      await problemsOf(text.replace(JSON.stringify(rules.symbols), JSON.stringify(['ZEBRA', 'OTHER']))),
    ).toEqual(['market, rules and scoring are not those that the journals were begun with']);
    const end = new Date(Date.parse(asWritten.end as string) - 60_000).toISOString();
    expect(await problemsOf(text.replace(asWritten.end as string, end))).toContain(
      'market.end is not that of the journals',
    );
    rmSync(directory, { recursive: true });
  }, 60_000);

  it('prices are multiplied to the tick, sizes divided to the lot, and dates moved with their calendar', async () => {
    const created = await owner.post('/v1/simulations', {
      feed: 'replay',
      clock: 'manual',
      start: '2013-03-08T09:45:00-05:00',
      mask: true,
    });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({
      start: '2013-03-08T14:45:00.000Z',
      mask: { symbols: true, dates: true, prices: true },
      calendar: 'XNYS',
    });
    const { simulationId, token } = created.body as Record<string, string>;
    const client = test.withToken(token);
    const key = (await owner.get(`/v1/simulations/${simulationId ?? ''}/mask`)).body;
    const { ticker, factor, sizeFactor } = (key.instruments as Body[]).find(
      ({ symbol }) => symbol === 'YAKKA',
    )!;
    expect(ticker).toMatch(/^[B-DF-HJ-NP-TV-XZ]{5}$/);
    expect(factor).toBeGreaterThanOrEqual(0.2);
    expect(factor).toBeLessThanOrEqual(5);
    const quote = (await client.get(`/v1/market-data/quote/${ticker as string}`)).body;
    const cents = (recorded: number): number =>
      Math.floor((recorded * Math.round(factor * 10_000) + 5000) / 10_000);
    expect(quote.bid).toBe(cents(2019) / 100);
    expect(quote.ask).toBe(Math.max(cents(2020), cents(2019) + 1) / 100);
    expect(quote.bidSize % 100).toBe(0);
    expect(sizeFactor).toBeGreaterThanOrEqual(0.5);
    expect(sizeFactor).toBeLessThanOrEqual(2);
    expect(quote.bidSize).toBe(Math.max(1, Math.round((3 * sizeFactor) / factor)) * 100);
    const moved = (date: string): TradingDate =>
      TradingDate.plusDays(TradingDate.of(date), 7 * (key.weeks as number));
    const calendar = await client.get(
      `/v1/market-data/calendar?from=${moved('2013-03-25')}&to=${moved('2013-04-01')}`,
    );
    const open =
      calendar.status === 200 ? (calendar.body.days as Body[]).map(({ date }) => date as string) : [];
    expect(open).toEqual(['2013-03-25', '2013-03-26', '2013-03-27', '2013-03-28', '2013-04-01'].map(moved));
    expect(open).not.toContain(moved(GOOD_FRIDAY));
    // A token that lives in there sees neither its origin nor a way back.
    const inside = await client.get(`/v1/simulations/${simulationId ?? ''}`);
    expect(inside.text).not.toMatch(OF_THE_RECORDING);
    expect((await client.get(`/v1/simulations/${simulationId ?? ''}/mask`)).status).toBe(404);
    expect((await client.get(`/v1/simulations/${simulationId ?? ''}/export`)).status).toBe(404);
    expect((await client.get('/v1/simulations')).text).not.toMatch(OF_THE_RECORDING);
    // Minutes after the change of the clocks are minutes after the bell of the moved day.
    await client.post('/v1/simulation/clock/advance', { by: 'P3D' });
    const bars = await client.get(
      `/v1/market-data/bars/${ticker as string}?timeframe=1Min&from=${moved('2013-03-11')}&limit=100`,
    );
    const first = (bars.body.bars as Body[])[0];
    const bell = (
      await client.get(`/v1/market-data/calendar?from=${moved('2013-03-11')}&to=${moved('2013-03-11')}`)
    ).body;
    expect(first.timestamp).toBe(Date.parse(bell.days[0].open as string));
    // A fork continues behind the same mask; so does a copy that traveled in a file.
    const forked = await owner.post(`/v1/simulations/${simulationId ?? ''}/forks`, {});
    expect(forked.status, forked.text).toBe(201);
    const fork = test.withToken(forked.body.token as string);
    expect((await fork.get('/v1/market-data/instruments')).body).toEqual(
      (await client.get('/v1/market-data/instruments')).body,
    );
    expect((await fork.get(`/v1/simulations/${forked.body.simulationId as string}`)).text).not.toMatch(
      OF_THE_RECORDING,
    );
    // Another simulation has another mask.
    const other = await owner.post('/v1/simulations', {
      ...CONTEST.market,
      end: undefined,
      mask: true,
      replay: undefined,
    });
    const second = (await owner.get(`/v1/simulations/${other.body.simulationId as string}/mask`)).body;
    expect(second.instruments).not.toEqual(key.instruments);
  });

  it('dates SESSIONS: recorded sessions are consecutive weekdays, and the calendar has no holidays in either direction', async () => {
    const created = await owner.post('/v1/simulations', {
      feed: 'replay',
      clock: 'manual',
      start: '2013-04-09T10:00:00-04:00',
      mask: { dates: 'SESSIONS' },
    });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({
      start: '2013-04-09T14:00:00.000Z',
      mask: { symbols: true, dates: 'SESSIONS', prices: true },
      calendar: 'XNYS',
    });
    const { simulationId, token } = created.body as Record<string, string>;
    const client = test.withToken(token);
    const mask = `/v1/simulations/${simulationId ?? ''}/mask`;
    const key = (await owner.get(mask)).body;
    expect(key.dates).toBe('SESSIONS');
    const zebra = (key.instruments as Body[]).find(({ symbol }) => symbol === 'ZEBRA')!;
    const first = TradingDate.plusDays(FIRST, 7 * (key.weeks as number));
    const weekdays: TradingDate[] = [];
    for (let date = first; weekdays.length < 33; date = TradingDate.plusDays(date, 1))
      if (![0, 6].includes(new Date(`${date}T00:00Z`).getUTCDay())) weekdays.push(date);
    const from = TradingDate.plusDays(first, -300);
    const to = TradingDate.plusDays(first, 60);
    const { days } = (await client.get(`/v1/market-data/calendar?from=${from}&to=${to}`)).body as {
      days: Body[];
    };
    const between = [];
    for (let date = from; date <= to; date = TradingDate.plusDays(date, 1))
      if (![0, 6].includes(new Date(`${date}T00:00Z`).getUTCDay())) between.push(date);
    expect(days.map(({ date }) => date as string)).toEqual(between);
    // 2013-04-10 is the 28th session.
    const { actions } = (await client.get('/v1/simulation/corporate-actions')).body as { actions: Body[] };
    expect(actions.map(({ type, exDate }) => [type, exDate])).toEqual([
      ['SPLIT', weekdays[27]],
      ['CASH_DIVIDEND', weekdays[32]],
    ]);
    await client.post('/v1/simulation/clock/advance', { by: 'P8DT7H' });
    const { bars } = (
      await client.get(`/v1/market-data/bars/${zebra.ticker as string}?timeframe=1Day&limit=100`)
    ).body as { bars: { timestamp: number }[] };
    // 33 sessions with Good Friday among them.
    expect(bars.map(({ timestamp }) => XNYS.dateOf(timestamp as never))).toEqual(weekdays);
    expect((await client.get('/v1/simulations')).text).not.toMatch(OF_THE_RECORDING);
    // A copy that traveled in a file is behind the same mask; one with another first session is refused.
    const { body: file } = await test.app.inject({
      method: 'GET',
      url: `/v1/simulations/${simulationId ?? ''}/export`,
      headers: { authorization: `Bearer ${owner.token ?? ''}` },
    });
    const importing = (payload: string) =>
      owner.inject({
        method: 'POST',
        url: '/v1/simulations/import',
        headers: { 'content-type': 'application/x-ndjson' },
        payload,
      });
    const copy = await importing(file);
    expect(copy.status, copy.text).toBe(202);
    const copied = `/v1/simulations/${copy.body.simulationId as string}`;
    await expect
      .poll(async () => (await owner.get(copied)).body, { timeout: 20_000 })
      .toMatchObject({ status: 'READY' });
    expect((await owner.get(`${copied}/mask`)).body.instruments).toEqual(key.instruments);
    for (const wrong of ['2013-03-04', '2013-03-02', 'x'])
      expect((await importing(file.replace('"sessions":"2013-03-01"', `"sessions":"${wrong}"`))).status).toBe(
        400,
      );
  });

  it('refuses masks of other feeds, of wall clocks and of symbols that are not recorded', async () => {
    for (const [body, message] of [
      [{ feed: 'push', clock: 'manual', mask: true }, 'mask should not exist for push feeds'],
      [{ feed: 'replay', clock: 'wall', mask: true }, 'mask must not move dates on wall clocks'],
      [{ feed: 'replay', clock: 'manual', mask: 'yes' }, 'mask must be a boolean or an object'],
      [
        { feed: 'replay', clock: 'manual', mask: { dates: 'WEEKS' } },
        'mask.dates must be a boolean or SESSIONS',
      ],
      [
        { feed: 'replay', clock: 'wall', mask: { dates: 'SESSIONS' } },
        'mask must not move dates on wall clocks',
      ],
    ] as const) {
      const reply = await owner.post('/v1/simulations', body);
      expect([reply.status, reply.body.message]).toEqual([400, [message]]);
    }
    const rule = await owner.post('/v1/competitions', {
      ...CONTEST,
      rules: { ...CONTEST.rules, symbols: ['AAPL'] },
    });
    expect([rule.status, rule.body.message]).toEqual([400, ['rules.symbols: AAPL is not recorded']]);
    const daily = join(path, 'options_2013-03-08_trades.csv');
    writeFileSync(
      daily,
      'ts,symbol,open,high,low,close,volume\n2013-03-08T14:30:00Z,YAKKA130420C00020000,1,1,1,1,5\n',
    );
    const withOptions = await TestApp.open({ settings: { REPLAY_PATH: path } });
    const replayed = { feed: 'replay', clock: 'manual', start: '2013-03-08T09:45:00-05:00', mask: true };
    const trader = withOptions.as({ tier: 'ENTERPRISE' });
    const refused = await trader.post('/v1/simulations', replayed);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      ['mask: Only a recording of equities can be masked'],
    ]);
    expect((await trader.post('/v1/simulations', { ...replayed, replay: 'ZEBRA' })).status).toBe(201);
    await withOptions.close();
    rmSync(daily);
    const plain = await owner.post('/v1/competitions', {
      ...CONTEST,
      market: { ...CONTEST.market, mask: false },
    });
    const stranger = await test
      .withToken(undefined)
      .get(`/v1/competitions/${plain.body.competitionId as string}`);
    expect(stranger.body.market.replay).toBe('ZEBRA,YAKKA');
  });
});

describe('point in time', () => {
  it('no route tells of a day, an instrument or an action of the recording before it is known', async () => {
    let seed = 20_130_308;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed % below;
    };
    const created = await owner.post('/v1/simulations', {
      feed: 'replay',
      clock: 'manual',
      start: '2013-03-01T09:31:00-05:00',
    });
    const { token } = created.body as Record<string, string>;
    const client = test.withToken(token);
    const { portfolioId, accountId } = (await openPortfolio(client)) as Record<string, string>;
    const names = {
      symbol: 'ZEBRA',
      portfolioId: portfolioId ?? '',
      accountId: accountId ?? '',
      exchange: 'XNYS',
      simulationId: created.body.simulationId as string,
    };
    const all = paths(names).filter((url) => !/export|competitions|tenant|admin/.test(url));
    const { keyId, secretKey } = await keyPairOf(client, portfolioId ?? '');
    const send = alpacaSender(test, { keyId, secretKey });
    const data = alpacaPaths().map((template) =>
      template.replace('::', ':').replaceAll(/(?<=\/):\w+/g, 'ZEBRA'),
    );
    const found: string[] = [];
    const seen = new Set<number>();
    const exported = `/v1/simulations/${names.simulationId}/export`;
    const early = await test.app.inject({
      method: 'GET',
      url: exported,
      headers: { authorization: `Bearer ${owner.token ?? ''}` },
    });
    expect(early.statusCode).toBe(200);
    for (let [day, round] = [0, 0]; day < dates.length - 2; round++) {
      const date = dates[day] ?? FIRST;
      const at = XNYS.instantOf(date, 9 + random(7), 31 + random(29));
      await client.post('/v1/simulation/clock/advance', { to: new Date(at).toISOString() });
      const look = (where: string, text: string): void => {
        for (const [, told] of text.matchAll(dayOfPrice)) {
          seen.add(Number(told));
          if (Number(told) > day) found.push(`${date} ${where}: day ${told ?? ''}`);
        }
        if (day < 20 && text.includes('NEWCO')) found.push(`${date} ${where}: NEWCO`);
        if (date < '2013-03-27' && /"2:1"|2013-04-10/.test(text) && /split/i.test(text))
          found.push(`${date} ${where}: split`);
        if (date < '2013-04-03' && text.includes('0.77')) found.push(`${date} ${where}: dividend`);
        if (date < '2013-03-04' && text.includes('0.31')) found.push(`${date} ${where}: declared dividend`);
      };
      const always = [
        '/v1/market-data/bars/ZEBRA?timeframe=1Day',
        '/v1/simulation/corporate-actions',
        `${exported}?`,
      ];
      for (const url of [...always, ...Array.from({ length: 12 }, () => all[random(all.length)] ?? '')]) {
        const query = url.includes('?') ? '' : (QUERIES('ZEBRA')[random(7)] ?? '');
        const { body } = await test.app.inject({
          method: 'GET',
          url: `${url}${query}`,
          headers: { authorization: `Bearer ${token ?? ''}` },
        });
        look(url, body);
      }
      for (let i = 0; i < 6; i++) {
        const url = data[random(data.length)] ?? '';
        const later = '&start=2013-01-01&end=2013-12-31&types=cash_dividend,forward_split';
        const { body } = await send('GET', `${url}${QUERIES('ZEBRA')[3] ?? ''}${later}`);
        look(`alpaca ${url}`, JSON.stringify(body ?? ''));
      }
      day += 1 + random(5);
    }
    expect(found).toEqual([]);
    expect(seen.size).toBeGreaterThan(15);
    const actions = await client.get('/v1/simulation/corporate-actions');
    expect(actions.text).toContain('2013-04-17');

    // An import of the early file continues with the recording, and lists the instrument on its day.
    const { body: copy } = await owner.inject({
      method: 'POST',
      url: '/v1/simulations/import',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: early.body,
    });
    const imported = `/v1/simulations/${copy.simulationId as string}`;
    await expect
      .poll(async () => (await owner.get(imported)).body, { timeout: 20_000 })
      .toMatchObject({
        status: 'READY',
      });
    const copied = test.withToken(copy.token as string);
    const newcoOn = async (day: number): Promise<number> => {
      const to = new Date(XNYS.instantOf(dates[day] ?? FIRST, 16, 30)).toISOString();
      await copied.post('/v1/simulation/clock/advance', { to });
      const { body } = await copied.get('/v1/market-data/instruments?symbol=NEWCO');
      return (body.data as Body[]).length;
    };
    expect([await newcoOn(19), await newcoOn(20)]).toEqual([0, 1]);
  }, 60_000);
});
