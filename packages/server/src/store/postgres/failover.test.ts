import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PostgresServer } from '../../testing/postgres-server.js';
import { allOf, recordOf, withSimulation } from '../fixtures.contract.js';
import { StoreUnavailable } from '../journal.js';
import type { Store } from '../store.js';
import { DatabaseAddress } from './database.js';
import { openPostgresStore } from './postgres-store.js';

let primary: PostgresServer;
let standby: PostgresServer;
let folder: string;
let url: string;
let name: string;
/** Names both servers, the first primary first. */
let both: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-failover-'));
  primary = await PostgresServer.start();
  url = await primary.newDatabase();
  standby = await primary.startStandby();
  name = new URL(url).pathname.slice(1);
  both = url.replace(/@([^/]*)/, `@$1,127.0.0.1:${standby.port}`);
}, 60_000);
afterAll(async () => {
  await Promise.all([primary.stop(), standby.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const open = (at: string): Promise<Store> =>
  openPostgresStore({
    url: at,

    node: 'test',
    memory: join(folder, 'postgres.json'),
  });

const isServed = (store: Store) => expect.poll(() => store.health().status, { timeout: 20_000 }).toBe('ok');

const countsOn = (server: PostgresServer): Promise<readonly Record<string, unknown>[]> =>
  server.run(
    server.urlOf(name),
    'SELECT (SELECT sum(seq) FROM sandpit.head) AS seq, (SELECT sum(counter) FROM sandpit.incarnation) AS counter',
  );

it('a store fails over to a synchronous standby with every acknowledged record, and never uses the old primary again', async () => {
  await expect(new DatabaseAddress(standby.urlOf(name)).connect()).rejects.toThrow('is read-only');
  const store = await withSimulation(await open(both));
  try {
    await store.journal.append(recordOf('main', 1));
    await store.journal.append(recordOf('main', 2));
    await primary.kill();
    await expect(store.journal.append(recordOf('main', 3))).rejects.toThrow(StoreUnavailable);
    // Both hosts refuse: one is gone, the other one is read-only.
    await expect(store.contents?.answers('', 1)).rejects.toThrow(StoreUnavailable);
    // A server that starts now says so: the settings are right.
    await expect(open(both)).rejects.toThrow(/^no connection to PostgreSQL at .*ECONNREFUSED/);
    await standby.promote();
    await isServed(store);
    const seqs = async (): Promise<readonly number[]> =>
      (await allOf(store.journal.read('main', 0))).map(({ seq }) => seq);
    const found = await seqs();
    expect(found.slice(0, 2)).toEqual([1, 2]);
    await store.journal.append(recordOf('main', found.length + 1));

    // The old primary accepts writes again, and is named first.
    await primary.restart(['synchronous_standby_names=']);
    const before = await countsOn(primary);
    await standby.run(
      standby.urlOf('postgres'),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sandpit'`,
    );
    await expect
      .poll(
        () =>
          store.probe().then(
            () => 'committed',
            () => 'refused',
          ),
        { timeout: 10_000 },
      )
      .toBe('committed');
    await store.journal.append(recordOf('main', found.length + 2));
    expect(await seqs()).toHaveLength(found.length + 2);
    expect(await countsOn(primary)).toEqual(before);
  } finally {
    await store.close();
  }
  await expect(open(primary.urlOf(name))).rejects.toThrow(
    /is on timeline 1, but this node has used timeline 2: it is an old primary or an old copy; name the present primary/,
  );
  const again = await open(both);
  expect(again.journal.lastSeq('main')).toBeGreaterThan(3);
  await again.close();
}, 90_000);
