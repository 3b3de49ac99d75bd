import type { Worker } from 'node:worker_threads';

/**
 * Requests a thread to end, without a message. Threads that use SQLite are never terminated: the binding aborts the process if a call is
 * interrupted.
 */
export const stopFlag = (): Int32Array => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export function raise(flag: Int32Array): void {
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
}

export const isRaised = (flag: Int32Array): boolean => Atomics.load(flag, 0) === 1;

/** Sleeps for this time, or until the flag is raised. */
export function sleep(flag: Int32Array, ms: number): void {
  Atomics.wait(flag, 0, 0, ms);
}

/** Message for a thread that is to end, in case it waits for messages. */
export const STOP = 'stop';

/** Asks a thread that was started with this flag to end, and waits for its end. It receives `STOP` as well. */
export async function endThread(worker: Worker, flag: Int32Array): Promise<void> {
  const hasEnded = worker.threadId === -1;
  const end = new Promise((resolve) => worker.once('exit', resolve));
  raise(flag);
  worker.postMessage(STOP);
  if (!hasEnded) await end;
}

/** Ends the thread that calls it if the flag is raised. To be called between two calls of SQLite. */
export function endIfRaised(flag: Int32Array): void {
  if (isRaised(flag)) process.exit();
}
