import { Worker } from 'node:worker_threads';
import type { FromProjector, ProjectorData, ToProjector } from './history-messages.js';
import { HistorySignal } from './history-signal.js';
import { WORKER_OPTIONS, workerUrl } from './worker-url.js';

const RESTART_MS = 1_000;

/**
 * The main thread's side of the projector. It is loaded while the journal is opened, and reads nothing before `begin`. A projector that
 * ends unasked is started again: the tables say where to go on.
 */
export class ProjectingThread {
  readonly signal = new HistorySignal();
  readonly #data: ProjectorData;
  #receive: ((message: FromProjector) => void) | undefined;
  #worker: Worker;
  #isEnded = false;
  #isClosing = false;
  #rebuild = 0;
  #restart: NodeJS.Timeout | undefined;

  constructor(data: Pick<ProjectorData, 'directory' | 'projection' | 'isFresh' | 'pageLimit'>) {
    this.#data = { ...data, signal: this.signal.numbers, isAlone: true, rebuild: 0 };
    this.#worker = this.#start(this.#data);
  }

  #start(data: ProjectorData): Worker {
    const worker = new Worker(workerUrl('history-projector'), {
      workerData: data,
      name: 'history-projector',
      ...WORKER_OPTIONS,
    });
    this.#isEnded = false;
    worker.on('message', (message: FromProjector) => this.#receive?.(message));
    let reason = 'The projector has ended';
    worker.on('error', (error) => (reason = error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => {
      this.#isEnded = true;
      if (!this.#isClosing) this.#lost(reason);
    });
    return worker;
  }

  #lost(reason: string): void {
    this.#receive?.({ kind: 'failing', reason, rebuild: this.#rebuild });
    this.#restart = setTimeout(() => {
      this.#worker = this.#start({ ...this.#data, isFresh: false, isAlone: false, rebuild: this.#rebuild });
      this.send({ kind: 'begin' });
    }, RESTART_MS);
    this.#restart.unref();
  }

  /** The journal is open. `receive` is told everything from now on. */
  begin(receive: (message: FromProjector) => void): void {
    this.#receive = receive;
    if (this.#isEnded) this.#lost('The projector has ended');
    else this.send({ kind: 'begin' });
  }

  send(message: ToProjector): void {
    if (message.kind === 'rebuild') this.#rebuild = message.number;
    this.#worker.postMessage(message);
    this.signal.hurry();
  }

  /** Ends between two transactions. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#restart);
    if (this.#isEnded) return;
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.send({ kind: 'close' });
    await ended;
  }
}
