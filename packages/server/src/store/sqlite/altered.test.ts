import { DatabaseSync } from '@photostructure/sqlite';
import { cpSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOf, recordOf, START, withSimulation } from '../fixtures.contract.js';
import { answerLookup } from './journal/answer-table.js';
import { newDirectory, openTestStore, removeDirectories } from './data-directory.contract.js';
import { examine } from './directory-image.contract.js';
import type { Image } from './directory-image.contract.js';

afterAll(removeDirectories);

const LOOKUPS = ['k1', 'k2', 'k3'].map((key) => answerLookup('tenant-1', 'main', 'POST /v1/orders', key));

/** Something of everything, closed as a server closes it; and the same as a power cut would leave it. */
let closed: string;
let cut: string;
let expected: Image;

beforeAll(async () => {
  closed = newDirectory();
  cut = newDirectory();
  const store = await withSimulation(await openTestStore(closed));
  const { registry, journal } = store;
  for (const number of [1, 2, 3]) {
    const tenant = { tier: 'PRO', scope: 'trade', createdAt: START } as const;
    const id = `tenant-${number}`;
    await registry.createTenant({ ...tenant, id, name: `name ${number}` });
    await registry.createApiKey({ ...tenant, tenantId: id, hash: `${number}`.repeat(64) });
    await registry.saveSetting(`setting ${number}`, 'x'.repeat(number * 100));
  }
  await registry.revokeApiKey('1'.repeat(64), START);
  await withSimulation(store, 'other');
  await withSimulation(store, 'gone');
  for (let seq = 1; seq <= 12; seq += 1) {
    const event = [{ type: 'E'.repeat(seq * 97) }];
    const answer = seq <= 3 ? [answerOf(`k${seq}`)] : [];
    await Promise.all([
      journal.append(recordOf('main', seq, event), ...answer),
      journal.append(recordOf('other', seq, event)),
      ...(seq <= 6 ? [journal.append(recordOf('gone', seq, event))] : []),
    ]);
  }
  // Creates empty pages.
  await registry.deleteSimulation('gone', START);
  await store.probe();
  for (const file of filesOf(closed)) cpSync(join(closed, file), join(cut, file));
  await store.close();
  const { image } = examine(copyOf(closed), LOOKUPS) as { readonly image: Image };
  expected = image;
});

function filesOf(directory: string): readonly string[] {
  return readdirSync(directory).filter((file) => /^journal\.(db|db-wal|mark)$/.test(file));
}

function copyOf(directory: string): string {
  const copy = newDirectory();
  for (const file of filesOf(directory)) cpSync(join(directory, file), join(copy, file));
  return copy;
}

/** Either everything is there, also after something was added, or it is refused. */
function isHarmless(directory: string): boolean {
  const examined = examine(directory, LOOKUPS, true);
  return 'refused' in examined || JSON.stringify(examined.image) === JSON.stringify(expected);
}

function refusalOf(directory: string): string {
  const examined = examine(directory, LOOKUPS);
  return 'refused' in examined ? examined.refused : 'not refused';
}

function change(directory: string, sql: string): string {
  const copy = copyOf(directory);
  const database = new DatabaseSync(join(copy, 'journal.db'));
  database.exec(sql);
  database.close();
  return copy;
}

describe('Start with an unaltered data directory', () => {
  it('serves every record, whether the store was closed or killed', () => {
    expect(expected.length).toBeGreaterThan(30);
    expect(examine(copyOf(cut), LOOKUPS)).toEqual({ image: expected });
    expect(isHarmless(copyOf(closed))).toBe(true);
  });
});

describe('An altered journal is refused if', () => {
  it.each([
    ['a simulation is deleted from its table', `DELETE FROM simulation WHERE id = 'main'`],
    [
      'the configuration of a simulation is changed',
      `UPDATE simulation SET config = '{"seed":2}' WHERE id = 'main'`,
    ],
    ['a simulation is marked as deleted', `UPDATE simulation SET deleted_at = 1 WHERE id = 'other'`],
    ['a deleted simulation is restored', 'UPDATE simulation SET deleted_at = NULL'],
    [
      'a simulation is inserted',
      `INSERT INTO simulation (key, id, config, created_at) VALUES (9, 'x', '{}', 0)`,
    ],
    ['a tenant is deleted from its table', `DELETE FROM tenant WHERE id = 'tenant-2'`],
    ['a tenant has a higher tier', `UPDATE tenant SET tier = 'ENTERPRISE' WHERE id = 'tenant-2'`],
    ['an API key is deleted from its table', `DELETE FROM api_key WHERE tenant = 'tenant-2'`],
    ['a revoked API key is active again', 'UPDATE api_key SET revoked_at = NULL'],
    ['a setting is changed', `UPDATE setting SET value = 'y' WHERE name = 'setting 2'`],
    [
      'two settings are swapped',
      `UPDATE setting SET value = CASE name WHEN 'setting 1' THEN 'a' ELSE 'b' END`,
    ],
    ['the last block is missing', 'DELETE FROM block WHERE k = (SELECT max(k) FROM block)'],
    [
      'the last block has another hash',
      `UPDATE block SET hash = zeroblob(32) WHERE k = (SELECT max(k) FROM block)`,
    ],
    ['all blocks are missing', 'DELETE FROM block'],
    [
      'an extra block is inserted',
      `INSERT INTO block SELECT 99, simulation, 13, 13, epoch, hash, data FROM block WHERE k = 1`,
    ],
    ['a stored answer is missing', 'DELETE FROM answer WHERE k = 2'],
    ['a stored answer is changed', `UPDATE answer SET body = '{}' WHERE k = 2`],
    ['the meta row is missing', 'DELETE FROM meta'],
    ['the epoch is changed', 'UPDATE meta SET epoch = epoch + 1'],
    ['the journal id is changed', `UPDATE meta SET journal_id = 'another'`],
    ['the number of blocks is changed', 'UPDATE meta SET last_k = last_k + 1'],
    ['the checksum of the state is changed', 'UPDATE meta SET state_sum = zeroblob(32)'],
    ['the checksum of the answers has another length', 'UPDATE meta SET answers_sum = zeroblob(0)'],
    ['an index is missing', 'DROP INDEX block_by_first'],
    ['a table is renamed', 'ALTER TABLE answer RENAME TO answers'],
  ])('%s', (_, sql) => {
    expect(refusalOf(change(closed, sql))).toMatch(/damaged|lost|another journal|does not have the tables/);
  });

  it('a block in the middle is missing or changed, at the first read of it', () => {
    for (const sql of ['DELETE FROM block WHERE k = 5', 'UPDATE block SET epoch = 9 WHERE k = 5'])
      expect(refusalOf(change(closed, sql))).toMatch(/is missing|is damaged/);
  });
});

/** Bytes of a file, spread over all of it and in other places of each page. */
function* places(path: string, step: number): Iterable<number> {
  const { size } = statSync(path);
  for (let at = 0; at < size; at += step) yield at;
}

describe('A changed file is refused or served without a difference:', () => {
  const flips = (directory: string, file: string, step: number): void => {
    const wrong: string[] = [];
    for (const at of places(join(directory, file), step)) {
      const copy = copyOf(directory);
      const bytes = readFileSync(join(copy, file));
      const bit = 1 << (at % 8);
      bytes.writeUInt8(bytes.readUInt8(at) ^ bit, at);
      writeFileSync(join(copy, file), bytes);
      if (!isHarmless(copy)) wrong.push(`bit ${bit} of byte ${at}`);
    }
    expect(wrong).toEqual([]);
  };

  it('one flipped bit in the database', () => flips(closed, 'journal.db', 397));
  it('one flipped bit in the write-ahead log', () => flips(cut, 'journal.db-wal', 1_531));
  it('one flipped bit in the mark', () => flips(closed, 'journal.mark', 61));

  it.each([
    ['database', 'journal.db', 1_024],
    ['mark', 'journal.mark', 256],
  ])('the %s is cut off at any length', (_, file, step) => {
    for (const at of places(join(closed, file), step)) {
      const copy = copyOf(closed);
      truncateSync(join(copy, file), at);
      expect([at, isHarmless(copy)]).toEqual([at, true]);
    }
  });

  it('the write-ahead log is cut off at any length', () => {
    for (const at of places(join(cut, 'journal.db-wal'), 3_001)) {
      const copy = copyOf(cut);
      truncateSync(join(copy, 'journal.db-wal'), at);
      expect([at, isHarmless(copy)]).toEqual([at, true]);
    }
  });

  it('two pages of the database are swapped', () => {
    const PAGE = 1_024;
    const pages = statSync(join(closed, 'journal.db')).size / PAGE;
    for (let page = 0; page + 3 < pages; page += 1) {
      const copy = copyOf(closed);
      const bytes = readFileSync(join(copy, 'journal.db'));
      const [one, other] = [page, page + 3].map((number) =>
        Buffer.from(bytes.subarray(number * PAGE, (number + 1) * PAGE)),
      );
      other?.copy(bytes, page * PAGE);
      one?.copy(bytes, (page + 3) * PAGE);
      writeFileSync(join(copy, 'journal.db'), bytes);
      expect([page, isHarmless(copy)]).toEqual([page, true]);
    }
  });
});
