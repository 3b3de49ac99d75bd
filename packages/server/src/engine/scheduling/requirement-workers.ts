import { Worker } from 'node:worker_threads';
import { requirementOfHypothetical } from '@sandpit/core';
import type { HypotheticalBook, Requirement } from '@sandpit/core';
import type { RequirementAnswer, RequirementQuestion } from './requirement-thread.js';
import { compiledUrl } from '../../threads/compiled-url.js';

/** Books with more options than this are computed on a worker thread. Few books cost more than a millisecond or two. */
const MOST_OPTIONS_HERE = 8;

interface PendingRequirement {
  readonly resolve: (requirement: Requirement) => void;
  readonly reject: (error: Error) => void;
}

/** Computes the requirements of hypothetical books: small ones at once, large ones on a thread that is started with the first of them. */
export class RequirementWorkers {
  readonly #waiting = new Map<number, PendingRequirement>();
  #worker: Worker | undefined;
  #questions = 0;
  readonly #isInProcess: boolean;

  /** `isInProcess`: all are computed on the calling thread. */
  constructor(isInProcess = false) {
    this.#isInProcess = isInProcess;
  }

  requirementOf(book: HypotheticalBook): Requirement | Promise<Requirement> {
    const options = book.holdings.reduce(
      (count, { instrument }) => count + (instrument.assetClass === 'OPTION' ? 1 : 0),
      0,
    );
    return options <= MOST_OPTIONS_HERE || this.#isInProcess
      ? requirementOfHypothetical(book)
      : this.#ask(book);
  }

  #ask(book: HypotheticalBook): Promise<Requirement> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    this.#questions += 1;
    const id = this.#questions;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, book } satisfies RequirementQuestion);
    });
  }

  #start(): Worker {
    const worker = new Worker(compiledUrl('engine/scheduling/requirement-thread.js'), {
      name: 'requirements',
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
    // Unreferenced: the process may end while it works.
    worker.unref();
    worker.on('message', ({ id, requirement }: RequirementAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (requirement === undefined) waiting?.reject(new Error('a requirement could not be worked out'));
      else waiting?.resolve(requirement);
    });
    worker.on('error', (error) =>
      this.#lost(worker, error instanceof Error ? error : new Error(String(error))),
    );
    worker.on('exit', () => this.#lost(worker, new Error('the thread of requirements has ended')));
    return worker;
  }

  #lost(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#lost(worker, new Error('the server is stopping'));
    await worker.terminate();
  }
}
