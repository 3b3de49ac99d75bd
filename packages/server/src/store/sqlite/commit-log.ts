import { hash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DamagedJournal } from '../journal.js';
import { asDamage, isDiskFull, one, pragmaNumber } from './connection.js';
import type { Database, Statement } from './connection.js';
import { HighWaterMark, refuseShortened } from './high-water-mark.js';
import type { CommitState } from './high-water-mark.js';
import { openForWriting } from './schema.js';

export const DATABASE_FILE = 'sandpit.db';
const MARK_FILE = 'journal.mark';

/** What `PRAGMA synchronous` answers for FULL. */
const SYNCHRONOUS_FULL = 2;

/**
 * Some 64 MB: pages that every commit touches are copied once instead of many times, which brought a fifth more placements a
 * second than 8 MB; a commit waits the longer for it, seldom.
 */
const CHECKPOINT_AFTER_PAGES = 8_192;
const MEASURE_EVERY_COMMITS = 4;

/**
 * The numbered commits of a data directory. Each carries a digest over all before it, is refused once another
 * writer has opened the directory, and has its number in the high-water mark before anybody hears of it.
 */
export class CommitLog {
  readonly database: Database;
  /** Ownership of the directory: one more at each opening. */
  readonly epoch: number;
  readonly #mark: HighWaterMark;
  readonly #begin: Statement;
  readonly #end: Statement;
  readonly #number: Statement;
  readonly #measure: Statement;
  readonly #checkpoint: Statement;
  #commits: number;
  #digest: string;
  #isMarked = true;
  #sinceMeasured = 0;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    const markPath = join(directory, MARK_FILE);
    const path = join(directory, DATABASE_FILE);
    const mark = HighWaterMark.read(markPath);
    if (mark !== undefined && !existsSync(path)) {
      throw new DamagedJournal(`${path} is missing: ${mark.commit} commits had been acknowledged`);
    }
    const database = openForWriting(path);
    try {
      const state = readState(database);
      refuseShortened(state, mark, markPath);
      this.#mark = HighWaterMark.open(markPath);
      this.database = database;
      this.#commits = state.commits;
      this.#digest = state.digest;
      this.epoch = state.epoch + 1;
      // Frames go back to the database between commits, not inside one that somebody waits for.
      database.exec(
        'PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 268435456',
      );
      this.#begin = database.prepare('BEGIN IMMEDIATE');
      this.#end = database.prepare('COMMIT');
      this.#number = database.prepare(
        'UPDATE meta SET commits = ?, digest = ?, previous_digest = ? WHERE epoch = ? AND commits = ?',
      );
      this.#measure = database.prepare('PRAGMA wal_checkpoint(NOOP)');
      this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
      this.commit(() => {
        database.prepare('UPDATE meta SET epoch = ? WHERE epoch = ?').run(this.epoch, state.epoch);
        return 'opened';
      });
      // The pragma tells the truth only after a write.
      if (pragmaNumber(database, 'synchronous') !== SYNCHRONOUS_FULL)
        throw new Error('The database does not sync its commits');
    } catch (error) {
      database.close();
      throw asDamage(error);
    }
  }

  /**
   * Durable when it returns. `work` returns what the digest of the commit shall cover beside its number. After an
   * error nothing has happened, except when `isCommitted`: then only the mark is missing, and `finish` adds it.
   */
  commit(work: () => string): void {
    this.#begin.run();
    let digest: string;
    try {
      digest = hash('sha256', `${this.#digest} ${this.#commits + 1} ${work()}`, 'hex');
      const { changes } = this.#number.run(
        this.#commits + 1,
        digest,
        this.#digest,
        this.epoch,
        this.#commits,
      );
      if (changes !== 1) throw new Error('Another writer has taken over this data directory');
      this.#end.run();
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
    this.#commits += 1;
    this.#digest = digest;
    this.#isMarked = false;
    this.finish();
  }

  get isCommitted(): boolean {
    return !this.#isMarked;
  }

  finish(): void {
    this.#mark.write({ commit: this.#commits, digest: this.#digest });
    this.#isMarked = true;
  }

  /** Copies the write-ahead log into the database when it has become long. Between commits. */
  tidy(): void {
    this.#sinceMeasured += 1;
    if (this.#sinceMeasured < MEASURE_EVERY_COMMITS) return;
    this.#sinceMeasured = 0;
    const frames = one<{ log: number }>(this.#measure)?.log ?? 0;
    if (frames < CHECKPOINT_AFTER_PAGES) return;
    try {
      this.#checkpoint.get();
    } catch (error) {
      // The commits are safe in the log; there is only no room yet for a second copy of them.
      if (!isDiskFull(error)) throw error;
    }
  }

  close(): void {
    this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.database.close();
    this.#mark.close();
  }
}

function readState(database: Database): CommitState & { readonly epoch: number } {
  const state = one<CommitState & { readonly epoch: number }>(
    database.prepare('SELECT epoch, commits, digest, previous_digest AS previousDigest FROM meta'),
  );
  if (state === undefined) throw new DamagedJournal('The database has lost its meta row');
  return state;
}
