import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateHash } from '@sandpit/core';
import { afterAll, expect, it } from 'vitest';
import { mainOf } from './engine/values/cell-names.js';
import { migrateStore } from './migrate-store.js';
import { openAnyStore, openStore } from './open-store.js';
import { StoreInUse } from './store/journal.js';
import type { Store } from './store/store.js';
import { saveWebhook, webhooksIn } from './store/webhooks.js';
import { openPortfolio, orderBody, placeOrder, pushQuote, TestApp } from './testing/test-app.js';
import { newDatabase } from './testing/test-database.js';
import { testSettings } from './testing/simulations.js';

const folder = mkdtempSync(join(tmpdir(), 'sandpit-migrate-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SETTINGS = { RATE_LIMIT_DEFAULT: '100000' };
const at = (place: string): { readonly databaseUrl: string | undefined; readonly dataDir: string } =>
  place.startsWith('postgres://')
    ? { databaseUrl: place, dataDir: folder }
    : { databaseUrl: undefined, dataDir: place };

/** Opens both and migrates; `stopAfter`: breaks off once so many simulations are copied. */
async function migrated(from: string, to: string, stopAfter = Infinity) {
  const source = await openAnyStore(at(from));
  const destination = await openAnyStore(at(to));
  let cells = 0;
  try {
    return await migrateStore(source, destination, () => {
      cells += 1;
      if (cells === stopAfter) throw new Error('broken off');
    });
  } finally {
    await destination.close();
    await source.close();
  }
}

interface Made {
  readonly simulationId: string;
  readonly token: string;
}

interface Seen {
  readonly hashes: readonly string[];
  readonly orders: unknown;
  readonly forkOrders: unknown;
  readonly snapshots: unknown;
  readonly webhooks: unknown;
  readonly repeated: string;
}

const KEYED = { 'idempotency-key': 'a-key-that-was-used' };

/** The answers that a client gets from a store, and its webhooks. */
async function seenAt(store: Store, simulationId: string, forkId: string, order: object): Promise<Seen> {
  const test = await TestApp.open({ store, settings: SETTINGS });
  try {
    const owner = test.as({ tier: 'ENTERPRISE' });
    const client = test.as({ tier: 'ENTERPRISE', simulationId });
    const fork = test.as({ tier: 'ENTERPRISE', simulationId: forkId });
    const again = await client.post('/v1/orders', order, KEYED);
    expect(again.headers['idempotent-replayed'], again.text).toBe('true');
    const hashes: string[] = [];
    for (const id of [simulationId, forkId]) {
      const found = await test.simulations.directory.find(id, 'tenant-1');
      hashes.push(found === undefined ? 'none' : stateHash(found.brokerage.state));
    }
    return {
      hashes,
      orders: (await client.get('/v1/orders')).body,
      forkOrders: (await fork.get('/v1/orders')).body,
      snapshots: (await owner.get(`/v1/simulations/${simulationId}/snapshots`)).body,
      webhooks: [
        webhooksIn(store.registry),
        await store.webhooks.load([WEBHOOK.webhookId]),
        (await store.webhooks.deliveries({ webhookId: WEBHOOK.webhookId, offset: 0, limit: 10 })).items,
      ],
      repeated: again.text,
    };
  } finally {
    await test.close();
  }
}

const WEBHOOK = {
  webhookId: 'webhook-1',
  tenantId: 'tenant-1',
  url: 'https://receiver.invalid/',
  events: ['*'],
  simulationId: 'main',
  status: 'DISABLED',
  secret: 'whsec_1',
  retired: [],
  createdAt: 1,
} as const;
const deliveryOf = (number: number) => ({
  deliveryId: `delivery-${number}`,
  webhookId: WEBHOOK.webhookId,
  simulationId: mainOf('tenant-1'),
  eventId: `event-${number}`,
  type: 'order.filled',
  body: '{}',
  attempts: [{ at: number, durationMs: 1 }],
  tries: 1,
  status: 'DELIVERED' as const,
});

it('migrateStore: moves everything to PostgreSQL and back, continues after an interruption, and is refused for a store in use', async () => {
  const first = join(folder, 'first');
  const url = await newDatabase();
  // A simulation with orders, a snapshot, a fork with its own order, a deleted simulation, a webhook.
  const store = await openStore({ ...testSettings(), ...at(first) });
  const test = await TestApp.open({ store, settings: SETTINGS });
  const owner = test.as({ tier: 'ENTERPRISE' });
  await store.registry.createTenant({
    id: 'tenant-1',
    name: 'one',
    tier: 'PRO',
    scope: 'trade',
    createdAt: 1,
  });
  await store.registry.createApiKey({
    hash: 'h',
    tenantId: 'tenant-1',
    tier: 'PRO',
    scope: 'trade',
    createdAt: 2,
  });
  await store.registry.revokeApiKey('h', 3);
  const made = (
    await owner.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
    })
  ).body as Made;
  const simulationId = made.simulationId;
  const client = test.withToken(made.token);
  await pushQuote(client);
  const { portfolioId } = (await openPortfolio(client)) as { readonly portfolioId: string };
  const order = orderBody(portfolioId);
  expect((await client.post('/v1/orders', order, KEYED)).status).toBe(201);
  await owner.post(`/v1/simulations/${simulationId}/snapshots`, { name: 'one' });
  // The hash of a snapshot follows behind its answer; the comparison below is to have it on both sides.
  await expect
    .poll(async (): Promise<unknown> => (await owner.get(`/v1/simulations/${simulationId}/snapshots`)).body, {
      timeout: 10_000,
    })
    .toMatchObject({ data: [{ stateHash: expect.any(String) as string }] });
  const fork = (await owner.post(`/v1/simulations/${simulationId}/forks`, {})).body as Made;
  await placeOrder(test.withToken(fork.token), portfolioId);
  await placeOrder(client, portfolioId);
  const gone = (await owner.post('/v1/simulations', { feed: 'push', clock: 'manual' })).body as Made;
  await owner.delete(`/v1/simulations/${gone.simulationId}`);
  await saveWebhook(store.registry, WEBHOOK);
  await store.webhooks.apply([
    { change: 'save-delivery', delivery: deliveryOf(1) },
    { change: 'save-delivery', delivery: deliveryOf(2) },
    {
      change: 'save-cursor',
      cursor: {
        webhookId: WEBHOOK.webhookId,
        simulationId: mainOf('tenant-1'),
        position: { seq: 2, place: 0 },
        tried: [{ seq: 3, place: 1 }],
      },
    },
  ]);
  await expect(migrated(first, url)).rejects.toThrow(StoreInUse);
  await test.close();
  const forkId = fork.simulationId;
  const see = async (place: string): Promise<Seen> =>
    seenAt(await openStore({ ...testSettings(), ...at(place) }), simulationId, forkId, order);
  const before = await see(first);

  await expect(migrated(first, url, 3)).rejects.toThrow('broken off');
  await expect(openStore({ ...testSettings(), ...at(url) })).rejects.toThrow(
    'A migration into this store has not finished',
  );
  const there = await migrated(first, url);
  expect(there).toMatchObject({ webhooks: 1, deliveries: 2 });
  expect(there.found).toBeGreaterThan(0);
  expect(there.answers).toBeGreaterThan(0);
  expect(await see(url)).toEqual(before);
  await expect(migrated(first, url)).rejects.toThrow('has data already');

  const second = join(folder, 'second');
  expect(await migrated(url, second)).toMatchObject({ found: 0, webhooks: 1, deliveries: 2 });
  expect(await see(second)).toEqual(before);
  const last = await openStore({ ...testSettings(), ...at(second) });
  expect(last.registry.apiKey('h')).toMatchObject({ revokedAt: 3 });
  expect(last.registry.simulation(gone.simulationId)?.deletedAt).toBeGreaterThan(0);
  await last.close();
}, 120_000);
