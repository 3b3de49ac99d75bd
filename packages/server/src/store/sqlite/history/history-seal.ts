import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

/** Bytes of a history that is digested when it is closed and checked when it is opened: a fraction of a second. */
export const MOST_CHECKED_BYTES = 64 * 1024 * 1024;

const CHUNK_BYTES = 1024 * 1024;

const sealOf = (path: string): string => `${path}.seal`;

/** Writes the digest of a history file that is closed, with an empty write-ahead log. Large files get none. */
export function sealHistory(path: string): void {
  if (statSync(path).size <= MOST_CHECKED_BYTES)
    writeFileSync(sealOf(path), `${digestOf(path)}\n`, { mode: 0o600 });
}

/**
 * Removes the seal of a history file before the file is opened for writing. Answers whether the file is the one that was sealed;
 * undefined when it has no seal, because it was not closed or is large.
 */
export function breakSeal(path: string): boolean | undefined {
  const seal = sealOf(path);
  if (!existsSync(seal)) return undefined;
  const digest = readFileSync(seal, 'latin1').trim();
  rmSync(seal);
  if (!existsSync(path)) return undefined;
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return (log?.size ?? 0) === 0 && digest === digestOf(path);
}

function digestOf(path: string): string {
  const digest = createHash('sha256');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let length; (length = readSync(file, chunk)) > 0;) digest.update(chunk.subarray(0, length));
  } finally {
    closeSync(file);
  }
  return digest.digest('hex');
}
