/**
 * Where a worker's module is. Threads run compiled code: when the sources themselves are running (tests, tools that
 * strip types), the worker is the one that the last build left in dist/.
 */
export function workerUrl(name: string): URL {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return new URL(`./${name}.js`, here);
  return new URL(`../../../dist/store/sqlite/${name}.js`, here);
}

/** The projection that records are written with, for the same two ways of running. */
export function projectionUrl(): URL {
  return new URL('../projection.js', workerUrl('journal-writer'));
}

/** What opens the past in another thread. */
export function pastUrl(): URL {
  return workerUrl('past-source');
}

/** Recovery, for the thread that makes checkpoints. */
export function recoveryUrl(): URL {
  return new URL('../../engine/checkpoint.js', workerUrl('checkpoint-thread'));
}

/**
 * Loaders that the process was started with are for sources; compiled code needs none. Without a bound of its own a thread takes the
 * room for young garbage that the main thread is given, and never gives it back.
 */
export const WORKER_OPTIONS = { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 16 } };
