import { Worker } from 'node:worker_threads';
import { DamagedJournal, StoreUnavailable, UnusableDirectory } from '../../journal.js';
import { AlreadyExists, NotInRegistry } from '../../registry.js';
import type { StoreHealth } from '../../store.js';
import type { FromWriter, Operation, WriteRefusal, ToWriter, WriterData } from './batch.js';
import { OutgoingBatch } from './outgoing-batch.js';
import { WORKER_OPTIONS, workerUrl } from '../../worker-url.js';

/** Maximum time that callers wait for a disk without space. */
const PATIENCE_MS = 1_000;

/** Limit on the waiting text: a stalled disk must not let memory grow without end; far above the needs of a healthy disk. */
const MOST_WAITING_CHARACTERS = 256 * 1024 * 1024;

/** Records and operations that a queue in memory collects before it writes them. A reader ends the wait. */
const MOST_COLLECTED = 512;
const MOST_COLLECTED_CHARACTERS = 1_048_576;

/** Operations that can wait for the next commit cause one after this time if there is none: at most ten a second. */
const SOON_MS = 100;

const DONE = Promise.resolve();

/** An operation that is made when the next commit begins. */
interface SoonOperation {
  readonly make: () => Operation;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The way to a writer. */
export interface WriterLine {
  postMessage(message: ToWriter, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: FromWriter) => void): unknown;
  terminate(): unknown;
}

/** The main thread's side of the writer: collects the appends of a turn of the event loop into a batch, and settles their promises. */
export class WriteQueue {
  readonly #writer: WriterLine;
  readonly #onFatal: (error: Error) => void;
  #collecting: OutgoingBatch | undefined;
  readonly #sent: OutgoingBatch[] = [];
  readonly #soon: SoonOperation[] = [];
  #soonTimer: NodeJS.Timeout | undefined;
  #batches = 0;
  #waiting = 0;
  #waitingCharacters = 0;
  #status: StoreHealth['status'] = 'ok';
  #isReserveSpent = false;
  #reason: string | undefined;
  #patience: NodeJS.Timeout | undefined;
  #closed: (() => void) | undefined;
  #durableWaiters: {
    readonly number: number;
    readonly resolve: () => void;
    readonly reject: (error: Error) => void;
  }[] = [];

  /** Appends are as safe in the queue as behind it: they are acknowledged at once. */
  readonly #isInMemory: boolean;

  private constructor(writer: WriterLine, onFatal: (error: Error) => void, isInMemory = false) {
    this.#writer = writer;
    this.#onFatal = onFatal;
    this.#isInMemory = isInMemory;
    writer.on('message', (message: FromWriter) => this.#receive(message));
  }

  /** Rejects with the reason why the database cannot be opened. `onFatal`: the store has failed permanently; called once. */
  static async start(data: WriterData, onFatal: (error: Error) => void): Promise<WriteQueue> {
    const worker = new Worker(workerUrl('sqlite/writer/writing-thread'), {
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
    const queue = new WriteQueue(worker, onFatal);
    worker.on('error', (error) => queue.#fail(error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => queue.#fail('The writer has ended'));
    return queue;
  }

  /** A queue in front of a writer on the same thread. `isInMemory`: readers call `flush` before they look. */
  static inPlace(line: WriterLine, isInMemory: boolean, onFatal: (error: Error) => void): WriteQueue {
    return new WriteQueue(line, onFatal, isInMemory);
  }

  /** Hands everything that is collected to the writer, which has written it when this returns if it is on this thread. */
  flush(): void {
    if (this.#sent.length === 0) this.#send();
  }

  /** Reason why nothing can be appended now. */
  refusal(): StoreUnavailable | undefined {
    if (this.#status !== 'ok') return new StoreUnavailable(this.#reason ?? `The store is ${this.#status}`);
    if (this.#waitingCharacters < MOST_WAITING_CHARACTERS) return undefined;
    return new StoreUnavailable('The disk does not keep up: too much waits to be written');
  }

  /** Call `refusal` first. */
  append(simulation: number, seq: number, at: number, payload: string): Promise<void> {
    const outgoing = this.#collect();
    outgoing.addRecord(simulation, seq, at, payload);
    this.#waitingCharacters += payload.length;
    return this.#acknowledged(outgoing);
  }

  #acknowledged(outgoing: OutgoingBatch): Promise<void> {
    if (!this.#isInMemory) return outgoing.promise;
    if (outgoing.count >= MOST_COLLECTED || outgoing.characters >= MOST_COLLECTED_CHARACTERS) this.flush();
    return DONE;
  }

  /** Resolves when everything appended so far is durable, however long the disk is full. Rejects when the store fails. */
  durable(): Promise<void> {
    if (this.#isInMemory) this.flush();
    const number = this.#collecting?.number ?? this.#sent.at(-1)?.number;
    if (number === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => this.#durableWaiters.push({ number, resolve, reject }));
  }

  /** Like `append`, for operations that are never refused. */
  add(operation: Operation): Promise<void> {
    const outgoing = this.#collect();
    outgoing.addOperation(operation);
    return this.#acknowledged(outgoing);
  }

  /** Like `add`; rejects also when the registry refuses the operation. */
  async submit(operation: Operation): Promise<void> {
    const outgoing = this.#collect();
    const index = outgoing.addOperation(operation);
    if (this.#isInMemory) this.flush();
    await outgoing.promise;
    const refused = outgoing.refusals.find((refusal) => refusal.operation === index);
    if (refused !== undefined) throw refusalError(refused);
  }

  /** Like `submit`, with the next commit, which begins within a tenth of a second. `make` is called then. */
  submitSoon(make: () => Operation): Promise<void> {
    if (this.#isInMemory) return this.submit(make());
    return new Promise((resolve, reject) => {
      this.#soon.push({ make, resolve, reject });
      this.#soonTimer ??= setTimeout(() => this.#batch(), SOON_MS).unref();
    });
  }

  #collect(): OutgoingBatch {
    this.#waiting += 1;
    return this.#batch();
  }

  #batch(): OutgoingBatch {
    if (this.#collecting !== undefined) return this.#collecting;
    this.#batches += 1;
    const outgoing = new OutgoingBatch(this.#batches);
    // Callers have been answered already.
    if (this.#isInMemory) outgoing.promise.catch(() => undefined);
    this.#collecting = outgoing;
    if (!this.#isInMemory) this.#sendSoon();
    return outgoing;
  }

  /**
   * After the I/O of this turn: requests that arrived together are committed together. The writer has one batch at a time: later
   * operations, of however many turns, form one message and one commit, too.
   */
  #sendSoon(): void {
    setImmediate(() => {
      if (this.#sent.length === 0) this.#send();
    });
  }

  #send(): void {
    const outgoing = this.#collecting;
    if (outgoing === undefined || this.#status === 'failed') return;
    this.#collecting = undefined;
    this.#sent.push(outgoing);
    clearTimeout(this.#soonTimer);
    this.#soonTimer = undefined;
    for (const { make, resolve, reject } of this.#soon.splice(0)) {
      this.#waiting += 1;
      outgoing.addOperation(make());
      outgoing.promise.then(resolve, reject);
    }
    const batch = outgoing.encode();
    this.#writer.postMessage(batch, [batch.data.buffer]);
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case 'committed':
        this.#committed(message.upTo, message.refusals);
        return;
      case 'reserve-spent':
        this.#isReserveSpent = true;
        this.#reason = `The disk is full: ${message.reason}`;
        return;
      case 'reserve-restored':
        this.#isReserveSpent = false;
        if (this.#status === 'ok') this.#reason = undefined;
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

  #committed(upTo: number, refusals: readonly WriteRefusal[]): void {
    const later = this.#sent.findIndex(({ number }) => number > upTo);
    const done = this.#sent.splice(0, later === -1 ? this.#sent.length : later);
    for (const outgoing of done) {
      this.#waiting -= outgoing.count;
      this.#waitingCharacters -= outgoing.characters;
      if (refusals.length > 0)
        outgoing.refusals = refusals.filter((refusal) => refusal.batch === outgoing.number);
      outgoing.resolve();
    }
    this.#durableWaiters = this.#durableWaiters.filter((waiter) => {
      if (waiter.number <= upTo) waiter.resolve();
      return waiter.number > upTo;
    });
    if (this.#collecting !== undefined) this.#sendSoon();
    if (this.#status === 'failing' && this.#sent.length === 0 && this.#collecting === undefined) {
      this.#status = 'ok';
      if (!this.#isReserveSpent) this.#reason = undefined;
      clearTimeout(this.#patience);
      this.#patience = undefined;
    }
  }

  #failing(reason: string): void {
    if (this.#status !== 'ok') return;
    this.#status = 'failing';
    this.#reason = `The store cannot commit: ${reason}`;
    // Accepted batches keep their place in the queue: memory is ahead of the disk already.
    this.#patience = setTimeout(() => this.#rejectAll(new StoreUnavailable(this.#reason)), PATIENCE_MS);
  }

  #fail(reason: string): void {
    if (this.#status === 'failed' || this.#status === 'closed') return;
    this.#status = 'failed';
    this.#reason = `The store has failed: ${reason}`;
    clearTimeout(this.#patience);
    const error = new StoreUnavailable(this.#reason);
    this.#rejectAll(error);
    for (const { reject } of this.#durableWaiters) reject(error);
    void this.#writer.terminate();
    this.#closed?.();
    this.#onFatal(error);
  }

  #rejectAll(error: StoreUnavailable): void {
    for (const { reject } of this.#soon.splice(0)) reject(error);
    for (const outgoing of this.#sent) outgoing.reject(error);
    this.#collecting?.reject(error);
  }

  health(): StoreHealth {
    const reason = this.refusal()?.message ?? this.#reason;
    return {
      status: this.#shownStatus(),
      waiting: this.#waiting,
      ...(reason !== undefined && { reason }),
    };
  }

  #shownStatus(): StoreHealth['status'] {
    if (this.#status !== 'ok') return this.#status;
    if (this.refusal() !== undefined) return 'failing';
    return this.#isReserveSpent ? 'reserve' : 'ok';
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

  /** Commits the waiting batches first, when there is space. */
  async close(): Promise<void> {
    if (this.#status === 'failed' || this.#status === 'closed') return;
    const closed = new Promise<void>((resolve) => (this.#closed = resolve));
    if (this.#soon.length > 0) this.#batch();
    this.#send();
    this.#writer.postMessage({ kind: 'close' });
    await closed;
    clearTimeout(this.#patience);
    await this.#writer.terminate();
  }
}

/** The error of a database that the writer could not open. */
export function openingError({ name, message }: { readonly name: string; readonly message: string }): Error {
  if (name === 'DamagedJournal') return new DamagedJournal(message);
  if (name === 'UnusableDirectory') return new UnusableDirectory(message);
  if (name === 'StoreUnavailable') return new StoreUnavailable(message);
  return new Error(message);
}

function refusalError({ reason, message }: WriteRefusal): Error {
  return reason === 'already-exists' ? new AlreadyExists(message) : new NotInRegistry(message);
}
