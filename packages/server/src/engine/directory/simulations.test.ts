import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stateHash } from '@sandpit/core';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.js';
import { openPortfolio, orderBody, placeOrder, pushQuote, TestApp } from '../../testing/test-app.js';
import type { TestClient } from '../../testing/test-app.js';

let app: TestApp;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
});
afterEach(async () => {
  await app.close();
  vi.useRealTimers();
});

const IDLE_MS = 61 * 60_000;

async function newSimulation(more: object = {}): Promise<{ client: TestClient; id: string }> {
  const reply = await app.as().post('/v1/simulations', { feed: 'push', clock: 'manual', ...more });
  const { token, simulationId } = reply.body as { token: string; simulationId: string };
  return { client: app.withToken(token), id: simulationId };
}

/** More than an hour passes without a request. */
async function anHour(): Promise<void> {
  vi.advanceTimersByTime(IDLE_MS);
  vi.advanceTimersByTime(IDLE_MS);
  await new Promise((resolve) => setImmediate(resolve));
  await app.store.probe();
  await new Promise((resolve) => setImmediate(resolve));
}

describe('An idle simulation', () => {
  it('leaves memory and is unchanged at the next request', async () => {
    app = await TestApp.open();
    const { client, id } = await newSimulation();
    await pushQuote(client);
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    await placeOrder(client, portfolioId);
    const before = await app.simulations.directory.find(id, 'tenant-1');
    const shown = await client.get(`/v1/accounts/portfolios/${portfolioId}`);
    const bars = await client.get('/v1/market-data/AAPL/bars?timeframe=1Min');
    await anHour();
    const again = await client.get(`/v1/accounts/portfolios/${portfolioId}`);
    expect(again.body).toEqual(shown.body);
    const after = await app.simulations.directory.find(id, 'tenant-1');
    expect(after).not.toBe(before);
    expect(after && stateHash(after.brokerage.state)).toBe(before && stateHash(before.brokerage.state));
    expect((await client.get('/v1/market-data/AAPL/bars?timeframe=1Min')).body).toEqual(bars.body);
  });

  it('stays in memory while it is used, while its clock drives orders, or if its clock would stop', async () => {
    app = await TestApp.open();
    const used = await newSimulation();
    const scaled = await newSimulation({ clock: 'scaled', speed: 2 });
    const wall = await newSimulation({ clock: 'wall', calendar: 'always-open' });
    const { portfolioId } = (await openPortfolio(wall.client)) as { portfolioId: string };
    await placeOrder(wall.client, portfolioId);
    const before = await Promise.all(
      [used, scaled, wall].map(({ id }) => app.simulations.directory.find(id, 'tenant-1')),
    );
    for (let minutes = 0; minutes < 120; minutes += 10) {
      vi.advanceTimersByTime(600_000);
      await used.client.get('/v1/accounts');
    }
    const after = await Promise.all(
      [used, scaled, wall].map(({ id }) => app.simulations.directory.find(id, 'tenant-1')),
    );
    after.forEach((simulation, i) => expect(simulation).toBe(before[i]));
  });

  it('can be deleted while it is unloaded', async () => {
    app = await TestApp.open();
    const { client, id } = await newSimulation();
    await anHour();
    expect((await app.as().delete(`/v1/simulations/${id}`)).status).toBe(200);
    expect((await client.get('/v1/accounts')).status).toBe(401);
  });
});

describe('Simulations of a tenant', () => {
  it('are limited by the tier, even when they are created simultaneously', async () => {
    app = await TestApp.open({ settings: { BASIC_SIMULATIONS: '2' } });
    const basic = app.as({ tier: 'BASIC' });
    const create = () => basic.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const replies = await Promise.all([create(), create(), create()]);
    // Whichever of them comes last.
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 403]);
    expect(replies.find(({ status }) => status === 403)?.body).toEqual({
      statusCode: 403,
      message: 'The BASIC tier includes 2 simulations',
      error: { code: 'FEATURE_NOT_AVAILABLE', currentTier: 'BASIC', requiredTier: 'PRO' },
    });
    const made = replies.find(({ status }) => status === 201)?.body as { simulationId: string };
    await basic.delete(`/v1/simulations/${made.simulationId}`);
    expect((await create()).status).toBe(201);
    expect(
      (await app.as({ tier: 'PRO' }).post('/v1/simulations', { feed: 'push', clock: 'manual' })).status,
    ).toBe(201);
  });
});

describe('A simulation with a damaged journal', () => {
  it('goes out of service when a read of its history finds the damage', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-'));
    try {
      app = await TestApp.open({ store: await openSqliteStore({ directory }) });
      const [mine, other] = [await newSimulation(), await newSimulation()];
      const { portfolioId } = (await openPortfolio(mine.client)) as { portfolioId: string };
      await openPortfolio(other.client);
      const activities = `/v1/accounts/portfolios/${portfolioId}/activities`;
      expect((await mine.client.get(activities)).status).toBe(200);
      const database = new DatabaseSync(join(directory, 'journal.db'));
      database.exec(
        "UPDATE block SET data = CAST(replace(CAST(data AS TEXT), '1', '2') AS BLOB) WHERE simulation = 3",
      );
      database.close();
      expect((await mine.client.get(activities)).status).toBe(503);
      expect((await mine.client.get('/v1/accounts')).status).toBe(503);
      expect((await mine.client.post('/v1/orders', orderBody(portfolioId))).status).toBe(503);
      expect((await other.client.get('/v1/accounts')).status).toBe(200);
      expect((await app.as().get('/v1/health')).status).toBe(200);
    } finally {
      await app.close();
      app = await TestApp.open();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('is out of service while others continue; health reports only a damaged market', async () => {
    app = await TestApp.open();
    const [mine, other] = [await newSimulation(), await newSimulation()];
    await openPortfolio(mine.client);
    const damaged = await app.simulations.directory.find(mine.id, 'tenant-1');
    damaged?.takeOutOfService('Record 1 is damaged');
    expect((await mine.client.get('/v1/accounts')).status).toBe(503);
    expect((await mine.client.get('/v1/accounts')).headers['retry-after']).toBe('1');
    expect((await other.client.get('/v1/accounts')).status).toBe(200);
    expect((await app.as().get('/v1/health')).status).toBe(200);
    app.main.takeOutOfService('Record 1 is damaged');
    app.time.nowMs += 1000;
    expect((await app.as().get('/v1/accounts')).status).toBe(503);
    expect((await app.as({ tenantId: 'tenant-2' }).get('/v1/accounts')).status).toBe(200);
    expect((await app.as().get('/v1/health')).status).toBe(200);
    app.simulations.market.takeOutOfService('Record 1 is damaged');
    app.time.nowMs += 1000;
    expect((await app.as().get('/v1/health')).status).toBe(503);
    expect((await app.as().get('/v1/accounts')).status).toBe(503);
    expect((await other.client.get('/v1/accounts')).status).toBe(200);
  });
});
