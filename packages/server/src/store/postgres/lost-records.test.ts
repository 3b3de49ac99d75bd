import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backUp, execute, restore } from '../../testing/database-copies.js';
import { newDatabase } from '../../testing/test-database.js';
import { allOf, recordOf, START } from '../fixtures.contract.js';
import { RecordsMissing, UnusableDatabase } from '../journal.js';
import { EVENT_TAGS, settingsOf } from '../registry.js';
import type { Store } from '../store.js';
import { withLosses } from './lost-records.js';
import { openPostgresStore } from './postgres-store.js';

const [CELL, OTHER] = ['cell-1', 'cell-2'];
const TENANT = 'tenant-1';

interface Node extends Store {
  readonly lost: string[];
  readonly notes: string[];
  readonly evicted: Promise<void>;
}

describe('A PostgreSQL database restored from an older copy', () => {
  let url: string;
  let folder: string;
  const nodes = new Set<Node>();

  /** `node`: of a cluster; its acknowledged heads are in a file of this name. */
  async function open(node: string, at = url): Promise<Node> {
    const lost: string[] = [];
    const notes: string[] = [];
    let onEvicted: () => void = () => undefined;
    const evicted = new Promise<void>((resolve) => (onEvicted = resolve));
    const store = await openPostgresStore({
      url: at,

      node,
      memory: join(folder, `${node}.json`),
      cluster: { url: `http://${node}`, version: '1', facts: {} },
      onLost: (id) => lost.push(id),
      note: (text) => notes.push(text),
      onEvicted,
    });
    const opened = { ...store, lost, notes, evicted };
    nodes.add(opened);
    return opened;
  }

  async function close(node: Node): Promise<void> {
    nodes.delete(node);
    await node.close();
  }

  async function withCells(node: Node): Promise<void> {
    await node.ownership?.acquire([TENANT]);
    for (const id of [CELL, OTHER])
      await node.registry.createSimulation({ id, tenantId: TENANT, config: '{}', createdAt: START });
  }

  async function append(node: Node, id: string, first: number, last: number): Promise<void> {
    for (let seq = first; seq <= last; seq += 1) await node.journal.append(recordOf(id, seq));
  }

  const recovered = (node: Node): Promise<void> =>
    expect.poll(() => node.health().status, { timeout: 10_000 }).toBe('ok');

  beforeEach(async () => {
    url = await newDatabase();
    folder = mkdtempSync(join(tmpdir(), 'sandpit-memory-'));
  });
  afterEach(async () => {
    for (const node of nodes) await close(node);
    rmSync(folder, { recursive: true });
  });

  it('keeps a cell that lacks acknowledged records out of service at every node until its loss is accepted', async () => {
    const a = await open('a');
    await withCells(a);
    await append(a, CELL, 1, 3);
    await append(a, OTHER, 1, 1);
    await backUp(url);
    await recovered(a);
    await append(a, CELL, 4, 5);
    await restore(url);
    await expect.poll(() => a.lost, { timeout: 10_000 }).toEqual([CELL]);
    expect(a.notes).toContain(
      `${CELL} is out of service: the database lacks 2 records that were acknowledged; sandpit cluster accept-loss ${CELL} serves it without them`,
    );
    await recovered(a);
    await append(a, OTHER, 2, 2);
    await expect(a.acquireCell?.(CELL)).rejects.toThrow(RecordsMissing);
    await close(a);

    const b = await open('b');
    await b.ownership?.acquire([TENANT]);
    await expect(b.acquireCell?.(CELL)).rejects.toThrow(
      'The simulation is out of service: the database lacks 2 records that were acknowledged',
    );
    await withLosses(url, async (losses) => {
      expect(await losses.list()).toEqual([{ id: CELL, missing: 2 }]);
      expect(await losses.accept(OTHER)).toBeUndefined();
      expect(await losses.accept('nothing')).toBeUndefined();
      expect(await losses.accept(CELL)).toMatchObject({ id: CELL, missing: 2, sequence: 3 });
      expect(await losses.accept(CELL)).toBeUndefined();
    });
    await b.acquireCell?.(CELL);
    await append(b, CELL, 4, 4);
    expect((await allOf(b.journal.read(CELL, 0))).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(JSON.parse(b.registry.setting(settingsOf(CELL) + EVENT_TAGS) ?? '')).toEqual([
      { after: 3, tag: expect.stringMatching(/^[0-9a-f]{8}$/) as string },
    ]);
    await close(b);

    // The memory of node a is older than the accepted loss.
    const again = await open('a');
    await again.ownership?.acquire([TENANT]);
    await again.acquireCell?.(CELL);
    expect(again.journal.lastSeq(CELL)).toBe(4);
  });

  it('is detected by a node that was stopped during the restore, although another node has written since', async () => {
    const a = await open('a');
    await withCells(a);
    await append(a, CELL, 1, 1);
    await backUp(url);
    await recovered(a);
    await append(a, CELL, 2, 3);
    await close(a);
    await restore(url);
    // In the copy the node is alive, and would have to be silent for five seconds.
    await execute(url, 'UPDATE incarnation SET struck_out = true');
    const stranger = await open('b');
    await stranger.ownership?.acquire([TENANT]);
    await append(stranger, CELL, 2, 4);
    const again = await open('a');
    expect(again.notes.join('\n')).toContain(`${CELL} is out of service`);
    // The next epoch shuts out the node that has gone on.
    await expect(stranger.journal.append(recordOf(CELL, 5))).rejects.toThrow('is served elsewhere');
    expect(stranger.lost).toEqual([CELL]);
  });

  it('makes a node restart if the registry of the node is ahead', async () => {
    const a = await open('a');
    await backUp(url);
    await recovered(a);
    await withCells(a);
    await restore(url);
    await a.evicted;
    expect(a.health().reason).toContain('lacks changes of the registry');
  });

  it('is refused if the node has used another database or a newer timeline before', async () => {
    await close(await open('a'));
    const refused = async (at: string): Promise<string> => {
      const error: unknown = await open('a', at).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnusableDatabase);
      return (error as Error).message;
    };
    expect(await refused(await newDatabase())).toMatch(
      /is another database than the one that this node has used before; name that one, or remove .*a\.json/,
    );
    const file = join(folder, 'a.json');
    const saved = JSON.parse(readFileSync(file, 'utf8')) as { readonly timeline: number };
    writeFileSync(file, JSON.stringify({ ...saved, timeline: saved.timeline + 1 }));
    expect(await refused(url)).toContain('is on timeline 1, but this node has used timeline 2');
    writeFileSync(file, '{');
    expect(await refused(url)).toContain('is damaged: remove it');
  });
});
