import { DatabaseSync } from '@photostructure/sqlite';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { allOf, recordOf, withSimulation } from '../fixtures.contract.js';
import { DamagedJournal } from '../journal.js';
import type { Store } from '../store.js';
import { TradedSimulation } from '../traded-simulation.contract.js';
import { newDirectory, openTestStore, removeDirectories } from './data-directory.contract.js';

const opened: Store[] = [];

async function open(directory: string): Promise<Store> {
  const store = await openTestStore(directory);
  opened.push(store);
  return store;
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(removeDirectories);

async function append(store: Store, from: number, to: number): Promise<void> {
  // One commit each: a single commit is to be missing or torn.
  for (let seq = from; seq <= to; seq += 1) await store.journal.append(recordOf('main', seq));
}

/** A closed data directory with so many records. */
async function directoryWith(records: number): Promise<string> {
  const directory = newDirectory();
  const store = await withSimulation(await openTestStore(directory));
  await append(store, 1, records);
  await store.close();
  return directory;
}

function change(directory: string, sql: string): void {
  const database = new DatabaseSync(join(directory, 'journal.db'));
  database.exec(sql);
  database.close();
}

/** Files that a power cut would leave of a directory in use. */
function copyOf(directory: string): string {
  const copy = newDirectory();
  for (const file of ['journal.db', 'journal.db-wal', 'journal.mark'])
    cpSync(join(directory, file), join(copy, file));
  return copy;
}

describe('A read of a damaged block', () => {
  it('fails at the damaged record instead of skipping it', async () => {
    const directory = await directoryWith(5);
    change(
      directory,
      `UPDATE block SET data = CAST(replace(data, '"seq":3', '"seq":4') AS BLOB) WHERE first = 3`,
    );
    const read: number[] = [];
    const { journal } = await open(directory);
    await expect(
      (async () => {
        for await (const record of journal.read('main', 0)) read.push(record.seq);
      })(),
    ).rejects.toThrow('Record 3 of main is damaged');
    expect(read).toEqual([1, 2]);
    expect((await allOf(journal.read('main', 3))).map(({ seq }) => seq)).toEqual([4, 5]);
  });
});

describe('Start with a shortened or exchanged journal', () => {
  it('is refused if any part of the write-ahead log is missing', async () => {
    const directory = newDirectory();
    const store = await withSimulation(await open(directory));
    await append(store, 1, 10);
    const whole = copyOf(directory);
    const size = statSync(join(whole, 'journal.db-wal')).size;
    for (const missing of [1, 8_192, Math.floor(size / 2), size - 32, size]) {
      const copy = copyOf(directory);
      truncateSync(join(copy, 'journal.db-wal'), size - missing);
      await expect(openTestStore(copy)).rejects.toThrow(DamagedJournal);
    }
    const { journal } = await open(whole);
    expect(journal.lastSeq('main')).toBe(10);
  });

  it('is refused if a bit of the write-ahead log is flipped', async () => {
    const directory = newDirectory();
    await append(await withSimulation(await open(directory)), 1, 10);
    const size = statSync(join(directory, 'journal.db-wal')).size;
    for (let at = 100; at < size; at += Math.floor(size / 12)) {
      const copy = copyOf(directory);
      const path = join(copy, 'journal.db-wal');
      const bytes = readFileSync(path);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 4, at);
      writeFileSync(path, bytes);
      await expect(openTestStore(copy)).rejects.toThrow(DamagedJournal);
    }
  });

  it('is refused if an older copy replaces the database', async () => {
    const directory = await directoryWith(3);
    const older = readFileSync(join(directory, 'journal.db'));
    const store = await openTestStore(directory);
    await append(store, 4, 6);
    await store.close();
    writeFileSync(join(directory, 'journal.db'), older);
    await expect(openTestStore(directory)).rejects.toThrow(/shortened/);
  });

  it('is refused if another journal of the same length replaces the database', async () => {
    const [directory, other] = [await directoryWith(3), await directoryWith(3)];
    cpSync(join(other, 'journal.db'), join(directory, 'journal.db'));
    await expect(openTestStore(directory)).rejects.toThrow(/written for another journal/);
  });

  it('is refused if journal and mark come from another directory, until history is deleted', async () => {
    const [directory, other] = [await directoryWith(3), await directoryWith(3)];
    for (const name of ['journal.db', 'journal.mark']) cpSync(join(other, name), join(directory, name));
    await expect(openTestStore(directory)).rejects.toThrow(/history\.db belongs to another journal/);
    rmSync(join(directory, 'history.db'));
    const store = await openTestStore(directory);
    expect(store.health().status).toBe('ok');
    await store.close();
  });

  it('is refused if journal and mark are older than history, until history is deleted', async () => {
    const directory = newDirectory();
    let store = await openTestStore(directory);
    const simulation = await TradedSimulation.begin(store);
    await simulation.openPortfolio();
    await simulation.leave();
    await store.close();
    const earlier = ['journal.db', 'journal.mark'].map((name) => join(directory, name));
    const contents = earlier.map((path) => readFileSync(path));
    store = await openTestStore(directory);
    const again = await TradedSimulation.recovered(store);
    await again.openPortfolio();
    await again.leave();
    await store.close();
    for (const [index, path] of earlier.entries()) writeFileSync(path, contents[index] ?? '');
    await expect(openTestStore(directory)).rejects.toThrow(/history\.db has more records than journal\.db/);
    rmSync(join(directory, 'history.db'));
    await (await openTestStore(directory)).close();
  });

  it('is refused if an older copy replaces the mark', async () => {
    const directory = await directoryWith(3);
    const older = readFileSync(join(directory, 'journal.mark'));
    const store = await openTestStore(directory);
    await append(store, 4, 6);
    await store.close();
    writeFileSync(join(directory, 'journal.mark'), older);
    await expect(openTestStore(directory)).rejects.toThrow(/older than the journal/);
  });

  it('is refused if the database or the mark is missing', async () => {
    const directory = await directoryWith(3);
    const withoutMark = newDirectory();
    cpSync(join(directory, 'journal.db'), join(withoutMark, 'journal.db'));
    await expect(openTestStore(withoutMark)).rejects.toThrow(/journal\.mark is missing/);
    truncateSync(join(directory, 'journal.db'));
    await expect(openTestStore(directory)).rejects.toThrow(/journal\.db is missing or empty/);
    rmSync(join(directory, 'journal.db'));
    await expect(openTestStore(directory)).rejects.toThrow(/journal\.db is missing/);
    rmSync(join(directory, 'journal.mark'));
    await expect(openTestStore(directory)).rejects.toThrow(/history\.db is there: its journal is lost/);
    expect(existsSync(join(directory, 'journal.db'))).toBe(false);
  });
});

describe('Start after an interrupted commit', () => {
  const SLOT = 4_096;

  it('accepts a complete commit that the mark does not include', async () => {
    const directory = await directoryWith(3);
    const mark = readFileSync(join(directory, 'journal.mark'));
    const store = await openTestStore(directory);
    await store.close();
    writeFileSync(join(directory, 'journal.mark'), mark);
    expect((await open(directory)).journal.lastSeq('main')).toBe(3);
  });

  it.each([0, 1])('accepts a torn mark in slot %i', async (slot) => {
    const directory = await directoryWith(3);
    const path = join(directory, 'journal.mark');
    const mark = readFileSync(path);
    mark.fill(0, slot * SLOT + 20, slot * SLOT + 200);
    writeFileSync(path, mark);
    expect((await open(directory)).journal.lastSeq('main')).toBe(3);
  });
});

describe('Start with a file of another format', () => {
  const refusedUnchanged = async (directory: string, message: RegExp): Promise<void> => {
    const before = readFileSync(join(directory, 'journal.db'));
    await expect(openTestStore(directory)).rejects.toThrow(message);
    await expect(openTestStore(directory)).rejects.toThrow(DamagedJournal);
    expect(readFileSync(join(directory, 'journal.db')).equals(before)).toBe(true);
  };

  it('is refused if another program wrote the database', async () => {
    const directory = newDirectory();
    change(directory, 'CREATE TABLE theirs (a)');
    await refusedUnchanged(directory, /another program/);
  });

  it('is refused if journal.db is not a database', async () => {
    const directory = newDirectory();
    writeFileSync(
      join(directory, 'journal.db'),
      'something else entirely, and long enough to have a header'.repeat(20),
    );
    await refusedUnchanged(directory, /not a database/);
  });

  it('is refused if a newer version wrote the journal', async () => {
    const directory = await directoryWith(1);
    change(directory, 'PRAGMA user_version = 99');
    await refusedUnchanged(directory, /newer version \(format 99/);
  });

  it('is refused if an older version left a sandpit.db', async () => {
    const directory = newDirectory();
    writeFileSync(join(directory, 'sandpit.db'), 'anything');
    await expect(openTestStore(directory)).rejects.toThrow(/sandpit\.db was written by an older version/);
    expect(readdirSync(directory).toSorted()).toEqual(['lock.db', 'sandpit.db']);
  });

  it('is refused if an older version wrote the journal', async () => {
    const directory = await directoryWith(1);
    change(directory, 'PRAGMA user_version = 1');
    await refusedUnchanged(directory, /older version \(format 1;/);
  });
});
