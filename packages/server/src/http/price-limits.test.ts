/** Limit up, limit down and Rule 201 over HTTP (D179). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyJournal } from '../engine/recovery/verify.js';
import { openPortfolio, orderBody, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let simulationId: string;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
});
afterEach(() => test.close());

/** The morning after a close of 100.00. */
async function open(options: object = {}) {
  const { body } = await test.as().post('/v1/simulations', {
    feed: 'push',
    clock: 'manual',
    calendar: 'XNYS',
    start: '2026-01-05T20:59:00Z',
    ...options,
  });
  simulationId = body.simulationId as string;
  client = test.withToken(body.token as string);
  ({ portfolioId } = (await openPortfolio(client, { marginType: 'REG_T' })) as { portfolioId: string });
  await client.put('/v1/simulation/instruments', {
    instruments: [{ assetClass: 'EQUITY', symbol: 'TEST', luldTier: 1 }],
  });
  await quote(99.99, 100.01, 100);
  await client.post('/v1/simulation/clock/advance', { to: '2026-01-06T15:00:00Z' });
  return body;
}

const quote = (bid: number, ask: number, last?: number) =>
  pushQuote(client, { symbol: 'TEST', bid, ask, last });
const place = async (more: object) => {
  const order = orderBody(portfolioId, {
    symbol: 'TEST',
    orderType: 'MARKET',
    limitPrice: undefined,
    ...more,
  });
  const { body } = await client.post('/v1/orders', order);
  return (await client.get(`/v1/orders/${String(body.orderId)}`)).body;
};

describe('price limits', () => {
  it('of limit up, limit down hold orders at the band and halt trading', async () => {
    expect(await open({ luld: true })).toMatchObject({ luld: true, shortSaleRestriction: true });
    await quote(99.99, 100.01, 100);
    await quote(104.5, 107, 100);
    expect(await place({})).toMatchObject({
      status: 'ACTIVE',
      waitingFor: 'ask 107.00 and the price band 95.00 to 105.00 (limit up, limit down)',
    });
    await quote(105, 107, 100);
    await client.post('/v1/simulation/clock/advance', { by: 'PT15S' });
    expect((await client.get('/v1/simulation/halts')).body.data).toMatchObject([
      { symbol: 'TEST', reason: 'LUDP', until: '2026-01-06T15:05:15.000Z' },
    ]);
    await client.post('/v1/simulation/clock/advance', { by: 'P1D' });
    expect((await verifyJournal(test.store, simulationId)).problems).toEqual([]);
  });

  it('of Rule 201 hold short sales above the bid', async () => {
    expect(await open()).toMatchObject({ luld: false, shortSaleRestriction: true });
    await quote(90, 90.02, 90);
    expect((await client.get('/v1/market-data/quote/TEST')).body).toMatchObject({
      shortSaleRestricted: true,
    });
    const order = await place({ positionIntent: 'SELL_TO_OPEN' });
    expect(order.waitingFor).toBe('short sale restriction (Rule 201): offered at 90.01, bid 90.00');
    await quote(90.05, 90.07, 90.06);
    const { body } = await client.get(`/v1/orders/${String(order.orderId)}/executions`);
    expect(body.data).toMatchObject([
      { price: 90.01, liquidity: 'MAKER', explanation: { rule: 'RULE_201' } },
    ]);
    await client.post('/v1/simulation/clock/advance', { by: 'P3D' });
    expect((await client.get('/v1/market-data/quote/TEST')).body).not.toHaveProperty('shortSaleRestricted');
    expect((await verifyJournal(test.store, simulationId)).problems).toEqual([]);
  });

  it('can be switched off by the simulation', async () => {
    expect(await open({ shortSaleRestriction: false })).toMatchObject({ shortSaleRestriction: false });
    await quote(90, 90.02, 90);
    expect(await place({ positionIntent: 'SELL_TO_OPEN' })).toMatchObject({ status: 'FILLED' });
    const { body } = await client.get('/v1/market-data/instruments?symbol=TEST');
    expect(JSON.stringify(body)).toContain('"luldTier":1');
  });
});
