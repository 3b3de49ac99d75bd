import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DamagedJournal, UnusableDirectory } from '../../journal.js';
import { CHECKPOINT_FOLDER, CheckpointFiles } from '../checkpoints/checkpoint-files.js';
import { asDamage, isDiskFull, one, pragmaNumber, Statements } from '../database/connection.js';
import type { Database, Statement } from '../database/connection.js';
import { HighWaterMark, refuseShortened } from '../journal/high-water-mark.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { adoptWebhooks, removeAdopted } from './adopt-webhooks.js';
import { LogCopier } from './log-copier.js';
import { LogRoom } from './log-room.js';
import { HISTORY_FILE, historyMisfit } from '../history/history-file.js';
import { isWithoutWebhooks, JOURNAL_FILE, openJournalForWriting } from '../journal/journal-schema.js';
import { digestOf, readMeta, refuseAltered } from '../journal/meta.js';
import type { Meta } from '../journal/meta.js';
import { RowSum } from '../journal/row-sums.js';

export const MARK_FILE = 'journal.mark';

/** File of a directory of an older version. */
const OLDER_FILE = 'sandpit.db';
/** Files that prove that a journal existed. */
const DERIVED = [HISTORY_FILE, CHECKPOINT_FOLDER];

/** Value of `PRAGMA synchronous` for FULL. */
const SYNCHRONOUS_FULL = 2;

/** Some 64 MB: pages that every commit touches are copied once instead of many times. */
const COPY_AFTER_BYTES = 64 * 1024 * 1024;
/** At this multiple of its size the copying thread has failed: the writer copies the log, and commits wait. */
const OVERDUE = 4;
const MEASURE_EVERY_COMMITS = 16;
/** Bytes of the log per page in addition to the page. */
const FRAME_HEAD_BYTES = 24;

interface CommitLogOptions {
  /** Length of the log from which it is copied into the database. */
  readonly copyAfterBytes?: number;
  /** The calling thread copies it: there is no other one. */
  readonly isAlone?: boolean;
}

/** Changes of a commit in the meta row, besides the count of commits. */
export interface CommitDraft {
  lastK: number;
  readonly state: RowSum;
  readonly answers: RowSum;
}

/**
 * The numbered commits of a data directory. Each carries a digest over all before it and over the required contents of the tables after it,
 * is refused once another writer has opened the directory, and has its number in the high-water mark before it is acknowledged. The mark
 * itself is synced after that, while waiting callers are notified, and before the next commit begins.
 */
export class CommitLog {
  readonly database: Database;
  /** Absent for a journal in memory, like the copier and the room of a log on disk. */
  readonly #mark: HighWaterMark | undefined;
  readonly #begin: Statement;
  readonly #end: Statement;
  readonly #number: Statement;
  readonly #measure: Statement;
  readonly #copyNow: Statement;
  readonly #copier: LogCopier | undefined;
  readonly #copyAfterPages: number;
  readonly #room: LogRoom | undefined;
  readonly #frameBytes: number;
  #meta: Meta;
  #isMarked = true;
  /** The last written mark is not synced yet, or could not be. */
  #unsynced: 'WRITTEN' | 'FAILED' | undefined;
  #sinceMeasured = 0;

  /** Throws `DamagedJournal` before it has changed anything. Without a directory the journal is in memory. */
  constructor(
    directory: string | undefined,
    { copyAfterBytes = COPY_AFTER_BYTES, isAlone = false }: CommitLogOptions = {},
  ) {
    const markPath = join(directory ?? '', MARK_FILE);
    const path = directory === undefined ? ':memory:' : join(directory, JOURNAL_FILE);
    const mark = directory === undefined ? undefined : HighWaterMark.read(markPath);
    if (directory !== undefined) refuseWithoutJournal(directory, path, mark?.commit);
    const database = openJournalForWriting(path);
    try {
      const meta = readMeta(database);
      if (directory !== undefined) {
        refuseShortened(meta, mark, markPath);
        refuseAltered(database, meta);
        refuseMisfits(directory, database, meta);
        this.#mark = HighWaterMark.open(markPath);
        if (!isAlone) this.#copier = new LogCopier(path);
        this.#room = new LogRoom(`${path}-wal`);
      }
      this.database = database;
      this.#meta = meta;
      const pageBytes = pragmaNumber(database, 'page_size');
      this.#frameBytes = pageBytes + FRAME_HEAD_BYTES;
      this.#copyAfterPages = copyAfterBytes / pageBytes;
      // Frames return to the database between commits, not inside a commit that callers wait for.
      database.exec(
        'PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 268435456',
      );
      this.#begin = database.prepare('BEGIN IMMEDIATE');
      this.#end = database.prepare('COMMIT');
      this.#number = database.prepare(
        `UPDATE meta SET epoch = ?, commits = ?, last_k = ?, state_sum = ?, answers_sum = ?, digest = ?, previous_digest = ?
         WHERE epoch = ? AND commits = ?`,
      );
      this.#measure = database.prepare('PRAGMA wal_checkpoint(NOOP)');
      this.#copyNow = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
      this.#commit(meta.epoch + 1, ({ state }) => {
        if (directory !== undefined && isWithoutWebhooks(database)) adoptWebhooks(database, directory, state);
      });
      if (directory !== undefined) removeAdopted(directory);
      this.#settle();
      // The pragma returns the correct value only after a write.
      if (pragmaNumber(database, 'synchronous') !== SYNCHRONOUS_FULL)
        throw new Error('The database does not sync its commits');
    } catch (error) {
      database.close();
      throw asDamage(error);
    }
  }

  /** Ownership of the directory: one more at each opening. */
  get epoch(): number {
    return this.#meta.epoch;
  }

  /** Durable when it returns. An error means no effect, except with `isCommitted`: then only the mark is missing, and `finish` adds it. */
  commit(work: (draft: CommitDraft) => void): void {
    this.#commit(this.#meta.epoch, work);
  }

  #commit(epoch: number, work: (draft: CommitDraft) => void): void {
    // A mark two commits behind would prove nothing.
    this.#settle();
    const before = this.#meta;
    this.#begin.run();
    let meta: Meta;
    try {
      const draft = {
        lastK: before.lastK,
        state: new RowSum(before.stateSum),
        answers: new RowSum(before.answersSum),
      };
      work(draft);
      meta = withDigest({
        ...before,
        epoch,
        commits: before.commits + 1,
        lastK: draft.lastK,
        stateSum: draft.state.bytes,
        answersSum: draft.answers.bytes,
        previousDigest: before.digest,
      });
      this.#save(meta, before);
      this.#end.run();
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
    this.#meta = meta;
    this.#isMarked = false;
    this.finish();
  }

  #save(meta: Meta, before: Meta): void {
    const { epoch, commits, lastK, stateSum, answersSum, digest, previousDigest } = meta;
    const { changes } = this.#number.run(
      epoch,
      commits,
      lastK,
      stateSum,
      answersSum,
      digest,
      previousDigest,
      before.epoch,
      before.commits,
    );
    if (changes !== 1) throw new Error('Another writer has taken over this data directory');
  }

  get isCommitted(): boolean {
    return !this.#isMarked;
  }

  finish(): void {
    this.#writeMark();
    this.#isMarked = true;
    this.#unsynced = 'WRITTEN';
  }

  #writeMark(): void {
    const { journalId, commits, digest } = this.#meta;
    this.#mark?.write({ journalId, commit: commits, digest });
  }

  #settle(): void {
    if (this.#unsynced === undefined) return;
    // Data of a failed sync may be lost although the next sync succeeds.
    if (this.#unsynced === 'FAILED') this.#writeMark();
    this.#unsynced = 'FAILED';
    this.#mark?.sync();
    this.#unsynced = undefined;
  }

  #settleIfRoom(): void {
    try {
      this.#settle();
    } catch (error) {
      // The next commit retries it, and waits if necessary.
      if (!isDiskFull(error)) throw error;
    }
  }

  /**
   * Syncs the mark, and limits the growth of the write-ahead log. Called between commits. Another thread copies the existing frames; the
   * writer copies those added since, which are few, and its next commit restarts the log.
   */
  tidy(): void {
    this.#settleIfRoom();
    if (this.#mark === undefined) return;
    if (this.#copier?.takeDone() === true) {
      this.#copy();
      return;
    }
    this.#sinceMeasured += 1;
    if (this.#sinceMeasured < MEASURE_EVERY_COMMITS) return;
    this.#sinceMeasured = 0;
    const pages = one<{ log: number }>(this.#measure)?.log ?? 0;
    if (pages < this.#copyAfterPages) {
      this.#room?.ensure(pages * this.#frameBytes);
      return;
    }
    if (this.#copier === undefined || pages >= this.#copyAfterPages * OVERDUE) this.#copy();
    else this.#copier.ask();
  }

  #copy(): void {
    try {
      this.#copyNow.get();
    } catch (error) {
      // The commits are safe in the log; only the space for a second copy of them is missing.
      if (!isDiskFull(error)) throw error;
    }
  }

  close(): void {
    this.#settleIfRoom();
    this.#copier?.close();
    this.#room?.close();
    try {
      this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
    this.database.close();
    this.#mark?.close();
  }
}

function withDigest(meta: Omit<Meta, 'digest'>): Meta {
  return { ...meta, digest: digestOf(meta) };
}

/** An empty directory is a beginning; one that has lost its journal is not. */
function refuseWithoutJournal(directory: string, path: string, acknowledged: number | undefined): void {
  if (existsSync(join(directory, OLDER_FILE)))
    throw new DamagedJournal(
      `${join(directory, OLDER_FILE)} was written by an older version, which this one does not read. Nothing was changed.`,
    );
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isFile() === false) throw new UnusableDirectory(`${path} is not a file`);
  if (file !== undefined && file.size > 0) return;
  if (acknowledged !== undefined)
    throw new DamagedJournal(`${path} is missing or empty: ${acknowledged} commits had been acknowledged`);
  const derived = DERIVED.find((name) => isThere(join(directory, name)));
  if (derived !== undefined)
    throw new DamagedJournal(`${path} is missing or empty, but ${derived} is there: its journal is lost`);
}

/**
 * A journal and its mark from elsewhere, or from an earlier time, match each other. Data derived here from another journal, or from more
 * records, reveals them.
 */
function refuseMisfits(directory: string, database: Database, { journalId }: Meta): void {
  const statements = new Statements(database);
  const live = statements.of('SELECT 1 FROM simulation WHERE key = ? AND deleted_at IS NULL');
  const isLive = (simulation: number): boolean => one(live, simulation) !== undefined;
  const blocks = new JournalBlocks(statements);
  const misfit =
    historyMisfit(join(directory, HISTORY_FILE), journalId, blocks) ??
    new CheckpointFiles(directory, blocks).misfit(isLive);
  if (misfit === undefined) return;
  throw new DamagedJournal(
    misfit.journal === journalId
      ? `${misfit.path} has more records than ${JOURNAL_FILE}, which is shortened or of an earlier time. ` +
          `To continue from there, delete ${misfit.path}; it is written again.`
      : `${misfit.path} belongs to another journal: files of two directories are mixed up. ` +
          `If ${JOURNAL_FILE} and ${MARK_FILE} are the right ones, delete it; it is written again.`,
  );
}

/** Also as a non-empty folder. */
function isThere(path: string): boolean {
  if (!existsSync(path)) return false;
  return statSync(path).isDirectory() ? readdirSync(path).length > 0 : true;
}
