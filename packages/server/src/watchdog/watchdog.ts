import { url as inspectorUrl } from 'node:inspector';
import { isMainThread, Worker } from 'node:worker_threads';
import { compiledUrl } from '../threads/compiled-url.js';

export interface WatchdogOptions {
  /** Time without a response after which the main thread is stuck. */
  readonly limitMs: number;
  /** The line is JSON, as all lines of the log. */
  readonly isJson: boolean;
  /** Code with which the process ends. */
  readonly exitCode: number;
}

/** Start data of the thread. */
export interface WatchdogData extends WatchdogOptions {
  /** One number that changes as long as the main thread comes round. */
  readonly beats: SharedArrayBuffer;
}

/** Beats within the limit: one that was late does not end the process. */
const BEATS = 10;

/**
 * Ends the process when its main thread is stuck, with one line that says where. A thread of its own watches, since a stuck one cannot.
 * Disabled under a debugger, which pauses the main thread on purpose. Returns a function that stops watching.
 */
export function watchMainThread(options: WatchdogOptions): () => void {
  if (!isMainThread || inspectorUrl() !== undefined) return () => undefined;
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const view = new Int32Array(beats);
  const beating = setInterval(() => Atomics.add(view, 0, 1), options.limitMs / BEATS);
  beating.unref();
  const worker = new Worker(compiledUrl('watchdog/watchdog-thread.js'), {
    name: 'watchdog',
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
    workerData: { ...options, beats } satisfies WatchdogData,
  });
  worker.unref();
  // Without it the server serves as well as before.
  worker.on('error', () => clearInterval(beating));
  return () => {
    clearInterval(beating);
    void worker.terminate();
  };
}
