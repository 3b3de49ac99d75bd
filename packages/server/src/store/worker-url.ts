/**
 * Where the module of a store's worker is, by its path under `store/`. Threads run compiled code: when the sources themselves are running
 * (tests, tools that strip types), the worker is the one that the last build left in dist/.
 */
export function workerUrl(path: string): URL {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return new URL(`./${path}.js`, here);
  return new URL(`../../dist/store/${path}.js`, here);
}

/** The projection that records are written with, for the same two ways of running. */
export function projectionUrl(): URL {
  return workerUrl('projection');
}

/** Recovery, for the thread that makes checkpoints. */
export function recoveryUrl(): URL {
  return workerUrl('../engine/checkpoint');
}

/**
 * Loaders that the process was started with are for sources; compiled code needs none. Without a bound of its own a thread takes the
 * room for young garbage that the main thread is given, and never gives it back.
 */
export const WORKER_OPTIONS = { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 16 } };
