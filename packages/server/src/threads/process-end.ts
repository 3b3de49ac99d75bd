import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const NAME = 'sandpit.process-end';
const IS_ENDING = 0;
const BUSY = 1;

/** Time that an ending process waits for its threads: a commit on a slow disk takes seconds; one that hangs must not keep the process. */
const PATIENCE_MS = 5_000;

/** Shared by all threads of the process: 1 if it is ending, and the number of threads that are within `uninterrupted`. */
const numbers = shared();

function shared(): Int32Array {
  const inherited = getEnvironmentData(NAME);
  if (inherited instanceof Int32Array) return inherited;
  const created = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(NAME, created);
  return created;
}

/** True within `uninterrupted` of this thread. */
let isWithin = false;

function leave(): void {
  isWithin = false;
  Atomics.sub(numbers, BUSY, 1);
  Atomics.notify(numbers, BUSY);
}

/**
 * Executes work of a thread that calls SQLite: the binding aborts the whole process, without its exit code, if the end of the process
 * interrupts a call. A process that is ending waits for the work, and none begins after that.
 */
export function uninterrupted<Result>(work: () => Result): Result {
  if (isWithin) return work();
  Atomics.add(numbers, BUSY, 1);
  if (Atomics.load(numbers, IS_ENDING) === 1) {
    leave();
    // Until the end, which is near.
    Atomics.wait(numbers, IS_ENDING, 1);
  }
  isWithin = true;
  try {
    return work();
  } finally {
    leave();
  }
}

/** The items, each taken `uninterrupted`. */
export function* eachUninterrupted<Item>(items: Iterable<Item>): Generator<Item> {
  const iterator = items[Symbol.iterator]();
  try {
    for (;;) {
      const next = uninterrupted(() => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    uninterrupted(() => iterator.return?.());
  }
}

/** Ends the process from its main thread at once: nothing else is executed there, and threads are waited for, at most five seconds. */
export function endProcess(code: number, patienceMs = PATIENCE_MS): never {
  Atomics.store(numbers, IS_ENDING, 1);
  const until = performance.now() + patienceMs;
  for (;;) {
    const busy = Atomics.load(numbers, BUSY);
    const left = until - performance.now();
    if (busy === 0 || left <= 0) break;
    Atomics.wait(numbers, BUSY, busy, left);
  }
  process.exit(code);
}
