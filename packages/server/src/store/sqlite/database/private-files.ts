import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, statSync } from 'node:fs';
import { UnusableDirectory } from '../../journal.js';
import { isDiskFailure, isForbidden } from './connection.js';

/** Permission bits of other users, which a data directory and its files must not have. */
const OTHERS = 0o077;

/** Creates a data directory, or restricts an existing one to its owner. Throws `UnusableDirectory`. */
export function makePrivateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if ((statSync(directory).mode & OTHERS) !== 0) chmodSync(directory, 0o700);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(directory, error);
  }
}

/** Creates an empty file that only its owner can read, or makes an existing one so. SQLite's files next to it get the same permissions. */
export function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  if ((statSync(path).mode & OTHERS) !== 0) chmodSync(path, 0o600);
}

const REFUSALS = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EEXIST',
  'ENOENT',
  'ELOOP',
  'ENAMETOOLONG',
]);

/** Translates errors about the directory into a sentence; returns other errors unchanged. */
export function unusable(directory: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (!REFUSALS.has(code ?? '') && !isForbidden(error) && !isDiskFailure(error)) return error;
  return new UnusableDirectory(`The data directory ${directory} cannot be used: ${message}`, {
    cause: error,
  });
}
