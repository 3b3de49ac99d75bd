import { DatabaseSync } from '@photostructure/sqlite';
import { join } from 'node:path';
import { StoreInUse, StoreUnavailable, UnusableDirectory } from '../../journal.js';
import { isBusy, isDiskFull } from './connection.js';
import { makePrivate, unusable } from './private-files.js';

/**
 * Holds a data directory for the life of this process. The operating system releases it when the process ends in any way; a lock file with
 * a process id would require manual cleanup.
 */
export class DirectoryLock {
  readonly #database: InstanceType<typeof DatabaseSync>;

  /** Throws `StoreInUse`, `UnusableDirectory`, or `StoreUnavailable` if there is no space. */
  constructor(directory: string) {
    const path = join(directory, 'lock.db');
    let database: InstanceType<typeof DatabaseSync> | undefined;
    try {
      makePrivate(path);
      database = new DatabaseSync(path, { timeout: 0 });
      database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    } catch (error) {
      database?.close();
      throw refusal(directory, path, error);
    }
    this.#database = database;
  }

  release(): void {
    this.#database.close();
  }
}

function refusal(directory: string, path: string, error: unknown): unknown {
  if (isBusy(error))
    return new StoreInUse(`Another process uses the data directory ${directory}`, { cause: error });
  const forbidden = unusable(directory, error);
  if (forbidden !== error) return forbidden;
  if (isDiskFull(error))
    return new StoreUnavailable(
      `The data directory ${directory} cannot be used: ${(error as Error).message}`,
      { cause: error },
    );
  // The lock file contains no data. While it is damaged, other users of the directory cannot be detected.
  return new UnusableDirectory(
    `${path} is damaged (${(error as Error).message}): make sure that no other process uses the directory, and remove this file`,
    { cause: error },
  );
}
