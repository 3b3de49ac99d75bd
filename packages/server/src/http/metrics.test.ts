import { mkdirSync, mkdtempSync, rmSync, statfsSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPortfolio, placeOrder, TestApp } from '../testing/test-app.js';
import { createMetricsServer, Traffic } from './metrics.js';

describe('GET /metrics', () => {
  let test: TestApp;
  let directory: string;
  let figures: () => Promise<Readonly<Record<string, number>>>;

  beforeEach(async () => {
    test = await TestApp.open({ config: { feed: 'push', clock: 'wall' } });
    directory = mkdtempSync(join(tmpdir(), 'sandpit-metrics-'));
    const server = createMetricsServer(new Traffic(), {
      store: test.store,
      simulations: test.simulations,
      dataDir: directory,
      clockMs: () => test.time.nowMs,
      openStreams: () => test.app.openStreams(),
      webhookFigures: test.app.webhookFigures,
      beginnings: { begun: 3, failed: 2, evicted: 1 },
    });
    figures = async () => {
      const { body } = await server.inject('/metrics');
      const samples = body.matchAll(/^(sandpit_\w+) (\S+)$/gm);
      return Object.fromEntries([...samples].map(([, name = '', value]) => [name, Number(value)]));
    };
  });
  afterEach(async () => {
    await test.close();
    rmSync(directory, { recursive: true });
  });

  it('counts beginnings of the node, failed ones and removals, and simulations out of service', async () => {
    expect(await figures()).toMatchObject({
      sandpit_node_begun_total: 3,
      sandpit_node_failed_beginnings_total: 2,
      sandpit_node_evictions_total: 1,
      sandpit_node_tenants_taken_over_total: 0,
      sandpit_node_commits_in_doubt_total: 0,
      sandpit_database_connections: 0,
      sandpit_simulations_out_of_service: 0,
    });
    const { body } = await test
      .as({ tier: 'ENTERPRISE' })
      .post('/v1/simulations', { feed: 'push', clock: 'manual' });
    test.simulations.directory.takeOutOfService(body.simulationId as string, 'record 3 is damaged');
    expect(await figures()).toMatchObject({ sandpit_simulations_out_of_service: 1 });
    const ready = await test.withToken(undefined).get('/v1/ready');
    expect([ready.status, ready.body.reasons]).toEqual([
      200,
      [`simulation ${body.simulationId as string} is out of service: record 3 is damaged`],
    ]);
  });

  it('counts streams while they are open', async () => {
    const url = await test.app.listen({ port: 0, host: '127.0.0.1' });
    expect(await figures()).toMatchObject({ sandpit_streams: 0 });
    const ending = new AbortController();
    const response = await fetch(`${url}/v1/stream/orders`, {
      headers: { authorization: `Bearer ${test.token()}` },
      signal: ending.signal,
    });
    expect(response.status).toBe(200);
    expect(await figures()).toMatchObject({ sandpit_streams: 1 });
    ending.abort();
    await expect.poll(figures).toMatchObject({ sandpit_streams: 0 });
  });

  it('counts simulations in memory and their open orders', async () => {
    const before = await figures();
    const client = test.as();
    const { portfolioId } = await openPortfolio(client, { initialCash: 10_000 });
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 1, timeInForce: 'GTC' });
    await placeOrder(client, portfolioId, { limitPrice: 2, timeInForce: 'GTC' });
    const made = await client.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T10:00-05:00',
    });
    expect(made.status).toBe(201);
    const after = await figures();
    expect(after['sandpit_open_orders']).toBe(2);
    expect(after['sandpit_simulations_in_memory']).toBeGreaterThan(
      before['sandpit_simulations_in_memory'] ?? NaN,
    );
    await client.put(`/v1/orders/${orderId}/cancel`);
    expect(await figures()).toMatchObject({ sandpit_open_orders: 1 });
  });

  it('reports the size of the databases, the free space beside them and the age of the latest checkpoint', async () => {
    expect(await figures()).toMatchObject({ sandpit_data_bytes: 0, sandpit_checkpoint_age_seconds: -1 });
    writeFileSync(join(directory, 'journal.db'), Buffer.alloc(4096));
    writeFileSync(join(directory, 'history.db-wal'), Buffer.alloc(1000));
    writeFileSync(join(directory, 'another-file'), Buffer.alloc(7));
    mkdirSync(join(directory, 'checkpoints'));
    for (const [name, ageSeconds] of [
      ['older', 5000],
      ['latest', 600],
    ] as const) {
      const path = join(directory, 'checkpoints', name);
      writeFileSync(path, '');
      const at = Date.now() / 1000 - ageSeconds;
      utimesSync(path, at, at);
    }
    const found = await figures();
    expect(found['sandpit_data_bytes']).toBe(5096);
    expect(found['sandpit_checkpoint_age_seconds']).toBeGreaterThanOrEqual(600);
    expect(found['sandpit_checkpoint_age_seconds']).toBeLessThan(660);
    const { bavail, bsize, blocks } = statfsSync(directory);
    // Other programs write to the same disk.
    expect(Math.abs((found['sandpit_disk_free_bytes'] ?? NaN) - bavail * bsize)).toBeLessThan(
      (blocks * bsize) / 100,
    );
  });

  it("reports how far the market is ahead of the machine's clock", async () => {
    test.time.nowMs = test.main.now() + 60_000;
    expect(await figures()).toMatchObject({ sandpit_clock_ahead_seconds: 0 });
    test.time.nowMs -= 7_260_000;
    const { sandpit_clock_ahead_seconds: ahead = NaN } = await figures();
    expect(ahead).toBeGreaterThanOrEqual(7200);
    expect(ahead).toBeLessThan(7230);
  });
});
