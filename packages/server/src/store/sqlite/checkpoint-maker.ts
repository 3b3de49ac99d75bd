import { Worker } from 'node:worker_threads';
import type { Checkpoint, Checkpoints } from '../checkpoints.js';
import { StoreUnavailable } from '../journal.js';
import type { CheckpointFiles } from './checkpoint-files.js';
import type {
  CheckpointData,
  CheckpointRequest,
  FromCheckpointThread,
  ToCheckpointThread,
} from './checkpoint-thread.js';
import { isRaised, raise, stopFlag } from './stop-flag.js';
import { WORKER_OPTIONS, workerUrl } from './worker-url.js';

interface Simulation {
  readonly key: number;
  readonly config: string;
}

/** A thread that nobody needs for so long ends: it holds the whole state of a simulation. */
const IDLE_MS = 60_000;

/** The main thread's side of checkpoints: one is made at a time, by a thread of their own. */
export class CheckpointMaker implements Checkpoints {
  readonly #directory: string;
  readonly #recovery: string;
  readonly #files: CheckpointFiles;
  readonly #find: (simulationId: string) => Simulation | undefined;
  readonly #stop = stopFlag();
  #last: Promise<unknown> = Promise.resolve();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** `recovery`: URL of a module that is a `CheckpointMaking`. */
  constructor(
    directory: string,
    recovery: string,
    files: CheckpointFiles,
    find: (simulationId: string) => Simulation | undefined,
  ) {
    this.#directory = directory;
    this.#recovery = recovery;
    this.#files = files;
    this.#find = find;
  }

  load(simulationId: string): Checkpoint | undefined {
    const simulation = this.#find(simulationId);
    return simulation === undefined ? undefined : this.#files.load(simulation.key);
  }

  make(simulationId: string): Promise<number> {
    const made = this.#last.then(() => this.#makeNow(simulationId));
    this.#last = made.catch(() => undefined);
    return made;
  }

  readAhead(simulationId: string): void {
    const key = this.#find(simulationId)?.key;
    if (key === undefined || this.#worker === undefined) return;
    this.#endWhenIdle();
    this.#worker.postMessage({
      kind: 'read-ahead',
      simulation: key,
      simulationId,
    } satisfies ToCheckpointThread);
  }

  /** What has been read ahead is of use only as long as the thread is there. */
  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#last = this.#last.then(() => this.#end());
    }, IDLE_MS).unref();
  }

  async #makeNow(simulationId: string): Promise<number> {
    const simulation = this.#find(simulationId);
    if (isRaised(this.#stop) || simulation === undefined) return 0;
    clearTimeout(this.#idle);
    const { key, config } = simulation;
    const seq = await this.#ask({ kind: 'make', simulation: key, simulationId, config });
    this.#endWhenIdle();
    // Deleted meanwhile.
    if (this.#find(simulationId) === undefined) this.#files.remove(key);
    return seq;
  }

  #ask(request: CheckpointRequest): Promise<number> {
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        worker.off('message', answered).off('error', failed).off('exit', ended);
      };
      const answered = (message: FromCheckpointThread): void => {
        settle();
        if ('seq' in message) resolve(message.seq);
        else reject(new StoreUnavailable(`No checkpoint could be made: ${message.failed}`));
      };
      const failed = (error: unknown): void => {
        settle();
        reject(error instanceof Error ? error : new Error(String(error)));
      };
      const ended = (): void =>
        failed(new StoreUnavailable('No checkpoint could be made: its thread has ended'));
      worker.on('message', answered).on('error', failed).on('exit', ended);
      worker.postMessage(request satisfies ToCheckpointThread);
    });
  }

  #start(): Worker {
    const workerData: CheckpointData = {
      directory: this.#directory,
      recovery: this.#recovery,
      stop: this.#stop,
    };
    const worker = new Worker(workerUrl('checkpoint-thread'), {
      workerData,
      name: 'checkpoint',
      ...WORKER_OPTIONS,
    });
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  /** Has nothing open any more when it resolves. */
  async #end(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ kind: 'end' } satisfies ToCheckpointThread);
    await ended;
  }

  /** Gives up what is under way, unless its file is being written already. */
  async close(): Promise<void> {
    raise(this.#stop);
    clearTimeout(this.#idle);
    await this.#last;
    await this.#end();
  }
}
