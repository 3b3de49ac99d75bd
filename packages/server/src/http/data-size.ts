import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

const DATABASES = ['journal.db', 'journal.db-wal', 'history.db', 'history.db-wal'];

/** Room that is left where the data directory is. */
export async function freeBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
}

/** Size of the journal, the history and the webhooks; 0 where a database server keeps them. */
export async function dataBytes(dataDir: string): Promise<number> {
  const sizes = await Promise.all(DATABASES.map((file) => sizeOf(join(dataDir, file))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;
