/** Forks, comparisons, imports, fixtures, analytics and erasure over HTTP on a real PostgreSQL (D198): which the embedded store does not have. */
import { afterEach, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../store/postgres/postgres-store.js';
import { recoveryUrl } from '../store/worker-url.js';
import { openPortfolio, placeOrder, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';
import { newDatabase } from '../testing/test-database.js';

let test: TestApp;
afterEach(() => test.close());

async function start(): Promise<TestClient> {
  const store = await openPostgresStore({
    url: await newDatabase(),
    recovery: recoveryUrl().href,
  });
  test = await TestApp.open({ store, settings: { RATE_LIMIT_DEFAULT: '100000' } });
  return test.as({ tier: 'ENTERPRISE' });
}

const MADE = { feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00Z' };

describe('PostgreSQL over HTTP', () => {
  it('answers for an order that a fork does not have, and keeps checkpoints for snapshots of it', async () => {
    const owner = await start();
    const { body: parent } = await owner.post('/v1/simulations', MADE);
    const client = test.withToken(parent.token as string);
    await pushQuote(client);
    const { portfolioId } = await openPortfolio(client);
    const of = `/v1/simulations/${parent.simulationId as string}`;
    const { body: snapshot } = await owner.post(`${of}/snapshots`, { name: 'before' });
    const order = await placeOrder(client, portfolioId);
    const { body: fork } = await owner.post(`${of}/forks`, { from: { snapshotId: snapshot.snapshotId } });
    const inFork = test.withToken(fork.token as string);
    // The history has no row of the order.
    expect((await inFork.get(`/v1/orders/${order.orderId as string}`)).status).toBe(404);
    expect((await client.get(`/v1/orders/${order.orderId as string}`)).body.status).toBe('FILLED');
    await expect
      .poll(async () => (await owner.get(`${of}/snapshots`)).body.data[0].stateHash, { timeout: 10_000 })
      .toBe(fork.stateHash);
  });

  it('fills a simulation with a fixture, whose client order ids the history cannot be asked for in between', async () => {
    const owner = await start();
    const { body } = await owner.post('/v1/simulations', MADE);
    const client = test.withToken(body.token as string);
    const filled = await client.post('/v1/simulation/fixtures', { name: 'every-status' });
    expect(filled.status, filled.text).toBe(201);
    // Studies read the past in a thread with its own connection.
    const { body: portfolios } = await client.get('/v1/portfolios');
    const { portfolioId } = portfolios.data[0] as { portfolioId: string };
    const performance = await client.get(`/v1/accounts/portfolios/${portfolioId}/performance`);
    expect(performance.status, performance.text).toBe(200);
    const trades = await client.get(`/v1/accounts/portfolios/${portfolioId}/trades`);
    expect(trades.status, trades.text).toBe(200);
    const gone = await owner.delete(`/v1/simulations/${body.simulationId as string}`);
    expect(gone.status).toBe(200);
    expect((await owner.get(`/v1/simulations/${body.simulationId as string}`)).status).toBe(404);
  });
});
