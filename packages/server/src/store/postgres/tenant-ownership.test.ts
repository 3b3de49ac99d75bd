import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newDatabase } from '../../testing/test-database.js';
import { allOf, answerOf, recordOf, START } from '../fixtures.contract.js';
import { StoreInUse, StoreUnavailable } from '../journal.js';
import type { Ownership } from '../ownership.js';
import type { Store } from '../store.js';
import { openPostgresStore } from './postgres-store.js';

const CELL = 'cell-1';
const TENANT = 'tenant-1';

interface Node extends Store {
  readonly ownership: Ownership;
  readonly lost: string[];
  /** Resolves when it is evicted. */
  readonly evicted: Promise<void>;
}

describe('Nodes that share a database', () => {
  let url: string;
  let nodes: Node[] = [];

  async function open(node: string): Promise<Node> {
    const lost: string[] = [];
    let onEvicted: () => void = () => undefined;
    const evicted = new Promise<void>((resolve) => (onEvicted = resolve));
    const store = await openPostgresStore({
      url,

      node,
      cluster: { url: `http://${node}`, version: '1', facts: { rules: 'r' } },
      onLost: (id) => lost.push(id),
      onEvicted,
    });
    if (store.ownership === undefined) throw new Error('no cluster');
    const opened = { ...store, ownership: store.ownership, lost, evicted };
    nodes.push(opened);
    return opened;
  }

  async function execute(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  }

  /** The row of a node after a silence of five seconds, of which the node knows nothing. */
  const evict = ({ ownership }: Node): Promise<void> =>
    execute(`UPDATE sandpit.incarnation SET struck_out = true WHERE id = ${ownership.incarnation}`);

  const create = (store: Store, id = CELL): Promise<void> =>
    store.registry.createSimulation({ id, tenantId: TENANT, config: '{}', createdAt: START });

  beforeEach(async () => {
    url = await newDatabase();
  });
  afterEach(async () => {
    for (const node of nodes) await node.close();
    nodes = [];
  });

  it('list each other, and only one at a time owns a tenant', async () => {
    const [a, b] = [await open('a'), await open('b')];
    await a.ownership.poll();
    expect(a.ownership.nodes.map(({ nodeId, url: at }) => [nodeId, at])).toEqual([
      ['a', 'http://a'],
      ['b', 'http://b'],
    ]);
    expect([...(await a.ownership.acquire([TENANT]))]).toEqual([TENANT]);
    expect([...(await b.ownership.acquire([TENANT]))]).toEqual([]);
    await create(a);
    await a.journal.append(recordOf(CELL, 1), answerOf('k1', { simulationId: CELL }));
    await expect(create(b, 'cell-2')).rejects.toThrow(StoreUnavailable);
    // Handed over with its contents, under the next epoch.
    await a.ownership.release([TENANT], b.ownership.incarnation);
    await expect(a.journal.append(recordOf(CELL, 2))).rejects.toThrow(StoreUnavailable);
    expect([...(await b.ownership.acquire([TENANT]))]).toEqual([TENANT]);
    await b.journal.append(recordOf(CELL, 2));
    expect((await allOf(a.journal.read(CELL, 0))).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(await b.ownership.headsOf(TENANT)).toEqual([{ simulationId: CELL, epoch: 2, sequence: 2 }]);
    const kept = await b.journal.findAnswer(TENANT, CELL, 'POST /v1/orders', 'k1', START);
    expect(kept?.statusCode).toBe(201);
  });

  it('acquire a tenant once when two calls request it at the same time', async () => {
    const [a, b] = [await open('a'), await open('b')];
    await a.ownership.acquire([TENANT]);
    await create(a);
    await a.ownership.release([TENANT], b.ownership.incarnation);
    await Promise.all([b.ownership.acquire([TENANT]), b.ownership.acquire([TENANT])]);
    await b.journal.append(recordOf(CELL, 1));
    expect(await b.ownership.headsOf(TENANT)).toEqual([{ simulationId: CELL, epoch: 2, sequence: 1 }]);
  });

  it('find the owners of tenants that are asked for at the same time, also beside an id that PostgreSQL refuses', async () => {
    const { ownership } = await open('a');
    await ownership.acquire([TENANT, 'tenant-2']);
    const asked = ['\u0000', TENANT, 'tenant-3', 'tenant-2'].map((id) => ownership.placementOf(id));
    const found = await Promise.allSettled(asked);
    expect(found.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    const placements = await Promise.all(asked.slice(1));
    expect(placements.map((placement) => placement?.tenantId)).toEqual([TENANT, undefined, 'tenant-2']);
  });

  it('fence a node that was evicted, which restarts under a new incarnation', async () => {
    const [a, b] = [await open('a'), await open('b')];
    await a.ownership.acquire([TENANT]);
    await create(a);
    await a.journal.append(recordOf(CELL, 1));
    await evict(a);
    expect((await b.ownership.placementOf(TENANT))?.isLost).toBe(true);
    await b.ownership.acquire([TENANT]);
    await expect(a.journal.append(recordOf(CELL, 2))).rejects.toThrow(StoreUnavailable);
    expect(a.lost).toEqual([CELL]);
    await a.evicted;
    expect(a.mayAnswer?.()).toBe(false);
    expect([...(await a.ownership.acquire(['tenant-2']))]).toEqual([]);
    await b.journal.append(recordOf(CELL, 2));
    expect((await allOf(b.journal.read(CELL, 0))).map(({ seq }) => seq)).toEqual([1, 2]);
    const again = await open('a');
    expect(again.ownership.incarnation).toBeGreaterThan(b.ownership.incarnation);
    expect((await again.ownership.placementOf(TENANT))?.incarnation).toBe(b.ownership.incarnation);
  });

  it('keep a node from answering before another acquires the tenants of its revoked lease', async () => {
    const [a, b] = [await open('a'), await open('b')];
    await a.ownership.acquire([TENANT]);
    await b.ownership.revoke(a.ownership.incarnation);
    // The node does not know yet: it may still respond, and its tenant cannot be acquired.
    expect(a.mayAnswer?.()).toBe(true);
    expect([...(await b.ownership.acquire([TENANT]))]).toEqual([]);
    let answeredUntil = 0;
    let takenAt = 0;
    await expect
      .poll(
        async () => {
          if (a.mayAnswer?.() === true) answeredUntil = performance.now();
          const taken = await b.ownership.acquire([TENANT]);
          if (taken.size > 0) takenAt = performance.now();
          return takenAt;
        },
        { timeout: 10_000, interval: 5 },
      )
      .toBeGreaterThan(0);
    expect(answeredUntil).toBeLessThan(takenAt);
    expect(a.mayAnswer?.()).toBe(false);
    await a.evicted;
  });

  it('append a decision whose lease ends in the same turn, so that memory is never ahead of the journal', async () => {
    const a = await open('a');
    await a.ownership.acquire([TENANT]);
    await create(a);
    expect(a.health().status).toBe('ok');
    const late = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    expect(a.ownership.mayDecide()).toBe(false);
    const appended = a.journal.append(recordOf(CELL, 1));
    late.mockRestore();
    await appended;
    await a.journal.append(recordOf(CELL, 2));
    expect((await allOf(a.journal.read(CELL, 0))).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(a.lost).toEqual([]);
  });

  it('report a simulation whose state does not continue its journal', async () => {
    const a = await open('a');
    await a.ownership.acquire([TENANT]);
    await create(a);
    await expect(a.journal.append(recordOf(CELL, 2))).rejects.toThrow(StoreUnavailable);
    expect(a.lost).toEqual([CELL]);
    await a.ownership.release([TENANT], undefined);
    await expect(a.journal.append(recordOf(CELL, 1))).rejects.toThrow('is served elsewhere');
    expect(a.lost).toEqual([CELL, CELL]);
  });

  it('read a journal only behind the records that an earlier opening has appended', async () => {
    const a = await open('a');
    await a.ownership.acquire([TENANT]);
    await create(a);
    await a.journal.append(recordOf(CELL, 1));
    void a.journal.append(recordOf(CELL, 2));
    expect(a.journal.lastSeq(CELL)).toBe(1);
    await a.acquireCell?.(CELL);
    expect(a.journal.lastSeq(CELL)).toBe(2);
  });

  it('read a journal of more blocks than are fetched at a time, one of them large', async () => {
    const a = await open('a');
    await a.ownership.acquire([TENANT]);
    await create(a);
    const records = Array.from({ length: 40 }, (_, index) => {
      const record = recordOf(CELL, index + 1);
      return index === 2 ? { ...record, payload: record.payload + ' '.repeat(300_000) } : record;
    });
    for (const record of records) await a.journal.append(record);
    const seqs = async (after: number): Promise<readonly number[]> =>
      (await allOf(a.journal.read(CELL, after))).map(({ seq }) => seq);
    const [all, later] = await Promise.all([seqs(0), seqs(2)]);
    expect(all).toEqual(records.map(({ seq }) => seq));
    expect(later).toEqual(all.slice(2));
  });

  it('find the answer to a key after the cell was lost and before its simulation is opened again', async () => {
    const a = await open('a');
    await a.ownership.acquire([TENANT]);
    await create(a);
    await a.journal.append(recordOf(CELL, 1), answerOf('k1', { simulationId: CELL }));
    await execute('UPDATE sandpit.head SET epoch = epoch + 1');
    await expect(a.journal.append(recordOf(CELL, 2), answerOf('k2', { simulationId: CELL }))).rejects.toThrow(
      StoreUnavailable,
    );
    expect(a.lost).toEqual([CELL]);
    const find = (key: string) => a.journal.findAnswer(TENANT, CELL, 'POST /v1/orders', key, START);
    expect(await find('k1')).toEqual(answerOf('k1', { simulationId: CELL }));
    expect(await find('k2')).toBeUndefined();
    expect(a.journal.lastSeq(CELL)).toBe(1);
  });

  it('do not know the answer to a key while its commit waits, even if its caller was told 503', async () => {
    const a = await open('a');
    await a.ownership.acquire([TENANT]);
    await create(a);
    const find = (key: string) => a.journal.findAnswer(TENANT, CELL, 'POST /v1/orders', key, START);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    try {
      await other.query('BEGIN; SELECT 1 FROM sandpit.head FOR UPDATE');
      const first = a.journal.append(recordOf(CELL, 1), answerOf('k1', { simulationId: CELL }));
      await expect(first).rejects.toThrow(StoreUnavailable);
      await expect(find('k1')).rejects.toThrow('The first answer to this key is not written yet');
      expect(await find('k2')).toBeUndefined();
      await other.query('COMMIT');
      await expect.poll(() => a.health().status).toBe('ok');
      expect(await find('k1')).toEqual(answerOf('k1', { simulationId: CELL }));
    } finally {
      await other.end();
    }
  });

  it('acquire a cell that the earlier owner created while it lost the tenant', async () => {
    const [a, b] = [await open('a'), await open('b')];
    await a.ownership.acquire([TENANT]);
    await evict(a);
    await b.ownership.acquire([TENANT]);
    // The old owner does not know yet: the cell that it creates exists, and belongs to the new owner.
    await create(a);
    expect(b.journal.lastSeq(CELL)).toBe(0);
    await b.ownership.acquireCell(CELL);
    await b.journal.append(recordOf(CELL, 1));
    await expect(a.journal.append(recordOf(CELL, 1))).rejects.toThrow(StoreUnavailable);
  });

  it('refuse a stand-alone server on the same database', async () => {
    await open('a');
    await expect(openPostgresStore({ url, node: 'b' })).rejects.toThrow(StoreInUse);
  });
});
