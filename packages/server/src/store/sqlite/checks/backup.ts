import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { UnusableDirectory } from '../../journal.js';
import { CHECKPOINT_FOLDER } from '../checkpoints/checkpoint-files.js';
import { MARK_FILE } from '../writer/commit-log.js';
import { openConnection, Statements } from '../database/connection.js';
import { HighWaterMark } from '../journal/high-water-mark.js';
import { HISTORY_FILE } from '../history/history-file.js';
import { altered } from './journal-check.js';
import { JOURNAL_FILE, WEBHOOK_FILE } from '../journal/journal-schema.js';
import { readMeta } from '../journal/meta.js';
import { makePrivate, makePrivateDirectory } from '../database/private-files.js';

/** Files besides the store that belong to the installation's identity. */
const BESIDE = ['jwt-secret'];

export interface BackedUp {
  /** Commits that the copy has. */
  readonly commits: number;
  /** Omitted parts, with reasons. */
  readonly notes: readonly string[];
}

/**
 * Copies a data directory, also while a server uses it: the journal as of one instant, with its own mark, and the data derived from it
 * as of a moment before, so that it need not be derived again. The copy is verified: throws `DamagedJournal` when it differs from the
 * written data, `UnusableDirectory` when `to` exists already.
 */
export function backUp(directory: string, to: string): BackedUp {
  if (!existsSync(join(directory, JOURNAL_FILE)))
    throw new UnusableDirectory(`${directory} has no ${JOURNAL_FILE}: there is nothing to copy`);
  if (isWithin(directory, to))
    throw new UnusableDirectory(`${to} lies in the data directory: a backup needs a place of its own`);
  if (existsSync(to) && (!statSync(to).isDirectory() || readdirSync(to).length > 0))
    throw new UnusableDirectory(`${to} is not empty: a backup needs a place of its own`);
  // Under another name until it is complete, so that no partial copy looks like a backup.
  const draft = `${resolve(to)}.incomplete`;
  rmSync(draft, { recursive: true, force: true });
  try {
    const done = copyAll(directory, draft);
    // The target may be an empty directory; if it cannot be replaced (the root of a volume), the files are moved into it.
    moveInto(draft, to);
    return done;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/** True when a path is a directory, or lies in it. */
function isWithin(directory: string, path: string): boolean {
  const steps = relative(realPathOf(directory), realPathOf(path));
  return steps === '' || !(steps.startsWith('..') || isAbsolute(steps));
}

/** The existing part of a path without links. */
function realPathOf(path: string): string {
  const whole = resolve(path);
  if (existsSync(whole)) return realpathSync(whole);
  const parent = dirname(whole);
  return parent === whole ? whole : join(realPathOf(parent), basename(whole));
}

function moveInto(draft: string, to: string): void {
  try {
    renameSync(draft, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
    // The mark is last: without it a server refuses the other files.
    const files = readdirSync(draft).sort((a, b) => Number(a === MARK_FILE) - Number(b === MARK_FILE));
    for (const file of files) renameSync(join(draft, file), join(to, file));
    rmSync(draft, { recursive: true });
  }
  syncDirectory(dirname(resolve(to)));
}

function copyAll(directory: string, to: string): BackedUp {
  makePrivateDirectory(to);
  const notes: string[] = [];
  // Derived data first: ahead of the journal it would be useless.
  copyCheckpoints(join(directory, CHECKPOINT_FOLDER), join(to, CHECKPOINT_FOLDER));
  try {
    if (existsSync(join(directory, HISTORY_FILE))) copyDatabase(directory, to, HISTORY_FILE);
  } catch (error) {
    rmSync(join(to, HISTORY_FILE), { force: true });
    notes.push(`history is left out, and will be derived again: ${(error as Error).message}`);
  }
  // Of a directory that an earlier version wrote. Before the journal: a cursor ahead of it would pass over events.
  if (existsSync(join(directory, WEBHOOK_FILE))) copyDatabase(directory, to, WEBHOOK_FILE);
  for (const file of BESIDE)
    if (existsSync(join(directory, file))) copyFileSync(join(directory, file), join(to, file));
  copyDatabase(directory, to, JOURNAL_FILE);
  const commits = markCopy(to);
  syncDirectory(to);
  return { commits, notes };
}

function copyDatabase(from: string, to: string, file: string): void {
  const copy = join(to, file);
  makePrivate(copy);
  const database = openConnection(join(from, file), { readOnly: true });
  try {
    database.prepare('VACUUM INTO ?').run(copy);
  } finally {
    database.close();
  }
  sync(copy);
}

/** Files that a server removes in the meantime are not needed. */
function copyCheckpoints(from: string, to: string): void {
  if (!existsSync(from)) return;
  makePrivateDirectory(to);
  for (const file of readdirSync(from).filter((name) => !name.endsWith('.new'))) {
    try {
      copyFileSync(join(from, file), join(to, file));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Returns how many commits the copy has, once it is known to be sound. */
function markCopy(to: string): number {
  const database = openConnection(join(to, JOURNAL_FILE), { readOnly: true });
  try {
    const [problem] = altered(database, new Statements(database));
    if (problem !== undefined) throw problem;
    const { journalId, commits, digest } = readMeta(database);
    const mark = HighWaterMark.open(join(to, MARK_FILE));
    mark.write({ journalId, commit: commits, digest });
    mark.sync();
    mark.close();
    return commits;
  } finally {
    database.close();
  }
}

function sync(path: string): void {
  const fd = openSync(path, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}

function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}
