import { Worker } from 'node:worker_threads';
import { WORKER_OPTIONS, workerUrl } from '../../worker-url.js';

export interface CopyData {
  /** Path of the database. */
  readonly path: string;
  /** One number, a `CopyState`. */
  readonly state: Int32Array;
}

export const CopyState = { resting: 0, asked: 1, done: 2, ending: 3, ended: 4 } as const;

/** Longer than any copy: then the thread is missing. */
const PATIENCE_MS = 10_000;

/**
 * The writer's side of a thread that copies the write-ahead log into the database: a long log requires two tenths of a second, and every
 * commit would wait that long. The thread is started on first use.
 */
export class LogCopier {
  readonly #path: string;
  readonly #state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #worker: Worker | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Starts to copy the current contents of the log, unless a copy is under way. */
  ask(): void {
    this.#worker ??= this.#start();
    Atomics.compareExchange(this.#state, 0, CopyState.resting, CopyState.asked);
    Atomics.notify(this.#state, 0);
  }

  /** True once after each time that it has copied. */
  takeDone(): boolean {
    return Atomics.compareExchange(this.#state, 0, CopyState.done, CopyState.resting) === CopyState.done;
  }

  #start(): Worker {
    const workerData: CopyData = { path: this.#path, state: this.#state };
    const worker = new Worker(workerUrl('sqlite/writer/log-copying'), {
      workerData,
      name: 'log-copier',
      ...WORKER_OPTIONS,
    });
    worker.unref();
    // A log that this thread does not copy is copied by the writer in the end, which reports the problem.
    worker.on('error', () => undefined);
    return worker;
  }

  /** Stops the thread; returns after it has closed its files. */
  close(): void {
    if (this.#worker === undefined) return;
    Atomics.wait(this.#state, 0, CopyState.asked, PATIENCE_MS);
    Atomics.store(this.#state, 0, CopyState.ending);
    Atomics.notify(this.#state, 0);
    Atomics.wait(this.#state, 0, CopyState.ending, PATIENCE_MS);
  }
}
