import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../store/journal.js';
import type { Registry } from '../store/registry.js';
import type { Store } from '../store/store.js';
import type {
  ComparisonResult,
  ComparisonTask,
  FromComparisonThread,
  RecordLine,
  ToComparisonThread,
} from './comparison.js';
import { Slice } from './slice.js';

/** Results are kept so long (real time). */
const KEPT_MS = 86_400_000;
/** Comparisons of a tenant that wait. */
const MOST_WAITING = 10;
/** Threads at once, of all tenants together. */
const MOST_RUNNING = 2;
/** Memory of a thread. */
const MOST_MEGABYTES = 1024;
const RECORDS_AT_ONCE = 1000;
const CHARACTERS_AT_ONCE = 1_048_576;

/** Setting under which the registry keeps a result. */
const NAME = 'comparison/';

/** The tenant has as many comparisons waiting as it may. */
export class TooManyComparisons extends Error {
  override readonly name = 'TooManyComparisons';
}

export type ComparisonStatus = 'QUEUED' | 'RUNNING' | 'DONE' | 'FAILED' | 'CANCELED';

/** A comparison as it stands. */
export interface Comparison {
  readonly id: string;
  readonly tenantId: string;
  /** As its tenant knows it. */
  readonly simulationId: string;
  readonly status: ComparisonStatus;
  /** 0 to 1. */
  readonly progress: number;
  readonly result?: ComparisonResult;
  readonly reason?: string;
  /** Real time, ms. */
  readonly keptUntil: number;
}

/** What is compared. */
export interface WantedComparison {
  readonly tenantId: string;
  readonly simulationId: string;
  /** As the store knows it. */
  readonly storeId: string;
  /** The journal of the market that it follows, and how far. */
  readonly market?: { readonly id: string; readonly until: number };
  readonly task: Omit<ComparisonTask, 'lists'>;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface Entry {
  comparison: Mutable<Comparison>;
  readonly wanted: WantedComparison;
  worker: Worker | undefined;
  readonly waiters: Set<() => void>;
}

/** The comparisons of a server (D173): one at a time for each tenant, each in a thread of its own. */
export class Comparisons {
  readonly #store: Store;
  readonly #clockMs: () => number;
  readonly #threadUrl: URL;
  readonly #entries = new Map<string, Entry>();

  constructor(store: Store, clockMs: () => number, threadUrl = threadOf(import.meta.url)) {
    this.#store = store;
    this.#clockMs = clockMs;
    this.#threadUrl = threadUrl;
    this.#forgetOld();
  }

  /** Throws `TooManyComparisons`. */
  start(wanted: WantedComparison): Comparison {
    const { tenantId, simulationId } = wanted;
    const waiting = this.#of(tenantId, 'QUEUED').length;
    if (waiting >= MOST_WAITING) throw new TooManyComparisons();
    const comparison: Mutable<Comparison> = {
      id: randomUUID(),
      tenantId,
      simulationId,
      status: 'QUEUED',
      progress: 0,
      keptUntil: this.#clockMs() + KEPT_MS,
    };
    this.#entries.set(comparison.id, { comparison, wanted, worker: undefined, waiters: new Set() });
    this.#forgetOld();
    this.#startNext();
    return { ...comparison };
  }

  /** A comparison of a tenant. */
  find(id: string, tenantId: string): Comparison | undefined {
    const entry = this.#entries.get(id);
    const found = entry?.comparison ?? keptIn(this.#store.registry, id);
    if (found?.tenantId !== tenantId || found.keptUntil <= this.#clockMs()) return undefined;
    return { ...found };
  }

  /** Resolves when it is over, or after so many ms. */
  async wait(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined || isOver(entry.comparison) || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        entry.waiters.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      entry.waiters.add(done);
      signal.addEventListener('abort', done);
    });
  }

  /** Cancels what waits or runs. */
  cancel(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || isOver(entry.comparison)) return;
    this.#end(entry, { status: 'CANCELED' });
  }

  /** Ends those of a simulation that is deleted. */
  endSimulation(simulationId: string): void {
    for (const entry of this.#entries.values())
      if (entry.wanted.storeId === simulationId && !isOver(entry.comparison))
        this.#end(entry, { status: 'FAILED', reason: 'The simulation was deleted' });
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#entries.values()].map(async (entry) => {
        const { worker } = entry;
        entry.worker = undefined;
        for (const waiter of entry.waiters) waiter();
        await worker?.terminate();
      }),
    );
    this.#entries.clear();
  }

  #of(tenantId: string, status: ComparisonStatus): Entry[] {
    return [...this.#entries.values()].filter(
      ({ comparison }) => comparison.tenantId === tenantId && comparison.status === status,
    );
  }

  #startNext(): void {
    for (const entry of this.#entries.values()) {
      const running = [...this.#entries.values()].filter(({ worker }) => worker !== undefined).length;
      if (running >= MOST_RUNNING) return;
      const { comparison } = entry;
      if (comparison.status !== 'QUEUED' || this.#of(comparison.tenantId, 'RUNNING').length > 0) continue;
      comparison.status = 'RUNNING';
      this.#run(entry);
    }
  }

  #run(entry: Entry): void {
    const { wanted, comparison } = entry;
    const lists = this.#store.registry.settings('rules/');
    const worker = new Worker(this.#threadUrl, {
      workerData: { ...wanted.task, lists } satisfies ComparisonTask,
      name: 'comparison',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
    });
    worker.unref();
    entry.worker = worker;
    const { market, storeId, task } = wanted;
    const journals = {
      own: this.#chunks(storeId, task.until.sequence),
      market: market === undefined ? undefined : this.#chunks(market.id, market.until),
    };
    const fail = (reason: string): void => this.#end(entry, { status: 'FAILED', reason });
    worker.on('message', (message: FromComparisonThread) => {
      if (entry.worker !== worker) return;
      switch (message.kind) {
        case 'more':
          this.#send(worker, message.journal, journals[message.journal]).catch((error: unknown) =>
            fail(error instanceof Error ? error.message : String(error)),
          );
          return;
        case 'progress':
          comparison.progress = Math.min(1, Math.max(comparison.progress, message.progress));
          return;
        case 'done':
          return this.#end(entry, { status: 'DONE', result: message.result });
        case 'failed':
          return fail(message.reason);
      }
    });
    worker.on('error', (error: unknown) => {
      const isFull = (error as { readonly code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY';
      fail(
        isFull
          ? 'It takes more memory than there is'
          : error instanceof Error
            ? error.message
            : String(error),
      );
    });
    worker.on('exit', () => fail('Its thread has ended'));
  }

  async #send(
    worker: Worker,
    journal: 'own' | 'market',
    chunks: AsyncIterator<readonly RecordLine[]> | undefined,
  ): Promise<void> {
    const next = await chunks?.next();
    const message: ToComparisonThread =
      next === undefined || next.done === true
        ? { journal, records: [], isLast: true }
        : { journal, records: next.value, isLast: false };
    worker.postMessage(message);
  }

  /** Records up to a number, some at a time: others have the event loop in between. */
  async *#chunks(simulationId: string, until: number): AsyncGenerator<readonly RecordLine[]> {
    let records: RecordLine[] = [];
    let characters = 0;
    const slice = new Slice();
    for await (const { seq, at, payload } of this.#store.journal.read(simulationId, 0)) {
      if (seq > until) break;
      records.push({ seq, at, payload });
      characters += payload.length;
      if (records.length >= RECORDS_AT_ONCE || characters >= CHARACTERS_AT_ONCE) {
        yield records;
        records = [];
        characters = 0;
      }
      await slice.breathe();
    }
    if (records.length > 0) yield records;
  }

  #end(entry: Entry, end: Partial<Pick<Comparison, 'status' | 'result' | 'reason'>>): void {
    const { comparison, worker, waiters } = entry;
    if (isOver(comparison)) return;
    entry.worker = undefined;
    Object.assign(comparison, end, { keptUntil: this.#clockMs() + KEPT_MS });
    if (comparison.status === 'DONE') comparison.progress = 1;
    void worker?.terminate();
    for (const waiter of waiters) waiter();
    const { registry } = this.#store;
    registry
      .saveSetting(`${NAME}${comparison.id}`, JSON.stringify(comparison))
      // From here on the registry has it.
      .then(() => this.#entries.delete(comparison.id))
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    this.#startNext();
  }

  #forgetOld(): void {
    const { registry } = this.#store;
    const now = this.#clockMs();
    for (const [id, { comparison }] of this.#entries)
      if (isOver(comparison) && comparison.keptUntil <= now) this.#entries.delete(id);
    for (const [name, text] of registry.settings(NAME))
      if (text !== '' && (JSON.parse(text) as Comparison).keptUntil <= now)
        registry.saveSetting(name, '').catch(() => undefined);
  }
}

const isOver = ({ status }: Pick<Comparison, 'status'>): boolean =>
  status !== 'QUEUED' && status !== 'RUNNING';

function keptIn(registry: Registry, id: string): Comparison | undefined {
  const text = registry.setting(`${NAME}${id}`);
  return text === undefined || text === '' ? undefined : (JSON.parse(text) as Comparison);
}

/** Threads run compiled code: beside sources the one of the last build. */
const threadOf = (here: string): URL =>
  here.endsWith('.ts')
    ? new URL('../../dist/comparison-thread.js', here)
    : new URL('../comparison-thread.js', here);
