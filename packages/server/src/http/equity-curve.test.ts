import { afterEach, describe, expect, it } from 'vitest';
import {
  type Body,
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
afterEach(() => test.close());

async function begin(config = {}): Promise<{ client: TestClient; portfolioId: string }> {
  test = await TestApp.open({ config });
  const client = test.as();
  const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
  return { client, portfolioId };
}

const url = (portfolioId: string, query: string): string =>
  `/v1/accounts/portfolios/${portfolioId}/history?${query}`;

async function curve(client: TestClient, portfolioId: string, query: string): Promise<Body[]> {
  const { status, body } = await client.get(url(portfolioId, query));
  expect(status).toBe(200);
  return body.data as Body[];
}

const advance = (client: TestClient, by: string): Promise<unknown> =>
  client.post('/v1/simulation/clock/advance', { by });

describe('the equity curve within the day (D149, D166)', () => {
  it('continues when a formerly held symbol is listed as an index', async () => {
    const { client, portfolioId } = await begin();
    // AAPL is in the catalog; AAA is listed by its quote alone.
    const symbols = ['AAPL', 'AAA'];
    for (const symbol of symbols) {
      await pushQuote(client, { symbol, bid: 99.9, ask: 100, last: 100 });
      await placeOrder(client, portfolioId, { symbol, quantity: 10, limitPrice: 100 });
    }
    await advance(client, 'PT10M');
    for (const symbol of symbols)
      await placeOrder(client, portfolioId, {
        symbol,
        positionIntent: 'SELL_TO_CLOSE',
        quantity: 10,
        limitPrice: 99.9,
      });
    await advance(client, 'P7D');
    const before = await curve(client, portfolioId, 'interval=5m');
    const listed = await client.put('/v1/simulation/instruments', {
      instruments: symbols.map((symbol) => ({ assetClass: 'INDEX', symbol })),
    });
    expect([listed.status, listed.body.message]).toEqual([200, undefined]);
    expect(await curve(client, portfolioId, 'interval=5m')).toEqual(before);
    expect((await client.get(url(portfolioId, 'interval=1d'))).status).toBe(200);
  });

  it('has a point at the end of each completed interval with trades or positions', async () => {
    const { client, portfolioId } = await begin();
    await advance(client, 'PT10M');
    expect(await curve(client, portfolioId, 'interval=1m')).toEqual([]);
    await pushQuote(client, { bid: 99.9, ask: 100, last: 100 });
    await placeOrder(client, portfolioId, { quantity: 10, limitPrice: 100 });
    expect(await curve(client, portfolioId, 'interval=1m')).toEqual([]);
    await advance(client, 'PT1M');
    await pushQuote(client, { bid: 100.9, ask: 101, last: 101 });
    await placeOrder(client, portfolioId, { quantity: 4, limitPrice: 50 });
    await advance(client, 'PT2M');
    await placeOrder(client, portfolioId, {
      positionIntent: 'SELL_TO_CLOSE',
      quantity: 10,
      limitPrice: 100.9,
    });
    await advance(client, 'PT30M');

    const points = await curve(client, portfolioId, 'interval=1m');
    const shown = points.map(({ at, totalEquity, longMarketValue, reservedCash }) => [
      at,
      totalEquity,
      longMarketValue,
      reservedCash,
    ]);
    expect(shown).toEqual([
      ['2026-01-05T15:14:00.000Z', 100009, 0, 200],
      ['2026-01-05T15:13:00.000Z', 100010, 1010, 200],
      ['2026-01-05T15:12:00.000Z', 100010, 1010, 200],
      ['2026-01-05T15:11:00.000Z', 100000, 1000, 0],
    ]);
    const five = await curve(client, portfolioId, 'interval=5m');
    expect(five.map(({ at, totalEquity }) => [at, totalEquity])).toEqual([
      ['2026-01-05T15:15:00.000Z', 100009],
    ]);
    expect(await curve(client, portfolioId, 'interval=1h')).toEqual([]);
    expect(await curve(client, portfolioId, 'interval=1d')).toEqual([]);
    const part = '&from=2026-01-05T15:12:00Z&to=2026-01-05T15:14:00Z';
    expect(await curve(client, portfolioId, `interval=1m${part}`)).toEqual(points.slice(1, 3));
  });

  it('continues over a jump of days, and ends each day at the value of the daily curve', async () => {
    const { client, portfolioId } = await begin();
    await pushQuote(client, { bid: 99.9, ask: 100, last: 100 });
    await placeOrder(client, portfolioId, { quantity: 10, limitPrice: 100 });
    await advance(client, 'P3D');
    const hours = await client.get(url(portfolioId, 'interval=1h&limit=500'));
    expect(hours.body.pagination.total).toBe(72);
    expect(hours.body.data.at(-1).at).toBe('2026-01-05T16:00:00.000Z');
    expect(hours.body.data[0].at).toBe('2026-01-08T15:00:00.000Z');
    const days = await curve(client, portfolioId, 'interval=1d');
    expect(days).toEqual(await curve(client, portfolioId, ''));
    expect(days).toHaveLength(3);
    for (const day of days) expect(hours.body.data).toContainEqual(day);
    const minutes = await client.get(url(portfolioId, 'interval=1m'));
    expect(minutes.body.pagination).toEqual({ page: 1, limit: 50, total: 4320, totalPages: 87 });
  });

  it('is read by cursor without a missing or repeated point while new ones arrive', async () => {
    const { client, portfolioId } = await begin();
    await pushQuote(client, { bid: 99.9, ask: 100, last: 100 });
    await placeOrder(client, portfolioId, { quantity: 10, limitPrice: 100 });
    await advance(client, 'PT25M');
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = `interval=1m&limit=10${cursor === undefined ? '' : `&cursor=${cursor}`}`;
      const { body, headers } = await client.get(url(portfolioId, query));
      seen.push(...(body.data as Body[]).map(({ at }) => at as string));
      cursor = headers['x-next-cursor'];
      await advance(client, 'PT3M');
    } while (cursor !== undefined);
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
    expect(seen).toEqual([...seen].sort().reverse());
  });

  it('recomputes quotes of a feed, with the same result afterwards', async () => {
    const { client, portfolioId } = await begin({ feed: 'synthetic' });
    await client.post('/v1/orders', {
      portfolioId,
      assetClass: 'EQUITY',
      symbol: 'AAPL',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 100,
      timeInForce: 'DAY',
      session: 'REGULAR',
    });
    await advance(client, 'PT20M');
    const before = await curve(client, portfolioId, 'interval=1m');
    expect(before).toHaveLength(20);
    expect(new Set(before.map(({ totalEquity }) => totalEquity as number)).size).toBeGreaterThan(10);
    await advance(client, 'PT1H');
    const later = await curve(client, portfolioId, 'interval=1m&limit=100');
    expect(later.slice(-20)).toEqual(before);
  });

  it('equity curve: is private to its tenant and has four intervals', async () => {
    const { client, portfolioId } = await begin();
    expect((await test.as({ tenantId: 'other' }).get(url(portfolioId, 'interval=1m'))).status).toBe(404);
    expect((await client.get(url(portfolioId, 'interval=2m'))).status).toBe(400);
  });
});
