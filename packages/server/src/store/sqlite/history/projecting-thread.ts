import { Worker } from 'node:worker_threads';
import type { FromProjector, ProjectorData, ToProjector } from './history-messages.js';
import { HistorySignal } from './history-signal.js';
import { WORKER_OPTIONS, workerUrl } from '../../worker-url.js';

const RESTART_MS = 1_000;

/**
 * The main thread's side of the projector. It is loaded while the journal is opened, and does not read before `begin`. A projector that
 * ends unexpectedly is restarted: the tables contain its position.
 */
export class ProjectingThread {
  readonly signal = new HistorySignal();
  readonly #data: Omit<ProjectorData, 'fresh'>;
  #receive: (message: FromProjector) => void = () => undefined;
  #worker: Worker;
  /** Undefined once it has ended. */
  #running: Promise<void> | undefined;
  #hasBegun = false;
  #restart: NodeJS.Timeout | undefined;

  constructor({ fresh, ...data }: Omit<ProjectorData, 'signal'>) {
    this.#data = { ...data, signal: this.signal.numbers };
    this.#worker = this.#start(fresh);
  }

  #start(fresh: string | undefined): Worker {
    const workerData: ProjectorData = { ...this.#data, fresh };
    const worker = new Worker(workerUrl('sqlite/history/history-projector'), {
      workerData,
      name: 'history-projector',
      ...WORKER_OPTIONS,
    });
    let reason = 'The projector has ended';
    worker.on('error', (error) => (reason = error instanceof Error ? error.message : String(error)));
    worker.on('message', (message: FromProjector) => {
      if (this.#worker === worker) this.#receive(message);
    });
    const running = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    this.#running = running;
    void running.then(() => {
      if (this.#running === running) this.#lost(reason);
    });
    return worker;
  }

  #lost(reason: string): void {
    this.#running = undefined;
    this.#receive({ kind: 'failing', reason });
    this.#restart = setTimeout(() => this.#startAgain(undefined), RESTART_MS);
    this.#restart.unref();
  }

  #startAgain(fresh: string | undefined): void {
    this.#worker = this.#start(fresh);
    if (this.#hasBegun) this.send({ kind: 'begin' });
  }

  /** The journal is open. `receive` gets all messages from now on. */
  begin(receive: (message: FromProjector) => void): void {
    this.#receive = receive;
    this.#hasBegun = true;
    this.send({ kind: 'begin' });
  }

  send(message: ToProjector): void {
    this.#worker.postMessage(message);
    this.signal.hurry();
  }

  /** Starts another thread that removes the tables and derives them again. The previous one has closed them by then. */
  async rebuild(reason: string): Promise<void> {
    await this.close();
    this.#startAgain(reason);
  }

  /** Ends between two transactions. */
  async close(): Promise<void> {
    clearTimeout(this.#restart);
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    this.send({ kind: 'close' });
    await running;
  }
}
