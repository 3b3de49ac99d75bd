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
