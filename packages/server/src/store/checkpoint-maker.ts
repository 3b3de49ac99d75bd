import { Worker } from 'node:worker_threads';
import type {
  CheckpointedSimulation,
  CheckpointRequest,
  CheckpointThreadData,
  FromCheckpointThread,
  KeepRequest,
  MadeCheckpoint,
  RowsRequest,
  SaveRequest,
  ToCheckpointThread,
} from './checkpoint-work.js';
import type { Checkpoint, Checkpoints, SavedCheckpoint } from './checkpoints.js';
import type { MadeRows, RowsOfCell } from './history/make-rows.js';
import { StoreUnavailable } from './journal.js';
import type { ValueOrPromise } from './journal.js';
import { isRaised, raise, stopFlag } from './stop-flag.js';
import { WORKER_OPTIONS } from './worker-url.js';

/** Stored checkpoints, for the main thread. */
export interface StoredCheckpoints {
  load(key: number, upTo?: number): ValueOrPromise<Checkpoint | undefined>;
  letGo(key: number, seq: number): ValueOrPromise<void>;
  /** Removes the checkpoints of a deleted simulation. */
  remove(key: number): ValueOrPromise<void>;
}

/** The module of a store's thread that makes checkpoints, and its start data. */
export interface CheckpointThread {
  readonly url: URL;
  /** URL of a module that is a `CheckpointMaking`. */
  readonly recovery: string;
  /** Data with which the thread opens the store; can be sent to a thread. */
  readonly data: object;
}

/** Idle time after which the thread ends, because it holds the whole state of a simulation. */
const IDLE_MS = 60_000;

/** The main thread's side of checkpoints: a separate thread writes one at a time. */
export class CheckpointMaker implements Checkpoints {
  readonly #thread: CheckpointThread;
  readonly #stored: StoredCheckpoints;
  readonly #find: (simulationId: string) => CheckpointedSimulation | undefined;
  readonly #isDeleted: (simulationId: string) => boolean;
  readonly #stop = stopFlag();
  #last: Promise<unknown> = Promise.resolve();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** `find`: undefined = this process does not own the simulation, or it is deleted. */
  constructor(
    thread: CheckpointThread,
    stored: StoredCheckpoints,
    find: (simulationId: string) => CheckpointedSimulation | undefined,
    isDeleted = (simulationId: string): boolean => find(simulationId) === undefined,
  ) {
    this.#thread = thread;
    this.#stored = stored;
    this.#find = find;
    this.#isDeleted = isDeleted;
  }

  load(simulationId: string, upTo?: number): ValueOrPromise<Checkpoint | undefined> {
    const simulation = this.#find(simulationId);
    return simulation === undefined ? undefined : this.#stored.load(simulation.key, upTo);
  }

  keep(simulationId: string, seq: number, isWanted: () => boolean = () => true): Promise<string | undefined> {
    const kept = this.#last.then(async () => {
      const simulation = this.#find(simulationId);
      if (isRaised(this.#stop) || simulation === undefined || !isWanted()) return undefined;
      const { stateHash } = await this.#do({ kind: 'keep', simulationId, seq, ...simulation });
      return stateHash;
    });
    this.#last = kept.catch(() => undefined);
    return kept;
  }

  letGo(simulationId: string, seq: number): void {
    // After the one in progress.
    this.#last = this.#last
      .then(async () => {
        const simulation = this.#find(simulationId);
        if (simulation !== undefined) await this.#stored.letGo(simulation.key, seq);
      })
      .catch(() => undefined);
  }

  make(simulationId: string, state?: SavedCheckpoint): Promise<number> {
    const made = this.#last.then(() => this.#makeNow(simulationId, state));
    this.#last = made.catch(() => undefined);
    return made;
  }

  /**
   * Makes the rows that the tables of the history lack, up to a record, from the journal. `lineOf`: what they have; `write` writes the rows.
   * Resolves when all are written.
   */
  makeRows(
    simulationId: string,
    lineOf: (key: number) => ValueOrPromise<readonly RowsOfCell[]>,
    write: (rows: MadeRows) => Promise<void>,
  ): Promise<void> {
    const made = this.#last.then(async () => {
      const simulation = this.#find(simulationId);
      if (isRaised(this.#stop) || simulation === undefined) return;
      const line = await lineOf(simulation.key);
      clearTimeout(this.#idle);
      await this.#ask({ kind: 'rows', simulationId, ...simulation, line }, write);
      this.#endWhenIdle();
    });
    this.#last = made.catch(() => undefined);
    return made;
  }

  readAhead(simulationId: string): void {
    const simulation = this.#worker === undefined ? undefined : this.#find(simulationId);
    if (simulation === undefined) return;
    this.#endWhenIdle();
    this.#worker?.postMessage({
      kind: 'read-ahead',
      simulationId,
      ...simulation,
    } satisfies ToCheckpointThread);
  }

  /** Records read ahead are useful only while the thread runs. */
  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#last = this.#last.then(() => this.#end());
    }, IDLE_MS).unref();
  }

  async #makeNow(simulationId: string, checkpoint: SavedCheckpoint | undefined): Promise<number> {
    const simulation = this.#find(simulationId);
    if (isRaised(this.#stop) || simulation === undefined) return 0;
    const { seq } = await this.#do(
      checkpoint === undefined
        ? { kind: 'make', simulationId, ...simulation }
        : { kind: 'save', checkpoint, simulationId, ...simulation },
    );
    return seq;
  }

  async #do(request: CheckpointRequest | SaveRequest | KeepRequest): Promise<MadeCheckpoint> {
    clearTimeout(this.#idle);
    const made = await this.#ask(request);
    this.#endWhenIdle();
    // In the meantime. One that another node has acquired keeps its checkpoints.
    if (this.#isDeleted(request.simulationId)) await this.#stored.remove(request.key);
    return made;
  }

  #ask(
    request: CheckpointRequest | SaveRequest | KeepRequest | RowsRequest,
    write?: (rows: MadeRows) => Promise<void>,
  ): Promise<MadeCheckpoint> {
    const worker = (this.#worker ??= this.#start());
    const writeRows = async (rows: MadeRows): Promise<void> => {
      try {
        await write?.(rows);
        worker.postMessage({ kind: 'written' } satisfies ToCheckpointThread);
      } catch (error) {
        const failed = error instanceof Error ? error.message : String(error);
        worker.postMessage({ kind: 'written', failed } satisfies ToCheckpointThread);
      }
    };
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        worker.off('message', answered).off('error', failed).off('exit', ended);
      };
      const answered = (message: FromCheckpointThread): void => {
        if ('made' in message) {
          void writeRows(message.made);
          return;
        }
        settle();
        if ('seq' in message) resolve(message);
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
    const { url, recovery, data } = this.#thread;
    const workerData: CheckpointThreadData = { ...data, recovery, stop: this.#stop };
    const worker = new Worker(url, {
      workerData,
      name: 'checkpoint',
      ...WORKER_OPTIONS,
    });
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  /** Resolves when it has closed everything. */
  async #end(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ kind: 'end' } satisfies ToCheckpointThread);
    await ended;
  }

  /** Aborts the current checkpoint, unless its file is being written already. */
  async close(): Promise<void> {
    raise(this.#stop);
    clearTimeout(this.#idle);
    await this.#last;
    await this.#end();
  }
}
