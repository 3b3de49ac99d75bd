import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { recordOf, withSimulation } from '../fixtures.contract.js';
import { UnusableDirectory } from '../journal.js';
import { newDirectory, openTestStore, removeDirectories } from './data-directory.contract.js';
import { openConnection, pragmaNumber } from './database/connection.js';
import { unusable } from './database/private-files.js';

afterAll(removeDirectories);

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('A data directory', () => {
  it('is created with all its files accessible to the owner only', async () => {
    const directory = join(newDirectory(), 'new', 'data');
    const before = process.umask(0);
    try {
      const store = await withSimulation(await openTestStore(directory));
      await store.journal.append(recordOf('main', 1));
      const files = readdirSync(directory).filter((file) => !statSync(join(directory, file)).isDirectory());
      expect(files).toEqual(
        expect.arrayContaining(['journal.db', 'journal.db-wal', 'journal.mark', 'lock.db']),
      );
      expect(files.map((file) => `${file} ${modeOf(join(directory, file))}`)).toEqual(
        files.map((file) => `${file} 600`),
      );
      expect(modeOf(directory)).toBe('700');
      await store.close();
    } finally {
      process.umask(before);
    }
  });

  it('is restricted to the owner at the start if others had access', async () => {
    const directory = newDirectory();
    await (await openTestStore(directory)).close();
    chmodSync(directory, 0o755);
    chmodSync(join(directory, 'journal.db'), 0o644);
    await (await openTestStore(directory)).close();
    expect([modeOf(directory), modeOf(join(directory, 'journal.db'))]).toEqual(['700', '600']);
  });

  it('is created at the next start if the first one was killed while it wrote the first page', async () => {
    const directory = newDirectory();
    const path = join(directory, 'journal.db');
    const page = openConnection(path, { readOnly: false });
    page.exec('PRAGMA page_size = 1024; PRAGMA user_version = 1');
    page.close();
    expect(statSync(path).size).toBe(1024);
    // Its rollback journal: magic, no pages, a nonce, a file without pages before, sectors of 512 bytes, pages of 1,024.
    const header = Buffer.alloc(512);
    header.write('d9d505f920a163d7', 'hex');
    for (const [index, value] of [0, 1, 0, 512, 1024].entries()) header.writeUInt32BE(value, 8 + 4 * index);
    writeFileSync(`${path}-journal`, header);
    expect(() => pragmaNumber(openConnection(path, { readOnly: true }), 'user_version')).toThrow(
      'readonly database',
    );
    const store = await withSimulation(await openTestStore(directory));
    await store.journal.append(recordOf('main', 1));
    await store.close();
  });

  it('is reported as unusable, not as in use, if its lock file is damaged', async () => {
    const directory = newDirectory();
    writeFileSync(join(directory, 'lock.db'), 'no database at all '.repeat(100));
    await expect(openTestStore(directory)).rejects.toThrow(UnusableDirectory);
    await expect(openTestStore(directory)).rejects.toThrow(/lock\.db is damaged .*remove this file/);
  });

  it('is reported as unusable if its path is a file', async () => {
    const path = join(newDirectory(), 'data');
    writeFileSync(path, '');
    await expect(openTestStore(path)).rejects.toThrow(`The data directory ${path} cannot be used`);
  });

  it('is reported as unusable if journal.db is a directory', async () => {
    const directory = newDirectory();
    mkdirSync(join(directory, 'journal.db'));
    await expect(openTestStore(directory)).rejects.toThrow(UnusableDirectory);
  });

  it.each([
    'unable to open database file',
    'Failed to open database: unable to open database file',
    'disk I/O error',
    'attempt to write a readonly database',
  ])('is reported as unusable if SQLite fails with “%s”', (message) => {
    const error = Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR' });
    expect(unusable('/data', error)).toEqual(
      new UnusableDirectory(`The data directory /data cannot be used: ${message}`),
    );
  });
});
