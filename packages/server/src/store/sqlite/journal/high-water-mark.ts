import { hash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DamagedJournal } from '../../journal.js';

/** The last commit that may have been acknowledged. */
export interface CommitMark {
  /** Journal of the commit. */
  readonly journalId: string;
  readonly commit: number;
  readonly digest: string;
}

/** In their own blocks, so that a torn write of one slot leaves the other. */
const SLOT_DISTANCE = 4_096;
const SLOT_SIZE = 512;
const SLOTS = 2;

/**
 * The number and digest of the last commit, outside of the SQLite files, written before the commit is acknowledged and synced before
 * the next one begins. Why: SQLite opens a damaged or shortened write-ahead log without complaint, as a shorter history.
 */
export class HighWaterMark {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Undefined if none can be read: not yet written, or lost. */
  static read(path: string): CommitMark | undefined {
    if (!existsSync(path)) return undefined;
    const fd = openSync(path, 'r');
    try {
      const marks = [readSlot(fd, 0), readSlot(fd, 1)].filter((mark) => mark !== undefined);
      return marks.reduce<CommitMark | undefined>(
        (best, mark) => (best && best.commit > mark.commit ? best : mark),
        undefined,
      );
    } finally {
      closeSync(fd);
    }
  }

  static open(path: string): HighWaterMark {
    const isNew = !existsSync(path);
    const fd = openSync(path, isNew ? 'w+' : 'r+', 0o600);
    if (fstatSync(fd).size < SLOTS * SLOT_DISTANCE) {
      // Full length from the start: later writes then change no metadata, and fdatasync is enough.
      writeSync(fd, Buffer.alloc(SLOT_DISTANCE), 0, SLOT_DISTANCE, (SLOTS - 1) * SLOT_DISTANCE);
      fsyncSync(fd);
    }
    if (isNew) syncDirectory(dirname(path));
    return new HighWaterMark(fd);
  }

  /** Survives the process when it returns. Durable after `sync`. */
  write(mark: CommitMark): void {
    const text = `${mark.journalId} ${mark.commit} ${mark.digest}`;
    const slot = Buffer.alloc(SLOT_SIZE, ' ');
    slot.write(`${text} ${hash('sha256', text, 'hex')}\n`);
    writeSync(this.#fd, slot, 0, SLOT_SIZE, (mark.commit % SLOTS) * SLOT_DISTANCE);
  }

  sync(): void {
    fdatasyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function readSlot(fd: number, slot: number): CommitMark | undefined {
  const bytes = Buffer.alloc(SLOT_SIZE);
  readSync(fd, bytes, 0, SLOT_SIZE, slot * SLOT_DISTANCE);
  const [journalId, commit, digest, checksum] = bytes.toString('latin1').trim().split(' ');
  if (journalId === undefined || commit === undefined || digest === undefined || checksum === undefined)
    return undefined;
  if (hash('sha256', `${journalId} ${commit} ${digest}`, 'hex') !== checksum) return undefined;
  return { journalId, commit: Number(commit), digest };
}

function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The database's record of its own last commits. */
export interface CommitState {
  readonly journalId: string;
  readonly commits: number;
  readonly digest: string;
  readonly previousDigest: string;
}

/**
 * The database may be ahead of the mark by the one commit that was never acknowledged. It must not be behind, nor further ahead:
 * an older mark belongs to an older copy and proves nothing. The commit that the mark names must be the one that the database
 * has.
 */
export function refuseShortened(state: CommitState, mark: CommitMark | undefined, path: string): void {
  if (mark === undefined) {
    if (state.commits <= 1) return;
    throw new DamagedJournal(
      `${path} is missing or damaged: without it the journal cannot be proven complete`,
    );
  }
  if (mark.journalId !== state.journalId)
    throw new DamagedJournal(
      `${path} was written for another journal: files of two directories are mixed up`,
    );
  if (mark.commit > state.commits) {
    throw new DamagedJournal(
      `The journal is shortened: it ends at commit ${state.commits}, and commit ${mark.commit} had been acknowledged`,
    );
  }
  if (state.commits - mark.commit > 1) {
    throw new DamagedJournal(
      `${path} is older than the journal: it tells of commit ${mark.commit}, and the journal ends at commit ${state.commits}`,
    );
  }
  const known = mark.commit === state.commits ? state.digest : state.previousDigest;
  if (known !== mark.digest) {
    throw new DamagedJournal(
      `The journal is not the one that ${path} was written for (commit ${mark.commit})`,
    );
  }
}
