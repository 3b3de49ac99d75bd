/** The thread of the history: it writes rows as they were made, and answers paged queries, so that neither holds up the event loop. */
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { lowerPriority } from '../../lower-priority.js';
import { isRaised } from '../../stop-flag.js';
import { uninterrupted } from '../../../threads/process-end.js';
import { openConnection, Statements } from '../database/connection.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';
import { historyFailureOf } from './history-failure.js';
import type { HistoryFailure } from './history-failure.js';
import { HISTORY_FILE } from './history-file.js';
import { HistoryWork } from './history-work.js';
import type { HistoryRequest } from './history-work.js';

export interface HistoryThreadData {
  readonly directory: string;
  /** Shared flag: when it is not 0, queued queries are discarded. */
  readonly isStopping: Int32Array;
  /** For tests: one shared number, the most pages the database may have; 0 is no limit. */
  readonly pageLimit?: Int32Array | undefined;
}

export type ToHistoryThread =
  | { readonly id: number; readonly request: HistoryRequest }
  | { readonly kind: 'close'; readonly isSealed: boolean };

export type FromHistoryThread =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly trouble: HistoryFailure };

const TIDY_PAUSE_MS = 20;
/** Time at shutdown for removing rows of deleted simulations. */
const LONGEST_TIDY_MS = 3_000;

function start(port: MessagePort, { directory, isStopping, pageLimit }: HistoryThreadData): void {
  lowerPriority();
  const journal = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  const work = new HistoryWork(join(directory, HISTORY_FILE), new Statements(journal), pageLimit);
  let tidying: NodeJS.Timeout | undefined;
  /** Removes rows of deleted simulations in idle time, a few milliseconds at a time. */
  const tidyLater = (): void => {
    clearTimeout(tidying);
    tidying = later(() => {
      try {
        if (uninterrupted(() => work.tidy())) tidyLater();
      } catch {
        // Opening the history finds them again.
      }
    }, TIDY_PAUSE_MS);
  };
  const finishTidying = (): void => {
    const until = performance.now() + LONGEST_TIDY_MS;
    try {
      while (uninterrupted(() => work.tidy()) && performance.now() < until);
    } catch {
      // Opening the history finds them again.
    }
  };
  port.on('message', (message: ToHistoryThread) => {
    if ('kind' in message) {
      clearTimeout(tidying);
      if (message.isSealed) finishTidying();
      uninterrupted(() => {
        work.close(message.isSealed);
        journal.close();
      });
      port.close();
      return;
    }
    const { id, request } = message;
    if (isRaised(isStopping) && request.kind !== 'write') return;
    try {
      port.postMessage({ id, result: uninterrupted(() => work.answer(request)) } satisfies FromHistoryThread);
    } catch (error) {
      port.postMessage({ id, trouble: historyFailureOf(error) } satisfies FromHistoryThread);
    }
    if (request.kind === 'forget' || request.kind === 'open') tidyLater();
  });
}

if (parentPort !== null) start(parentPort, workerData as HistoryThreadData);
