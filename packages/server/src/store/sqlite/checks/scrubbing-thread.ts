import { Worker } from 'node:worker_threads';
import { raise, stopFlag } from '../../stop-flag.js';
import { WORKER_OPTIONS, workerUrl } from '../../worker-url.js';

export interface ScrubData {
  readonly directory: string;
  readonly pace: ScrubPace;
  /** Ends it before it reads on. */
  readonly stop: Int32Array;
}

/** Some 2.5 MB a second, and an hour's rest after each time through. */
const USUAL_PACE: ScrubPace = { bytes: 256 * 1024, pauseMs: 100, restMs: 3_600_000 };

export interface ScrubPace {
  /** Read at a time. */
  readonly bytes: number;
  readonly pauseMs: number;
  readonly restMs: number;
}

export interface ScrubReport {
  /** Key of the simulation that is concerned; absent = more than one, or none. */
  readonly simulation?: number;
  readonly message: string;
}

/** A start has more urgent work. */
const USUAL_DELAY_MS = 60_000;

export interface ScrubOptions {
  readonly pace?: ScrubPace;
  readonly delayMs?: number;
}

/** The main thread's side of the scrub. */
export class ScrubbingThread {
  readonly #stop = stopFlag();
  #ended: Promise<unknown> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(
    directory: string,
    { pace = USUAL_PACE, delayMs = USUAL_DELAY_MS }: ScrubOptions,
    onDamage: (report: ScrubReport) => void,
  ) {
    this.#timer = setTimeout(() => {
      const workerData: ScrubData = { directory, pace, stop: this.#stop };
      const worker = new Worker(workerUrl('sqlite/checks/journal-scrub'), {
        workerData,
        name: 'journal-scrub',
        ...WORKER_OPTIONS,
      });
      worker.on('message', onDamage);
      // Read errors are also reported by other readers.
      worker.on('error', (error) => onDamage({ message: `The scrub has ended: ${String(error)}` }));
      worker.unref();
      this.#ended = new Promise((resolve) => worker.once('exit', resolve));
    }, delayMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    raise(this.#stop);
    await this.#ended;
  }
}
