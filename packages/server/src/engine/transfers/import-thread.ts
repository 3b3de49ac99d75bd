/**
 * The threads that files are read in, so that no line of a file is parsed on the event loop (D233): one that reads the files that arrive, and
 * for each file one that verifies it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../store/lower-priority.js';
import { FileReading, problemOfFile, reasonOf } from './import-reading.js';
import type { AskedOfFile, Entries, ReadFile } from './import-reading.js';
import { linesOfFile } from './simulation-file.js';

/** Reports at most so often, ms. */
const REPORT_MS = 1000;

export type ImportThreadData =
  /** Answers each `ToReadingThread`. */
  { readonly task: 'read' } | { readonly task: 'verify'; readonly path: string };

/** `number`: of the question, which its answer has too. */
export type ToReadingThread = AskedOfFile & { readonly number: number };

export interface FromReadingThread {
  readonly number: number;
  readonly answer?: ReadFile | Entries;
  /** Why the file is not that of a simulation or a tenant; absent = it is. */
  readonly refused?: string;
}

export type FromImportThread =
  | { readonly kind: 'alive' }
  /** `problem`: why the file cannot be imported; absent = it can. */
  | { readonly kind: 'done'; readonly problem?: string };

let reportedAt = performance.now();

function reportProgress(): Promise<void> {
  if (performance.now() - reportedAt >= REPORT_MS) {
    reportedAt = performance.now();
    parentPort?.postMessage({ kind: 'alive' } satisfies FromImportThread);
  }
  return Promise.resolve();
}

function answerReading(): void {
  const reading = new FileReading(linesOfFile);
  parentPort?.on('message', (asked: ToReadingThread) => {
    const { number } = asked;
    void reading.answer(asked).then(
      (answer) => parentPort?.postMessage({ number, answer } satisfies FromReadingThread),
      (error: unknown) =>
        parentPort?.postMessage({ number, refused: reasonOf(error) } satisfies FromReadingThread),
    );
  });
}

lowerPriority();
const data = workerData as ImportThreadData;
if (data.task === 'read') answerReading();
else {
  const problem = await problemOfFile(linesOfFile, data.path, { breathe: reportProgress });
  parentPort?.postMessage({
    kind: 'done',
    ...(problem !== undefined && { problem }),
  } satisfies FromImportThread);
}
