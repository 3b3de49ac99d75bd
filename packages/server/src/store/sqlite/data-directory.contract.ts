import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../store.js';
import { openSqliteStore } from './sqlite-store.js';
import type { SqliteStoreOptions } from './sqlite-store.js';

const made: string[] = [];

/** A data directory that lasts as long as the test file. */
export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sandpit-store-'));
  made.push(directory);
  return directory;
}

export function removeDirectories(): void {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
}

export function openTestStore(directory: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  return openSqliteStore({ directory, ...options });
}
