/** The thread that answers studies of the past: it reads the store itself, so that long reads stay off the main thread. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { calendarById, Ids } from '@sandpit/core';
import { lowerPriority, unconnectedFeedOpener } from './compose.js';
import type { Feed } from './feeds/feed.js';
import { BookCache } from './http/analytics/book-cache.js';
import { runStudy } from './http/analytics/run-study.js';
import type {
  AskedBack,
  FromStudyThread,
  StudyTask,
  StudyThreadData,
  ToStudyThread,
} from './http/analytics/study-messages.js';
import type { FeedOpening, PastFeed, StudiedSimulation } from './http/analytics/study.js';
import type { StudyContext } from './http/analytics/study-context.js';
import type { PastModule, PastSource } from './store/past.js';
import { STOP } from './store/stop-flag.js';

/** Chunks that may be on their way to a client at once. */
const MOST_CHUNKS = 4;

/** Growth of the heap that is collected once the thread is idle. */
const MOST_GARBAGE_BYTES = 128 * 1024 * 1024;

/** A study under way, as far as the main thread answers it. */
class Running {
  readonly #id: number;
  readonly #asked = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #asks = 0;
  #chunks = 0;
  #isStopped = false;
  #onTaken: () => void = () => undefined;

  constructor(id: number) {
    this.#id = id;
  }

  ask<Value>(asked: AskedBack): Promise<Value> {
    const ask = (this.#asks += 1);
    tell({ id: this.#id, type: 'ask', ask, asked });
    return new Promise<Value>((resolve, reject) => this.#asked.set(ask, { resolve, reject }));
  }

  async emit(text: string): Promise<boolean> {
    while (this.#chunks >= MOST_CHUNKS && !this.#isStopped)
      await new Promise<void>((resolve) => (this.#onTaken = resolve));
    if (this.#isStopped) return false;
    this.#chunks += 1;
    tell({ id: this.#id, type: 'chunk', text });
    return true;
  }

  receive(message: ToStudyThread): void {
    if (message.type === 'answer') {
      const { ask, value, failed } = message;
      const asked = this.#asked.get(ask);
      this.#asked.delete(ask);
      if (failed === undefined) asked?.resolve(value as never);
      else asked?.reject(new Error(failed));
      return;
    }
    if (message.type === 'taken') this.#chunks -= 1;
    else this.#isStopped = true;
    this.#onTaken();
  }
}

const port = parentPort;

const tell = (message: FromStudyThread): void => port?.postMessage(message);

const openers = new Map<string, ReturnType<typeof unconnectedFeedOpener>>();

/** Recordings are opened once for all studies. */
async function feedOf(
  { feed, calendar }: StudiedSimulation,
  opening: FeedOpening | undefined,
): Promise<PastFeed> {
  if (opening === undefined) return { kind: feed, quoteAt: () => undefined };
  const { config, riskFreeRate, recordings } = opening;
  const key = JSON.stringify([riskFreeRate, recordings]);
  const open = openers.get(key) ?? unconnectedFeedOpener({ riskFreeRate, replayPath: recordings });
  openers.set(key, open);
  return open(config, calendarById(calendar));
}

async function answer(
  running: Running,
  source: PastSource,
  books: BookCache,
  simulation: StudiedSimulation,
  { name, question }: StudyTask,
): Promise<unknown> {
  let feed: PastFeed | undefined;
  const context: StudyContext = {
    simulation,
    source,
    calendar: calendarById(simulation.calendar),
    ids: new Ids(simulation.idSecret),
    ask: {
      instruments: (value) => running.ask({ kind: 'instruments', value }),
      quotesNow: (value) => running.ask({ kind: 'quotesNow', value }),
    },
    books,
    openFeed: async () => (feed ??= await feedOf(simulation, simulation.opening)),
    emit: (text) => running.emit(text),
  };
  try {
    return await runStudy(name, context, question as never);
  } finally {
    await (feed as Partial<Feed> | undefined)?.close?.();
  }
}

/**
 * Collects the garbage of large studies. V8 alone keeps it: one that needs much memory raises the limit of the heap, and those after it fill
 * the heap up to there.
 */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  const used = (): number => getHeapStatistics().used_heap_size;
  let kept = used();
  return () => {
    if (used() - kept < MOST_GARBAGE_BYTES) return;
    collect();
    kept = used();
  };
}

if (port !== null) {
  lowerPriority();
  const collectGarbage = garbageCollector();
  const { module, data, stop } = workerData as StudyThreadData;
  const { openPast, failureOf } = (await import(module)) as PastModule;
  const source = openPast(data, stop);
  const books = new BookCache();
  const studies = new Map<number, Running>();
  port.on('message', (message: ToStudyThread | typeof STOP) => {
    if (message === STOP) process.exit();
    const { id } = message;
    if (message.type !== 'study') {
      studies.get(id)?.receive(message);
      return;
    }
    const running = new Running(id);
    studies.set(id, running);
    answer(running, source, books, message.simulation, message.task)
      .then(
        (found) => tell({ id, type: 'done', answer: found as never }),
        (error: unknown) => tell({ id, type: 'failed', failure: failureOf(error) }),
      )
      .finally(() => {
        studies.delete(id);
        if (studies.size === 0) collectGarbage();
      });
  });
}
