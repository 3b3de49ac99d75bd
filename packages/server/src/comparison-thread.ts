/** A thread of a comparison. It reads the journals itself; if the store does not allow that, the main thread reads them on request. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { calendarById } from '@sandpit/core';
import { lowerPriority, NICE_OF_BATCHES, unconnectedFeedOpener } from './compose.js';
import { ComparisonRun } from './engine/comparisons/comparison-run.js';
import type {
  ComparedPast,
  ComparisonThreadData,
  FromComparisonThread,
  JournalPart,
  RecordLine,
  ToComparisonThread,
} from './engine/comparisons/comparison.js';
import type { PastJournal, PastModule } from './store/past.js';
import { STOP } from './store/stop-flag.js';

const port = parentPort;

function tell(message: FromComparisonThread): void {
  port?.postMessage(message);
}

/** The records of one of the two journals. Requests more while the last ones are processed. */
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

type Journals = Readonly<Record<'own' | 'market', AsyncIterator<RecordLine, undefined>>>;

async function* recordsOf(
  journal: PastJournal,
  part: JournalPart | undefined,
): AsyncGenerator<RecordLine, undefined> {
  if (part === undefined) return undefined;
  for await (const record of journal.read(part.id, 0)) {
    if (record.seq > part.until) return undefined;
    yield record;
  }
  return undefined;
}

async function openJournals(
  { module, data, own, market }: ComparedPast,
  stop: Int32Array,
): Promise<Journals> {
  const { openPastJournal } = (await import(module)) as PastModule;
  const journal = openPastJournal(data, stop);
  return { own: recordsOf(journal, own), market: recordsOf(journal, market) };
}

/** Journals whose records the main thread sends. */
function receiveJournals(from: MessagePort): Journals {
  const incoming = { own: new Incoming('own'), market: new Incoming('market') };
  from.on('message', (message: ToComparisonThread | typeof STOP) => {
    if (message !== STOP) incoming[message.journal].receive(message);
  });
  return incoming;
}

if (port !== null) {
  lowerPriority(NICE_OF_BATCHES);
  const { task, stop, past } = workerData as ComparisonThreadData;
  const { riskFreeRate, recordings } = task;
  const openFeed = unconnectedFeedOpener({ riskFreeRate, replayPath: recordings });
  port.on('message', (message: ToComparisonThread | typeof STOP) => {
    if (message === STOP) process.exit();
  });
  try {
    const journals = past === undefined ? receiveJournals(port) : await openJournals(past, stop);
    const run = new ComparisonRun(task, {
      ...journals,
      openFeed: () => openFeed(task.feed, calendarById(task.feed.calendar)),
      onProgress: (progress) => tell({ kind: 'progress', progress }),
    });
    tell({ kind: 'done', result: await run.run() });
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
  port.close();
}
