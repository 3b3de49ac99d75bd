import { DatabaseSync } from '@photostructure/sqlite';
import { join } from 'node:path';
import { StoreInUse } from '../journal.js';

/**
 * Holds a data directory for the life of this process. The operating system lets go of it when the process ends,
 * however it ends; a lock file with a process id in it would have to be cleaned up by hand.
 */
export class DirectoryLock {
  readonly #database: InstanceType<typeof DatabaseSync>;

  constructor(directory: string) {
    const database = new DatabaseSync(join(directory, 'lock.db'), { timeout: 0 });
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      throw new StoreInUse(`Another process uses the data directory ${directory}`, { cause: error });
    }
    this.#database = database;
  }

  release(): void {
    this.#database.close();
  }
}
