import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { RegistryTables } from '../registry/registry-tables.js';
import { CommitLog } from './commit-log.js';
import { one } from '../database/connection.js';
import { newDirectory, removeDirectories } from '../data-directory.contract.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';

afterAll(removeDirectories);

const KB = 1024;
/** Commits between two measurements of the log's length. */
const COMMITS = 16;

/** A log that is to be copied once it is so long. */
function openLog(copyAfterBytes: number) {
  const directory = newDirectory();
  const log = new CommitLog(directory, { copyAfterBytes });
  const registry = new RegistryTables(log.database);
  const pages = log.database.prepare('PRAGMA wal_checkpoint(NOOP)');
  return {
    log,
    directory,
    commit: (name: string, length: number) =>
      log.commit((draft) => {
        registry.apply({ kind: 'save-setting', name, value: 'x'.repeat(length) }, draft.state);
      }),
    pages: () => one<{ log: number }>(pages)?.log ?? 0,
    databaseKB: () => statSync(join(directory, JOURNAL_FILE)).size / KB,
  };
}

describe('The write-ahead log of the journal', () => {
  it('is checkpointed by its own thread and restarted by the next commit', async () => {
    const { log, directory, commit, pages, databaseKB } = openLog(256 * KB);
    commit('large', 600 * KB);
    const long = pages();
    for (let i = 0; i < COMMITS; i++) log.tidy();
    // There are no commits in between, and only the thread copies a log of this length.
    await expect.poll(() => (log.tidy(), databaseKB()), { timeout: 20_000 }).toBeGreaterThan(600);
    await expect.poll(() => (log.tidy(), commit('small', 1), pages())).toBeLessThan(long / 2);
    log.close();
    const again = new CommitLog(directory);
    expect(one(again.database.prepare(`SELECT 1 FROM setting WHERE name = 'large'`))).toBeDefined();
    again.close();
  });

  it('is checkpointed by the writer at four times its intended length', () => {
    const { log, commit, pages, databaseKB } = openLog(64 * KB);
    commit('large', 600 * KB);
    for (let i = 0; i < COMMITS; i++) log.tidy();
    expect(databaseKB()).toBeGreaterThan(600);
    commit('small', 1);
    expect(pages()).toBeLessThan(20);
    log.close();
  });

  it('preallocates space once it exceeds a megabyte, and is read up to its last commit after a crash', () => {
    const { log, directory, commit, pages } = openLog(64 * 1024 * KB);
    const walBytes = (): number => statSync(join(directory, `${JOURNAL_FILE}-wal`)).size;
    for (let i = 0; i < COMMITS; i++) log.tidy();
    const short = walBytes();
    commit('large', 1200 * KB);
    const written = walBytes();
    for (let i = 0; i < COMMITS; i++) log.tidy();
    expect(short).toBeLessThan(100 * KB);
    expect(walBytes()).toBe(written + 512 * KB);
    const before = pages();
    commit('small', 1);
    expect(pages()).toBeGreaterThan(before);
    expect(walBytes()).toBe(written + 512 * KB);
    // The state after a crash: the log with its allocated space, and never closed.
    const copy = newDirectory();
    for (const file of readdirSync(directory)) copyFileSync(join(directory, file), join(copy, file));
    const again = new CommitLog(copy);
    expect(one(again.database.prepare(`SELECT value FROM setting WHERE name = 'small'`))).toEqual({
      value: 'x',
    });
    again.close();
    log.close();
  });
});
