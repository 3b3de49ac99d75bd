import { compiledUrl } from '../threads/compiled-url.js';

/** The module of a store's worker, by its path under `store/`. */
export const workerUrl = (path: string): URL => compiledUrl(`store/${path}.js`);

/** Recovery, for the checkpoint thread. */
export const recoveryUrl = (): URL => compiledUrl('engine/recovery/checkpoint.js');

/**
 * Loaders of the process are for sources; compiled code needs none. The young generation of a thread is two halves of 2 MB (V8
 * divides the limit by three). Without its own limit a thread uses the main thread's size, and never releases it.
 */
export const WORKER_OPTIONS = { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 6 } };
