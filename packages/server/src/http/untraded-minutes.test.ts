/** Recorded minutes without volume (D251): their prices mark, and fill and trigger nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Minutes of Monday 2026-01-05 from 09:31 New York, as [price, volume]. */
async function replayOf(
  minutes: readonly (readonly [number, number | ''])[],
  earlier: readonly string[] = [],
): Promise<TestClient> {
  const path = mkdtempSync(join(tmpdir(), 'sandpit-untraded-'));
  const rows = minutes.map(
    ([price, volume], i) =>
      `2026-01-05T14:${31 + i}:00Z,XYZ,${[price, price, price, price, volume].join(',')}`,
  );
  writeFileSync(
    join(path, 'XYZ_trades.csv'),
    ['ts,symbol,open,high,low,close,volume', ...earlier, ...rows, ''].join('\n'),
  );
  const test = await TestApp.open({
    settings: { MARKET_FEED: 'replay', REPLAY_PATH: path },
    config: { feed: 'replay', start: Date.parse('2026-01-05T14:00:00Z') },
  });
  closers.push(async () => {
    await test.close();
    rmSync(path, { recursive: true });
  });
  return test.as();
}

const to = (client: TestClient, time: string): Promise<unknown> =>
  client.post('/v1/simulation/clock/advance', { to: `2026-01-05T${time}:00-05:00` });

async function place(client: TestClient, portfolioId: unknown, more: object): Promise<() => Promise<Body>> {
  const { status, text, body } = await client.post('/v1/orders', {
    portfolioId,
    symbol: 'XYZ',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 10,
    timeInForce: 'DAY',
    ...more,
  });
  expect(status, text).toBe(201);
  return async () => (await client.get(`/v1/orders/${(body as { orderId: string }).orderId}`)).body;
}

describe('a recorded minute without volume', () => {
  it('marks positions; orders wait for the next minute with trades', async () => {
    const client = await replayOf([
      [100, 1000],
      [110, 0],
      [111, 500],
    ]);
    const { portfolioId } = await openPortfolio(client, { initialCash: 100_000 });
    await to(client, '09:32');
    const first = await place(client, portfolioId, {});
    expect(await first()).toMatchObject({ status: 'FILLED', averagePrice: 100 });
    await to(client, '09:33');
    const portfolio = await client.get(`/v1/accounts/portfolios/${String(portfolioId)}`);
    expect(portfolio.body).toMatchObject({ longMarketValue: 1100 });
    const quote = (await client.get('/v1/market-data/quote/XYZ')).body;
    expect(quote).toMatchObject({ price: 110 });
    expect(quote).not.toHaveProperty('bid');
    const market = await place(client, portfolioId, {});
    const stop = await place(client, portfolioId, { orderType: 'STOP', stopPrice: 105 });
    const immediate = await place(client, portfolioId, { timeInForce: 'IOC' });
    expect(await market()).toMatchObject({ status: 'ACTIVE', waitingFor: 'no trade in this minute' });
    expect(await stop()).toMatchObject({ status: 'ACTIVE' });
    expect(await immediate()).toMatchObject({ status: 'CANCELED', cancelReason: 'IOC_REMAINDER' });
    await to(client, '09:34');
    expect(await market()).toMatchObject({ status: 'FILLED', averagePrice: 111 });
    expect(await stop()).toMatchObject({ status: 'FILLED', averagePrice: 111 });
  });

  it.each([
    [
      'without a volume in any minute',
      [
        [100, 0],
        [110, 0],
      ],
    ],
    [
      'without a volume column',
      [
        [100, ''],
        [110, ''],
      ],
    ],
  ] as const)('fills as before in a recording %s', async (_, minutes) => {
    const client = await replayOf(minutes);
    const { portfolioId } = await openPortfolio(client, { initialCash: 100_000 });
    await to(client, '09:33');
    const order = await place(client, portfolioId, { quantity: 1 });
    expect(await order()).toMatchObject({ status: 'FILLED', averagePrice: 110 });
  });

  it('is one of its type of session: volume before the open changes nothing in the regular session', async () => {
    const client = await replayOf([[110, 0]], ['2026-01-05T14:10:00Z,XYZ,100,100,100,100,500']);
    const { portfolioId } = await openPortfolio(client, { initialCash: 100_000 });
    await to(client, '09:32');
    const order = await place(client, portfolioId, { quantity: 1 });
    expect(await order()).toMatchObject({ status: 'FILLED', averagePrice: 110 });
  });
});
