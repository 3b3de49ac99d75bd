import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from './store.js';
import type { StoredDelivery, StoredWebhook, WebhookStore } from './webhooks.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-01-05T15:00:00Z');

const webhook = (webhookId: string, more: Partial<StoredWebhook> = {}): StoredWebhook => ({
  webhookId,
  tenantId: 'tenant-1',
  url: 'https://hooks.example.com/',
  events: ['*'],
  simulationId: 'main',
  status: 'ENABLED',
  secret: 'whsec_AAAA',
  retired: [],
  createdAt: NOW,
  ...more,
});

const delivery = (deliveryId: string, more: Partial<StoredDelivery> = {}): StoredDelivery => ({
  deliveryId,
  webhookId: 'w1',
  simulationId: 'main/tenant-1',
  eventId: `evt_main_${deliveryId}`,
  type: 'order.filled',
  position: { seq: 1, place: 1 },
  body: '{}',
  attempts: [{ at: NOW, statusCode: 204, durationMs: 3 }],
  tries: 1,
  status: 'DELIVERED',
  ...more,
});

const pending = (deliveryId: string, nextAt: number, more: Partial<StoredDelivery> = {}): StoredDelivery =>
  delivery(deliveryId, {
    status: 'PENDING',
    nextAt,
    attempts: [{ at: NOW, error: 'The receiver answered 500', statusCode: 500, durationMs: 3 }],
    ...more,
  });

/** Behavior of every store of webhooks. `open` opens an empty one. */
export function webhookContract(name: string, open: () => Promise<Store>): void {
  describe(`webhooks of the ${name} store`, () => {
    let store: Store;
    let webhooks: WebhookStore;

    beforeEach(async () => {
      store = await open();
      webhooks = store.webhooks;
    });
    afterEach(() => store.close());

    const save = (...all: readonly StoredDelivery[]): Promise<void> =>
      webhooks.apply(all.map((one) => ({ change: 'save-delivery', delivery: one })));

    it('load: is empty at first', async () => {
      expect(await webhooks.load()).toEqual({ webhooks: [], cursors: [], pending: new Map() });
    });

    it('load: returns endpoints in their order, cursors and PENDING deliveries', async () => {
      const cursor = { webhookId: 'w1', simulationId: 'main/tenant-1', position: { seq: 7, place: 999_999 } };
      await webhooks.apply([
        { change: 'save-webhook', webhook: webhook('w1') },
        { change: 'save-webhook', webhook: webhook('w2', { description: 'second' }) },
        { change: 'save-webhook', webhook: webhook('w1', { status: 'DISABLED', reason: 'Gone' }) },
        { change: 'save-cursor', cursor: { ...cursor, position: { seq: 1, place: 1 } } },
        { change: 'save-cursor', cursor },
        { change: 'save-delivery', delivery: pending('d1', NOW) },
      ]);
      expect(await webhooks.load()).toEqual({
        webhooks: [
          webhook('w1', { status: 'DISABLED', reason: 'Gone' }),
          webhook('w2', { description: 'second' }),
        ],
        cursors: [cursor],
        pending: new Map([['w1', 1]]),
      });
    });

    it('due: returns PENDING deliveries of an endpoint, soonest first', async () => {
      await save(
        pending('d1', NOW + 3),
        pending('d2', NOW + 1),
        delivery('d3'),
        pending('d4', NOW + 2),
        pending('d5', NOW, { webhookId: 'w2' }),
      );
      expect((await webhooks.due('w1', 2)).map(({ deliveryId }) => deliveryId)).toEqual(['d2', 'd4']);
    });

    it('deliveries: pages newest first, and by status', async () => {
      await save(delivery('d1'), pending('d2', NOW), delivery('d3'), delivery('d4'));
      await save(delivery('d1', { status: 'FAILED' }));
      const first = await webhooks.deliveries({ webhookId: 'w1', offset: 0, limit: 2 });
      expect(first.items.map(({ deliveryId }) => deliveryId)).toEqual(['d4', 'd3']);
      expect(first.total).toBe(4);
      await save(delivery('d5'));
      const second = await webhooks.deliveries({
        webhookId: 'w1',
        offset: 0,
        limit: 2,
        ...(first.next !== undefined && { before: first.next }),
      });
      expect(second.items.map(({ deliveryId }) => deliveryId)).toEqual(['d2', 'd1']);
      expect(second.next).toBeUndefined();
      const failed = await webhooks.deliveries({ webhookId: 'w1', status: 'FAILED', offset: 0, limit: 10 });
      expect(failed).toEqual({ items: [delivery('d1', { status: 'FAILED' })], total: 1 });
    });

    it('delivery: finds a delivery of its own endpoint only', async () => {
      await save(delivery('d1'));
      expect(await webhooks.delivery('w1', 'd1')).toEqual(delivery('d1'));
      expect(await webhooks.delivery('w2', 'd1')).toBeUndefined();
    });

    it('triedAfter: returns the events after a position', async () => {
      await save(
        delivery('d1', { position: { seq: 4, place: 1 } }),
        delivery('d2', { position: { seq: 4, place: 3 } }),
        delivery('d3', { position: { seq: 5, place: 0 } }),
        delivery('d4', { position: { seq: 9, place: 0 }, simulationId: 'other' }),
      );
      const cursor = { webhookId: 'w1', simulationId: 'main/tenant-1', position: { seq: 4, place: 1 } };
      expect([...(await webhooks.triedAfter(cursor))].sort()).toEqual(['evt_main_d2', 'evt_main_d3']);
    });

    it('fail-pending: fails all PENDING deliveries of one endpoint', async () => {
      await save(pending('d1', NOW), pending('d2', NOW, { webhookId: 'w2' }));
      await webhooks.apply([{ change: 'fail-pending', webhookId: 'w1' }]);
      expect(await webhooks.due('w1', 10)).toEqual([]);
      expect(await webhooks.delivery('w1', 'd1')).toMatchObject({ status: 'FAILED' });
      expect(await webhooks.due('w2', 10)).toHaveLength(1);
    });

    it('delete-webhook and delete-simulation: delete every row', async () => {
      const position = { seq: 1, place: 1 };
      await webhooks.apply([
        { change: 'save-webhook', webhook: webhook('w1') },
        { change: 'save-webhook', webhook: webhook('w2') },
        { change: 'save-cursor', cursor: { webhookId: 'w1', simulationId: 'a', position } },
        { change: 'save-cursor', cursor: { webhookId: 'w2', simulationId: 'a', position } },
        { change: 'save-cursor', cursor: { webhookId: 'w2', simulationId: 'b', position } },
        { change: 'save-delivery', delivery: delivery('d1') },
        { change: 'save-delivery', delivery: delivery('d2', { webhookId: 'w2', simulationId: 'a' }) },
        { change: 'save-delivery', delivery: delivery('d3', { webhookId: 'w2', simulationId: 'b' }) },
      ]);
      await webhooks.apply([
        { change: 'delete-webhook', webhookId: 'w1' },
        { change: 'delete-simulation', simulationId: 'a' },
      ]);
      const left = await webhooks.load();
      expect(left.webhooks.map(({ webhookId }) => webhookId)).toEqual(['w2']);
      expect(left.cursors).toEqual([{ webhookId: 'w2', simulationId: 'b', position }]);
      expect(await webhooks.delivery('w1', 'd1')).toBeUndefined();
      expect(await webhooks.delivery('w2', 'd2')).toBeUndefined();
      expect(await webhooks.delivery('w2', 'd3')).toBeDefined();
    });

    it('prune: keeps PENDING deliveries and the latest successes of each endpoint', async () => {
      const old = NOW - 31 * 24 * HOUR;
      const at = (tried: number) => [{ at: tried, statusCode: 204, durationMs: 3 }];
      await webhooks.apply([{ change: 'save-webhook', webhook: webhook('w1') }]);
      await save(
        delivery('d1', { attempts: at(old) }),
        delivery('d2', { attempts: at(old), status: 'FAILED' }),
        pending('d3', NOW, { attempts: at(old) }),
        delivery('d4', { status: 'FAILED' }),
        delivery('d5'),
        delivery('d6'),
        delivery('d7'),
      );
      await webhooks.apply([{ change: 'prune', before: NOW - 30 * 24 * HOUR, keep: 2 }]);
      const { items } = await webhooks.deliveries({ webhookId: 'w1', offset: 0, limit: 10 });
      expect(items.map(({ deliveryId }) => deliveryId)).toEqual(['d7', 'd6', 'd4', 'd3']);
    });
  });
}
