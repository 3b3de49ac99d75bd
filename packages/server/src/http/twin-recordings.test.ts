/** Twins: recordings that are equal up to an instant give equal answers at that instant, byte for byte (D209). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tradier from '@sandpit/dialect-tradier';
import { calendarById, TradingDate } from '@sandpit/core';
import { pathsOf, routeEntries } from '@sandpit/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alpacaPaths, keyPairOf } from '../testing/alpaca.js';
import { type Body, openPortfolio, orderBody, TestApp, type TestClient } from '../testing/test-app.js';

const XNYS = calendarById('XNYS');
const FIRST = TradingDate.of('2013-03-01');
const SESSIONS = 45;
const NOW = '2013-04-10T10:30:00-04:00';
const TODAY = TradingDate.of('2013-04-10');

const dates: TradingDate[] = [];
for (
  let date = FIRST;
  dates.length < SESSIONS;
  date = XNYS.plusBusinessDays(TradingDate.plusDays(date, 1), 0)
)
  dates.push(date);

/** A recording. With `future` 0 or 1 everything after 10:30 of the present day is another: rows, symbols, actions, and how long it goes on. */
function recording(future: 0 | 1): string {
  const path = mkdtempSync(join(tmpdir(), 'sandpit-twin-'));
  let daily = 'date,symbol,open,high,low,close,volume\n';
  for (const [day, date] of dates.entries()) {
    const isLater = date >= TODAY;
    if (isLater && future === 1 && day > 40) continue;
    const base = 100 + day + (isLater ? 10 * (future + 1) : 0);
    const volume = isLater ? 777_000 * (future + 1) : 100_000 + 10 * day;
    // The open of the present day is known since 09:30.
    const open = date === TODAY ? 100 + day : base;
    daily += `${date},AAA,${open},${base + 12},${base - 22},${base + 1},${volume}\n`;
    if (day >= 5) daily += `${date},BBB,20,21,19,20.5,${isLater ? 5000 + future : 4000}\n`;
    if (isLater && date > TODAY && future === 1) daily += `${date},LATER,8,8,8,8,1000\n`;
    if (isLater && date > TODAY && future === 0) daily += `${date},OTHER,9,9,9,9,1000\n`;
  }
  writeFileSync(join(path, 'daily_bars.csv'), daily);
  for (const date of ['2013-04-09', '2013-04-10', '2013-04-11']) {
    const open = XNYS.tradingDay(TradingDate.of(date))?.regularOpen ?? 0;
    let trades = 'ts,symbol,open,high,low,close,volume\n';
    let quotes =
      'ts,symbol,bid_open,bid_high,bid_low,bid_close,bid_size,ask_open,ask_high,ask_low,ask_close,ask_size\n';
    for (let minute = 0; minute < 120; minute++) {
      // The minute that begins at 10:29 is known at 10:30.
      const isLater = date > TODAY || (date === TODAY && minute >= 60);
      if (isLater && future === 1 && minute % 3 === 0) continue;
      const ts = new Date(open + minute * 60_000).toISOString().replace('.000', '');
      const at = 110 + minute / 100 + (isLater ? 5 + future * 7 : 0);
      trades += `${ts},AAA,${at.toFixed(2)},${(at + 0.1).toFixed(2)},${(at - 0.1).toFixed(2)},${at.toFixed(2)},${isLater ? 900 + future : 1000}\n`;
      quotes += `${ts},AAA,${at.toFixed(2)},${at.toFixed(2)},${at.toFixed(2)},${at.toFixed(2)},300,${(at + 0.02).toFixed(2)},${(at + 0.02).toFixed(2)},${(at + 0.02).toFixed(2)},${(at + 0.02).toFixed(2)},${isLater ? 400 + future : 500}\n`;
    }
    writeFileSync(join(path, `AAA_${date}_trades.csv`), trades);
    writeFileSync(join(path, `AAA_${date}_quotes.csv`), quotes);
  }
  writeFileSync(
    join(path, 'corporate_actions.csv'),
    [
      'ex_date,symbol,type,split_new_for_old,cash_per_share,declared',
      '2013-04-08,AAA,cash_dividend,,0.31,2013-03-04',
      '2013-04-16,BBB,cash_dividend,,0.2,',
      ...(future === 0
        ? ['2013-04-25,AAA,split,2:1,,2013-04-11']
        : ['2013-04-26,AAA,cash_dividend,,1.23,', '2013-04-29,BBB,split,3:1,,2013-04-12']),
      '',
    ].join('\n'),
  );
  return path;
}

/** A server on one of the recordings, with the same history of requests. */
class Twin {
  readonly path: string;
  readonly test: TestApp;
  readonly #client: TestClient;
  readonly names: Readonly<Record<string, string>>;
  readonly keys: { readonly keyId: string; readonly secretKey: string };
  /** Ids that are drawn at random, by name. */
  readonly #random: Readonly<Record<string, string>>;

  private constructor(
    path: string,
    test: TestApp,
    client: TestClient,
    names: Readonly<Record<string, string>>,
    keys: { readonly keyId: string; readonly secretKey: string },
  ) {
    this.path = path;
    this.test = test;
    this.#client = client;
    this.names = names;
    this.keys = keys;
    const { simulationId = '', accountId = '' } = names;
    this.#random = { simulationId, accountId, keyId: keys.keyId, token: client.token ?? '' };
  }

  static async open(future: 0 | 1): Promise<Twin> {
    const path = recording(future);
    const test = await TestApp.open({
      settings: { REPLAY_PATH: path, RATE_LIMIT_DEFAULT: '100000', SEED: '7' },
    });
    test.time.nowMs = Date.UTC(2031, 0, 1);
    const owner = test.as({ tenantId: 'owner', tier: 'ENTERPRISE' });
    const created = await owner.post('/v1/simulations', {
      feed: 'replay',
      clock: 'manual',
      start: '2013-04-05T10:00:00-04:00',
      seed: 7,
    });
    if (created.status !== 201) throw new Error(created.text);
    const { simulationId, token } = created.body as Record<string, string>;
    const client = test.withToken(token);
    const { portfolioId, accountId } = (await openPortfolio(client, {
      accountId: '11111111-1111-4111-8111-111111111111',
    })) as Record<string, string>;
    const keys = await keyPairOf(client, portfolioId ?? '');
    const place = async (more: object): Promise<Body> => {
      const reply = await client.post(
        '/v1/orders',
        orderBody(portfolioId ?? '', { symbol: 'AAA', quantity: 10, ...more }),
      );
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body;
    };
    const market = { orderType: 'MARKET', limitPrice: undefined };
    await place(market);
    await client.post('/v1/simulation/clock/advance', { to: '2013-04-09T10:00:00-04:00' });
    await place(market);
    const resting = await place({ orderType: 'LIMIT', limitPrice: 90, timeInForce: 'GTC' });
    await client.post('/v1/simulation/clock/advance', { to: NOW });
    await place({ ...market, positionIntent: 'SELL_TO_CLOSE', quantity: 5 });
    return new Twin(
      path,
      test,
      client,
      {
        symbol: 'AAA',
        underlying: 'AAA',
        portfolioId: portfolioId ?? '',
        accountId: accountId ?? '',
        orderId: resting.orderId as string,
        simulationId: simulationId ?? '',
        exchange: 'XNYS',
        market: 'NYSE',
        keyId: keys.keyId,
      },
      keys,
    );
  }

  /** An answer without what may differ: random ids and instants of real time. */
  async answer(
    method: 'GET' | 'POST',
    template: string,
    headers: Readonly<Record<string, string>> = {},
    payload?: object,
  ): Promise<string> {
    const url = template.replaceAll(/:([a-zA-Z]+)/g, (_, name: string) => this.names[name] ?? `:${name}`);
    const reply = await this.test.app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${this.#client.token ?? ''}`, ...headers },
      ...(payload !== undefined && { payload }),
    });
    const { date: _, 'x-request-id': __, ...told } = reply.headers;
    return this.plain(`${reply.statusCode} ${JSON.stringify(told)}\n${reply.body}`);
  }

  plain(text: string): string {
    let plain = text;
    for (const [name, id] of Object.entries(this.#random)) plain = plain.replaceAll(id, `<${name}>`);
    return (
      plain
        .replaceAll(/20(2[5-9]|3[0-9])-\d\d-\d\dT[\d:.]+Z/g, '<real time>')
        // The hash of a file covers the id of its simulation.
        .replaceAll(/("type":"trailer","records":\d+,"hash":)"[0-9a-f]+"/g, '$1')
        .replaceAll(/"content-length":"?\d+"?/g, '')
    );
  }

  /** The first event of a stream. */
  async first(url: string): Promise<string> {
    const abort = new AbortController();
    const { port } = this.test.app.server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${url}`, {
      headers: { authorization: `Bearer ${this.#client.token ?? ''}` },
      signal: abort.signal,
    });
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array);
      if (text.includes('data:')) break;
    }
    abort.abort();
    return this.plain(text.replace(/retry: \d+/, ''));
  }

  async close(): Promise<void> {
    await this.test.close();
    rmSync(this.path, { recursive: true });
  }
}

const QUERIES = [
  '',
  '?symbol=AAA',
  '?symbols=AAA,BBB,LATER',
  '?timeframe=1Day&limit=500&from=2013-01-01&to=2013-12-31',
  '?timeframe=1Min&limit=1000',
  '?from=2013-01-01&to=2013-12-31',
];
/** Names of both futures, which neither knows. */
const LATER = ['LATER', 'OTHER'];

let twins: readonly [Twin, Twin];
beforeAll(async () => {
  twins = [await Twin.open(0), await Twin.open(1)];
  for (const { test } of twins) await test.app.listen({ port: 0, host: '127.0.0.1' });
}, 30_000);
afterAll(async () => {
  for (const twin of twins) await twin.close();
});

/** Compares the answers of both; returns the answer. */
async function same(
  method: 'GET' | 'POST',
  url: string,
  headers: Readonly<Record<string, string>> = {},
  payload?: object,
): Promise<string> {
  const [left, right] = [
    await twins[0].answer(method, url, headers, payload),
    await twins[1].answer(method, url, headers, payload),
  ];
  expect(right, `${method} ${url}`).toBe(left);
  return left;
}

const templates = (): string[] =>
  routeEntries.flatMap(([id, route]) =>
    route.method === 'GET' && !id.startsWith('stream') && id !== 'getReadiness'
      ? pathsOf(id, route).map(([, template]) => template)
      : [],
  );

describe('recordings that are equal up to now', () => {
  it('give equal answers over every GET route, as JSON and as CSV', async () => {
    let answered = 0;
    for (const template of templates())
      for (const query of QUERIES) {
        const text = await same('GET', `${template}${query}`);
        if (text.startsWith('2')) answered++;
        if (query === '') await same('GET', template, { accept: 'text/csv' });
      }
    for (const later of LATER)
      for (const template of ['/v1/market-data/quote/', '/v1/market-data/bars/', '/v1/market-data/trade/'])
        expect(await same('GET', `${template}${later}?timeframe=1Day`)).toMatch(/^404|^400/);
    expect(answered).toBeGreaterThan(150);
  }, 60_000);

  it('give equal answers to previews, refused orders, requirements and batches', async () => {
    const { portfolioId } = twins[0].names;
    expect(twins[1].names['portfolioId']).toBe(portfolioId);
    for (const symbol of ['AAA', 'BBB', ...LATER, 'NEVER'])
      for (const more of [{}, { orderType: 'MARKET', limitPrice: undefined }, { quantity: 1e6 }])
        await same('POST', '/v1/orders/preview', {}, orderBody(portfolioId ?? '', { symbol, ...more }));
    // A symbol of the future is refused in the words of one that never is.
    const refusal = async (symbol: string): Promise<string> =>
      (await same('POST', '/v1/orders', {}, orderBody(portfolioId ?? '', { symbol, quantity: 1 })))
        .replaceAll(symbol, '')
        .replace(/"x-ratelimit-remaining":"\d+"/, '');
    expect(await refusal('LATER')).toBe(await refusal('NEVER'));
    await same('POST', '/v1/market-data/quotes/batch', {}, { symbols: ['AAA', 'BBB', 'LATER'] });
    await same(
      'POST',
      '/v1/margin/requirements',
      {},
      {
        marginType: 'REG_T',
        positions: [{ symbol: 'AAA', quantity: 10 }],
      },
    );
  });

  it('give equal answers through dialects and tools', async () => {
    let answered = 0;
    for (const template of alpacaPaths()) {
      const url = template.replace('::', ':').replaceAll(/(?<=\/):(\w+)/g, 'AAA');
      for (const query of [...QUERIES, '?symbols=AAA&timeframe=1Day&start=2013-01-01&end=2013-12-31']) {
        const told = await Promise.all(
          twins.map((twin) =>
            twin.answer('GET', `/alpaca${url}${query}`, {
              authorization: '',
              'apca-api-key-id': twin.keys.keyId,
              'apca-api-secret-key': twin.keys.secretKey,
            }),
          ),
        );
        expect(told[1], url).toBe(told[0]);
        if (told[0]?.startsWith('2') === true) answered++;
      }
    }
    for (const { method, path } of tradier.routes) {
      if (method !== 'GET' || path === '/v1/markets/events') continue;
      const url = `/tradier${path.replace(':account', 'VA00000001').replaceAll(/:\w+/g, '1')}`;
      for (const name of ['symbol', 'symbols', 'q', 'underlying'])
        await same('GET', `${url}?${name}=AAA&start=2013-01-01&end=2013-12-31`, {
          accept: 'application/json',
        });
    }
    for (const [name, args] of [
      ['list_accounts', {}],
      ['get_quote', { symbol: 'AAA' }],
      ['list_orders', { portfolioId: twins[0].names['portfolioId'] }],
      ['get_portfolio', { portfolioId: twins[0].names['portfolioId'] }],
      ['get_bars', { symbol: 'AAA', timeframe: '1Day' }],
      ['get_market_hours', {}],
    ] as const) {
      const text = await same(
        'POST',
        '/mcp',
        { accept: 'application/json, text/event-stream' },
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      );
      if (text.startsWith('2')) answered++;
    }
    expect(answered).toBeGreaterThan(40);
  }, 30_000);

  it('give equal streams', async () => {
    const { portfolioId } = twins[0].names;
    for (const url of [
      '/v1/stream/quotes?symbols=AAA,BBB',
      `/v1/stream/orders?portfolioId=${portfolioId ?? ''}&lastEventId=0`,
      `/v1/stream/portfolios?portfolioId=${portfolioId ?? ''}`,
    ]) {
      const told = await Promise.all(twins.map((twin) => twin.first(url)));
      expect(told[1], url).toBe(told[0]);
      expect(told[0]).toContain('data:');
    }
  }, 20_000);

  it('differ as soon as their futures do', async () => {
    for (const { test, names } of twins) {
      const owner = test.as({ tenantId: 'owner', tier: 'ENTERPRISE' });
      const { body } = await owner.post(`/v1/simulations/${names['simulationId'] ?? ''}/token`);
      await test
        .withToken(body.token as string)
        .post('/v1/simulation/clock/advance', { to: '2013-04-10T10:31:00-04:00' });
    }
    const [left, right] = await Promise.all(
      twins.map((twin) => twin.answer('GET', '/v1/market-data/quote/AAA')),
    );
    expect(left).not.toBe(right);
  });
});
