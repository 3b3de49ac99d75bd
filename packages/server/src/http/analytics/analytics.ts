/** Runs studies: on a thread that reads the store itself, or here when only this thread can read the store. */
import { Worker } from 'node:worker_threads';
import { Instant } from '@sandpit/core';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { SimulationEntries } from '../../engine/directory/entries.js';
import { MAIN, MARKET } from '../../engine/values/cell-names.js';
import { isLive, isRecording } from '../../feeds/live-feed.js';
import { StoreUnavailable } from '../../store/journal.js';
import { endThread, stopFlag } from '../../store/stop-flag.js';
import type { Store } from '../../store/store.js';
import { quoteIn } from '../listed.js';
import { runStudy } from './run-study.js';
import type { FromStudyThread, StudyThreadData, ToStudyThread } from './study-messages.js';
import type { AnswerOf, QuestionOf, StudiedSimulation, StudyName, StudyQuestions } from './study.js';
import { compiledUrl } from '../../threads/compiled-url.js';
import { acceptsQuotes } from '../../feeds/feed.js';

/** Maximum number of studies waiting for the thread; with more it is overloaded. */
const MOST_WAITING = 200;

type Emit = (text: string) => Promise<boolean>;

interface Waiting {
  readonly simulation: Simulation;
  readonly emit: Emit;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

export class Analytics {
  readonly #store: Store;
  readonly #entries: SimulationEntries;
  readonly #threadUrl: URL;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #stopFlag = stopFlag();
  #studies = 0;

  constructor(store: Store, entries: SimulationEntries, threadUrl = compiledUrl('analytics-thread.js')) {
    this.#store = store;
    this.#entries = entries;
    this.#threadUrl = threadUrl;
    store.past?.onReplace(() => this.#stop('The history is being derived again'));
  }

  /** Answers a study of all data that has been shown. `emit` receives the answer piece by piece. */
  async study<Name extends StudyName>(
    name: Name,
    { simulation }: { readonly simulation: Simulation },
    question: QuestionOf<Name>,
    emit: Emit = () => Promise.resolve(false),
  ): Promise<AnswerOf<Name>> {
    const history = await simulation.past();
    const upTo = Math.min(simulation.published, history.position(simulation.id));
    const studied = this.#studied(simulation, upTo);
    const past = simulation.isEphemeral ? undefined : this.#store.past;
    if (past === undefined) return this.#here(name, simulation, studied, question, emit);
    if (this.#waiting.size >= MOST_WAITING) throw new StoreUnavailable('Too many studies are waiting');
    const worker = (this.#worker ??= this.#start({
      module: past.module,
      data: past.data,
      stop: (this.#stopFlag = stopFlag()),
    }));
    const id = (this.#studies += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { simulation, emit, resolve, reject });
      const task = { name, question } as never;
      worker.postMessage({ id, type: 'study', simulation: studied, task } satisfies ToStudyThread);
    });
  }

  #studied(simulation: Simulation, upTo: number): StudiedSimulation {
    const { id, market, brokerage, feed, tenantId } = simulation;
    // A recording that grows is read on the main thread alone.
    const isOfSource = isLive(feed) || isRecording(feed);
    const opening =
      acceptsQuotes(feed) || isOfSource || tenantId === null
        ? undefined
        : this.#entries.comparedAs(market.id === MARKET ? MAIN : market.id, tenantId);
    return {
      id,
      marketId: market.id,
      calendar: brokerage.rules.calendar.id,
      idSecret: brokerage.state.idSecret,
      now: simulation.now(),
      upTo,
      feed: isOfSource ? 'live' : feed.kind,
      ...(opening !== undefined && {
        opening: {
          config: opening.feed,
          riskFreeRate: opening.riskFreeRate,
          ...(opening.recordings !== undefined && { recordings: opening.recordings }),
        },
      }),
    };
  }

  #here<Name extends StudyName>(
    name: Name,
    simulation: Simulation,
    studied: StudiedSimulation,
    question: QuestionOf<Name>,
    emit: Emit,
  ): Promise<AnswerOf<Name>> {
    const { history, journal } = this.#store;
    const { brokerage, feed } = simulation;
    return runStudy(
      name,
      {
        simulation: studied,
        source: { history, journal, nameOf: () => undefined },
        calendar: brokerage.rules.calendar,
        ids: brokerage.state.ids,
        ask: answersOf(simulation),
        books: undefined,
        openFeed: () => Promise.resolve(feed),
        emit,
      },
      question,
    );
  }

  #start(workerData: StudyThreadData): Worker {
    const worker = new Worker(this.#threadUrl, {
      workerData,
      name: 'analytics',
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 32 },
    });
    // Unreferenced: the process may end while it works.
    worker.unref();
    worker.on('message', (message: FromStudyThread) => {
      const waiting = this.#waiting.get(message.id);
      if (waiting !== undefined) this.#receive(worker, waiting, message);
    });
    worker.on('error', (error) => this.#lost(worker, error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => this.#lost(worker, 'The thread of studies has ended'));
    return worker;
  }

  #receive(worker: Worker, waiting: Waiting, message: FromStudyThread): void {
    const { id } = message;
    const send = (reply: ToStudyThread): void => worker.postMessage(reply);
    switch (message.type) {
      case 'ask': {
        const { ask, asked } = message;
        const { [asked.kind]: find } = answersOf(waiting.simulation);
        find(asked.value as never).then(
          (value) => send({ id, type: 'answer', ask, value }),
          (error: unknown) =>
            send({ id, type: 'answer', ask, failed: error instanceof Error ? error.message : String(error) }),
        );
        return;
      }
      case 'chunk':
        waiting.emit(message.text).then(
          (isWanted) => send({ id, type: isWanted ? 'taken' : 'stop' }),
          () => send({ id, type: 'stop' }),
        );
        return;
      case 'done':
        this.#waiting.delete(id);
        waiting.resolve(message.answer as never);
        return;
      case 'failed':
        this.#waiting.delete(id);
        waiting.reject(this.#store.past?.errorOf(message.failure) ?? new Error(message.failure.message));
    }
  }

  #lost(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(new StoreUnavailable(reason));
    this.#waiting.clear();
  }

  async #stop(reason: string): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#lost(worker, reason);
    await endThread(worker, this.#stopFlag);
  }

  /** Ends the thread. */
  close(): Promise<void> {
    return this.#stop('The server is stopping');
  }
}

/** Facts of the main thread that a study needs. */
const answersOf = (simulation: Simulation): StudyQuestions => ({
  instruments: (wanted) =>
    Promise.resolve(wanted.map(([symbol, at]) => simulation.brokerage.instrument(symbol, Instant.ofMs(at)))),
  quotesNow: (symbols) =>
    Promise.resolve(
      symbols.map((symbol) => quoteIn(simulation, simulation.brokerage, symbol, simulation.now())),
    ),
});
