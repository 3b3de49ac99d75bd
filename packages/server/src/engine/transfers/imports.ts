import { randomUUID } from 'node:crypto';
import { setTimeout as later } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../store/journal.js';
import { settingsOf } from '../../store/registry.js';
import type { Store } from '../../store/store.js';
import { eraseTenant } from './erasure.js';
import { FileReading, problemOfFile, reasonOf } from './import-reading.js';
import type { AskedOfFile, Entries, LinesOf, ReadFile, ReadSimulation } from './import-reading.js';
import type { ImportFolder } from './import-folder.js';
import type {
  FromImportThread,
  FromReadingThread,
  ImportThreadData,
  ToReadingThread,
} from './import-thread.js';
import { ownListName, listName } from '../configuration/rules-in-force.js';
import { ImportRefused } from './import-refused.js';
import { compiledUrl } from '../../threads/compiled-url.js';
import { Slice } from '../scheduling/slice.js';
import { TenantTurns } from '../scheduling/tenant-turns.js';

/** The reading thread ends when it has had nothing to read for this long, ms. */
const READING_IDLE_MS = 10_000;
/** A thread that has verified no record for this long is stuck. */
const STALLED_MS = 60_000;
const RETRY_MS = 1000;
/** Maximum number of a tenant's files that are received or verified at a time. */
const MOST_OF_TENANT = 8;

/** Outcome of an import. */
export interface ImportNote {
  readonly status: 'IMPORTING' | 'READY' | 'FAILED';
  /** Why it failed. */
  readonly reason?: string;
  /** For a READY import: its number of records. */
  readonly records?: number;
}

/** The tenant has too many imports under way. */
export class TooManyImports extends Error {
  override readonly name = 'TooManyImports';
}

/** A file that is on disk and has the form of an export; its records are not verified. */
export interface ReceivedFile {
  readonly id: string;
  readonly simulation: ReadSimulation;
}

/**
 * Imports of simulations (D170): files are received into a folder, read and verified in threads and entered in the journal. Continues after
 * a restart.
 */
export class Imports {
  readonly #store: Store;
  readonly #folder: ImportFolder;
  readonly #note: (text: string) => void;
  /** By simulation: how to end it. */
  readonly #underWay = new Map<string, AbortController>();
  readonly #ofTenant = new Map<string, number>();
  readonly #reader: FileReader;
  /** Turns in which files are verified. */
  readonly #turns = new TenantTurns();

  /** `isInProcess`: files are read and verified on this thread, in slices. */
  constructor(store: Store, folder: ImportFolder, note: (text: string) => void, isInProcess = false) {
    this.#store = store;
    this.#folder = folder;
    this.#note = note;
    this.#reader = isInProcess ? new ReaderInPlace((path) => folder.lines(path)) : new ReadingThread();
  }

  /** Outcome of the import that created a simulation; undefined when it was not imported. */
  noteOf(id: string): ImportNote | undefined {
    const text = this.#store.registry.setting(noteName(id));
    if (text === undefined) return undefined;
    const note = JSON.parse(text) as ImportNote;
    return note.status === 'IMPORTING' && !this.#underWay.has(id)
      ? { status: 'FAILED', reason: 'the file of the import is gone' }
      : note;
  }

  /** Continues the imports of the previous process, and removes partly imported tenants. Call it once. */
  async resume(): Promise<void> {
    await this.takeBackTenants();
    for (const name of this.#folder.names()) {
      const id = /^([0-9a-f-]{36})\.ndjson$/.exec(name)?.[1];
      const text = id === undefined ? undefined : this.#store.registry.setting(noteName(id));
      const isLeft = text !== undefined && (JSON.parse(text) as ImportNote).status === 'IMPORTING';
      // In a cluster it continues with its tenant.
      if (id !== undefined && isLeft && this.#store.ownership !== undefined) continue;
      if (id !== undefined && isLeft) this.begin(id);
      else this.#folder.remove(name.replace(/\.ndjson$/, ''));
    }
  }

  /** Continues the imports of a tenant that this node has acquired; unfinished imports of another node have failed. */
  async enterTenant(tenantId: string): Promise<void> {
    for (const { id } of this.#store.registry.simulations(tenantId)) {
      if (this.noteOf(id)?.status !== 'IMPORTING' || this.#underWay.has(id)) continue;
      if (this.#folder.has(id)) this.begin(id);
      else
        await this.#save(id, {
          status: 'FAILED',
          reason: 'the node that received the file is gone: import it again',
        });
    }
  }

  /** Stops the imports of a tenant that another node acquires. */
  leaveTenant(tenantId: string): void {
    for (const { id } of this.#store.registry.simulations(tenantId)) {
      this.#underWay.get(id)?.abort();
      this.#underWay.delete(id);
    }
  }

  /** Removes tenants whose import was interrupted. No simulation of theirs may be open. */
  async takeBackTenants(): Promise<void> {
    const { ownership } = this.#store;
    for (const [name, tenantId] of this.#store.registry.settings(TENANT_NOTE)) {
      if (ownership?.owned.has(tenantId) === false) continue;
      await eraseTenant(this.#store, tenantId);
      await this.#store.registry.deleteSetting(name);
    }
  }

  /**
   * Receives the file of a simulation, which is on disk when this resolves. Rejects with `ImportRefused` if it is incomplete,
   * `ImportTooLarge`, `TooManyImports` and `StoreUnavailable` (a full disk), and removes it then.
   */
  async receive(
    tenantId: string,
    chunks: AsyncIterable<Uint8Array>,
    mostBytes: number,
  ): Promise<ReceivedFile> {
    const before = this.#ofTenant.get(tenantId) ?? 0;
    if (before >= MOST_OF_TENANT) throw new TooManyImports(`at most ${MOST_OF_TENANT} imports run at once`);
    this.#ofTenant.set(tenantId, before + 1);
    try {
      const id = randomUUID();
      const { simulations } = await this.receiveFile(id, chunks, mostBytes, false);
      const [simulation] = simulations;
      if (simulation === undefined) throw new ImportRefused('the file is empty');
      return { id, simulation };
    } finally {
      const left = (this.#ofTenant.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#ofTenant.delete(tenantId);
      else this.#ofTenant.set(tenantId, left);
    }
  }

  /** Receives and reads a file under a unique name. `isTenant`: the file of a tenant. Rejects as `receive` does, and removes the file then. */
  async receiveFile(
    name: string,
    chunks: AsyncIterable<Uint8Array>,
    mostBytes: number,
    isTenant: boolean,
  ): Promise<ReadFile> {
    try {
      await this.#folder.receive(name, chunks, mostBytes);
      return (await this.#reader.ask({ ask: 'file', path: this.#folder.pathOf(name), isTenant })) as ReadFile;
    } catch (error) {
      this.discard(name);
      throw error;
    }
  }

  /** Removes a file that was received. */
  discard(name: string): void {
    this.#folder.remove(name);
  }

  /** Notes that a simulation is on its way in: in the commit in which it is created. */
  async noteImporting(id: string): Promise<void> {
    await this.#save(id, { status: 'IMPORTING' });
  }

  async noteReady(id: string): Promise<void> {
    await this.#save(id, { status: 'READY' });
  }

  /** Notes that a tenant is there in part, until `forgetTenant`. */
  noteTenant(name: string, tenantId: string): Promise<void> {
    return this.#store.registry.saveSetting(TENANT_NOTE + name, tenantId);
  }

  forgetTenant(name: string): Promise<void> {
    return this.#store.registry.deleteSetting(TENANT_NOTE + name);
  }

  /** Verifies and enters a received file, in the background. */
  begin(id: string): void {
    const controller = new AbortController();
    this.#underWay.set(id, controller);
    this.#run(id, controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) this.#note(`import ${id}: ${String(error)}`);
      })
      .finally(() => {
        if (this.#underWay.get(id) === controller) this.#underWay.delete(id);
      });
  }

  async #run(id: string, signal: AbortSignal): Promise<void> {
    const problem = await this.verify(id, signal, this.#store.registry.simulation(id)?.tenantId ?? '');
    if (problem === undefined && !signal.aborted) await this.enter(id, id, signal);
    if (isAborted(signal)) return;
    const note: ImportNote =
      problem === undefined
        ? { status: 'READY', records: this.#store.journal.lastSeq(id) }
        : { status: 'FAILED', reason: problem };
    await this.#untilCommitted(() => this.#save(id, note), signal);
    this.discard(id);
    if (problem !== undefined) this.#note(`import ${id} failed: ${problem}`);
  }

  /**
   * Why a file that was received cannot be imported; undefined = it can. Verified in a thread, one file at a time, tenants in turn: the files
   * of one do not delay those of another by more than one.
   */
  async verify(name: string, signal?: AbortSignal, tenantId = ''): Promise<string | undefined> {
    const turn = await this.#turns.take(tenantId);
    try {
      return signal?.aborted === true
        ? undefined
        : await this.#reader.verify(this.#folder.pathOf(name), signal);
    } finally {
      turn.end();
    }
  }

  /** Enters the records of the simulation with this ordinal in a verified file in the journal, after the existing ones. */
  async enter(name: string, id: string, signal?: AbortSignal, section = 0): Promise<void> {
    await this.#untilCommitted(() => this.#enterOnce(name, id, section, signal), signal);
  }

  async #enterOnce(name: string, id: string, section: number, signal?: AbortSignal): Promise<void> {
    const { journal, registry } = this.#store;
    const wanted = {
      ask: 'entries',
      path: this.#folder.pathOf(name),
      section,
      after: journal.lastSeq(id),
    } as const;
    for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
      const entries = (await this.#reader.ask({ ...wanted, isFirst })) as Entries;
      if (signal?.aborted === true) return void this.#reader.ask({ ask: 'end', path: wanted.path });
      const appended = entries.records.map((record) => journal.append({ simulationId: id, ...record }));
      // Lists that are those of this installation are there for good.
      const saved = entries.lists
        .filter(([digest]) => registry.setting(listName(digest)) === undefined)
        .map(([digest, text]) => registry.saveSetting(ownListName(id, digest), text));
      const set = entries.settings.map(([key, value]) => registry.saveSetting(settingsOf(id) + key, value));
      await Promise.all([...appended, ...saved, ...set]);
      ({ isLast } = entries);
    }
  }

  /** Retries later work that the store has not accepted because it cannot commit now. */
  async #untilCommitted(work: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await work();
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        const { status } = this.#store.health();
        if (status === 'failed' || status === 'closed') throw error;
      }
      // Records that were accepted earlier are durable, and counted by the journal, once a commit succeeds.
      let isCommitting = false;
      while (!isCommitting) {
        signal?.throwIfAborted();
        await later(RETRY_MS, undefined, { ref: false });
        isCommitting = await this.#store.probe().then(
          () => true,
          () => false,
        );
      }
    }
  }

  #save(id: string, note: ImportNote): Promise<void> {
    return this.#store.registry.saveSetting(noteName(id), JSON.stringify(note));
  }

  /** Ends the import of a simulation that is deleted, and removes its file. */
  cancel(id: string): void {
    const controller = this.#underWay.get(id);
    if (controller === undefined) return;
    controller.abort();
    this.#underWay.delete(id);
    this.discard(id);
  }

  /** Stops the imports under way; the next process continues them. */
  close(): void {
    for (const controller of this.#underWay.values()) controller.abort();
    this.#underWay.clear();
    this.#reader.close();
  }
}

/** Reads and verifies files. */
interface FileReader {
  /** Rejects with `ImportRefused` where the file is not whole or not in the form of an export. */
  ask(asked: AskedOfFile): Promise<ReadFile | Entries>;
  /** Why a file cannot be imported; undefined = it can, or nobody wants to know any longer. */
  verify(path: string, signal: AbortSignal | undefined): Promise<string | undefined>;
  close(): void;
}

/** On the calling thread, in slices. */
class ReaderInPlace implements FileReader {
  readonly #linesOf: LinesOf;
  readonly #reading: FileReading;
  #isClosed = false;

  constructor(linesOf: LinesOf) {
    this.#linesOf = linesOf;
    this.#reading = new FileReading(linesOf);
  }

  async ask(asked: AskedOfFile): Promise<ReadFile | Entries> {
    await new Slice().yield();
    return this.#reading.answer(asked).catch((error: unknown) => {
      throw new ImportRefused(reasonOf(error));
    });
  }

  verify(path: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const slice = new Slice();
    return problemOfFile(this.#linesOf, path, {
      breathe: async () => {
        if (this.#isClosed || signal?.aborted === true) throw new ImportRefused('the import was ended');
        await slice.breathe();
      },
    });
  }

  close(): void {
    this.#isClosed = true;
  }
}

/** Reads files, several of them in turns, so that no line of theirs is parsed on this thread. */
class ReadingThread implements FileReader {
  #worker: Worker | undefined;
  #number = 0;
  readonly #waiting = new Map<
    number,
    { readonly resolve: (answer: ReadFile | Entries) => void; readonly reject: (error: Error) => void }
  >();
  #idle: NodeJS.Timeout | undefined;

  ask(asked: AskedOfFile): Promise<ReadFile | Entries> {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    const number = ++this.#number;
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      worker.postMessage({ ...asked, number } satisfies ToReadingThread);
    });
  }

  #start(): Worker {
    const worker = importThread({ task: 'read' });
    worker.on('message', ({ number, answer, refused }: FromReadingThread) => {
      const waiting = this.#waiting.get(number);
      this.#waiting.delete(number);
      if (answer !== undefined) waiting?.resolve(answer);
      else waiting?.reject(new ImportRefused(refused ?? ''));
      if (this.#waiting.size > 0) return;
      worker.unref();
      this.#idle = setTimeout(() => this.close(), READING_IDLE_MS).unref();
    });
    worker.on('error', (error) => this.#end(worker, new ImportRefused(problemOf(error))));
    worker.on('exit', () => this.#end(worker, new ImportRefused('reading has ended early: import it again')));
    return worker;
  }

  async verify(path: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const worker = importThread({ task: 'verify', path });
    let stalled: NodeJS.Timeout | undefined;
    try {
      return await new Promise<string | undefined>((resolve) => {
        const wait = (): void => {
          clearTimeout(stalled);
          stalled = setTimeout(() => resolve('verification does not get on'), STALLED_MS).unref();
        };
        wait();
        signal?.addEventListener('abort', () => resolve(undefined), { once: true });
        worker.on('message', (message: FromImportThread) => {
          if (message.kind === 'alive') wait();
          else resolve(message.problem);
        });
        worker.on('error', (error) => resolve(problemOf(error)));
        worker.on('exit', () => resolve('verification has ended early'));
      });
    } finally {
      clearTimeout(stalled);
      await worker.terminate();
    }
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    clearTimeout(this.#idle);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  close(): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#end(worker, new StoreUnavailable('the server is stopping'));
    void worker.terminate();
  }
}

function importThread(data: ImportThreadData): Worker {
  const worker = new Worker(compiledUrl('engine/transfers/import-thread.js'), {
    name: 'import',
    workerData: data,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  });
  worker.unref();
  return worker;
}

const problemOf = (error: unknown): string => {
  if ((error as { readonly code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY')
    return 'it requires more memory than available';
  return error instanceof Error ? error.message : String(error);
};

const isAborted = ({ aborted }: AbortSignal): boolean => aborted;

/** Settings that name tenants which are on their way in. */
const TENANT_NOTE = 'tenant-import/';

const noteName = (id: string): string => `${settingsOf(id)}import`;
