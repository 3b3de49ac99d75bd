/**
 * The work of a thread that makes checkpoints. It keeps the state of the last checkpoint: the next one of the same simulation costs only
 * the records between the two. The main thread ends it after an idle time, which frees that state.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Checkpoint, CheckpointMaking, SavedCheckpoint, Standby } from './checkpoints.js';
import type { JournalRecord, ValueOrPromise } from './journal.js';
import { lowerPriority } from './lower-priority.js';
import { isRaised } from './stop-flag.js';

/** Start data of a checkpoint thread of any store. */
export interface CheckpointThreadData {
  /** URL of a module that is a `CheckpointMaking`. */
  readonly recovery: string;
  /** Ends the work under way, without a checkpoint. */
  readonly stop: Int32Array;
}

/** A simulation as a thread receives it. */
export interface CheckpointedSimulation {
  readonly key: number;
  readonly config: string;
  /** Additional data that the store's thread needs to read its journal; can be sent to a thread. */
  readonly reading?: unknown;
}

export interface CheckpointRequest extends CheckpointedSimulation {
  readonly kind: 'make';
  readonly simulationId: string;
}

/** Writes a checkpoint that the main thread has made. */
export interface SaveRequest extends CheckpointedSimulation {
  readonly kind: 'save';
  readonly simulationId: string;
  readonly checkpoint: SavedCheckpoint;
}

/** Writes a checkpoint of exactly this record and keeps it. */
export interface KeepRequest extends CheckpointedSimulation {
  readonly kind: 'keep';
  readonly simulationId: string;
  readonly seq: number;
}

interface ReadAheadRequest extends CheckpointedSimulation {
  readonly kind: 'read-ahead';
  readonly simulationId: string;
}

export interface MadeCheckpoint {
  /** Sequence of its record. */
  readonly seq: number;
  /** Hash of the state; present when the checkpoint is kept. */
  readonly stateHash?: string;
}

export type ToCheckpointThread =
  CheckpointRequest | SaveRequest | KeepRequest | ReadAheadRequest | { readonly kind: 'end' };
export type FromCheckpointThread = MadeCheckpoint | { readonly failed: string };

type Request = CheckpointRequest | KeepRequest | ReadAheadRequest;

type Answered = CheckpointRequest | SaveRequest | KeepRequest;

/** A store as the thread that makes its checkpoints reads and writes it. */
export interface CheckpointStore {
  load(request: Request, upTo?: number): ValueOrPromise<Checkpoint | undefined>;
  save(request: Answered, checkpoint: Checkpoint, isKept: boolean): ValueOrPromise<void>;
  /** Records after `afterSeq` in order, in batches. */
  read(
    request: Request,
    afterSeq: number,
  ): Iterable<Iterable<JournalRecord>> | AsyncIterable<Iterable<JournalRecord>>;
  close(): ValueOrPromise<void>;
}

class CheckpointWork {
  readonly #recovery: string;
  readonly #store: CheckpointStore;
  readonly #stop: Int32Array;
  #kept: { readonly key: number; readonly standby: Standby } | undefined;
  /** The record of the newest checkpoint of the kept state. */
  #saved = 0;

  constructor(store: CheckpointStore, { stop, recovery }: CheckpointThreadData) {
    this.#recovery = recovery;
    this.#store = store;
    this.#stop = stop;
  }

  async answer(request: Answered): Promise<MadeCheckpoint> {
    switch (request.kind) {
      case 'save':
        // The state in memory is older.
        if (this.#kept?.key === request.key) this.#kept = undefined;
        await this.#store.save(request, request.checkpoint, false);
        return { seq: request.checkpoint.seq };
      case 'keep':
        return { seq: request.seq, stateHash: await this.#keep(request) };
      case 'make':
        return { seq: await this.#make(request) };
    }
  }

  /** Returns the number of the record that the newest checkpoint is of. */
  async #make(request: CheckpointRequest): Promise<number> {
    const { key } = request;
    const standby = this.#kept?.key === key ? this.#kept.standby : await this.#begin(request);
    await this.#catchUp(standby, request);
    if (standby.seq > this.#saved) await this.#store.save(request, standby.checkpoint(), false);
    this.#saved = standby.seq;
    this.#kept = { key, standby };
    return standby.seq;
  }

  /** Returns the hash of the state as of the record. */
  async #keep(request: KeepRequest): Promise<string> {
    const { key, seq } = request;
    const kept = this.#kept?.key === key ? this.#kept.standby : undefined;
    const standby = kept !== undefined && kept.seq <= seq ? kept : await this.#begin(request, seq);
    await this.#catchUp(standby, request, seq);
    if (standby.seq > 0) await this.#store.save(request, standby.checkpoint(), true);
    this.#kept = { key, standby };
    return standby.stateHash();
  }

  /** Reads ahead for the simulation in memory; for any other there is no state to continue from. */
  async readAhead(request: ReadAheadRequest): Promise<void> {
    const { key, standby } = this.#kept ?? {};
    if (key !== request.key || standby === undefined) return;
    await this.#catchUp(standby, request);
    this.#kept = { key, standby };
  }

  async #catchUp(standby: Standby, request: Request, upTo = Infinity): Promise<void> {
    // Kept only if it succeeds.
    this.#kept = undefined;
    if (standby.seq >= upTo) return;
    for await (const records of this.#store.read(request, standby.seq)) {
      standby.apply(this.#unlessStopped(records, upTo));
      if (standby.seq >= upTo) return;
    }
  }

  async #begin(request: CheckpointRequest | KeepRequest, upTo?: number): Promise<Standby> {
    this.#kept = undefined;
    // Loaded for the first state that the main thread does not save itself.
    const making = (await import(this.#recovery)) as CheckpointMaking;
    const standby = making.standbyFrom(request.config, await this.#store.load(request, upTo));
    this.#saved = standby.seq;
    return standby;
  }

  *#unlessStopped<T extends { readonly seq: number }>(records: Iterable<T>, upTo: number): Generator<T> {
    for (const record of records) {
      if (record.seq > upTo) return;
      if (isRaised(this.#stop)) throw new Error('the store is closing');
      yield record;
    }
  }
}

/** Executes the main thread's requests in sequence until it sends the last one. */
export function workOn(port: MessagePort, data: CheckpointThreadData, store: CheckpointStore): void {
  lowerPriority();
  const work = new CheckpointWork(store, data);
  const answer = (message: FromCheckpointThread): void => port.postMessage(message);
  const receive = async (message: ToCheckpointThread): Promise<void> => {
    if (message.kind === 'end') {
      await store.close();
      port.close();
      return;
    }
    if (message.kind === 'read-ahead') {
      // After a failure, the next checkpoint starts over and reports the error.
      await work.readAhead(message).catch(() => undefined);
      return;
    }
    try {
      answer(await work.answer(message));
    } catch (error) {
      answer({ failed: error instanceof Error ? error.message : String(error) });
    }
  };
  let last: Promise<void> = Promise.resolve();
  port.on('message', (message: ToCheckpointThread) => {
    last = last.then(() => receive(message));
  });
}
