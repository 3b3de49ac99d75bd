/** The thread of one comparison: its records come from the main thread, which reads them when this one asks. */
import { parentPort, workerData } from 'node:worker_threads';
import { calendarById } from '@sandpit/core';
import { lowerPriority, unconnectedFeedOpener } from './compose.js';
import { ComparisonRun } from './engine/comparison-run.js';
import type {
  ComparisonTask,
  FromComparisonThread,
  RecordLine,
  ToComparisonThread,
} from './engine/comparison.js';

const port = parentPort;

function tell(message: FromComparisonThread): void {
  port?.postMessage(message);
}

/** The records of one of the two journals. Asks for more while the last ones are worked on. */
class Incoming implements AsyncIterator<RecordLine, undefined> {
  readonly #journal: 'own' | 'market';
  #records: readonly RecordLine[] = [];
  #index = 0;
  #isLast = false;
  #next: Promise<ToComparisonThread> | undefined;
  #arrived: ((message: ToComparisonThread) => void) | undefined;

  constructor(journal: 'own' | 'market') {
    this.#journal = journal;
  }

  receive(message: ToComparisonThread): void {
    this.#arrived?.(message);
  }

  async next(): Promise<IteratorResult<RecordLine, undefined>> {
    for (;;) {
      const record = this.#records[this.#index];
      if (record !== undefined) {
        this.#index += 1;
        return { done: false, value: record };
      }
      if (this.#isLast) return { done: true, value: undefined };
      const { records, isLast } = await (this.#next ?? this.#ask());
      this.#records = records;
      this.#index = 0;
      this.#isLast = isLast;
      this.#next = isLast ? undefined : this.#ask();
    }
  }

  #ask(): Promise<ToComparisonThread> {
    const next = new Promise<ToComparisonThread>((resolve) => (this.#arrived = resolve));
    tell({ kind: 'more', journal: this.#journal });
    return next;
  }
}

if (port !== null) {
  lowerPriority();
  const task = workerData as ComparisonTask;
  const incoming = { own: new Incoming('own'), market: new Incoming('market') };
  port.on('message', (message: ToComparisonThread) => incoming[message.journal].receive(message));
  const { riskFreeRate, recordings } = task;
  const openFeed = unconnectedFeedOpener({ riskFreeRate, replayPath: recordings });
  try {
    const run = new ComparisonRun(task, {
      ...incoming,
      openFeed: () => openFeed(task.feed, calendarById(task.feed.calendar)),
      onProgress: (progress) => tell({ kind: 'progress', progress }),
    });
    tell({ kind: 'done', result: await run.run() });
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
  port.close();
}
