import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../journal.js';
import type { AnyPage, ReaderAnswer, ReaderData, ReaderRequest, ToReader } from './history-reader.js';
import type { HistoryFailure } from './history-failure.js';
import { raise, stopFlag } from '../../stop-flag.js';
import { WORKER_OPTIONS, workerUrl } from '../../worker-url.js';

/** Maximum number of queries waiting for the reader; more means that it is overloaded. */
const MOST_WAITING = 1_000;

type WithoutId<Request> = Request extends unknown ? Omit<Request, 'id'> : never;

interface Running {
  readonly worker: Worker;
  readonly isStopping: Int32Array;
}

interface PendingRead {
  readonly resolve: (page: AnyPage) => void;
  readonly reject: (error: Error) => void;
}

/** The main thread's side of the reader: started with the first question, and again after it was stopped. */
export class ReadingThread {
  readonly #directory: string;
  readonly #errorOf: (trouble: HistoryFailure) => Error;
  readonly #waiting = new Map<number, PendingRead>();
  #reader: Running | undefined;
  #requests = 0;

  constructor(directory: string, errorOf: (trouble: HistoryFailure) => Error) {
    this.#directory = directory;
    this.#errorOf = errorOf;
  }

  ask(request: WithoutId<ReaderRequest>): Promise<AnyPage> {
    if (this.#waiting.size >= MOST_WAITING)
      return Promise.reject(new StoreUnavailable('Too many queries are waiting'));
    this.#reader ??= this.#start();
    const { worker } = this.#reader;
    this.#requests += 1;
    const id = this.#requests;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ ...request, id } satisfies ReaderRequest);
    });
  }

  #start(): Running {
    const isStopping = stopFlag();
    const workerData: ReaderData = { directory: this.#directory, isStopping };
    const worker = new Worker(workerUrl('sqlite/history/history-reader'), {
      workerData,
      name: 'history-reader',
      ...WORKER_OPTIONS,
    });
    worker.on('message', (answer: ReaderAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('page' in answer) waiting?.resolve(answer.page);
      else waiting?.reject(this.#errorOf(answer.trouble));
    });
    // It only reads: the next query gets a new one.
    worker.on('error', (error) => this.#lost(worker, error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => this.#lost(worker, 'The reader has ended'));
    return { worker, isStopping };
  }

  #lost(worker: Worker, reason: string): void {
    if (this.#reader?.worker !== worker) return;
    this.#reader = undefined;
    for (const { reject } of this.#waiting.values()) reject(new StoreUnavailable(reason));
    this.#waiting.clear();
  }

  /** Resolves when it has closed everything. */
  async stop(reason: string): Promise<void> {
    if (this.#reader === undefined) return;
    const { worker, isStopping } = this.#reader;
    this.#lost(worker, reason);
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    raise(isStopping);
    worker.postMessage({ kind: 'close' } satisfies ToReader);
    await ended;
  }
}
