import { Worker } from 'node:worker_threads';
import type { Checkpoint, Checkpoints } from '../checkpoints.js';
import { StoreUnavailable } from '../journal.js';
import type { CheckpointFiles } from './checkpoint-files.js';
import type { CheckpointData, FromCheckpointThread } from './checkpoint-thread.js';
import { isRaised, raise, stopFlag } from './stop-flag.js';
import { WORKER_OPTIONS, workerUrl } from './worker-url.js';

interface Simulation {
  readonly key: number;
  readonly config: string;
}

/** The main thread's side of checkpoints: one is made at a time, each by a thread of its own. */
export class CheckpointMaker implements Checkpoints {
  readonly #directory: string;
  readonly #recovery: string;
  readonly #files: CheckpointFiles;
  readonly #find: (simulationId: string) => Simulation | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #stop = stopFlag();

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

  async #makeNow(simulationId: string): Promise<number> {
    const simulation = this.#find(simulationId);
    if (isRaised(this.#stop) || simulation === undefined) return 0;
    const { key, config } = simulation;
    const seq = await this.#inThread({
      directory: this.#directory,
      recovery: this.#recovery,
      simulation: key,
      simulationId,
      config,
      stop: this.#stop,
    });
    // Deleted meanwhile.
    if (this.#find(simulationId) === undefined) this.#files.remove(key);
    return seq;
  }

  #inThread(workerData: CheckpointData): Promise<number> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(workerUrl('checkpoint-thread'), {
        workerData,
        name: 'checkpoint',
        ...WORKER_OPTIONS,
      });
      worker.on('message', (message: FromCheckpointThread) => {
        if ('seq' in message) resolve(message.seq);
        else reject(new StoreUnavailable(`No checkpoint could be made: ${message.failed}`));
      });
      worker.on('error', reject);
      worker.on('exit', () =>
        reject(new StoreUnavailable('No checkpoint could be made: its thread has ended')),
      );
    });
  }

  /** Gives up what is under way, unless its file is being written already. */
  async close(): Promise<void> {
    raise(this.#stop);
    await this.#last;
  }
}
