/** The webhooks of earlier versions in PostgreSQL, which had a table of endpoints. */
import pg from 'pg';
import { expect, it } from 'vitest';
import { OLDER_WEBHOOK_TABLES } from '../../testing/older-webhook-tables.js';
import { newDatabase } from '../../testing/test-database.js';
import { webhooksIn } from '../webhooks.js';
import { openPostgresStore } from './postgres-store.js';

const WEBHOOK = {
  webhookId: 'w1',
  tenantId: 'tenant-1',
  url: 'https://hooks.example.com/',
  events: ['*'],
  simulationId: '*',
  status: 'ENABLED',
  secret: 'whsec_AAAA',
  retired: [],
  createdAt: 1,
};

const deliveryOf = (id: string, more: object): object => ({
  deliveryId: id,
  webhookId: 'w1',
  simulationId: 'main/tenant-1',
  eventId: `evt_${id}`,
  type: 'order.filled',
  body: `{"of":"${id}"}`,
  attempts: [{ at: 7, durationMs: 3 }],
  tries: 1,
  ...more,
});

it('a database of earlier versions is opened with its endpoints, cursors and deliveries', async () => {
  const url = await newDatabase();
  await (await openPostgresStore({ url })).close();
  const client = new pg.Client({ connectionString: url, options: '-c search_path=sandpit' });
  await client.connect();
  await client.query(`
    ${OLDER_WEBHOOK_TABLES}
    UPDATE meta SET format = 3;
    INSERT INTO webhook_cursor VALUES ('w1', 'main/tenant-1', 5, 999999);`);
  await client.query('INSERT INTO webhook (id, data) VALUES ($1, $2)', ['w1', JSON.stringify(WEBHOOK)]);
  const delivered = deliveryOf('d1', { status: 'DELIVERED' });
  const pending = deliveryOf('d2', { status: 'PENDING', nextAt: 9000 });
  for (const [id, seq, nextAt, data] of [
    ['d1', 4, null, { ...delivered, position: { seq: 4, place: 1 } }],
    ['d2', 6, 9000, { ...pending, position: { seq: 6, place: 3 } }],
  ] as const)
    await client.query(
      `INSERT INTO webhook_delivery (id, webhook, simulation, event, seq, place, status, next_at, tried_at, data)
         VALUES ($1, 'w1', 'main/tenant-1', $2, $3, 3, $4, $5, 7, $6)`,
      [id, `evt_${id}`, seq, nextAt === null ? 'DELIVERED' : 'PENDING', nextAt, JSON.stringify(data)],
    );
  await client.end();

  for (let opening = 0; opening < 2; opening++) {
    const store = await openPostgresStore({ url });
    expect(webhooksIn(store.registry)).toEqual([WEBHOOK]);
    expect(await store.webhooks.load(['w1'])).toEqual({
      cursors: [
        {
          webhookId: 'w1',
          simulationId: 'main/tenant-1',
          position: { seq: 5, place: 999_999 },
          tried: [{ seq: 6, place: 3 }],
        },
      ],
      pending: new Map([['w1', 1]]),
    });
    const { items } = await store.webhooks.deliveries({ webhookId: 'w1', offset: 0, limit: 10 });
    expect(items).toEqual([pending, delivered]);
    await store.close();
  }
}, 60_000);
