/**
 * What writes the journal, in a thread of its own or in place. It writes all batches that arrived while it was busy in one transaction with one sync, and then acknowledges
 * them. The main thread never waits for a disk.
 */
import { setTimeout as later } from 'node:timers';
import { receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { AnswerTable } from '../journal/answer-table.js';
import type { Batch, FromWriter, Operation, WriteRefusal, ToWriter, WriterData } from '../journal/batch.js';
import { blocksOf } from '../journal/block-group.js';
import type { NewBlock } from '../journal/block-group.js';
import { BlockTable } from '../journal/block-table.js';
import { CommitLog } from './commit-log.js';
import type { CommitDraft } from './commit-log.js';
import { isDiskFailure, isDiskFull, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { unusable } from '../database/private-files.js';
import { Purge } from './purge.js';
import { RegistryTables } from '../registry/registry-tables.js';
import { Reserve } from './reserve.js';
import { tailHash } from '../journal/row-sums.js';
import { openingError } from '../journal/write-queue.js';
import type { WriterLine } from '../journal/write-queue.js';
import { uninterrupted } from '../../../threads/process-end.js';

/** A group ends after this many records, so that those in it do not wait for a very long commit. */
const RECORDS_PER_COMMIT = 1_024;
const RETRY_MS = 250;
/** Delay before the reserve is created, since a start has more urgent work, and between attempts to restore it. */
const RESERVE_MS = 2_000;

/** The writer's end of its line to the main thread. */
interface WriterPort {
  /** The next message that has arrived and was not received. */
  next(): ToWriter | undefined;
  tell(message: FromWriter): void;
  close(): void;
  /** For a writer that shares its thread: does unhurried work after other work had a turn. Absent = the thread has no other work. */
  readonly later?: (work: () => void) => void;
}

const portOfThread = (port: MessagePort): WriterPort => ({
  next: () => (receiveMessageOnPort(port) as { readonly message: ToWriter } | undefined)?.message,
  tell: (message) => port.postMessage(message),
  close: () => port.close(),
});

class JournalWriter {
  readonly #log: CommitLog;
  /** Absent in memory. */
  readonly #reserve: Reserve | undefined;
  readonly #port: WriterPort;
  readonly #pageLimit: Int32Array | undefined;
  readonly #blocks: BlockTable;
  readonly #answers: AnswerTable;
  readonly #registry: RegistryTables;
  readonly #purge: Purge;
  readonly #statements: Statements;
  readonly #arrived: Batch[] = [];
  /** Batches that are being committed, or retried. */
  #group: Batch[] = [];
  #refusals: WriteRefusal[] = [];
  #retry: NodeJS.Timeout | undefined;
  #reserveTimer: NodeJS.Timeout | undefined;
  #isReserveSpent = false;
  #shownPageLimit = 0;
  #isPurgeAwaited = false;
  #isTurnOfPurge = false;
  #isClosing = false;
  #isOver = false;

  constructor(
    log: CommitLog,
    reserve: Reserve | undefined,
    port: WriterPort,
    pageLimit: Int32Array | undefined,
  ) {
    this.#log = log;
    this.#reserve = reserve;
    this.#port = port;
    this.#pageLimit = pageLimit;
    this.#blocks = new BlockTable(log.database, log.epoch);
    this.#answers = new AnswerTable(log.database);
    this.#registry = new RegistryTables(log.database);
    this.#purge = new Purge(log.database, this.#registry);
    this.#statements = new Statements(log.database);
  }

  receive(message: ToWriter): void {
    this.#take(message);
    if (this.#retry === undefined || this.#isClosing) this.#work();
  }

  /** Continues unfinished work of the previous process. */
  resume(): void {
    this.#restoreReserveLater();
    this.#work();
  }

  #take(message: ToWriter): void {
    if (message.kind === 'close') this.#isClosing = true;
    else this.#arrived.push(message);
  }

  #takeArrived(): void {
    for (;;) {
      const next = this.#port.next();
      if (next === undefined) return;
      this.#take(next);
    }
  }

  #work(): void {
    if (this.#isOver) return;
    try {
      for (;;) {
        this.#takeArrived();
        if (this.#group.length === 0) this.#nextGroup();
        const isIdle = this.#group.length === 0;
        if (isIdle && (!this.#purge.isPending || this.#isPurgeLater())) break;
        if (!this.#commitGroup()) break;
        this.#log.tidy();
      }
      if (this.#isClosing) this.#close();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** True when removals wait for a later turn, because the thread has other work. A close leaves them to the next start. */
  #isPurgeLater(): boolean {
    const { later: afterOthers } = this.#port;
    if (afterOthers === undefined) return false;
    if (this.#isClosing) return true;
    if (this.#isTurnOfPurge) {
      this.#isTurnOfPurge = false;
      return false;
    }
    if (!this.#isPurgeAwaited)
      afterOthers(() => {
        this.#isPurgeAwaited = false;
        this.#isTurnOfPurge = true;
        if (this.#retry === undefined) this.#work();
      });
    this.#isPurgeAwaited = true;
    return true;
  }

  #nextGroup(): void {
    let records = 0;
    while (records < RECORDS_PER_COMMIT) {
      const batch = this.#arrived.shift();
      if (batch === undefined) return;
      this.#group.push(batch);
      for (const { first, last } of batch.pieces) records += last - first + 1;
    }
  }

  /** False without space: the group stays queued, and is retried. */
  #commitGroup(): boolean {
    try {
      this.#applyPageLimit();
      if (this.#log.isCommitted) this.#log.finish();
      else this.#log.commit((draft) => this.#writeGroup(draft));
    } catch (error) {
      this.#blocks.forget();
      if (!isDiskFull(error)) throw error;
      return this.#isRoomMade((error as Error).message);
    }
    const last = this.#group.at(-1);
    if (last !== undefined) this.#tell({ kind: 'committed', upTo: last.number, refusals: this.#refusals });
    this.#group = [];
    return true;
  }

  #isRoomMade(reason: string): boolean {
    if (this.#reserve?.give() === true) {
      this.reserveSpent(reason);
      return true;
    }
    this.#tell({ kind: 'failing', reason });
    if (!this.#isClosing) {
      this.#retry = later(() => {
        this.#retry = undefined;
        uninterrupted(() => this.#work());
      }, RETRY_MS);
    }
    return false;
  }

  #writeGroup(draft: CommitDraft): void {
    this.#refusals = [];
    const deleted = new Set<number>();
    for (const { number, operations } of this.#group) {
      for (const [index, operation] of operations.entries()) {
        if (operation.kind === 'delete-simulation') this.#forgetEnd(operation.key, draft, deleted);
        this.#apply(operation, number, index, draft);
      }
    }
    for (const block of blocksOf(this.#group)) {
      // Appended before the deletion; it will not be read.
      if (!deleted.has(block.simulation)) this.#write(block, draft);
    }
    this.#answers.removeExpired(Date.now(), draft.answers);
    this.#purge.step(this.#group.length === 0, draft.state);
  }

  #write({ simulation, first, last, data }: NewBlock, draft: CommitDraft): void {
    draft.lastK += 1;
    const { before, after } = this.#blocks.append(draft.lastK, simulation, first, last, data);
    if (before.isBeginning !== true) draft.state.toggle(tailHash(simulation, before));
    draft.state.toggle(tailHash(simulation, after));
  }

  /** Only the ends of live simulations are part of the state sum. */
  #forgetEnd(simulation: number, draft: CommitDraft, deleted: Set<number>): void {
    deleted.add(simulation);
    const tail = this.#blocks.tail(simulation);
    if (tail.isBeginning !== true && this.#registry.isLive(simulation))
      draft.state.toggle(tailHash(simulation, tail));
  }

  #apply(operation: Operation, batch: number, index: number, draft: CommitDraft): void {
    switch (operation.kind) {
      case 'save-answer':
        this.#answers.save(operation.lookup, operation.answer, draft.answers);
        return;
      case 'delete-answers':
        this.#answers.removeSome(operation.prefix, draft.answers);
        return;
      case 'write':
        for (const { sql, values } of operation.statements) this.#statements.of(sql).run(...values);
        return;
      case 'probe':
        return;
      default: {
        const refused = this.#registry.apply(operation, draft.state);
        if (refused !== undefined) this.#refusals.push({ batch, operation: index, ...refused });
        if (operation.kind === 'delete-simulation') this.#purge.request();
      }
    }
  }

  reserveSpent(reason: string): void {
    this.#isReserveSpent = true;
    this.#tell({ kind: 'reserve-spent', reason });
    this.#restoreReserveLater();
  }

  #restoreReserveLater(): void {
    clearTimeout(this.#reserveTimer);
    this.#reserveTimer = later(() => {
      try {
        this.#restoreReserve();
      } catch (error) {
        this.#fail(error);
      }
    }, RESERVE_MS);
    this.#reserveTimer.unref();
  }

  #restoreReserve(): void {
    const isFull = this.#limit() !== 0;
    if (!isFull && this.#reserve?.restore() !== false) {
      if (this.#isReserveSpent) this.#tell({ kind: 'reserve-restored' });
      this.#isReserveSpent = false;
      return;
    }
    if (this.#isReserveSpent) this.#restoreReserveLater();
    else this.reserveSpent('there is no room for the reserve');
  }

  /** Simulates a full disk in tests: the error and the recovery are SQLite's own. */
  #applyPageLimit(): void {
    const limit = this.#limit();
    if (limit === this.#shownPageLimit) return;
    this.#shownPageLimit = limit;
    this.#log.database.exec(`PRAGMA max_page_count = ${limit === 0 ? 4_294_967_294 : limit}`);
  }

  #limit(): number {
    if (this.#pageLimit === undefined) return 0;
    const limit = Atomics.load(this.#pageLimit, 0);
    return limit === 0 || !this.#isReserveSpent ? limit : limit + (this.#pageLimit[1] ?? 0);
  }

  #close(): void {
    this.#isOver = true;
    clearTimeout(this.#reserveTimer);
    this.#log.close();
    this.#tell({ kind: 'closed' });
    this.#port.close();
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#tell({
      kind: 'failed',
      // The stack of a disk failure is irrelevant; that of a program error is reported.
      reason:
        error instanceof Error ? (!isDiskFailure(error) && error.stack) || error.message : String(error),
    });
  }

  #tell(message: FromWriter): void {
    this.#port.tell(message);
  }
}

/** A writer on the calling thread: messages are processed, and answered, in the turn in which they are sent. */
interface WriterInPlace {
  readonly line: WriterLine;
  readonly database: Database;
}

/** Opens the journal of a directory, or one in memory. Throws as the writer's thread reports it. */
export function writeInPlace(directory?: string): WriterInPlace {
  let listener: ((message: FromWriter) => void) | undefined;
  const early: FromWriter[] = [];
  const port: WriterPort = {
    next: () => undefined,
    tell: (message) => {
      if (listener === undefined) early.push(message);
      else listener(message);
    },
    close: () => undefined,
    later: (work) => void setImmediate(work).unref(),
  };
  const reserve = directory === undefined ? undefined : new Reserve(directory);
  const { log, fullness } = opened(directory, reserve);
  const writer = new JournalWriter(log, reserve, port, undefined);
  if (fullness !== undefined) writer.reserveSpent(fullness);
  if (directory !== undefined) writer.resume();
  return {
    database: log.database,
    line: {
      postMessage: (message) => writer.receive(message),
      on: (_, receive) => {
        listener = receive;
        for (const message of early.splice(0)) receive(message);
      },
      terminate: () => undefined,
    },
  };
}

function opened(directory: string | undefined, reserve: Reserve | undefined): ReturnType<typeof openLog> {
  if (directory === undefined || reserve === undefined) return { log: new CommitLog(undefined) };
  try {
    return openLog(directory, reserve, true);
  } catch (error) {
    const known = unusable(directory, error);
    const { name, message } = known instanceof Error ? known : new Error(String(known));
    throw openingError({ name: isDiskFull(error) ? 'StoreUnavailable' : name, message });
  }
}

/** Opens the journal of a directory and writes what arrives at the port of a thread. Tells why when it cannot. */
export function writeInThread(port: MessagePort, data: WriterData): void {
  const reserve = new Reserve(data.directory);
  const own = portOfThread(port);
  try {
    const { log, fullness } = openLog(data.directory, reserve);
    const writer = new JournalWriter(log, reserve, own, data.pageLimit);
    port.on('message', (message: ToWriter) => uninterrupted(() => writer.receive(message)));
    own.tell({ kind: 'ready' });
    if (fullness !== undefined) writer.reserveSpent(fullness);
    writer.resume();
  } catch (error) {
    const known = unusable(data.directory, error);
    const { name, message } = known instanceof Error ? known : new Error(String(known));
    own.tell({ kind: 'not-opened', name: isDiskFull(error) ? 'StoreUnavailable' : name, message });
  }
}

/** Opening is a commit, too: on a full disk it uses the space of the reserve. */
function openLog(
  directory: string,
  reserve: Reserve,
  isAlone = false,
): { readonly log: CommitLog; readonly fullness?: string } {
  try {
    return { log: new CommitLog(directory, { isAlone }) };
  } catch (error) {
    if (!isDiskFull(error) || !reserve.give()) throw error;
    return { log: new CommitLog(directory, { isAlone }), fullness: (error as Error).message };
  }
}
