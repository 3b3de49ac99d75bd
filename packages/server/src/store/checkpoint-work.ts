/**
 * The work of a thread that makes checkpoints. It keeps the state of the last checkpoint: the next one of the same simulation costs only
 * the records between the two. The main thread ends it after an idle time, which frees that state.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Checkpoint, CheckpointMaking, SavedCheckpoint, Standby } from './checkpoints.js';
import { makeRows } from './history/make-rows.js';
import type { MadeRows, RowsOfCell } from './history/make-rows.js';
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

/** Makes rows that the tables lack. */
export interface RowsRequest extends CheckpointedSimulation {
  readonly kind: 'rows';
  readonly simulationId: string;
  /** The youngest first: the simulation itself. */
  readonly line: readonly RowsOfCell[];
}

export interface MadeCheckpoint {
  /** Sequence of its record. */
  readonly seq: number;
  /** Hash of the state; present when the checkpoint is kept. */
  readonly stateHash?: string;
}

export type ToCheckpointThread =
  | CheckpointRequest
  | SaveRequest
  | KeepRequest
  | ReadAheadRequest
  | RowsRequest
  /** The rows that were sent last are written, or cannot be. */
  | { readonly kind: 'written'; readonly failed?: string }
  | { readonly kind: 'end' };
export type FromCheckpointThread = MadeCheckpoint | { readonly failed: string } | { readonly made: MadeRows };

type Request = CheckpointRequest | KeepRequest | ReadAheadRequest | RowsRequest;

type Answered = CheckpointRequest | SaveRequest | KeepRequest | RowsRequest;

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
  readonly #send: (rows: MadeRows) => Promise<void>;
  readonly #recovery: string;
  readonly #store: CheckpointStore;
  readonly #stop: Int32Array;
  #kept: { readonly key: number; readonly standby: Standby } | undefined;
  /** The record of the newest checkpoint of the kept state. */
  #saved = 0;

  /** `send`: resolves when the rows are written. */
  constructor(
    store: CheckpointStore,
    { stop, recovery }: CheckpointThreadData,
    send: (rows: MadeRows) => Promise<void>,
  ) {
    this.#send = send;
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
      case 'rows':
        return { seq: await this.#makeRows(request) };
    }
  }

  /** Makes rows that the tables lack from the last state before them. */
  async #makeRows(request: RowsRequest): Promise<number> {
    this.#kept = undefined;
    await makeRows(request.line, {
      standbyAt: (upTo) => this.#begin(request, upTo),
      read: (afterSeq) => this.#batches(request, afterSeq),
      write: this.#send,
    });
    return request.line[0]?.upTo ?? 0;
  }

  async *#batches(request: RowsRequest, afterSeq: number): AsyncGenerator<Iterable<JournalRecord>> {
    for await (const records of this.#store.read(request, afterSeq))
      yield this.#unlessStopped(records, Infinity);
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

  async #begin(request: CheckpointRequest | KeepRequest | RowsRequest, upTo?: number): Promise<Standby> {
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
  const answer = (message: FromCheckpointThread): void => port.postMessage(message);
  let written: ((failed: string | undefined) => void) | undefined;
  const send = (made: MadeRows): Promise<void> =>
    new Promise((resolve, reject) => {
      written = (failed) => (failed === undefined ? resolve() : reject(new Error(failed)));
      answer({ made });
    });
  const work = new CheckpointWork(store, data, send);
  const receive = async (message: Exclude<ToCheckpointThread, { kind: 'written' }>): Promise<void> => {
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
    if (message.kind === 'written') written?.(message.failed);
    else last = last.then(() => receive(message));
  });
}
