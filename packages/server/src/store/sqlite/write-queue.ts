import { Worker } from 'node:worker_threads';
import { DamagedJournal, StoreUnavailable } from '../journal.js';
import { AlreadyExists, NotInRegistry } from '../registry.js';
import type { StoreHealth } from '../store.js';
import { emptyBatch } from './batch.js';
import type { Batch, FromWriter, Operation, Refusal, ToWriter, WriterData } from './batch.js';
import { WORKER_OPTIONS, workerUrl } from './worker-url.js';

/** Nobody waits longer than this for a disk without room. */
const PATIENCE_MS = 1_000;

/** A stalled disk must not let memory grow without end; far above what a healthy one ever lets wait. */
const MOST_WAITING_CHARACTERS = 256 * 1024 * 1024;

/** A batch and the one promise that all who put something into it share. */
interface Pending {
  readonly batch: Batch;
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  characters: number;
  refusals: Refusal[] | undefined;
}

/** The main thread's side of the writer: collects a turn of the event loop into a batch, and keeps the promises. */
export class WriteQueue {
  readonly #worker: Worker;
  readonly #onFatal: (error: Error) => void;
  #collecting: Pending | undefined;
  #sent: Pending[] = [];
  #batches = 0;
  #waiting = 0;
  #waitingCharacters = 0;
  #status: StoreHealth['status'] = 'ok';
  #reason: string | undefined;
  #patience: NodeJS.Timeout | undefined;
  #closed: (() => void) | undefined;

  private constructor(worker: Worker, onFatal: (error: Error) => void) {
    this.#worker = worker;
    this.#onFatal = onFatal;
    worker.on('message', (message: FromWriter) => this.#receive(message));
    worker.on('error', (error) => this.#fail(error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => this.#fail('The writer has ended'));
  }

  /** Rejects with what keeps the database from being opened. */
  static async start(data: WriterData, onFatal: (error: Error) => void): Promise<WriteQueue> {
    const worker = new Worker(workerUrl('journal-writer'), {
      workerData: data,
      name: 'journal-writer',
      ...WORKER_OPTIONS,
    });
    await new Promise<void>((resolve, reject) => {
      const ended = (): void => reject(new Error('The writer has ended'));
      worker.once('error', reject).once('exit', ended);
      worker.once('message', (message: FromWriter) => {
        worker.off('error', reject).off('exit', ended);
        if (message.kind === 'ready') resolve();
        else
          reject(
            message.kind === 'not-opened' ? openingError(message) : new Error(`Unexpected ${message.kind}`),
          );
      });
    });
    return new WriteQueue(worker, onFatal);
  }

  /** Why nothing can be added now. */
  refusal(): StoreUnavailable | undefined {
    if (this.#status !== 'ok') return new StoreUnavailable(this.#reason ?? `The store is ${this.#status}`);
    if (this.#waitingCharacters < MOST_WAITING_CHARACTERS) return undefined;
    return new StoreUnavailable('The disk does not keep up: too much waits to be written');
  }

  /** The caller has asked `refusal` first. */
  append(simulation: number, seq: number, at: number, payload: string): Promise<void> {
    const pending = this.#collect(simulation, seq, at, payload);
    pending.characters += payload.length;
    this.#waitingCharacters += payload.length;
    return pending.promise;
  }

  /** Like `append`; rejects also when the registry refuses the operation. */
  submit(operation: Operation): Promise<void> {
    const pending = this.#collect(0, 0, 0, '');
    const index = pending.batch.operations.push(operation) - 1;
    return pending.promise.then(() => {
      const refused = pending.refusals?.find((refusal) => refusal.operation === index);
      if (refused !== undefined) throw refusalError(refused);
    });
  }

  #collect(simulation: number, seq: number, at: number, payload: string): Pending {
    let pending = this.#collecting;
    if (pending === undefined) {
      this.#batches += 1;
      pending = newPending(this.#batches);
      this.#collecting = pending;
      // After the I/O of this turn: requests that arrived together are committed together.
      setImmediate(() => this.#send());
    }
    const { batch } = pending;
    batch.simulations.push(simulation);
    batch.seqs.push(seq);
    batch.ats.push(at);
    batch.payloads.push(payload);
    this.#waiting += 1;
    return pending;
  }

  #send(): void {
    const pending = this.#collecting;
    if (pending === undefined || this.#status === 'failed') return;
    this.#collecting = undefined;
    this.#sent.push(pending);
    this.#post(pending.batch);
  }

  #post(message: ToWriter): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case 'committed':
        this.#committed(message.upTo, message.refusals);
        return;
      case 'failing':
        this.#failing(message.reason);
        return;
      case 'failed':
        this.#fail(message.reason);
        return;
      case 'closed':
        this.#status = 'closed';
        this.#rejectAll(new StoreUnavailable('The store was closed before this could be written'));
        this.#closed?.();
        return;
      case 'ready':
      case 'not-opened':
        return;
    }
  }

  #committed(upTo: number, refusals: readonly Refusal[]): void {
    let done = 0;
    for (const pending of this.#sent) {
      if (pending.batch.number > upTo) break;
      done += 1;
      this.#waiting -= pending.batch.simulations.length;
      this.#waitingCharacters -= pending.characters;
      if (refusals.length > 0)
        pending.refusals = refusals.filter((refusal) => refusal.batch === pending.batch.number);
      pending.resolve();
    }
    this.#sent = this.#sent.slice(done);
    if (this.#status === 'failing' && this.#sent.length === 0 && this.#collecting === undefined) {
      this.#status = 'ok';
      this.#reason = undefined;
      clearTimeout(this.#patience);
      this.#patience = undefined;
    }
  }

  #failing(reason: string): void {
    if (this.#status !== 'ok') return;
    this.#status = 'failing';
    this.#reason = `The store cannot commit: ${reason}`;
    // What was accepted stays in the queue, in its place: memory is ahead of the disk already.
    this.#patience = setTimeout(() => this.#rejectAll(new StoreUnavailable(this.#reason)), PATIENCE_MS);
  }

  #fail(reason: string): void {
    if (this.#status === 'failed' || this.#status === 'closed') return;
    this.#status = 'failed';
    this.#reason = `The store has failed: ${reason}`;
    clearTimeout(this.#patience);
    const error = new StoreUnavailable(this.#reason);
    this.#rejectAll(error);
    void this.#worker.terminate();
    this.#closed?.();
    this.#onFatal(error);
  }

  #rejectAll(error: StoreUnavailable): void {
    for (const pending of this.#sent) pending.reject(error);
    this.#collecting?.reject(error);
  }

  health(): StoreHealth {
    const reason = this.#reason ?? this.refusal()?.message;
    return {
      status: this.#status === 'ok' && reason !== undefined ? 'failing' : this.#status,
      waiting: this.#waiting,
      ...(reason !== undefined && { reason }),
    };
  }

  async probe(): Promise<void> {
    const refusal = this.refusal();
    if (refusal !== undefined) throw refusal;
    let deadline: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      deadline = setTimeout(() => reject(new StoreUnavailable('The disk does not answer')), PATIENCE_MS);
    });
    try {
      await Promise.race([this.submit({ kind: 'probe' }), late]);
    } finally {
      clearTimeout(deadline);
    }
  }

  /** What is waiting is committed first, when there is room. */
  async close(): Promise<void> {
    if (this.#status === 'failed' || this.#status === 'closed') return;
    const closed = new Promise<void>((resolve) => (this.#closed = resolve));
    this.#send();
    this.#post({ kind: 'close' });
    await closed;
    clearTimeout(this.#patience);
    await this.#worker.terminate();
  }
}

function newPending(number: number): Pending {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((onResolved, onRejected) => {
    resolve = onResolved;
    reject = onRejected;
  });
  return { batch: emptyBatch(number), promise, resolve, reject, characters: 0, refusals: undefined };
}

function openingError({ name, message }: { readonly name: string; readonly message: string }): Error {
  if (name === 'DamagedJournal') return new DamagedJournal(message);
  if (name === 'StoreUnavailable') return new StoreUnavailable(message);
  return new Error(message);
}

function refusalError({ reason, message }: Refusal): Error {
  return reason === 'already-exists' ? new AlreadyExists(message) : new NotInRegistry(message);
}
