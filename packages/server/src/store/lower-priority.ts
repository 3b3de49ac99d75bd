import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/** A third of the time of a thread that requests wait for. */
const NICE = 5;
/** A tenth of it. */
export const NICE_OF_BATCHES = 10;

/**
 * Lowers the priority of the calling thread below those that serve requests, if threads have their own priorities (Linux): it gets a
 * third of the others' share of a contended core. With less, checkpoints would be so late that recovery reads too much; work without a
 * deadline gets less.
 */
export function lowerPriority(nice = NICE): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), nice);
  } catch {
    // On other systems all threads have the same priority.
  }
}
