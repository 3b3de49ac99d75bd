/** The webhooks of earlier versions, which were in a file of their own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { webhooksIn } from '../../webhooks.js';
import { backUp } from '../checks/backup.js';
import { newDirectory, openTestStore, removeDirectories } from '../data-directory.contract.js';
import { openConnection } from '../database/connection.js';

afterAll(removeDirectories);

const WEBHOOK = {
  webhookId: 'w1',
  tenantId: 'tenant-1',
  url: 'https://hooks.example.com/',
  events: ['*'],
  simulationId: '*',
  status: 'ENABLED',
  secret: 'whsec_AAAA',
  retired: [{ secret: 'whsec_BBBB', until: 5 }],
  createdAt: 1,
  failingSince: 4,
};

const DELIVERIES = [
  { id: 'd1', seq: 4, place: 1, status: 'DELIVERED', nextAt: null },
  { id: 'd2', seq: 6, place: 3, status: 'PENDING', nextAt: 9000 },
  { id: 'd3', seq: 7, place: 1, status: 'FAILED', nextAt: null },
] as const;

/** Makes a data directory what an earlier version left: the journal has no tables of webhooks, which are in a file. */
async function directoryOf010(hasWebhooks: boolean): Promise<string> {
  const directory = newDirectory();
  const store = await openTestStore(directory);
  await store.registry.createTenant({
    id: 'tenant-1',
    name: 'one',
    tier: 'PRO',
    scope: 'trade',
    createdAt: 1,
  });
  await store.close();
  const journal = openConnection(join(directory, 'journal.db'), { readOnly: false });
  journal.exec('DROP TABLE webhook_cursor; DROP TABLE webhook_delivery; PRAGMA user_version = 5');
  journal.close();
  if (!hasWebhooks) return directory;
  const file = openConnection(join(directory, 'webhooks.db'), { readOnly: false });
  file.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE webhook (k INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, data TEXT NOT NULL);
    CREATE TABLE cursor (
      webhook TEXT NOT NULL, simulation TEXT NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL,
      PRIMARY KEY (webhook, simulation)
    ) WITHOUT ROWID;
    CREATE TABLE delivery (
      k INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, webhook TEXT NOT NULL, simulation TEXT NOT NULL,
      event TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL,
      body TEXT NOT NULL, attempts TEXT NOT NULL, tries INTEGER NOT NULL, status TEXT NOT NULL, next_at INTEGER, tried_at INTEGER NOT NULL
    );
    PRAGMA user_version = 1`);
  file.prepare('INSERT INTO webhook (id, data) VALUES (?, ?)').run('w1', JSON.stringify(WEBHOOK));
  file.exec(
    `INSERT INTO cursor VALUES ('w1', 'main/tenant-1', 5, 999999); INSERT INTO cursor VALUES ('w1', 'a', 2, 1)`,
  );
  for (const { id, seq, place, status, nextAt } of DELIVERIES)
    file
      .prepare(
        `INSERT INTO delivery VALUES (NULL, ?, 'w1', 'main/tenant-1', ?, 'order.filled', ?, ?, ?, ?, 1, ?, ?, 7)`,
      )
      .run(id, `evt_${id}`, seq, place, `{"of":"${id}"}`, '[{"at":7,"durationMs":3}]', status, nextAt);
  file.close();
  return directory;
}

async function expectWebhooks(directory: string): Promise<void> {
  const store = await openTestStore(directory);
  expect(webhooksIn(store.registry)).toEqual([WEBHOOK]);
  const { cursors, pending } = await store.webhooks.load(['w1']);
  expect(cursors).toEqual([
    { webhookId: 'w1', simulationId: 'a', position: { seq: 2, place: 1 }, tried: [] },
    {
      webhookId: 'w1',
      simulationId: 'main/tenant-1',
      position: { seq: 5, place: 999_999 },
      tried: [
        { seq: 6, place: 3 },
        { seq: 7, place: 1 },
      ],
    },
  ]);
  expect(pending).toEqual(new Map([['w1', 1]]));
  const { items } = await store.webhooks.deliveries({ webhookId: 'w1', offset: 0, limit: 10 });
  expect(items).toEqual(
    DELIVERIES.toReversed().map(({ id, status, nextAt }) => ({
      deliveryId: id,
      webhookId: 'w1',
      simulationId: 'main/tenant-1',
      eventId: `evt_${id}`,
      type: 'order.filled',
      body: `{"of":"${id}"}`,
      attempts: [{ at: 7, durationMs: 3 }],
      tries: 1,
      status,
      ...(nextAt !== null && { nextAt }),
    })),
  );
  await store.close();
  expect(existsSync(join(directory, 'webhooks.db'))).toBe(false);
}

it('a data directory of earlier versions is opened with its endpoints, cursors and deliveries, once', async () => {
  const directory = await directoryOf010(true);
  await expectWebhooks(directory);
  await expectWebhooks(directory);
});

it('a data directory of earlier versions without webhooks is opened', async () => {
  const store = await openTestStore(await directoryOf010(false));
  expect(store.registry.tenant('tenant-1')?.name).toBe('one');
  expect(webhooksIn(store.registry)).toEqual([]);
  await store.close();
});

it('a backup of a data directory of earlier versions contains its webhooks', async () => {
  const directory = await directoryOf010(true);
  const copy = join(newDirectory(), 'copy');
  backUp(directory, copy);
  await expectWebhooks(copy);
});

it('a process that ended before it removed the file of earlier versions leaves no webhook twice', async () => {
  const directory = await directoryOf010(true);
  const path = join(directory, 'webhooks.db');
  const kept = openConnection(path, { readOnly: true });
  kept.prepare('VACUUM INTO ?').run(join(directory, 'kept.db'));
  kept.close();
  await expectWebhooks(directory);
  const again = openConnection(join(directory, 'kept.db'), { readOnly: true });
  again.prepare('VACUUM INTO ?').run(path);
  again.close();
  await expectWebhooks(directory);
});
