/**
 * The thread that writes. It takes whatever batches have arrived while it was busy, writes them in one transaction
 * with one sync, and only then says so. The main thread never waits for a disk.
 */
import { setTimeout as later } from 'node:timers';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { MessagePort } from 'node:worker_threads';
import type { Projection } from '../projection.js';
import { AnswerTable } from './answer-table.js';
import type { Batch, FromWriter, Operation, Refusal, ToWriter, WriterData } from './batch.js';
import { CheckpointTable } from './checkpoint-table.js';
import { CommitLog } from './commit-log.js';
import { isDiskFull, one } from './connection.js';
import type { Statement } from './connection.js';
import { HistoryTables } from './history-tables.js';
import { JournalTables } from './journal-tables.js';
import { Purge } from './purge.js';
import { RegistryTables } from './registry-tables.js';

/** A group ends after this many records, so that those in it do not wait for a very long commit. */
const RECORDS_PER_COMMIT = 1_024;
const RETRY_MS = 250;
const SIMULATION_IDS_KEPT = 10_000;

class JournalWriter {
  readonly #log: CommitLog;
  readonly #project: Projection;
  readonly #port: MessagePort;
  readonly #pageLimit: Int32Array | undefined;
  readonly #journal: JournalTables;
  readonly #history: HistoryTables;
  readonly #answers: AnswerTable;
  readonly #checkpoints: CheckpointTable;
  readonly #registry: RegistryTables;
  readonly #purge: Purge;
  readonly #findId: Statement;
  readonly #ids = new LRUCache<number, string>({ max: SIMULATION_IDS_KEPT });
  readonly #arrived: Batch[] = [];
  /** What is being committed, or tried again. */
  #group: Batch[] = [];
  #refusals: Refusal[] = [];
  #retry: NodeJS.Timeout | undefined;
  #shownPageLimit = 0;
  #isClosing = false;
  #isOver = false;

  constructor(log: CommitLog, project: Projection, port: MessagePort, pageLimit: Int32Array | undefined) {
    this.#log = log;
    this.#project = project;
    this.#port = port;
    this.#pageLimit = pageLimit;
    this.#journal = new JournalTables(log.database, log.epoch);
    this.#history = new HistoryTables(log.database);
    this.#answers = new AnswerTable(log.database);
    this.#checkpoints = new CheckpointTable(log.database);
    this.#registry = new RegistryTables(log.database);
    this.#purge = new Purge(log.database);
    this.#findId = log.database.prepare('SELECT id FROM simulation WHERE key = ?');
  }

  receive(message: ToWriter): void {
    this.#take(message);
    if (this.#retry === undefined || this.#isClosing) this.#work();
  }

  /** Goes on with what the process before this one has left to do. */
  resume(): void {
    this.#work();
  }

  #take(message: ToWriter): void {
    if (message.kind === 'close') this.#isClosing = true;
    else this.#arrived.push(message);
  }

  #takeArrived(): void {
    for (;;) {
      const next = receiveMessageOnPort(this.#port) as { readonly message: ToWriter } | undefined;
      if (next === undefined) return;
      this.#take(next.message);
    }
  }

  #work(): void {
    if (this.#isOver) return;
    try {
      for (;;) {
        this.#takeArrived();
        if (this.#group.length === 0) this.#nextGroup();
        if (this.#group.length === 0 && !this.#purge.isPending) break;
        if (!this.#commitGroup()) break;
        this.#log.tidy();
      }
      if (this.#isClosing) this.#close();
    } catch (error) {
      this.#isOver = true;
      this.#tell({
        kind: 'failed',
        reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  }

  #nextGroup(): void {
    let records = 0;
    while (records < RECORDS_PER_COMMIT) {
      const batch = this.#arrived.shift();
      if (batch === undefined) return;
      this.#group.push(batch);
      records += batch.simulations.length;
    }
  }

  /** False when there is no room: the group stays, and is tried again. */
  #commitGroup(): boolean {
    try {
      this.#applyPageLimit();
      if (this.#log.isCommitted) this.#log.finish();
      else this.#log.commit(() => this.#writeGroup());
    } catch (error) {
      this.#journal.forget();
      this.#history.forget();
      if (!isDiskFull(error)) throw error;
      this.#tell({ kind: 'failing', reason: (error as Error).message });
      if (!this.#isClosing) {
        this.#retry = later(() => {
          this.#retry = undefined;
          this.#work();
        }, RETRY_MS);
      }
      return false;
    }
    const last = this.#group.at(-1);
    if (last !== undefined) this.#tell({ kind: 'committed', upTo: last.number, refusals: this.#refusals });
    this.#group = [];
    return true;
  }

  #writeGroup(): string {
    this.#refusals = [];
    let digest = '';
    for (const batch of this.#group) digest += this.#writeBatch(batch);
    this.#history.flush();
    this.#journal.flush();
    this.#answers.removeExpired(Date.now());
    this.#purge.step(this.#group.length === 0);
    return digest;
  }

  #writeBatch(batch: Batch): string {
    let digest = '';
    let operations = 0;
    for (const [index, simulation] of batch.simulations.entries()) {
      if (simulation === 0) {
        const operation = batch.operations[operations];
        if (operation !== undefined) this.#apply(operation, batch.number, operations);
        operations += 1;
      } else {
        const payload = batch.payloads[index] ?? '';
        digest += this.#writeRecord(simulation, batch.seqs[index] ?? 0, batch.ats[index] ?? 0, payload);
      }
    }
    return digest;
  }

  #writeRecord(simulation: number, seq: number, at: number, payload: string): string {
    const hash = this.#journal.append(simulation, seq, at, payload);
    const { command, events } = JSON.parse(payload) as { command?: unknown; events?: readonly unknown[] };
    if (events === undefined || events.length === 0) return hash;
    const record = { simulationId: this.#idOf(simulation), seq, at, payload };
    const known = this.#history.known(simulation);
    this.#history.apply(simulation, seq, this.#project(record, { command, events }, known));
    return hash;
  }

  #apply(operation: Operation, batch: number, index: number): void {
    switch (operation.kind) {
      case 'save-answer':
        this.#answers.save(operation.lookup, operation.answer);
        return;
      case 'save-checkpoint':
        this.#checkpoints.save(operation.simulation, operation.seq, operation.state);
        return;
      case 'probe':
        return;
      default: {
        const refused = this.#registry.apply(operation);
        if (refused !== undefined) this.#refusals.push({ batch, operation: index, ...refused });
        if (operation.kind === 'delete-simulation') this.#purge.request();
      }
    }
  }

  #idOf(simulation: number): string {
    let id = this.#ids.get(simulation);
    if (id === undefined) {
      id = one<{ id: string }>(this.#findId, simulation)?.id;
      if (id === undefined) throw new Error(`There is no simulation ${simulation}`);
      this.#ids.set(simulation, id);
    }
    return id;
  }

  /** Stands for a full disk in tests: the error and the way back are SQLite's own. */
  #applyPageLimit(): void {
    if (this.#pageLimit === undefined) return;
    const limit = Atomics.load(this.#pageLimit, 0);
    if (limit === this.#shownPageLimit) return;
    this.#shownPageLimit = limit;
    this.#log.database.exec(`PRAGMA max_page_count = ${limit === 0 ? 4_294_967_294 : limit}`);
  }

  #close(): void {
    this.#isOver = true;
    this.#log.close();
    this.#tell({ kind: 'closed' });
    this.#port.close();
  }

  #tell(message: FromWriter): void {
    this.#port.postMessage(message);
  }
}

async function start(port: MessagePort, data: WriterData): Promise<void> {
  try {
    const { projectRecord } = (await import(data.projection)) as { readonly projectRecord: Projection };
    const log = new CommitLog(data.directory);
    const writer = new JournalWriter(log, projectRecord, port, data.pageLimit);
    port.on('message', (message: ToWriter) => writer.receive(message));
    port.postMessage({ kind: 'ready', epoch: log.epoch } satisfies FromWriter);
    writer.resume();
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    port.postMessage({
      kind: 'not-opened',
      name: isDiskFull(error) ? 'StoreUnavailable' : name,
      message,
    } satisfies FromWriter);
  }
}

if (parentPort !== null) await start(parentPort, workerData as WriterData);
