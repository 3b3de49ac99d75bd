import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { CuttingProxy } from '../../testing/cutting-proxy.js';
import { newDatabase } from '../../testing/test-database.js';
import { allOf, answerOf, recordOf, START, withSimulation } from '../fixtures.contract.js';
import { blockHash, chainStart, recordLine } from '../journal-chain.js';
import { COMMIT, COMMIT_WITH_REGISTRY, commitValues } from './commit-statement.js';
import { DatabaseAddress } from './database.js';
import type { Connection } from './database.js';
import { openPostgresStore } from './postgres-store.js';
import { prepareTables } from './schema.js';

const CELL = 7;
const TAKE = 'UPDATE head SET epoch = epoch + 1, incarnation = 2 WHERE cell = $1 RETURNING epoch, seq';

/** The commit of the first record of a cell by its owner in an epoch. */
function firstRecord(epoch: number): unknown[] {
  const data = Buffer.from(recordLine(1, START, '{"command":{},"events":[]}'));
  const before = chainStart(CELL);
  const hash = blockHash(before, { epoch, first: 1, last: 1, data });
  const block = { first: 1, last: 1, hash, data };
  const move = {
    key: CELL,
    epoch,
    seq: 0,
    hash: before,
    newSeq: 1,
    newHash: hash,
    wakeAt: null,
    isNew: false,
  };
  return commitValues([{ ...move, blocks: [block], answers: [] }], []);
}

describe('the fence of a cell', () => {
  let owner: Connection;
  let taker: Connection;
  let looker: Connection;

  beforeEach(async () => {
    const address = new DatabaseAddress(await newDatabase());
    [owner, taker, looker] = [await address.connect(), await address.connect(), await address.connect()];
    await prepareTables(owner.client, 'test');
    await owner.client.query(
      'INSERT INTO head (cell, incarnation, epoch, seq, hash) VALUES ($1, 1, 1, 0, $2)',
      [CELL, chainStart(CELL)],
    );
  });
  afterEach(async () => {
    for (const one of [owner, taker, looker]) await one.close().catch(() => undefined);
  });

  /** Resolves when a statement of this connection waits for a lock. */
  async function isWaiting(client: pg.Client): Promise<void> {
    const { processID } = client as unknown as { readonly processID: number };
    await expect
      .poll(
        async () =>
          (
            await looker.client.query<{ wait: string }>(
              'SELECT wait_event_type AS wait FROM pg_stat_activity WHERE pid = $1',
              [processID],
            )
          ).rows[0]?.wait,
      )
      .toBe('Lock');
  }

  const blocks = async (): Promise<number> =>
    Number((await looker.client.query<{ n: string }>('SELECT count(*) AS n FROM block')).rows[0]?.n);

  it('lets a take-over wait for a commit that is under way, and see it', async () => {
    await owner.client.query('BEGIN');
    expect((await owner.client.query(COMMIT, firstRecord(1))).rows).toEqual([{ cell: CELL }]);
    const taking = taker.client.query(TAKE, [CELL]);
    await isWaiting(taker.client);
    await owner.client.query('COMMIT');
    expect((await taking).rows).toEqual([{ epoch: '2', seq: '1' }]);
    expect(await blocks()).toBe(1);
  });

  it('lets a commit of the old owner wait for a take-over, and shuts it out', async () => {
    await taker.client.query('BEGIN');
    await taker.client.query(TAKE, [CELL]);
    const committing = owner.client.query(COMMIT, firstRecord(1));
    await isWaiting(owner.client);
    await taker.client.query('COMMIT');
    expect((await committing).rows).toEqual([]);
    expect(await blocks()).toBe(0);
    // The new owner continues from the head that it acquired.
    expect((await taker.client.query(COMMIT, firstRecord(2))).rows).toEqual([{ cell: CELL }]);
    expect((await owner.client.query(COMMIT, firstRecord(1))).rows).toEqual([]);
    expect(await blocks()).toBe(1);
  });

  it('refuses only the cells whose heads do not match', async () => {
    const other = CELL + 1;
    await owner.client.query(
      'INSERT INTO head (cell, incarnation, epoch, seq, hash) VALUES ($1, 1, 5, 3, $2)',
      [other, chainStart(other)],
    );
    const answer = {
      lookup: 'a',
      expiresAt: 1,
      fingerprint: 'f',
      statusCode: 200,
      body: '{}',
      checksum: new Uint8Array(32),
    };
    const moveOf = (key: number, epoch: number, seq: number) => ({
      key,
      epoch,
      seq,
      hash: chainStart(key),
      newSeq: seq,
      newHash: chainStart(key),
      wakeAt: null,
      isNew: false,
      blocks: [],
      answers: [answer],
    });
    const { rows } = await owner.client.query(
      COMMIT,
      commitValues([moveOf(CELL, 2, 0), moveOf(other, 5, 3)], []),
    );
    expect(rows).toEqual([{ cell: other }]);
    expect((await looker.client.query('SELECT cell FROM answer')).rows).toEqual([{ cell: other }]);
  });

  it('moves no cell while another node has changed the registry, whose changes are of the same commit', async () => {
    const { rows } = await looker.client.query<{ version: string }>('SELECT version FROM registry_head');
    const version = Number(rows[0]?.version ?? 0);
    const at = (seen: number): unknown[] => [
      ...firstRecord(1),
      ...[seen, seen + 1, 'stamp', 'digest', ['setting'], ['a'], ['b'], 1, [], [], [], [], [], []],
    ];
    expect((await owner.client.query(COMMIT_WITH_REGISTRY, at(version + 1))).rows).toEqual([]);
    expect(await blocks()).toBe(0);
    const done = (await owner.client.query<{ cell: number }>(COMMIT_WITH_REGISTRY, at(version))).rows;
    expect(done.map(({ cell }) => cell).sort((a, b) => a - b)).toEqual([0, CELL]);
    expect(await blocks()).toBe(1);
  });

  it('does not wait longer than two seconds for a client that is lost while it holds the lock', async () => {
    await owner.client.query('BEGIN');
    await owner.client.query(COMMIT, firstRecord(1));
    const began = performance.now();
    expect((await taker.client.query(TAKE, [CELL])).rows).toEqual([{ epoch: '2', seq: '0' }]);
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(await blocks()).toBe(0);
  });
});

describe('a commit whose answer is lost', () => {
  it('is found where it was done, and its records are there once', async () => {
    const url = await newDatabase();
    const proxy = await CuttingProxy.to(Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(proxy.port);
    const store = await withSimulation(await openPostgresStore({ url: through.href, node: 'test' }));
    try {
      await store.journal.append(recordOf('main', 1));
      const cut = proxy.cutNextAnswer();
      const appended = store.journal.append(recordOf('main', 2), answerOf('k2')).catch(() => 'late');
      await cut;
      await appended;
      await expect.poll(() => store.health().status, { timeout: 10_000 }).toBe('ok');
      await store.journal.append(recordOf('main', 3));
      expect((await allOf(store.journal.read('main', 0))).map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(await store.journal.findAnswer('tenant-1', 'main', 'POST /v1/orders', 'k2', START)).toEqual(
        answerOf('k2'),
      );
    } finally {
      await store.close();
      await proxy.close();
    }
  });
});
