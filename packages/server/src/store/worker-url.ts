import { compiledUrl } from '../threads/compiled-url.js';

/** The module of a store's worker, by its path under `store/`. */
export const workerUrl = (path: string): URL => compiledUrl(`store/${path}.js`);

/** The projection that records are written with. */
export const projectionUrl = (): URL => workerUrl('projection');

/** Recovery, for the thread that makes checkpoints. */
export const recoveryUrl = (): URL => compiledUrl('engine/checkpoint.js');

/**
 * Loaders that the process was started with are for sources; compiled code needs none. Without a bound of its own a thread takes the
 * room for young garbage that the main thread is given, and never gives it back.
 */
export const WORKER_OPTIONS = { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 16 } };
