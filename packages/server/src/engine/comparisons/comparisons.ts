import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../store/journal.js';
import type { Registry } from '../../store/registry.js';
import { endThread, stopFlag } from '../../store/stop-flag.js';
import type { Store } from '../../store/store.js';
import { COMPARISONS } from '../values/cell-names.js';
import { distributed, gathered } from './comparison.js';
import type {
  ComparisonResult,
  ComparisonTask,
  ComparisonThreadData,
  FromComparisonThread,
  RecordLine,
  ToComparisonThread,
} from './comparison.js';
import { ownLists } from '../configuration/rules-in-force.js';
import { Slice } from '../scheduling/slice.js';
import { compiledUrl } from '../../threads/compiled-url.js';

/** Retention of results (real time). */
const KEPT_MS = 86_400_000;
/** Comparisons of a tenant that wait. */
const MOST_WAITING = 10;
/** Maximum number of concurrent comparisons of all tenants. */
const MOST_RUNNING = 2;
/** Threads of a comparison, if no other one is running. Each executes the base and some of the variants. */
const MOST_THREADS = Math.min(2, availableParallelism());
/** Records to be executed, in all rows, from which a second thread saves more time than its start costs. */
const WORTH_A_THREAD = 20_000;
/** Memory of a thread. */
const MOST_MEGABYTES = 1024;
/** Part of it for what lives briefly. */
const YOUNG_MEGABYTES = 96;
const RECORDS_AT_ONCE = 1000;
const CHARACTERS_AT_ONCE = 1_048_576;

/** The tenant has as many comparisons waiting as it may. */
export class TooManyComparisons extends Error {
  override readonly name = 'TooManyComparisons';
}

export type ComparisonStatus = 'QUEUED' | 'RUNNING' | 'DONE' | 'FAILED' | 'CANCELED';

/** The current state of a comparison. */
export interface Comparison {
  readonly id: string;
  readonly tenantId: string;
  /** Id that its tenant sees. */
  readonly simulationId: string;
  readonly status: ComparisonStatus;
  /** 0 to 1. */
  readonly progress: number;
  readonly result?: ComparisonResult;
  readonly reason?: string;
  /** Real time, ms. */
  readonly keptUntil: number;
}

/** Subject of a comparison. */
export interface WantedComparison {
  readonly tenantId: string;
  readonly simulationId: string;
  /** Id in the store. */
  readonly storeId: string;
  /** The journal of the market that it follows, and how far. */
  readonly market?: { readonly id: string; readonly until: number };
  readonly task: Omit<ComparisonTask, 'lists'>;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Execution of some variants: a thread, or slices on the calling one. */
interface Thread {
  readonly end: () => Promise<void>;
}

/** Executes some variants on the calling thread. The journals yield regularly, and throw when the comparison was ended. */
export type CompareHere = (
  task: ComparisonTask,
  journals: Readonly<Record<'own' | 'market', AsyncIterator<RecordLine, undefined>>>,
  onProgress: (progress: number) => void,
) => Promise<ComparisonResult>;

interface Entry {
  comparison: Mutable<Comparison>;
  readonly wanted: WantedComparison;
  threads: readonly Thread[];
  readonly waiters: Set<() => void>;
}

/** The comparisons of a server (D173): one at a time for each tenant, each in its own thread. */
export class Comparisons {
  readonly #store: Store;
  readonly #clockMs: () => number;
  readonly #threadUrl: URL;
  readonly #compareHere: CompareHere | undefined;
  readonly #entries = new Map<string, Entry>();

  /** `compareHere`: for a service without threads. */
  constructor(
    store: Store,
    clockMs: () => number,
    threadUrl = compiledUrl('comparison-thread.js'),
    compareHere?: CompareHere,
  ) {
    this.#store = store;
    this.#clockMs = clockMs;
    this.#threadUrl = threadUrl;
    this.#compareHere = compareHere;
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
    this.#entries.set(comparison.id, { comparison, wanted, threads: [], waiters: new Set() });
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

  /** Resolves when it is over, or after this many ms. */
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

  /** Forgets those of a tenant that is erased. */
  async eraseTenant(tenantId: string): Promise<void> {
    await this.#forget([...this.#entries.values()].filter((entry) => entry.comparison.tenantId === tenantId));
    this.#startNext();
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#forget([...this.#entries.values()]);
  }

  async #forget(entries: readonly Entry[]): Promise<void> {
    for (const { comparison } of entries) this.#entries.delete(comparison.id);
    await Promise.all(
      entries.map(async (entry) => {
        const { threads } = entry;
        entry.threads = [];
        for (const waiter of entry.waiters) waiter();
        await Promise.all(threads.map(({ end }) => end()));
      }),
    );
  }

  #of(tenantId: string, status: ComparisonStatus): Entry[] {
    return [...this.#entries.values()].filter(
      ({ comparison }) => comparison.tenantId === tenantId && comparison.status === status,
    );
  }

  #startNext(): void {
    for (const entry of this.#entries.values()) {
      const running = [...this.#entries.values()].filter(({ threads }) => threads.length > 0).length;
      if (running >= MOST_RUNNING) return;
      const { comparison } = entry;
      if (comparison.status !== 'QUEUED' || this.#of(comparison.tenantId, 'RUNNING').length > 0) continue;
      comparison.status = 'RUNNING';
      const isAlone = running > 0 || this.#compareHere !== undefined;
      this.#run(entry, isAlone ? 1 : threadsFor(entry.wanted.task));
    }
  }

  #run(entry: Entry, threads: number): void {
    const { wanted, comparison } = entry;
    const { registry } = this.#store;
    const lists = [...registry.settings('rules/'), ...ownLists(registry, wanted.storeId)];
    const parts = distributed(wanted.task.variants, threads).map((variants) => ({
      task: { ...wanted.task, variants, lists } satisfies ComparisonTask,
      progress: 0,
      result: undefined as ComparisonResult | undefined,
    }));
    entry.threads = parts.map((part) =>
      this.#start(entry, part.task, (message) => {
        switch (message.kind) {
          case 'progress':
            part.progress = message.progress;
            comparison.progress = Math.min(1, ...parts.map(({ progress }) => progress));
            return;
          case 'done': {
            part.progress = 1;
            part.result = message.result;
            const results = parts.flatMap(({ result }) => result ?? []);
            if (results.length === parts.length)
              this.#end(entry, { status: 'DONE', result: gathered(results) });
            return;
          }
          case 'failed':
            return this.#end(entry, { status: 'FAILED', reason: message.reason });
        }
      }),
    );
  }

  /** Starts a thread that executes some of the variants. */
  #start(
    entry: Entry,
    task: ComparisonTask,
    onMessage: (message: Exclude<FromComparisonThread, { kind: 'more' }>) => void,
  ): Thread {
    const { market, storeId: id } = entry.wanted;
    const own = { id, until: task.until.sequence };
    if (this.#compareHere !== undefined) return this.#startHere(this.#compareHere, entry, task, onMessage);
    // No other thread sees simulations in memory: this one reads their records.
    const past = this.#store.ephemeral?.has(id) === true ? undefined : this.#store.past;
    const stop = stopFlag();
    const worker = new Worker(this.#threadUrl, {
      workerData: {
        task,
        stop,
        ...(past !== undefined && {
          past: { module: past.module, data: past.data, own, ...(market !== undefined && { market }) },
        }),
      } satisfies ComparisonThreadData,
      name: 'comparison',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES, maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    worker.unref();
    const journals = {
      own: this.#chunks(own.id, own.until),
      market: market === undefined ? undefined : this.#chunks(market.id, market.until),
    };
    let isDone = false;
    const thread: Thread = { end: () => endThread(worker, stop) };
    const isCurrent = (): boolean => entry.threads.includes(thread);
    const failed = (reason: string): void => {
      if (isCurrent()) onMessage({ kind: 'failed', reason });
    };
    worker.on('message', (message: FromComparisonThread) => {
      if (!isCurrent()) return;
      if (message.kind === 'done') isDone = true;
      if (message.kind !== 'more') return onMessage(message);
      this.#send(worker, message.journal, journals[message.journal]).catch((error: unknown) =>
        failed(error instanceof Error ? error.message : String(error)),
      );
    });
    worker.on('error', (error: unknown) => {
      const isFull = (error as { readonly code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY';
      failed(
        isFull
          ? 'It requires more memory than available'
          : error instanceof Error
            ? error.message
            : String(error),
      );
    });
    worker.on('exit', () => {
      if (!isDone) failed('Its thread has ended');
    });
    return thread;
  }

  #startHere(
    compareHere: CompareHere,
    { wanted: { market, storeId } }: Entry,
    task: ComparisonTask,
    onMessage: (message: Exclude<FromComparisonThread, { kind: 'more' }>) => void,
  ): Thread {
    let isEnded = false;
    const slice = new Slice();
    const journal = this.#store.journal;
    async function* records(
      part: { readonly id: string; readonly until: number } | undefined,
    ): AsyncGenerator<RecordLine, undefined> {
      if (part === undefined) return undefined;
      for await (const { seq, at, payload } of journal.read(part.id, 0)) {
        await slice.breathe();
        if (isEnded) throw new Error('the comparison was ended');
        if (seq > part.until) return undefined;
        yield { seq, at, payload };
      }
      return undefined;
    }
    const compared = slice
      .yield()
      .then(() =>
        compareHere(
          task,
          { own: records({ id: storeId, until: task.until.sequence }), market: records(market) },
          (progress) => {
            if (!isEnded) onMessage({ kind: 'progress', progress });
          },
        ),
      )
      .then(
        (result) => {
          if (!isEnded) onMessage({ kind: 'done', result });
        },
        (error: unknown) => {
          if (!isEnded)
            onMessage({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
        },
      );
    return {
      end: () => {
        isEnded = true;
        return compared;
      },
    };
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

  /** Records up to a number, in batches: the event loop runs between them. */
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
    const { comparison, threads, waiters } = entry;
    if (isOver(comparison)) return;
    entry.threads = [];
    Object.assign(comparison, end, { keptUntil: this.#clockMs() + KEPT_MS });
    if (comparison.status === 'DONE') comparison.progress = 1;
    for (const { end } of threads) void end();
    for (const waiter of waiters) waiter();
    const { registry } = this.#store;
    registry
      .saveSetting(`${COMPARISONS}${comparison.id}`, JSON.stringify(comparison))
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
    for (const [name, text] of registry.settings(COMPARISONS))
      if ((JSON.parse(text) as Comparison).keptUntil <= now)
        registry.deleteSetting(name).catch(() => undefined);
  }
}

const threadsFor = ({ variants, lastSequence }: Omit<ComparisonTask, 'lists'>): number =>
  variants.length * lastSequence < WORTH_A_THREAD ? 1 : Math.min(MOST_THREADS, variants.length);

const isOver = ({ status }: Pick<Comparison, 'status'>): boolean =>
  status !== 'QUEUED' && status !== 'RUNNING';

function keptIn(registry: Registry, id: string): Comparison | undefined {
  const text = registry.setting(`${COMPARISONS}${id}`);
  return text === undefined ? undefined : (JSON.parse(text) as Comparison);
}
