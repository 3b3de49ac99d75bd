import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from './store.js';
import { eraseWebhook, saveWebhook, webhooksIn } from './webhooks.js';
import type { StoredDelivery, WebhookCursor, WebhookStore } from './webhooks.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-01-05T15:00:00Z');

const delivery = (deliveryId: string, more: Partial<StoredDelivery> = {}): StoredDelivery => ({
  deliveryId,
  webhookId: 'w1',
  simulationId: 'main/tenant-1',
  eventId: `evt_main_${deliveryId}`,
  type: 'order.filled',
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

    const cursor = (
      webhookId: string,
      simulationId: string,
      more: Partial<WebhookCursor> = {},
    ): WebhookCursor => ({
      webhookId,
      simulationId,
      position: { seq: 1, place: 1 },
      tried: [],
      ...more,
    });

    it('load: is empty at first', async () => {
      expect(await webhooks.load(['w1'])).toEqual({ cursors: [], pending: new Map() });
    });

    it('load: returns cursors and PENDING deliveries of the endpoints', async () => {
      const position = { seq: 7, place: 999_999 };
      const tried = [
        { seq: 8, place: 1 },
        { seq: 9, place: 3 },
      ];
      await webhooks.apply([
        { change: 'save-cursor', cursor: cursor('w1', 'main/tenant-1') },
        { change: 'save-cursor', cursor: cursor('w1', 'main/tenant-1', { position, tried }) },
        { change: 'save-cursor', cursor: cursor('w2', 'main/tenant-1') },
        { change: 'save-delivery', delivery: pending('d1', NOW) },
        { change: 'save-delivery', delivery: pending('d2', NOW, { webhookId: 'w2' }) },
      ]);
      expect(await webhooks.load(['w1'])).toEqual({
        cursors: [cursor('w1', 'main/tenant-1', { position, tried })],
        pending: new Map([['w1', 1]]),
      });
      const many = Array.from({ length: 250 }, (_, index) => `w${index}`);
      expect((await webhooks.load(many)).pending.size).toBe(2);
    });

    it('applySoon: makes changes durable within a tenth of a second, or with the next commit', async () => {
      await webhooks.applySoon(() => [{ change: 'save-delivery', delivery: delivery('d1') }]);
      expect(await webhooks.delivery('w1', 'd1')).toBeDefined();
      const soon = webhooks.applySoon(() => [{ change: 'save-delivery', delivery: delivery('d2') }]);
      await Promise.all([soon, store.registry.saveSetting('name', 'value')]);
      expect(await webhooks.delivery('w1', 'd2')).toBeDefined();
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

    it('failPending: fails all PENDING deliveries of one endpoint', async () => {
      await save(...Array.from({ length: 1100 }, (_, index) => pending(`d${index}`, NOW)));
      await save(pending('other', NOW, { webhookId: 'w2' }));
      await webhooks.failPending('w1');
      expect(await webhooks.due('w1', 10)).toEqual([]);
      const { nextAt: _, ...failed } = pending('d1099', NOW, { status: 'FAILED' });
      expect(await webhooks.delivery('w1', 'd1099')).toEqual(failed);
      expect(await webhooks.due('w2', 10)).toHaveLength(1);
    });

    it('remove: removes the rows of an endpoint, or those in a cell', async () => {
      await save(
        ...Array.from({ length: 1100 }, (_, index) => delivery(`d${index}`)),
        delivery('in-a', { webhookId: 'w2', simulationId: 'a' }),
        delivery('in-b', { webhookId: 'w2', simulationId: 'b' }),
      );
      const cursors = [cursor('w1', 'a'), cursor('w2', 'a'), cursor('w2', 'b')];
      await webhooks.apply(cursors.map((one) => ({ change: 'save-cursor', cursor: one })));
      await webhooks.remove('w1');
      await webhooks.remove('w2', 'a');
      expect((await webhooks.load(['w1', 'w2'])).cursors).toEqual([cursor('w2', 'b')]);
      expect((await webhooks.deliveries({ webhookId: 'w1', offset: 0, limit: 1 })).total).toBe(0);
      expect(await webhooks.delivery('w2', 'in-a')).toBeUndefined();
      expect(await webhooks.delivery('w2', 'in-b')).toBeDefined();
    });

    it('eraseWebhook: removes an endpoint of the registry with its rows', async () => {
      const common = {
        url: 'https://hooks.example.com/',
        events: ['*'],
        simulationId: 'main',
        status: 'ENABLED',
        secret: 'whsec_AAAA',
        retired: [],
      } as const;
      const first = { webhookId: 'w1', tenantId: 'tenant-1', createdAt: NOW, ...common };
      const second = { webhookId: 'w2', tenantId: 'tenant-2', createdAt: NOW - 1, ...common };
      for (const one of [first, second]) await saveWebhook(store.registry, one);
      await save(delivery('d1'));
      expect(webhooksIn(store.registry)).toEqual([second, first]);
      expect(webhooksIn(store.registry, 'tenant-1')).toEqual([first]);
      await eraseWebhook(store, 'w1');
      expect(webhooksIn(store.registry)).toEqual([second]);
      expect(await webhooks.delivery('w1', 'd1')).toBeUndefined();
    });

    it('prune: keeps PENDING deliveries and the latest successes of each endpoint', async () => {
      const old = NOW - 31 * 24 * HOUR;
      const at = (tried: number) => [{ at: tried, statusCode: 204, durationMs: 3 }];
      await save(
        delivery('d1', { attempts: at(old) }),
        delivery('d2', { attempts: at(old), status: 'FAILED' }),
        pending('d3', NOW, { attempts: at(old) }),
        delivery('d4', { status: 'FAILED' }),
        delivery('d5'),
        delivery('d6'),
        delivery('d7'),
      );
      await webhooks.apply([
        { change: 'prune', before: NOW - 30 * 24 * HOUR },
        { change: 'prune-successes', webhookId: 'w1', keep: 2 },
      ]);
      const { items } = await webhooks.deliveries({ webhookId: 'w1', offset: 0, limit: 10 });
      expect(items.map(({ deliveryId }) => deliveryId)).toEqual(['d7', 'd6', 'd4', 'd3']);
    });
  });
}
