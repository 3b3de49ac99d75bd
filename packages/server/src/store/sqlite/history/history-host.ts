import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../journal.js';
import { raise, stopFlag } from '../../stop-flag.js';
import { WORKER_OPTIONS, workerUrl } from '../../worker-url.js';
import { historyFailureOf } from './history-failure.js';
import type { HistoryFailure } from './history-failure.js';
import type { FromHistoryThread, HistoryThreadData, ToHistoryThread } from './history-thread.js';
import type { HistoryRequest, HistoryWork } from './history-work.js';

/** Maximum number of queries waiting for the thread; more means that it is overloaded. */
const MOST_WAITING = 1_000;

/** A failed request, as the thread reports it. */
export class HistoryTrouble extends Error {
  readonly failure: HistoryFailure;

  constructor(failure: HistoryFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Whoever writes and reads the tables: a thread, or the calling one. */
export interface HistoryHost {
  /** Rejects with `HistoryTrouble`. */
  ask(request: HistoryRequest): Promise<unknown>;
  /** Closes the tables, after the writes that it has received. It opens them again with the next request. */
  stop(reason: string, isSealed: boolean): Promise<void>;
}

interface PendingRequest {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Running {
  readonly worker: Worker;
  readonly isStopping: Int32Array;
}

/** The main thread's side of the history's thread: started with the first request, and again after it was stopped or has ended. */
export class HistoryThread implements HistoryHost {
  readonly #data: Omit<HistoryThreadData, 'isStopping'>;
  readonly #waiting = new Map<number, PendingRequest>();
  #running: Running | undefined;
  #requests = 0;

  constructor(data: Omit<HistoryThreadData, 'isStopping'>) {
    this.#data = data;
  }

  ask(request: HistoryRequest): Promise<unknown> {
    const isWrite = request.kind === 'write' || request.kind === 'begin';
    if (!isWrite && this.#waiting.size >= MOST_WAITING)
      return Promise.reject(new StoreUnavailable('Too many queries are waiting'));
    this.#running ??= this.#start();
    const { worker } = this.#running;
    this.#requests += 1;
    const id = this.#requests;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, request } satisfies ToHistoryThread);
    });
  }

  #start(): Running {
    const isStopping = stopFlag();
    const workerData: HistoryThreadData = { ...this.#data, isStopping };
    const worker = new Worker(workerUrl('sqlite/history/history-thread'), {
      workerData,
      name: 'history',
      ...WORKER_OPTIONS,
    });
    worker.on('message', (answer: FromHistoryThread) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('result' in answer) waiting?.resolve(answer.result);
      else waiting?.reject(new HistoryTrouble(answer.trouble));
    });
    worker.on('error', (error) => this.#lost(worker, error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => this.#lost(worker, 'The thread of the history has ended'));
    return { worker, isStopping };
  }

  #lost(worker: Worker, message: string): void {
    if (this.#running?.worker !== worker) return;
    this.#running = undefined;
    this.#rejectAll(message);
  }

  #rejectAll(message: string): void {
    for (const { reject } of this.#waiting.values())
      reject(new HistoryTrouble({ kind: 'unreadable', message }));
    this.#waiting.clear();
  }

  async stop(reason: string, isSealed: boolean): Promise<void> {
    if (this.#running === undefined) return;
    const { worker, isStopping } = this.#running;
    this.#running = undefined;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    raise(isStopping);
    worker.postMessage({ kind: 'close', isSealed } satisfies ToHistoryThread);
    await ended;
    this.#rejectAll(reason);
  }
}

/** Tables in memory, for stores of one thread. */
export class HistoryInPlace implements HistoryHost {
  readonly work: HistoryWork;
  #isTidying = false;

  constructor(work: HistoryWork) {
    this.work = work;
  }

  ask(request: HistoryRequest): Promise<unknown> {
    try {
      const answer = this.work.answer(request);
      if (request.kind === 'forget' || request.kind === 'open') this.#tidyLater();
      return Promise.resolve(answer);
    } catch (error) {
      return Promise.reject(new HistoryTrouble(historyFailureOf(error)));
    }
  }

  /** Removes rows of deleted simulations, a few each time that other work had a turn. */
  #tidyLater(): void {
    if (this.#isTidying) return;
    this.#isTidying = true;
    setImmediate(() => {
      this.#isTidying = false;
      try {
        if (this.work.tidy()) this.#tidyLater();
      } catch {
        // They are found again when the history is opened.
      }
    }).unref();
  }

  stop(_reason: string, isSealed: boolean): Promise<void> {
    this.work.close(isSealed);
    return Promise.resolve();
  }
}
