/** Trading halts over HTTP (D178). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Body,
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client, { portfolioType: 'CASH' })) as { portfolioId: string });
  await pushQuote(client);
});
afterEach(() => test.close());

const halt = (body: object) => client.post('/v1/simulation/halts', body);
const quote = async (): Promise<Body> => (await client.get('/v1/market-data/quote/AAPL')).body;
const isOpen = async (): Promise<Body> => (await client.get('/v1/market-data/is-market-open/AAPL')).body;

describe('halts', () => {
  it('are made, listed, shown in quotes and hours, and lifted', async () => {
    const made = await halt({ symbol: 'aapl', reason: 'T1' });
    expect(made).toMatchObject({
      status: 201,
      body: { symbol: 'AAPL', reason: 'T1', since: '2026-01-05T15:00:00.000Z' },
    });
    expect(made.body).not.toHaveProperty('until');
    await halt({ symbol: '*', reason: 'MWC1' });
    expect((await client.get('/v1/simulation/halts')).body.data).toEqual([
      {
        symbol: '*',
        reason: 'MWC1',
        since: '2026-01-05T15:00:00.000Z',
        until: '2026-01-05T15:15:00.000Z',
      },
      made.body,
    ]);
    expect(await quote()).toMatchObject({ price: 100, halted: true, haltReason: 'T1' });
    expect(await isOpen()).toMatchObject({ isOpen: false, halted: true, haltReason: 'T1' });
    expect(await client.delete('/v1/simulation/halts/AAPL')).toMatchObject({
      status: 200,
      body: { symbol: 'AAPL' },
    });
    expect(await quote()).toMatchObject({ haltReason: 'MWC1', haltedUntil: '2026-01-05T15:15:00.000Z' });
    expect((await client.delete('/v1/simulation/halts/*')).status).toBe(200);
    expect(await quote()).not.toHaveProperty('halted');
    expect(await isOpen()).toMatchObject({ isOpen: true });
    expect((await client.delete('/v1/simulation/halts/AAPL')).body).toMatchObject({
      statusCode: 404,
      message: 'Halt not found',
    });
  });

  it('refuse orders that cannot wait, with the figures, and keep other orders waiting', async () => {
    await halt({ symbol: 'AAPL', reason: 'LUDP' });
    const order = { portfolioId, symbol: 'AAPL', assetClass: 'EQUITY', orderType: 'MARKET' };
    const ioc = await client.post('/v1/orders', {
      ...order,
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'IOC',
    });
    expect(ioc).toMatchObject({
      status: 400,
      body: {
        error: { code: 'TRADING_HALTED', reason: 'LUDP', until: '2026-01-05T15:05:00.000Z' },
      },
    });
    const { orderId } = await placeOrder(client, portfolioId);
    expect((await client.get(`/v1/orders/${orderId}`)).body).toMatchObject({
      status: 'ACTIVE',
      waitingFor: 'trading in AAPL is halted (LUDP) until 2026-01-05T10:05:00-05:00',
    });
  });

  it.each([
    [{ symbol: 'AAPL', reason: 'ludp' }, ['reason must be 1 to 8 characters of A-Z and 0-9']],
    [{ symbol: 'AAPL', reason: 'MWC1' }, ['symbol must be * for MWC1']],
    [
      { symbol: '*', reason: 'MWC3', for: 'PT1H', until: '2026-01-05T16:00:00Z' },
      ['for should not exist together with until'],
    ],
    [{ symbol: '*', reason: 'MWC3', for: 'PT1H' }, ['for should not exist for MWC3']],
    [
      { symbol: 'AAPL', reason: 'T1', for: 'P11Y' },
      ['for must be a positive ISO 8601 duration of at most P10Y, such as PT1H30M'],
    ],
    [{ symbol: 'AAPL', reason: 'T1', until: '2026-01-05T15:00:00Z' }, ['until must be in the future']],
    [
      { symbol: 'AAPL', reason: 'T1', for: 'PT0S' },
      ['for must be a positive ISO 8601 duration of at most P10Y, such as PT1H30M'],
    ],
    [{}, ['symbol must be a string', 'reason must be 1 to 8 characters of A-Z and 0-9']],
  ])('refuse %j', async (body, message) => {
    expect((await halt(body)).body).toMatchObject({ statusCode: 400, message });
  });

  it('are refused for an unlisted symbol', async () => {
    expect((await halt({ symbol: 'NOPE', reason: 'T1' })).body).toMatchObject({
      statusCode: 400,
      error: { code: 'UNKNOWN_SYMBOL', symbol: 'NOPE' },
    });
  });
});
