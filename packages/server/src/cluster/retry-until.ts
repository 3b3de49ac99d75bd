import { setTimeout as later } from 'node:timers/promises';
import { StoreUnavailable } from '../store/journal.js';

const RETRY_MS = 100;

/**
 * Repeats work that fails because the store is unavailable, until `giveUpAt` on the monotonic clock, ms. Rejects with the last error. Work
 * whose result was lost is done twice.
 */
export async function retryUntil<T>(giveUpAt: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() >= giveUpAt) throw error;
      await later(RETRY_MS);
    }
  }
}
