import { DamagedJournal } from '../../journal.js';
import { isDamageOfTables, isSqliteError } from '../database/connection.js';
import { DamagedHistory } from '../../history/history-rows.js';

/** Why a question to history has no answer, in a form that can be sent from one thread to another. */
export interface HistoryFailure {
  /** `unreadable`: the disk or the file system failed; the tables themselves may be sound. */
  readonly kind: 'history-damaged' | 'journal-damaged' | 'unreadable' | 'unexpected';
  readonly message: string;
}

export function historyFailureOf(error: unknown): HistoryFailure {
  const message = error instanceof Error ? error.message : String(error);
  // Blocks of the journal are checked before they are parsed: text that is no JSON is a row of the history.
  if (error instanceof DamagedHistory || isDamageOfTables(error) || error instanceof SyntaxError)
    return { kind: 'history-damaged', message };
  if (error instanceof DamagedJournal) return { kind: 'journal-damaged', message };
  return { kind: isSqliteError(error) ? 'unreadable' : 'unexpected', message };
}
